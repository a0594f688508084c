"""The last question before a run is written: would it, with everything published before, give somebody away?

Knows earlier releases, the one to be and what was counted. Ignores databases. Plays the outsider of `celosia stats
attack` on all of them together. Differences count, of published cells and of whatever follows from them; and so do
hidden cells that follow from the new release once values that have not changed since are put in from the old ones.
What the earlier releases gave away already is not held against the new one, nor what it tells by itself alone: that is
for the protection to decide.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from celosia.stats._identity import Owners, frame_of, identity, places_of, unit_of
from celosia.stats._protection import Protected
from celosia.stats._releases import Line, Release, publications_of
from celosia.tables.over_time import Learned, Publication, Relation, what_outsider_computes

LATEST = (
    12  # releases that the gate looks at together, or a nightly run would take longer every night; `attack` sees all
)

MOST = 1_000  # hidden cells of a release; solving for more takes hours


def lines_to_be(found: Protected, name: str, owners: Owners) -> list[Line]:
    """The persons of a protected table as its readers will have them."""
    version, frame, places = found.version, frame_of(found.version), places_of(found.version, owners)
    if version.table.method == "round":
        return []
    units = [unit_of(measure) for measure in version.table.measures if measure.kind == "persons"]
    return [
        Line(name, frame, unit, places[at], None if found.status[at] else int(version.cells.persons[at]))
        for unit in units
        for at in version.cells.offered.nonzero()[0].tolist()
    ]


def counted_now(found: Sequence[Protected], owners: Owners) -> dict[Hashable, int]:
    """The persons of every cell that was counted, shown or not."""
    return {
        identity(place): int(persons)
        for one in found
        for place, persons in zip(places_of(one.version, owners), one.version.cells.persons, strict=True)
    }


def gives_away(earlier: Sequence[Release], new: Release, counted: Mapping[Hashable, int]) -> bool:
    """Whether the readers of some k would learn of 1 to k-1 persons what they could not know before.

    A release with too many hidden cells to be looked through counts as giving away: keeping the former is always safe.
    """
    earlier = earlier[-LATEST:]
    for k in sorted({line.frame.k for release in (*earlier, new) for line in release}):
        told = publications_of([*earlier, new], k)
        before = [one for one in told[:-1] if one.values]
        if not before or not told[-1].values or before[-1].values == told[-1].values:
            continue  # nothing was told before, or nothing new is told
        if sum(value is None for value in told[-1].values.values()) > MOST:
            return True
        if _changes(before, told[-1], k) or _computed(before, told[-1], counted, k):
            return True
    return False


def _changes(before: Sequence[Publication], new: Publication, k: int) -> bool:
    """Whether a small change since an earlier release is seen that no other release had shown."""
    last = len(before)
    learned = what_outsider_computes([*before, new], k)
    known = {_without_later(one) for one in learned if one.later != last}
    return any(one.later == last and one.earlier is not None and _without_later(one) not in known for one in learned)


def _without_later(one: Learned) -> Hashable:
    return one.keys, one.earlier, one.low, one.high


def _computed(before: Sequence[Publication], new: Publication, counted: Mapping[Hashable, int], k: int) -> bool:
    """Whether a hidden cell follows from new and old values that follows neither from the new ones nor the old ones."""
    same = [_only(old, _unchanged(old, counted)) for old in before]
    joined = [_together([new, *reversed(same)])] + ([_together([new, one]) for one in same] if len(same) > 1 else [])
    joined += [_together([old, new]) for old in before]  # what was hidden then, taken to have been as it is now
    told = set[Hashable]().union(*(_small(one, k) for one in joined))
    if not told:
        return False
    alone = [new, *before, _together(before[::-1])]
    return bool(told.difference(*(_small(one, k) for one in alone)))


def _unchanged(old: Publication, counted: Mapping[Hashable, int]) -> dict[Hashable, int | None]:
    """The values of an earlier release that are those of now, or that nobody counted now."""
    return {
        cell: value for cell, value in old.values.items() if value is not None and counted.get(cell, value) == value
    }


def _only(old: Publication, values: Mapping[Hashable, int | None]) -> Publication:
    hidden = {cell: values.get(cell) for cell in old.values}
    return Publication(hidden, old.relations, least=old.least)


def _together(publications: Sequence[Publication]) -> Publication:
    """Several releases as one, the value of the first that tells a cell."""
    values: dict[Hashable, int | None] = {}
    relations: dict[Relation, None] = {}
    for one in publications:
        values |= {cell: value for cell, value in one.values.items() if values.get(cell) is None}
        relations |= dict.fromkeys(one.relations)
    return Publication(values, tuple(relations), least=min(one.least for one in publications))


def _small(one: Publication, k: int) -> set[Hashable]:
    return {found.keys for found in what_outsider_computes([one], k)}
