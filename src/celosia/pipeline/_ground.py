"""What plan and run need of a source: tuple tables, level maps, criteria, and which columns follow from which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from celosia.data.table import Table
from celosia.hierarchy import CompiledHierarchy
from celosia.model import dictionary
from celosia.model.plan import Policy
from celosia.model.values import MISSING, is_masked
from celosia.model.variables import Variable
from celosia.pipeline._hierarchies import compiled_hierarchies
from celosia.pipeline._households import Linked, split_by_links
from celosia.risk.criteria import Criterion, criterion_from
from celosia.solver import ClassCounter
from celosia.tuples import Tuples, project

_KEY_SHARE = 0.9  # a column with nearly as many values as rows determines everything, trivially


@dataclass(frozen=True, slots=True)
class Ground:
    """The compressed source under a policy."""

    policy: Policy
    published: tuple[str, ...]
    quasi: Tuples
    sensitive: Mapping[str, Tuples]
    followers: Mapping[str, str]
    follower_tuples: Mapping[str, Tuples]  # quasi-identifiers and a column that follows from one of them
    hierarchies: Mapping[str, CompiledHierarchy]
    criteria: tuple[Criterion, ...]
    linked: Linked | None = None  # the same split by household, where the release shows which rows are of one

    def counter(self) -> ClassCounter:
        """Counts classes of any assignment."""
        return ClassCounter(self.quasi, self.sensitive)

    def by_household(self) -> Ground:
        """The ground whose tuples are of one household each, where the release ties its rows together."""
        if self.linked is None:
            return self
        split = self.linked
        return replace(self, quasi=split.quasi, sensitive=split.sensitive, follower_tuples=split.follower_tuples)


def ground_of(
    table: Table, variables: tuple[Variable, ...], person: str | None, policy: Policy, folder: Path
) -> Ground:
    """Ask the table for everything a policy needs."""
    leaving = tuple(variable.name for variable in dictionary.published(variables))
    criteria = tuple(criterion_from(data) for data in policy.criteria)
    judged = dict.fromkeys([*policy.sensitive, *[c.variable for c in criteria if c.variable]])
    quasi = table.tuples(policy.quasi, person)
    sensitive = {name: table.tuples((*policy.quasi, name), person) for name in judged}
    followers = find_followers(table, leaving, policy)
    beside = {name for name, leader in followers.items() if leader in policy.quasi}
    by_name = {variable.name: variable for variable in variables}
    return Ground(
        policy=policy,
        published=leaving,
        quasi=quasi,
        sensitive=sensitive,
        followers=followers,
        follower_tuples={name: table.tuples((*policy.quasi, name)) for name in sorted(beside)},
        hierarchies=compiled_hierarchies(quasi, by_name, policy.hierarchies, folder),
        criteria=criteria,
        linked=split_by_links(table, policy.quasi, policy.links, person, tuple(judged), followers)
        if policy.links
        else None,
    )


def find_followers(table: Table, leaving: tuple[str, ...], policy: Policy) -> dict[str, str]:
    """Published columns that follow from a quasi-identifier or a sensitive value, or give one away (X7)."""
    rows = table.count_rows()
    distinct = table.distinct_counts(leaving)
    followers: dict[str, str] = {}
    for name in leaving:
        if name in (*policy.quasi, *policy.links) or distinct[name] > _KEY_SHARE * rows:
            continue
        leaders = [*policy.quasi, *(other for other in policy.sensitive if other != name)]
        for leader in leaders:
            if distinct[leader] <= _KEY_SHARE * rows and linked(table.tuples((leader, name))):
                followers[name] = leader
                break
    return followers


def linked(pair: Tuples) -> bool:
    """Whether one of two columns determines the other on the rows where both are visible."""
    visible = np.ones(len(pair.rows), bool)
    for column, vocabulary in enumerate(pair.vocabularies):
        hidden = np.array([value == MISSING or is_masked(value) for value in vocabulary], bool)
        visible &= ~hidden[pair.codes[:, column]]
    codes = pair.codes[visible]
    ones, others = len(np.unique(codes[:, 0])), len(np.unique(codes[:, 1]))
    several = min(ones, others) > 1
    return several and len(codes) in (ones, others) and not (ones == len(codes) == int(pair.rows[visible].sum()))


__all__ = ["Ground", "find_followers", "ground_of", "linked", "project"]
