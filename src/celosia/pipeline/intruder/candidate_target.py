"""A project under attack: its candidate as it was written, and the original behind each of its rows.

The plan is applied again with the original columns alongside, so that what judges the attacks is the very source of
the candidate. Nothing of it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from celosia.attacks.attack_input import View
from celosia.attacks.compatible import AnyHierarchy
from celosia.data.table import Table
from celosia.model.errors import UnknownVariable
from celosia.model.plan import Plan, policy_from
from celosia.pipeline.assessment.evaluate import candidate_of, candidate_reading
from celosia.pipeline.candidate.errors import PlanStale
from celosia.pipeline.candidate.run import apply_solution, reproduce_solution
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.intruder.arrays import Codes, rename_columns, select_columns, view_from, view_of, with_persons
from celosia.pipeline.intruder.target import AttackTarget, unknown_codes
from celosia.pipeline.planning.plan import search_input_for
from celosia.pipeline.planning.steps import apply_project_steps
from celosia.pipeline.project.errors import SeedMissing
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.progress import Progress, compile_kernels

# Before the name of a published column: the column of its original values.
_ORIGINAL = "original of "
_PERSON = "person behind"


@dataclass(frozen=True)
class _Reproduced:
    """The rows of the candidate as the plan makes them, and the original beside them."""

    published: View
    original: View
    keys: tuple[str, ...]
    hierarchies: dict[str, AnyHierarchy]


def project_target(project: Project, quasi: Sequence[str], sensitive: Sequence[str], report: Progress) -> AttackTarget:
    """The candidate of a project with the original of its rows."""
    file, policy = candidate_of(project), policy_from(project.plan.policy)
    with open_table(project) as source:
        target = _read_candidate(file, source, quasi or policy.quasi, sensitive or policy.sensitive, report)
        reproduced = _reproduce_rows(project, source, project.plan, report)
    unknown = unknown_codes(source.variables)
    target = replace(target, person=source.person, unknown=unknown, household=project.config.household)
    if reproduced is None or not _same_text(target.view, reproduced.published):
        return replace(target, notes=("plan_moved", "judged_by_itself"))
    return replace(
        target,
        view=with_persons(target.view, reproduced.original.persons),
        truth=reproduced.original,
        keys=reproduced.keys,
        hierarchies=reproduced.hierarchies,
    )


def candidate_target(project: Project, quasi: Sequence[str] = (), sensitive: Sequence[str] = ()) -> AttackTarget:
    """The candidate alone, as everybody will see it: all that a worksheet may show."""
    file, policy = candidate_of(project), policy_from(project.plan.policy)
    with open_table(project) as source:
        return _read_candidate(file, source, quasi or policy.quasi, sensitive or policy.sensitive)


def _read_candidate(
    file: Path, source: OpenTable, quasi: Sequence[str], sensitive: Sequence[str], report: Progress = None
) -> AttackTarget:
    """The published columns of a candidate and their roles."""
    with open_table(file, report, described=False, **candidate_reading(source)) as data:
        view = view_of(data.table, data.table.names)
    for name in (*quasi, *sensitive):
        if name not in view.names:
            raise UnknownVariable(variable=name, known=", ".join(view.names))
    return AttackTarget(data.source.digest, view, tuple(quasi), tuple(sensitive))


def _reproduce_rows(project: Project, source: OpenTable, plan: Plan, report: Progress) -> _Reproduced | None:
    """The plan applied again with the original alongside; None where plan or source have changed."""
    compile_kernels(report)
    try:
        with apply_project_steps(project, source, report=report) as after:
            search_input = search_input_for(project, after.source, **plan.asked)
            solution = reproduce_solution(project, after, search_input, plan, report)
            table = _duplicate_columns(after.source, plan.published)
            hierarchies = {**search_input.hierarchies, **search_input.sensitive_hierarchies}
            rows = apply_solution(table, search_input, plan, solution, source.private)
            return _split_original(rows, plan.published, after.source.person, hierarchies)
    except (PlanStale, SeedMissing):
        return None


def _duplicate_columns(data: OpenTable, published: Sequence[str]) -> Table:
    """The table with each published column, and the person, a second time."""
    names = {name: name for name in data.table.names}
    copies = {_ORIGINAL + name: name for name in published}
    person = {} if data.person is None else {_PERSON: data.person}
    return data.table.with_values({}, {}, {**names, **copies, **person})


def _split_original(
    table: Table, published: Sequence[str], person: str | None, hierarchies: Mapping[str, AnyHierarchy]
) -> _Reproduced:
    copies = [_ORIGINAL + name for name in published] + ([_PERSON] if person else [])
    both = view_from(table.ordered_batches(published, along=copies), (*published, *copies))
    original = rename_columns(select_columns(both, [_ORIGINAL + name for name in published]), published)
    persons: Codes | None = None
    keys: tuple[str, ...] = ()
    if person:
        position = both.column_index(_PERSON)
        persons, keys = np.ascontiguousarray(both.codes[:, position]), both.labels[position]
    return _Reproduced(select_columns(both, published), with_persons(original, persons), keys, dict(hierarchies))


def _same_text(view: View, reproduced: View) -> bool:
    """Whether the file holds what the plan gives; an apostrophe before a formula makes no difference."""
    if view.rows != reproduced.rows or view.names != reproduced.names:
        return False
    for position in range(len(view.names)):
        texts = [[label.removeprefix("'") for label in each.labels[position]] for each in (view, reproduced)]
        code_by_text = {text: code for code, text in enumerate(sorted({*texts[0], *texts[1]}))}
        first, second = (np.array([code_by_text[text] for text in each], np.int64) for each in texts)
        if not np.array_equal(first[view.codes[:, position]], second[reproduced.codes[:, position]]):
            return False
    return True
