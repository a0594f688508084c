"""What plan and run need of a source: tuple tables, level maps, criteria, and which columns depend on which.

Knows tables, policies and hierarchies. Ignores how a solution is found. Source: REQUIREMENTS X7 (masks follow
dependencies between published columns).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from celosia.data.table import Table
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model import dictionary
from celosia.model.plan import Policy
from celosia.model.variables import Variable
from celosia.pipeline.planning.functional_dependencies import are_dependent
from celosia.pipeline.planning.hierarchies import HierarchyFolder, compiled_hierarchies, sensitive_hierarchies
from celosia.pipeline.planning.households import LinkedTuples, split_by_links
from celosia.pipeline.planning.partition_rules import advise_on_size
from celosia.pipeline.planning.population import population_of_criteria
from celosia.pipeline.planning.pre_generalisation import PreGeneralised, Representatives, pre_generalise
from celosia.risk.criteria import Criterion, KMap, criterion_from
from celosia.risk.population_levels import PopulationLevels
from celosia.solver.published import ClassCounter
from celosia.tuples.finer import tuples_with_each
from celosia.tuples.table import Tuples, project

Counts = NDArray[np.int64]
Dependents = Mapping[str, tuple[str, ...]]  # published column -> the columns that determine it, or that it determines
_KEY_SHARE = 0.9  # a column with nearly as many values as rows determines everything, trivially


@dataclass(frozen=True, slots=True)
class TupleOrigin:
    """Where tuples come from and what is asked of them: a search part by part reads it again for each part."""

    table: Table
    pre_generalised: PreGeneralised
    person: str | None
    variables: Mapping[str, Variable]
    folder: HierarchyFolder
    policy: Policy
    published: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    dependents: Dependents

    def judged_variables(self) -> tuple[str, ...]:
        """The sensitive variables, and those that a criterion names."""
        named = [criterion.variable for criterion in self.criteria if criterion.variable]
        return tuple(dict.fromkeys([*self.policy.sensitive, *named]))

    def hierarchies_of_sensitive(self, sensitive: Mapping[str, Tuples]) -> dict[str, CompiledHierarchy]:
        """The level maps of the sensitive variables that are described, and of those that a criterion needs."""
        needed = [c.variable for c in self.criteria if c.as_dict().get("distance") == "hierarchical"]
        return sensitive_hierarchies(sensitive, self.variables, self.policy.hierarchies, needed, self.folder)


@dataclass(frozen=True, slots=True)
class SearchInput:
    """The compressed source under a policy.

    Where the search goes part by part (`parts`), `quasi` holds the partition's own variable alone and `sensitive`
    each variable alone: what all rows together say without their combinations.
    """

    policy: Policy
    published: tuple[str, ...]
    quasi: Tuples
    sensitive: Mapping[str, Tuples]
    dependents: Dependents
    dependent_tuples: Mapping[str, Tuples]  # quasi-identifiers and a column that depends on one of them
    hierarchies: Mapping[str, CompiledHierarchy]
    criteria: tuple[Criterion, ...]
    sensitive_hierarchies: Mapping[str, CompiledHierarchy]  # where one is described, or a criterion needs it
    linked: LinkedTuples | None = None  # the same split by household, where the release shows which rows are of one
    population: PopulationLevels | None = None  # where a criterion counts in one
    representatives: Representatives = field(default_factory=Representatives)  # what the tuples hold for other values
    parts: TupleOrigin | None = None  # where the search goes part by part

    def rows_at(self, name: str, level: int) -> Counts:
        """Rows behind each label of a variable at a level."""
        hierarchy = self.hierarchies[name]
        if self.parts is not None:
            group, rows = hierarchy.maps[level], self.parts.pre_generalised.counts[name]
        else:
            group, rows = hierarchy.maps[level][self.quasi.codes[:, self.quasi.position(name)]], self.quasi.rows
        return np.bincount(group, weights=rows, minlength=len(hierarchy.labels[level])).astype(np.int64)

    def counter(self, levels: Sequence[int] | None = None) -> ClassCounter:
        """Counts classes of any assignment; a population is counted in only where all tuples have the same levels."""
        behind = None
        if self.population is not None and levels is not None:
            pairs = zip(self.population.names, levels, strict=True)
            maps = [self.hierarchies[name].maps[level] for name, level in pairs]
            groups = np.stack([level[self.quasi.codes[:, v]] for v, level in enumerate(maps)], axis=1)
            behind = self.population.population_of_classes(groups, levels)
        return ClassCounter(self.quasi, self.sensitive, self.sensitive_hierarchies, population=behind)

    def by_household(self) -> SearchInput:
        """The input whose tuples are of one household each, where the release ties its rows together."""
        if self.linked is None:
            return self
        split = self.linked
        return replace(self, quasi=split.quasi, sensitive=split.sensitive, dependent_tuples=split.dependent_tuples)


def build_search_input(
    table: Table,
    variables: tuple[Variable, ...],
    person: str | None,
    policy: Policy,
    folder: HierarchyFolder,
    *,
    whole: bool = False,
    combinations: bool = True,
) -> SearchInput:
    """Ask the table for everything a policy needs; `whole` where methods other than the policy's look at it too.

    Without `combinations` each variable is counted alone, as a check compares with it; a population needs them.
    """
    by_name = {variable.name: variable for variable in variables}
    published = tuple(variable.name for variable in dictionary.publishable_variables(variables))
    criteria = tuple(criterion_from(data) for data in policy.criteria)
    with advise_on_size(policy):
        grouped = PreGeneralised(table)
        if not whole:
            grouped = pre_generalise(table, by_name, policy, folder, policy.quasi if policy.partition else ())
        # Without a criterion nothing is hidden, so there is nothing that another column could disclose.
        dependents = find_dependents(table, published, policy) if criteria else {}
        # A value that comes masked takes along what discloses it, row by row: it is counted as it will be published.
        pairs = row_level_dependents(dependents, published, policy)
        table, grouped = mask_dependents(table, pairs), replace(grouped, table=mask_dependents(grouped.table, pairs))
        origin = TupleOrigin(table, grouped, person, by_name, folder, policy, published, criteria, dependents)
        if policy.partition:
            return _collect_without_combinations(origin)
        if not combinations and not any(isinstance(criterion, KMap) for criterion in criteria):
            return _collect_marginals(origin)
        collected = collect_tuples(origin)
        linked = None
        if policy.links:
            linked = split_by_links(table, policy.quasi, policy.links, person, tuple(collected.sensitive), dependents)
    population = population_of_criteria(
        criteria, collected.quasi, by_name, policy.hierarchies, collected.hierarchies, folder
    )
    return replace(collected, linked=linked, population=population)


def collect_tuples(origin: TupleOrigin) -> SearchInput:
    """The tuples of the rows that an origin holds, with the level maps over all values."""
    policy, grouped = origin.policy, origin.pre_generalised
    quasi, sensitive = tuples_with_each(grouped, policy.quasi, origin.judged_variables(), origin.person)
    on_quasi = sorted(name for name, columns in origin.dependents.items() if set(columns) & set(policy.quasi))
    rest = project(quasi, [name for name in quasi.names if name not in grouped.hierarchies])[0]
    compiled = compiled_hierarchies(rest, origin.variables, policy.hierarchies, origin.folder)
    hierarchies = {**grouped.hierarchies, **compiled}
    return SearchInput(
        policy=policy,
        published=origin.published,
        quasi=quasi,
        sensitive=sensitive,
        dependents=origin.dependents,
        dependent_tuples={name: grouped.tuples((*policy.quasi, name)) for name in on_quasi},
        hierarchies={name: hierarchies[name] for name in quasi.names},
        criteria=origin.criteria,
        sensitive_hierarchies=origin.hierarchies_of_sensitive(sensitive),
        representatives=Representatives(grouped.representatives),
    )


def _collect_without_combinations(origin: TupleOrigin) -> SearchInput:
    """The input of a search that goes part by part: no combination is asked for yet."""
    policy, grouped = origin.policy, origin.pre_generalised
    sensitive = {name: origin.table.tuples((name,)) for name in origin.judged_variables()}
    return SearchInput(
        policy=policy,
        published=origin.published,
        quasi=grouped.tuples((policy.partition,), origin.person),
        sensitive=sensitive,
        dependents=origin.dependents,
        dependent_tuples={},
        hierarchies={name: grouped.hierarchies[name] for name in policy.quasi},
        criteria=origin.criteria,
        sensitive_hierarchies=origin.hierarchies_of_sensitive(sensitive),
        parts=origin,
    )


def _collect_marginals(origin: TupleOrigin) -> SearchInput:
    """What a check compares a written file with: rows, and the distribution of each sensitive variable."""
    sensitive = {name: origin.table.tuples((name,)) for name in origin.judged_variables()}
    return SearchInput(
        policy=origin.policy,
        published=origin.published,
        quasi=origin.table.tuples(origin.policy.quasi[:1] or origin.published[:1]),
        sensitive=sensitive,
        dependents=origin.dependents,
        dependent_tuples={},
        hierarchies={},
        criteria=origin.criteria,
        sensitive_hierarchies=origin.hierarchies_of_sensitive(sensitive),
    )


def find_dependents(table: Table, published: tuple[str, ...], policy: Policy) -> dict[str, tuple[str, ...]]:
    """Published columns that depend on quasi-identifiers or sensitive values, or disclose them (X7)."""
    rows = table.count_rows()
    distinct = table.distinct_counts(published)
    keys = {name for name in published if distinct[name] > _KEY_SHARE * rows}
    dependents: dict[str, tuple[str, ...]] = {}
    for name in published:
        if name in (*policy.quasi, *policy.links) or name in keys:
            continue
        # Between a sensitive variable and a quasi-identifier a dependency is for l-diversity to judge.
        tied = policy.sensitive if name in policy.sensitive else (*policy.quasi, *policy.sensitive)
        others = [other for other in tied if other != name and other not in keys]
        determinants = tuple(other for other in others if are_dependent(table.tuples((other, name))))
        if determinants:
            dependents[name] = determinants
    return dependents


def row_level_dependents(
    dependents: Mapping[str, Sequence[str]], published: Sequence[str], policy: Policy
) -> list[tuple[str, str]]:
    """Published columns that disclose a sensitive value row by row, with that value's column.

    One tied to a quasi-identifier as well is masked for whole classes instead, so that it splits none.
    """
    by_row = {name: columns for name, columns in dependents.items() if not set(columns) & set(policy.quasi)}
    return [(name, column) for name, columns in by_row.items() for column in columns if column in published]


def mask_dependents(table: Table, pairs: Sequence[tuple[str, str]]) -> Table:
    """The table with each dependent column masked where the value that it discloses is."""
    for dependent, determinant in pairs:
        table = table.mask_dependent(dependent, determinant)
    return table
