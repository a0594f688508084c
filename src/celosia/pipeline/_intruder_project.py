"""A project under attack: its candidate as it was written, and the original behind each of its rows.

The plan is applied again with the original columns alongside, so that what judges the attacks is the very source of
the candidate. Nothing of it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from celosia.attacks import AnyHierarchy, View
from celosia.data.table import Table
from celosia.errors import NoCandidate, PlanStale, SeedMissing, UnknownVariable
from celosia.model.plan import Plan, policy_from
from celosia.pipeline._evaluate import candidate_reading
from celosia.pipeline._intruder_arrays import Codes, picked, renamed, view_from, view_of, with_persons
from celosia.pipeline._intruder_target import Attacked, unknown_codes
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._plan import ground_for, read_plan
from celosia.pipeline._progress import Progress, ready_kernels
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._run import as_published, solved_again
from celosia.pipeline._steps import stepped

_BEHIND = "original of "  # before the name of a published column: what stood there
_PERSON = "person behind"


@dataclass(frozen=True)
class _Behind:
    """The rows of the candidate as the plan makes them, and the original beside them."""

    published: View
    original: View
    keys: tuple[str, ...]
    hierarchies: dict[str, AnyHierarchy]


def candidate_of(folder: Path) -> Path:
    """The candidate of a project; an error where there is none."""
    file = folder / "private" / "candidate" / "data.csv"
    if not file.is_file():
        raise NoCandidate(path=str(folder))
    return file


def project_target(folder: Path, quasi: Sequence[str], sensitive: Sequence[str], report: Progress) -> Attacked:
    """The candidate of a project with the truth of its rows."""
    project, file, plan = open_project(folder), candidate_of(folder), read_plan(folder)
    policy = policy_from(plan.policy)
    with opened(folder) as source:
        with opened(file, report, described=False, **candidate_reading(source)) as found:
            view, digest = view_of(found.table, found.table.names), found.source.digest
        chosen = _chosen(view, quasi or policy.quasi), _chosen(view, sensitive or policy.sensitive)
        behind = _behind(project, source, plan, report)
    made = Attacked(
        digest=digest,
        view=view,
        quasi=chosen[0],
        sensitive=chosen[1],
        person=source.person,
        unknown=unknown_codes(source.variables),
        household=project.config.household,
    )
    if behind is None or not _same_text(view, behind.published):
        return replace(made, notes=("plan_moved", "judged_by_itself"))
    seen = with_persons(view, behind.original.persons)
    return replace(made, view=seen, truth=behind.original, keys=behind.keys, hierarchies=behind.hierarchies)


def candidate_target(folder: Path, quasi: Sequence[str], sensitive: Sequence[str]) -> Attacked:
    """The candidate alone, as everybody will see it: all that a worksheet may show."""
    file, policy = candidate_of(folder), policy_from(read_plan(folder).policy)
    with opened(folder) as source, opened(file, described=False, **candidate_reading(source)) as found:
        view, digest = view_of(found.table, found.table.names), found.source.digest
    return Attacked(digest, view, _chosen(view, quasi or policy.quasi), _chosen(view, sensitive or policy.sensitive))


def _chosen(view: View, names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in view.names:
            raise UnknownVariable(variable=name, known=", ".join(view.names))
    return tuple(names)


def _behind(project: Project, source: Opened, plan: Plan, report: Progress) -> _Behind | None:
    """The plan applied again with the original alongside; None where plan and source have moved on."""
    ready_kernels(report)
    try:
        with stepped(project, source, report=report) as after:
            ground = ground_for(project, after.found, **plan.asked)
            solution = solved_again(project, after, ground, plan, report)
            table = _with_copies(after.found, plan.published)
            known = {**ground.hierarchies, **ground.sensitive_hierarchies}
            rows = as_published(table, ground, plan, solution, source.private)
            return _read(rows, plan.published, after.found.person, known)
    except (PlanStale, SeedMissing):
        return None


def _with_copies(found: Opened, published: Sequence[str]) -> Table:
    """The table with each published column, and the person, a second time."""
    names = {name: name for name in found.table.names}
    copies = {_BEHIND + name: name for name in published}
    person = {} if found.person is None else {_PERSON: found.person}
    return found.table.with_values({}, {}, {**names, **copies, **person})


def _read(
    table: Table, published: Sequence[str], person: str | None, hierarchies: Mapping[str, AnyHierarchy]
) -> _Behind:
    copies = [_BEHIND + name for name in published] + ([_PERSON] if person else [])
    both = view_from(table.ordered_batches(published, along=copies), (*published, *copies))
    original = renamed(picked(both, [_BEHIND + name for name in published]), published)
    persons: Codes | None = None
    keys: tuple[str, ...] = ()
    if person:
        place = both.place(_PERSON)
        persons, keys = np.ascontiguousarray(both.codes[:, place]), both.labels[place]
    return _Behind(picked(both, published), with_persons(original, persons), keys, dict(hierarchies))


def _same_text(view: View, made: View) -> bool:
    """Whether the file holds what the plan makes; a sign of formulas written before a cell makes no difference."""
    if view.rows != made.rows or view.names != made.names:
        return False
    for place in range(len(view.names)):
        one, other = (_plain(each.labels[place]) for each in (view, made))
        joined = {text: code for code, text in enumerate(sorted({*one, *other}))}
        moved = [np.array([joined[text] for text in texts], np.int64) for texts in (one, other)]
        if not np.array_equal(moved[0][view.codes[:, place]], moved[1][made.codes[:, place]]):
            return False
    return True


def _plain(labels: Sequence[str]) -> list[str]:
    return [label.removeprefix("'") for label in labels]
