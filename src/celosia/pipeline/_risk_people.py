"""`people_risk`: how exposed each person of a file is, alone, in a household, and to three kinds of attacker.

Walks from a source to arrays; the figures are made in `risk`. Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import HouseholdUnknown, PopulationTooSmall, RepeatedVariable, UnusableWeights, ValueOutOfRange
from celosia.model.measures import MissingReading
from celosia.model.people_risk import (
    AttackersSection,
    AttackSection,
    FrequencySection,
    HouseholdSection,
    PeopleRiskReport,
    PopulationSection,
    RiskSection,
)
from celosia.model.values import MISSING, is_masked
from celosia.model.variables import Role
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._population import numbers_of, read_population
from celosia.pipeline._progress import Progress, stage
from celosia.risk import attackers, fully_masked, individual, matched_sizes
from celosia.risk.frequencies import Frequencies, frequencies
from celosia.risk.population import Model, estimated_uniques, sample_of
from celosia.tuples import Tuples, person_counts, project

Weights = NDArray[np.float64]
Counts = NDArray[np.int64]


def people_risk(
    source: Any,
    variables: Sequence[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    population: Any = None,
    population_count: str | None = None,
    fraction: float | None = None,
    alpha: float | None = None,
    missing: str | None = None,
    person: str | None = None,
    report: Progress = None,
    **reading: Any,
) -> PeopleRiskReport:
    """The risk of the persons of a file, database, frame or project over the variables an attacker may know.

    `alpha` reads missing keys as any value; without it they are values of their own.
    """
    with opened(source, report, described=False, **reading) as found:
        return people_risk_of(
            found, variables, weight, household, population, population_count, fraction, alpha, missing, person, report
        )


def people_risk_of(
    found: Opened,
    variables: Sequence[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    population: Any = None,
    population_count: str | None = None,
    fraction: float | None = None,
    alpha: float | None = None,
    missing: str | None = None,
    person: str | None = None,
    report: Progress = None,
) -> PeopleRiskReport:
    """The same over an opened table."""
    hidden, told = _alpha(alpha, missing), stage(report, "measure")
    chosen = _keys(found, variables, (weight, household))
    quasi = found.table.tuples(chosen, _person(found, person))
    weights = None if weight is None else tuple_weights(found, quasi, weight)
    if told:
        told(0.3)
    counted = frequencies(quasi, weights, hidden)
    risk = individual.individual_risk(counted)
    apart = fully_masked(quasi.codes, quasi.vocabularies)
    kept = np.where(apart, 0, quasi.rows)
    table = None if population is None else read_population(population, chosen, population_count)
    if told:
        told(0.7)
    return PeopleRiskReport(
        variables=chosen,
        rows=quasi.n_rows,
        persons=None if quasi.persons is None else quasi.persons.total,
        suppressed_rows=int(quasi.rows[apart].sum()),
        frequencies=_frequency_section(counted, kept, weight, hidden),
        individual=_risk_section(risk, kept),
        household=None if household is None else _household_section(found, quasi, household, risk, apart),
        attackers=_attackers(quasi, ~apart, table, weights),
        population=_population_section(quasi, ~apart, table, weights, fraction),
    )


def _alpha(alpha: float | None, missing: str | None) -> float | None:
    """The weight of compatible incomplete rows; None when a missing key is a value of its own."""
    if missing is not None and missing not in list(MissingReading):
        raise ValueOutOfRange(parameter="missing", given=missing, allowed=", ".join(MissingReading))
    if alpha is None:
        return 1.0 if missing == MissingReading.WILDCARD else None
    if missing == MissingReading.OWN:
        raise ValueOutOfRange(parameter="missing", given=missing, allowed=str(MissingReading.WILDCARD))
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 <= alpha <= 1:
        raise ValueOutOfRange(parameter="alpha", given=alpha, allowed="0–1")
    return float(alpha)


def _keys(found: Opened, variables: Sequence[str] | None, others: Sequence[str | None]) -> tuple[str, ...]:
    """The variables asked for; those of a project's dictionary when none is."""
    names = [v.name for v in found.variables if v.role == Role.QUASI] if variables is None else list(variables)
    chosen = found.table.schema.chosen(names, "variables")
    for name in others:
        if name is not None:
            found.table.schema.position(name)
        if name in chosen:
            raise RepeatedVariable(variable=str(name))
    return chosen


def _person(found: Opened, person: str | None) -> str | None:
    key = person or found.person
    if key is not None:
        found.table.schema.position(key)
    return key


def tuple_weights(found: Opened, quasi: Tuples, weight: str) -> Weights:
    """The sum of the weights of each tuple's rows; weights that cannot be are refused with their counts."""
    each = found.table.tuples((*quasi.names, weight))
    texts = each.vocabularies[-1]
    numbers = numbers_of(texts, found.source.choices.decimal or ".")
    rows = np.bincount(each.codes[:, -1], weights=each.rows, minlength=len(texts)).astype(np.int64)
    absent = np.array([text == MISSING or is_masked(text) for text in texts], bool)
    kinds = (absent, np.isnan(numbers) & ~absent, numbers == 0, numbers < 0)
    if any(kind.any() for kind in kinds):
        missing, unreadable, zero, negative = (int(rows[kind].sum()) for kind in kinds)
        raise UnusableWeights(variable=weight, missing=missing, unreadable=unreadable, zero=zero, negative=negative)
    _, label = project(each, quasi.names)
    sums = np.bincount(label, weights=each.rows * numbers[each.codes[:, -1]], minlength=len(quasi.rows))
    return sums.astype(np.float64, copy=False)


def _frequency_section(counted: Frequencies, rows: Counts, weight: str | None, alpha: float | None) -> FrequencySection:
    kept = rows > 0
    found = Frequencies(counted.sample[kept], counted.population[kept])
    some, rows = bool(kept.any()), rows[kept]
    return FrequencySection(
        classes=len(rows),
        smallest=float(found.sample.min()) if some else None,
        smallest_population=float(found.population.min()) if some else None,
        unique_rows=int(rows[found.sample == 1].sum()),
        violations=individual.violations(found, rows),
        sum_sample=float((found.sample * rows).sum()),
        sum_population=float((found.population * rows).sum()),
        weight=weight,
        missing=str(MissingReading.OWN if alpha is None else MissingReading.WILDCARD),
        alpha=alpha,
    )


def _risk_section(risk: Weights, rows: Counts) -> RiskSection:
    some = rows > 0
    whole = individual.global_risk(risk[some], rows[some])
    highest = float(risk[some].max()) if some.any() else None
    return RiskSection(highest, whole.expected, whole.rate, whole.high_threshold, whole.high_rows)


def _household_section(
    found: Opened, quasi: Tuples, household: str, risk: Weights, apart: NDArray[np.bool_]
) -> HouseholdSection:
    """Each row carries the risk that somebody of its household is found; suppressed rows add nothing to it."""
    each = found.table.tuples((*quasi.names, household))
    number, texts = each.codes[:, -1].astype(np.int64), each.vocabularies[-1]
    unknown = np.array([text == MISSING or is_masked(text) for text in texts], bool)[number]
    if unknown.any():
        raise HouseholdUnknown(variable=household, rows=int(each.rows[unknown].sum()))
    _, label = project(each, quasi.names)
    kept = ~apart[label]
    together = individual.household_risk(risk[label[kept]], number[kept], each.rows[kept])
    rows = np.bincount(number[kept], weights=each.rows[kept], minlength=len(together)).astype(np.int64)
    return HouseholdSection(household, int((rows > 0).sum()), _risk_section(together, rows))


def _attackers(
    quasi: Tuples, kept: NDArray[np.bool_], table: Tuples | None, weights: Weights | None
) -> AttackersSection:
    sizes = person_counts(quasi)[kept]
    behind: Any = None if table is None else matched_sizes(quasi, table)[kept]
    origin = None if table is None else "population"
    if behind is None and weights is not None:
        # Weights are of rows: a person with several rows stands for as many as one of them does on average.
        behind, origin = weights[kept] * (sizes / quasi.rows[kept]), "weights"
    seen = None if behind is None else attackers.journalist(sizes, behind)
    return AttackersSection(
        unit="rows" if quasi.persons is None else "persons",
        prosecutor=_attack_section(attackers.prosecutor(sizes)),
        journalist=None if seen is None else _attack_section(seen, seen.short),
        journalist_from=origin,
        marketer=attackers.marketer(sizes, behind),
    )


def _attack_section(attack: attackers.Attack, short: int | None = None) -> AttackSection:
    above = {f"{float(limit):g}": share for limit, share in attack.above.items()}
    return AttackSection(attack.highest, attack.mean, above, short)


def _population_section(
    quasi: Tuples,
    kept: NDArray[np.bool_],
    table: Tuples | None,
    weights: Weights | None,
    fraction: float | None,
) -> PopulationSection | None:
    """What can be said of the population: from its table, else the fraction given, else the weights."""
    sizes = person_counts(quasi)[kept]
    units = int(sizes.sum())
    stood_for = None if weights is None else weights[kept] * (sizes / quasi.rows[kept])
    known = _population_size(units, table, stood_for, fraction)
    if known is None or not units:
        return None
    total, origin = known
    if total < units:
        raise PopulationTooSmall(population=round(total), rows=units)
    sample = sample_of(sizes, total)
    found = {model: estimated_uniques(sample, model) for model in Model}
    uniques = {str(model): number for model, (number, _) in found.items()}
    return PopulationSection(
        size=total,
        size_from=origin,
        fraction=sample.fraction,
        k_map=None if table is None else int(matched_sizes(quasi, table)[kept].min()),
        uniques=uniques,
        uniqueness={name: None if number is None else number / total for name, number in uniques.items()},
        chosen=str(found[Model.DANKAR][1]),
    )


def _population_size(
    units: int, table: Tuples | None, weights: Weights | None, fraction: float | None
) -> tuple[float, str] | None:
    if table is not None:
        return float(table.n_rows), "population"
    if fraction is not None:
        if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 0 < fraction <= 1:
            raise ValueOutOfRange(parameter="fraction", given=fraction, allowed="> 0, ≤ 1")
        return units / fraction, "fraction"
    return None if weights is None else (float(weights.sum()), "weights")
