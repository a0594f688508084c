"""The risk analysis repeated on the released file, and the search's metrics measured on it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from celosia.data.candidate import PERSON, with_persons
from celosia.data.engines import open_engine
from celosia.data.table import Table
from celosia.evaluation.losses import released_entropy, released_metrics
from celosia.model.evaluation import RiskSide
from celosia.model.measures import MissingReading
from celosia.model.plan import Plan, policy_from
from celosia.model.scenarios import Scenario, ScenarioRisk
from celosia.pipeline._hierarchies import compiled_hierarchies
from celosia.pipeline._open import Opened
from celosia.risk import ClassSizes, class_sizes, measure
from celosia.risk.scenarios import scenario_report
from celosia.tuples import Tuples

_MOST_SCENARIOS, _LISTED = 120, 12
_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100)


@contextlib.contextmanager
def released_persons(found: Opened, order: Path | None) -> Iterator[tuple[Table, str | None]]:
    """The released table with whose row each one is, where the house knows it."""
    if order is None:
        yield found.table, None
        return
    private = found.private
    copy = with_persons(private / "working.parquet", order, private / "persons.parquet")
    with contextlib.closing(open_engine(None, private)) as engine:
        yield Table(engine, engine.parquet(copy), (*found.table.names, PERSON)), PERSON


def risk_side(quasi: Tuples, threshold: Fraction) -> RiskSide:
    """How exposed one file leaves people: ATENEA's RI = 1/f, in persons where they are known."""
    measured = measure(quasi, {})
    sizes = class_sizes(quasi, MissingReading.OWN)
    whole = _counted(quasi, [quasi.names], threshold)[quasi.names]
    smallest = measured.k_persons or measured.k
    return RiskSide(
        rows=measured.rows,
        persons=measured.persons,
        classes=measured.classes,
        k=measured.k,
        k_persons=measured.k_persons,
        unique_rows=measured.unique_rows,
        rows_below={str(limit): count for limit, count in measured.rows_below.items()},
        suppressed_rows=measured.suppressed.rows,
        at_risk=whole.at_risk,
        at_risk_share=whole.share,
        largest_risk=1 / smallest if smallest else None,
        class_sizes=_buckets(sizes),
    )


def _counted(
    table: Tuples, combinations: Sequence[tuple[str, ...]], threshold: Fraction
) -> dict[tuple[str, ...], ScenarioRisk]:
    """Each combination as `celosia risk` counts it: a person once, however many of their rows are at risk."""
    asked = [Scenario(names, threshold, origin="generated") for names in combinations]
    return {risk.scenario.variables: risk for risk in scenario_report(table, asked).scenarios}


def scenario_shares(before: Tuples, after: Tuples, threshold: Fraction) -> tuple[tuple[str, float, float], ...]:
    """Share at risk when an attacker knows one, two or all of the quasi-identifiers, the riskiest first."""
    places = range(len(before.names))
    few = [c for size in (1, 2) for c in itertools.combinations(places, size)][:_MOST_SCENARIOS]
    chosen = [*few, *([tuple(places)] if len(before.names) > 2 else [])]
    shares = [_shares(table, chosen, threshold) for table in (before, after)]
    found = [(" × ".join(before.names[i] for i in known), shares[0][known], shares[1][known]) for known in chosen]
    return tuple(sorted(found, key=lambda one: (-one[1], one[0]))[:_LISTED])


def _shares(table: Tuples, chosen: Sequence[tuple[int, ...]], threshold: Fraction) -> dict[tuple[int, ...], float]:
    """By positions, because a variable may have another name in the released file."""
    named = {known: tuple(table.names[i] for i in known) for known in chosen}
    counted = _counted(table, list(named.values()), threshold)
    return {known: counted[names].share for known, names in named.items()}


def _buckets(sizes: ClassSizes) -> tuple[tuple[str, int, int], ...]:
    """Classes and rows by the size of the class."""
    ends = [*_SIZES[1:], None]
    found = []
    for low, high in zip(_SIZES, ends, strict=True):
        inside = (sizes.rows >= low) & ((sizes.rows < high) if high is not None else np.ones(len(sizes.rows), bool))
        label = f"{low}+" if high is None else str(low) if high == low + 1 else f"{low}–{high - 1}"
        found.append((label, int(inside.sum()), int(sizes.rows[inside].sum())))
    return tuple(found)


def search_metrics(before: Opened, after: Opened, plan: Plan) -> dict[str, float | None]:
    """The metrics of the search, measured on the released file with the project's hierarchies."""
    policy = policy_from(plan.policy)
    quasi = before.table.tuples(policy.quasi)
    variables = {variable.name: variable for variable in before.variables}
    hierarchies = compiled_hierarchies(quasi, variables, policy.hierarchies, before.folder or before.private)
    released = after.table.tuples(policy.quasi)
    found = released_metrics(released, hierarchies, quasi.n_rows)
    levels = {name: int(level) for name, level in plan.levels.items()}
    everywhere = set(levels) == set(policy.quasi)  # a search part by part has other levels in other parts
    full = plan.method == "full-domain" and everywhere and found["loss"] is not None
    found["non_uniform_entropy"] = released_entropy(quasi, hierarchies, levels, released) if full else None
    return found
