"""What plan and run need of a source: tuple tables, level maps, criteria, and which columns follow from which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.data.table import Table
from celosia.hierarchy import CompiledHierarchy
from celosia.model import dictionary
from celosia.model.plan import Policy
from celosia.model.variables import Variable
from celosia.pipeline._coarse import Coarse, StandIns, coarsened
from celosia.pipeline._dependencies import linked
from celosia.pipeline._hierarchies import compiled_hierarchies, sensitive_hierarchies
from celosia.pipeline._households import Linked, split_by_links
from celosia.pipeline._parts_allowed import advice_on
from celosia.pipeline._population import population_of
from celosia.risk import PopulationLevels
from celosia.risk.criteria import Criterion, criterion_from
from celosia.solver import ClassCounter
from celosia.tuples import Tuples, project, tuples_with

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
_KEY_SHARE = 0.9  # a column with nearly as many values as rows determines everything, trivially


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the tuples of a ground came from: what a search that goes part by part asks again, for each part."""

    table: Table
    coarse: Coarse
    person: str | None
    variables: Mapping[str, Variable]
    folder: Path


@dataclass(frozen=True, slots=True)
class Ground:
    """The compressed source under a policy.

    Where the search goes part by part (`parts`), `quasi` holds the partition's own variable alone and `sensitive`
    each variable alone: what all rows together say without their combinations.
    """

    policy: Policy
    published: tuple[str, ...]
    quasi: Tuples
    sensitive: Mapping[str, Tuples]
    followers: Mapping[str, tuple[str, ...]]  # published columns that give others away, and which
    follower_tuples: Mapping[str, Tuples]  # quasi-identifiers and a column that follows from one of them
    hierarchies: Mapping[str, CompiledHierarchy]
    criteria: tuple[Criterion, ...]
    sensitive_hierarchies: Mapping[str, CompiledHierarchy]  # where one is described, or a criterion needs it
    linked: Linked | None = None  # the same split by household, where the release shows which rows are of one
    population: PopulationLevels | None = None  # where a criterion counts in one
    stand_ins: StandIns = field(default_factory=StandIns)  # values that the tuples hold in place of others
    parts: Origin | None = None  # where the search goes part by part

    def rows_at(self, name: str, level: int) -> Counts:
        """Rows behind each label of a variable at a level."""
        tree = self.hierarchies[name]
        if self.parts is not None:
            group, rows = tree.maps[level], self.parts.coarse.counts[name]
        else:
            group, rows = tree.maps[level][self.quasi.codes[:, self.quasi.position(name)]], self.quasi.rows
        return np.bincount(group, weights=rows, minlength=len(tree.labels[level])).astype(np.int64)

    def counter(self, levels: Sequence[int] | None = None) -> ClassCounter:
        """Counts classes of any assignment; a population is counted in only where all tuples have the same levels."""
        behind = None
        if self.population is not None and levels is not None:
            maps = [
                self.hierarchies[name].maps[level] for name, level in zip(self.population.names, levels, strict=True)
            ]
            groups = np.stack([level[self.quasi.codes[:, v]] for v, level in enumerate(maps)], axis=1)
            behind = self.population.behind(groups, levels)
        return ClassCounter(self.quasi, self.sensitive, self.sensitive_hierarchies, population=behind)

    def by_household(self) -> Ground:
        """The ground whose tuples are of one household each, where the release ties its rows together."""
        if self.linked is None:
            return self
        split = self.linked
        return replace(self, quasi=split.quasi, sensitive=split.sensitive, follower_tuples=split.follower_tuples)


def ground_of(
    table: Table,
    variables: tuple[Variable, ...],
    person: str | None,
    policy: Policy,
    folder: Path,
    *,
    whole: bool = False,
) -> Ground:
    """Ask the table for everything a policy needs; `whole` where methods other than the policy's look at it too."""
    by_name = {variable.name: variable for variable in variables}
    leaving = tuple(variable.name for variable in dictionary.published(variables))
    criteria = tuple(criterion_from(data) for data in policy.criteria)
    with advice_on(policy):
        coarse = Coarse(table) if whole else coarsened(
            table, by_name, policy, folder, look_at=policy.quasi if policy.partition else ()
        )  # fmt: skip
        # Without a criterion nothing is hidden, so there is nothing that another column could give away.
        followers = find_followers(table, leaving, policy) if criteria else {}
        # What comes masked takes what gives it away along, row by row: it is counted as it will be published.
        pairs = told_by_row(followers, leaving, policy)
        table, coarse = masked_along(table, pairs), replace(coarse, table=masked_along(coarse.table, pairs))
        origin = Origin(table, coarse, person, by_name, folder)
        if policy.partition:
            return _parted(origin, policy, leaving, criteria, followers)
        ground = gathered(origin, policy, leaving, criteria, followers)
        judged = tuple(ground.sensitive)
        linked = split_by_links(table, policy.quasi, policy.links, person, judged, followers) if policy.links else None
    population = population_of(criteria, ground.quasi, by_name, policy.hierarchies, ground.hierarchies, folder)
    return replace(ground, linked=linked, population=population)


def gathered(
    origin: Origin, policy: Policy, leaving: tuple[str, ...], criteria: tuple[Criterion, ...],
    followers: Mapping[str, tuple[str, ...]],
) -> Ground:  # fmt: skip
    """The tuples of the rows that an origin holds, with the level maps over all values."""
    coarse, person, by_name = origin.coarse, origin.person, origin.variables
    quasi, sensitive = tuples_with(coarse, policy.quasi, _judged(policy, criteria), person)
    beside = {name for name, leaders in followers.items() if set(leaders) & set(policy.quasi)}
    rest = project(quasi, [name for name in quasi.names if name not in coarse.hierarchies])[0]
    made = {**coarse.hierarchies, **compiled_hierarchies(rest, by_name, policy.hierarchies, origin.folder)}
    return Ground(
        policy=policy,
        published=leaving,
        quasi=quasi,
        sensitive=sensitive,
        followers=followers,
        follower_tuples={name: coarse.tuples((*policy.quasi, name)) for name in sorted(beside)},
        hierarchies={name: made[name] for name in quasi.names},
        criteria=criteria,
        sensitive_hierarchies=_trees(sensitive, criteria, origin, policy),
        stand_ins=StandIns(coarse.stand_ins),
    )


def _parted(
    origin: Origin, policy: Policy, leaving: tuple[str, ...], criteria: tuple[Criterion, ...],
    followers: Mapping[str, tuple[str, ...]],
) -> Ground:  # fmt: skip
    """The ground of a search that goes part by part: no combination is asked for yet."""
    sensitive = {name: origin.table.tuples((name,)) for name in _judged(policy, criteria)}
    return Ground(
        policy=policy,
        published=leaving,
        quasi=origin.coarse.tuples((policy.partition,), origin.person),
        sensitive=sensitive,
        followers=followers,
        follower_tuples={},
        hierarchies={name: origin.coarse.hierarchies[name] for name in policy.quasi},
        criteria=criteria,
        sensitive_hierarchies=_trees(sensitive, criteria, origin, policy),
        parts=origin,
    )


def _judged(policy: Policy, criteria: Sequence[Criterion]) -> tuple[str, ...]:
    """The sensitive variables, and those that a criterion names."""
    return tuple(dict.fromkeys([*policy.sensitive, *[c.variable for c in criteria if c.variable]]))


def _trees(
    sensitive: Mapping[str, Tuples], criteria: Sequence[Criterion], origin: Origin, policy: Policy
) -> dict[str, CompiledHierarchy]:
    needed = [c.variable for c in criteria if c.as_dict().get("distance") == "hierarchical"]
    return sensitive_hierarchies(sensitive, origin.variables, policy.hierarchies, needed, origin.folder)


def find_followers(table: Table, leaving: tuple[str, ...], policy: Policy) -> dict[str, tuple[str, ...]]:
    """Published columns that follow from quasi-identifiers or sensitive values, or give them away (X7)."""
    rows = table.count_rows()
    distinct = table.distinct_counts(leaving)
    many = {name for name in leaving if distinct[name] > _KEY_SHARE * rows}
    followers: dict[str, tuple[str, ...]] = {}
    for name in leaving:
        if name in (*policy.quasi, *policy.links) or name in many:
            continue
        tied = policy.sensitive if name in policy.sensitive else (*policy.quasi, *policy.sensitive)  # else l's matter
        others = [other for other in tied if other != name and other not in many]
        leaders = tuple(other for other in others if linked(table.tuples((other, name))))
        if leaders:
            followers[name] = leaders
    return followers


def told_by_row(
    followers: Mapping[str, Sequence[str]], published: Sequence[str], policy: Policy
) -> list[tuple[str, str]]:
    """Published columns that give a sensitive value away row by row, with that value's column.

    One tied to a quasi-identifier as well is masked for whole classes instead, so that it splits none.
    """
    alone = {name: leaders for name, leaders in followers.items() if not set(leaders) & set(policy.quasi)}
    return [(name, leader) for name, leaders in alone.items() for leader in leaders if leader in published]


def masked_along(table: Table, pairs: Sequence[tuple[str, str]]) -> Table:
    """The table with each column masked where the value that it gives away is."""
    for name, leader in pairs:
        table = table.mask_along(name, leader)
    return table


__all__ = [
    "Ground",
    "Origin",
    "find_followers",
    "gathered",
    "ground_of",
    "masked_along",
    "project",
    "told_by_row",
]
