"""What only the published file itself can say about the rules: identifiers among its values, scenarios, small areas.

Knows a written file and, in the house, whose row each one is. Ignores protocols. Columns are judged by their values
alone, under neutral names: a name of a column is the dictionary's business. Figures and column names; never a cell.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia import messages
from celosia.data.candidate import Answering, ReadBack, read_back
from celosia.data.suggest import suggest
from celosia.errors import CandidateChanged
from celosia.model.plan import Plan
from celosia.model.scenarios import THRESHOLD, Scenario
from celosia.model.values import is_masked
from celosia.model.variables import MelLabel, Role, Scale, Variable
from celosia.pipeline._suggest import column_facts
from celosia.risk import geography
from celosia.tuples import Tuples, person_counts

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ScenarioFigure:
    """One risk scenario on the published file: the smallest combination, and the units below what is asked."""

    variables: tuple[str, ...]
    threshold: Fraction
    sizes: tuple[tuple[int, int], ...]  # size of a combination -> how many units lie in such, up to what can matter
    smallest: int | None

    def at_risk(self, threshold: Fraction) -> int:
        """Units whose 1/f reaches the threshold, decided in whole numbers."""
        return sum(units for size, units in self.sizes if size * threshold.numerator <= threshold.denominator)


@dataclass(frozen=True, slots=True)
class FileFigures:
    """The figures of one published file; `unit` says what was counted."""

    rows: int
    unit: str
    identifiers: tuple[str, ...] = ()
    free_text: tuple[str, ...] = ()
    scenarios: tuple[ScenarioFigure, ...] = ()
    areas: Mapping[str, int | None] = field(default_factory=lambda: _NONE)  # smallest category of each geography
    masked: Mapping[str, int] = field(default_factory=lambda: _NONE)  # rows that show no value of a sensitive attribute


def published_figures(
    data: Path, plan: Plan, published: Sequence[Variable], scenarios: Sequence[Scenario], order: Path | None,
    scratch: Path, rows: int,
) -> FileFigures:  # fmt: skip
    """Read a published file again and measure what the rules ask of it; `order` is the private list of persons.

    It has some `rows` rows.
    """
    with contextlib.ExitStack() as stack:
        try:
            again = stack.enter_context(read_back(data, scratch, order, None, rows))
        except (ValueError, LookupError):  # an order of another length; a damaged one is pyarrow's own ValueError
            raise CandidateChanged(path=str(order), reason=messages.text("release.reason.order")) from None
        return _measured(again, plan, published, scenarios)


def _measured(again: ReadBack, plan: Plan, published: Sequence[Variable], scenarios: Sequence[Scenario]) -> FileFigures:
    table, names, person = again.table, again.names, again.person
    links = plan.policy.get("links", ())
    identifiers, texts = _suspects(table, [name for name in names if name not in links])
    stated = [_within(scenario, names) for scenario in scenarios]
    chosen = [one for one in stated if one.variables] or [_everything(plan, names)]
    geographic = [v for v in published if v.mel_label == MelLabel.GEOGRAPHIC and v.name in names]
    return FileFigures(
        rows=again.rows,
        unit="persons" if person else "rows",
        identifiers=identifiers,
        free_text=texts,
        scenarios=tuple(_figure(table, one, person) for one in chosen if one.variables),
        areas={variable.name: _smallest_area(table, variable, person) for variable in geographic},
        masked={name: _masked_rows(table, name) for name in plan.policy["sensitive"] if name in names},
    )


def _suspects(table: Answering, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns whose values are identifiers, and columns of free text; numbers of households are ours, and not named."""
    facts = column_facts(table, names)
    neutral = [replace(one, name=f"x{place}") for place, one in enumerate(facts)]
    found = [(one.name, judged) for one, judged in zip(facts, suggest(neutral), strict=True)]
    texts = tuple(name for name, judged in found if judged.scale == Scale.FREE_TEXT)
    return tuple(n for n, judged in found if judged.role == Role.IDENTIFIER and n not in texts), texts


def _within(scenario: Scenario, names: Sequence[str]) -> Scenario:
    """What of a scenario is published, at the detail that is published."""
    return Scenario(tuple(name for name in scenario.variables if name in names), scenario.threshold)


def _everything(plan: Plan, names: Sequence[str]) -> Scenario:
    """Without declared scenarios, all quasi-identifiers at once: no part of them can show a smaller combination."""
    return Scenario(tuple(name for name in plan.policy["quasi"] if name in names), THRESHOLD)


def _figure(table: Answering, scenario: Scenario, person: str | None) -> ScenarioFigure:
    tuples = table.tuples(scenario.variables, person)
    counts = person_counts(tuples)
    kept = counts[~_masked(tuples)]
    sizes, how_many = np.unique(kept, return_counts=True)
    units = [(int(size), int(size) * int(many)) for size, many in zip(sizes, how_many, strict=True)]
    smallest = int(kept.min()) if len(kept) else None
    return ScenarioFigure(scenario.variables, scenario.threshold, tuple(units), smallest)


def _masked(tuples: Tuples) -> NDArray[np.bool_]:
    """Combinations that show nothing at all: they form no class (X6)."""
    shown = np.zeros(len(tuples.rows), bool)
    for column, vocabulary in enumerate(tuples.vocabularies):
        shown |= np.array([not is_masked(text) for text in vocabulary], bool)[tuples.codes[:, column]]
    return ~shown


def _masked_rows(table: Answering, name: str) -> int:
    tuples = table.tuples((name,))
    return int(tuples.rows[_masked(tuples)].sum())


def _smallest_area(table: Answering, variable: Variable, person: str | None) -> int | None:
    areas = geography.areas_by_level(table.tuples((variable.name,), person))[0]
    return geography.judge_level(0, areas, 0, variable.unknown).smallest
