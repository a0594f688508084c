"""`people_risk`: how exposed each person of a file is, alone, in a household, and to three kinds of attacker.

Knows sources and projects: from a source to arrays. Ignores how the figures are computed (package `risk`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.model import dictionary
from celosia.model.errors import RepeatedVariable
from celosia.model.reports.people_risk import (
    AttackersSection,
    AttackSection,
    FrequencySection,
    HouseholdSection,
    PeopleRiskReport,
    PopulationSection,
    RiskSection,
)
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import MISSING, MissingReading, is_masked
from celosia.pipeline.assessment.errors import HouseholdUnknown, PopulationTooSmall, UnusableWeights
from celosia.pipeline.assessment.frame_kinds import remember_frame_kind
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.planning.population import parse_numbers, read_population
from celosia.pipeline.project.arguments import Names, check_arguments
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.risk import attackers, individual
from celosia.risk.classes import fully_masked
from celosia.risk.frequencies import Frequencies, frequencies
from celosia.risk.population import Model, estimated_uniques, sample_of
from celosia.risk.population_levels import matched_sizes
from celosia.tuples.table import Tuples, person_counts, project

Weights = NDArray[np.float64]
Counts = NDArray[np.int64]


@check_arguments
@remember_frame_kind
def people_risk(
    source: Any,
    variables: Names | None = None,
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
    with open_table(source, report, described=False, **reading) as data:
        missing_weight, progress = _missing_weight(alpha, missing), stage_progress(report, "measure")
        names = _attacker_variables(data, variables, (weight, household))
        quasi = data.table.tuples(names, data.person_key(person))
        weights = None if weight is None else tuple_weights(data, quasi, weight)
        progress(0.3)
        counts = frequencies(quasi, weights, missing_weight)
        risk = individual.individual_risk(counts)
        masked = fully_masked(quasi.codes, quasi.vocabularies)
        visible_rows = np.where(masked, 0, quasi.rows)
        table = None if population is None else read_population(population, names, population_count)
        progress(0.7)
        return PeopleRiskReport(
            variables=names,
            rows=quasi.n_rows,
            persons=None if quasi.persons is None else quasi.persons.total,
            masked_rows=int(quasi.rows[masked].sum()),
            frequencies=_frequency_section(counts, visible_rows, weight, missing_weight),
            individual=_risk_section(risk, visible_rows),
            household=None if household is None else _household_section(data, quasi, household, risk, masked),
            attackers=_attackers(quasi, ~masked, table, weights),
            population=_population_section(quasi, ~masked, table, weights, fraction),
        )


def _missing_weight(alpha: float | None, missing: str | None) -> float | None:
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


def _attacker_variables(
    data: OpenTable, variables: Sequence[str] | None, others: Sequence[str | None]
) -> tuple[str, ...]:
    """The variables asked for; those of a project's dictionary when none is."""
    names = dictionary.combined_quasi(data.variables) if variables is None else variables
    chosen = data.table.schema.checked_names(names, "variables")
    for name in others:
        if name is not None:
            data.table.schema.position(name)
        if name in chosen:
            raise RepeatedVariable(variable=str(name))
    return chosen


def tuple_weights(data: OpenTable, quasi: Tuples, weight: str) -> Weights:
    """The sum of the weights of each tuple's rows; weights that cannot be are refused with their counts."""
    weighted = data.table.tuples((*quasi.names, weight))
    texts = weighted.vocabularies[-1]
    numbers = parse_numbers(texts, data.source.choices.decimal or ".")
    rows = np.bincount(weighted.codes[:, -1], weights=weighted.rows, minlength=len(texts)).astype(np.int64)
    absent = np.array([text == MISSING or is_masked(text) for text in texts], bool)
    kinds = (absent, np.isnan(numbers) & ~absent, numbers == 0, numbers < 0)
    if any(kind.any() for kind in kinds):
        missing, unreadable, zero, negative = (int(rows[kind].sum()) for kind in kinds)
        raise UnusableWeights(variable=weight, missing=missing, unreadable=unreadable, zero=zero, negative=negative)
    _, label = project(weighted, quasi.names)
    sums = np.bincount(label, weights=weighted.rows * numbers[weighted.codes[:, -1]], minlength=len(quasi.rows))
    return sums.astype(np.float64, copy=False)


def _frequency_section(counts: Frequencies, rows: Counts, weight: str | None, alpha: float | None) -> FrequencySection:
    visible = rows > 0
    counts = Frequencies(counts.sample[visible], counts.population[visible])
    some, rows = bool(visible.any()), rows[visible]
    return FrequencySection(
        classes=len(rows),
        smallest=float(counts.sample.min()) if some else None,
        smallest_population=float(counts.population.min()) if some else None,
        unique_rows=int(rows[counts.sample == 1].sum()),
        violations=individual.violations(counts, rows),
        sum_sample=float((counts.sample * rows).sum()),
        sum_population=float((counts.population * rows).sum()),
        weight=weight,
        missing=str(MissingReading.OWN if alpha is None else MissingReading.WILDCARD),
        alpha=alpha,
    )


def _risk_section(risk: Weights, rows: Counts) -> RiskSection:
    some = rows > 0
    total = individual.global_risk(risk[some], rows[some])
    highest = float(risk[some].max()) if some.any() else None
    return RiskSection(highest, total.expected, total.rate, total.high_threshold, total.high_rows)


def _household_section(
    data: OpenTable, quasi: Tuples, household: str, risk: Weights, masked: NDArray[np.bool_]
) -> HouseholdSection:
    """Each row carries the risk that somebody of its household is found; suppressed rows add nothing to it."""
    members = data.table.tuples((*quasi.names, household))
    number, texts = members.codes[:, -1].astype(np.int64), members.vocabularies[-1]
    unknown = np.array([text == MISSING or is_masked(text) for text in texts], bool)[number]
    if unknown.any():
        raise HouseholdUnknown(variable=household, rows=int(members.rows[unknown].sum()))
    _, label = project(members, quasi.names)
    visible = ~masked[label]
    together = individual.household_risk(risk[label[visible]], number[visible], members.rows[visible])
    rows = np.bincount(number[visible], weights=members.rows[visible], minlength=len(together)).astype(np.int64)
    return HouseholdSection(household, int((rows > 0).sum()), _risk_section(together, rows))


def _attackers(
    quasi: Tuples, visible: NDArray[np.bool_], table: Tuples | None, weights: Weights | None
) -> AttackersSection:
    sizes = person_counts(quasi)[visible]
    origin = None if table is None else "population"
    population_sizes: Any = None if table is None else matched_sizes(quasi, table)[visible]
    if population_sizes is None and weights is not None:
        origin, population_sizes = "weights", _population_weights(quasi, visible, weights)
    journalist = None if population_sizes is None else attackers.journalist(sizes, population_sizes)
    return AttackersSection(
        unit="rows" if quasi.persons is None else "persons",
        prosecutor=_attack_section(attackers.prosecutor(sizes)),
        journalist=None if journalist is None else _attack_section(journalist, journalist.short),
        journalist_from=origin,
        marketer=attackers.marketer(sizes, population_sizes),
    )


def _population_weights(quasi: Tuples, visible: NDArray[np.bool_], weights: Weights) -> Weights:
    """The persons of the population behind each tuple.

    Weights are of rows: a person with several rows represents as many as one of them does on average.
    """
    return weights[visible] * (person_counts(quasi)[visible] / quasi.rows[visible])


def _attack_section(attack: attackers.Attack, short: int | None = None) -> AttackSection:
    above = {f"{float(limit):g}": share for limit, share in attack.above.items()}
    return AttackSection(attack.highest, attack.mean, above, short)


def _population_section(
    quasi: Tuples, visible: NDArray[np.bool_], table: Tuples | None, weights: Weights | None, fraction: float | None
) -> PopulationSection | None:
    """Estimates of the population: from its table, else the fraction given, else the weights."""
    sizes = person_counts(quasi)[visible]
    units = int(sizes.sum())
    represented = None if weights is None else _population_weights(quasi, visible, weights)
    population_size = _population_size(units, table, represented, fraction)
    if population_size is None or not units:
        return None
    total, origin = population_size
    if total < units:
        raise PopulationTooSmall(population=round(total), rows=units)
    sample = sample_of(sizes, total)
    estimates = {model: estimated_uniques(sample, model) for model in Model}
    uniques = {str(model): number for model, (number, _) in estimates.items()}
    return PopulationSection(
        size=total,
        size_from=origin,
        fraction=sample.fraction,
        k_map=None if table is None else int(matched_sizes(quasi, table)[visible].min()),
        uniques=uniques,
        uniqueness={name: None if number is None else number / total for name, number in uniques.items()},
        chosen=str(estimates[Model.DANKAR][1]),
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
