"""The first table of a search: the problem's tuples with sensitive values in the lightest form that answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.errors import TuplesDisagree
from celosia.risk.criteria import Criterion, DistinctL, Domain, Need, ValueCounts, ValueExtremes, Values, ValueSets
from celosia.solver._encoding import Encoding
from celosia.solver._problem import SearchProblem
from celosia.solver._tables import Incidence, Table, incidence_of
from celosia.tuples import Tuples


def domains_of(problem: SearchProblem) -> dict[str, Domain]:
    """The sensitive variables that criteria name, with the distribution over all records."""
    found: dict[str, Domain] = {}
    for name in dict.fromkeys(c.variable for c in problem.criteria if c.variable):
        table = problem.sensitive[name]
        counts = np.bincount(table.codes[:, -1], table.rows, len(table.vocabularies[-1])).astype(np.int64)
        domain = Domain(name, table.vocabularies[-1], counts, counts > 0, problem.sensitive_hierarchies.get(name))
        counts[domain.masked] = 0
        found[name] = domain
    return found


def first_table(problem: SearchProblem, encoding: Encoding, domains: Mapping[str, Domain]) -> Table:
    """The tuples as a table."""
    quasi = problem.quasi
    values: dict[str, Values] = {}
    behind: dict[str, Incidence] = {}
    for name, domain in domains.items():
        asking = [criterion for criterion in problem.criteria if criterion.variable == name]
        values[name], people = _values(quasi, problem.sensitive[name], domain, asking)
        if people is not None:
            behind[name] = people
    persons = None if quasi.persons is None else incidence_of(quasi.persons)
    return Table(encoding.keys(quasi.codes), quasi.rows.astype(np.int64), persons, values, behind)


def _values(quasi: Tuples, table: Tuples, domain: Domain, asking: list[Criterion]) -> tuple[Values, Incidence | None]:
    owner = _owners(quasi, table, domain.variable)
    light = all(c.need is Need.DISTINCT for c in asking) and not domain.has_masked
    by_person = table.persons is not None and any(c.by_person for c in asking)
    if light and not by_person:
        if len(domain.vocabulary) <= 64:
            return _sets(owner, table.codes[:, -1], len(quasi.rows)), None
        if all(c.l <= 2 for c in asking) and len({c.missing_counts for c in asking}) == 1:
            return _extremes(owner, table.codes[:, -1], len(quasi.rows), domain, asking[0]), None
    return _counts(owner, table, domain, len(quasi.rows), by_person)


def _owners(quasi: Tuples, table: Tuples, variable: str) -> NDArray[np.int64]:
    """The quasi tuple of each sensitive tuple; both are in the order of their codes."""
    codes = table.codes[:, :-1]
    first = np.ones(len(codes), bool)
    if len(codes) > 1:
        first[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    if not np.array_equal(codes[first], quasi.codes):
        raise TuplesDisagree(variable=variable)
    return np.cumsum(first) - 1


def _sets(owner: NDArray[np.int64], codes: NDArray[np.int32], tuples: int) -> ValueSets:
    bits = np.zeros(tuples, np.uint64)
    np.bitwise_or.at(bits, owner, np.uint64(1) << codes.astype(np.uint64))
    return ValueSets(bits)


def _extremes(
    owner: NDArray[np.int64], codes: NDArray[np.int32], tuples: int, domain: Domain, criterion: Criterion
) -> ValueExtremes:
    assert isinstance(criterion, DistinctL)
    countable = domain.countable(criterion.missing_counts)[codes]
    low = np.full(tuples, np.iinfo(np.int32).max, np.int32)
    high = np.full(tuples, -1, np.int32)
    np.minimum.at(low, owner[countable], codes[countable])
    np.maximum.at(high, owner[countable], codes[countable])
    return ValueExtremes(low, high)


def _counts(
    owner: NDArray[np.int64], table: Tuples, domain: Domain, tuples: int, by_person: bool
) -> tuple[ValueCounts, Incidence | None]:
    """Entries of visible values; persons follow their entries."""
    visible = ~domain.masked[table.codes[:, -1]]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner[visible], minlength=tuples))])
    values, rows = np.ascontiguousarray(table.codes[visible, -1]), table.rows[visible].astype(np.int64)
    if not by_person or table.persons is None:
        return ValueCounts(offsets, values, rows), None
    everyone = incidence_of(table.persons)
    place = np.cumsum(visible) - 1
    seen = visible[everyone.entry]
    people = Incidence(
        everyone.counted[visible],
        everyone.settled[visible],
        place[everyone.entry[seen]],
        everyone.person[seen],
    )
    holders = people.roll(owner[visible].astype(np.int32), tuples).counted if domain.has_masked else None
    return ValueCounts(offsets, values, rows, people.counted, holders), people
