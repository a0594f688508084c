"""What two releases of the same data give away together."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.attacks.attack_input import View
from celosia.attacks.over_time import OverTime, class_changes, differencing, over_time
from celosia.hierarchy.rows import from_rows
from celosia.model.reports.attacks import Finding

KEY = ("Fecha", "Sexo", "Edad", "EdadTipo", "Codcom")


def view(names: Sequence[str], rows: Sequence[Sequence[str]], persons: Sequence[int] | None = None) -> View:
    labels, codes = [], []
    for place in range(len(names)):
        words = sorted({row[place] for row in rows})
        position = {word: code for code, word in enumerate(words)}
        labels.append(tuple(words))
        codes.append([position[row[place]] for row in rows])
    owners = None if persons is None else np.asarray(persons, np.int64)
    return View(tuple(names), tuple(labels), np.asarray(codes, np.int64).T.reshape(len(rows), len(names)), owners)


def register(count: int, seed: int) -> list[list[str]]:
    rng = np.random.Generator(np.random.Philox(seed))
    return [
        [f"{rng.integers(1, 17):02d}{rng.integers(100, 130)}", str(rng.integers(0, 100)), "HM"[rng.integers(2)],
         f"{'ABCDEFGH'[rng.integers(8)]}{rng.integers(10, 99)}"]
        for _ in range(count)
    ]  # fmt: skip


NAMES = ("comuna", "edad", "sexo", "diagnostico")


def found(result: OverTime, kind: str) -> dict[str, int]:
    return {finding.columns[0]: finding.cells for finding in result.findings if finding.kind == kind}


# --- real releases --------------------------------------------------------------------------------------


def deaths(shared: Path, number: int) -> tuple[list[str], list[list[str]]]:
    with (shared / "data" / f"cl_deis_deaths_2024_release{number}.csv").open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


@pytest.mark.requirement("M34")
def test_the_deaths_of_two_weekly_releases_are_followed_and_nine_diagnoses_changed(shared: Path) -> None:
    first, second = (view(*deaths(shared, number)) for number in (1, 2))
    result = over_time(first, second, KEY, seed=1)
    followed = result.estimates[0]
    assert followed.successes == followed.detail["followed"] == 20_525
    assert followed.works
    assert found(result, "value_changed")["ID_DP"] == 9
    assert [first.labels[0][code] for code in first.codes[result.pairs[0][:5], 0]] == ["2024"] * 5


def generalised(header: list[str], rows: list[list[str]]) -> View:
    """Quarter, sex, bands of twenty years and region; what is rarer than five becomes asterisks."""
    place = [header.index(name) for name in KEY]
    made = []
    for row in rows:
        day, sex, age, unit, comuna = (row[at] for at in place)
        years = int(age) if unit == "1" else 0
        band = "80+" if years >= 80 else f"{years // 20 * 20} a {years // 20 * 20 + 19}"
        made.append((f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}", sex, band, comuna[:2] + "***"))
    counts = Counter(made)
    names = ("Fecha", "Sexo", "Edad", "Codcom")
    return view(names, [row if counts[row] >= 5 else ("*",) * 4 for row in made])


@pytest.mark.requirement("M34")
def test_the_same_deaths_generalised_cannot_be_followed(shared: Path) -> None:
    first, second = (generalised(*deaths(shared, number)) for number in (1, 2))
    followed = over_time(first, second, first.names, seed=1).estimates[0]
    assert followed.excess is not None
    assert abs(followed.excess) < 0.001
    assert not followed.works


# --- following ------------------------------------------------------------------------------------------


def test_masked_cells_that_a_sister_file_shows_are_counted() -> None:
    rows = register(3_000, 1)
    masked = [["*" if n % 10 == 0 else row[0], *row[1:]] for n, row in enumerate(rows)]
    result = over_time(view(NAMES, masked), view(NAMES, rows), NAMES, seed=1)
    shown = found(result, "masked_cell_shown_later")
    assert set(shown) == {"comuna"}
    assert shown["comuna"] > 200
    back = over_time(view(NAMES, rows), view(NAMES, masked), NAMES, seed=1)
    assert found(back, "masked_cell_shown_earlier").keys() == {"comuna"}


@pytest.mark.requirement("M34")
@pytest.mark.parametrize("same_order", [True, False])
def test_a_sister_file_is_joined_by_all_that_both_publish(same_order: bool) -> None:
    rng = np.random.Generator(np.random.Philox(4))
    rows = [
        [f"{c:05d}", str(a), f"D{d:03d}"] for c, a, d in rng.integers((0, 0, 0), (30, 30, 300), (1_500, 3)).tolist()
    ]
    masked = [["*", *row[1:]] if n % 4 == 0 else row for n, row in enumerate(rows)]
    sister = rows if same_order else [rows[place] for place in rng.permutation(len(rows))]
    names = ("comuna", "edad", "diag")
    result = over_time(view(names, sister), view(names, masked), names[:2], seed=1, sensitive=["diag"])
    shown = found(result, "masked_cell_shown_earlier")
    assert set(shown) == {"comuna"}
    assert shown["comuna"] == 375 if same_order else shown["comuna"] > 250


def test_a_file_beside_other_people_shows_no_masked_cell() -> None:
    rng = np.random.Generator(np.random.Philox(4))
    names = ("comuna", "edad", "diag")
    one, other = (rng.integers(0, 12, (1_500, 3)).astype(str).tolist() for _ in range(2))
    masked = [["*", *row[1:]] if n % 4 == 0 else row for n, row in enumerate(one)]
    assert over_time(view(names, other), view(names, masked), names[:2], seed=1).findings == ()


def test_generalised_cells_that_the_other_release_shows_are_counted() -> None:
    rows = register(2_000, 1)
    bands = [[row[0], f"{int(row[1]) // 10 * 10} a {int(row[1]) // 10 * 10 + 9}", *row[2:]] for row in rows]
    result = over_time(view(NAMES, bands), view(NAMES, rows), NAMES, seed=1)
    assert found(result, "coarse_cell_shown_later")["edad"] > 1_500
    assert found(result, "coarse_cell_shown_earlier") == found(result, "value_changed") == {}


def test_a_hierarchy_tells_labels_that_text_cannot_compare() -> None:
    rows = register(1_000, 1)
    hierarchy = from_rows("comuna", [(code, f"Zona {code[:2]}") for code in sorted({row[0] for row in rows})])
    zones = [[f"Zona {row[0][:2]}", *row[1:]] for row in rows]
    first, second = view(NAMES, zones), view(NAMES, rows)
    blind = over_time(first, second, NAMES, seed=1).estimates[0]
    told = over_time(first, second, NAMES, seed=1, hierarchies={"comuna": hierarchy}).estimates[0]
    assert blind.successes == 0
    assert told.successes > 900


def test_values_that_changed_between_releases_are_counted_by_column() -> None:
    rows = register(2_000, 1)
    later = [[*row[:3], "Z99" if n < 7 else row[3]] for n, row in enumerate(rows)]
    result = over_time(view(NAMES, rows), view(NAMES, later), NAMES[:3], seed=1)
    assert found(result, "value_changed")["diagnostico"] <= 7
    assert found(result, "value_changed")["diagnostico"] > 0


def test_unrelated_files_are_not_followed_and_nothing_is_said_of_their_cells() -> None:
    result = over_time(view(NAMES, register(3_000, 1)), view(NAMES, register(3_000, 2)), NAMES[:3], seed=1)
    assert not result.estimates[0].works
    assert result.findings == ()


def test_with_the_truth_only_right_pairs_count() -> None:
    rows = register(2_000, 1)
    order = np.random.Generator(np.random.Philox(4)).permutation(len(rows))
    moved = [rows[place] for place in order]
    truth = np.argsort(order)
    followed = over_time(view(NAMES, rows), view(NAMES, moved), NAMES, seed=1, truth=truth).estimates[0]
    assert followed.detail["right"] == followed.successes == followed.detail["followed"]
    wrong = over_time(view(NAMES, rows), view(NAMES, moved), NAMES, seed=1, truth=np.arange(len(rows))).estimates[0]
    assert wrong.successes < 10


def test_rows_of_one_person_are_followed_as_one() -> None:
    rows = register(500, 1)
    twice = [row for row in rows for _ in range(2)]
    owners = [n // 2 for n in range(1_000)]
    followed = over_time(view(NAMES, twice, owners), view(NAMES, twice, owners), NAMES, seed=1).estimates[0]
    assert followed.attempts == 500
    assert followed.successes > 480


def test_releases_without_a_common_column_are_not_measured() -> None:
    result = over_time(view(("a",), [["1"]]), view(("b",), [["1"]]), (), seed=1)
    assert (result.estimates[0].reason, result.estimates[0].rate) == ("no_shared_column", None)


# --- differencing ---------------------------------------------------------------------------------------


def test_whoever_joins_a_class_alone_gives_away_the_diagnosis() -> None:
    first = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "x"], ["c", "x"], ["c", "y"], ["d", "x"]]
    second = [["a", "x"], ["a", "y"], ["a", "z"],  # one came: z
              ["b", "x"],  # one went: x
              ["c", "x"], ["c", "y"], ["c", "z"], ["c", "w"],  # two came, of different values
              ["d", "y"], ["d", "y"],  # the contents do not nest
              ["e", "x"]]  # a new class, seen without any difference  # fmt: skip
    made = differencing(view(("q", "s"), first), view(("q", "s"), second), ("q",), "s", seed=1)
    assert (made.attempts, made.successes) == (4, 2)
    assert made.detail == {"grown_by_one": 2, "shrunk_by_one": 1, "people_given_away": 2}


@pytest.mark.requirement("M34")
def test_real_updates_give_away_who_was_added_and_shuffled_ones_do_not(shared: Path) -> None:
    first, second = (view(*deaths(shared, number)) for number in (1, 2))
    made = differencing(first, second, ("Sexo", "Edad", "Codcom"), "ID_DP", seed=1)
    assert made.works
    assert made.control_rate is not None
    assert made.control_rate < 0.05
    assert made.detail["grown_by_one"] == 1_079


def test_no_class_that_moved_is_no_attempt() -> None:
    rows = view(("q", "s"), [["a", "x"], ["b", "y"]])
    made = differencing(rows, rows, ("q",), "s", seed=1)
    assert (made.rate, made.reason) == (None, "no_class_moved")


ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12)


@given(ROWS, ROWS)
def test_classes_change_as_counting_them_one_by_one_says(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    wanted = []
    for group in range(3):
        before, after = (Counter(s for g, s in rows if g == group) for rows in (first, second))
        if before and after:
            gained, lost = after - before, before - after
            nested = not gained or not lost
            wanted.append((after.total() - before.total(), nested, len(gained) + len(lost) == 1))
    arrays = [np.asarray(rows, np.int64).reshape(-1, 2) for rows in (first, second)]
    made = class_changes(arrays[0], arrays[1], [3, 3])
    assert list(zip(made.moved.tolist(), made.nested.tolist(), made.one_value.tolist(), strict=True)) == wanted


def test_the_same_seed_gives_the_same_report_and_no_cell_is_in_it() -> None:
    rows = register(800, 1)
    masked = [["*" if n % 10 == 0 else row[0], *row[1:]] for n, row in enumerate(rows)]
    texts = []
    for _ in range(2):
        result = over_time(view(NAMES, masked), view(NAMES, rows), NAMES[:3], seed=3, sensitive=NAMES[3:])
        texts.append(json.dumps([item.as_dict() for item in (*result.estimates, *result.findings)]))
    assert texts[0] == texts[1]
    assert all(isinstance(finding, Finding) for finding in result.findings)
    assert not any(row[0] in texts[0] or row[3] in texts[0] for row in rows)
