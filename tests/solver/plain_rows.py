"""Random tables as plain rows of text, and the judgement of what is published by counting those rows by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import Criterion, criterion_from
from celosia.solver.published import ClassCounter
from celosia.tuples.table import Tuples
from tests.risk.criteria.slow_criteria import REFERENCES
from tests.solver.random_problems import tuples_of

Row = tuple[str, ...]


@dataclass(frozen=True)
class PlainTable:
    """Rows of text, one sensitive value and one person for each; `keyed` tells whether the person is known."""

    rows: list[Row]
    values: list[str]
    persons: list[int]
    keyed: bool = False

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def counter(self) -> ClassCounter:
        """The compressed table, made here with plain sorting."""
        vocabularies = tuple(tuple(sorted({row[v] for row in self.rows})) for v in range(self.width))
        known = tuple(sorted(set(self.values)))
        codes = np.array([[vocabularies[v].index(row[v]) for v in range(self.width)] for row in self.rows])
        both = np.column_stack([codes, [known.index(value) for value in self.values]])
        names = tuple(f"q{v}" for v in range(self.width))
        person = np.array(self.persons) if self.keyed else None
        quasi = tuples_of(codes, vocabularies, names, person)
        sensitive = tuples_of(both, (*vocabularies, known), (*names, "s"), person)
        return ClassCounter(quasi, {"s": sensitive})

    def tuple_of_row(self, quasi: Tuples) -> list[int]:
        """The position of each row's tuple."""
        place = {text: at for at, text in enumerate(texts(quasi.codes, quasi.vocabularies))}
        return [place[row] for row in self.rows]

    def failing_rows(self, published: Sequence[Row], criteria: Sequence[Criterion]) -> int:
        """Rows whose class fails, when each row is published as this text."""
        classes: dict[Row, list[tuple[str, int]]] = defaultdict(list)
        for text, value, person in zip(published, self.values, self._who(), strict=True):
            classes[text].append((value, person))
        good = [all(self._holds(rows, criterion) for criterion in criteria) for rows in classes.values()]
        return sum(len(rows) for rows, passes in zip(classes.values(), good, strict=True) if not passes)

    def _who(self) -> list[int]:
        return self.persons if self.keyed else list(range(len(self.rows)))

    def _holds(self, rows: list[tuple[str, int]], criterion: Criterion) -> bool:
        data = criterion.as_dict()
        return REFERENCES[str(data["criterion"])](rows, data, self.values, [])


def texts(codes: np.ndarray, vocabularies: Sequence[Sequence[str]]) -> list[Row]:
    """Rows of codes as text."""
    return [tuple(vocabularies[v][code] for v, code in enumerate(row)) for row in codes.tolist()]


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 30, most_values: int = 4, most_variables: int = 3) -> PlainTable:
    """A small table in which some combinations are common and some are rare."""
    count, width = draw(st.integers(1, most_rows)), draw(st.integers(1, most_variables))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    alphabet = np.array(["", "*", "05301", "05302", "1", "99999"])
    sizes = [draw(st.integers(1, most_values)) for _ in range(width)]
    picks = [rng.permutation(alphabet)[:size] for size in sizes]
    skew = draw(st.sampled_from([1.0, 2.5]))
    columns = [pick[(len(pick) * rng.random(count) ** skew).astype(int)].tolist() for pick in picks]
    values = rng.choice(["", "I219", "J189", "C341"][: draw(st.integers(1, 4))], count).tolist()
    persons = rng.integers(0, draw(st.integers(1, count)), count).tolist()
    return PlainTable(list(zip(*columns, strict=True)), values, persons, draw(st.booleans()))


@st.composite
def criteria(draw: st.DrawFn) -> tuple[Criterion, ...]:
    """One or two criteria: k in rows or persons, distinct and entropy l, t."""
    unit = draw(st.sampled_from(["rows", "persons"]))
    options: list[dict[str, object]] = [
        {"criterion": "k", "k": draw(st.integers(1, 5)), "unit": unit},
        {"criterion": "distinct_l", "variable": "s", "l": draw(st.integers(1, 3)), "unit": unit},
        {"criterion": "entropy_l", "variable": "s", "l": draw(st.sampled_from(["1.2", "1.7", "2"]))},
        {"criterion": "t", "variable": "s", "t": draw(st.sampled_from(["0.1", "0.3", "0.6"]))},
    ]
    chosen = draw(st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True))
    return tuple(criterion_from(options[place]) for place in chosen)


@st.composite
def hierarchies(draw: st.DrawFn, vocabularies: Sequence[Sequence[str]]) -> list[CompiledHierarchy]:
    """Nested hierarchies; a group of one keeps its label, so the same text may occur at several levels."""
    return [_hierarchy(draw, f"q{v}", tuple(vocabulary)) for v, vocabulary in enumerate(vocabularies)]


def _hierarchy(draw: st.DrawFn, name: str, vocabulary: Row) -> CompiledHierarchy:
    columns = [list(vocabulary)]
    for level in range(draw(st.integers(0, 2))):
        labels = sorted(set(columns[-1]))
        group = {label: draw(st.integers(0, len(labels) - 1)) for label in labels}
        members = {g: [label for label in labels if group[label] == g] for g in group.values()}
        columns.append([_label(members[group[label]], f"g{level}{group[label]}") for label in columns[-1]])
    if draw(st.booleans()):
        columns.append(["*"] * len(vocabulary))
    return compile_columns(name, columns)


def _label(members: list[str], name: str) -> str:
    return members[0] if len(members) == 1 else name


def compile_columns(name: str, columns: Sequence[Sequence[str]]) -> CompiledHierarchy:
    """A hierarchy from one column of labels per level, in the order of the vocabulary."""
    labels = [tuple(columns[0]), *(tuple(sorted(set(column))) for column in columns[1:])]
    maps = [
        np.array([known.index(label) for label in column], np.int32)
        for known, column in zip(labels, columns, strict=True)
    ]
    shares = [np.bincount(codes, minlength=len(known)) / len(codes) for known, codes in zip(labels, maps, strict=True)]
    return CompiledHierarchy(name, tuple(labels), tuple(maps), tuple(shares), len(columns[0]))
