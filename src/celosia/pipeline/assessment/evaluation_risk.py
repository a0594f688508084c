"""The risk analysis repeated on the released file, and the search's metrics measured on it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from celosia.data.candidate import PERSON, join_persons
from celosia.data.engines.open import open_engine
from celosia.data.table import Table
from celosia.evaluation.losses import released_entropy, released_metrics
from celosia.model.paths import COPY_WITH_PERSONS, WORKING_COPY
from celosia.model.plan import Plan, policy_from
from celosia.model.reports.evaluation import RiskSide
from celosia.model.reports.scenarios import Scenario, ScenarioRisk
from celosia.model.values import MissingReading
from celosia.pipeline.assessment.scenario_risk import hierarchies_for
from celosia.pipeline.intake.open_table import OpenTable
from celosia.pipeline.planning.hierarchies import compiled_hierarchies
from celosia.risk.classes import ClassSizes, class_sizes
from celosia.risk.measures import measure
from celosia.risk.scenarios import scenario_report
from celosia.tuples.table import Tuples

_MOST_SCENARIOS, _LISTED = 120, 12
_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100)


@contextlib.contextmanager
def open_released_persons(data: OpenTable, order: Path | None) -> Iterator[tuple[Table, str | None]]:
    """The released table with the person of each row, where the institution knows it."""
    if order is None:
        yield data.table, None
        return
    private = data.private
    copy = join_persons(private / WORKING_COPY, order, private / COPY_WITH_PERSONS)
    with contextlib.closing(open_engine(None, private)) as engine:
        yield Table(engine, engine.parquet(copy), (*data.table.names, PERSON)), PERSON


def risk_side(quasi: Tuples, threshold: Fraction) -> RiskSide:
    """How exposed one file leaves people: ATENEA's RI = 1/f, in persons where they are known."""
    measures = measure(quasi, {})
    sizes = class_sizes(quasi, MissingReading.OWN)
    all_known = _scenario_risks(quasi, [quasi.names], threshold)[quasi.names]
    smallest = measures.k_persons or measures.k
    return RiskSide(
        rows=measures.rows,
        persons=measures.persons,
        classes=measures.classes,
        k=measures.k,
        k_persons=measures.k_persons,
        unique_rows=measures.unique_rows,
        rows_below={str(limit): count for limit, count in measures.rows_below.items()},
        masked_rows=measures.suppressed.rows,
        at_risk=all_known.at_risk,
        at_risk_share=all_known.share,
        largest_risk=1 / smallest if smallest else None,
        class_sizes=_buckets(sizes),
    )


def _scenario_risks(
    table: Tuples, combinations: Sequence[tuple[str, ...]], threshold: Fraction
) -> dict[tuple[str, ...], ScenarioRisk]:
    """Each combination as `celosia risk` counts it: a person once, however many of their rows are at risk."""
    scenarios = [Scenario(names, threshold, origin="generated") for names in combinations]
    return {risk.scenario.variables: risk for risk in scenario_report(table, scenarios).scenarios}


def scenario_shares(before: Tuples, after: Tuples, threshold: Fraction) -> tuple[tuple[str, float, float], ...]:
    """Share at risk when an attacker knows one, two or all of the quasi-identifiers, the riskiest first."""
    positions = range(len(before.names))
    few = [c for size in (1, 2) for c in itertools.combinations(positions, size)][:_MOST_SCENARIOS]
    chosen = [*few, *([tuple(positions)] if len(before.names) > 2 else [])]
    share_before, share_after = (_shares(table, chosen, threshold) for table in (before, after))
    rows = [(" × ".join(before.names[i] for i in known), share_before[known], share_after[known]) for known in chosen]
    return tuple(sorted(rows, key=lambda row: (-row[1], row[0]))[:_LISTED])


def declared_shares(
    before: OpenTable,
    after: Table,
    persons: tuple[str | None, str | None],
    renamed: Mapping[str, str],
    scenarios: Sequence[Scenario],
) -> tuple[tuple[str, float, float], ...]:
    """Share at risk in each scenario of the risk analysis, as it was and by what of it is published (A28).

    `persons` are the keys of the person in both files, `renamed` the published name of each variable. A scenario of
    which nothing is published puts nobody at risk any more.
    """
    named = {name for scenario in scenarios for name in scenario.variables}
    first = before.table.tuples([name for name in before.table.names if name in named], persons[0])
    second = {part: Scenario(*part) for scenario in scenarios if (part := _published_part(scenario, renamed))[0]}
    published = dict.fromkeys(name for names, _ in second for name in names)
    risks = scenario_report(first, scenarios, hierarchies_for(before, first, scenarios)).scenarios
    left: dict[tuple[tuple[str, ...], Fraction], float] = {}
    if second:
        report = scenario_report(after.tuples(tuple(published), persons[1]), tuple(second.values()))
        left = {(risk.scenario.variables, risk.scenario.threshold): risk.share for risk in report.scenarios}
    return tuple(
        (_scenario_name(risk.scenario), risk.share, left.get(_published_part(risk.scenario, renamed), 0.0))
        for risk in risks
    )


def _published_part(scenario: Scenario, renamed: Mapping[str, str]) -> tuple[tuple[str, ...], Fraction]:
    return tuple(renamed[name] for name in scenario.variables if name in renamed), scenario.threshold


def _scenario_name(scenario: Scenario) -> str:
    return " × ".join(f"{name} ({level})" if level else name for name, level in scenario.columns)


def _shares(
    table: Tuples, combinations: Sequence[tuple[int, ...]], threshold: Fraction
) -> dict[tuple[int, ...], float]:
    """Shares by position of the variables, because one may have another name in the released file."""
    named = {known: tuple(table.names[i] for i in known) for known in combinations}
    risks = _scenario_risks(table, list(named.values()), threshold)
    return {known: risks[names].share for known, names in named.items()}


def _buckets(sizes: ClassSizes) -> tuple[tuple[str, int, int], ...]:
    """Classes and rows by the size of the class."""
    buckets = []
    for low, high in itertools.pairwise((*_SIZES, np.inf)):
        inside = (sizes.rows >= low) & (sizes.rows < high)
        label = f"{low}+" if high == np.inf else str(low) if high == low + 1 else f"{low}–{high - 1}"
        buckets.append((label, int(inside.sum()), int(sizes.rows[inside].sum())))
    return tuple(buckets)


def search_metrics(before: OpenTable, after: OpenTable, plan: Plan) -> dict[str, float | None]:
    """The metrics of the search, measured on the released file with the project's hierarchies."""
    policy = policy_from(plan.policy)
    quasi = before.table.tuples(policy.quasi)
    variables = {variable.name: variable for variable in before.variables}
    folder = before.project.folder if before.project else before.private
    hierarchies = compiled_hierarchies(quasi, variables, policy.hierarchies, folder)
    released = after.table.tuples(policy.quasi)
    metrics = released_metrics(released, hierarchies, quasi.n_rows)
    levels = {name: int(level) for name, level in plan.levels.items()}
    # A search by parts has other levels in other parts.
    same_levels = set(levels) == set(policy.quasi)
    full = plan.method == "full-domain" and same_levels and metrics["loss"] is not None
    metrics["non_uniform_entropy"] = released_entropy(quasi, hierarchies, levels, released) if full else None
    return metrics
