"""Rare values of each variable and the strong indirect identifiers proposed, in format `celosia/rarity/1`.

Knows counts. Ignores the values themselves, which are given on request only.
Source: MEL protocol III.2 (levels of identifiers) and III.2.b (rare values are strong identifiers).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from celosia.model.plain import plain_fields

FORMAT = "celosia/rarity/1"
RARE = 3  # a value held by at most this many units is rare: ATENEA's RI ≥ 0.3


class StrongReason(StrEnum):
    """Why a variable is proposed as a strong indirect identifier."""

    NATURE = "nature"  # what it is: address, phone, plate, e-mail, personal web; or the dictionary says so
    RARE = "rare"  # a category told by others, like a disease or a post, that few people have
    NEARLY_UNIQUE = "nearly_unique"  # nearly every value belongs to one unit alone


@dataclass(frozen=True, slots=True)
class VariableRarity:
    """How many values of one variable are rare, and how many units hold one."""

    name: str
    values: int
    rare_values: int
    rare_units: int
    single_values: int  # values of one unit alone
    strong: StrongReason | None = None


@dataclass(frozen=True, slots=True)
class RarityReport:
    """The rare values of a table, variable by variable, as counts."""

    unit: str  # rows, or persons where a key exists
    units: int
    threshold: int
    variables: tuple[VariableRarity, ...]

    @property
    def strong(self) -> tuple[str, ...]:
        """The variables proposed as strong indirect identifiers."""
        return tuple(variable.name for variable in self.variables if variable.strong)

    def as_dict(self) -> dict[str, Any]:
        """The report as it is printed with --json and kept in files; no value is named."""
        return {"format": FORMAT, **plain_fields(self, "unit units threshold variables strong")}
