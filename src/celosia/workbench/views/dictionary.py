"""The dictionary as a person edits it: each line with what was measured of its column and what follows from it.

Knows lines, counts and why a variable stays out. Ignores how anything is counted, and every cell.
Source: MINSAL Planificación 2, Implementación 3; ATENEA guide 4.2.3; MEL protocol IV.2.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from celosia.model.reports.column_figures import ColumnFigures
from celosia.model.reports.mel import AnnotatedLine
from celosia.model.variables import IdentifierClass, Role, Treatment, Variable

UNIQUE = 0.95  # of the units that hold a value, so many with one of their own: the column singles people out alone


class Excluded(StrEnum):
    """Why a variable is not published."""

    NO_ROLE = "no_role"
    IDENTIFIER = "identifier"
    NO_PURPOSE = "no_purpose"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class MadeException:
    """A variable that a rule lets through, and why."""

    rule: str  # protocol.rule
    reason: str


@dataclass(frozen=True, slots=True)
class DictionaryLine:
    """One variable: its line, what was measured, what follows."""

    variable: Variable
    figures: ColumnFigures | None  # None until the columns are counted
    unique_alone: bool
    identifier_class: IdentifierClass | None
    excluded: tuple[Excluded, ...]
    rules: tuple[str, ...] = ()  # rules that the variable could be excepted from
    exceptions: tuple[MadeException, ...] = ()
    mel: AnnotatedLine | None = None
    faults: tuple[str, ...] = ()  # MEL's faults in words

    @property
    def published(self) -> bool:
        """Whether the variable is to be in the release."""
        return not self.excluded


@dataclass(frozen=True, slots=True)
class DictionaryView:
    """Every variable of a project, in the order of the source."""

    protocols: tuple[str, ...]
    rows: int
    person: str | None
    household: str | None
    digest: str  # of dictionary.csv
    settings_digest: str  # of celosia.toml
    counted: bool  # whether every figure is there
    minimum: int  # MEL: units that each area must exceed
    covering: tuple[str, ...]  # what is approved now and would no longer be once the dictionary changes
    lines: tuple[DictionaryLine, ...]


@dataclass(frozen=True, slots=True)
class DictionaryEdit:
    """What an edit did: how many lines, which fields, which approvals it cancelled."""

    variables: int
    fields: tuple[str, ...]
    digest: str
    cancelled: tuple[str, ...] = ()


def exclusions(variable: Variable) -> tuple[Excluded, ...]:
    """Why a variable stays out of the release; nothing where it is published (M01, M06)."""
    reasons = {
        Excluded.NO_ROLE: variable.role is None,
        Excluded.IDENTIFIER: variable.role == Role.IDENTIFIER,
        Excluded.REMOVED: variable.treatment == Treatment.REMOVE,
        Excluded.NO_PURPOSE: not variable.purpose.strip(),
    }
    return tuple(reason for reason, holds in reasons.items() if holds)


def is_unique_alone(figures: ColumnFigures, units: int | None = None) -> bool:
    """Whether nearly everybody who has a value has one of their own; `units` are the persons where a key is known."""
    holders = figures.plain_rows if units is None else min(figures.plain_rows, units)
    return holders > 0 and figures.plain_distinct >= UNIQUE * holders


def cancelled_approvals(before: Collection[str], after: Collection[str]) -> tuple[str, ...]:
    """What stood approved before and does not after."""
    return tuple(what for what in before if what not in after)
