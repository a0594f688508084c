"""Risk scenarios: RI = 1/f in whole numbers, persons once, the guide's own table, and every way of counting alike."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import messages
from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.registry import build
from celosia.model.reports.scenarios import (
    Scenario,
    exact_threshold,
    indicator_tenths,
    largest_at_risk,
    threshold_of,
    threshold_text,
)
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk import combinations as _combinations
from celosia.risk.scales import sort_by_known_scale
from celosia.risk.scenarios import all_combinations, frequency_table, scenario_report
from tests.risk.guide_example import GUIDE, LEVELS, NAMES, guide_rows
from tests.risk.rows import tuples_of


def slow_figures(
    rows: Sequence[tuple[str, ...]], columns: Sequence[int], threshold: Fraction, persons: Sequence[str] | None = None
) -> tuple[int, int, int]:
    """Units at risk, combinations that occur, combinations at risk: row by row, with plain dictionaries."""
    who = [str(i) for i in range(len(rows))] if persons is None else list(persons)
    behind = defaultdict(set)
    for row, person in zip(rows, who, strict=True):
        values = tuple(row[column] for column in columns)
        if not all(value and set(value) == {"*"} for value in values):
            behind[values].add(person)
    risky = [people for people in behind.values() if Fraction(1, len(people)) >= threshold]
    return len(set().union(*risky)), len(behind), len(risky)


@pytest.mark.requirement("A14", "A17", "A18", "X9", "X10")
@pytest.mark.parametrize(
    ("threshold", "people"), [("0.3", 7), ("0,2", 12), ("0.5", 4), ("1/3", 7), ("1", 0), ("0.34", 4)]
)
def test_the_guides_table_has_its_people_at_risk(threshold, people):
    tuples = tuples_of(guide_rows(), NAMES)
    [risk] = scenario_report(tuples, [Scenario(NAMES, threshold_of(threshold))]).scenarios
    assert risk.at_risk == people
    assert risk.share == people / 84


@pytest.mark.requirement("A14", "A15", "A16", "X11")
def test_the_frequency_table_is_the_guides_line_by_line():
    scenario = Scenario(NAMES, categories={NAMES[0]: LEVELS})
    table = frequency_table(tuples_of(guide_rows(), NAMES), scenario)
    shown = [(*line.values, line.frequency, f"{indicator_tenths(line.frequency) / 10:.1f}".replace(".", ","))
             for line in table.lines]  # fmt: skip
    assert shown == GUIDE
    assert table.complete
    assert [number for number, line in enumerate(table.lines, 1) if line.at_risk] == [8, 10, 11]
    absent = [line.as_dict()["ri"] for line in table.lines if line.frequency == 0]
    assert absent == [None] * 4


@pytest.mark.requirement("A16")
@pytest.mark.parametrize(("f", "tenths", "at_risk"), [(1, 10, True), (2, 5, True), (3, 3, True), (4, 3, False),
                                                      (7, 1, False), (15, 1, False), (40, 0, False)])  # fmt: skip
def test_the_indicator_is_compared_before_it_is_rounded(f, tenths, at_risk):
    assert indicator_tenths(f) == tenths
    assert (f <= largest_at_risk(Fraction("0.3"))) is at_risk


@pytest.mark.parametrize("given", ["0", "-0.3", "tres", "", "1.01", "1/0", None, True, "nan", "inf"])
def test_a_criterion_that_is_none_is_refused(given):
    assert exact_threshold(given) is None
    with pytest.raises(ValueOutOfRange):
        threshold_of(given)


@given(st.integers(1, 500), st.fractions(min_value=Fraction(1, 1000), max_value=1))
def test_the_largest_frequency_at_risk_is_exact(f, threshold):
    assert (f <= largest_at_risk(threshold)) is (Fraction(1, f) >= threshold)


@pytest.mark.requirement("A13")
def test_all_two_to_four_way_combinations_of_fifteen_variables_are_generated():
    names = [f"v{i}" for i in range(15)]
    made = list(all_combinations(names, 4))
    assert Counter(map(len, made)) == {2: 105, 3: 455, 4: 1365}
    assert len(set(made)) == 1925


@pytest.mark.requirement("A18")
def test_scenarios_go_from_the_largest_share_and_ties_by_variables_then_name():
    rows = [("a", "x", "1"), ("a", "x", "2"), ("a", "y", "3"), ("a", "y", "4"), ("a", "y", "5"), ("a", "y", "6")]
    names = ("p", "q", "r")
    asked = [Scenario(names), Scenario(("q", "r")), Scenario(("p", "r")), Scenario(("p", "q")), Scenario(("p",))]
    report = scenario_report(tuples_of(rows, names), asked)
    assert [risk.scenario.variables for risk in report.scenarios] == [("p", "r"), ("q", "r"), names, ("p", "q"), ("p",)]
    assert [risk.at_risk for risk in report.scenarios] == [6, 6, 6, 2, 0]
    assert [line["order"] for line in report.as_dict()["scenarios"]] == [1, 2, 3, 4, 5]


def test_the_same_combination_may_have_several_criteria():
    asked = [Scenario(NAMES, Fraction(1, 5)), Scenario(NAMES, Fraction(1, 2))]
    report = scenario_report(tuples_of(guide_rows(), NAMES), asked)
    assert [(risk.scenario.threshold, risk.at_risk) for risk in report.scenarios] == [
        (Fraction(1, 5), 12),
        (Fraction(1, 2), 4),
    ]


@pytest.mark.requirement("A13")
def test_a_scenario_has_its_own_level_of_detail():
    rows = [(str(age), sex) for age in range(20, 40) for sex in "MF"]
    tuples = tuples_of(rows, ("edad", "sexo"))
    hierarchy = build({"builder": "intervals", "width": 10, "end": 40}, tuples.vocabularies[0], variable="edad")
    compiled = {"edad": compile_for(hierarchy, tuples.vocabularies[0])}
    asked = [Scenario(("edad", "sexo")), Scenario(("edad", "sexo"), levels={"edad": 1})]
    report = scenario_report(tuples, asked, compiled)
    assert [(dict(risk.scenario.levels), risk.at_risk, risk.combinations) for risk in report.scenarios] == [
        ({}, 40, 40),
        ({"edad": 1}, 0, 4),
    ]
    table = frequency_table(tuples, asked[1], compiled)
    assert [line.frequency for line in table.lines] == [10, 10, 10, 10]


def test_a_person_at_risk_in_two_rows_is_one_person():
    rows = [("a",), ("b",), ("c",), ("c",), ("c",), ("c",)]
    persons = ["ana", "ana", "p1", "p2", "p3", "p4"]
    [risk] = scenario_report(tuples_of(rows, ("q",), persons), [Scenario(("q",))]).scenarios
    assert (risk.at_risk, risk.share) == (1, 1 / 5)
    assert (risk.rows_at_risk, risk.combinations_at_risk) == (2, 2)


def test_a_person_who_fills_a_combination_alone_is_at_risk_however_many_rows_there_are():
    rows = [("a",)] * 9 + [("b",)] * 9
    persons = ["ana"] * 9 + [f"p{i}" for i in range(9)]
    [risk] = scenario_report(tuples_of(rows, ("q",), persons), [Scenario(("q",))]).scenarios
    assert (risk.at_risk, risk.rows_at_risk) == (1, 0)


def test_masked_and_missing_are_categories_and_a_fully_masked_combination_is_set_apart():
    rows = [("*", "*"), ("*", "***"), ("*", "x"), ("", "x"), ("", "")]
    [risk] = scenario_report(tuples_of(rows, ("p", "q")), [Scenario(("p", "q"))]).scenarios
    assert (risk.at_risk, risk.combinations) == (3, 3)
    assert (risk.apart_rows, risk.apart_units) == (2, 2)


def test_a_huge_cross_table_lists_only_what_occurs():
    rows = [(f"{i:04}", f"{(i * 7) % 500:04}") for i in range(500)]
    table = frequency_table(tuples_of(rows, ("p", "q")), Scenario(("p", "q")))
    assert (table.cells, len(table.lines), table.complete) == (250_000, 500, False)
    assert all(line.at_risk for line in table.lines)


CELLS = st.sampled_from(["a", "b", "c", "*", "**", ""])
TABLES = st.integers(2, 5).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=40))


@given(TABLES, st.sampled_from(["1", "0.5", "0.3", "1/3", "0.2", "0.05"]), st.data(), st.booleans())
def test_every_way_of_counting_agrees_with_plain_dictionaries(rows, threshold, data, keyed):
    keys = st.lists(st.sampled_from("pqrstuvw"), min_size=len(rows), max_size=len(rows))
    persons = data.draw(keys) if keyed else None
    names = tuple(f"v{i}" for i in range(len(rows[0])))
    tuples = tuples_of(rows, names, persons)
    asked = [Scenario(chosen, Fraction(threshold)) for size in range(1, len(names) + 1)
             for chosen in itertools.combinations(names, size)]  # fmt: skip
    for small, dense in ((10**9, 4), (0, 10**6), (0, 0)):  # the plain way, full tables, hashed keys
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_combinations, "_SMALL_WORK", small)
            patch.setattr(_combinations, "_DENSE", dense)
            report = scenario_report(tuples, asked)
        assert len(report.scenarios) == len(asked)
        for risk in report.scenarios:
            columns = [names.index(name) for name in risk.scenario.variables]
            found = (risk.at_risk, risk.combinations, risk.combinations_at_risk)
            assert found == slow_figures(rows, columns, Fraction(threshold), persons)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=7), st.integers(0, 400), st.integers(2, 3))
def test_gathered_combinations_hold_every_wanted_one_once(sizes, room, widest):
    wanted = [chosen for size in range(2, min(widest, len(sizes)) + 1)
              for chosen in itertools.combinations(range(len(sizes)), size)]  # fmt: skip
    seen = []
    for parent, inside in _combinations.cover(wanted, sizes, room):
        assert parent in wanted or np.prod([sizes[column] for column in parent]) <= room
        assert all(set(columns) <= set(parent) for columns in inside)
        seen += inside
    assert sorted(seen) == sorted(wanted)


def test_progress_ends_at_one():
    told: list[float] = []
    names = ("a", "b", "c")
    asked = [Scenario(chosen) for chosen in all_combinations(names, 3)]
    scenario_report(tuples_of([("x", "y", "z")], names), asked, progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.requirement("A15", "A16")
def test_levels_of_schooling_stand_in_their_order_without_being_told():
    table = frequency_table(tuples_of(guide_rows(), NAMES), Scenario(NAMES))
    assert [(*line.values, line.frequency) for line in table.lines] == [line[:3] for line in GUIDE]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (("", "*", "POSGRADO", "Técnico", "primaria"), ["", "*", "primaria", "Técnico", "POSGRADO"]),
        (("abril", "enero", "Marzo"), ["enero", "Marzo", "abril"]),
        (("Afro", "Ninguno", "Primaria"), None),  # one word that no scale has
        (("Primaria",), None),
    ],
)
def test_a_known_order_needs_every_value_in_one_scale(values, order):
    assert sort_by_known_scale(values) == order


@pytest.mark.parametrize("written", ["1e-400000", "1e999999999", "9" * 400, "", ",", ".", "1/", "-0.3", "0.3.1", "²"])
def test_a_criterion_that_would_never_be_worked_out_is_none(written):
    assert exact_threshold(written) is None


@pytest.mark.parametrize(
    ("given", "shown"), [("0.3", "0,3"), ("1/3", "1/3"), ("0.3333333333333333", "1/3"), ("0.05", "0,05")]
)
def test_a_criterion_is_shown_with_as_few_decimals_as_it_needs(given, shown):
    with messages.speaking("es"):
        assert threshold_text(given) == shown
