"""The steps of a project as a form: what is declared, what each technique asks for, and an edit of `[[steps]]`.

Knows celosia.toml and the declared parameters of the techniques. Ignores data: no cell is read here, except where
treatments are to be proposed. A hierarchy or a matrix of probabilities stays with the file, where it can be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import tomlkit

from celosia import messages
from celosia.model.errors import UnknownVariable
from celosia.pipeline.assessment.apply_techniques import describe_techniques
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.intake.proposed_treatments import treatments_of_table
from celosia.pipeline.planning.step_syntax import plain_step
from celosia.pipeline.planning.steps import refuse_small_groups
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.edits import edit_settings
from celosia.pipeline.project.fallbacks import value_or_reason
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.pseudonym_keys import refuse_pseudonyms
from celosia.techniques import read_step
from celosia.workbench.views.treatments import DeclaredStep, ProposedStep, Step, StepParameter, StepsView, TechniqueForm

_FROM_PROJECT = ("key", "person", "unknown", "decimal")  # parameters that the project itself gives
_BY_LINES = {"map": "pairs", "where": "conditions", "keep": "conditions"}  # tables that a person can write line by line


def steps_view(source: ProjectArg) -> StepsView:
    """The declared steps in their order, the columns there are, and a form for each technique that has one."""
    project = open_project(source)
    declared = project.settings.get("steps", ())
    return StepsView(
        digest=project.settings_digest,
        columns=tuple(variable.name for variable in project.variables),
        steps=tuple(_declared_step(plain_step(step)) for step in declared),
        forms=tuple(_technique_forms()),
    )


def proposed_steps_view(source: ProjectArg) -> tuple[ProposedStep, ...]:
    """The treatments proposed for each variable, each as a step with its reason and what a person has to add."""
    with open_table(source) as data:
        proposed = treatments_of_table(data)
    return tuple(
        ProposedStep(name, _title(proposal.technique), proposal.step(), proposal.sentence, proposal.needs)
        for name, proposals in proposed.items()
        for proposal in proposals
    )


def edit_steps(
    source: ProjectArg, steps: Sequence[Step], *, expected: str | None = None, now: datetime | None = None
) -> StepsView:
    """Write these steps, all of them and in this order, in place of those that are declared."""
    project, wanted = open_project(source), [plain_step(step) for step in steps]
    _refuse_unusable(project, wanted)
    with edit_settings(project, expected) as document:
        _put_steps(document, wanted)
    facts = {"techniques": [read_step(step)[0].name for step in wanted]}
    _journal.append_entry(project.paths.journal, "steps", utc_now(now), facts)
    return steps_view(project.reread())


def _declared_step(step: Step) -> DeclaredStep:
    settings = {key: value for key, value in step.items() if key != "technique"}
    written = str(step.get("technique", ""))
    title, problem = value_or_reason(written, lambda: _title(read_step(step)[0].name))
    return DeclaredStep(dict(step), title, settings, problem)


def _title(technique: str) -> str:
    return messages.text(f"techniques.name.{technique}")


def _technique_forms() -> Iterator[TechniqueForm]:
    """What each technique asks for; a table that lines cannot say is left to the file."""
    for technique in describe_techniques():
        name = technique["name"]
        parameters = [
            StepParameter(
                name=key,
                kind=_BY_LINES.get(key, "") if param["kind"] == "table" else param["kind"],
                meaning=param["meaning"],
                required=param["required"],
                default=param["default"],
                choices=tuple(param["choices"]),
                minimum=param["minimum"],
            )
            for key, param in technique["parameters"].items()
            if key not in _FROM_PROJECT
        ]
        shown = tuple(parameter for parameter in parameters if parameter.kind)
        yield TechniqueForm(name, _title(name), messages.text(f"techniques.summary.{name}"), shown)


def _refuse_unusable(project: Project, steps: Sequence[Step]) -> None:
    """Steps that a run would refuse before it looks at a cell are not written."""
    known = [variable.name for variable in project.variables]
    for step in steps:
        technique, settings = read_step(step)
        for name in technique.uses(settings):
            if name not in known:
                raise UnknownVariable(variable=name, known=", ".join(known))
        known += [str(settings["into"])] if settings.get("into") else []
    refuse_pseudonyms(project.config.protocols, steps)
    refuse_small_groups(project.config.protocols, steps)


def _put_steps(document: Any, wanted: Sequence[Step]) -> None:
    """The steps in place of the others; one that stays as it was keeps the comments that people wrote in it."""
    before = [(plain_step(item.unwrap()), item) for item in document.get("steps", ())]
    document.pop("steps", None)
    if not wanted:
        return
    tables = tomlkit.aot()
    for step in wanted:
        tables.append(next((item for plain, item in before if plain == step), None) or _toml_table(step))
    document["steps"] = tables


def _toml_table(step: Step) -> Any:
    table = tomlkit.table()
    for key, value in step.items():
        table[key] = value
    return table
