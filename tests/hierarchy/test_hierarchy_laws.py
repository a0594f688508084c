"""Laws that hold for every builder, file and compiled hierarchy."""

from __future__ import annotations

import contextlib
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.csv import read_csv, write_csv
from celosia.hierarchy.model import Hierarchy
from celosia.hierarchy.official import lookup
from celosia.hierarchy.registry import build
from celosia.hierarchy.rows import from_rows, split_groups, to_rows
from celosia.model.value_errors import WrongParameter

SPECIAL = ["", "*", "*****", "99999", "99"]
UNKNOWN = ["99999", "99"]
# Text as a UTF-8 file may hold it: no surrogates, no NUL; a byte order mark would be taken for one.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=6)
WORDS = st.text("abñ1,;\"' {}*", min_size=1, max_size=4)


def coarser_everywhere(hierarchy: Hierarchy) -> bool:
    """Whether two leaves that share a label share all labels above: pair by pair, the slow way."""
    rows = to_rows(hierarchy)
    for first in rows:
        for second in rows:
            same = [a == b for a, b in zip(first, second, strict=True)]
            if any(low and not high for low, high in pairwise(same)):
                return False
    return True


def with_special(values: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(values | st.sampled_from(SPECIAL), max_size=12)


def common() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"unknown": st.just(UNKNOWN), "uncovered": st.just("suppress"), "top": st.booleans()})


def check(spec: dict[str, Any], values: list[str], **more: Any) -> Hierarchy:
    hierarchy = build(spec, values, variable="v", **more)
    assert set(values) <= set(hierarchy.leaves)
    assert len(set(hierarchy.leaves)) == len(hierarchy.leaves)
    assert coarser_everywhere(hierarchy)
    if spec["top"] and values:
        assert len(hierarchy.labels[-1]) == 1
    return hierarchy


STEPS = st.none() | st.lists(st.integers(1, 7), min_size=1, max_size=4, unique=True).map(sorted)


@given(
    with_special(st.text("0123456789AB*", min_size=1, max_size=6)),
    common(),
    STEPS,
    st.none() | st.integers(1, 6),
    st.sampled_from(["left", "right"]),
)
def test_masks_are_coarser_at_each_level_and_keep_the_width(values, spec, steps, width, side):
    spec = {"builder": "mask", "steps": steps, "width": width, "side": side, **spec}
    hierarchy = check(spec, values)
    for value, *labels in to_rows(hierarchy):
        shown_labels = [label for label in labels if set(label) != {"*"} and value not in SPECIAL]
        assert all(len(label) == (width or len(value)) for label in shown_labels)


@given(
    with_special(st.integers(-30, 150).map(str) | st.sampled_from(["x", "1.5", "007"])),
    common(),
    st.integers(1, 40),
    st.integers(-10, 20),
    st.integers(1, 120),
    st.integers(2, 4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_intervals_are_coarser_at_each_level(values, spec, width, start, span, factor, low, high, complete):
    spec = {"builder": "intervals", "width": width, "start": start, "end": start + span, **spec}
    hierarchy = check(spec | {"factor": factor, "open_low": low, "open_high": high, "complete": complete}, values)
    for value, *labels in to_rows(hierarchy):
        if labels and value not in SPECIAL and " a " in labels[0]:
            first, last = labels[0].split(" a ")
            assert int(first) <= int(value) <= int(last)


@given(
    with_special(st.decimals(-50, 2000, places=2).map(str)),
    common(),
    st.lists(st.integers(-20, 1500), min_size=2, max_size=9, unique=True).map(sorted),
    st.data(),
)
def test_intervals_by_nested_cuts_are_coarser_at_each_level(values, spec, cuts, data):
    inner = sorted(data.draw(st.sets(st.sampled_from(cuts[1:-1])))) if cuts[1:-1] else []
    spec = {"builder": "intervals", "cuts": cuts, "coarser": [[cuts[0], *inner, cuts[-1]]], **spec}
    check(spec | {"whole": False, "open_low": data.draw(st.booleans())}, values)


UNITS = ("month", "quarter", "semester", "year", "span")


@given(
    with_special(st.dates().map(str) | st.just("2024-02-30")),
    common(),
    st.sets(st.sampled_from(UNITS), min_size=1).map(lambda units: sorted(units, key=UNITS.index)),
    st.integers(2, 30),
)
def test_dates_are_coarser_at_each_level(values, spec, levels, span):
    check({"builder": "dates", "levels": levels, "span": span, **spec}, values)


@given(with_special(WORDS), common(), st.integers(2, 4), st.sampled_from(["set", "range"]))
def test_merged_orders_are_coarser_at_each_level(values, spec, factor, label):
    check({"builder": "order", "factor": factor, "label": label, **spec}, values)


@given(st.dictionaries(WORDS, st.integers(0, 30), max_size=10), common(), st.sets(st.integers(2, 60), min_size=1))
def test_frequency_groups_are_coarser_and_reach_the_minimum_or_hold_everything(counts, spec, minimums):
    values = [value for value in counts if set(value) != {"*"}]
    ordered = sorted(minimums)
    hierarchy = check({"builder": "frequency", "minimums": ordered, **spec}, values, counts=counts)
    for level, minimum in enumerate(ordered, start=1):
        totals: dict[int, int] = {}
        for leaf, code in zip(hierarchy.leaves, hierarchy.maps[level], strict=True):
            totals[int(code)] = totals.get(int(code), 0) + counts[leaf]
        assert len(totals) <= 1 or min(totals.values()) >= minimum


NESTED = st.recursive(
    st.lists(WORDS, max_size=3), lambda below: st.dictionaries(WORDS, below, min_size=1, max_size=3), max_leaves=6
)


@given(st.dictionaries(WORDS, NESTED, min_size=1, max_size=3), with_special(WORDS), common())
def test_a_tree_is_coarser_at_each_level_or_refused(tree, values, spec):
    # Refused: a repeated leaf, or one label for two groups that part ways.
    with contextlib.suppress(WrongParameter):
        check({"builder": "tree", "tree": tree, **spec}, values)


@given(
    st.lists(st.dictionaries(WORDS, st.lists(WORDS, max_size=3), min_size=1, max_size=3), min_size=1, max_size=3),
    with_special(WORDS),
    common(),
)
def test_declared_groups_are_coarser_at_each_level_or_refused(levels, values, spec):
    # Refused: a member in two groups.
    with contextlib.suppress(WrongParameter):
        check({"builder": "groups", "levels": levels, **spec}, values)


LISTS = {
    "cl-cut": ["05302", "13101", "08401", "5302"],
    "co-divipola": ["05001", "94663", "11001"],
    "py-distritos": ["1102", "0000"],
    "pe-ubigeo": ["150101", "250101"],
    "icd10": ["E86X", "U071", "u07.1", "B59X", "A000"],
    "countries": ["PE", "Perú", "CL", "Japón"],
}


@given(st.sampled_from(sorted(LISTS)), st.data(), common(), st.booleans(), st.sampled_from(["code", "name", "both"]))
def test_official_lists_are_coarser_at_each_level(list_id, data, spec, pad, labels):
    values = data.draw(with_special(st.sampled_from(LISTS[list_id])))
    check({"builder": "official", "list": list_id, "pad": pad, "labels": labels, **spec}, values)


def test_every_complete_list_is_coarser_at_each_level():
    for list_id in set(LISTS) - {"pe-ubigeo"}:
        for labels in ("code", "name", "both"):
            spec = {"builder": "official", "list": list_id, "labels": labels, "complete": True}
            hierarchy = build(spec, [])
            assert not any(split_groups(hierarchy))
            assert len(hierarchy.leaves) == len(lookup(list_id).codes())


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Any sound hierarchy: each level maps the labels of the one below."""
    leaves = draw(st.lists(TEXT, min_size=1, max_size=8, unique=True))
    rows = [[leaf] for leaf in leaves]
    for _ in range(draw(st.integers(0, 3))):
        below = sorted({row[-1] for row in rows})
        above = {label: draw(TEXT) for label in below}
        for row in rows:
            row.append(above[row[-1]])
    return from_rows("v", rows)


def same(first: Any, second: Any) -> bool:
    arrays = zip((*first.maps, *first.shares), (*second.maps, *second.shares), strict=True)
    return first.labels == second.labels and all(np.array_equal(a, b) for a, b in arrays)


@given(hierarchies(), st.sampled_from([";", ",", "\t"]), st.data())
def test_writing_reading_and_compiling_changes_nothing(hierarchy, delimiter, data):
    vocabulary = data.draw(st.lists(st.sampled_from(hierarchy.leaves), unique=True).map(sorted))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "v.csv"
        write_csv(hierarchy, path, delimiter=delimiter)
        again, _ = read_csv(path, "v", delimiter=delimiter, encoding="utf-8")
    assert to_rows(again) == to_rows(hierarchy)
    assert same(compile_for(again, vocabulary), compile_for(hierarchy, vocabulary))


@given(hierarchies(), st.lists(TEXT, max_size=6, unique=True))
def test_a_compiled_hierarchy_is_coarser_at_each_level_and_its_groups_are_runs(hierarchy, values):
    vocabulary = sorted({*values, *hierarchy.leaves[::2], "", "*"})
    compiled = compile_for(hierarchy, vocabulary, gap="suppress")
    order = np.lexsort(compiled.maps)
    for below, above in zip(compiled.maps, compiled.maps[1:], strict=False):
        assert len(set(zip(below.tolist(), above.tolist(), strict=True))) == len(set(below.tolist()))
    for table, labels, shares in zip(compiled.maps, compiled.labels, compiled.shares, strict=True):
        assert np.count_nonzero(np.diff(table[order])) == len(labels) - 1
        assert list(labels) == sorted(labels)
        assert shares.sum() <= 1 + 1e-12
        assert (shares > 0).all()
