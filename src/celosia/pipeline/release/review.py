"""`recheck`: an old release under new assumptions; last year's project on this year's file, before anything is done.

What was no quasi-identifier yesterday may be one today, and another file may have appeared since.
Sources: MINSAL Implementación and Seguridad 5 (periodic re-evaluation), Definiciones (other published or leaked bases).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from celosia.data.table import Table
from celosia.hierarchy.compile import gaps
from celosia.hierarchy.csv import read_csv
from celosia.hierarchy.model import CompiledHierarchy
from celosia.hierarchy.registry import build
from celosia.model.errors import UnknownVariable
from celosia.model.paths import DATA, ReleasePaths
from celosia.model.plan import Plan, policy_from
from celosia.model.reports.verification import ExternalMatch, RecheckReport, SourceDifference
from celosia.model.values import CellKind, is_masked, kind_of
from celosia.model.variables import Variable
from celosia.pipeline.assessment.errors import NoCommonColumn
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.intake.proposed_hierarchies import default_spec
from celosia.pipeline.planning.hierarchies import compiled_hierarchies
from celosia.pipeline.planning.households import fully_masked
from celosia.pipeline.planning.policy import hierarchy_specs
from celosia.pipeline.planning.steps import apply_project_steps
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.fallbacks import value_or
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.release.data_files import open_published_file
from celosia.pipeline.release.folder import ReleaseOnDisk, read_release
from celosia.pipeline.release.make_release import asked_k
from celosia.pipeline.release.verify import measure_release, plan_of_manifest
from celosia.solver.published import ClassCounter
from celosia.techniques.errors import SensitiveIsQuasi
from celosia.tuples.table import Tuples

# --- an old release -------------------------------------------------------------------------------


def recheck(
    release: PathArg,
    *,
    new_quasi: Sequence[str] = (),
    external: Any = None,
    now: datetime | None = None,
    **reading: Any,
) -> RecheckReport:
    """Measure a release again as if further columns were known to an intruder, or another file were at hand."""
    stored = read_release(Path(release))
    manifest, data = stored.manifest, ReleasePaths(stored.folder).data
    plan = _wider(plan_of_manifest(manifest), manifest.published, new_quasi)
    check = measure_release(data, manifest, plan)
    quasi, least = tuple(plan.policy["quasi"]), asked_k(plan.policy)
    with open_published_file(data) as published:
        tuples = published.table.tuples(quasi)
        match = None if external is None else _match_external(published.table, external, reading)
    sizes = tuples.rows[~fully_masked(tuples)]
    due = _due(stored)
    return RecheckReport(
        release=stored.folder.resolve().name,
        quasi=quasi,
        new_quasi=tuple(new_quasi),
        asked_k=least,
        check=check,
        unique_rows=int(sizes[sizes == 1].sum()),
        rows_below=int(sizes[sizes < least].sum()),
        external=match,
        due=due,
        overdue=bool(due) and date.fromisoformat(due) <= utc_now(now).date(),
    )


def _wider(plan: Plan, published: Sequence[str], new: Sequence[str]) -> Plan:
    """The plan as if its policy named more quasi-identifiers; a column that becomes one follows from nothing."""
    policy = policy_from(plan.policy)
    for name in new:
        if name not in published:
            raise UnknownVariable(variable=name, known=", ".join(published))
        if name in policy.sensitive:
            raise SensitiveIsQuasi(variable=name)
    quasi = tuple(dict.fromkeys([*policy.quasi, *new]))
    followers = {name: determinants for name, determinants in plan.followers.items() if name not in new}
    return replace(plan, policy=replace(policy, quasi=quasi).as_dict(), followers=followers)


def _match_external(table: Table, external: Any, reading: Mapping[str, Any]) -> ExternalMatch:
    """Rows of the release whose combination of shared columns occurs in the other file, and once in each (M30)."""
    with open_table(external, described=False, **reading) as other:
        shared = tuple(name for name in table.names if name in other.table.names)
        if not shared:
            raise NoCommonColumn(before=DATA, after=other.source.name)
        ours, theirs = table.tuples(shared), other.table.tuples(shared)
        name = other.source.name
    there = dict(zip(_texts(theirs), theirs.rows.tolist(), strict=True))
    combinations = zip(_texts(ours), ours.rows.tolist(), (~fully_masked(ours)).tolist(), strict=True)
    matches = [(rows, there[key]) for key, rows, visible in combinations if visible and there.get(key)]
    unique = matches.count((1, 1))
    return ExternalMatch(name, shared, int(ours.rows.sum()), sum(rows for rows, _ in matches), unique)


def _texts(tuples: Tuples) -> list[tuple[str, ...]]:
    columns = [[words[code] for code in tuples.codes[:, i]] for i, words in enumerate(tuples.vocabularies)]
    return list(zip(*columns, strict=True))


def _due(release: ReleaseOnDisk) -> str:
    """The day of the next review: of the publication entry, else what the request says; empty where nobody set one."""
    entry, about = release.publication, release.manifest.about
    day = entry.next_review if entry else str(about.get("next_review", ""))
    try:
        return date.fromisoformat(day).isoformat() if day else ""
    except ValueError:
        return ""


# --- a new file under an old project --------------------------------------------------------------


def compare_sources(project: ProjectArg, new_file: Any, **reading: Any) -> SourceDifference:
    """What this year's file changes for last year's project: columns, values without a place, classes below k."""
    home = open_project(project)
    plan = home.plan
    choices = reading or _choices(home, new_file)
    with open_table(home) as old, open_table(new_file, described=False, **choices) as new:
        came = tuple(name for name in new.table.names if name not in old.table.names)
        went = tuple(name for name in old.table.names if name not in new.table.names)
        difference = SourceDifference(
            file=new.source.name,
            rows_before=old.source.rows,
            rows_now=new.source.rows,
            came=came,
            went=went,
            asked_k=asked_k(plan.policy),
        )
        # The steps cannot be applied: their columns are gone, or a pseudonymisation would write a codebook.
        if went or any(step.get("technique") == "pseudonymise" for step in plan.steps):
            shared = [name for name in plan.policy["quasi"] if name in new.table.names and name in old.table.names]
            return _compare_values(difference, home, old, new, plan, shared)
        return _compare_under_plan(difference, home, old, _describe_as_old(old, new), plan)


def _choices(project: Project, new_file: Any) -> dict[str, Any]:
    """The new file is read as last year's was, where it is of the same kind."""
    choices = project.config.source.choices
    if choices.format != "csv" or not str(new_file).lower().endswith((".csv", ".txt", ".tsv")):
        return {}
    return {name: getattr(choices, name) for name in ("encoding", "delimiter", "quote", "header", "decimal")}


def _describe_as_old(old: OpenTable, new: OpenTable) -> OpenTable:
    """The new file under the dictionary of the project, without the columns that it does not know."""
    known = {variable.name for variable in old.variables}
    markers = {variable.name: variable.missing for variable in old.variables}
    table = new.table.select([name for name in new.table.names if name in known]).with_missing(markers)
    return replace(new, table=table, variables=old.variables, person=old.person, project=old.project)


def _compare_under_plan(
    difference: SourceDifference, home: Project, old: OpenTable, new: OpenTable, plan: Plan
) -> SourceDifference:
    with apply_project_steps(home, old) as before, apply_project_steps(home, new) as after:
        compared = _compare_values(difference, home, before.source, after.source, plan, plan.policy["quasi"])
        if set(plan.levels) != set(plan.policy["quasi"]):
            return compared  # no levels to carry over: the plan must be made again to know
        past = before.source.table.tuples(plan.policy["quasi"], before.source.person)
        present = after.source.table.tuples(plan.policy["quasi"], after.source.person)
        variables = {variable.name: variable for variable in before.source.variables}
    maps = _maps(past, present, variables, _specs(home), home.folder)
    return compared if maps is None else _compare_classes(compared, past, present, plan, maps)


def _compare_values(
    difference: SourceDifference, home: Project, old: OpenTable, new: OpenTable, plan: Plan, names: Sequence[str]
) -> SourceDifference:
    """How many values of each quasi-identifier were never seen, and how many of them no hierarchy places."""
    specs, variables = _specs(home), {variable.name: variable for variable in old.variables}
    fresh, lacking = {}, {}
    for name in names:
        variable, before = variables[name], old.table.frequencies(name).values.to_pylist()
        unseen = sorted(set(new.table.frequencies(name).values.to_pylist()) - set(before))
        unseen = [value for value in unseen if kind_of(value, variable.unknown) is CellKind.PLAIN]
        uncovered = _uncovered_values(variable, unseen, before, specs.get(name), home.folder) if unseen else []
        fresh[name], lacking[name] = len(unseen), len(uncovered)
    return replace(difference, new_values=fresh, uncovered=lacking)


def _uncovered_values(
    variable: Variable, unseen: Sequence[str], before: Sequence[str], spec: Mapping[str, Any] | None, folder: Path
) -> Sequence[str]:
    """Values that a hierarchy file does not list, or that a builder can only send to `*` on its first level."""
    if spec and "file" in spec:
        return gaps(read_csv(folder / str(spec["file"]), variable.name)[0], unseen, variable.unknown)
    chosen = dict(spec) if spec else default_spec(variable, before)
    chosen.setdefault("unknown", list(variable.unknown))
    return [value for value in unseen if not _is_covered(chosen, value, variable.name)]


def _is_covered(spec: Mapping[str, Any], value: str, name: str) -> bool:
    """Whether a builder knows what to make of one value; where all go to `*` at once, it does."""
    hierarchy = value_or(None, lambda: build(dict(spec), [value], variable=name, counts={value: 1}))
    if hierarchy is None:
        return False
    if len(hierarchy.maps) <= 2:
        return True
    label = hierarchy.labels[1][int(hierarchy.maps[1][list(hierarchy.labels[0]).index(value)])]
    return not is_masked(label)


def _specs(home: Project) -> dict[str, dict[str, Any]]:
    return hierarchy_specs(home.settings)


def _maps(
    past: Tuples,
    present: Tuples,
    variables: Mapping[str, Variable],
    specs: Mapping[str, Mapping[str, Any]],
    folder: Path,
) -> dict[str, CompiledHierarchy] | None:
    """The project's hierarchies over the values of both files; None where one does not cover them."""
    words = tuple(
        tuple(sorted({*old, *present.vocabularies[present.position(name)]}))
        for name, old in zip(past.names, past.vocabularies, strict=True)
    )
    relaxed = {}
    for name, values in zip(past.names, past.vocabularies, strict=True):
        spec = specs.get(name) or default_spec(variables[name], values)
        relaxed[name] = {**spec, "uncovered": "suppress"} if "file" in spec else spec
    empty = Tuples(past.names, words, np.zeros((0, len(words)), np.int32), np.zeros(0, np.int64))
    return value_or(None, lambda: compiled_hierarchies(empty, variables, relaxed, folder))


def _compare_classes(
    difference: SourceDifference, past: Tuples, present: Tuples, plan: Plan, maps: Mapping[str, CompiledHierarchy]
) -> SourceDifference:
    """Classes at the old plan's levels: those that had k and lost it, and all that are below k now."""
    before, now = _classes_at_levels(past, plan, maps), _classes_at_levels(present, plan, maps)
    least = difference.asked_k
    small = {key: rows for key, (size, rows) in now.items() if size < least}
    fallen = sum(before.get(key, (0, 0))[0] >= least for key in small)
    return replace(difference, fallen=fallen, small=len(small), small_rows=sum(small.values()))


def _classes_at_levels(
    tuples: Tuples, plan: Plan, maps: Mapping[str, CompiledHierarchy]
) -> dict[tuple[str, ...], tuple[int, int]]:
    """Size (in persons where they are known) and rows of each class that shows anything."""
    vocabularies = []
    for name, values in zip(tuples.names, tuples.vocabularies, strict=True):
        hierarchy, level = maps[name], int(plan.levels[name])
        code_of = {text: code for code, text in enumerate(hierarchy.labels[0])}
        vocabularies.append(tuple(hierarchy.labels[level][hierarchy.maps[level][code_of[text]]] for text in values))
    keys = _texts(replace(tuples, vocabularies=tuple(vocabularies)))
    class_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    label = np.array([class_of[key] for key in keys], np.int64)
    classes = ClassCounter(tuples, {}).classes(label, len(class_of))
    sizes = zip(class_of, classes.sizes("persons").tolist(), classes.rows.tolist(), strict=True)
    return {key: (size, rows) for key, size, rows in sizes if any(not is_masked(text) for text in key)}
