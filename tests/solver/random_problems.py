"""Random small search problems: tables, nested hierarchies, criteria, metrics, limits, weights, levels, persons."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from celosia.evaluation.objective import MEANS, METRICS, Objective
from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import criterion_from
from celosia.solver.problem import SearchProblem
from celosia.tuples.table import Persons, Tuples, group_codes, roll_up_persons

VALUES = ("", "*", "1", "10", "2", "b", "c")


def tuples_of(columns: np.ndarray, vocabularies: tuple[tuple[str, ...], ...], names, person) -> Tuples:
    """The tuple table of some rows, with the persons behind."""
    first, label = group_codes(columns, [len(v) for v in vocabularies])
    persons = None
    if person is not None:
        each = Persons(int(person.max(initial=0)) + 1, np.zeros(len(columns), np.int64), *_incidence_of(person))
        persons = roll_up_persons(each, label, len(first))
    return Tuples(
        names, vocabularies, columns[first].astype(np.int32), np.bincount(label, minlength=len(first)), persons
    )


def _incidence_of(person: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(len(person)), person.astype(np.int64)


def hierarchy(draw, name: str, size: int) -> CompiledHierarchy:
    """A nested hierarchy over at least the vocabulary; leaves may exist that the data do not hold."""
    leaves = size + draw(st.integers(0, 2))
    maps, labels = [np.arange(leaves)], [tuple(f"{i}" for i in range(leaves))]
    for _ in range(draw(st.integers(0, 3))):
        many = len(labels[-1])
        groups = draw(st.lists(st.integers(0, max(many - 1, 0)), min_size=many, max_size=many))
        dense = np.unique(groups, return_inverse=True)[1].reshape(-1)
        maps.append(dense[maps[-1]])
        labels.append(tuple(f"{len(labels)}.{i}" for i in range(int(dense.max()) + 1)))
    shares = [np.bincount(m, minlength=len(names)) / leaves for m, names in zip(maps, labels, strict=True)]
    fitted = tuple(m[:size].astype(np.int32) for m in maps)
    return CompiledHierarchy(name, tuple(labels), fitted, tuple(shares), leaves)


def criterion(draw, variable: str) -> dict[str, object]:
    """A criterion as data."""
    reference = draw(st.sampled_from(["source", "source", "release"]))
    share = draw(st.integers(1, 19)) / 20
    unit = draw(st.sampled_from(["persons", "rows"]))
    options = {
        "k": {"k": draw(st.integers(1, 5)), "unit": unit},
        "distinct_l": {"variable": variable, "l": draw(st.integers(1, 4)), "unit": unit},
        "entropy_l": {"variable": variable, "l": draw(st.integers(10, 30)) / 10, "unit": unit},
        "recursive_l": {
            "variable": variable,
            "l": draw(st.integers(1, 3)),
            "c": draw(st.integers(5, 40)) / 10,
            "unit": unit,
        },
        "t": {
            "variable": variable,
            "t": share,
            "reference": reference,
            "distance": draw(st.sampled_from(["equal", "ordered", "hierarchical"])),
        },
        "delta": {"variable": variable, "delta": 4 * share, "reference": reference},
        "beta": {
            "variable": variable,
            "beta": 3 * share,
            "reference": reference,
            "variant": draw(st.sampled_from(["basic", "enhanced"])),
        },
        "alpha_k": {"variable": variable, "alpha": share, "k": draw(st.integers(1, 3)), "unit": unit},
        "max_risk": {"threshold": share, "unit": unit},
        "average_risk": {"threshold": share, "unit": unit},
        "average_size": {"size": draw(st.integers(10, 60)) / 10, "unit": unit},
        "sample_uniqueness": {"threshold": share, "unit": unit},
        "profitability": {"gain": draw(st.integers(1, 80)) / 8, "cost": draw(st.integers(1, 40)) / 8, "unit": unit},
    }
    name = draw(st.sampled_from(sorted(options)))
    chosen = {"criterion": name} | options[name]
    if name in ("distinct_l", "entropy_l", "recursive_l"):
        chosen["missing_counts"] = draw(st.booleans())
    return {key: round(v, 6) if isinstance(v, float) else v for key, v in chosen.items()}


@st.composite
def problems(draw, persons: bool | None = None) -> SearchProblem:
    """A small problem."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, width = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    sizes = [draw(st.integers(1, 5)) for _ in range(width)]
    skew = draw(st.sampled_from([1.0, 2.0]))
    columns = np.stack([(s * rng.random(rows) ** skew).astype(int) for s in sizes], axis=1)
    names = tuple(f"q{i}" for i in range(width))
    vocabularies = tuple(tuple(f"{j}" for j in range(s)) for s in sizes)
    with_persons = draw(st.booleans()) if persons is None else persons
    person = rng.integers(0, draw(st.integers(1, rows)), rows) if with_persons else None
    hierarchies = {name: hierarchy(draw, name, s) for name, s in zip(names, sizes, strict=True)}
    vocabulary = tuple(sorted(draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=6, unique=True))))
    sensitive, trees = {}, {}
    for variable in ("s", "t"):
        codes = (len(vocabulary) * rng.random(rows) ** skew).astype(int)
        both = np.concatenate([columns, codes[:, None]], axis=1)
        sensitive[variable] = tuples_of(both, (*vocabularies, vocabulary), (*names, variable), person)
        trees[variable] = hierarchy(draw, variable, len(vocabulary))
    asked = [criterion(draw, draw(st.sampled_from(["s", "t"]))) for _ in range(draw(st.integers(1, 3)))]
    low = {n: draw(st.integers(0, h.height)) for n, h in hierarchies.items() if draw(st.integers(0, 3)) == 0}
    high = {n: draw(st.integers(low.get(n, 0), h.height)) for n, h in hierarchies.items() if draw(st.booleans())}
    weights = {n: draw(st.integers(0, 4)) / 2 for n in names if draw(st.integers(0, 2)) == 0}
    return SearchProblem(
        tuples_of(columns, vocabularies, names, person),
        hierarchies,
        tuple(criterion_from(data) for data in asked),
        draw(st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 3), Fraction(1, 2), Fraction(1)])),
        Objective(draw(st.sampled_from(METRICS)), draw(st.sampled_from(MEANS)), weights),
        sensitive,
        trees,
        low,
        high,
    )
