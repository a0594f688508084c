"""The measures against the norm's own example, slow references and the laws they must obey."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import messages
from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.model import CompiledHierarchy
from celosia.hierarchy.rows import from_rows
from celosia.model.reports.measures import Undefined
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import ValueOrder
from celosia.risk.measures import MEASURES, measure
from celosia.tuples.table import Tuples
from tests.risk import slow_measures as slow
from tests.risk.rows import Row, measured, tuples_of

SENSITIVE_FIGURES = [
    "l",
    "l_without_empty",
    "entropy_l",
    "recursive_c",
    "t_equal",
    "t_ordered",
    "alpha",
    "beta_basic",
    "beta_enhanced",
    "delta",
]
COLECISTECTOMIA = "Colecistectomía por videolaparoscopía, proc. completo"
ESTENOSIS = "Estenosis laringotraqueales y/o faríngeas, trat. quir."
TABLE_1 = [
    ("G402", ""),
    ("I213", ""),
    ("K810", COLECISTECTOMIA),
    ("K810", COLECISTECTOMIA),
    ("S128", ESTENOSIS),
]
TABLE_1_QUASI = ("Hombre", "30 a 39", "Chileno", "Puerto Montt", "FONASA")

quasi_rows = st.tuples(st.sampled_from(["a", "b", "", "*"]), st.sampled_from(["1", "2", "***"]))
sensitive_values = st.sampled_from(["A00", "B20", "C34", "", "*", "****"])
tables = st.lists(st.tuples(quasi_rows, sensitive_values), min_size=1, max_size=30)
# Few classes and values, so that every value often occurs in every class.
dense_tables = st.lists(st.tuples(st.tuples(st.sampled_from("ab")), st.sampled_from("XY")), min_size=4, max_size=30)
numbers = st.lists(
    st.tuples(st.tuples(st.sampled_from("abc")), st.sampled_from(["9", "10", "-2", "2,5", ""])),
    min_size=1,
    max_size=30,
)
Rows = list[tuple[Row, str]]


def split(rows: Rows) -> tuple[list[Row], list[str]]:
    return [row for row, _ in rows], [value for _, value in rows]


@pytest.mark.requirement("M09", "M10", "M11")
def test_table_1_of_the_norm_has_k_5_l_4_for_diagnosis_and_3_or_2_for_intervention() -> None:
    names = ("Sexo", "Edad", "País de origen", "Comuna", "Previsión")
    diagnosis = tuples_of([(*TABLE_1_QUASI, one) for one, _ in TABLE_1], (*names, "Diagnóstico 1"))
    intervention = tuples_of([(*TABLE_1_QUASI, two) for _, two in TABLE_1], (*names, "Intervención principal"))
    report = measure(
        tuples_of([TABLE_1_QUASI] * 5, names),
        {"Diagnóstico 1": diagnosis, "Intervención principal": intervention},
    )
    assert (report.k, report.classes, report.rows) == (5, 1, 5)
    assert report.figure("l", "Diagnóstico 1") == 4
    assert report.figure("l", "Intervención principal") == 3
    assert report.figure("l_without_empty", "Intervención principal") == 2
    assert report.as_dict()["reading"]["l_empty"] == "value"


@pytest.mark.requirement("M09")
@given(tables)
def test_class_figures_equal_a_plain_count(rows: Rows) -> None:
    quasi, _ = split(rows)
    sizes = slow.class_sizes(quasi)
    report = measured(quasi)
    assert report.classes == len(sizes)
    assert report.k == min(sizes, default=None)
    assert report.unique_rows == sizes.count(1)
    assert report.rows_below == {n: sum(size for size in sizes if size < n) for n in (2, 3, 5, 10)}
    assert report.suppressed.rows == len(rows) - sum(sizes)


@pytest.mark.requirement("X24")
@given(st.lists(st.tuples(quasi_rows, st.sampled_from("pqrst")), min_size=1, max_size=25))
def test_k_in_persons_counts_each_person_once_per_class(rows: Rows) -> None:
    quasi, persons = split(rows)
    report = measured(quasi, persons=persons)
    assert report.persons == len(set(persons))
    assert report.k_persons == min(slow.class_persons(quasi, persons), default=None)
    hidden = {person for row, person in rows if slow.suppressed(row)}
    assert report.suppressed.persons == len(hidden)


@pytest.mark.requirement("X24")
def test_twenty_rows_of_two_persons_are_k_20_and_k_persons_2() -> None:
    report = measured([("a",)] * 20, persons=["p", "q"] * 10)
    assert (report.k, report.k_persons, report.persons) == (20, 2, 2)


@pytest.mark.requirement("M10", "M11", "X3", "X4")
@given(tables)
def test_diversity_equals_its_slow_reference(rows: Rows) -> None:
    quasi, values = split(rows)
    classes = slow.class_counters(quasi, values)
    figures = measured(quasi, values).sensitive["S"].figures
    if not classes:
        assert set(figures.values()) == {None}
        return
    assert figures["l"] == min(len(counter) for counter in classes)
    assert figures["l_without_empty"] == min(len(counter.keys() - {""}) for counter in classes)
    assert figures["entropy_l"] == pytest.approx(slow.entropy_l(classes), abs=1e-12)
    assert figures["alpha"] == pytest.approx(float(slow.alpha(classes)), abs=1e-12)
    expected = slow.recursive_c(classes)
    assert figures["recursive_c"] == (None if expected is None else pytest.approx(float(expected)))


@given(tables)
def test_equal_and_text_ordered_distances_equal_a_transport_problem(rows: Rows) -> None:
    quasi, values = split(rows)
    classes, p = slow.class_counters(quasi, values), slow.visible(values)
    figures = measured(quasi, values).sensitive["S"].figures
    if classes:
        assert figures["t_equal"] == pytest.approx(float(slow.t_equal(classes, p)), abs=1e-12)
        distance = slow.ordered_distance(list(p), str)
        assert figures["t_ordered"] == pytest.approx(slow.t_moved(classes, p, distance), abs=1e-7)


@given(numbers)
def test_numbers_are_ordered_as_numbers_with_the_empty_cell_first(rows: Rows) -> None:
    quasi, values = split(rows)
    classes, p = slow.class_counters(quasi, values), slow.visible(values)
    measures = measured(quasi, values).sensitive["S"]

    def as_number(value: str) -> float:
        return float(value.replace(",", ".")) if value else -math.inf

    distance = slow.ordered_distance(list(p), as_number)
    assert measures.figures["t_ordered"] == pytest.approx(slow.t_moved(classes, p, distance), abs=1e-7)
    assert measures.order is (ValueOrder.NUMERIC if set(values) != {""} else ValueOrder.TEXT)


def test_ordered_distance_of_the_salaries_of_li_et_al() -> None:
    # Section 4.2 of the paper: salaries 3k…11k; {3k,4k,5k} is 0.375 away from all, {6k,8k,11k} 0.167.
    salaries = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    classes = ["low"] * 3 + ["spread"] * 3 + ["rest"] * 3
    report = measured([(name,) for name in classes], [str(salary) for salary in salaries])
    assert report.figure("t_ordered", "S") == pytest.approx(0.375)
    spread = measured(
        [("x" if name == "spread" else "all",) for name in [*classes, *classes]],
        [str(salary) for salary in [*salaries, *salaries]],
    )
    assert spread.sensitive["S"].order is ValueOrder.NUMERIC
    assert spread.figure("t_ordered", "S") == pytest.approx(0.167, abs=5e-4)


@given(st.one_of(dense_tables, tables))
def test_likeness_and_disclosure_equal_their_slow_references(rows: Rows) -> None:
    quasi, values = split(rows)
    classes, p = slow.class_counters(quasi, values), slow.visible(values)
    measures = measured(quasi, values).sensitive["S"]
    if not classes:
        assert measures.undefined == dict.fromkeys(SENSITIVE_FIGURES, Undefined.NO_CLASS)
        return
    beta = max((gain for _, gain in slow.gains(classes, p)), default=0)
    assert measures.figures["beta_basic"] == pytest.approx(float(beta), abs=1e-12)
    enhanced = slow.beta_enhanced(classes, p)
    assert measures.figures["beta_enhanced"] == (
        None if enhanced is None else pytest.approx(float(enhanced), abs=1e-12)
    )
    assert (measures.undefined.get("beta_enhanced") is Undefined.NO_BETA) == (enhanced is None)
    delta = slow.delta(classes, p)
    assert measures.figures["delta"] == (None if math.isinf(delta) else pytest.approx(delta, abs=1e-12))
    assert (measures.undefined.get("delta") is Undefined.ABSENT_VALUE) == math.isinf(delta)


def test_enhanced_beta_exists_only_where_every_gain_stays_under_minus_ln_p() -> None:
    # p(X) = 1/2 and -ln p = 0.693: a class all X gains 1, more than any beta can allow.
    alone = measured([("a",)] * 2 + [("b",)] * 2, ["X", "X", "Y", "Y"]).sensitive["S"]
    assert alone.figures["beta_basic"] == 1.0
    assert alone.figures["beta_enhanced"] is None
    mild = measured([("a",)] * 5 + [("b",)] * 5, list("XXXYYXXYYY")).sensitive["S"]
    assert mild.figures["beta_enhanced"] == mild.figures["beta_basic"] == pytest.approx(0.2)


@pytest.mark.parametrize("rows", [10, 10_000, 100_000_000])
def test_a_class_of_one_value_never_has_an_enhanced_beta_however_large_the_table(rows: int) -> None:
    counts = np.array([1, rows - 2, 1], np.int64)
    table = Tuples(("q", "S"), (("a", "b"), ("X", "Y")), np.array([[0, 0], [1, 0], [1, 1]], np.int32), counts)
    quasi = Tuples(("q",), (("a", "b"),), np.array([[0], [1]], np.int32), np.array([1, rows - 1], np.int64))
    assert measure(quasi, {"S": table}).figure("beta_enhanced", "S") is None


TREE = {"A00": ("A", "low"), "B20": ("B", "low"), "C34": ("C", "high"), "C50": ("C", "high")}


def compiled(vocabulary: tuple[str, ...], rooted: bool) -> CompiledHierarchy:
    """TREE over a vocabulary, with or without a root; masked and empty values go under «high»."""
    leaves = {**TREE, "": ("-", "high"), "*": ("-", "high")}
    rows = [(leaf, *labels, *(["*"] if rooted else [])) for leaf, labels in leaves.items()]
    return compile_for(from_rows("S", rows), vocabulary)


def tree_distance(a: str, b: str) -> float:
    """Height of the lowest common ancestor over the height of the tree."""
    ancestors = [(value, *TREE.get(value, ("-", "high")), "*") for value in (a, b)]
    return next(level for level in range(4) if ancestors[0][level] == ancestors[1][level]) / 3


@given(st.lists(st.tuples(quasi_rows, st.sampled_from([*TREE, "", "*"])), min_size=1, max_size=25), st.booleans())
def test_hierarchical_distance_equals_a_transport_problem_over_the_tree(rows: Rows, rooted: bool) -> None:
    quasi, values = split(rows)
    classes, p = slow.class_counters(quasi, values), slow.visible(values)
    table = tuples_of([(*row, value) for row, value in rows], ("q0", "q1", "S"))
    hierarchies = {"S": compiled(table.vocabularies[-1], rooted)}
    figures = measure(tuples_of(quasi, ("q0", "q1")), {"S": table}, "own", hierarchies).sensitive["S"].figures
    one_top = len({TREE.get(value, ("-", "high"))[1] for value in values}) == 1
    if classes and (rooted or not one_top):  # a tree that lacks a root is given one, of the same height
        expected = slow.t_moved(classes, p, tree_distance)
        assert figures["t_hierarchical"] == pytest.approx(expected, abs=1e-7)
    elif not classes:
        assert figures["t_hierarchical"] is None


@given(tables)
def test_a_flat_hierarchy_is_the_equal_distance(rows: Rows) -> None:
    quasi, _ = split(rows)
    table = tuples_of([(*row, value) for row, value in rows], ("q0", "q1", "S"))
    vocabulary = table.vocabularies[-1]
    flat = CompiledHierarchy("S", (vocabulary,), (np.arange(len(vocabulary), dtype=np.int32),), (), 0)
    figures = measure(tuples_of(quasi, ("q0", "q1")), {"S": table}, "own", {"S": flat}).sensitive["S"].figures
    if figures["t_equal"] is not None:
        assert figures["t_hierarchical"] == pytest.approx(figures["t_equal"], abs=1e-12)


def test_the_hierarchical_figure_appears_only_with_a_hierarchy() -> None:
    assert list(measured([("a",)], ["X"]).sensitive["S"].figures) == SENSITIVE_FIGURES


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(rows: Rows, chance: random.Random) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert measured(*split(rows)).as_dict() == measured(*split(shuffled)).as_dict()


@given(tables)
def test_doubling_every_row_doubles_k_and_leaves_the_shares(rows: Rows) -> None:
    once, twice = measured(*split(rows)), measured(*split([*rows, *rows]))
    assert twice.k == (None if once.k is None else 2 * once.k)
    assert twice.sensitive["S"].figures == pytest.approx(once.sensitive["S"].figures)


@given(dense_tables)
def test_measures_stand_in_their_known_order(rows: Rows) -> None:
    figures = measured(*split(rows)).sensitive["S"].figures
    assert 1 <= figures["entropy_l"] <= figures["l"] + 1e-9
    assert figures["alpha"] >= 1 / figures["entropy_l"] - 1e-9
    assert 0 <= figures["t_ordered"] <= figures["t_equal"] + 1e-12 <= 1 + 1e-9


@pytest.mark.requirement("X6")
def test_fully_masked_rows_form_no_class_and_are_measured_apart() -> None:
    quasi = [("*", "*****"), ("**", "*"), ("a", "*"), ("a", "*"), ("b", "1")]
    report = measured(quasi, ["X", "Y", "X", "Y", "X"], persons=["p", "p", "q", "r", "s"])
    assert (report.rows, report.classes, report.k, report.unique_rows) == (5, 2, 1, 1)
    assert (report.suppressed.rows, report.suppressed.persons) == (2, 1)
    assert report.suppressed.sensitive["S"].figures["l"] == 2
    assert report.suppressed.sensitive["S"].figures["alpha"] == 0.5


@pytest.mark.requirement("X4")
def test_masked_values_are_no_values_and_a_fully_masked_class_is_set_apart() -> None:
    quasi = [("full",)] * 3 + [("partly",)] * 3 + [("plain",)] * 3
    values = ["*", "*", "***", "X", "Y", "*", "X", "Y", "Z"]
    measures = measured(quasi, values).sensitive["S"]
    assert (measures.masked.rows, measures.masked.classes_fully, measures.masked.classes_partly) == (4, 1, 1)
    assert measures.figures["l"] == 2
    assert measures.figures["alpha"] == 0.5
    assert measured([("a",)] * 3, ["X", "*", "*"]).figure("l", "S") == 1


def test_the_suppressed_group_counts_in_the_reference_distribution() -> None:
    report = measured([("a",)] * 2 + [("*",)] * 2, ["X", "X", "Y", "Y"])
    assert report.figure("t_equal", "S") == 0.5
    assert report.suppressed.sensitive["S"].figures["t_equal"] == 0.5


def test_an_empty_table_has_no_k_and_no_figures() -> None:
    report = measured([])
    assert (report.rows, report.classes, report.k, report.unique_rows) == (0, 0, None, 0)
    assert report.undefined == {"k": Undefined.NO_CLASS}
    assert set(report.sensitive["S"].figures.values()) == {None}


def test_one_row_is_unique_and_says_everything() -> None:
    report = measured([("a",)], ["X"], persons=["p"])
    assert (report.k, report.k_persons, report.unique_rows, report.classes) == (1, 1, 1, 1)
    figures = report.sensitive["S"].figures
    assert [figures[name] for name in SENSITIVE_FIGURES] == [1, 1, 1.0, None, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_all_missing_is_one_class_with_one_value_and_none_without_empties() -> None:
    report = measured([("", "")] * 4, [""] * 4)
    assert (report.k, report.classes) == (4, 1)
    assert (report.figure("l", "S"), report.figure("l_without_empty", "S")) == (1, 0)


def test_all_masked_leaves_nothing_to_measure() -> None:
    report = measured([("*", "**")] * 4, ["*"] * 4, persons=list("pqrr"))
    assert (report.rows, report.classes, report.k, report.k_persons) == (4, 0, None, None)
    assert report.undefined == dict.fromkeys(("k", "k_persons"), Undefined.NO_CLASS)
    assert (report.suppressed.rows, report.suppressed.persons) == (4, 3)
    assert report.sensitive["S"].undefined == dict.fromkeys(SENSITIVE_FIGURES, Undefined.NO_CLASS)
    assert report.suppressed.sensitive["S"].masked.classes_fully == 1


def test_a_code_of_only_digits_stays_text_and_unknown_codes_are_values() -> None:
    report = measured([("05302",), ("5302",), ("99999",)], ["1", "01", "99999"])
    assert (report.classes, report.k) == (3, 1)
    assert report.sensitive["S"].order is ValueOrder.NUMERIC


def test_values_of_a_shared_vocabulary_that_do_not_occur_change_nothing() -> None:
    table = tuples_of([("a", "X"), ("b", "Y")], ("q0", "S"))
    wide = table.__class__(
        table.names, (table.vocabularies[0], ("X", "Y", "Z")), table.codes, table.rows, table.persons
    )
    quasi = tuples_of([("a",), ("b",)], ("q0",))
    assert measure(quasi, {"S": wide}).as_dict() == measure(quasi, {"S": table}).as_dict()


def test_an_unknown_reading_of_missing_is_refused_by_name() -> None:
    with pytest.raises(ValueOutOfRange) as refused:
        measured([("a",)], missing="ignore")
    assert "own, wildcard" in str(refused.value)


def test_tables_that_do_not_belong_together_are_our_own_fault() -> None:
    with pytest.raises(AssertionError):
        measure(tuples_of([("a",)], ("q0",)), {"S": tuples_of([("a", "X")] * 2, ("q0", "S"))})


def test_a_table_out_of_order_is_our_own_fault_and_never_a_wrong_figure() -> None:
    table = tuples_of([("a", "X"), ("a", "Y"), ("b", "X")], ("q0", "S"))
    mixed = Tuples(table.names, table.vocabularies, table.codes[[0, 2, 1]], table.rows)
    with pytest.raises(AssertionError):
        measure(tuples_of([("a",), ("a",), ("b",)], ("q0",)), {"S": mixed})


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_measure_and_reason_is_defined_in_words(language: str) -> None:
    with messages.speaking(language):
        for one in MEASURES.values():
            assert all(messages.has(f"{one.key}.{part}") for part in ("name", "definition", "source")), one.id
        assert all(messages.has(f"measures.undefined.{reason}") for reason in Undefined)


def test_the_registry_and_the_report_name_the_same_figures() -> None:
    report = measured([("a",)], ["X"])
    table = [one.id for one in MEASURES.values() if one.scope == "table"]
    assert [report.figure(name) for name in table] == [1, 1, None, 1, 1, 1, 1, 1]
    assert [one.id for one in MEASURES.values() if one.scope == "sensitive"] == SENSITIVE_FIGURES
