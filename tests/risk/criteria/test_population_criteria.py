"""k-map and population uniqueness: their file form, their judgement, and the search with them against its referee."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import Classes, KAnonymity, KMap, Merging, PopulationUniqueness, criterion_from
from celosia.risk.errors import CriterionIncomplete, PopulationLevelsDiffer
from celosia.risk.population import Model, estimated_uniques, sample_of
from celosia.risk.population_levels import population_levels
from celosia.solver.node_report import node_view
from celosia.solver.optimal import search
from celosia.solver.problem import NoSolution, SearchProblem
from celosia.tuples.table import Tuples
from tests.solver.exhaustive import classes_at, exhaustive
from tests.solver.random_problems import problems

QUIET = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
DATA = (
    {"criterion": "k_map", "k": 3, "population": "censo.csv"},
    {"criterion": "k_map", "k": 3, "population": "censo.csv", "count": "n"},
    {"criterion": "population_uniqueness", "threshold": 0.01, "fraction": 0.1},
    {"criterion": "population_uniqueness", "threshold": 0, "fraction": "1/3", "model": "zayatz", "unit": "rows"},
)


@pytest.mark.parametrize("data", DATA, ids=str)
def test_the_file_form_reads_back(data) -> None:
    criterion = criterion_from(data)
    written = json.loads(json.dumps(criterion.as_dict()))
    assert criterion_from(written) == criterion == pickle.loads(pickle.dumps(criterion)) == copy.deepcopy(criterion)


@pytest.mark.parametrize(
    "data",
    [
        {"criterion": "k_map", "k": 3, "population": ""},
        {"criterion": "k_map", "k": 0, "population": "censo.csv"},
        {"criterion": "k_map", "k": 2, "population": "censo.csv", "count": 3},
        {"criterion": "population_uniqueness", "threshold": 2, "fraction": 0.1},
        {"criterion": "population_uniqueness", "threshold": 0.1, "fraction": 0},
        {"criterion": "population_uniqueness", "threshold": 0.1, "fraction": 0.1, "model": "other"},
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_refused(data) -> None:
    with pytest.raises(ValueOutOfRange):
        criterion_from(data)


def test_the_population_must_be_named() -> None:
    with pytest.raises(CriterionIncomplete, match="«population»"):
        criterion_from({"criterion": "k_map", "k": 3})


def test_k_map_looks_at_the_population_alone_and_fails_without_one() -> None:
    three = KMap(k=3, population="p")
    seen = Classes(np.array([1, 9]), population=np.array([3, 2]))
    assert three.judge(seen).tolist() == [True, False]
    assert three.judge(Classes(np.array([50]))).tolist() == [False]
    assert three.merging(None) is Merging.ABSORBING


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.sampled_from(Model), st.integers(0, 100))
def test_uniqueness_drops_the_single_classes_exactly_when_the_estimate_is_too_high(sizes, model, percent) -> None:
    rows = np.array(sizes)
    asked = PopulationUniqueness(threshold=percent / 100, fraction=0.2, model=model.value)
    estimate, _ = estimated_uniques(sample_of(rows, 5 * rows.sum()), model)
    share = 1.0 if estimate is None else estimate / (5 * rows.sum())
    stays = np.ones(len(rows), bool) if share <= percent / 100 else rows > 1
    assert asked.judge(Classes(rows)).tolist() == stays.tolist()
    remaining = rows[stays]
    assert not len(remaining) or asked.judge(Classes(remaining)).all()


@st.composite
def problems_in_a_population(draw) -> SearchProblem:
    """A random problem with a population table that shares some values and brings others."""
    problem = draw(problems())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    joined, columns, vocabularies = {}, [], []
    many = draw(st.integers(0, 60))
    for name, vocabulary in zip(problem.names, problem.quasi.vocabularies, strict=True):
        own = _with_labels(problem.hierarchies[name], vocabulary)
        joined[name] = own
        known = len(own.labels[0])
        texts = (*own.labels[0], "zz")
        columns.append(rng.integers(0, known + 1, many))
        vocabularies.append(texts)
    own = {name: joined[name] for name in problem.names}
    codes = np.stack(columns, axis=1).astype(np.int32)
    people = Tuples(problem.names, tuple(vocabularies), codes, rng.integers(1, 4, many).astype(np.int64))
    wider = {name: _with_stranger(hierarchy) for name, hierarchy in own.items()}
    levels = population_levels(people, own, wider)
    asked = [KMap(k=draw(st.integers(1, 6)), population="p")]
    if draw(st.booleans()):
        asked.append(PopulationUniqueness(threshold=draw(st.integers(0, 10)) / 20, fraction=0.3, model="zayatz"))
    criteria = (*asked, *problem.criteria[: draw(st.integers(0, 1))])
    return replace(problem, hierarchies=own, criteria=criteria, population=levels)


def _with_labels(hierarchy: CompiledHierarchy, vocabulary: tuple[str, ...]) -> CompiledHierarchy:
    """The hierarchy whose first labels are exactly the vocabulary, as compiling makes it."""
    return replace(hierarchy, labels=(vocabulary, *hierarchy.labels[1:]))


def _with_stranger(hierarchy: CompiledHierarchy) -> CompiledHierarchy:
    """The same with one more value, which goes to the first group of every level."""
    labels = ((*hierarchy.labels[0], "zz"), *hierarchy.labels[1:])
    maps = [np.append(hierarchy.maps[0], len(hierarchy.labels[0]))]
    maps += [np.append(level, 0) for level in hierarchy.maps[1:]]
    return replace(hierarchy, labels=labels, maps=tuple(level.astype(np.int32) for level in maps))


@QUIET
@given(problems_in_a_population())
def test_the_search_in_a_population_equals_the_exhaustive_scan(problem) -> None:
    result, expected = search(problem), exhaustive(problem)
    assert type(result) is type(expected)
    assert (result.levels, result.suppressed_rows) == (expected.levels, expected.suppressed_rows)
    if isinstance(result, NoSolution):
        assert result.failing == expected.failing
    else:
        assert result.loss == pytest.approx(expected.loss, rel=1e-9, abs=1e-12)


@QUIET
@given(problems_in_a_population(), st.randoms())
def test_one_node_looked_at_closely_counts_the_same_population(problem, chance) -> None:
    levels = tuple(chance.randint(low, high) for low, high in zip(problem.lowest, problem.highest, strict=True))
    view = node_view(problem, levels)
    slow, label, _ = classes_at(problem, levels)
    assert view.classes.population[view.label].tolist() == slow.population[label].tolist()


def test_a_hierarchy_that_moves_values_is_refused() -> None:
    hierarchy = CompiledHierarchy(
        "x", (("a", "b"), ("*",)), (np.arange(2), np.zeros(2, int)), (np.ones(2), np.ones(1)), 2
    )
    other = replace(hierarchy, labels=(("a", "b"), ("A", "B")), maps=(np.arange(2), np.arange(2)))
    people = Tuples(("x",), (("a", "b"),), np.array([[0], [1]], np.int32), np.array([1, 1]))
    with pytest.raises(PopulationLevelsDiffer, match="2 valores"):
        population_levels(people, {"x": hierarchy}, {"x": other})


def test_a_wide_key_counts_its_population_too() -> None:
    width, rng = 12, np.random.default_rng(4)
    values = tuple(f"{i:03d}" for i in range(200))
    identity = np.arange(200, dtype=np.int32)
    tree = CompiledHierarchy(
        "x", (values, ("*",)), (identity, np.zeros(200, np.int32)), (np.full(200, 1 / 200), np.ones(1)), 200
    )
    names = tuple(f"q{i}" for i in range(width))
    codes = np.unique(rng.integers(0, 200, (60, width)), axis=0).astype(np.int32)
    codes[:, :3] = 0
    quasi = Tuples(names, (values,) * width, np.unique(codes, axis=0), np.ones(len(np.unique(codes, axis=0)), int))
    trees = dict.fromkeys(names, tree)
    levels = population_levels(quasi, trees, trees)
    fixed = dict.fromkeys(names[3:], 0)
    problem = SearchProblem(
        quasi, trees, (KMap(k=1, population="p"), KAnonymity(k=1)), maximum=fixed, population=levels
    )
    result = search(problem)
    assert result.suppressed_rows == 0
    assert result.levels == (0,) * width
