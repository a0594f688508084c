"""The catalogue of STATS as a document: per table its source, rule, k, audience, frequency and last run.

Knows the catalogue. Ignores databases and counts. Source: YAPÓ, Reglas de Anonimización, 4 (traceability) and 5
(summary of the action per kind of data).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from celosia import messages
from celosia.dossier.document import Block, Document, Fields, Heading, Note, Paragraph, Table, table_of
from celosia.model.reports.stats import CatalogueEntry, CheckedTable, ColumnLineage, StatsCatalogue

_NOTHING = "–"
# The kinds of data of YAPÓ 5, and what is done with each: `stats.kind.*` and `stats.kind_action.*`.
KINDS = (
    "identifiers",
    "ages",
    "gender",
    "places",
    "coordinates",
    "amounts",
    "companies",
    "dates",
    "studies",
    "events",
)


def catalogue_document(catalogue: StatsCatalogue, language: str) -> Document:
    """The catalogue, ready for any format."""
    with messages.speaking(language):
        return Document(
            title=messages.text("stats.catalogue.title"),
            subtitle=catalogue.title,
            language=language,
            blocks=tuple(_blocks(catalogue)),
        )


def _blocks(catalogue: StatsCatalogue) -> Iterator[Block]:
    yield Paragraph(messages.text("stats.catalogue.opening", tables=len(catalogue.entries)))
    yield _audiences(catalogue)
    for entry in catalogue.entries:
        yield Heading(entry.title or entry.table)
        yield Fields(_facts(entry))
        yield table_of(_header("column", "from", "rule"), [_line(column) for column in entry.columns], widths=(3, 4, 6))
    yield Heading(messages.text("stats.catalogue.kinds"))
    yield action_table()
    yield Note(messages.text("stats.catalogue.note"))


def action_table() -> Table:
    """What is done with each kind of data (YAPÓ 5)."""
    rows = [[messages.text(f"stats.kind.{kind}"), messages.text(f"stats.kind_action.{kind}")] for kind in KINDS]
    return table_of(_header("kind", "action"), rows, widths=(2, 5))


def _audiences(catalogue: StatsCatalogue) -> Table:
    rows = [[audience_word(name), messages.integer(k)] for name, k in catalogue.audiences.items()]
    strictest = max(catalogue.audiences.values(), default=0)
    rows.append([messages.text("stats.audience.anyone"), messages.integer(strictest)])
    return table_of(_header("audience", "k"), rows, right=(1,))


def _facts(entry: CatalogueEntry) -> tuple[tuple[str, str], ...]:
    margins = ", ".join(" × ".join(margin) or messages.text("stats.catalogue.total") for margin in entry.margins)
    action = messages.text(f"stats.action.{entry.action}")
    if entry.method == "round":
        action = messages.text("stats.action.round", base=entry.base_unit)
    return (
        (messages.text("stats.catalogue.table"), entry.table),
        (messages.text("stats.catalogue.audience"), audience_word(entry.audience)),
        (messages.text("stats.catalogue.k"), messages.integer(entry.k)),
        (messages.text("stats.catalogue.sources"), ", ".join(entry.sources)),
        (messages.text("stats.catalogue.action"), action),
        (messages.text("stats.catalogue.margins"), margins or _NOTHING),
        (messages.text("stats.catalogue.frequency"), messages.text(f"stats.frequency.{entry.frequency}")),
        (messages.text("stats.catalogue.last_run"), entry.last_run or _NOTHING),
    )


def audience_word(name: str) -> str:
    """The audience in words, where the catalogue has one for it."""
    key = f"stats.audience.{name}"
    return messages.text(key) if messages.has(key) else name


def _line(column: ColumnLineage) -> list[str]:
    origin = ", ".join(f"{column.source}.{name}" for name in column.columns)
    return [column.column, origin or _NOTHING, rule_text(column)]


def rule_text(column: ColumnLineage) -> str:
    """The rule in words, with its settings."""
    settings = ", ".join(f"{key} = {_setting(value)}" for key, value in column.detail.items())
    rule = messages.text(f"stats.rule.{column.rule}")
    return f"{rule} ({settings})" if settings else rule


def _setting(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} → {target}" for key, target in value.items())
    return ", ".join(str(item) for item in value) if isinstance(value, list | tuple) else str(value)


def _header(*names: str) -> list[str]:
    return [messages.text(f"stats.header.{name}") for name in names]


def failing_cell_lines(tables: Sequence[CheckedTable], most: int) -> list[str]:
    """What the check found of each hidden cell, at most so many of them by name, and the way out."""
    failing = [(table.table, cell) for table in tables for cell in table.cells]
    lines = [
        messages.text(f"stats.check_cell.{cell.kind}", table=name, cell=cell_text(cell.cell), measure=cell.measure)
        for name, cell in failing[:most]
    ]
    if len(failing) > most:
        lines.append(messages.text("stats.check_cell.more", count=messages.integer(len(failing) - most)))
    kinds = {"unproven" if cell.kind == "unproven" else "learnt" for _, cell in failing}
    return lines + [messages.text(f"stats.check_remedy.{kind}") for kind in sorted(kinds)]


def cell_text(cell: Mapping[str, str]) -> str:
    """A cell by its categories."""
    return ", ".join(f"{name} = {label}" for name, label in cell.items()) or messages.text("stats.catalogue.total")
