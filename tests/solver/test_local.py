"""Local recoding: every published class passes when counted by hand, and less is lost than by whole columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import Criterion, DistinctL, KAnonymity
from celosia.solver.errors import LatticeTooLarge
from celosia.solver.local import LARGEST_LATTICE, LocalRecoding, level_losses, recode_locally
from celosia.solver.published import ClassCounter
from celosia.tuples.table import Persons, Tuples
from tests.solver import arx_adult
from tests.solver.plain_rows import PlainTable, compile_columns, criteria, hierarchies, tables, texts


def recode(counter: ClassCounter, trees: list[CompiledHierarchy], asked: tuple[Criterion, ...]) -> LocalRecoding | None:
    """With every level allowed and all variables of the same weight."""
    heights = [tree.height for tree in trees]
    return recode_locally(counter, trees, asked, [0] * len(trees), heights, [1.0] * len(trees))


def of_rows(result: LocalRecoding, table: PlainTable, quasi: Tuples) -> list[tuple[str, ...]]:
    """What is published for each row."""
    published = texts(result.codes, result.vocabularies)
    return [published[at] for at in table.tuple_of_row(quasi)]


@given(st.data())
def test_every_published_class_passes_when_its_rows_are_counted_by_hand(data: st.DataObject) -> None:
    table, asked = data.draw(tables()), data.draw(criteria())
    counter = table.counter()
    trees = data.draw(hierarchies(counter.quasi.vocabularies))
    result = recode(counter, trees, asked)
    if result is not None:
        published = of_rows(result, table, counter.quasi)
        assert table.failing_rows(published, asked) == 0
        assert result.classes == len(set(published))


@given(st.data())
def test_there_is_no_answer_only_when_the_coarsest_table_fails(data: st.DataObject) -> None:
    """With persons a finer table may pass though the coarsest fails: merging classes can undo l-diversity."""
    table, asked = data.draw(tables()), data.draw(criteria())
    counter = table.counter()
    trees = data.draw(hierarchies(counter.quasi.vocabularies))
    coarsest = [
        tuple(
            tree.labels[-1][tree.maps[-1][tree.labels[0].index(value)]] for tree, value in zip(trees, row, strict=True)
        )
        for row in table.rows
    ]
    nothing, fails = recode(counter, trees, asked) is None, table.failing_rows(coarsest, asked) > 0
    assert fails if nothing else (table.keyed or not fails)


def test_company_can_undo_l_where_persons_are_known() -> None:
    """Ana lacks «b» in the first class and holds it in the second: together, everybody holds it."""
    rows = [("1",), ("1",), ("1",), ("2",), ("2",), ("2",)]
    values, persons = ["a", "b", "b", "b", "a", "a"], [0, 1, 2, 0, 1, 2]
    table = PlainTable(rows, values, persons, True)
    asked = (DistinctL(variable="s", l=2),)
    assert table.failing_rows(rows, asked) == 0
    assert table.failing_rows([("*",)] * len(rows), asked) == len(rows)


@given(st.data())
def test_levels_stay_within_their_bounds_and_give_the_published_text(data: st.DataObject) -> None:
    table, asked = data.draw(tables()), data.draw(criteria())
    counter = table.counter()
    trees = data.draw(hierarchies(counter.quasi.vocabularies))
    lowest = [data.draw(st.integers(0, tree.height)) for tree in trees]
    highest = [data.draw(st.integers(low, tree.height)) for low, tree in zip(lowest, trees, strict=True)]
    result = recode_locally(counter, trees, asked, lowest, highest, [1.0] * len(trees))
    if result is None:
        return
    assert (result.levels >= lowest).all()
    assert (result.levels <= highest).all()
    for at, levels in enumerate(result.levels.tolist()):
        for v, level in enumerate(levels):
            expected = trees[v].labels[level][trees[v].maps[level][counter.quasi.codes[at, v]]]
            assert result.vocabularies[v][result.codes[at, v]] == expected


@given(st.data())
def test_the_order_of_the_rows_changes_nothing(data: st.DataObject) -> None:
    table, asked = data.draw(tables()), data.draw(criteria())
    trees = data.draw(hierarchies(table.counter().quasi.vocabularies))
    turned = PlainTable(table.rows[::-1], table.values[::-1], table.persons[::-1], table.keyed)
    first, second = recode(table.counter(), trees, asked), recode(turned.counter(), trees, asked)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert first.levels.tolist() == second.levels.tolist()
        assert first.returned == second.returned


def test_a_row_alone_joins_the_nearest_class_and_the_others_keep_their_values() -> None:
    rows = [("a", "1")] * 5 + [("b", "1")] * 5 + [("b", "2")] * 2 + [("b", "3")] * 3
    table = PlainTable(rows, ["x"] * len(rows), list(range(len(rows))))
    trees = [compile_columns("q0", [["a", "b"], ["*", "*"]]), compile_columns("q1", [["1", "2", "3"], ["*"] * 3])]
    result = recode(table.counter(), trees, (KAnonymity(k=5),))
    assert result is not None
    assert sorted(set(of_rows(result, table, table.counter().quasi))) == [("a", "1"), ("b", "*"), ("b", "1")]


def test_one_tuple_is_published_as_it_is_or_not_at_all() -> None:
    table = PlainTable([("a",)] * 3, ["x"] * 3, [0, 1, 2])
    tree = compile_columns("q0", [["a"], ["*"]])
    enough, few = (recode(table.counter(), [tree], (KAnonymity(k=k),)) for k in (3, 4))
    assert enough is not None
    assert enough.levels.tolist() == [[0]]
    assert few is None


@pytest.mark.parametrize("keyed", [False, True])
def test_an_empty_table_is_published_empty(keyed: bool) -> None:
    nothing = np.zeros(0, np.int64)
    persons = Persons(0, nothing, nothing, nothing) if keyed else None
    quasi = Tuples(("q0", "q1"), ((), ()), np.zeros((0, 2), np.int32), nothing, persons)
    trees = [compile_columns(name, [[], []]) for name in quasi.names]
    result = recode_locally(ClassCounter(quasi, {}), trees, (KAnonymity(k=5),), [0, 0], [1, 1], [1.0, 1.0])
    assert result is not None
    assert (result.levels.shape, result.classes) == ((0, 2), 0)


@pytest.mark.parametrize("width", [9, 10, 12])
def test_keys_wider_than_64_bits_are_grouped_exactly(width: int) -> None:
    rng = np.random.default_rng(width)
    seen = rng.integers(0, 100, (40, width))
    picked = np.concatenate([np.repeat(np.arange(20), 5), np.arange(20, 40)])
    rows = [tuple(f"{value:02d}" for value in seen[at]) for at in picked]
    table = PlainTable(rows, ["x"] * len(rows), list(range(len(rows))))
    quasi = Tuples(*_over_all_hundred(table.counter().quasi))
    trees = [compile_columns(name, [_HUNDRED, ["*"] * 100]) for name in quasi.names]
    result = recode(ClassCounter(quasi, {}), trees, (KAnonymity(k=5),))
    assert result is not None
    published = texts(result.codes, result.vocabularies)
    assert [text for text, count in zip(published, quasi.rows, strict=True) if count == 5] == [
        text for text, count in zip(texts(quasi.codes, quasi.vocabularies), quasi.rows, strict=True) if count == 5
    ]
    assert table.failing_rows([published[at] for at in table.tuple_of_row(quasi)], (KAnonymity(k=5),)) == 0


_HUNDRED = [f"{value:02d}" for value in range(100)]


def _over_all_hundred(quasi: Tuples) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], np.ndarray, np.ndarray]:
    """The same tuples over vocabularies that hold all hundred values, so that keys are as wide as can be."""
    codes = np.array([[int(cell) for cell in text] for text in texts(quasi.codes, quasi.vocabularies)], np.int32)
    return quasi.names, (tuple(_HUNDRED),) * codes.shape[1], codes, quasi.rows


def test_a_lattice_beyond_the_limit_is_refused_also_when_its_size_leaves_64_bits() -> None:
    table = PlainTable([tuple("a" * 64)], ["x"], [0])
    trees = [compile_columns(f"q{v}", [["a"], ["*"]]) for v in range(64)]
    with pytest.raises(LatticeTooLarge) as refused:
        recode(table.counter(), trees, (KAnonymity(k=1),))
    assert refused.value.values == {"nodes": 2**64, "limit": LARGEST_LATTICE}


@pytest.mark.shared
@pytest.mark.requirement("M23")
def test_adult_at_five_keeps_more_than_the_established_tool(shared: Path) -> None:
    folder = shared / "reference" / "arx" / "adult"
    problem = arx_adult.problem_of(folder, arx_adult.cases(folder)[0])
    trees = [problem.hierarchies[name] for name in problem.names]
    quasi = problem.quasi
    result = recode(ClassCounter(quasi, {}), trees, (KAnonymity(k=5),))
    assert result is not None
    sizes: dict[tuple[str, ...], int] = {}
    for text, count in zip(texts(result.codes, result.vocabularies), quasi.rows.tolist(), strict=True):
        sizes[text] = sizes.get(text, 0) + count
    assert min(sizes.values()) >= 5
    assert sum(sizes.values()) == 30_162
    assert 1 - np.mean(losses(result, trees, quasi)) > 0.932


def losses(result: LocalRecoding, trees: list[CompiledHierarchy], quasi: Tuples) -> list[float]:
    """Loss of each variable by METRICS, row by row; checked against whole columns in the test below."""
    losses_by_variable = []
    for v, tree in enumerate(trees):
        share = np.array(
            [
                tree.shares[level][tree.maps[level][code]]
                for level, code in zip(result.levels[:, v], quasi.codes[:, v], strict=True)
            ]
        )
        least = quasi.n_rows / tree.leaf_count
        losses_by_variable.append(float(((share * quasi.rows).sum() - least) / (quasi.n_rows - least)))
    return losses_by_variable


def test_the_loss_of_a_level_runs_from_nothing_to_everything() -> None:
    table = PlainTable([("a",), ("b",), ("b",), ("c",)], ["x"] * 4, [0, 1, 2, 3])
    tree = compile_columns("q0", [["a", "b", "c"], ["ab", "ab", "c"], ["*"] * 3])
    assert level_losses(table.counter().quasi, 0, tree).tolist() == pytest.approx([0, 3 / 8, 1])
