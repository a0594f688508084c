"""`init`: a raw file becomes a project folder, whole or not at all.

Everything is made in a hidden folder beside the target and moved into place in one step.
"""

from __future__ import annotations

import contextlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.engines.base import Engine
from celosia.data.readers.working import refuse_json_texts
from celosia.data.sheets import read_rows
from celosia.data.sniffing import apply_overrides
from celosia.data.table import Table
from celosia.model import dictionary
from celosia.model.paths import ProjectPaths
from celosia.model.project import PROTOCOLS, ProjectConfig
from celosia.model.reports.report import Records, Report
from celosia.model.reports.suggested_roles import SuggestedRoles
from celosia.model.schema import Schema
from celosia.model.sources import Ingested, ReadingChoices
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Variable
from celosia.pipeline.intake.column_figures import save_column_figures
from celosia.pipeline.intake.engine_choice import (
    CATALOGUE,
    copy_source,
    database_in_place,
    engine_setting,
    is_catalogue_table,
    source_engine,
)
from celosia.pipeline.intake.errors import DictionaryNeeded
from celosia.pipeline.intake.proposed_criteria import default_criteria
from celosia.pipeline.intake.proposed_dictionary import column_facts, variable_dict, with_labels
from celosia.pipeline.intake.proposed_treatments import proposed_steps, treatments_of_variables
from celosia.pipeline.intake.repeated_variables import with_repetitions
from celosia.pipeline.intake.source_address import is_address, resolved_source
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, check_arguments, refuse_unknown_choices, utc_now
from celosia.pipeline.project.folder import Project, open_project
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.pipeline.project.settings import config_document, source_dict
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.judge import judge_table
from celosia.proposals.person import person_key
from celosia.proposals.propose import suggest
from celosia.protocols.load import combined_rules, norm_of
from celosia.storage import (
    PRIVATE_FILE,
    AlreadyExists,
    FileInUse,
    FolderUnwritable,
    move,
    private_tempdir,
    remove_folder,
    set_mode,
    translate_write_errors,
    write_error,
)
from celosia.system.paths import unreserved_name


@dataclass(frozen=True, slots=True, repr=False)
class InitResult(Report):
    """A fresh project and the proposed dictionary."""

    project: Project
    variables: tuple[Variable, ...]

    @property
    def summary(self) -> str:
        """Where the project is, and how many variables wait for a review."""
        return messages.text("reports.summary.init", folder=self.project.folder.name, count=len(self.variables))

    def records(self) -> Records:
        """One line per variable: what it seems to be, and why."""
        return SuggestedRoles(self.variables).records()

    def as_dict(self) -> dict[str, Any]:
        """What was made, as its versioned JSON."""
        config = self.project.config
        return {
            "format": "celosia/init/1",
            "project": str(self.project.folder),
            "protocols": list(config.protocols),
            "person": config.person,
            "source": source_dict(config.source),
            "variables": [variable_dict(variable) for variable in self.variables],
        }


@check_arguments
def init(
    source: Any,
    into: PathArg | None = None,
    protocols: str | Sequence[str] = (),
    given_dictionary: PathArg | None = None,
    person: str | None = None,
    *,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
    **reading: Any,
) -> InitResult:
    """Make a project folder from a source: working copy, proposed dictionary, journal.

    A table of PostgreSQL that is to be counted there (`engine="postgresql"`) is not copied: only its names are kept.
    """
    protocols = _check_protocols(protocols)
    refuse_unknown_choices(reading)
    folder = Path(into) if into is not None else Path(folder_name(_default_name(source, reading)))
    given = Path(given_dictionary) if given_dictionary is not None else None
    if folder.exists():
        raise AlreadyExists(path=str(folder))
    if "mel" in protocols and given is None:
        raise DictionaryNeeded()  # MEL IV.1: the base and its dictionary are both needed to begin
    with _staging_folder(folder) as staging, _open_rows(staging, source, engine, memory, report, reading) as begun:
        table, ingested = begun
        if person is not None:
            Schema(ingested.names).position(person)
        labels = _given_labels(given, ingested.names)  # a dictionary that does not fit is refused before any counting
        facts = column_facts(table, table.names, stage_progress(report, "suggest"))
        if not ProjectPaths(staging).working_copy.exists():
            refuse_json_texts(facts)
        opinion = judge_table(facts)
        norm = norm_of(protocols[0]) if protocols else None
        proposed = with_repetitions(table, facts, suggest(facts, norm, opinion), norm)
        variables, steps = _describe_variables(ingested, facts, proposed, protocols, labels)
        config = ProjectConfig(
            encodable_name(folder.name),
            messages.language(),
            protocols,
            replace(ingested.source, name=encodable_name(ingested.source.name)),
            person or person_key(facts, opinion),
            engine=engine_setting(engine),
            memory=memory or "",
        )
        _write(staging, config, variables, steps, utc_now(now))
        project = open_project(staging)
        save_column_figures(project, facts, utc_now(now))
    return InitResult(replace(project, folder=folder, config=config), variables)


@contextlib.contextmanager
def _open_rows(
    staging: Path, source: Any, engine: str | None, memory: str | None, report: Progress, reading: Mapping[str, Any]
) -> Iterator[tuple[Table, Ingested]]:
    """The rows of a source: copied into the project and counted by its engine, or in their place."""
    place = database_in_place(source, engine)
    private = ProjectPaths(staging).private
    with contextlib.closing(source_engine(private, engine if place is None else place.address, memory)) as used:
        if place is not None:
            yield _found_in_place(ProjectPaths(staging), used, place.variable, reading)
            return
        copy = ProjectPaths(staging).working_copy
        ingested = copy_source(used, resolved_source(source), copy, report, reading)
        yield Table(used, used.parquet(copy), ingested.names), ingested


def _found_in_place(
    paths: ProjectPaths, engine: Engine, variable: str, reading: Mapping[str, Any]
) -> tuple[Table, Ingested]:
    from celosia.data.in_place import locate_table

    located = locate_table(engine, apply_overrides(ReadingChoices(format="postgresql"), **reading), variable)
    with translate_write_errors(paths.private):
        text = json.dumps(located.place.as_dict(), ensure_ascii=False, indent=2)
        paths.source_place.write_text(text + "\n", "utf-8", newline="\n")
        set_mode(paths.source_place, PRIVATE_FILE)
    return located.table, located.ingested


def _default_name(source: Any, reading: Mapping[str, Any]) -> str:
    """What a project is called: its file, or its table where the source is a database."""
    text = str(source)
    if is_catalogue_table(text):
        return text.removeprefix(CATALOGUE).split(".")[-1]
    table = str(reading.get("sheet") or "")
    return table.split(".")[-1] if table and is_address(text) else text


def _check_protocols(protocols: Sequence[str]) -> tuple[str, ...]:
    for name in protocols:
        if name not in PROTOCOLS:
            raise ValueOutOfRange(parameter="protocols", given=name, allowed=", ".join(PROTOCOLS))
    return tuple(protocols)


def folder_name(source: str) -> str:
    """A plain folder name after a file or table: no user, password or path."""
    stem = re.split(r"[/\\]", source.rstrip("/\\").split("?")[0])[-1].split(".")[0]
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    return unreserved_name(re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "proyecto")


def encodable_name(name: str) -> str:
    """A name as a file of text can hold it: systems allow names in bytes that are no letters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@contextlib.contextmanager
def _staging_folder(folder: Path) -> Iterator[Path]:
    """A hidden private folder that becomes `folder` when the block ends well, and vanishes otherwise."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = private_tempdir(folder.parent)
        ProjectPaths(staging).private.mkdir(mode=0o700)
        ProjectPaths(staging).hierarchies.mkdir()
    except OSError as fault:
        raise write_error(fault, folder.parent) from None
    try:
        yield staging
        _put_in_place(staging, folder)
    finally:
        remove_folder(staging)


def _put_in_place(staging: Path, folder: Path) -> None:
    """Give the finished folder its name; of two who make it at once, the second is told that it is there."""
    try:
        move(staging, folder)
    except (FileInUse, FolderUnwritable) as error:
        raise AlreadyExists(path=str(folder)) if folder.exists() else error from None


def _describe_variables(
    ingested: Ingested,
    facts: Sequence[ColumnFacts],
    proposed: tuple[Variable, ...],
    protocols: tuple[str, ...],
    labels: Mapping[str, str],
) -> tuple[tuple[Variable, ...], str]:
    """The proposed dictionary and the treatments as TOML."""
    labelled = with_labels(proposed, ingested)
    variables = tuple(replace(variable, label=labels.get(variable.name, variable.label)) for variable in labelled)
    values, distinct = (
        {column.name: column.values for column in facts},
        {column.name: column.distinct for column in facts},
    )
    return variables, proposed_steps(
        treatments_of_variables(variables, values.__getitem__, distinct, protocols=protocols)
    )


def _given_labels(given: Path | None, columns: tuple[str, ...]) -> dict[str, str]:
    """Labels of the dictionary the user brings; it must name exactly the columns of the base (M08, P01)."""
    if given is None:
        return {}
    labels = dictionary.labels_of(read_rows(given), str(given))
    dictionary.refuse_disagreement([Variable(name) for name in labels], columns, str(given))
    return labels


def _template(config: ProjectConfig, variables: tuple[Variable, ...], steps: str) -> str:
    """What people may add to celosia.toml, as comments: the criteria that apply, hierarchies, proposed treatments."""
    sensitive = [v.name for v in variables if v.role == Role.SENSITIVE]
    criteria = "".join(
        f"\n#   {_inline(data)}," for data in default_criteria(combined_rules(config.protocols), sensitive)
    )
    policy = messages.text("plan.template.policy", criteria=criteria)
    parts = ["", policy, "", messages.text("plan.template.hierarchies"), ""]
    return "\n".join([*parts, messages.text("plan.template.steps"), steps, ""] if steps else parts)


def _inline(data: Mapping[str, Any]) -> str:
    """A criterion as TOML writes it on one line; a JSON text is a TOML text."""
    return "{" + ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()) + "}"


def _write(staging: Path, config: ProjectConfig, variables: tuple[Variable, ...], steps: str, now: datetime) -> None:
    source, paths = config.source, ProjectPaths(staging)
    facts = {"source": source.digest, "rows": source.rows, "columns": source.columns, "protocols": config.protocols}
    with translate_write_errors(staging):
        paths.settings.write_text(config_document(config, _template(config, variables, steps)), "utf-8", newline="\n")
        paths.dictionary.write_text(dictionary.dump(variables), "utf-8", newline="\n")
        _journal.append_entry(paths.journal, "init", now, facts)
