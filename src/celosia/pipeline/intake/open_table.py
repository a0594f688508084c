"""Opening what the user named: a project, a file read once into a private folder that goes again, a frame in memory."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.data.copied_table import copied_table
from celosia.data.engines.base import Engine
from celosia.data.engines.lazy import LazyEngine
from celosia.data.frame_table import code_frame
from celosia.data.table import ORIGIN, Table
from celosia.errors import InternalFault
from celosia.model import dictionary
from celosia.model.paths import WORKING_COPY
from celosia.model.project import ENGINE
from celosia.model.sources import ROWS_DIGEST, Ingested, Source
from celosia.model.variables import Variable
from celosia.pipeline.intake.engine_choice import copy_source, memory_limit, project_engine, source_engine
from celosia.pipeline.intake.errors import SourceMoved
from celosia.pipeline.intake.proposed_dictionary import column_facts, variable_dict, with_labels
from celosia.pipeline.intake.repeated_variables import with_repetitions
from celosia.pipeline.intake.source_address import usable_source
from celosia.pipeline.project.arguments import refuse_unknown_choices
from celosia.pipeline.project.folder import Project, names_project, open_project
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.pipeline.project.settings import source_dict
from celosia.proposals.judge import judge_table
from celosia.proposals.person import person_key
from celosia.proposals.propose import suggest
from celosia.storage import SPILL_PREFIX, private_tempdir, remove_folder


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table ready to be asked, with what is known about its variables."""

    table: Table
    source: Source
    variables: tuple[Variable, ...]
    person: str | None
    scratch: Path | None  # a private folder for what is made on the way; a frame has none
    project: Project | None = None
    raw: Table | None = None  # the rows of a project as its source has them, before any marker is read as missing

    @property
    def private(self) -> Path:
        """The private folder of what was read from the disk, or of a project."""
        if self.scratch is None:
            raise InternalFault(where="open_table")
        return self.scratch

    def person_key(self, name: str | None = None) -> str | None:
        """The column that identifies persons: the one named, which must exist, or the table's own."""
        key = name or self.person
        if key is not None:
            self.table.schema.position(key)
        return key


@contextlib.contextmanager
def open_table(
    source: Any,
    report: Progress = None,
    described: bool = True,
    traced: bool = False,
    engine: str | None = None,
    memory: str | None = None,
    naming: Sequence[str | None] = (),
    **reading: Any,
) -> Iterator[OpenTable]:
    """The table of a project, file, database or frame; `described=False` spares the suggestions.

    `traced` lets the rows of a project know which row of the source they were, where the engine can tell. `engine`
    says where counting happens and `memory` how much it may take; a project has its own of both. `naming` are columns
    that the caller names: a first line that holds them is a header, whatever it looks like. A table that is open
    already stays as it is.
    """
    if isinstance(source, OpenTable):
        yield source
        return
    refuse_unknown_choices(reading)
    source = usable_source(source)
    with contextlib.ExitStack() as stack:
        if names_project(source):
            yield _open_project(stack, open_project(source), traced, engine, memory)
        elif stays_in_memory(source, engine):
            yield _open_frame(stack, source, report, described, memory, reading)
        else:
            yield _open_source(stack, source, report, described, engine, memory, naming, reading)


def stays_in_memory(source: Any, engine: str | None) -> bool:
    """Whether a source is a frame to be counted here; on an engine that somebody names it is sent there."""
    return not isinstance(source, str | Path) and engine in (None, ENGINE)


def _open_project(
    stack: contextlib.ExitStack, project: Project, traced: bool, engine: str | None, memory: str | None
) -> OpenTable:
    variables, names = project.variables, project.names
    dictionary.refuse_disagreement(variables, names, str(project.paths.dictionary))
    used = stack.enter_context(contextlib.closing(project_engine(project, engine, memory)))
    raw = _rows_of(project, used, traced)
    table = raw.with_missing({variable.name: variable.missing for variable in variables})
    config, private = project.config, project.paths.private
    return OpenTable(table, config.source, variables, config.person, private, project, raw)


def _rows_of(project: Project, engine: Engine | LazyEngine, traced: bool) -> Table:
    """The rows of a project as its source has them; numbered where there is a copy, whose rows have an order."""
    copy, place = project.paths.working_copy, project.in_place
    if isinstance(engine, LazyEngine):
        return copied_table(copy, project.names, engine, traced)
    if place is not None:
        from celosia.data.in_place import rows_in_place

        return rows_in_place(engine, place)
    numbered = traced and getattr(engine, "traces", True)  # no row of a cluster comes here to be shown
    return Table(engine, engine.numbered_parquet(copy, ORIGIN) if numbered else engine.parquet(copy), project.names)


def _open_source(
    stack: contextlib.ExitStack,
    source: Any,
    report: Progress,
    described: bool,
    engine: str | None,
    memory: str | None,
    naming: Sequence[str | None],
    reading: dict[str, Any],
) -> OpenTable:
    private = private_tempdir(
        Path(tempfile.gettempdir()), SPILL_PREFIX
    )  # mode 0700; swept later should this process be killed
    stack.callback(remove_folder, private)
    used = stack.enter_context(contextlib.closing(source_engine(private, engine, memory)))
    target = private / WORKING_COPY
    ingested = copy_source(used, source, target, report, reading)
    if _named_by_first_line(ingested, target, naming):
        ingested = copy_source(used, source, target, report, reading | {"header": True})
    table = Table(used, used.parquet(target), ingested.names)
    if not described:
        return OpenTable(table, ingested.source, (), None, private)
    variables, person = describe_columns(table, ingested, report)
    return OpenTable(table, ingested.source, variables, person, private)


def _open_frame(
    stack: contextlib.ExitStack,
    frame: Any,
    report: Progress,
    described: bool,
    memory: str | None,
    reading: dict[str, Any],
) -> OpenTable:
    lazy_engine = stack.enter_context(contextlib.closing(LazyEngine(memory_limit(memory or ""))))
    opened = code_frame(frame, lazy_engine, **reading)
    if not described:
        return OpenTable(opened.table, opened.ingested.source, (), None, None)
    variables, person = describe_columns(opened.table, opened.ingested, report)
    return OpenTable(opened.table, opened.ingested.source, variables, person, None)


def describe_columns(
    table: Table, ingested: Ingested, report: Progress = None
) -> tuple[tuple[Variable, ...], str | None]:
    """What each column seems to be, and the one that seems to identify persons."""
    facts = column_facts(table, table.names, stage_progress(report, "suggest"))
    opinion = judge_table(facts)
    variables = with_labels(with_repetitions(table, facts, suggest(facts, judgement=opinion)), ingested)
    return variables, person_key(facts, opinion)


def _named_by_first_line(ingested: Ingested, target: Path, naming: Sequence[str | None]) -> bool:
    """Whether a first line that was guessed to be a record holds every column that the caller names."""
    wanted = {name for name in naming if name is not None} - set(ingested.names)
    choices = ingested.source.choices
    if not wanted or choices.header or "header" not in choices.guessed or not target.is_file():
        return False
    import pyarrow.parquet as pq

    first = next(pq.ParquetFile(target).iter_batches(batch_size=1), None)
    return first is not None and wanted <= {str(column[0]).strip() for column in first.columns}


def refuse_changed_source(table: OpenTable) -> OpenTable:
    """What was opened, once it is sure that a table counted in place still holds the rows of its project."""
    digest, raw = table.source.digest, table.raw
    if raw is not None and digest.startswith(f"{ROWS_DIGEST}:") and raw.fingerprint() != digest:
        raise SourceMoved(table=table.source.name)
    return table


def suggestion_report(table: OpenTable, purposes: Sequence[str] = ()) -> dict[str, Any]:
    """The proposals for an opened table, as their versioned JSON: roles, and treatments for what is wanted."""
    from celosia.pipeline.intake.proposed_treatments import treatment_dict, treatments_of_table

    treatments = treatments_of_table(table, purposes)
    return {
        "format": "celosia/suggest/1",
        "source": source_dict(table.source),
        "person": table.person,
        "variables": [
            {**variable_dict(variable), "treatments": treatment_dict(treatments[variable.name])}
            for variable in table.variables
        ],
    }
