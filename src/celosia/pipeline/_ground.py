"""What plan and run need of a source: tuple tables, level maps, criteria, and which columns follow from which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.data.table import Table
from celosia.hierarchy import CompiledHierarchy
from celosia.model import dictionary
from celosia.model.plan import Policy
from celosia.model.values import MISSING, is_masked
from celosia.model.variables import Variable
from celosia.pipeline._hierarchies import compiled_hierarchies, sensitive_hierarchies
from celosia.pipeline._households import Linked, split_by_links
from celosia.pipeline._population import population_of
from celosia.risk import PopulationLevels
from celosia.risk.criteria import Criterion, criterion_from
from celosia.solver import ClassCounter
from celosia.tuples import Tuples, project

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
_NEARLY = 0.95  # share of rows told right that makes a dependency
_FAR = 0.9  # of the way from a blind guess to certainty
_REPEATED = 0.1  # share of rows whose value repeats, below which nothing can be said
_KEY_SHARE = 0.9  # a column with nearly as many values as rows determines everything, trivially


@dataclass(frozen=True, slots=True)
class Ground:
    """The compressed source under a policy."""

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
    table: Table, variables: tuple[Variable, ...], person: str | None, policy: Policy, folder: Path
) -> Ground:
    """Ask the table for everything a policy needs."""
    leaving = tuple(variable.name for variable in dictionary.published(variables))
    criteria = tuple(criterion_from(data) for data in policy.criteria)
    judged = dict.fromkeys([*policy.sensitive, *[c.variable for c in criteria if c.variable]])
    quasi = table.tuples(policy.quasi, person)
    sensitive = {name: table.tuples((*policy.quasi, name), person) for name in judged}
    # Without a criterion nothing is hidden, so there is nothing that another column could give away.
    followers = find_followers(table, leaving, policy) if criteria else {}
    beside = {name for name, leaders in followers.items() if set(leaders) & set(policy.quasi)}
    trees = [c.variable for c in criteria if c.as_dict().get("distance") == "hierarchical"]
    by_name = {variable.name: variable for variable in variables}
    hierarchies = compiled_hierarchies(quasi, by_name, policy.hierarchies, folder)
    return Ground(
        policy=policy,
        published=leaving,
        quasi=quasi,
        sensitive=sensitive,
        followers=followers,
        follower_tuples={name: table.tuples((*policy.quasi, name)) for name in sorted(beside)},
        hierarchies=hierarchies,
        criteria=criteria,
        sensitive_hierarchies=sensitive_hierarchies(sensitive, by_name, policy.hierarchies, trees, folder),
        linked=split_by_links(table, policy.quasi, policy.links, person, tuple(judged), followers)
        if policy.links
        else None,
        population=population_of(criteria, quasi, by_name, policy.hierarchies, hierarchies, folder),
    )


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


def linked(pair: Tuples) -> bool:
    """Whether one of two columns gives the other away: nearly always, and far more often than a guess would.

    Real files are never clean, so a few rows that disagree do not undo a dependency; and a dependency that holds
    only because almost everybody shares one value is none.
    """
    visible = np.ones(len(pair.rows), bool)
    for column, vocabulary in enumerate(pair.vocabularies):
        hidden = np.array([value == MISSING or is_masked(value) for value in vocabulary], bool)
        visible &= ~hidden[pair.codes[:, column]]
    codes, rows = pair.codes[visible], pair.rows[visible]
    return _gives_away(codes[:, 0], codes[:, 1], rows) or _gives_away(codes[:, 1], codes[:, 0], rows)


def _gives_away(one: Codes, other: Codes, rows: Counts) -> bool:
    """Whether knowing `one` tells `other`; values of `one` that occur once say nothing either way."""
    behind = np.bincount(one, weights=rows)
    repeated = behind[one] > 1
    total = float(rows[repeated].sum())
    if total < _REPEATED * float(rows.sum()) or total == 0:
        return False
    likeliest = np.zeros(len(behind))
    np.maximum.at(likeliest, one[repeated], rows[repeated])
    told = float(likeliest.sum()) / total
    guessed = float(np.bincount(other[repeated], weights=rows[repeated]).max()) / total
    return guessed < 1 and told >= _NEARLY and told - guessed >= _FAR * (1 - guessed)


__all__ = ["Ground", "find_followers", "ground_of", "linked", "project"]
