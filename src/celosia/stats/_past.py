"""What earlier runs told of the cells of a table to be: found by what the cells are, over all tables and audiences.

Knows the history and counted versions. Ignores databases. Who reads one k may not see groups of fewer in the difference
of two releases; a value that was told to others, of a lower k, is held against theirs. Values of rounded tables are
never compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.model.stats import stats_name
from celosia.stats._identity import Identity, Owners, identity, places_of, unit_of
from celosia.stats._protection import Earlier, Key, Version, history_keys
from celosia.stats._releases import Line, Release, line_of, releases_by_origin
from celosia.stats._target import Published


class Past:
    """Everything that STATS ever told."""

    def __init__(self, history: Sequence[Published]):
        self._releases = releases_by_origin(history)
        self._standing = [line for one in history if one.until is None and (line := line_of(one)) is not None]
        self._old = [one for one in history if one.value is not None and line_of(one) is None]

    def releases(self, origin: str) -> list[Release]:
        """What each earlier run told of an origin, oldest first."""
        return list(self._releases.get(origin, {}).values())

    def standing(self, origin: str) -> list[Line]:
        """What of an origin is in STATS now."""
        return [line for line in self._standing if line.frame.origin == origin]

    def of(self, version: Version, owners: Owners) -> tuple[Earlier, ...]:
        """What was told before of the cells of a version."""
        if version.table.method == "round":
            return ()
        keys = dict[Identity, list[Key]]()
        for place, key in zip(places_of(version, owners), history_keys(version), strict=True):
            keys.setdefault(identity(place), []).append(key)
        measures = {unit_of(measure): measure.name for measure in version.table.measures}
        found = dict[tuple[object, int], dict[tuple[str, Key], float]]()
        for run, release in self._releases.get(version.origin, {}).items():
            for line in release:
                if line.value is not None and line.unit in measures:
                    told = found.setdefault((run, _held_against(line, version)), {})
                    told |= {(measures[line.unit], key): line.value for key in keys.get(line.identity, ())}
        return (*self._of_old(version), *(Earlier(told, k) for (_, k), told in found.items() if told))

    def _of_old(self, version: Version) -> list[Earlier]:
        """Lines that do not say what their cell is: found by the name of the table."""
        name = stats_name(version.table.name, version.audience)
        mine = [one for one in self._old if one.table == name and one.value is not None]
        runs = sorted({one.since for one in mine})
        told = [{(one.measure, one.labels): one.value for one in mine if one.shown_in(run)} for run in runs]
        return [Earlier({cell: v for cell, v in one.items() if v is not None}, version.k) for one in told]


def _held_against(line: Line, version: Version) -> int:
    own = line.frame.audience == version.audience
    return version.k if own else min(line.frame.k, version.k)
