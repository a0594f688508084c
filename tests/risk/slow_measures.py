"""Every measure again, slowly, in plain Python over rows: fractions for shares, linear programs for distances."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

from scipy.optimize import linprog

Row = tuple[str, ...]
Distance = Callable[[str, str], float]


def masked(value: str) -> bool:
    return value != "" and set(value) == {"*"}


def suppressed(row: Row) -> bool:
    return all(masked(value) for value in row)


def class_sizes(rows: Sequence[Row]) -> list[int]:
    return list(Counter(row for row in rows if not suppressed(row)).values())


def class_persons(rows: Sequence[Row], persons: Sequence[str]) -> list[int]:
    people = defaultdict(set)
    for row, person in zip(rows, persons, strict=True):
        if not suppressed(row):
            people[row].add(person)
    return [len(group) for group in people.values()]


def compatible(one: Row, other: Row) -> bool:
    return all(a == b or a == "" or b == "" for a, b in zip(one, other, strict=True))


def compatible_rows(rows: Sequence[Row]) -> list[int]:
    """For each row, the rows it may be confused with when an empty cell may be anything: pair by pair."""
    return [sum(compatible(row, other) for other in rows) for row in rows]


def class_counters(rows: Sequence[Row], values: Sequence[str]) -> list[Counter[str]]:
    """Visible values of each class that has any."""
    classes: dict[Row, Counter[str]] = defaultdict(Counter)
    for row, value in zip(rows, values, strict=True):
        if not suppressed(row) and not masked(value):
            classes[row][value] += 1
    return list(classes.values())


def shares(counter: Counter[str]) -> dict[str, Fraction]:
    return {value: Fraction(count, counter.total()) for value, count in counter.items()}


def visible(values: Sequence[str]) -> dict[str, Fraction]:
    return shares(Counter(value for value in values if not masked(value)))


def entropy_l(classes: Sequence[Counter[str]]) -> float:
    return min(math.exp(-sum(q * math.log(q) for q in shares(c).values())) for c in classes)


def recursive_c(classes: Sequence[Counter[str]]) -> Fraction | None:
    level = min(len(counter) for counter in classes)
    if level < 2:
        return None
    ordered = [sorted(counter.values(), reverse=True) for counter in classes]
    return max(Fraction(counts[0], sum(counts[level - 1 :])) for counts in ordered)


def t_equal(classes: Sequence[Counter[str]], p: dict[str, Fraction]) -> Fraction:
    return max(sum(abs(shares(c).get(v, Fraction(0)) - p[v]) for v in p) / 2 for c in classes)


def earth_mover(q: dict[str, Fraction], p: dict[str, Fraction], distance: Distance) -> float:
    """The cheapest way to turn p into q, as a transport problem."""
    values = list(p)
    cost = [distance(a, b) for a in values for b in values]
    leave = [[float(i == a) for i in range(len(values)) for _ in values] for a in range(len(values))]
    arrive = [[float(j == b) for _ in values for j in range(len(values))] for b in range(len(values))]
    amounts = [float(p[v]) for v in values] + [float(q.get(v, 0)) for v in values]
    return float(linprog(cost, A_eq=leave + arrive, b_eq=amounts).fun)


def t_moved(classes: Sequence[Counter[str]], p: dict[str, Fraction], distance: Distance) -> float:
    return max(earth_mover(shares(counter), p, distance) for counter in classes)


def ordered_distance(values: Sequence[str], key: Callable[[str], object]) -> Distance:
    place = {value: i for i, value in enumerate(sorted(values, key=key))}  # type: ignore[arg-type]
    return lambda a, b: abs(place[a] - place[b]) / max(len(place) - 1, 1)


def alpha(classes: Sequence[Counter[str]]) -> Fraction:
    return max(max(shares(counter).values()) for counter in classes)


def gains(classes: Sequence[Counter[str]], p: dict[str, Fraction]) -> list[tuple[Fraction, Fraction]]:
    """(p, gain) of every value of every class that is more frequent there than in the table."""
    return [(p[v], (q - p[v]) / p[v]) for c in classes for v, q in shares(c).items() if q > p[v]]


def beta_enhanced(classes: Sequence[Counter[str]], p: dict[str, Fraction]) -> Fraction | None:
    """Try the only candidate there is: the largest gain; any smaller beta would refuse it."""
    found = gains(classes, p)
    beta = max((gain for _, gain in found), default=Fraction(0))
    holds = all(gain <= beta and float(gain) <= -math.log(share) for share, gain in found)
    return beta if holds else None


def delta(classes: Sequence[Counter[str]], p: dict[str, Fraction]) -> float:
    """Infinite where a class lacks a value."""
    worst = 0.0
    for counter in classes:
        q = shares(counter)
        for value in p:
            worst = max(worst, abs(math.log(q[value] / p[value])) if value in q else math.inf)
    return worst
