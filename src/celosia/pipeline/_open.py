"""Opening what the user named: a project folder, or a file read once into a private folder that goes again."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.data.engines import open_engine
from celosia.data.files import SPILL, own_folder
from celosia.data.readers import ingest, working_names
from celosia.data.suggest import person_key, suggest
from celosia.data.table import ORIGIN, Table
from celosia.model import dictionary
from celosia.model.sources import Source
from celosia.model.variables import Variable
from celosia.pipeline._call import refuse_unknown_choices
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import is_project, open_project, source_dict
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


@contextlib.contextmanager
def opened(
    source: Any, report: Progress = None, described: bool = True, traced: bool = False, **reading: Any
) -> Iterator[Opened]:
    """The table of a project, file, database or frame; `described=False` spares the suggestions.

    `traced` lets the rows of a project know which row of the source they were.
    """
    refuse_unknown_choices(reading)
    with contextlib.ExitStack() as stack:
        if isinstance(source, str | Path) and is_project(Path(source)):
            yield _open_project(stack, Path(source), traced)
        else:
            yield _open_source(stack, source, report, described, reading)


def _open_project(stack: contextlib.ExitStack, folder: Path, traced: bool) -> Opened:
    from celosia.data.engines.duckdb import DuckDBEngine

    project = open_project(folder)
    private = project.working_copy.parent
    engine = stack.enter_context(contextlib.closing(DuckDBEngine(spill=private)))
    names = working_names(project.working_copy)
    variables = project.variables()
    dictionary.refuse_disagreement(variables, names, str(project.dictionary_path))
    copy = project.working_copy
    table = Table(engine, engine.numbered_parquet(copy, ORIGIN) if traced else engine.parquet(copy), names)
    markers = {variable.name: variable.missing for variable in variables}
    table = table.with_missing(markers)
    return Opened(table, project.config.source, variables, project.config.person, private, folder)


def _open_source(
    stack: contextlib.ExitStack, source: Any, report: Progress, described: bool, reading: dict[str, Any]
) -> Opened:
    private = own_folder(Path(tempfile.gettempdir()), SPILL)  # mode 0700; swept later should this process be killed
    stack.callback(shutil.rmtree, private, ignore_errors=True)
    ingested = ingest(source, private / "working.parquet", progress=stage(report, "read"), **reading)
    engine = stack.enter_context(contextlib.closing(open_engine(None, private)))
    table = Table(engine, engine.parquet(private / "working.parquet"), ingested.names)
    if not described:
        return Opened(table, ingested.source, (), None, private)
    facts = column_facts(table, stage(report, "suggest"))
    return Opened(table, ingested.source, with_labels(suggest(facts), ingested), person_key(facts), private)


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
