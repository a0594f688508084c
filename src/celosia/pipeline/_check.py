"""The check on the written file: it is read again as anybody would read it, and measured against the policy.

Knows the file, the policy, and — in the house — whose row each one is. What could not be measured has failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.data.candidate import read_back
from celosia.data.engines import Engine
from celosia.data.writers import as_written
from celosia.hierarchy import CompiledHierarchy
from celosia.model.plan import Plan, Policy, policy_from
from celosia.model.values import is_masked
from celosia.model.verdict import CheckReport, State, Verdict
from celosia.pipeline._ground import told_by_row
from celosia.pipeline._households import both_ways, hidden_values, masked_values
from celosia.risk import PopulationLevels
from celosia.risk.criteria import Criterion, Domain, criterion_from
from celosia.solver import ClassCounter, domain_of
from celosia.tuples import Counted, Tuples, labels_over, person_counts, tuples_with


def check_file(
    path: Path, plan: Plan, scratch: Path, order: Path | None, source: Mapping[str, Tuples], rows: int,
    hierarchies: Mapping[str, CompiledHierarchy] | None = None, population: PopulationLevels | None = None,
    engine: Engine | None = None,
) -> CheckReport:  # fmt: skip
    """Read a written file again and judge it; `source` gives the reference distributions, `order` the persons.

    The engine given counts; without one, DuckDB does.
    """
    policy = policy_from(plan.policy)
    criteria = [criterion_from(data) for data in policy.criteria]
    beside = [name for name, leaders in plan.followers.items() if set(leaders) & set(policy.quasi)]
    asked = _asked(plan, policy, (*policy.quasi, *beside, *source))
    with read_back(path, scratch, order, asked, rows, engine) as again:
        table, person = again.table, again.person
        quasi, sensitive = tuples_with(table, (*policy.quasi, *beside), source, person)
        telling = _telling(table, told_by_row(plan.followers, plan.published, policy))
        households = [_households(table, policy, plan)] if policy.links else []
    starred = _suppressed(quasi, len(policy.quasi))
    behind = None if population is None else _behind(quasi, starred, population, plan)
    verdicts = [
        _columns(again.names, plan.published),
        _rows(again.rows, rows, plan.suppressed_rows, policy.suppressed),
        *_judged(quasi, sensitive, source, criteria, len(policy.quasi), hierarchies or {}, behind),
        *([telling] if telling else []),
        *households,
    ]
    kept = quasi.rows[~starred]
    persons = person_counts(quasi)[~starred] if quasi.persons is not None else None
    return CheckReport(
        file=path.name,
        digest=again.digest,
        rows=again.rows,
        classes=len(kept),
        suppressed_rows=int(quasi.rows[starred].sum()),
        verdicts=tuple(verdicts),
        k=int(kept.min()) if len(kept) else None,
        k_persons=int(persons.min()) if persons is not None and len(persons) else None,
    )


def _asked(plan: Plan, policy: Policy, counted: Sequence[str]) -> list[str]:
    """The columns that the check looks at, each once."""
    telling = [name for pair in told_by_row(plan.followers, plan.published, policy) for name in pair]
    constant = plan.notes["households"]["constant"] if policy.links else {}
    return list(
        dict.fromkeys([*counted, *telling, *policy.links, *(n for link in policy.links for n in constant[link])])
    )


def _telling(table: Counted, pairs: Sequence[tuple[str, str]]) -> Verdict | None:
    """No row may show a column that gives its own masked value away (X7)."""
    if not pairs:
        return None
    rows = 0
    for name, leader in pairs:
        pair = table.tuples((leader, name))
        masked = np.array([is_masked(text) for text in pair.vocabularies[0]], bool)[pair.codes[:, 0]]
        shown = np.array([not is_masked(text) for text in pair.vocabularies[1]], bool)[pair.codes[:, 1]]
        rows += int(pair.rows[masked & shown].sum())
    return Verdict("followers", {}, rows, 0, rows, State.FAILS if rows else State.HOLDS)


def _columns(found: Sequence[str], expected: Sequence[str]) -> Verdict:
    """Exactly the published columns: no original, no auxiliary one (M21)."""
    wrong = len(set(found) ^ set(expected)) + (list(found) != list(expected))
    return Verdict("columns", {"columns": len(expected)}, len(found), wrong, 0, State.FAILS if wrong else State.HOLDS)


def _rows(found: int, source: int, suppressed: int, handling: str) -> Verdict:
    expected = source - suppressed if handling == "drop" else source
    state = State.HOLDS if found == expected else State.FAILS
    return Verdict("rows", {"rows": expected}, found, 0, abs(found - expected), state)


def _judged(
    quasi: Tuples, sensitive: Mapping[str, Tuples], source: Mapping[str, Tuples], criteria: Sequence[Criterion],
    width: int, hierarchies: Mapping[str, CompiledHierarchy], behind: NDArray[np.int64] | None = None,
) -> list[Verdict]:  # fmt: skip
    """Each criterion on the classes that stay; then the group of fully masked rows, apart."""
    starred = _suppressed(quasi, width)
    kept = np.flatnonzero(~starred)
    passes_all = np.ones(len(starred), bool)
    verdicts = []
    for criterion in criteria:
        # Of the sensitive values, those it reads: the tables of the others may be as large as the file.
        read = {name: table for name, table in sensitive.items() if name == criterion.variable}
        tables, domains = _referenced(read, source, criterion, width, hierarchies)
        counter = ClassCounter(quasi, tables, domains=domains, population=behind)
        passes = criterion.judge(counter.restricted(kept).classes(np.arange(len(kept)), len(kept)))
        passes_all &= criterion.judge(counter.classes(np.arange(len(starred)), len(starred)))
        rows = int(quasi.rows[kept][~passes].sum())
        state = State.HOLDS if passes.all() else State.FAILS
        verdicts.append(Verdict(criterion.name, criterion.as_dict(), None, int((~passes).sum()), rows, state))
    if starred.any() and criteria:
        verdicts.append(_suppressed_group(quasi, sensitive.values(), starred, passes_all))
    return verdicts


def _behind(quasi: Tuples, starred: NDArray[np.bool_], population: PopulationLevels, plan: Plan) -> NDArray[np.int64]:
    """Units of the population that show the published values of each class; everybody where nothing is shown."""
    width = len(population.names)
    levels = [int(plan.levels[name]) for name in population.names]
    labels = tuple(tuple(tuple(as_written(level)) for level in own) for own in population.labels)
    shown = replace(population, labels=labels).behind_texts(quasi.codes[:, :width], quasi.vocabularies[:width], levels)
    return np.where(starred, population.total, shown)


def _suppressed_group(
    quasi: Tuples, sensitive: Iterable[Tuples], starred: NDArray[np.bool_], passes: NDArray[np.bool_]
) -> Verdict:
    """Rows with every quasi-identifier masked: they meet the criteria, or show no sensitive value (DESIGN §3)."""
    shown = np.zeros(len(starred), bool)
    for table in sensitive:
        visible = ~masked_values(table, len(table.names) - 1)
        shown[labels_over(table, quasi.names)[visible]] = True
    failing = starred & ~passes & shown
    rows = int(quasi.rows[starred].sum())
    state = State.FAILS if failing.any() else State.HOLDS
    return Verdict("suppressed_group", {}, rows, int(failing.sum()), int(quasi.rows[failing].sum()), state)


def _households(table: Counted, policy: Policy, plan: Plan) -> Verdict:
    """No household shows on one row what another masks, nor its original number (X17)."""
    width, failing, rows, groups = len(policy.quasi), 0, 0, 0
    whole = table.tuples((*policy.quasi, *policy.links))
    starred = _suppressed(whole, width)
    for link in policy.links:
        readable = [both_ways(whole, link, starred, ~starred)]
        for name in plan.notes["households"]["constant"][link]:
            pair = table.tuples((link, name))
            readable.append(both_ways(pair, link, masked_values(pair, 1), ~hidden_values(pair, 1)))
        failing += sum(many for many, _ in readable)
        rows += sum(of_them for _, of_them in readable)
        numbers = {text for text in whole.vocabularies[whole.position(link)] if text and not is_masked(text)}
        groups += len(numbers)
        failing += numbers != {str(i + 1) for i in range(len(numbers))}
    state = State.FAILS if failing else State.HOLDS
    return Verdict("households", {"columns": ", ".join(policy.links)}, groups, failing, rows, state)


def _suppressed(quasi: Tuples, width: int) -> NDArray[np.bool_]:
    """Tuples whose quasi-identifiers hold asterisks only."""
    starred = np.ones(len(quasi.rows), bool)
    for column, vocabulary in enumerate(quasi.vocabularies[:width]):
        masked = np.array([is_masked(text) for text in vocabulary], bool)
        starred &= masked[quasi.codes[:, column]]
    return starred


def _referenced(
    sensitive: Mapping[str, Tuples], source: Mapping[str, Tuples], criterion: Criterion, width: int,
    hierarchies: Mapping[str, CompiledHierarchy],
) -> tuple[dict[str, Tuples], dict[str, Domain]]:  # fmt: skip
    """The file's tables over the source's values, and the distribution the criterion compares with."""
    tables, domains = {}, {}
    for name, table in sensitive.items():
        reference = _kept_part(table, width) if criterion.on_release else _written(source[name])
        vocabulary = tuple(sorted({*table.vocabularies[-1], *reference.vocabularies[-1]}))
        tables[name] = _over(table, vocabulary)
        hierarchy = _hierarchy_over(hierarchies[name], vocabulary) if name in hierarchies else None
        domains[name] = domain_of(name, _over(reference, vocabulary), hierarchy)
    return tables, domains


def _hierarchy_over(hierarchy: CompiledHierarchy, vocabulary: tuple[str, ...]) -> CompiledHierarchy:
    """The source's hierarchy over the file's values; one that the source lacks is a group apart, unless it is `*`."""
    place = {text: code for code, text in enumerate(as_written(hierarchy.labels[0]))}
    codes = np.array([place.get(text, -1) for text in vocabulary], np.int64)
    foreign = np.array([text not in place and not is_masked(text) for text in vocabulary], bool)
    labels = tuple((*level, "?") if foreign.any() else level for level in hierarchy.labels)
    maps = tuple(
        np.where(codes >= 0, level[codes], np.where(foreign, len(names), 0)).astype(np.int32)
        for level, names in zip(hierarchy.maps, hierarchy.labels, strict=True)
    )
    return CompiledHierarchy(hierarchy.variable, labels, maps, hierarchy.shares, hierarchy.leaf_count)


def _kept_part(table: Tuples, width: int) -> Tuples:
    """The tuples of the rows that stay."""
    kept = ~_suppressed(table, width)
    return Tuples(table.names, table.vocabularies, table.codes[kept], table.rows[kept])


def _written(table: Tuples) -> Tuples:
    """The source's values as the file writes them; two that become one stay two codes of one text."""
    return replace(table, vocabularies=(*table.vocabularies[:-1], tuple(as_written(table.vocabularies[-1]))))


def _over(table: Tuples, vocabulary: tuple[str, ...]) -> Tuples:
    """The table with its last column coded in a wider vocabulary; order is kept, since both are sorted."""
    place = {text: position for position, text in enumerate(vocabulary)}
    moved = np.array([place[text] for text in table.vocabularies[-1]], np.int32)
    codes = table.codes.copy()
    codes[:, -1] = moved[codes[:, -1]]
    return Tuples(table.names, (*table.vocabularies[:-1], vocabulary), codes, table.rows, table.persons)
