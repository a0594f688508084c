"""Parameters that several techniques declare with the same meaning."""

from __future__ import annotations

from celosia.model.parameters import Many, Text, Whole

COLUMNS = Many(Text(), required=True)
COMPARE = Many(Text(), default=())  # variables whose association with the treated columns is reported
DECIMAL = Text(default=".", choices=(".", ","))
DECIMALS = Whole(minimum=0)  # rounding of published numbers; none when absent
INTO = Text()  # a new name for a column that changes its meaning
STRATA = Many(Text(), default=())
UNKNOWN = Many(Text(), default=())
ZONE = Text()
