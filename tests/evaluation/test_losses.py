"""Information loss: nothing for identical files, everything when all is masked, never less at a coarser level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.evaluation.compare import ComparisonRequest, information_loss
from celosia.evaluation.losses import (
    average_class_size,
    discernibility,
    entropy_loss,
    released_entropy,
    released_metrics,
)
from celosia.evaluation.objective import Objective, recoding_loss
from celosia.evaluation.sample import sample_of
from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.model import CompiledHierarchy
from celosia.hierarchy.registry import build
from celosia.tuples.table import Tuples

columns = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=40)


def tuples_of(rows: list[tuple[str, ...]], names: tuple[str, ...]) -> Tuples:
    """The compressed table of a few rows."""
    vocabularies = tuple(tuple(sorted({row[i] for row in rows})) for i in range(len(names)))
    coded = sorted(tuple(v.index(cell) for v, cell in zip(vocabularies, row, strict=True)) for row in rows)
    distinct = sorted(set(coded))
    return Tuples(names, vocabularies, np.array(distinct, np.int32), np.array([coded.count(c) for c in distinct]))


def ages_in_tens(values: tuple[str, ...]) -> CompiledHierarchy:
    """Ages, tens, and one top."""
    spec = {"builder": "intervals", "width": 10, "start": 0, "end": 100}
    return compile_for(build(spec, values, variable="age"), values)


@given(columns)
@pytest.mark.requirement("M27")
def test_identical_files_lose_nothing(cells: list[str]) -> None:
    sample = sample_of({"x": cells})
    found = information_loss(sample, sample, ComparisonRequest(("x",)))
    assert (found.loss, found.masked_cells, found.suppressed_rows) == (0.0, 0, 0)


@given(columns)
@pytest.mark.requirement("M27")
def test_a_file_masked_altogether_loses_everything(cells: list[str]) -> None:
    found = information_loss(sample_of({"x": cells}), sample_of({"x": ["*"] * len(cells)}), ComparisonRequest(("x",)))
    assert (found.loss, found.masked_cells_share, found.suppressed_share) == (1.0, 1.0, 1.0)


@given(columns, st.lists(st.integers(0, 2), min_size=6, max_size=6))
@pytest.mark.requirement("M27")
def test_a_coarser_level_never_loses_less(cells: list[str], groups: list[int]) -> None:
    first = {letter: f"g{group}" for letter, group in zip("abcdef", groups, strict=True)}
    second = {"g0": "top", "g1": "top", "g2": "g2 alone"}
    before, fine = sample_of({"x": cells}), [first[cell] for cell in cells]
    coarse = sample_of({"x": [second[group] for group in fine]})
    losses = [entropy_loss(before, sample_of({"x": fine}), "x"), entropy_loss(before, coarse, "x")]
    assert 0 <= losses[0] <= losses[1] + 1e-12 <= 1 + 1e-12


@pytest.mark.requirement("M26")
def test_suppressed_records_are_those_that_left_and_those_masked_in_every_quasi_identifier() -> None:
    before = sample_of({"sex": list("HHMM"), "age": list("1234"), "care": list("abcd")})
    after = sample_of({"sex": ["H", "*", "M"], "age": ["1", "*", "*"], "care": list("abc")})
    found = information_loss(before, after, ComparisonRequest(("sex", "age", "care"), quasi=("sex", "age")))
    assert (found.suppressed_rows, found.dropped_rows, found.masked_rows, found.masked_cells) == (2, 1, 2, 3)
    assert found.suppressed_share == 2 / 4


def test_cells_masked_at_the_source_are_no_loss_of_the_release() -> None:
    sample = sample_of({"x": ["*", "*", "a", "b"]})
    found = information_loss(sample, sample, ComparisonRequest(("x",)))
    assert (found.masked_cells, found.masked_rows, found.suppressed_rows) == (0, 0, 0)


def test_the_search_metrics_read_from_a_file_equal_their_definitions() -> None:
    ages = ["1", "2", "3", "4", "11", "12", "13", "99"]
    rows = [(age,) for age in ages for _ in range(2)]
    source = tuples_of(rows, ("age",))
    hierarchy = ages_in_tens(source.vocabularies[0])
    labels = hierarchy.labels[1]
    published = [labels[hierarchy.maps[1][source.vocabularies[0].index(age)]] for (age,) in rows]
    released = tuples_of([("*",) if age == "99" else (label,) for label, (age,) in zip(published, rows, strict=True)],
                         ("age",))  # fmt: skip
    found = released_metrics(released, {"age": hierarchy}, len(rows))
    gone = np.array([text == "99" for text in source.vocabularies[0]])[source.codes[:, 0]]
    levels = np.ones((len(source.rows), 1), int)
    expected = recoding_loss(source, [hierarchy], levels, gone, Objective())
    assert found["loss"] == pytest.approx(expected, rel=1e-12)
    assert discernibility(released, 16) == 8**2 + 6**2 + 2 * 16
    assert average_class_size(released, 16) == 16 / 3
    entropy = released_entropy(source, {"age": hierarchy}, {"age": 1}, released)
    assert entropy == pytest.approx(8 * math.log2(4) + 6 * math.log2(3))


def test_a_label_that_the_hierarchy_does_not_know_gives_no_figure() -> None:
    hierarchy = ages_in_tens(("1", "2"))
    assert released_metrics(tuples_of([("x",)], ("age",)), {"age": hierarchy}, 1)["loss"] is None
