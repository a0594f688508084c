"""Opening what the user named: a project folder, or a file read once into a private folder that goes again."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.data.engines import Engine
from celosia.data.files import SPILL, own_folder
from celosia.data.suggest import judged, person_key, suggest
from celosia.data.table import ORIGIN, Table
from celosia.errors import SourceMoved
from celosia.model import dictionary
from celosia.model.sources import ROWS_DIGEST, Ingested, Source
from celosia.model.variables import Variable
from celosia.pipeline._call import refuse_unknown_choices
from celosia.pipeline._engine import copied, project_engine, source_engine
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import Project, is_project, open_project, source_dict
from celosia.pipeline._suggest import column_facts, variable_dict, with_labels


@dataclass(frozen=True, slots=True)
class Opened:
    """A table ready to be asked, with what is known about its variables."""

    table: Table
    source: Source
    variables: tuple[Variable, ...]
    person: str | None
    private: Path
    folder: Path | None = None  # of the project, where there is one
    raw: Table | None = None  # the rows of a project as its source has them, before any marker is read as missing


@contextlib.contextmanager
def opened(
    source: Any,
    report: Progress = None,
    described: bool = True,
    traced: bool = False,
    engine: str | None = None,
    memory: str | None = None,
    naming: Sequence[str | None] = (),
    **reading: Any,
) -> Iterator[Opened]:
    """The table of a project, file, database or frame; `described=False` spares the suggestions.

    `traced` lets the rows of a project know which row of the source they were, where the engine can tell. `engine`
    says where counting happens and `memory` how much it may take; a project has its own of both. `naming` are columns
    that the caller names: a first line that holds them is a header, whatever it looks like.
    """
    refuse_unknown_choices(reading)
    with contextlib.ExitStack() as stack:
        if isinstance(source, str | Path) and is_project(Path(source)):
            yield _open_project(stack, Path(source), traced, engine, memory)
        else:
            yield _open_source(stack, source, report, described, engine, memory, naming, reading)


def _open_project(
    stack: contextlib.ExitStack, folder: Path, traced: bool, engine: str | None, memory: str | None
) -> Opened:
    project = open_project(folder)
    variables, names = project.variables(), project.names()
    dictionary.refuse_disagreement(variables, names, str(project.dictionary_path))
    used = stack.enter_context(contextlib.closing(project_engine(project, engine, memory)))
    raw = _rows_of(project, used, traced)
    table = raw.with_missing({variable.name: variable.missing for variable in variables})
    return Opened(table, project.config.source, variables, project.config.person, project.private, folder, raw)


def _rows_of(project: Project, engine: Engine, traced: bool) -> Table:
    """The rows of a project as its source has them; numbered where there is a copy, whose rows have an order."""
    place = project.in_place
    if place is not None:
        from celosia.data.in_place import rows_in_place

        return rows_in_place(engine, place)
    copy = project.working_copy
    numbered = traced and getattr(engine, "traces", True)  # no row of a cluster comes here to be shown
    return Table(engine, engine.numbered_parquet(copy, ORIGIN) if numbered else engine.parquet(copy), project.names())


def _open_source(
    stack: contextlib.ExitStack, source: Any, report: Progress, described: bool, engine: str | None,
    memory: str | None, naming: Sequence[str | None], reading: dict[str, Any],
) -> Opened:  # fmt: skip
    private = own_folder(Path(tempfile.gettempdir()), SPILL)  # mode 0700; swept later should this process be killed
    stack.callback(shutil.rmtree, private, ignore_errors=True)
    used = stack.enter_context(contextlib.closing(source_engine(private, engine, memory)))
    target = private / "working.parquet"
    ingested = copied(used, source, target, report, reading)
    if _named_by_first_line(ingested, target, naming):
        ingested = copied(used, source, target, report, reading | {"header": True})
    table = Table(used, used.parquet(target), ingested.names)
    if not described:
        return Opened(table, ingested.source, (), None, private)
    facts = column_facts(table, table.names, stage(report, "suggest"))
    opinion = judged(facts)
    variables = with_labels(suggest(facts, opinion=opinion), ingested)
    return Opened(table, ingested.source, variables, person_key(facts, opinion), private)


def _named_by_first_line(ingested: Ingested, target: Path, naming: Sequence[str | None]) -> bool:
    """Whether a first line that was guessed to be a record holds every column that the caller names."""
    wanted = {name for name in naming if name is not None} - set(ingested.names)
    choices = ingested.source.choices
    if not wanted or choices.header or "header" not in choices.guessed or not target.is_file():
        return False
    import pyarrow.parquet as pq

    first = next(pq.ParquetFile(target).iter_batches(batch_size=1), None)
    return first is not None and wanted <= {str(column[0]).strip() for column in first.columns}


def settled_source(found: Opened) -> Opened:
    """What was opened, once it is sure that a table counted in place still holds the rows of its project."""
    digest, raw = found.source.digest, found.raw
    if raw is not None and digest.startswith(f"{ROWS_DIGEST}:") and raw.fingerprint() != digest:
        raise SourceMoved(table=found.source.name)
    return found


def suggestion_report(found: Opened, purposes: Sequence[str] = ()) -> dict[str, Any]:
    """The proposals for an opened table, as their versioned JSON: roles, and treatments for what is wanted."""
    from celosia.pipeline._treatments import proposed_treatments, treatment_dict

    treatments = proposed_treatments(found, purposes)
    return {
        "format": "celosia/suggest/1",
        "source": source_dict(found.source),
        "person": found.person,
        "variables": [
            {**variable_dict(variable), "treatments": treatment_dict(treatments[variable.name])}
            for variable in found.variables
        ],
    }
