"""The Adult table and hierarchies in ARX's layout, as a search problem. Read from the shared folder only."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from celosia.evaluation.objective import Objective
from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import Criterion, DistinctL, EntropyL, KAnonymity, RecursiveL, TCloseness
from celosia.solver.problem import SearchProblem
from celosia.tuples.table import Tuples, group_codes


@cache
def rows_of(path: Path) -> tuple[tuple[str, ...], ...]:
    """Cells of a `;`-separated file."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(tuple(row) for row in csv.reader(file, delimiter=";"))


@cache
def column_codes(folder: Path, name: str) -> tuple[tuple[str, ...], np.ndarray]:
    """Vocabulary and codes of a column."""
    header, *rows = rows_of(folder / "adult.csv")
    at = header.index(name)
    vocabulary, codes = np.unique([row[at] for row in rows], return_inverse=True)
    return tuple(str(v) for v in vocabulary), codes.astype(np.int32)


def tuples_of(folder: Path, names: tuple[str, ...]) -> Tuples:
    """The tuple table over some columns."""
    columns = [column_codes(folder, name) for name in names]
    codes = np.stack([codes for _, codes in columns], axis=1)
    first, label = group_codes(codes, [len(v) for v, _ in columns])
    return Tuples(names, tuple(v for v, _ in columns), codes[first], np.bincount(label))


def hierarchy_of(path: Path, name: str, vocabulary: tuple[str, ...]) -> CompiledHierarchy:
    """A hierarchy file compiled for a vocabulary."""
    rows = rows_of(path)
    place = {row[0]: row for row in rows}
    labels, maps, shares = [], [], []
    for level in range(len(rows[0])):
        known = tuple(sorted({row[level] for row in rows}))
        code = {label: i for i, label in enumerate(known)}
        labels.append(known)
        maps.append(np.array([code[place[value][level]] for value in vocabulary], np.int32))
        shares.append(np.bincount([code[row[level]] for row in rows], minlength=len(known)) / len(rows))
    return CompiledHierarchy(name, tuple(labels), tuple(maps), tuple(shares), len(rows))


def criterion_of(text: str) -> Criterion:
    """A model as cases.json writes it."""
    kind, *rest = text.split(":")
    if kind == "k":
        return KAnonymity(k=int(rest[0]))
    if kind == "distinct-l":
        return DistinctL(variable=rest[0], l=int(rest[1]))
    if kind == "entropy-l":
        return EntropyL(variable=rest[0], l=rest[1])
    if kind == "recursive-cl":
        return RecursiveL(variable=rest[0], c=rest[1], l=int(rest[2]))
    distance = {"t-equal": "equal", "t-hier": "hierarchical", "t-ord": "ordered"}[kind]
    return TCloseness(variable=rest[0], t=rest[1], distance=distance)


def problem_of(folder: Path, case: dict) -> SearchProblem:
    """A case of cases.json as a problem."""
    names = tuple(case["quasi"])
    quasi = tuples_of(folder, names)
    hierarchies = {
        name: hierarchy_of(folder / f"adult_hierarchy_{name}.csv", name, quasi.vocabularies[i])
        for i, name in enumerate(names)
    }
    sensitive, trees = {}, {}
    if case["sensitive"]:
        name = case["sensitive"]
        sensitive[name] = tuples_of(folder, (*names, name))
        tree = folder / f"adult_hierarchy_{name}.csv"
        trees[name] = hierarchy_of(tree, name, sensitive[name].vocabularies[-1])
    return SearchProblem(
        quasi,
        hierarchies,
        tuple(criterion_of(text) for text in case["models"]),
        Fraction(str(case["suppression_limit"])),
        Objective(case["metric"]),
        sensitive,
        trees,
    )


def cases(folder: Path) -> list[dict]:
    """All cases of the reference."""
    return json.loads((folder.parent / "cases.json").read_text("utf-8"))["cases"]
