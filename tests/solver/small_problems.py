"""Small problems made by hand: rows of text, hierarchies by columns of labels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from celosia.evaluation.objective import Objective
from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import Criterion
from celosia.solver.problem import SearchProblem
from celosia.tuples.table import Persons, Tuples, group_codes, roll_up_persons


def table_of(rows: Sequence[Sequence[str]], names: Sequence[str], people: Sequence[int] | None = None) -> Tuples:
    """The tuple table of rows of text, with persons when given."""
    columns = [np.unique([row[i] for row in rows], return_inverse=True) for i in range(len(names))]
    codes = np.stack([code.reshape(-1) for _, code in columns], axis=1).astype(np.int32)
    vocabularies = tuple(tuple(str(v) for v in vocabulary) for vocabulary, _ in columns)
    first, label = group_codes(codes, [len(v) for v in vocabularies])
    persons = None
    if people is not None:
        ordinal = np.array(people, np.int64)
        each = Persons(len(set(people)), np.zeros(len(rows), np.int64), np.arange(len(rows)), ordinal)
        persons = roll_up_persons(each, label, len(first))
    return Tuples(tuple(names), vocabularies, codes[first], np.bincount(label), persons)


def hierarchy_of(name: str, vocabulary: Sequence[str], *levels: Sequence[str]) -> CompiledHierarchy:
    """A hierarchy whose leaves are the vocabulary; each level gives the label of each value."""
    labels, maps, shares = [], [], []
    for column in (vocabulary, *levels):
        known, codes = np.unique(column, return_inverse=True)
        labels.append(tuple(str(k) for k in known))
        maps.append(codes.reshape(-1).astype(np.int32))
        shares.append(np.bincount(codes.reshape(-1)) / len(vocabulary))
    return CompiledHierarchy(name, tuple(labels), tuple(maps), tuple(shares), len(vocabulary))


def value_or_star(quasi: Tuples) -> dict[str, CompiledHierarchy]:
    """For each column, the value or `*`."""
    return {
        name: hierarchy_of(name, vocabulary, ["*"] * len(vocabulary))
        for name, vocabulary in zip(quasi.names, quasi.vocabularies, strict=True)
    }


def small(
    rows: Sequence[Sequence[str]], *criteria: Criterion, limit: str = "0", people: Sequence[int] | None = None
) -> SearchProblem:
    """A problem over rows whose columns are a, b, c, …; each is kept or replaced by `*`."""
    quasi = table_of(rows, [chr(ord("a") + i) for i in range(len(rows[0]))], people)
    return SearchProblem(quasi, value_or_star(quasi), criteria, Fraction(limit), Objective())
