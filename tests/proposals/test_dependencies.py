"""Functional dependencies between columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from celosia.proposals.dependencies import Dependency, contradiction_test, dependencies, repeated_columns

RNG = np.random.default_rng(3)
COMUNA = RNG.integers(0, 40, 2_000)
REGION = COMUNA // 5
SEX = RNG.integers(0, 2, 2_000)
NEAR = np.where(np.arange(2_000) == 7, 7, REGION)
KEY = np.arange(2_000)
CONSTANT = np.zeros(2_000, dtype=np.int64)


@pytest.mark.requirement("X7")
def test_region_follows_from_comuna_and_not_the_reverse() -> None:
    codes = np.column_stack([COMUNA, REGION, SEX])
    assert dependencies_of_codes(["comuna", "region", "sexo"], codes) == [Dependency("comuna", "region", 1.0)]


@pytest.mark.requirement("X7")
def test_a_key_and_a_constant_give_no_dependency() -> None:
    codes = np.column_stack([KEY, REGION, CONSTANT])
    assert dependencies_of_codes(["id", "region", "anio"], codes) == []


@pytest.mark.requirement("X7")
def test_one_wrong_row_leaves_a_near_dependency() -> None:
    found = dependencies_of_codes(["comuna", "region"], np.column_stack([COMUNA, NEAR]))
    assert [(d.determinant, d.dependent) for d in found] == [("comuna", "region")]
    assert found[0].share == pytest.approx(40 / 41)


@pytest.mark.requirement("X7")
def test_a_code_and_its_name_determine_each_other() -> None:
    found = dependencies_of_codes(["codigo", "nombre"], np.column_stack([COMUNA, 39 - COMUNA]))
    assert {(d.determinant, d.dependent) for d in found} == {("codigo", "nombre"), ("nombre", "codigo")}


def dependencies_of_codes(names: Sequence[str], codes: NDArray[np.integer], *, least: float = 0.95) -> list[Dependency]:
    """Dependencies between the columns of a matrix of integer codes (rows × columns)."""
    if not codes.size:
        return []
    counts = [np.unique(column, return_counts=True)[1] for column in codes.T]
    rows = codes.shape[0]
    separations = [1 - float((n * (n - 1.0)).sum()) / max(rows * (rows - 1), 1) for n in counts]
    wide = codes.astype(np.int64)

    def pairs(a: int, b: int) -> int:
        return int(np.unique(wide[:, a] * (int(wide[:, b].max()) + 1) + wide[:, b]).size)

    return dependencies(names, [n.size for n in counts], rows, pairs, separations=separations, least=least)


def test_an_engine_is_asked_once_for_each_pair_and_only_where_it_may_matter() -> None:
    asked: list[tuple[int, int]] = []

    def pairs(a: int, b: int) -> int:
        asked.append((a, b))
        return 40

    dependencies(["comuna", "region", "copia", "id", "anio"], [40, 8, 40, 2_000, 1], 2_000, pairs)
    assert sorted(asked) == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.requirement("X7")
@given(arrays.arrays(np.int64, st.tuples(st.integers(2, 30), st.just(3)), elements=st.integers(0, 3)))
def test_an_exact_dependency_never_shows_two_values_for_one(codes: np.ndarray) -> None:
    for found in dependencies_of_codes(["0", "1", "2"], codes):
        a, b = codes[:, int(found.determinant)], codes[:, int(found.dependent)]
        if found.share == 1.0:
            assert all(len(set(b[a == value])) == 1 for value in set(a))


@given(
    arrays.arrays(np.int64, st.tuples(st.integers(2, 60), st.just(4)), elements=st.integers(0, 4)), st.integers(1, 60)
)
def test_a_glance_at_some_rows_spares_counting_and_changes_nothing(codes: np.ndarray, glance: int) -> None:
    names, distinct = list("abcd"), [int(np.unique(column).size) for column in codes.T]
    asked: list[tuple[int, int]] = []

    def pairs(a: int, b: int) -> int:
        asked.append((a, b))
        return len(np.unique(codes[:, [a, b]], axis=0))

    whole = dependencies(names, distinct, len(codes), pairs, least=1.0)
    in_full, seen = len(asked), contradiction_test(codes[:glance])
    assert dependencies(names, distinct, len(codes), pairs, least=1.0, hopeless=seen) == whole
    assert len(asked) - in_full <= in_full


def test_a_glance_leaves_only_the_pairs_that_may_hold() -> None:
    asked: list[tuple[int, int]] = []
    codes = np.column_stack([COMUNA, REGION, SEX])

    def pairs(a: int, b: int) -> int:
        asked.append((a, b))
        return len(np.unique(codes[:, [a, b]], axis=0))

    found = dependencies(["comuna", "region", "sexo"], [40, 8, 2], 2_000, pairs, least=1.0,
                         hopeless=contradiction_test(codes[:200]))  # fmt: skip
    assert found == [Dependency("comuna", "region", 1.0)]
    assert asked == [(0, 1)]


def repetitions(names: Sequence[str], codes: NDArray[np.integer]) -> dict[str, str]:
    counts = [np.unique(column, return_counts=True)[1] for column in codes.T]
    rows = codes.shape[0]
    separations = [1 - float((n * (n - 1.0)).sum()) / max(rows * (rows - 1), 1) for n in counts]

    def pairs(a: int, b: int) -> int:
        return len(np.unique(codes[:, [a, b]], axis=0))

    return repeated_columns(
        names, [n.size for n in counts], rows, pairs, separations=separations, hopeless=contradiction_test(codes[:100])
    )


@pytest.mark.requirement("X7")
def test_a_name_repeats_its_code_and_a_region_repeats_no_comuna() -> None:
    shown = np.where(COMUNA >= 39, 38, COMUNA)  # two codes of unknown, called alike
    table = np.column_stack([REGION, COMUNA, SEX, shown, CONSTANT, KEY])
    assert repetitions(["region", "codigo", "sexo", "nombre", "anio", "id"], table) == {"nombre": "codigo"}
    assert repetitions(["region", "nombre", "sexo", "codigo"], table[:, [0, 3, 2, 1]]) == {"nombre": "codigo"}


@pytest.mark.requirement("X7")
@given(arrays.arrays(np.int64, st.tuples(st.integers(2, 60), st.just(4)), elements=st.integers(0, 5)))
def test_a_column_that_repeats_another_adds_nothing_to_any_combination(codes: np.ndarray) -> None:
    names = list("abcd")
    repeated = repetitions(names, codes)
    assert not set(repeated.values()) & set(repeated)
    stay = [i for i, name in enumerate(names) if name not in repeated]
    assert len(np.unique(codes, axis=0)) == len(np.unique(codes[:, stay], axis=0))


def test_few_rows_that_agree_prove_nothing() -> None:
    few = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    assert repetitions(["a", "b"], few) == {}
