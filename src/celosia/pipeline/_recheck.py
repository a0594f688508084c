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
from numpy.typing import NDArray

from celosia.data.table import Table
from celosia.errors import CelosiaError, NoCommonColumn, SensitiveIsQuasi, UnknownVariable
from celosia.hierarchy import CompiledHierarchy, build, gaps, read_csv
from celosia.model.plan import Plan, policy_from
from celosia.model.values import CellKind, is_masked, kind_of
from celosia.model.variables import Variable
from celosia.model.verification import ExternalMatch, RecheckReport, SourceDifference
from celosia.pipeline._call import Place, moment
from celosia.pipeline._hierarchies import compiled_hierarchies, default_spec
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._plan import read_plan
from celosia.pipeline._policy import without_bounds
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._release import smallest_k
from celosia.pipeline._release_files import published_file
from celosia.pipeline._release_folder import Held, read_release
from celosia.pipeline._steps import stepped
from celosia.pipeline._verify import measured_again, plan_of_manifest
from celosia.solver import ClassCounter
from celosia.tuples import Tuples

Counts = NDArray[np.int64]


# --- an old release -------------------------------------------------------------------------------


def recheck(
    release: Place, *, new_quasi: Sequence[str] = (), external: Any = None, now: datetime | None = None, **reading: Any
) -> RecheckReport:
    """Measure a release again as if further columns were known to an intruder, or another file were at hand."""
    held = read_release(Path(release))
    manifest, data = held.manifest, held.folder / "data.csv"
    plan = _wider(plan_of_manifest(manifest), manifest.published, new_quasi)
    check = measured_again(data, manifest, plan)
    quasi, least = tuple(plan.policy["quasi"]), smallest_k(plan.policy)
    with published_file(data) as published:
        sizes = _class_sizes(published.table, quasi)
        match = None if external is None else _matched(published.table, external, reading)
    due = _due(held)
    return RecheckReport(
        release=held.folder.resolve().name,
        quasi=quasi,
        new_quasi=tuple(new_quasi),
        asked_k=least,
        check=check,
        unique_rows=int(sizes[sizes == 1].sum()),
        rows_below=int(sizes[sizes < least].sum()),
        external=match,
        due=due,
        overdue=bool(due) and date.fromisoformat(due) <= moment(now).date(),
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
    followers = {name: leaders for name, leaders in plan.followers.items() if name not in new}
    return replace(plan, policy=replace(policy, quasi=quasi).as_dict(), followers=followers)


def _class_sizes(table: Table, quasi: Sequence[str]) -> Counts:
    """Rows of each class that shows anything."""
    tuples = table.tuples(quasi)
    return tuples.rows[_shown(tuples)]


def _shown(tuples: Tuples) -> NDArray[np.bool_]:
    shown = np.zeros(len(tuples.rows), bool)
    for column, vocabulary in enumerate(tuples.vocabularies):
        shown |= np.array([not is_masked(text) for text in vocabulary], bool)[tuples.codes[:, column]]
    return shown


def _matched(table: Table, external: Any, reading: Mapping[str, Any]) -> ExternalMatch:
    """Rows of the release whose combination of shared columns occurs in the other file, and once in each (M30)."""
    with opened(external, described=False, **reading) as other:
        shared = tuple(name for name in table.names if name in other.table.names)
        if not shared:
            raise NoCommonColumn(before="data.csv", after=other.source.name)
        ours, theirs = table.tuples(shared), other.table.tuples(shared)
        name = other.source.name
    there = dict(zip(_texts(theirs), theirs.rows.tolist(), strict=True))
    shown = _shown(ours)
    pairs = [(rows, there.get(key, 0)) for key, rows in zip(_texts(ours), ours.rows.tolist(), strict=True)]
    known = [(rows, found) for (rows, found), visible in zip(pairs, shown.tolist(), strict=True) if visible and found]
    alone = sum(rows == 1 and found == 1 for rows, found in known)
    return ExternalMatch(name, shared, int(ours.rows.sum()), sum(rows for rows, _ in known), alone)


def _texts(tuples: Tuples) -> list[tuple[str, ...]]:
    columns = [[words[code] for code in tuples.codes[:, i]] for i, words in enumerate(tuples.vocabularies)]
    return list(zip(*columns, strict=True))


def _due(held: Held) -> str:
    """The day of the next review: of the publication entry, else what the request says; empty where nobody set one."""
    told = held.publication.next_review if held.publication else str(held.manifest.about.get("next_review", ""))
    try:
        return date.fromisoformat(told).isoformat() if told else ""
    except ValueError:
        return ""


# --- a new file under an old project --------------------------------------------------------------


def compare_sources(project: Place, new_file: Any, **reading: Any) -> SourceDifference:
    """What this year's file changes for last year's project: columns, values without a place, classes below k."""
    home = open_project(project)
    plan = read_plan(home.folder)
    choices = reading or _choices(home, new_file)
    with opened(home.folder) as old, opened(new_file, described=False, **choices) as new:
        came = tuple(name for name in new.table.names if name not in old.table.names)
        went = tuple(name for name in old.table.names if name not in new.table.names)
        made = SourceDifference(
            file=new.source.name,
            rows_before=old.source.rows,
            rows_now=new.source.rows,
            came=came,
            went=went,
            asked_k=smallest_k(plan.policy),
        )
        keyed = any(step.get("technique") == "pseudonymise" for step in plan.steps)  # it would write a codebook
        if went or keyed:  # the steps and the plan speak of columns that are no longer there
            shared = [name for name in plan.policy["quasi"] if name in new.table.names and name in old.table.names]
            return _values_compared(made, home, old, new, plan, shared)
        return _plan_compared(made, home, old, _described(old, new), plan)


def _choices(project: Project, new_file: Any) -> dict[str, Any]:
    """The new file is read as last year's was, where it is of the same kind."""
    held = project.config.source.choices
    if held.format != "csv" or not str(new_file).lower().endswith((".csv", ".txt", ".tsv")):
        return {}
    return {"encoding": held.encoding, "delimiter": held.delimiter, "quote": held.quote, "header": held.header,
            "decimal": held.decimal}  # fmt: skip


def _described(old: Opened, new: Opened) -> Opened:
    """The new file under the dictionary of the project; a column it does not know is no one's business here."""
    known = {variable.name for variable in old.variables}
    markers = {variable.name: variable.missing for variable in old.variables}
    table = new.table.select([name for name in new.table.names if name in known]).with_missing(markers)
    return replace(new, table=table, variables=old.variables, person=old.person, folder=old.folder)


def _plan_compared(made: SourceDifference, home: Project, old: Opened, new: Opened, plan: Plan) -> SourceDifference:
    with stepped(home, old) as before, stepped(home, new) as after:
        told = _values_compared(made, home, before.found, after.found, plan, plan.policy["quasi"])
        if set(plan.levels) != set(plan.policy["quasi"]):
            return told  # no levels to carry over: the plan must be made again to know
        past = before.found.table.tuples(plan.policy["quasi"], before.found.person)
        present = after.found.table.tuples(plan.policy["quasi"], after.found.person)
        variables = {variable.name: variable for variable in before.found.variables}
    maps = _maps(past, present, variables, _specs(home), home.folder)
    if maps is None:
        return told
    return _classes_compared(told, past, present, plan, maps)


def _values_compared(
    made: SourceDifference, home: Project, old: Opened, new: Opened, plan: Plan, names: Sequence[str]
) -> SourceDifference:
    """How many values of each quasi-identifier were never seen, and how many of them no hierarchy places."""
    specs, variables = _specs(home), {variable.name: variable for variable in old.variables}
    fresh, lacking = {}, {}
    for name in names:
        before = old.table.frequencies(name).values.to_pylist()
        unseen = sorted(set(new.table.frequencies(name).values.to_pylist()) - set(before))
        unseen = [value for value in unseen if kind_of(value, variables[name].unknown) is CellKind.PLAIN]
        fresh[name] = len(unseen)
        lacking[name] = len(_unplaced(variables[name], unseen, before, specs.get(name), home.folder)) if unseen else 0
    return replace(made, new_values=fresh, uncovered=lacking)


def _unplaced(
    variable: Variable, unseen: Sequence[str], before: Sequence[str], spec: Mapping[str, Any] | None, folder: Path
) -> Sequence[str]:
    """Values that a hierarchy file does not list, or that a builder can only send to `*` on its first level."""
    if spec and "file" in spec:
        return gaps(read_csv(folder / str(spec["file"]), variable.name)[0], unseen, variable.unknown)
    chosen = dict(spec) if spec else default_spec(variable, before)
    chosen.setdefault("unknown", list(variable.unknown))
    return [value for value in unseen if not _placed(chosen, value, variable.name)]


def _placed(spec: Mapping[str, Any], value: str, name: str) -> bool:
    """Whether a builder knows what to make of one value; where all go to `*` at once, it does."""
    try:
        made = build(dict(spec), [value], variable=name, counts={value: 1})
    except CelosiaError:
        return False
    if len(made.maps) <= 2:
        return True
    label = made.labels[1][int(made.maps[1][list(made.labels[0]).index(value)])]
    return not is_masked(label)


def _specs(home: Project) -> dict[str, dict[str, Any]]:
    document = read_toml(home.folder / "celosia.toml")
    return {name: without_bounds(spec) for name, spec in document.get("hierarchies", {}).items()}


def _maps(
    past: Tuples, present: Tuples, variables: Mapping[str, Variable], specs: Mapping[str, Mapping[str, Any]],
    folder: Path,
) -> dict[str, CompiledHierarchy] | None:  # fmt: skip
    """The project's hierarchies over the values of both files; None where one does not cover them."""
    words = tuple(
        tuple(sorted({*old, *present.vocabularies[present.position(name)]}))
        for name, old in zip(past.names, past.vocabularies, strict=True)
    )
    fixed = {
        name: specs.get(name) or default_spec(variables[name], past.vocabularies[place])
        for place, name in enumerate(past.names)
    }
    relaxed = {name: {**spec, "uncovered": "suppress"} if "file" in spec else spec for name, spec in fixed.items()}
    empty = Tuples(past.names, words, np.zeros((0, len(words)), np.int32), np.zeros(0, np.int64))
    try:
        return compiled_hierarchies(empty, variables, relaxed, folder)
    except CelosiaError:
        return None


def _classes_compared(
    made: SourceDifference, past: Tuples, present: Tuples, plan: Plan, maps: Mapping[str, CompiledHierarchy]
) -> SourceDifference:
    """Classes at the old plan's levels: those that had k and lost it, and all that are below k now."""
    before, now = _at_levels(past, plan, maps), _at_levels(present, plan, maps)
    least = made.asked_k
    small = {key: rows for key, (size, rows) in now.items() if size < least}
    fallen = sum(before.get(key, (0, 0))[0] >= least for key in small)
    return replace(made, fallen=fallen, small=len(small), small_rows=sum(small.values()))


def _at_levels(
    tuples: Tuples, plan: Plan, maps: Mapping[str, CompiledHierarchy]
) -> dict[tuple[str, ...], tuple[int, int]]:
    """Size (in persons where they are known) and rows of each class that shows anything."""
    columns = []
    for place, name in enumerate(tuples.names):
        held, level = maps[name], int(plan.levels[name])
        where = {text: code for code, text in enumerate(held.labels[0])}
        labels = [held.labels[level][held.maps[level][where[text]]] for text in tuples.vocabularies[place]]
        columns.append([labels[code] for code in tuples.codes[:, place]])
    keys = list(zip(*columns, strict=True))
    place_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    label = np.array([place_of[key] for key in keys], np.int64)
    classes = ClassCounter(tuples, {}).classes(label, len(place_of))
    sizes = zip(place_of, classes.sizes("persons").tolist(), classes.rows.tolist(), strict=True)
    return {key: (size, rows) for key, size, rows in sizes if any(not is_masked(text) for text in key)}
