"""Whom an outside list finds in a release."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from celosia.attacks.attack_input import PublishedColumn, Records, unchanged_column
from celosia.attacks.compatible import compatible
from celosia.attacks.linkage import OUTCOMES, exact_claims, linkage, probable_linkage, shuffle_columns
from celosia.attacks.pairs import TooManyPairs, join, pair_pieces
from celosia.model.reports.attacks import Control

NAMES, SIZES = ("comuna", "sexo", "edad", "fecha"), (346, 2, 100, 365)


def column(name: str, labels: list[str], values: list[str]) -> PublishedColumn:
    return PublishedColumn(name, compatible(labels, values))


def people(count: int, seed: int) -> np.ndarray:
    rng = np.random.Generator(np.random.Philox(seed))
    return np.stack([rng.integers(0, size, count) for size in SIZES], axis=1)


def as_they_are() -> list[PublishedColumn]:
    return [unchanged_column(name, size) for name, size in zip(NAMES, SIZES, strict=True)]


def grouped(name: str, size: int, width: int, star: bool = False) -> PublishedColumn:
    """Codes in groups of a width, and a label that covers everything."""
    groups = -(-size // width)
    covers = np.zeros((groups + star, size), bool)
    covers[np.arange(size) // width, np.arange(size)] = True
    if star:
        covers[-1] = True
    return PublishedColumn(name, sparse.csr_array(covers))


# --- the join -------------------------------------------------------------------------------------------


@st.composite
def two_files(draw: st.DrawFn) -> tuple[list[PublishedColumn], Records, Records]:
    sizes = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=3))
    rng = np.random.Generator(np.random.Philox(draw(st.integers(0, 2**32))))
    columns = [
        PublishedColumn(str(place), sparse.csr_array(rng.random(size) < rng.random()))
        for place, size in enumerate(sizes)
    ]
    rows = [draw(st.integers(1, 12)) for _ in range(2)]
    sides = [
        Records(np.stack([rng.integers(0, size[side], rows[side]) for size in sizes], axis=1)) for side in range(2)
    ]
    return columns, sides[0], sides[1]


def agreeing(columns: list[PublishedColumn], released: Records, external: Records) -> np.ndarray:
    """Released rows × outside rows × columns, by looking at every pair."""
    return np.stack(
        [c.covers.toarray()[np.ix_(released.codes[:, i], external.codes[:, i])] for i, c in enumerate(columns)], axis=2
    )


def row_pairs(columns: list[PublishedColumn], released: Records, external: Records, last: int | None) -> np.ndarray:
    made = join(columns, released, external, last)
    found = np.zeros((len(released), len(external)), bool)
    for one, other in pair_pieces(made, odd_last=last is not None):
        for a, b in zip(one, other, strict=True):
            found[np.ix_(made.released.of_row == a, made.external.of_row == b)] = True
    return found


@given(two_files())
def test_the_pairs_are_those_that_looking_at_every_pair_finds(
    files: tuple[list[PublishedColumn], Records, Records],
) -> None:
    agree = agreeing(*files)
    assert np.array_equal(row_pairs(*files, None), agree.all(axis=2))
    for place in range(len(files[0])):
        others = np.delete(agree, place, axis=2).all(axis=2)
        assert np.array_equal(row_pairs(*files, place), others & ~agree[:, :, place])


def test_a_pair_is_handed_over_once_however_small_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celosia.attacks.pairs._PIECE", 1)
    made = join([unchanged_column("a", 50), grouped("b", 50, 10)], Records(codes := np.arange(50)[:, None] // [1, 10]),
                Records(np.stack([codes[:, 0], codes[:, 0]], axis=1)))  # fmt: skip
    found = [(int(a), int(b)) for one, other in pair_pieces(made) for a, b in zip(one, other, strict=True)]
    assert sorted(found) == [(place, place) for place in range(50)]


def test_more_pairs_than_allowed_stop_the_join() -> None:
    columns = [grouped("a", 10, 10), unchanged_column("b", 30)]
    rows = np.stack([np.zeros(30, np.int64), np.arange(30)], axis=1)
    with pytest.raises(TooManyPairs):
        list(pair_pieces(join(columns, Records(rows), Records(rows)), most=29))


# --- exact claims ---------------------------------------------------------------------------------------


@pytest.mark.requirement("M30", "A33")
def test_an_outside_person_is_found_through_generalised_labels() -> None:
    columns = [
        column("comuna", ["053**", "13101"], ["05302", "05401", "13101"]),
        column("edad", ["30 a 39", "40 a 49"], ["37", "44"]),
    ]
    released = Records(np.array([[0, 0], [0, 1], [1, 1], [1, 1]]))
    external = Records(np.array([[0, 0], [0, 1], [1, 0], [2, 1]]))
    claims = exact_claims(columns, released, external)
    assert [OUTCOMES[code] for code in claims.outcome] == ["one_to_one", "one_to_one", "unmatched", "one_to_many"]
    assert claims.person.tolist() == [0, 1, -1, -1]


def test_matches_are_told_apart_by_how_many_there_are_on_each_side() -> None:
    columns = [unchanged_column("a", 4)]
    released, external = (
        Records(np.array([[0], [1], [1], [2], [3], [3]])),
        Records(np.array([[0], [1], [2], [2], [3], [3]])),
    )
    found = linkage(columns, released, external, seed=1)
    assert {name: found.detail[name] for name in OUTCOMES} == {
        "unmatched": 0, "one_to_one": 1, "one_to_many": 1, "many_to_one": 2, "many_to_many": 2,
    }  # fmt: skip
    assert found.detail["alike_in_list"] == 4


def claims_by_looking_at_all(columns: list[PublishedColumn], released: Records, external: Records) -> list[int]:
    """Row claimed by each outside row, or -1: telling rows first, then whoever is left against what is left."""
    together = agreeing(columns, released, external).all(axis=2)
    covers = [c.covers.toarray() for c in columns]
    opens = [(c.all(axis=1) & (c.shape[1] > 1), c.all(axis=0) & (c.shape[0] > 1)) for c in covers]
    here = [not any(opens[i][0][code] for i, code in enumerate(row)) for row in released.codes.tolist()]
    there = [not any(opens[i][1][code] for i, code in enumerate(row)) for row in external.codes.tolist()]
    claimed = [-1] * len(external)
    rows, others = [i for i, t in enumerate(here) if t], [i for i, t in enumerate(there) if t]
    for _ in range(2):
        met = {e: [r for r in rows if together[r, e]] for e in others}
        for e in others:
            if len(met[e]) == 1 and sum(met[e][0] in found for found in met.values()) == 1:
                claimed[e] = met[e][0]
        unmatched = [e for e in range(len(external)) if not met.get(e)]
        rows, others = [r for r in range(len(released)) if r not in claimed], unmatched
    return claimed


@given(two_files())
def test_claims_are_those_that_looking_at_every_pair_makes(
    files: tuple[list[PublishedColumn], Records, Records],
) -> None:
    assert exact_claims(*files).person.tolist() == claims_by_looking_at_all(*files)


def test_one_masked_row_does_not_hide_everybody() -> None:
    labels = ["a", "b", "c", "*"]
    columns = [column("x", labels, labels[:3])]
    claims = exact_claims(columns, Records(np.array([[0], [1], [3]])), Records(np.array([[0], [1], [2]])))
    assert claims.person.tolist() == [0, 1, 2]  # the third by elimination


def test_several_rows_of_one_person_are_one_candidate() -> None:
    columns = [unchanged_column("a", 2)]
    released = Records(np.array([[0], [0], [1], [1]]), np.array([7, 7, 8, 9]))
    external = Records(np.array([[0], [0], [1]]), np.array([3, 3, 4]))
    claims = exact_claims(columns, released, external)
    assert claims.person.tolist() == [7, -1]


@pytest.mark.requirement("M30", "A33")
def test_a_hundred_planted_people_are_all_found_in_the_raw_file_and_hardly_in_the_release() -> None:
    raw, strangers = people(20_000, 1), people(5_000, 2)
    _, first, times = np.unique(raw, axis=0, return_index=True, return_counts=True)
    known = np.sort(first[times == 1])[:100]
    external = Records(np.concatenate([raw[known], strangers]))
    truth = np.concatenate([known, np.full(5_000, -1)])
    found = linkage(as_they_are(), Records(raw), external, seed=1, truth=truth)
    assert (found.detail["right"], found.detail["in_release"]) == (100, 100)
    assert found.works
    assert found.remedy in NAMES
    assert found.persons == 100
    columns = [
        grouped("comuna", 346, 60),
        unchanged_column("sexo", 2),
        grouped("edad", 100, 20),
        grouped("fecha", 365, 92),
    ]
    released = Records(raw // np.array([60, 1, 20, 92]))
    after = linkage(columns, released, external, seed=1, truth=truth)
    assert (after.detail["claims"], after.successes, after.works) == (0, 0, False)


def test_without_the_truth_a_claim_is_held_against_the_shuffled_list() -> None:
    raw = people(5_000, 1)
    found = linkage(as_they_are(), Records(raw), Records(raw[:500]), seed=1)
    assert found.control is Control.MARGINS
    assert found.excess_low is not None
    assert found.excess_low > 0.9
    unrelated = linkage(as_they_are(), Records(raw), Records(people(500, 2)), seed=1)
    assert not unrelated.works


@pytest.mark.slow
@pytest.mark.parametrize(("outsiders", "size"), [(100, 150), (3_000, 6_000)])
def test_where_nobody_is_in_the_release_the_interval_covers_zero(outsiders: int, size: int) -> None:
    columns = [unchanged_column("a", size), grouped("b", 20, 4, star=True)]
    covered, runs = 0, 400
    for seed in range(runs):
        rng = np.random.Generator(np.random.Philox(seed))
        released = Records(np.stack([rng.integers(0, size, size), rng.integers(0, 6, size)], axis=1))
        lists = [
            Records(np.stack([rng.integers(0, size, n), rng.integers(0, 20, n)], axis=1)) for n in (300, outsiders)
        ]
        found = linkage(columns, released, lists[0], seed=seed, outsiders=lists[1], remedy=False)
        assert found.excess_low is not None
        assert found.excess_high is not None
        covered += found.excess_low <= 0 <= found.excess_high
    assert 0.93 <= covered / runs <= 0.97


# --- probable claims ------------------------------------------------------------------------------------


def one_year_apart() -> sparse.csr_array:
    return sparse.csr_array(sparse.diags_array([1, 1, 1], offsets=[-1, 0, 1], shape=(100, 100), dtype=np.int8) > 0)


def test_a_list_with_errors_is_linked_by_probability() -> None:
    raw = people(20_000, 1)
    rng = np.random.Generator(np.random.Philox(3))
    listed = np.concatenate([raw[:4_000], people(4_000, 2)])
    wrong = rng.random(len(listed)) < 0.2
    listed[wrong, 2] = np.minimum(listed[wrong, 2] + 1, 99)
    truth = np.concatenate([np.arange(4_000), np.full(4_000, -1)])
    near = [None, None, one_year_apart(), None]
    exact = linkage(as_they_are(), Records(raw), Records(listed), seed=1, truth=truth, remedy=False)
    found = probable_linkage(as_they_are(), Records(raw), Records(listed), near=near, seed=1, truth=truth)
    assert exact.successes < 3_400
    assert found.successes > 3_900
    claims, right, promised = (found.detail[name] for name in ("claims", "right", "expected_right"))
    assert right == found.successes
    assert abs(float(promised) - float(right)) < 0.02 * float(claims)
    assert abs(float(found.detail["share_present"]) - 0.5) < 0.03


def test_two_records_alike_share_the_probability() -> None:
    raw = np.repeat(people(500, 1), 2, axis=0)
    found = probable_linkage(as_they_are(), Records(raw), Records(raw[::2]), seed=1)
    assert found.detail["claims"] == 0


def test_probable_claims_on_unrelated_rows_are_none() -> None:
    found = probable_linkage(as_they_are(), Records(people(3_000, 1)), Records(people(3_000, 2)), seed=1)
    assert found.successes <= 3
    assert not found.works


def test_a_masked_cell_weighs_nothing_and_a_wide_label_little() -> None:
    raw = people(3_000, 1)
    columns = [grouped("comuna", 346, 1, star=True), *as_they_are()[1:]]
    masked = raw.copy()
    masked[::10, 0] = 346
    found = probable_linkage(columns, Records(masked), Records(raw), seed=1, truth=np.arange(3_000))
    assert found.successes > 2_900


def test_the_same_seed_gives_the_same_report() -> None:
    released, external = Records(people(2_000, 1)), Records(people(2_000, 2))
    for attack in (linkage, probable_linkage):
        reports = [json.dumps(attack(as_they_are(), released, external, seed=5).as_dict()) for _ in range(2)]
        assert all(one == other for one, other in pairwise(reports))


# --- what cannot be tried is said -----------------------------------------------------------------------


def test_files_that_cannot_be_compared_are_told_apart_by_the_reason() -> None:
    rows, nothing = Records(np.zeros((3, 1), np.int64)), Records(np.zeros((0, 1), np.int64))
    strange = column("comuna", ["Ñuñoa"], ["13120"])
    assert linkage([], rows.select_columns([]), rows.select_columns([]), seed=1).reason == "no_shared_column"
    assert linkage([unchanged_column("a", 1)], rows, nothing, seed=1).reason == "no_records"
    found = linkage([strange], rows, rows, seed=1)
    assert (found.reason, found.detail, found.rate) == ("no_common_values", {"variable": "comuna"}, None)


def test_files_so_vague_that_all_goes_with_all_are_not_measured() -> None:
    rows = Records(np.stack([np.zeros(30, np.int64), np.arange(30)], axis=1))
    vague = [grouped("a", 10, 10), grouped("b", 30, 1)]
    assert linkage(vague, rows, rows, seed=1, most=10).reason == "too_many_pairs"
    assert probable_linkage(vague, rows, rows, seed=1, most=10).reason == "too_many_pairs"


@pytest.mark.slow
@pytest.mark.requirement("M30")
def test_a_million_by_a_million_rows_are_linked() -> None:
    raw = people(1_000_000, 1)
    listed = Records(np.concatenate([raw[:500_000], people(500_000, 2)]))
    truth = np.concatenate([np.arange(500_000), np.full(500_000, -1)])
    columns = [grouped("comuna", 346, 1, star=True), *as_they_are()[1:]]
    masked = raw.copy()
    masked[::20, 0] = 346
    found = linkage(columns, Records(masked), listed, seed=1, truth=truth)
    assert found.successes > 400_000


def test_columns_that_follow_from_each_other_are_shuffled_together() -> None:
    """Region beside comuna: an unrelated list must not look like an attack."""
    comuna, sex, age, _ = people(4_000, 1).T
    codes = np.stack([comuna, comuna // 22, sex, age], axis=1)
    mixed = shuffle_columns(Records(codes), 1).codes
    assert np.array_equal(mixed[:, 0] // 22, mixed[:, 1])
    assert not np.array_equal(mixed, codes)
    assert all(np.array_equal(np.sort(mixed[:, place]), np.sort(codes[:, place])) for place in range(4))


def test_a_column_of_distinct_values_does_not_keep_the_others_together() -> None:
    codes = np.stack([np.arange(1_000), np.arange(1_000) % 7], axis=1)
    assert not np.array_equal(
        shuffle_columns(Records(codes), 1).codes[:, 0] % 7, shuffle_columns(Records(codes), 1).codes[:, 1]
    )
