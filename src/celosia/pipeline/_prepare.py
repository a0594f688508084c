"""`init`: a raw file becomes a project folder, whole or not at all.

Everything is made in a hidden folder beside the target and moved into place in one step.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.engines import Engine
from celosia.data.files import PRIVATE_FILE, own_folder, write_error, writing_into
from celosia.data.readers import refuse_json_texts
from celosia.data.sheets import read_rows
from celosia.data.sniffing import apply_overrides
from celosia.data.suggest import ColumnFacts, Judged, judged, person_key, suggest
from celosia.data.table import Table
from celosia.errors import AlreadyExists, DictionaryNeeded, ValueOutOfRange
from celosia.model import dictionary
from celosia.model.project import PROTOCOLS, ProjectConfig
from celosia.model.schema import Schema
from celosia.model.sources import Ingested, ReadingChoices
from celosia.model.variables import Role, Variable
from celosia.pipeline import _journal
from celosia.pipeline._addresses import is_address, resolved_source
from celosia.pipeline._call import Place, moment, refuse_unknown_choices
from celosia.pipeline._engine import CATALOGUE, copied, in_place_of, is_catalogue_table, kept_engine, source_engine
from celosia.pipeline._policy import default_criteria
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import Project, config_document, source_dict
from celosia.pipeline._suggest import column_facts, variable_dict, with_labels
from celosia.pipeline._treatments import proposed_steps, treatments
from celosia.protocols import combined, norm_of


@dataclass(frozen=True, slots=True)
class Initiated:
    """A fresh project and the proposed dictionary."""

    project: Project
    variables: tuple[Variable, ...]

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


def init(
    source: Any,
    into: Place | None = None,
    protocols: Sequence[str] = (),
    given_dictionary: Place | None = None,
    person: str | None = None,
    *,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
    **reading: Any,
) -> Initiated:
    """Make a project folder from a source: working copy, proposed dictionary, journal.

    A table of PostgreSQL that is to be counted there (`engine="postgresql"`) is not copied: only its names are kept.
    """
    protocols = _known(protocols)
    refuse_unknown_choices(reading)
    folder = Path(into) if into is not None else Path(folder_name(_named_after(source, reading)))
    given = Path(given_dictionary) if given_dictionary is not None else None
    if folder.exists():
        raise AlreadyExists(path=str(folder))
    if "mel" in protocols and given is None:
        raise DictionaryNeeded()  # MEL IV.1: the base and its dictionary are both needed to begin
    with _staged(folder) as staging, _begun(staging, source, engine, memory, report, reading) as begun:
        table, ingested = begun
        if person is not None:
            Schema(ingested.names).position(person)
        labels = _given_labels(given, ingested.names)  # a dictionary that does not fit is refused before any counting
        facts = column_facts(table, table.names, stage(report, "suggest"))
        if not (staging / "private" / "working.parquet").exists():
            refuse_json_texts(facts)
        opinion = judged(facts)
        variables, steps = _described(ingested, facts, opinion, protocols, labels)
        config = ProjectConfig(
            writable(folder.name), messages.language(), protocols,
            replace(ingested.source, name=writable(ingested.source.name)), person or person_key(facts, opinion),
            engine=kept_engine(engine), memory=memory or "",
        )  # fmt: skip
        _write(staging, config, variables, steps, moment(now))
        _keep_figures(staging, facts, moment(now))
    return Initiated(Project(folder, config), variables)


@contextlib.contextmanager
def _begun(
    staging: Path, source: Any, engine: str | None, memory: str | None, report: Progress, reading: Mapping[str, Any]
) -> Iterator[tuple[Table, Ingested]]:
    """The rows of a source: copied into the project and counted by its engine, or in their place."""
    place = in_place_of(source, engine)
    private = staging / "private"
    with contextlib.closing(source_engine(private, engine if place is None else place.address, memory)) as used:
        if place is not None:
            yield _found_in_place(private, used, place.variable, reading)
            return
        copy = private / "working.parquet"
        ingested = copied(used, resolved_source(source), copy, report, reading)
        yield Table(used, used.parquet(copy), ingested.names), ingested


def _found_in_place(private: Path, engine: Engine, variable: str, reading: Mapping[str, Any]) -> tuple[Table, Ingested]:
    from celosia.data.in_place import placed

    found = placed(engine, apply_overrides(ReadingChoices(format="postgresql"), **reading), variable)
    with writing_into(private):
        text = json.dumps(found.place.as_dict(), ensure_ascii=False, indent=2)
        (private / "place.json").write_text(text + "\n", "utf-8")
        (private / "place.json").chmod(PRIVATE_FILE)
    return found.table, found.ingested


def _named_after(source: Any, reading: Mapping[str, Any]) -> str:
    """What a project is called: its file, or its table where the source is a database."""
    text = str(source)
    if is_catalogue_table(text):
        return text.removeprefix(CATALOGUE).split(".")[-1]
    table = str(reading.get("sheet") or "")
    return table.split(".")[-1] if table and is_address(text) else text


def _known(protocols: Sequence[str]) -> tuple[str, ...]:
    for name in protocols:
        if name not in PROTOCOLS:
            raise ValueOutOfRange(parameter="protocols", given=name, allowed=", ".join(PROTOCOLS))
    return tuple(protocols)


def folder_name(source: str) -> str:
    """A plain folder name after a file or table: no user, password or path."""
    stem = re.split(r"[/\\]", source.rstrip("/\\").split("?")[0])[-1].split(".")[0]
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "proyecto"


def writable(name: str) -> str:
    """A name as a file of text can hold it: systems allow names in bytes that are no letters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@contextlib.contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """A hidden private folder that becomes `folder` when the block ends well, and vanishes otherwise."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = own_folder(folder.parent)
        (staging / "private").mkdir(mode=0o700)
        (staging / "hierarchies").mkdir()
    except OSError as fault:
        raise write_error(fault, folder.parent) from None
    try:
        yield staging
        _become(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _become(staging: Path, folder: Path) -> None:
    """Give the finished folder its name; of two who make it at once, the second is told that it is there."""
    try:
        os.rename(staging, folder)
    except OSError as fault:
        raise AlreadyExists(path=str(folder)) if folder.exists() else write_error(fault, folder.parent) from None


def _described(
    ingested: Ingested,
    facts: Sequence[ColumnFacts],
    opinion: Judged,
    protocols: tuple[str, ...],
    labels: Mapping[str, str],
) -> tuple[tuple[Variable, ...], str]:
    """The proposed dictionary and the treatments as TOML."""
    proposed = with_labels(suggest(facts, norm_of(protocols[0]) if protocols else None, opinion), ingested)
    variables = tuple(replace(variable, label=labels.get(variable.name, variable.label)) for variable in proposed)
    values, distinct = {one.name: one.values for one in facts}, {one.name: one.distinct for one in facts}
    return variables, proposed_steps(treatments(variables, values.__getitem__, distinct, protocols=protocols))


def _keep_figures(staging: Path, facts: Sequence[ColumnFacts], now: datetime) -> None:
    from celosia.pipeline._dictionary_view import keep_figures  # loads the measures, which `init` alone does not need

    keep_figures(staging, facts, now=now)


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
    criteria = "".join(f"\n#   {_inline(data)}," for data in default_criteria(combined(config.protocols), sensitive))
    policy = messages.text("plan.template.policy", criteria=criteria)
    parts = ["", policy, "", messages.text("plan.template.hierarchies"), ""]
    return "\n".join([*parts, messages.text("plan.template.steps"), steps, ""] if steps else parts)


def _inline(data: Mapping[str, Any]) -> str:
    """A criterion as TOML writes it on one line; a JSON text is a TOML text."""
    return "{" + ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()) + "}"


def _write(staging: Path, config: ProjectConfig, variables: tuple[Variable, ...], steps: str, now: datetime) -> None:
    source = config.source
    facts = {"source": source.digest, "rows": source.rows, "columns": source.columns, "protocols": config.protocols}
    with writing_into(staging):
        (staging / "celosia.toml").write_text(config_document(config, _template(config, variables, steps)), "utf-8")
        (staging / "dictionary.csv").write_text(dictionary.dump(variables), "utf-8")
        _journal.append(staging / "journal.jsonl", "init", now, facts)
