"""Special uniques: the reference figures, the definition tried on every small table, and what is refused."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.kernels import suda
from celosia.model.errors import UnknownVariable
from celosia.model.reports.special_uniques import Scoring
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.assessment.errors import ConstantVariable
from celosia.risk.errors import TooManyCombinations
from celosia.risk.special_uniques import SpecialUniques as Found
from celosia.risk.special_uniques import (
    refuse_too_many_sets,
    search_order,
    set_weights,
    special_uniques,
    summary,
    unique_sets_by_tuple,
    visible_codes,
)
from celosia.tuples.table import Tuples
from tests.risk.rows import Row, tuples_of

K5 = ("urbrur", "roof", "walls", "water", "sex")
CASES = {
    "suda_toy": (("a", "b", "c", "d"), "original"),
    "suda_toy_newscore": (("a", "b", "c", "d"), "new"),
    "suda_testdata2": (K5, "original"),
    "suda_testdata_K5": (K5, "original"),
}
cells = st.sampled_from(["a", "b", "c", "", "*"])
tables = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=12))


def names_of(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(f"v{i}" for i in range(len(rows[0])))


def row_places(rows: Sequence[Row], tuples: Tuples) -> list[int]:
    """The tuple of each row."""
    texts = [
        tuple(vocabulary[code] for vocabulary, code in zip(tuples.vocabularies, codes, strict=True))
        for codes in tuples.codes.tolist()
    ]
    place = {text: i for i, text in enumerate(texts)}
    return [place[row] for row in rows]


def minimal_sample_uniques(tuples: Tuples, max_size: int | None = None) -> list[tuple[int, frozenset[str]]]:
    """Each minimal unique that the compiled search finds, as its tuple and its variables."""
    most = refuse_too_many_sets(len(tuples.names), max_size)
    codes = visible_codes(tuples)
    order = search_order(codes)
    sets, ends = unique_sets_by_tuple(codes[order], tuples.rows == 1, most)
    minimal = suda.minimal_sets(sets, ends)
    owners = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))[minimal]
    names = [tuples.names[variable] for variable in order]
    return [
        (int(owner), frozenset(name for bit, name in enumerate(names) if int(variables) >> bit & 1))
        for owner, variables in zip(owners, sets[minimal], strict=True)
    ]


def slow_minimal_uniques(rows: Sequence[Row]) -> dict[int, set[frozenset[str]]]:
    """The definition, row by row and set by set: a hidden cell takes part in nothing."""
    names, found = names_of(rows), {}
    for i, row in enumerate(rows):
        sets: set[frozenset[str]] = set()
        shown = [v for v, cell in enumerate(row) if cell not in ("", "*")]
        for size in range(1, len(shown) + 1):
            for chosen in combinations(shown, size):
                held = frozenset(names[v] for v in chosen)
                shared = any(j != i and all(other[v] == row[v] for v in chosen) for j, other in enumerate(rows))
                if not shared and not any(smaller < held for smaller in sets):
                    sets.add(held)
        if sets:
            found[i] = sets
    return found


@given(tables)
def test_the_minimal_uniques_are_those_of_the_definition(rows: list[Row]) -> None:
    tuples = tuples_of(rows, names_of(rows))
    places = row_places(rows, tuples)
    found: dict[int, set[frozenset[str]]] = {}
    for owner, held in minimal_sample_uniques(tuples):
        assert held not in found.setdefault(places.index(owner), set())
        found[places.index(owner)].add(held)
    assert found == slow_minimal_uniques(rows)


@given(tables, st.sampled_from(list(Scoring)))
def test_scores_and_parts_are_sums_over_the_minimal_uniques(rows: list[Row], scoring: Scoring) -> None:
    names = names_of(rows)
    tuples = tuples_of(rows, names)
    found, weights = special_uniques(tuples, scoring=scoring), set_weights(len(names), scoring)
    places = row_places(rows, tuples)
    slow = slow_minimal_uniques(rows)
    for i, place in enumerate(places):
        sets = slow.get(i, set())
        total = math.fsum(weights[len(held) - 1] for held in sets)
        assert found.score[place] == pytest.approx(total)
        for v, name in enumerate(names):
            part = math.fsum(weights[len(held) - 1] for held in sets if name in held)
            assert found.contribution[place, v] * total == pytest.approx(part)
        assert found.by_size[place].sum() == len(sets)


@given(tables, st.integers(1, 4))
def test_a_maximum_size_leaves_out_larger_sets_and_nothing_else(rows: list[Row], most: int) -> None:
    tuples = tuples_of(rows, names_of(rows))
    every = minimal_sample_uniques(tuples)
    assert sorted((o, sorted(s)) for o, s in minimal_sample_uniques(tuples, most)) == sorted(
        (o, sorted(s)) for o, s in every if len(s) <= most
    )


def reference(shared: Path, case: str) -> tuple[list[Row], Tuples, Found, dict]:
    folder = shared / "reference" / "sdcmicro"
    names, scoring = CASES[case]
    listed = json.loads((folder / "cases.json").read_text("utf-8"))["cases"]
    [told] = [one for one in listed if one["id"] == case]
    with (folder / "data" / told["input"]).open(encoding="utf-8", newline="") as file:
        rows = [tuple(line[name] for name in names) for line in csv.DictReader(file)]
    tuples = tuples_of_many(rows, names)
    return rows, tuples, special_uniques(tuples, scoring=scoring), told["output"]


def tuples_of_many(rows: Sequence[Row], names: Sequence[str]) -> Tuples:
    from collections import Counter

    count = Counter(rows)
    distinct = sorted(count)
    table = tuples_of(distinct, names)
    return Tuples(table.names, table.vocabularies, table.codes, np.array([count[row] for row in distinct], np.int64))


@pytest.mark.parametrize("case", CASES)
def test_the_summary_is_that_of_the_reference(shared: Path, case: str) -> None:
    _, tuples, found, told = reference(shared, case)
    report = summary(tuples, found)
    assert report.dis_bins == tuple(told["dis_bins"])
    assert sum(report.dis_bins[1:]) == told["n_score_pos"]
    assert (report.score_total, report.score_maximum) == pytest.approx((told["sum_score"], told["max_score"]), abs=1e-5)
    assert (report.dis_total, report.dis_maximum) == pytest.approx((told["sum_dis"], told["max_dis"]), abs=1e-5)
    shares = {part["variable"]: part["contribution"] / 100 for part in told["attribute_contributions"]}
    assert report.contributions == pytest.approx(shares, abs=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_every_row_has_the_score_of_the_reference(shared: Path, case: str) -> None:
    rows, tuples, found, _ = reference(shared, case)
    places = row_places(rows, tuples)
    with (shared / "reference" / "sdcmicro" / "rows" / f"{case}.csv").open(encoding="utf-8", newline="") as file:
        told = list(csv.DictReader(file))
    assert len(told) == len(rows)
    for place, line in zip(places, told, strict=True):
        assert found.score[place] == pytest.approx(float(line["score"]), abs=1e-5)
        assert found.dis[place] == pytest.approx(float(line["dis"]), abs=1e-5)
        for v, name in enumerate(tuples.names):
            assert found.contribution[place, v] == pytest.approx(float(line[f"{name}_contribution"]), abs=1e-5)


def test_a_missing_cell_neither_matches_nor_singles_out() -> None:
    rows = [("a", "x"), ("a", ""), ("b", "x"), ("b", "y")]
    tuples = tuples_of(rows, ("p", "q"))
    found = {(tuples.codes[o].tolist()[0], tuple(sorted(s))) for o, s in minimal_sample_uniques(tuples)}
    # (a, x) is unique on both variables though (a, missing) might be its twin; (a, missing) is unique on nothing.
    assert found == {(0, ("p", "q")), (1, ("p", "q")), (1, ("q",))}


def test_the_summary_counts_rows_by_size() -> None:
    rows = [("a", "x"), ("a", "x"), ("b", "x"), ("a", "y"), ("b", "y"), ("c", "y")]
    report = summary(tuples := tuples_of(rows, ("p", "q")), special_uniques(tuples)).as_dict()
    assert report["format"] == "celosia/special-uniques/1"
    assert (report["unit"], report["rows"], report["unique_rows"], report["pair_rows"]) == ("rows", 6, 4, 2)
    assert report["sizes"] == [
        {"size": 1, "sets": 1, "rows": 1, "smallest": 1},
        {"size": 2, "sets": 3, "rows": 3, "smallest": 3},
    ]
    assert report["contributions"] == {"p": 1.0, "q": 0.75}
    assert report["persons"] is None


def test_a_person_with_two_equal_rows_is_not_unique_by_rows_and_the_report_says_so() -> None:
    tuples = tuples_of([("a",), ("a",), ("b",), ("b",)], ("p",), persons=["1", "1", "2", "3"])
    report = summary(tuples, special_uniques(tuples))
    assert report.special_rows == 0
    assert report.as_dict()["persons"] == {"persons": 3, "single_person_rows": 2}


def test_a_table_in_which_nobody_is_unique_has_no_parts() -> None:
    tuples = tuples_of([("a",)] * 3, ("p",))
    report = summary(tuples, special_uniques(tuples))
    assert (report.special_rows, report.score_total, report.contributions) == (0, 0, {"p": None})
    assert report.dis_bins[0] == 3


def test_an_empty_table_gives_an_empty_report() -> None:
    tuples = Tuples(("p",), ((),), np.zeros((0, 1), np.int32), np.zeros(0, np.int64))
    assert summary(tuples, special_uniques(tuples)).special_rows == 0


def test_no_value_is_in_the_report() -> None:
    tuples = tuples_of([("PLANTADO-1",), ("PLANTADO-2",)], ("p",))
    found = special_uniques(tuples)
    assert "PLANTADO" not in json.dumps(summary(tuples, found).as_dict()) + repr(found)


def test_more_than_twenty_variables_need_a_maximum_size() -> None:
    rows = [tuple("a" * 21), tuple("b" * 21)]
    tuples = tuples_of(rows, [f"v{i}" for i in range(21)])
    with pytest.raises(TooManyCombinations) as refused:
        special_uniques(tuples)
    assert "tamaño máximo" in str(refused.value)
    assert special_uniques(tuples, max_size=2).by_size.tolist() == [[21, 0], [21, 0]]


@pytest.mark.parametrize("wrong", [{"max_size": 0}, {"fraction": 0}, {"fraction": 1.5}, {"scoring": "otro"}])
def test_a_setting_out_of_range_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueOutOfRange):
        special_uniques(tuples_of([("a",), ("b",)], ("p",)), **wrong)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "encuesta.csv"
    rows = ["p1,H,05101,a", "p2,M,05101,a", "p2,M,05101,a", "p3,H,05109,a", "p4,H,05101,a"]
    path.write_text("id,sexo,comuna,pais\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def test_the_verb_reads_a_file_and_counts_its_rows(survey: Path) -> None:
    from celosia.pipeline.assessment.special_uniques import special_uniques as verb

    report = verb(survey, ["sexo", "comuna"], person="id")
    assert (report.rows, report.unique_rows, report.special_rows) == (5, 1, 1)
    assert report.contributions == {"sexo": 0.0, "comuna": 1.0}
    assert report.repeated is not None
    assert report.repeated.single_person_rows == 3  # the row of p3, and both of p2


def test_the_rows_are_written_only_where_asked_and_for_the_owner_alone(survey: Path, tmp_path: Path) -> None:
    from celosia.pipeline.assessment.special_uniques import special_uniques as verb

    folder = tmp_path / "privado"
    verb(survey, ["sexo", "comuna"], rows_into=folder)
    [path] = folder.iterdir()
    assert path.stat().st_mode & 0o077 == folder.stat().st_mode & 0o077 == 0
    lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    assert lines[0] == ["celosia/special-rows/1"]
    assert lines[1] == ["sexo", "comuna", "smallest", "sets", "score", "dis", *_contributions("sexo", "comuna")]
    assert lines[2][:5] == ["H", "05109", "1", "1", "1.0"]
    assert len(lines) == 3


def _contributions(*names: str) -> list[str]:
    return [f"contribution_{name}" for name in names]


def test_a_variable_of_one_value_is_refused_by_name(survey: Path) -> None:
    from celosia.pipeline.assessment.special_uniques import special_uniques as verb

    with pytest.raises(ConstantVariable) as refused:
        verb(survey, ["sexo", "pais"])
    assert "«pais»" in str(refused.value)


def test_an_unknown_variable_is_refused(survey: Path) -> None:
    from celosia.pipeline.assessment.special_uniques import special_uniques as verb

    with pytest.raises(UnknownVariable):
        verb(survey, ["sexo", "region"])
