"""An independent judge of a published table: it shares no code with the room that protected it.

Reads the cells as a reader of the table would: by their categories, None for a margin, None for what is hidden.
Knows that every margin is the sum of its parts. Exact recovery by rational elimination, possible values by integer
programming.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

Key = tuple[str | None, ...]
Above = Mapping[str, str] | None
Equation = tuple[dict[Key, int], int]  # unknown cells with their factors, and what they add up to


def equations(cells: Mapping[Key, int | None], above: Above = None) -> list[Equation]:
    """What the margins and the levels of trees (`above`: category to the one it lies under) say of the hidden cells."""
    groups: dict[Key, dict[int, list[Key]]] = {}
    for key in cells:
        for at, label in enumerate(key):
            if label is not None:
                whole = (above or {}).get(label)
                groups.setdefault((*key[:at], whole, *key[at + 1 :]), {}).setdefault(at, []).append(key)
    return [
        _equation(cells, whole, parts) for whole, ways in groups.items() if whole in cells for parts in ways.values()
    ]


def _equation(cells: Mapping[Key, int | None], whole: Key, parts: list[Key]) -> Equation:
    unknown: dict[Key, int] = {}
    known = 0
    for key, factor in [(whole, -1), *((part, 1) for part in parts)]:
        value = cells[key]
        if value is None:
            unknown[key] = factor
        else:
            known += factor * value
    return unknown, -known


def known_to_insiders(cells: Mapping[Key, int | None], truth: Mapping[Key, int], primary: Collection[Key]) -> set[Key]:
    """Primary cells of others that somebody who is alone in a hidden cell could compute."""
    alone = [key for key, value in cells.items() if value is None and truth[key] == 1]
    found: set[Key] = set()
    for key in alone:
        own = {other: 1 for other in alone if _same_person(key, other, truth)}
        found |= (recovered({**cells, **own}) & set(primary)) - own.keys()
    return found


def _same_person(one: Key, other: Key, truth: Mapping[Key, int]) -> bool:
    """Whether who is alone in one cell is who is alone in the other: somebody stands where they meet."""
    clash = any(a is not None and b is not None and a != b for a, b in zip(one, other, strict=True))
    return not clash and truth.get(tuple(a or b for a, b in zip(one, other, strict=True)), 0) == 1


def recovered(cells: Mapping[Key, int | None], above: Above = None) -> set[Key]:
    """Hidden cells that follow exactly from the published ones."""
    pivots: dict[Key, dict[Key, Fraction]] = {}
    for unknown, _ in sorted(equations(cells, above), key=lambda equation: len(equation[0])):  # short ones fill in less
        row = {key: Fraction(factor) for key, factor in unknown.items()}
        for key in pivots.keys() & row.keys():
            row = _less(row, pivots[key], row[key])
        if not row:
            continue
        lead = min(row, key=lambda key: (key.count(None), str(key)))
        row = {key: factor / row[lead] for key, factor in row.items()}
        for key, other in pivots.items():
            if lead in other:
                pivots[key] = _less(other, row, other[lead])
        pivots[lead] = row
    return {lead for lead, row in pivots.items() if len(row) == 1}


def _less(row: Mapping[Key, Fraction], other: Mapping[Key, Fraction], times: Fraction) -> dict[Key, Fraction]:
    made = dict(row)
    for key, factor in other.items():
        made[key] = made.get(key, Fraction(0)) - times * factor
        if not made[key]:
            del made[key]
    return made


def single_valued(cells: Mapping[Key, int | None], primary: Collection[Key], k: int, least: int = 1) -> set[Key]:
    """Primary cells of which only one value is possible, for somebody who sees which cells are primary."""
    seen: dict[Key, set[int]] = {key: set() for key in primary}
    every = [equation for equation in equations(cells) if equation[0]]
    for key in primary:
        if len(seen[key]) < 2:  # two fillings met on the way are two possible values
            for filling in _extremes(_linked(every, key), primary, key, k, least):
                for other in seen.keys() & filling.keys():
                    seen[other].add(filling[other])
    return {key for key, values in seen.items() if len(values) < 2}


def possible(
    cells: Mapping[Key, int | None], primary: Collection[Key], asked: Key, k: int, least: int = 1
) -> tuple[int, int]:
    """The least and the largest value that a hidden cell may have; a billion stands for no limit."""
    linked = _linked([equation for equation in equations(cells) if equation[0]], asked)
    low, high = (filling[asked] for filling in _extremes(linked, primary, asked, k, least))
    return low, high


def _extremes(linked: list[Equation], primary: Collection[Key], asked: Key, k: int, least: int) -> list[dict[Key, int]]:
    """A filling of the hidden cells in whole numbers with the least value of one, and one with the largest."""
    unknown = sorted({key for factors, _ in linked for key in factors} | {asked}, key=str)
    place = {key: at for at, key in enumerate(unknown)}
    matrix = lil_array((len(linked), len(unknown)))
    for line, (factors, _) in enumerate(linked):
        for key, factor in factors.items():
            matrix[line, place[key]] = factor
    wanted = [amount for _, amount in linked]
    low = [least if key in primary else k for key in unknown]
    high = [k - 1 if key in primary else 10**9 for key in unknown]
    goal = np.array([1.0 if key == asked else 0.0 for key in unknown])
    rules = [LinearConstraint(matrix.tocsr(), wanted, wanted)] if linked else []
    whole = np.ones(len(unknown))
    ends = [milp(sign * goal, constraints=rules, bounds=Bounds(low, high), integrality=whole) for sign in (1, -1)]
    assert all(end.status == 0 for end in ends), "the published table contradicts itself"
    fillings = [dict(zip(unknown, np.rint(end.x).astype(int).tolist(), strict=True)) for end in ends]
    assert all(_fits(filling, linked) for filling in fillings)
    return fillings


def _fits(filling: Mapping[Key, int], linked: list[Equation]) -> bool:
    return all(sum(factor * filling[key] for key, factor in factors.items()) == amount for factors, amount in linked)


def _linked(every: list[Equation], asked: Key) -> list[Equation]:
    """The equations that reach a cell through shared hidden cells."""
    met, kept, rest = {asked}, [], every
    while reached := [equation for equation in rest if met & equation[0].keys()]:
        rest = [equation for equation in rest if not met & equation[0].keys()]
        kept += reached
        met |= {key for factors, _ in reached for key in factors}
    return kept
