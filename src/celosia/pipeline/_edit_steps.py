"""The steps of a project as a form: what is declared, what each technique asks for, and an edit of `[[steps]]`.

Knows celosia.toml and the declared parameters of the techniques. Ignores data: no cell is read here, except where
treatments are to be proposed. A hierarchy or a matrix of probabilities stays with the file, where it can be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import tomlkit

from celosia import messages
from celosia.errors import CelosiaError, UnknownVariable
from celosia.pipeline import _journal
from celosia.pipeline._apply import describe_techniques
from celosia.pipeline._call import Place, moment
from celosia.pipeline._edit_settings import settings_edited
from celosia.pipeline._kept import digest_of_file
from celosia.pipeline._keys import refuse_pseudonyms
from celosia.pipeline._open import opened
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._step_text import plain_step
from celosia.pipeline._steps import refuse_small_groups
from celosia.pipeline._treatments import proposed_treatments
from celosia.techniques import understood

_OURS = ("key", "person", "unknown", "decimal")  # what the project itself says of them is put in
_BY_LINES = {"map": "pairs", "where": "conditions", "keep": "conditions"}  # tables that a person can write line by line
Step = Mapping[str, Any]


def steps_view(folder: Place) -> dict[str, Any]:
    """The declared steps in their order, the columns there are, and a form for each technique that has one."""
    project = open_project(folder)
    path = project.folder / "celosia.toml"
    digest, declared = digest_of_file(path), read_toml(path).get("steps", ())
    return {
        "digest": digest,
        "columns": [variable.name for variable in project.variables()],
        "steps": [_told(plain_step(step)) for step in declared],
        "forms": list(_forms()),
    }


def proposed_steps_view(folder: Place) -> list[dict[str, Any]]:
    """The treatments proposed for each variable, each as a step with its reason and what a person has to add."""
    with opened(folder) as found:
        proposed = proposed_treatments(found)
    return [
        {"variable": name, **one.as_dict(), **_words(one.technique)} for name, several in proposed.items()
        for one in several
    ]  # fmt: skip


def edit_steps(
    folder: Place, steps: Sequence[Step], *, expected: str | None = None, now: datetime | None = None
) -> dict[str, Any]:
    """Write these steps, all of them and in this order, in place of those that are declared."""
    project, wanted = open_project(folder), [plain_step(step) for step in steps]
    _refuse_senseless(project, wanted)
    with settings_edited(project, expected) as document:
        _put(document, wanted)
    facts = {"techniques": [understood(step)[0].name for step in wanted]}
    _journal.append(project.journal_path, "steps", moment(now), facts)
    return steps_view(folder)


# --- the view -------------------------------------------------------------------------------------


def _told(step: Step) -> dict[str, Any]:
    """A declared step with its name in words; one that cannot be understood says why."""
    settings = {key: value for key, value in step.items() if key != "technique"}
    try:
        chosen = understood(step)[0].name
        return {"step": dict(step), "settings": settings, "fault": "", **_words(chosen)}
    except CelosiaError as refusal:
        return {"step": dict(step), "settings": settings, "fault": str(refusal),
                "technique": str(step.get("technique", "")), "title": str(step.get("technique", ""))}  # fmt: skip


def _words(name: str) -> dict[str, str]:
    return {"technique": name, "title": messages.text(f"techniques.name.{name}")}


def _forms() -> Iterator[dict[str, Any]]:
    """What each technique asks for; a table that lines cannot say is left to the file."""
    for one in describe_techniques():
        fields = [
            {"name": key, **param, "kind": _BY_LINES.get(key, "") if param["kind"] == "table" else param["kind"]}
            for key, param in one["parameters"].items()
            if key not in _OURS
        ]
        summary = messages.text(f"techniques.summary.{one['name']}")
        yield {**_words(one["name"]), "summary": summary, "parameters": [field for field in fields if field["kind"]]}


# --- the edit -------------------------------------------------------------------------------------


def _refuse_senseless(project: Project, steps: Sequence[Step]) -> None:
    """Steps that a run would refuse before it looks at a cell are not written."""
    known = [variable.name for variable in project.variables()]
    for step in steps:
        chosen, settings = understood(step)
        for name in chosen.uses(settings):
            if name not in known:
                raise UnknownVariable(variable=name, known=", ".join(known))
        known += [str(settings["into"])] if settings.get("into") else []
    refuse_pseudonyms(project.config.protocols, steps)
    refuse_small_groups(project.config.protocols, steps)


def _put(document: Any, wanted: Sequence[Step]) -> None:
    """The steps in place of the others; one that stays as it was keeps the comments that people wrote in it."""
    held = [(plain_step(item.unwrap()), item) for item in document.get("steps", ())]
    document.pop("steps", None)
    if not wanted:
        return
    several = tomlkit.aot()
    for step in wanted:
        several.append(next((item for plain, item in held if plain == step), None) or _table(step))
    document["steps"] = several


def _table(step: Step) -> Any:
    made = tomlkit.table()
    for key, value in step.items():
        made[key] = value
    return made
