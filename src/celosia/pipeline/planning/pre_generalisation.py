"""Pre-generalisation: the engine groups by the least levels that a policy allows, so that the tuple table is smaller.

One value represents all that share its group at the least level: the search never looks below that level, so its result
is the same, and a table of combinations of days becomes one of combinations of months. The tuples keep the whole
vocabulary, so hierarchies, shares of leaves and losses are those of all values.
Knows hierarchies, least levels and tables. Ignores criteria and what is searched for. Whether it is done follows from
the policy alone, never from the memory available: the same policy gives the same plan on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.data.table import Table
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.plan import Policy
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Variable
from celosia.pipeline.planning.hierarchies import HierarchyFolder, compiled_hierarchy
from celosia.tuples.table import Tuples

Codes = NDArray[np.int64]
Counts = NDArray[np.int64]
_NOTHING: Mapping[str, Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Representatives:
    """Which value represents which, column by column; for some columns it depends on the part a row is in."""

    each: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NOTHING)
    part: str = ""  # the column whose representatives are the parts
    by_part: Mapping[str, tuple[pa.Array, pa.Array, pa.Array]] = field(default_factory=lambda: MappingProxyType({}))

    def replace_in(self, table: Table) -> Table:
        """The table with the representatives in place of the values, as the tuples of a solution have them."""
        for name, mapping in self.each.items():
            table = table.map_values(name, mapping)
        origins = {name: name for name in table.names}
        for name, (part, value, representative) in self.by_part.items():
            table = table.with_values({self.part: part, name: value}, {name: representative}, origins)
        return table


@dataclass(frozen=True, slots=True)
class PreGeneralised:
    """A table with representatives in place, and all values of the columns that were grouped, with their rows."""

    table: Table
    representatives: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NOTHING)
    hierarchies: Mapping[str, CompiledHierarchy] = field(default_factory=lambda: MappingProxyType({}))
    counts: Mapping[str, Counts] = field(default_factory=lambda: MappingProxyType({}))

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """The tuples of the table over the whole vocabularies; their order stays, since both are sorted."""
        tuples = self.table.tuples(names, person)
        codes, vocabularies = tuples.codes.copy(), list(tuples.vocabularies)
        for column, name in enumerate(tuples.names):
            if name in self.hierarchies:
                whole = self.hierarchies[name].labels[0]
                codes[:, column] = positions_in(whole, vocabularies[column])[codes[:, column]]
                vocabularies[column] = whole
        return Tuples(tuples.names, tuple(vocabularies), codes, tuples.rows, tuples.persons)

    def where(self, name: str, values: Sequence[str]) -> PreGeneralised:
        """The rows that hold one of the values, which are representatives where the column has them."""
        return replace(self, table=self.table.where(name, values))


def positions_in(vocabulary: Sequence[str], texts: Sequence[str]) -> NDArray[np.int32]:
    """The code of each text in a vocabulary that holds all of them."""
    codes = {text: code for code, text in enumerate(vocabulary)}
    return np.array([codes[text] for text in texts], np.int32)


def allows_pre_generalisation(policy: Policy) -> bool:
    """Whether nothing that follows looks below the least levels.

    The other methods and the entropy metric look at the values themselves; a population table is joined with them;
    where rows are tied together there are as many tuples as households, whatever the levels.
    """
    in_population = any(data.get("criterion") == "k_map" for data in policy.criteria)
    below = policy.metric == "non_uniform_entropy" or in_population or bool(policy.links)
    return policy.method == "full-domain" and not below


def pre_generalise(
    table: Table,
    variables: Mapping[str, Variable],
    policy: Policy,
    folder: HierarchyFolder,
    look_at: Sequence[str] = (),
) -> PreGeneralised:
    """The table with the least levels of a policy in place; hierarchies and counts of those columns and `look_at`."""
    least = policy.minimum if allows_pre_generalisation(policy) else {}
    representatives: dict[str, Mapping[str, str]] = {}
    hierarchies: dict[str, CompiledHierarchy] = {}
    counts: dict[str, Counts] = {}
    for name in policy.quasi:
        level = least.get(name, 0)
        if not level and name not in look_at:
            continue
        frequencies = table.frequencies(name)
        vocabulary, counts[name] = tuple(frequencies.values.to_pylist()), frequencies.counts
        rows = dict(zip(vocabulary, frequencies.counts.tolist(), strict=True))
        spec = policy.hierarchies.get(name)
        hierarchies[name] = compiled_hierarchy(variables[name], vocabulary, spec, folder, rows)
        if mapping := representatives_at(hierarchies[name], level, variables[name].unknown):
            representatives[name] = mapping
    for name in representatives:
        table = table.map_values(name, representatives[name])
    return PreGeneralised(table, representatives, hierarchies, counts)


def representatives_at(hierarchy: CompiledHierarchy, level: int, unknown: Sequence[str]) -> dict[str, str]:
    """The value that represents each other one of its group at a level; a value that stays is not listed."""
    codes = representative_codes(hierarchy, level, unknown)
    values = hierarchy.labels[0]
    return {values[code]: values[other] for code, other in enumerate(codes.tolist()) if code != other}


def representative_codes(hierarchy: CompiledHierarchy, level: int, unknown: Sequence[str]) -> Codes:
    """For each value, the first plain one of its group at a level; missing, masked and unknown ones stay themselves.

    A level that the hierarchy lacks changes nothing: the search refuses it by name.
    """
    own_codes = np.arange(len(hierarchy.labels[0]))
    if not 0 < level <= hierarchy.height:
        return own_codes
    group = hierarchy.maps[level]
    plain = np.array([kind_of(text, unknown) is CellKind.PLAIN for text in hierarchy.labels[0]], bool)
    first = np.full(len(hierarchy.labels[level]), len(own_codes), np.int64)
    np.minimum.at(first, group[plain], own_codes[plain])
    return np.where(plain, first[group], own_codes)
