"""Grouping in the engine by the least levels a policy allows, so that the tuple table is as small as they make it.

A value stands in for all that share its group at the least level: the search never looks below that level, so what
it finds is the same, and a table of combinations of days becomes one of combinations of months. The tuples keep the
whole vocabulary, so hierarchies, shares of leaves and losses are those of all values.
Knows hierarchies, least levels and tables. Ignores criteria and what is searched for. Whether it is done follows
from the policy alone, never from the memory at hand: the same policy gives the same plan on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.data.table import Table
from celosia.hierarchy import CompiledHierarchy
from celosia.model.plan import Policy
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Variable
from celosia.pipeline._hierarchies import compiled_hierarchy
from celosia.tuples import Tuples

Codes = NDArray[np.int64]
Counts = NDArray[np.int64]
_NOTHING: Mapping[str, Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StandIns:
    """Which value stands in for which, column by column; for some columns it depends on the part a row is in."""

    each: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NOTHING)
    part: str = ""  # the column that tells the parts, after its own stand-ins
    by_part: Mapping[str, tuple[pa.Array, pa.Array, pa.Array]] = field(default_factory=lambda: MappingProxyType({}))

    def put_in(self, table: Table) -> Table:
        """The table with the stand-ins in place of the values, as the tuples of a solution have them."""
        for name, mapping in self.each.items():
            table = table.map_values(name, mapping)
        origins = {name: name for name in table.names}
        for name, (part, value, stand_in) in self.by_part.items():
            table = table.with_values({self.part: part, name: value}, {name: stand_in}, origins)
        return table


@dataclass(frozen=True, slots=True)
class Coarse:
    """A table with stand-ins in place, and all values of the columns that were looked at, with their rows."""

    table: Table
    stand_ins: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NOTHING)
    hierarchies: Mapping[str, CompiledHierarchy] = field(default_factory=lambda: MappingProxyType({}))
    counts: Mapping[str, Counts] = field(default_factory=lambda: MappingProxyType({}))

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """The tuples of the table over the whole vocabularies; their order stays, since both are sorted."""
        found = self.table.tuples(names, person)
        codes, vocabularies = found.codes.copy(), list(found.vocabularies)
        for column, name in enumerate(found.names):
            if name in self.hierarchies:
                whole = self.hierarchies[name].labels[0]
                place = {text: code for code, text in enumerate(whole)}
                moved = np.array([place[text] for text in vocabularies[column]], np.int32)
                codes[:, column], vocabularies[column] = moved[codes[:, column]], whole
        return Tuples(found.names, tuple(vocabularies), codes, found.rows, found.persons)

    def where(self, name: str, values: Sequence[str]) -> Coarse:
        """The rows that hold one of the values, which are stand-ins where the column has them."""
        return replace(self, table=self.table.where(name, values))


def coarsens(policy: Policy) -> bool:
    """Whether nothing that follows looks below the least levels.

    The other methods and the entropy metric look at the values themselves; a population table is joined with them;
    where rows are tied together there are as many tuples as households, whatever the levels.
    """
    in_population = any(data.get("criterion") == "k_map" for data in policy.criteria)
    below = policy.metric == "non_uniform_entropy" or in_population or bool(policy.links)
    return policy.method == "full-domain" and not below


def coarsened(
    table: Table, variables: Mapping[str, Variable], policy: Policy, folder: Path, look_at: Sequence[str] = ()
) -> Coarse:
    """The table with the least levels of a policy in place; hierarchies and counts of those columns and `look_at`."""
    least = {name: policy.minimum.get(name, 0) for name in policy.quasi} if coarsens(policy) else {}
    stand_ins: dict[str, Mapping[str, str]] = {}
    hierarchies: dict[str, CompiledHierarchy] = {}
    counts: dict[str, Counts] = {}
    for name in policy.quasi:
        level = least.get(name, 0)
        if not level and name not in look_at:
            continue
        found = table.frequencies(name)
        vocabulary, counts[name] = tuple(found.values.to_pylist()), found.counts
        behind = dict(zip(vocabulary, found.counts.tolist(), strict=True))
        hierarchies[name] = compiled_hierarchy(
            variables[name], vocabulary, policy.hierarchies.get(name), folder, behind
        )
        stand_ins[name] = stand_ins_at(hierarchies[name], level, variables[name].unknown)
    for name, mapping in stand_ins.items():
        table = table.map_values(name, mapping)
    return Coarse(table, {name: mapping for name, mapping in stand_ins.items() if mapping}, hierarchies, counts)


def stand_ins_at(hierarchy: CompiledHierarchy, level: int, unknown: Sequence[str]) -> dict[str, str]:
    """The value that stands in for each other one of its group at a level; a value that stays is not listed."""
    codes = stand_in_codes(hierarchy, level, unknown)
    values = hierarchy.labels[0]
    return {values[code]: values[other] for code, other in enumerate(codes.tolist()) if code != other}


def stand_in_codes(hierarchy: CompiledHierarchy, level: int, unknown: Sequence[str]) -> Codes:
    """For each value, the first plain one of its group at a level; missing, masked and unknown ones stay themselves.

    A level that the hierarchy lacks moves nothing: the search refuses it by name.
    """
    everyone = np.arange(len(hierarchy.labels[0]))
    if not 0 < level <= hierarchy.height:
        return everyone
    group = hierarchy.maps[level]
    plain = np.array([kind_of(text, unknown) is CellKind.PLAIN for text in hierarchy.labels[0]], bool)
    first = np.full(len(hierarchy.labels[level]), len(everyone), np.int64)
    np.minimum.at(first, group[plain], everyone[plain])
    return np.where(plain, first[group], everyone)
