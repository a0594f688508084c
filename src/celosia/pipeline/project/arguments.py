"""What the outermost functions accept for comfort: text as a path, no time at all, reading choices by name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from celosia.data.sniffing import Overrides
from celosia.model.value_errors import ValueOutOfRange

PathArg = str | Path


def utc_now(now: datetime | None) -> datetime:
    """The time given, or the present in UTC."""
    return datetime.now(UTC) if now is None else now


def refuse_unknown_choices(reading: Iterable[str]) -> None:
    """A reading choice that does not exist is refused by its name."""
    known = tuple(Overrides.__annotations__)
    for name in reading:
        if name not in known:
            raise ValueOutOfRange(parameter="reading", given=name, allowed=", ".join(known))
