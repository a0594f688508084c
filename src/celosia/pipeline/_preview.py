"""`preview`: the first rows of a source before it is imported, and rows of a project, as a screen may show them.

Knows readers and the one door for rows (`data/preview`). Nothing here gives a cell that has not passed it. A database
whose address holds a password is named by an environment variable: `env:NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq

from celosia.data import preview
from celosia.data.files import parts_of
from celosia.data.readers import Head, head_of, tables_of
from celosia.data.sniffing import sniff
from celosia.data.suggest import person_key, suggest
from celosia.model import dictionary
from celosia.model.preview import Preview, SourcePreview
from celosia.model.sources import ReadingChoices
from celosia.model.variables import Variable
from celosia.pipeline._addresses import resolved_source
from celosia.pipeline._call import Place, refuse_unknown_choices
from celosia.pipeline._open import opened
from celosia.pipeline._project import Project, open_project

LOOKED_AT = 500  # rows on which the columns of a source are judged
MOST_ROWS = 200  # on one screen


def preview_source(source: Place, rows: int = 20, **reading: Any) -> SourcePreview:
    """How a source would be read, what its columns seem to be, and its first rows, veiled."""
    refuse_unknown_choices(reading)
    head = head_of(resolved_source(source, password=False), LOOKED_AT, **reading)
    facts = preview.sampled_facts(head.names, head.rows)
    variables = suggest(facts)
    doubtful = {one.name for one, known in zip(variables, facts, strict=True) if preview.doubtful(one, known)}
    person = person_key(facts)
    hidden = doubtful | {person} if person else doubtful
    shown = preview.preview_rows(variables, head.rows[: _bounded(rows)], hidden=hidden, total=head.total)
    return SourcePreview(
        name=head.source,
        choices=head.choices,
        tables=head.tables,
        preview=_with_refusals(shown, head),
        person=person,
        looked_at=len(head.rows),
    )


def source_tables(source: Place, **reading: Any) -> tuple[str, ...]:
    """Sheets of a workbook or tables of a database; nothing where a source is one table."""
    refuse_unknown_choices(reading)
    return tables_of(resolved_source(source, password=False), **reading)


def source_choices(source: Place, **reading: Any) -> ReadingChoices:
    """How a source would be read, as far as its first bytes tell; also where its rows cannot be shown yet."""
    refuse_unknown_choices(reading)
    return sniff(resolved_source(source, password=False), **reading)


def preview_project(folder: Place, rows: int = 20, offset: int = 0) -> Preview:
    """Rows of a project's working copy, in the order of its source, veiled as its dictionary says."""
    project = open_project(folder)
    variables = _in_order(project)
    hidden = {name for name in (project.config.person, project.config.household) if name}
    shown = [i for i, one in enumerate(variables) if not preview.is_veiled(one) and one.name not in hidden]
    cells_of = _cells_in_place if project.in_place is not None else _cells
    total, cells = cells_of(project, shown, len(variables), _bounded(rows), max(offset, 0))
    return preview.preview_rows(variables, cells, hidden=hidden, offset=max(offset, 0), total=total)


def _bounded(rows: int) -> int:
    return max(1, min(rows, MOST_ROWS))


def _with_refusals(shown: Preview, head: Head) -> Preview:
    columns = tuple(replace(column, refused=head.refused.get(column.name, "")) for column in shown.columns)
    return replace(shown, columns=columns)


def _in_order(project: Project) -> list[Variable]:
    """The dictionary's lines in the order of the columns."""
    names, variables = project.names(), project.variables()
    dictionary.refuse_disagreement(variables, names, str(project.dictionary_path))
    known = {variable.name: variable for variable in variables}
    return [known[name] for name in names]


def _cells(
    project: Project, shown: Sequence[int], width: int, rows: int, offset: int
) -> tuple[int, list[tuple[str, ...]]]:
    """Cells of some rows; columns that stay veiled are not even read."""
    taken: list[list[list[str]]] = []
    total = 0
    for part in parts_of(project.working_copy):
        with pq.ParquetFile(part) as file:
            taken += _taken(file, shown, rows, offset, total)
            total += file.metadata.num_rows
    columns = [[cell for part in taken for cell in part[place]] for place in range(len(shown))]
    return total, _beside_veiled(columns, shown, width, max(0, min(rows, total - offset)))


def _cells_in_place(
    project: Project, shown: Sequence[int], width: int, rows: int, offset: int
) -> tuple[int, list[tuple[str, ...]]]:
    """The same of a table that stays where it is: a few rows of the columns shown are asked for, in their order."""
    names = project.names()
    with opened(project.folder) as found:
        raw = found.raw or found.table
        total = raw.count_rows()
        page = raw.page([names[i] for i in shown], rows, offset) if shown else None
    columns = [] if page is None else [column.to_pylist() for column in page.columns]
    return total, _beside_veiled(columns, shown, width, max(0, min(rows, total - offset)))


def _beside_veiled(columns: Sequence[list[str]], shown: Sequence[int], width: int, here: int) -> list[tuple[str, ...]]:
    """Rows of all columns: those shown in their places, nothing in the others."""
    every: list[list[str]] = [[""] * here] * width
    for column, position in zip(columns, shown, strict=False):
        every[position] = column
    return list(zip(*every, strict=True))


def _taken(file: pq.ParquetFile, shown: Sequence[int], rows: int, offset: int, start: int) -> Iterator[list[list[str]]]:
    """The pieces of the row groups that hold the rows asked for; `start` rows stand before the file."""
    for group in range(file.num_row_groups):
        size = file.metadata.row_group(group).num_rows
        first, last = max(offset - start, 0), min(offset + rows - start, size)
        if shown and first < last:
            table = file.read_row_group(group, columns=[f"c{i}" for i in shown]).slice(first, last - first)
            yield [table.column(f"c{i}").to_pylist() for i in shown]
        start += size
