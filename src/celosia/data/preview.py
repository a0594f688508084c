"""The one way in which rows reach a screen: identifying cells are veiled, long ones cut.

Knows roles and texts. Ignores files and engines: the caller brings the rows. The veil is the same sign for every cell,
so that not even its length or its absence tells anything. When in doubt a column is veiled: no role, free text,
anything about identification; and, where a person has not yet decided (no dictionary), a column nobody could tell
the meaning of in which nearly every row has its own value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from celosia.model.preview import Preview, PreviewColumn
from celosia.model.values import MISSING, is_masked
from celosia.model.variables import Kind, MelLabel, Role, Scale, Variable
from celosia.proposals.facts import ColumnFacts, distinctness

VEIL = "•••"
LONGEST_CELL = 60
_CUT = "…"
_OWN_VALUES = 0.9  # distinct values per row from which a column of unknown meaning may tell people apart
_CODE_LENGTH = 5  # characters: shorter values hardly name anybody


def is_veiled(variable: Variable) -> bool:
    """Whether a column's cells never reach a screen, by its line of the dictionary."""
    return (
        variable.role in (Role.IDENTIFIER, None)
        or variable.scale is Scale.FREE_TEXT
        or variable.kind is Kind.IDENTIFICATION
        or variable.mel_label is MelLabel.DIRECT
    )


def veil_cells(variable: Variable, texts: Sequence[str]) -> tuple[str, ...]:
    """The cells of a column as a screen may show them."""
    if is_veiled(variable):
        return (VEIL,) * len(texts)
    return tuple(map(display_cell, texts))


def display_cell(text: str) -> str:
    """A cell on one line, without characters that hide or turn others, cut when long."""
    plain = "".join(character if character.isprintable() else " " for character in text[: LONGEST_CELL + 1])
    return plain[:LONGEST_CELL] + _CUT if len(plain) > LONGEST_CELL else plain


def sample_facts(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[ColumnFacts]:
    """The facts of some rows, column by column."""
    return [ColumnFacts.of(name, [row[i] for row in rows]) for i, name in enumerate(names)]


def may_identify(variable: Variable, facts: ColumnFacts) -> bool:
    """Whether a column that nobody has looked at may name people although nothing says so."""
    if variable.role is not Role.PLAIN or variable.scale is Scale.DATE:
        return False
    long = any(len(value) >= _CODE_LENGTH for value in facts.values if value != MISSING and not is_masked(value))
    return long and distinctness(facts) >= _OWN_VALUES


def preview_rows(
    variables: Sequence[Variable],
    rows: Sequence[Sequence[str]],
    *,
    hidden: Collection[str] = (),
    offset: int = 0,
    total: int | None = None,
) -> Preview:
    """Rows for a screen; columns named in `hidden` are veiled whatever the dictionary says of them."""
    columns = [_column(variable, is_veiled(variable) or variable.name in hidden) for variable in variables]
    cells = tuple(
        tuple(VEIL if column.veiled else display_cell(cell) for column, cell in zip(columns, row, strict=True))
        for row in rows
    )
    return Preview(tuple(columns), cells, offset, total)


def _column(variable: Variable, veil_cells: bool) -> PreviewColumn:
    return PreviewColumn(
        name=variable.name,
        role=variable.role or "",
        scale=variable.scale or "",
        label=variable.label,
        evidence=variable.evidence,
        veiled=veil_cells,
    )
