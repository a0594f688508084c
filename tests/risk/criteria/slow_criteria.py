"""Criteria written a second time, slowly, from their definitions: lists, fractions, linear programs.

A class is a list of (value, person) rows; the reference a list of values. Shares no code with the product.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

Rows = list[tuple[str, int]]


def visible(rows: Rows) -> list[str]:
    """Values that are not masked."""
    return [value for value, _ in rows if set(value) != {"*"}]


def size(rows: Rows, unit: str) -> int:
    """Persons or rows."""
    return len({person for _, person in rows}) if unit == "persons" else len(rows)


def counted_values(rows: Rows, missing_counts: bool) -> list[str]:
    """Values that count."""
    return [value for value in visible(rows) if missing_counts or value != ""]


def k(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    return size(rows, p["unit"]) >= p["k"]


def persons_showing(rows: Rows) -> set[int]:
    """Persons who show a value."""
    return {person for value, person in rows if set(value) != {"*"}}


def each_value_is_lacked(rows: Rows, p: dict) -> bool:
    """Whether, of the persons who show a value, at least l - 1 lack each value that counts."""
    for value in set(counted_values(rows, p["missing_counts"])):
        lacking = persons_showing(rows) - {person for own_value, person in rows if own_value == value}
        if p["unit"] == "persons" and len(lacking) < math.ceil(p["l"]) - 1:
            return False
    return True


def distinct_l(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    if not visible(rows):
        return True
    if len(set(counted_values(rows, p["missing_counts"]))) < p["l"]:
        return False
    return each_value_is_lacked(rows, p)


def entropy_l(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    values = counted_values(rows, p["missing_counts"])
    if not visible(rows):
        return True
    shares = [many / len(values) for many in Counter(values).values()]
    diverse = bool(values) and math.exp(-sum(x * math.log(x) for x in shares)) >= float(p["l"]) - 1e-9
    return diverse and each_value_is_lacked(rows, p)


def recursive_l(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    if not visible(rows):
        return True
    counts = sorted(Counter(counted_values(rows, p["missing_counts"])).values(), reverse=True)
    diverse = bool(counts) and counts[0] < Fraction(str(p["c"])) * sum(counts[p["l"] - 1 :])
    return diverse and each_value_is_lacked(rows, p)


def t(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    here, there = visible(rows), [v for v in reference if set(v) != {"*"}]
    if not here:
        return True
    values = sorted(set(there) | set(here))
    if p["distance"] == "equal":
        gap = sum(abs(Fraction(here.count(v), len(here)) - Fraction(there.count(v), len(there))) for v in values)
        return gap / 2 <= Fraction(str(p["t"]))
    if p["distance"] == "ordered":
        numbers = [v for v in values if v]
        if all(v.isdigit() for v in numbers):
            values = sorted(values, key=lambda v: (v != "", int(v or 0)))
        place = {v: i for i, v in enumerate(values)}
        cost = [[abs(place[a] - place[b]) / max(len(values) - 1, 1) for b in values] for a in values]
    else:
        cost = [[meeting(tree, a, b) for b in values] for a in values]
    return earth_mover(here, there, values, cost) <= float(p["t"]) + 1e-9


def meeting(tree: list[list[str]], a: str, b: str) -> float:
    """Level at which two values meet ÷ height; at a root above the tree if nowhere else."""
    top = len({row[-1] for row in tree})
    height = len(tree[0]) - 1 if top == 1 and len(tree[0]) > 1 else len(tree[0])
    first_path, second_path = (next(row for row in tree if row[0] == value) for value in (a, b))
    for level in range(len(first_path)):
        if first_path[level] == second_path[level]:
            return level / height
    return 1.0


def earth_mover(here: list[str], there: list[str], values: list[str], cost: list[list[float]]) -> float:
    """The least cost of moving one distribution into the other, as a linear program."""
    m = len(values)
    supply = [here.count(v) / len(here) for v in values]
    demand = [there.count(v) / len(there) for v in values]
    constraints = np.zeros((2 * m, m * m))
    for i in range(m):
        constraints[i, i * m : (i + 1) * m] = 1
        constraints[m + i, i::m] = 1
    solved = linprog(np.ravel(cost), A_eq=constraints, b_eq=supply + demand, method="highs")
    return float(solved.fun)


def delta(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    here, there = visible(rows), [v for v in reference if set(v) != {"*"}]
    for value in set(here):
        ratio = Fraction(here.count(value), len(here)) / Fraction(there.count(value), len(there))
        if abs(math.log2(ratio)) >= float(p["delta"]) - 1e-11:
            return False
    return True


def beta(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    here, there = visible(rows), [v for v in reference if set(v) != {"*"}]
    for value in set(here):
        mine, base = Fraction(here.count(value), len(here)), Fraction(there.count(value), len(there))
        limit = Fraction(str(p["beta"]))
        if p["variant"] == "enhanced":
            limit = min(limit, Fraction(-math.log(base) + 1e-11))
        if (mine - base) / base > limit:
            return False
    return True


def alpha_k(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    here = visible(rows)
    high = any(Fraction(here.count(v), len(here)) > Fraction(str(p["alpha"])) for v in set(here))
    for value in set(here) if p["unit"] == "persons" else ():
        holders = {person for own_value, person in rows if own_value == value}
        high |= Fraction(len(holders), len(persons_showing(rows))) > Fraction(str(p["alpha"]))
    return not high and size(rows, p["unit"]) >= p["k"]


def max_risk(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    return Fraction(1, size(rows, p["unit"])) <= Fraction(str(p["threshold"]))


def average_risk(classes: list[Rows], p: dict) -> list[bool]:
    """Drop all classes of the smallest size until the mean of 1/f holds."""
    sizes = [size(rows, p["unit"]) for rows in classes]
    remaining = list(range(len(classes)))
    while remaining:
        risks = [Fraction(1, sizes[i]) for i in remaining for _ in range(sizes[i])]
        if sum(risks) / len(risks) <= Fraction(str(p["threshold"])):
            break
        smallest = min(sizes[i] for i in remaining)
        remaining = [i for i in remaining if sizes[i] != smallest]
    return [i in remaining for i in range(len(classes))]


def average_size(classes: list[Rows], p: dict) -> list[bool]:
    """Drop all classes of the smallest size until the mean size holds."""
    sizes = [size(rows, p["unit"]) for rows in classes]
    remaining = list(range(len(classes)))
    while remaining and Fraction(sum(sizes[i] for i in remaining), len(remaining)) < Fraction(str(p["size"])):
        smallest = min(sizes[i] for i in remaining)
        remaining = [i for i in remaining if sizes[i] != smallest]
    return [i in remaining for i in range(len(classes))]


def sample_uniqueness(classes: list[Rows], p: dict) -> list[bool]:
    """Everybody who is alone goes, where they are too many of all."""
    sizes = [size(rows, p["unit"]) for rows in classes]
    everybody = [own for own in sizes for _ in range(own)]
    too_many = everybody and Fraction(everybody.count(1), len(everybody)) > Fraction(str(p["threshold"]))
    return [not (too_many and own == 1) for own in sizes]


def profitability(rows: Rows, p: dict, reference: list[str], tree: list[list[str]]) -> bool:
    """An attempt brings the gain once in f."""
    return Fraction(str(p["gain"])) / size(rows, p["unit"]) <= Fraction(str(p["cost"]))


TOGETHER = {"average_risk": average_risk, "average_size": average_size, "sample_uniqueness": sample_uniqueness}
REFERENCES = {
    "k": k,
    "distinct_l": distinct_l,
    "entropy_l": entropy_l,
    "recursive_l": recursive_l,
    "t": t,
    "delta": delta,
    "beta": beta,
    "alpha_k": alpha_k,
    "max_risk": max_risk,
    "profitability": profitability,
}
