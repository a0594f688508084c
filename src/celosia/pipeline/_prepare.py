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
from celosia.data.engines import open_engine
from celosia.data.files import own_folder, writing_into
from celosia.data.readers import ingest
from celosia.data.sheets import read_rows
from celosia.data.suggest import ColumnFacts, person_key, suggest
from celosia.data.table import Table
from celosia.errors import AlreadyExists, DictionaryNeeded, FolderUnwritable, ValueOutOfRange
from celosia.model import dictionary
from celosia.model.project import PROTOCOLS, ProjectConfig
from celosia.model.schema import Schema
from celosia.model.sources import Ingested
from celosia.model.variables import Role, Variable
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment, refuse_unknown_choices
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
    **reading: Any,
) -> Initiated:
    """Make a project folder from a source: working copy, proposed dictionary, journal."""
    protocols = _known(protocols)
    refuse_unknown_choices(reading)
    folder = Path(into) if into is not None else Path(folder_name(str(source)))
    given = Path(given_dictionary) if given_dictionary is not None else None
    if folder.exists():
        raise AlreadyExists(path=str(folder))
    if "mel" in protocols and given is None:
        raise DictionaryNeeded()  # MEL IV.1: the base and its dictionary are both needed to begin
    with _staged(folder) as staging:
        ingested = ingest(source, staging / "private" / "working.parquet", progress=stage(report, "read"), **reading)
        if person is not None:
            Schema(ingested.names).position(person)
        labels = _given_labels(given, ingested.names)  # a dictionary that does not fit is refused before any counting
        facts = _counted(staging, ingested, report)
        variables, steps = _described(ingested, facts, protocols, labels)
        key = person or person_key(facts)
        config = ProjectConfig(folder.name, messages.language(), protocols, ingested.source, key)
        _write(staging, config, variables, steps, moment(now))
        _keep_figures(staging, facts, moment(now))
    return Initiated(Project(folder, config), variables)


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


@contextlib.contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """A hidden private folder that becomes `folder` when the block ends well, and vanishes otherwise."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = own_folder(folder.parent)
        (staging / "private").mkdir(mode=0o700)
        (staging / "hierarchies").mkdir()
    except OSError:
        raise FolderUnwritable(path=str(folder.parent)) from None
    try:
        yield staging
        os.rename(staging, folder)
    except FileExistsError:
        raise AlreadyExists(path=str(folder)) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _counted(staging: Path, ingested: Ingested, report: Progress) -> list[ColumnFacts]:
    """What each column holds, counted once."""
    with contextlib.closing(open_engine(None, staging / "private")) as engine:
        table = Table(engine, engine.parquet(staging / "private" / "working.parquet"), ingested.names)
        return column_facts(table, stage(report, "suggest"))


def _described(
    ingested: Ingested, facts: Sequence[ColumnFacts], protocols: tuple[str, ...], labels: Mapping[str, str]
) -> tuple[tuple[Variable, ...], str]:
    """The proposed dictionary and the treatments as TOML."""
    proposed = with_labels(suggest(facts, norm_of(protocols[0]) if protocols else None), ingested)
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
