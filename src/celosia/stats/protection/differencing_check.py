"""The differencing check before a run is written: what it would disclose together with everything published before.

Knows earlier releases, the upcoming one and what was counted. Ignores databases. Computes what the outsider of
`celosia stats attack` would, on all of them together. Differences count, of published cells and of whatever follows
from them; and so do hidden cells that follow from the new release once values that have not changed since are put in
from the old ones. What the earlier releases disclosed already does not count against the new one, nor what it
discloses by itself: that is the part of the protection.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from celosia.stats.protection.identity import Owners, cell_positions, frame_of, identity, unit_of
from celosia.stats.protection.published_history import Following, Release, ReleasedCell, publications_of
from celosia.stats.protection.version import ProtectedVersion
from celosia.tables.over_time import DisclosedGroup, Publication, Relation, find_disclosed_groups

# More releases would make a nightly run longer every night; `attack` examines all of them.
MOST_RELEASES = 12
MOST_HIDDEN = 1_000  # hidden cells of a release; solving for more takes hours


def upcoming_cells(protected: ProtectedVersion, name: str, owners: Owners) -> list[ReleasedCell]:
    """The persons of a protected table as its readers will see them."""
    version, frame, places = protected.version, frame_of(protected.version), cell_positions(protected.version, owners)
    if version.table.method == "round":
        return []
    units = [unit_of(measure) for measure in version.table.measures if measure.kind == "persons"]
    return [
        ReleasedCell(name, frame, unit, places[at], None if protected.status[at] else int(version.cells.persons[at]))
        for unit in units
        for at in version.cells.offered.nonzero()[0].tolist()
    ]


def person_counts(protected_versions: Sequence[ProtectedVersion], owners: Owners) -> dict[Hashable, int]:
    """The persons of every cell that was counted, published or not."""
    return {
        identity(place): int(persons)
        for protected in protected_versions
        for place, persons in zip(
            cell_positions(protected.version, owners), protected.version.cells.persons, strict=True
        )
    }


def discloses_by_difference(
    earlier: Sequence[Release], new: Release, counted: Mapping[Hashable, int], follow: Following | None = None
) -> bool:
    """Whether the readers of some k would learn of 1 to k-1 persons what they could not know before.

    A release with too many hidden cells to examine counts as disclosing: keeping the former one is always safe.
    """
    earlier = earlier[-MOST_RELEASES:]
    for k in sorted({line.frame.k for release in (*earlier, new) for line in release}):
        publications = publications_of([*earlier, new], k, follow=follow)
        before = [publication for publication in publications[:-1] if publication.values]
        if not before or not publications[-1].values or before[-1].values == publications[-1].values:
            # Nothing was published before, or nothing new is.
            continue
        if sum(value is None for value in publications[-1].values.values()) > MOST_HIDDEN:
            return True
        if _discloses_change(before, publications[-1], k) or _discloses_hidden_cell(
            before, publications[-1], counted, k
        ):
            return True
    return False


def _discloses_change(before: Sequence[Publication], new: Publication, k: int) -> bool:
    """Whether a small change since an earlier release is disclosed that no other release had disclosed."""
    last = len(before)
    learned = find_disclosed_groups([*before, new], k)
    known = {_change_key(group) for group in learned if group.later != last}
    return any(
        group.later == last and group.earlier is not None and _change_key(group) not in known for group in learned
    )


def _change_key(group: DisclosedGroup) -> Hashable:
    return group.keys, group.earlier, group.low, group.high


def _discloses_hidden_cell(
    before: Sequence[Publication], new: Publication, counted: Mapping[Hashable, int], k: int
) -> bool:
    """Whether a hidden cell follows from new and old values together, and from neither of them alone."""
    same = [_restrict_to(old, _unchanged_values(old, counted)) for old in before]
    joined = [_combine([new, *reversed(same)])] + (
        [_combine([new, publication]) for publication in same] if len(same) > 1 else []
    )
    joined += [_combine([old, new]) for old in before]  # cells hidden then, with their present value
    groups = set[Hashable]().union(*(_small_groups(publication, k) for publication in joined))
    if not groups:
        return False
    alone = [new, *before, _combine(before[::-1])]
    return bool(groups.difference(*(_small_groups(publication, k) for publication in alone)))


def _unchanged_values(old: Publication, counted: Mapping[Hashable, int]) -> dict[Hashable, int | None]:
    """The values of an earlier release that are still the same, or were not counted now."""
    return {
        cell: value for cell, value in old.values.items() if value is not None and counted.get(cell, value) == value
    }


def _restrict_to(old: Publication, values: Mapping[Hashable, int | None]) -> Publication:
    hidden = {cell: values.get(cell) for cell in old.values}
    return Publication(hidden, old.relations, least=old.least)


def _combine(publications: Sequence[Publication]) -> Publication:
    """Several releases as one; a cell has the value of the first release that publishes it."""
    values: dict[Hashable, int | None] = {}
    relations: dict[Relation, None] = {}
    for publication in publications:
        values |= {cell: value for cell, value in publication.values.items() if values.get(cell) is None}
        relations |= dict.fromkeys(publication.relations)
    return Publication(values, tuple(relations), least=min(publication.least for publication in publications))


def _small_groups(publication: Publication, k: int) -> set[Hashable]:
    return {group.keys for group in find_disclosed_groups([publication], k)}
