"""Identification risk RI = 1/f of each scenario, and the scenarios ordered by the share of units at risk.

Knows a compressed table, criteria and levels of hierarchies. Ignores files, policies and who declared what.
A unit is at risk when one of its combinations has 1/f >= the criterion, compared in whole numbers; a combination
that does not occur has no risk; one in which every variable is masked gives nothing to look for and is set apart.
A person is counted once, however many of their rows are at risk.
Source: ATENEA guide G3_DE, section 4.2.3; its prose says "igual o menor", its criterion and its seven people RI >= 0.3.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.hierarchy.value_order import ordered_positions
from celosia.model.reports.scenarios import (
    FrequencyLine,
    FrequencyTable,
    Scenario,
    ScenarioReport,
    ScenarioRisk,
    largest_at_risk,
)
from celosia.risk.classes import fully_masked, masked_values
from celosia.risk.combinations import Cells, CodedTable, Columns, count_combinations
from celosia.risk.scales import sort_by_known_scale
from celosia.tuples.table import Tuples, person_counts, project, roll_up

TABLE_LINES = 10_000  # of a frequency table, beyond which only combinations that occur are listed
Hierarchies = Mapping[str, CompiledHierarchy]


@dataclass(frozen=True, slots=True)
class _Figures:
    """The figures of the cells of one combination under one criterion."""

    at_risk: int
    rows_at_risk: int
    combinations: int
    combinations_at_risk: int
    unique: int
    apart_rows: int
    apart_units: int


def all_combinations(names: Sequence[str], widest: int) -> Iterator[tuple[str, ...]]:
    """Every combination of two up to `widest` names."""
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in range(2, widest + 1))


def scenario_report(
    tuples: Tuples,
    scenarios: Sequence[Scenario],
    hierarchies: Hierarchies | None = None,
    progress: Callable[[float], None] | None = None,
) -> ScenarioReport:
    """Every scenario counted from one table and put in order; `progress` is called with the share that is done."""
    coded, positions = _coded_table(tuples, scenarios, hierarchies or {})
    by_columns: dict[Columns, list[Scenario]] = {}
    for scenario in scenarios:
        by_columns.setdefault(tuple(sorted(positions[column] for column in scenario.columns)), []).append(scenario)
    persons = None if tuples.persons is None else tuples.persons.total
    rows = tuples.n_rows
    units = rows if persons is None else persons
    risks = [
        _risk(scenario, _figures(cells, largest_at_risk(scenario.threshold)), rows, units)
        for columns, cells in count_combinations(coded, list(by_columns), progress)
        for scenario in by_columns[columns]
    ]
    return ScenarioReport(rows, persons, tuple(sorted(risks, key=_rank)))


def _coded_table(
    tuples: Tuples, scenarios: Sequence[Scenario], hierarchies: Hierarchies
) -> tuple[CodedTable, dict[tuple[str, int], int]]:
    """A column of codes for each variable and level of detail that a scenario asks for, and its position."""
    used = dict.fromkeys(column for scenario in scenarios for column in scenario.columns)
    parts = [_codes_at_level(tuples, name, level, hierarchies) for name, level in used]
    codes = np.array([codes for codes, _ in parts], np.int32).reshape(len(parts), len(tuples.rows))
    masked = tuple(masked_values(vocabulary) for _, vocabulary in parts)
    return CodedTable(codes, masked, tuples.rows, tuples.persons), {column: i for i, column in enumerate(used)}


def _codes_at_level(
    tuples: Tuples, name: str, level: int, hierarchies: Hierarchies
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    position = tuples.position(name)
    codes, vocabulary = tuples.codes[:, position], tuples.vocabularies[position]
    if level == 0:
        return codes, vocabulary
    hierarchy = hierarchies[name]
    return hierarchy.maps[level][codes], hierarchy.labels[level]


def _figures(cells: Cells, largest: int) -> _Figures:
    units = cells.units
    judged = cells.rows > 0 if cells.apart is None else (cells.rows > 0) & ~cells.apart
    risky = judged & (units <= largest)
    by_rows = risky if cells.people is None else judged & (cells.rows <= largest)
    apart = np.zeros(0, bool) if cells.apart is None else cells.apart
    return _Figures(
        at_risk=_units_in(cells, risky),
        rows_at_risk=int(cells.rows[by_rows].sum()),
        combinations=int(np.count_nonzero(judged)),
        combinations_at_risk=int(np.count_nonzero(risky)),
        unique=int(np.count_nonzero(judged & (units == 1))),
        apart_rows=int(cells.rows[: len(apart)][apart].sum()),
        apart_units=_units_in(cells, apart) if apart.any() else 0,
    )


def _units_in(cells: Cells, chosen: NDArray[np.bool_]) -> int:
    """Units of some cells together: a person who has rows in several of them is one."""
    if cells.people is None:
        return int(cells.rows[chosen].sum())
    scattered = cells.people.person[chosen[cells.people.cell]]
    return int(cells.people.settled[chosen].sum()) + len(np.unique(scattered))


def _risk(scenario: Scenario, figures: _Figures, rows: int, units: int) -> ScenarioRisk:
    return ScenarioRisk(
        scenario=scenario,
        at_risk=figures.at_risk,
        share=figures.at_risk / units if units else 0.0,
        rows_at_risk=figures.rows_at_risk,
        rows_share=figures.rows_at_risk / rows if rows else 0.0,
        combinations=figures.combinations,
        combinations_at_risk=figures.combinations_at_risk,
        unique=figures.unique,
        apart_rows=figures.apart_rows,
        apart_units=figures.apart_units,
    )


def _rank(risk: ScenarioRisk) -> tuple[int, int, tuple[str, ...], tuple[tuple[str, int], ...], float]:
    """Largest share first; ties by number of variables, then name (A18). All shares have the same denominator."""
    scenario = risk.scenario
    return (-risk.at_risk, len(scenario.variables), scenario.variables, scenario.columns, float(scenario.threshold))


def frequency_table(tuples: Tuples, scenario: Scenario, hierarchies: Hierarchies | None = None) -> FrequencyTable:
    """Every cell of the cross table of a scenario with its frequency; of a huge one, the first that occur."""
    table = _table_of_scenario(tuples, scenario, hierarchies or {})
    columns = zip(table.names, table.vocabularies, strict=True)
    axes = [_axis(vocabulary, scenario.categories.get(name, ())) for name, vocabulary in columns]
    cells = math.prod(len(axis) for axis in axes)
    occurring = _occurring(table, axes, largest_at_risk(scenario.threshold))
    if cells > TABLE_LINES:
        return FrequencyTable(scenario.variables, tuple(occurring), cells)
    known = {line.values: line for line in occurring}
    lines = [known.get(values, FrequencyLine(values, 0, False)) for values in itertools.product(*axes)]
    return FrequencyTable(scenario.variables, tuple(lines), cells)


def _table_of_scenario(tuples: Tuples, scenario: Scenario, hierarchies: Hierarchies) -> Tuples:
    """The compressed table over the scenario's variables at its levels."""
    table, _ = project(tuples, scenario.variables)
    if not any(level for _, level in scenario.columns):
        return table
    maps = [hierarchies[name].maps[level] if level else None for name, level in scenario.columns]
    vocabularies = [
        hierarchies[name].labels[level] if level else vocabulary
        for (name, level), vocabulary in zip(scenario.columns, table.vocabularies, strict=True)
    ]
    return roll_up(table, maps, vocabularies)[0]


def _axis(vocabulary: Sequence[str], declared: Sequence[str]) -> list[str]:
    """The categories declared by hand, in their order, then the others in their natural one."""
    natural = sort_by_known_scale(vocabulary) or [vocabulary[code] for code in ordered_positions(vocabulary)[1]]
    return list(dict.fromkeys([*declared, *natural]))


def _occurring(table: Tuples, axes: Sequence[Sequence[str]], largest: int) -> list[FrequencyLine]:
    """The combinations that occur, in the order of the axes, as many as a table may have lines."""
    ranks = []
    for column, vocabulary in enumerate(table.vocabularies):
        rank_of = {value: rank for rank, value in enumerate(axes[column])}
        ranks.append(np.array([rank_of[value] for value in vocabulary], np.int64)[table.codes[:, column]])
    first = np.lexsort(ranks[::-1])[:TABLE_LINES]
    units = person_counts(table)[first]
    risky = (units <= largest) & ~fully_masked(table.codes[first], table.vocabularies)
    texts = (
        tuple(vocabulary[code] for vocabulary, code in zip(table.vocabularies, line, strict=True))
        for line in table.codes[first].tolist()
    )
    return [FrequencyLine(*line) for line in zip(texts, units.tolist(), risky.tolist(), strict=True)]
