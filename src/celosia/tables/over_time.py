"""Disclosure by differencing: groups of fewer than k persons that several publications of one table disclose together.

Knows published values by key, which cells are hidden, and how cells add up. Ignores files and where values come from:
all it needs is public, so it computes what an outsider can. A cell that grows from 12 to 13 discloses that one person
came in, with all the categories of the cell, though both values are large.
Sources: REQUIREMENTS Y22; OpenSAFELY and Fellegi 1972 on differencing; the audit (`_audit`) for hidden cells.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from celosia.tables.audit import audit
from celosia.tables.grid import Bounds, Grid
from celosia.tables.system import possible_filling

Key = Hashable
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Relation:
    """One cell is the sum of others, or, where a person may count in several, between the largest and the sum."""

    whole: Key
    parts: tuple[Key, ...]
    additive: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class Publication:
    """A table as the public has it; a hidden value is None. `bounds` adds what else is known of hidden cells."""

    values: Mapping[Key, int | None]
    relations: Sequence[Relation] = ()
    bounds: Mapping[Key, Interval] = field(default_factory=dict)
    least: int = 1  # of a hidden cell; 0 where zeros are hidden too


@dataclass(frozen=True, slots=True, repr=False)
class DisclosedGroup:
    """A group that an outsider finds to have, gain or lose between `low` and `high` persons.

    `keys` is one cell or several whose sum is meant. Without `earlier` it is a number of persons in publication
    `later`; with it, the change between the two.
    """

    keys: tuple[Key, ...]
    earlier: int | None
    later: int
    low: int
    high: int


def find_disclosed_groups(
    publications: Sequence[Publication], k: int, *, budget_seconds: float | None = None
) -> tuple[DisclosedGroup, ...]:
    """Groups of 1 to k-1 persons that follow from all publications together.

    Hidden cells known exactly; cells, published or not, whose change between two publications is known to be of 1 to
    k-1 persons; and sums of hidden cells, as totals give them, that change so.
    """
    share = None if budget_seconds is None else budget_seconds / max(len(publications), 1)
    known = [intervals(publication, budget_seconds=share) for publication in publications]
    small: list[DisclosedGroup] = []
    for number, publication in enumerate(publications):
        small += _small_cells(publication, known[number], number, k)
    for earlier, later in combinations(range(len(publications)), 2):
        small += _changed_cells(known, earlier, later, k)
        small += _changed_rests(publications, known, earlier, later, k)
    return tuple(small)


def intervals(publication: Publication, *, budget_seconds: float | None = None) -> dict[Key, Interval]:
    """The least and the greatest possible value of every cell, as far as the public can tell."""
    keys = list(
        dict.fromkeys([*publication.values, *(key for relation in publication.relations for key in _cells(relation))])
    )
    unknown = np.array([publication.values.get(key) is None for key in keys], np.bool_)
    prior = [publication.bounds.get(key, _prior(publication, key)) for key in keys]
    bounds = Bounds(np.array([low for low, _ in prior], float), np.array([high for _, high in prior], float))
    values = np.array([publication.values.get(key) or 0 for key in keys], np.int64)
    grid = _public_grid(keys, values, publication.relations)
    filled = possible_filling(grid, unknown, bounds)
    if filled is None:
        # Rounded values, or others that do not add up: totals disclose nothing about their parts.
        return _published_intervals(keys, values, unknown, bounds)
    possible = audit(
        _public_grid(keys, filled, publication.relations), unknown, bounds, exact=True, budget_seconds=budget_seconds
    )
    low, high = np.where(possible.proven, possible.low, bounds.low), np.where(possible.proven, possible.high, np.inf)
    return {key: (float(low[at]), float(high[at])) for at, key in enumerate(keys)}


def _prior(publication: Publication, key: Key) -> Interval:
    """Prior interval of a hidden cell; one that is not even listed may be empty."""
    return (publication.least if key in publication.values else 0, np.inf)


def _cells(relation: Relation) -> tuple[Key, ...]:
    return (relation.whole, *relation.parts)


def _public_grid(keys: Sequence[Key], values: np.ndarray, relations: Sequence[Relation]) -> Grid:
    number = {key: at for at, key in enumerate(keys)}
    lengths = [len(relation.parts) for relation in relations]
    return Grid(
        values,
        np.array([number[relation.whole] for relation in relations], np.int64),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([number[part] for relation in relations for part in relation.parts], np.int64),
        np.array([relation.additive for relation in relations], np.bool_),
        np.ones(len(keys), np.int64),
        np.ones(len(keys), np.bool_),
    )


def _published_intervals(
    keys: Sequence[Key], values: np.ndarray, unknown: np.ndarray, bounds: Bounds
) -> dict[Key, Interval]:
    low, high = np.where(unknown, bounds.low, values), np.where(unknown, bounds.high, values)
    return {key: (float(low[at]), float(high[at])) for at, key in enumerate(keys)}


# --- small groups ---------------------------------------------------------------------------------


def _small_cells(
    publication: Publication, known: Mapping[Key, Interval], number: int, k: int
) -> Iterator[DisclosedGroup]:
    for key, (low, high) in known.items():
        if publication.values.get(key) is None and low == high and 1 <= low < k:
            yield DisclosedGroup((key,), None, number, int(low), int(high))


def _changed_cells(
    known: Sequence[Mapping[Key, Interval]], earlier: int, later: int, k: int
) -> Iterator[DisclosedGroup]:
    before, after = known[earlier], known[later]
    for key in (key for key in after if key in before):
        yield from _small_change((key,), earlier, later, before[key], after[key], k)


def _changed_rests(
    publications: Sequence[Publication], known: Sequence[Mapping[Key, Interval]], earlier: int, later: int, k: int
) -> Iterator[DisclosedGroup]:
    """Sums of cells hidden in one of the two publications: a known whole less its known parts, or known parts added.

    What one publication discloses by subtraction the other may disclose by addition, so the parts unknown in the
    one, those unknown in the other and both together are examined.
    """
    shared = set(publications[earlier].relations)
    for relation in publications[later].relations:
        if relation.additive and relation in shared:
            unknown = [frozenset(p for p in relation.parts if not _is_exact(known[at][p])) for at in (earlier, later)]
            for rest in dict.fromkeys((*unknown, unknown[0] | unknown[1])):
                before, after = (_sum_known(known[at], relation, rest) for at in (earlier, later))
                if len(rest) > 1 and before is not None and after is not None:
                    keys = tuple(part for part in relation.parts if part in rest)
                    yield from _small_change(keys, earlier, later, (before, before), (after, after), k)


def _sum_known(known: Mapping[Key, Interval], relation: Relation, rest: frozenset[Key]) -> float | None:
    """The sum of some parts where it follows, from themselves or from the whole and the others."""
    if all(_is_exact(known[part]) for part in rest):
        return sum(known[part][0] for part in rest)
    others = [part for part in relation.parts if part not in rest]
    if not all(_is_exact(known[cell]) for cell in (relation.whole, *others)):
        return None
    return known[relation.whole][0] - sum(known[part][0] for part in others)


def _is_exact(interval: Interval) -> bool:
    return interval[0] == interval[1]


def _small_change(
    keys: tuple[Key, ...], earlier: int, later: int, before: Interval, after: Interval, k: int
) -> Iterator[DisclosedGroup]:
    low, high = after[0] - before[1], after[1] - before[0]
    if 1 <= low <= high < k or -k < low <= high <= -1:
        yield DisclosedGroup(keys, earlier, later, int(low), int(high))
