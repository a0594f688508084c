"""What data are wanted for: the uses that decide which treatment is proposed first (ATENEA guide 4.2.4)."""

from __future__ import annotations

from enum import StrEnum


class Purpose(StrEnum):
    """One use of the data."""

    TOTALS = "totals"
    DISTRIBUTION = "distribution"
    COUNTS = "counts"
    TIME = "time"
    TERRITORY = "territory"
    FOLLOW_UP = "follow_up"


PURPOSES = tuple(purpose.value for purpose in Purpose)
