"""`preview`: the first rows of a source before it is imported, and rows of a project, as a screen may show them.

Knows readers and the veil over rows (`data/preview`): no cell leaves this module without it. A database
whose address holds a password is named by an environment variable: `env:NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq

from celosia.data import preview
from celosia.data.readers.head import Head, list_tables, read_head
from celosia.data.sniffing import sniff
from celosia.model import dictionary
from celosia.model.preview import Preview, SourcePreview
from celosia.model.sources import ReadingChoices
from celosia.model.variables import Variable
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.intake.source_address import resolved_source
from celosia.pipeline.project.arguments import PathArg, refuse_unknown_choices
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.proposals.person import person_key
from celosia.proposals.propose import suggest
from celosia.storage import part_files

LOOKED_AT = 500  # rows on which the columns of a source are judged
MOST_ROWS = 200  # on one screen


def preview_source(source: PathArg, rows: int = 20, **reading: Any) -> SourcePreview:
    """How a source would be read, what its columns seem to be, and its first rows, veiled."""
    refuse_unknown_choices(reading)
    head = read_head(resolved_source(source, password=False), LOOKED_AT, **reading)
    facts = preview.sample_facts(head.names, head.rows)
    variables = suggest(facts)
    doubtful = {
        variable.name for variable, known in zip(variables, facts, strict=True) if preview.may_identify(variable, known)
    }
    person = person_key(facts)
    hidden = doubtful | {person} if person else doubtful
    shown = preview.preview_rows(variables, head.rows[: _clip_rows(rows)], hidden=hidden, total=head.total)
    return SourcePreview(
        name=head.source,
        choices=head.choices,
        tables=head.tables,
        preview=_add_refusals(shown, head),
        person=person,
        looked_at=len(head.rows),
    )


def source_tables(source: PathArg, **reading: Any) -> tuple[str, ...]:
    """Sheets of a workbook or tables of a database; nothing where a source is one table."""
    refuse_unknown_choices(reading)
    return list_tables(resolved_source(source, password=False), **reading)


def source_choices(source: PathArg, **reading: Any) -> ReadingChoices:
    """How a source would be read, as far as its first bytes tell; also where its rows cannot be shown yet."""
    refuse_unknown_choices(reading)
    return sniff(resolved_source(source, password=False), **reading)


def preview_project(folder: ProjectArg, rows: int = 20, offset: int = 0) -> Preview:
    """Rows of a project's working copy, in the order of its source, veiled as its dictionary says."""
    project = open_project(folder)
    variables = _ordered_variables(project)
    hidden = {name for name in (project.config.person, project.config.household) if name}
    shown = [
        i for i, variable in enumerate(variables) if not preview.is_veiled(variable) and variable.name not in hidden
    ]
    cells_of = _cells_in_place if project.in_place is not None else _cells
    total, cells = cells_of(project, shown, len(variables), _clip_rows(rows), max(offset, 0))
    return preview.preview_rows(variables, cells, hidden=hidden, offset=max(offset, 0), total=total)


def _clip_rows(rows: int) -> int:
    return max(1, min(rows, MOST_ROWS))


def _add_refusals(shown: Preview, head: Head) -> Preview:
    columns = tuple(replace(column, refused=head.refused.get(column.name, "")) for column in shown.columns)
    return replace(shown, columns=columns)


def _ordered_variables(project: Project) -> list[Variable]:
    """The dictionary's lines in the order of the columns."""
    names, variables = project.names, project.variables
    dictionary.refuse_disagreement(variables, names, str(project.paths.dictionary))
    known = {variable.name: variable for variable in variables}
    return [known[name] for name in names]


def _cells(
    project: Project, shown: Sequence[int], width: int, rows: int, offset: int
) -> tuple[int, list[tuple[str, ...]]]:
    """Cells of some rows; columns that stay veiled are not even read."""
    taken: list[list[list[str]]] = []
    total = 0
    for part in part_files(project.paths.working_copy):
        with pq.ParquetFile(part) as file:
            taken += _read_groups(file, shown, rows, offset, total)
            total += file.metadata.num_rows
    columns = [[cell for part in taken for cell in part[place]] for place in range(len(shown))]
    return total, _pad_veiled_columns(columns, shown, width, max(0, min(rows, total - offset)))


def _cells_in_place(
    project: Project, shown: Sequence[int], width: int, rows: int, offset: int
) -> tuple[int, list[tuple[str, ...]]]:
    """The same of a table that stays where it is: a few rows of the columns shown are asked for, in their order."""
    names = project.names
    with open_table(project) as source:
        raw = source.raw or source.table
        total = raw.count_rows()
        page = raw.page([names[i] for i in shown], rows, offset) if shown else None
    columns = [] if page is None else [column.to_pylist() for column in page.columns]
    return total, _pad_veiled_columns(columns, shown, width, max(0, min(rows, total - offset)))


def _pad_veiled_columns(
    columns: Sequence[list[str]], shown: Sequence[int], width: int, here: int
) -> list[tuple[str, ...]]:
    """Rows of all columns: those shown in their places, nothing in the others."""
    every: list[list[str]] = [[""] * here] * width
    for column, position in zip(columns, shown, strict=False):
        every[position] = column
    return list(zip(*every, strict=True))


def _read_groups(
    file: pq.ParquetFile, shown: Sequence[int], rows: int, offset: int, start: int
) -> Iterator[list[list[str]]]:
    """The pieces of the row groups that hold the rows asked for; `start` rows stand before the file."""
    for group in range(file.num_row_groups):
        size = file.metadata.row_group(group).num_rows
        first, last = max(offset - start, 0), min(offset + rows - start, size)
        if shown and first < last:
            table = file.read_row_group(group, columns=[f"c{i}" for i in shown]).slice(first, last - first)
            yield [table.column(f"c{i}").to_pylist() for i in shown]
        start += size
