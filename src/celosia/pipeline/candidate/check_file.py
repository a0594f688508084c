"""The check of a written file: it is read again as anybody would read it and measured against the policy.

Knows the file, the policy and, inside the institution, the person of each row. What could not be measured has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.data.candidate import ReadBack, read_back
from celosia.data.engines.base import Engine
from celosia.data.writers.dialect import written_texts
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.plan import Plan, Policy, policy_from
from celosia.model.values import is_masked
from celosia.model.verdict import CheckReport, State, Verdict
from celosia.pipeline.planning.households import contradicting_groups, fully_masked, hidden_values, masked_values
from celosia.pipeline.planning.search_input import row_level_dependents
from celosia.risk.criteria import Criterion, Domain, criterion_from
from celosia.risk.population_levels import PopulationLevels
from celosia.solver.published import ClassCounter, domain_of
from celosia.tuples.finer import TupleSource, tuples_with_each
from celosia.tuples.table import Tuples, labels_over, person_counts


@dataclass(frozen=True, slots=True)
class SourceReference:
    """What a written file is compared with: the source's rows and the distributions of its sensitive values."""

    rows: int
    sensitive: Mapping[str, Tuples]
    hierarchies: Mapping[str, CompiledHierarchy] = field(default_factory=dict)
    population: PopulationLevels | None = None
    written: Callable[[Sequence[str]], list[str]] = written_texts  # how a text of the source stands in what is read


def check_file(
    path: Path, plan: Plan, scratch: Path, order: Path | None, reference: SourceReference, engine: Engine | None = None
) -> CheckReport:
    """Read a written file again and judge it; `order` is the private list of persons, DuckDB the default engine."""
    with read_back(path, scratch, order, checked_columns(plan, reference), reference.rows, engine) as again:
        return judge_read_back(again, path.name, plan, reference)


def judge_read_back(again: ReadBack, name: str, plan: Plan, reference: SourceReference) -> CheckReport:
    """Judge what was read again of what is to be published, counted without what made it."""
    policy, source, rows = policy_from(plan.policy), reference.sensitive, reference.rows
    criteria = [criterion_from(data) for data in policy.criteria]
    table, person = again.table, again.person
    beside = _columns_beside_quasi(plan, policy)
    quasi, sensitive = tuples_with_each(table, (*policy.quasi, *beside), source, person)
    dependents = _dependents_verdict(table, row_level_dependents(plan.followers, plan.published, policy))
    households = [_households(table, policy, plan)] if policy.links else []
    starred = fully_masked(quasi, len(policy.quasi))
    sizes = None if reference.population is None else _population_sizes(quasi, starred, reference, plan)
    verdicts = [
        _columns(again.names, plan.published),
        _rows(again.rows, rows, plan.suppressed_rows, policy.suppressed),
        *_criterion_verdicts(quasi, sensitive, reference, criteria, len(policy.quasi), sizes),
        *([dependents] if dependents else []),
        *households,
    ]
    class_rows, masked = quasi.rows[~starred], int(quasi.rows[starred].sum())
    suppressed = plan.suppressed_rows if plan.drops_suppressed else min(plan.suppressed_rows, masked)
    persons = person_counts(quasi)[~starred] if quasi.persons is not None else None
    sizes_shown = class_rows if persons is None else persons
    return CheckReport(
        file=name,
        digest=again.digest,
        rows=again.rows,
        classes=len(class_rows),
        suppressed_rows=suppressed,
        otherwise_masked_rows=masked - (0 if plan.drops_suppressed else suppressed),
        verdicts=tuple(verdicts),
        k=int(class_rows.min()) if len(class_rows) else None,
        k_persons=int(persons.min()) if persons is not None and len(persons) else None,
        drops_suppressed=plan.drops_suppressed,
        single_classes=int((sizes_shown == 1).sum()),
    )


def _columns_beside_quasi(plan: Plan, policy: Policy) -> list[str]:
    """The published columns that are counted with the quasi-identifiers, because they follow from one."""
    return [name for name, determinants in plan.followers.items() if set(determinants) & set(policy.quasi)]


def checked_columns(plan: Plan, reference: SourceReference) -> list[str]:
    """The columns that the check looks at, each once."""
    policy = policy_from(plan.policy)
    counted = (*policy.quasi, *_columns_beside_quasi(plan, policy), *reference.sensitive)
    dependents = [name for pair in row_level_dependents(plan.followers, plan.published, policy) for name in pair]
    constant = [name for link in policy.links for name in plan.notes["households"]["constant"][link]]
    return list(dict.fromkeys([*counted, *dependents, *policy.links, *constant]))


def _dependents_verdict(table: TupleSource, pairs: Sequence[tuple[str, str]]) -> Verdict | None:
    """No row may show a dependent column of a value that is masked in it (X7)."""
    if not pairs:
        return None
    rows = 0
    for name, determinant in pairs:
        pair = table.tuples((determinant, name))
        rows += int(pair.rows[masked_values(pair, 0) & ~masked_values(pair, 1)].sum())
    return Verdict("followers", {}, rows, 0, rows, State.FAILS if rows else State.HOLDS)


def _columns(columns: Sequence[str], expected: Sequence[str]) -> Verdict:
    """Exactly the published columns: no original, no auxiliary one (M21)."""
    wrong = len(set(columns) ^ set(expected)) + (list(columns) != list(expected))
    return Verdict("columns", {"columns": len(expected)}, len(columns), wrong, 0, State.FAILS if wrong else State.HOLDS)


def _rows(rows: int, source: int, suppressed: int, handling: str) -> Verdict:
    expected = source - suppressed if handling == "drop" else source
    state = State.HOLDS if rows == expected else State.FAILS
    return Verdict("rows", {"rows": expected}, rows, 0, abs(rows - expected), state)


def _criterion_verdicts(
    quasi: Tuples,
    sensitive: Mapping[str, Tuples],
    reference: SourceReference,
    criteria: Sequence[Criterion],
    width: int,
    population_sizes: NDArray[np.int64] | None,
) -> list[Verdict]:
    """Each criterion on the classes that stay; then the group of fully masked rows, apart."""
    starred = fully_masked(quasi, width)
    unsuppressed = np.flatnonzero(~starred)
    passes_all = np.ones(len(starred), bool)
    verdicts = []
    for criterion in criteria:
        # Of the sensitive values, those it reads: the tables of the others may be as large as the file.
        read = {name: table for name, table in sensitive.items() if name == criterion.variable}
        tables, domains = _reference_tables(read, reference, criterion, width)
        counter = ClassCounter(quasi, tables, domains=domains, population=population_sizes)
        passes = criterion.judge(counter.subset(unsuppressed).classes(np.arange(len(unsuppressed)), len(unsuppressed)))
        passes_all &= criterion.judge(counter.classes(np.arange(len(starred)), len(starred)))
        rows = int(quasi.rows[unsuppressed][~passes].sum())
        state = State.HOLDS if passes.all() else State.FAILS
        verdicts.append(Verdict(criterion.name, criterion.as_dict(), None, int((~passes).sum()), rows, state))
    if starred.any() and criteria:
        verdicts.append(_suppressed_group(quasi, sensitive.values(), starred, passes_all))
    return verdicts


def _population_sizes(
    quasi: Tuples, starred: NDArray[np.bool_], reference: SourceReference, plan: Plan
) -> NDArray[np.int64]:
    """Units of the population that show the published values of each class; everybody where nothing is shown."""
    population = reference.population
    assert population is not None
    width = len(population.names)
    levels = [int(plan.levels[name]) for name in population.names]
    labels = tuple(tuple(tuple(reference.written(level)) for level in own) for own in population.labels)
    shown = replace(population, labels=labels).population_of_texts(
        quasi.codes[:, :width], quasi.vocabularies[:width], levels
    )
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


def _households(table: TupleSource, policy: Policy, plan: Plan) -> Verdict:
    """No household shows on one row what another masks, nor its original number (X17)."""
    width, failing, rows, groups = len(policy.quasi), 0, 0, 0
    whole = table.tuples((*policy.quasi, *policy.links))
    starred = fully_masked(whole, width)
    for link in policy.links:
        readable = [contradicting_groups(whole, link, starred, ~starred)]
        for name in plan.notes["households"]["constant"][link]:
            pair = table.tuples((link, name))
            readable.append(contradicting_groups(pair, link, masked_values(pair, 1), ~hidden_values(pair, 1)))
        failing += sum(many for many, _ in readable)
        rows += sum(of_them for _, of_them in readable)
        numbers = {text for text in whole.vocabularies[whole.position(link)] if text and not is_masked(text)}
        groups += len(numbers)
        failing += numbers != {str(i + 1) for i in range(len(numbers))}
    state = State.FAILS if failing else State.HOLDS
    return Verdict("households", {"columns": ", ".join(policy.links)}, groups, failing, rows, state)


def _reference_tables(
    sensitive: Mapping[str, Tuples], reference: SourceReference, criterion: Criterion, width: int
) -> tuple[dict[str, Tuples], dict[str, Domain]]:
    """The file's tables over the source's values, and the distribution the criterion compares with."""
    tables, domains, hierarchies = {}, {}, reference.hierarchies
    for name, table in sensitive.items():
        own = (
            _unsuppressed_part(table, width)
            if criterion.on_release
            else _written_values(reference.sensitive[name], reference)
        )
        vocabulary = tuple(sorted({*table.vocabularies[-1], *own.vocabularies[-1]}))
        tables[name] = _recode_last_column(table, vocabulary)
        hierarchy = _hierarchy_over(hierarchies[name], vocabulary, reference) if name in hierarchies else None
        domains[name] = domain_of(name, _recode_last_column(own, vocabulary), hierarchy)
    return tables, domains


def _hierarchy_over(
    hierarchy: CompiledHierarchy, vocabulary: tuple[str, ...], reference: SourceReference
) -> CompiledHierarchy:
    """The source's hierarchy over the file's values; one that the source lacks is a group apart, unless it is `*`."""
    code_of = {text: code for code, text in enumerate(reference.written(hierarchy.labels[0]))}
    codes = np.array([code_of.get(text, -1) for text in vocabulary], np.int64)
    foreign = np.array([text not in code_of and not is_masked(text) for text in vocabulary], bool)
    labels = tuple((*level, "?") if foreign.any() else level for level in hierarchy.labels)
    maps = tuple(
        np.where(codes >= 0, level[codes], np.where(foreign, len(names), 0)).astype(np.int32)
        for level, names in zip(hierarchy.maps, hierarchy.labels, strict=True)
    )
    return CompiledHierarchy(hierarchy.variable, labels, maps, hierarchy.shares, hierarchy.leaf_count)


def _unsuppressed_part(table: Tuples, width: int) -> Tuples:
    """The tuples of the rows that stay."""
    unsuppressed = ~fully_masked(table, width)
    return Tuples(table.names, table.vocabularies, table.codes[unsuppressed], table.rows[unsuppressed])


def _written_values(table: Tuples, reference: SourceReference) -> Tuples:
    """The source's values as the file writes them; two that become one stay two codes of one text."""
    return replace(table, vocabularies=(*table.vocabularies[:-1], tuple(reference.written(table.vocabularies[-1]))))


def _recode_last_column(table: Tuples, vocabulary: tuple[str, ...]) -> Tuples:
    """The table with its last column coded in a wider vocabulary; order is kept, since both are sorted."""
    position_of = {text: position for position, text in enumerate(vocabulary)}
    moved = np.array([position_of[text] for text in table.vocabularies[-1]], np.int32)
    codes = table.codes.copy()
    codes[:, -1] = moved[codes[:, -1]]
    return Tuples(table.names, (*table.vocabularies[:-1], vocabulary), codes, table.rows, table.persons)
