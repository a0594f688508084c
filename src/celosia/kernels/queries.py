"""Which coded records satisfy a query of sets, found through the rarest of its columns.

Knows records as codes, and for each column the set of record codes that a query code stands for; a query code below
zero leaves its column open. Ignores what codes mean: a set may be the values under a published label, or the labels
under which a value may have been published.
A query reads only the records that hold a code of its narrowest set (inverted lists, one per column).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from celosia.kernels._jit import kernel

Array = Any


class Index(NamedTuple):
    """Inverted lists of the records and the sets of the queries, all columns one after the other."""

    codes: Array  # (records, columns)
    order: Array  # (columns, records): records by code
    starts: Array  # where the list of each code begins, column by column
    first_code: Array  # per column: its place in `starts`
    set_starts: Array  # where the set of each query code begins, column by column
    first_set: Array  # per column: its place in `set_starts`
    items: Array  # the record codes of the sets, ascending in each


@kernel
def _count_listed(index: Index, column: int, code: int) -> int:
    """Records that hold a code of the set."""
    set_number, total = index.first_set[column] + code, 0
    for item in index.items[index.set_starts[set_number] : index.set_starts[set_number + 1]]:
        begin = index.first_code[column] + item
        total += index.starts[begin + 1] - index.starts[begin]
    return total


@kernel
def _narrowest(index: Index, query: Array) -> int:
    """The column whose set is held by fewest records; -1 when all are open."""
    best, fewest = -1, 0
    for column in range(len(query)):
        if query[column] >= 0:
            listed = _count_listed(index, column, query[column])
            if best < 0 or listed < fewest:
                best, fewest = column, listed
    return best


@kernel
def _mark(index: Index, query: Array, known: int, marks: Array, mark: int, columns: Array) -> int:
    """Mark the codes that the query allows in each closed column but one; those columns are written into `columns`."""
    closed = 0
    for column in range(len(query)):
        if column != known and query[column] >= 0:
            set_number = index.first_set[column] + query[column]
            for item in index.items[index.set_starts[set_number] : index.set_starts[set_number + 1]]:
                marks[index.first_code[column] + item] = mark
            columns[closed] = column
            closed += 1
    return closed


@kernel
def _matches(
    index: Index, query: Array, mark: int, marks: Array, persons: Array, only_two: bool, matches: Array
) -> int:
    """Records that satisfy the query, written into `matches`; with `only_two`, no more once a second person appears.

    `marks` is as long as `index.starts`, `mark` a number above zero that no other query has.
    """
    column = _narrowest(index, query)
    if column < 0:
        return _all_records(persons, only_two, matches)
    columns = np.empty(len(query), np.int64)
    closed = _mark(index, query, column, marks, mark, columns)
    codes, first_code, count = index.codes, index.first_code, 0
    set_number = index.first_set[column] + query[column]
    for item in index.items[index.set_starts[set_number] : index.set_starts[set_number + 1]]:
        begin = first_code[column] + item
        for record in index.order[column, index.starts[begin] : index.starts[begin + 1]]:
            i = 0
            while i < closed and marks[first_code[columns[i]] + codes[record, columns[i]]] == mark:
                i += 1
            if i == closed:
                matches[count] = record
                count += 1
                if only_two and persons[record] != persons[matches[0]]:
                    return count
    return count


@kernel
def _all_records(persons: Array, only_two: bool, matches: Array) -> int:
    for record in range(len(persons)):
        matches[record] = record
        if only_two and persons[record] != persons[matches[0]]:
            return record + 1
    return len(persons)


@kernel
def sole_persons(index: Index, queries: Array, persons: Array) -> Array:
    """The only person who satisfies each query; -1 when nobody does, -2 when several do."""
    out = np.full(len(queries), -1, np.int64)
    matches, marks = np.empty(len(index.codes), np.int64), np.zeros(len(index.starts), np.int64)
    for q in range(len(queries)):
        count = _matches(index, queries[q], q + 1, marks, persons, True, matches)
        if count:
            out[q] = persons[matches[0]] if persons[matches[0]] == persons[matches[count - 1]] else -2
    return out


@kernel
def tally_values(
    index: Index, queries: Array, left_out: Array, folds: Array, values: Array, weight: Array, n: int
) -> Array:
    """Weight of each of the n values among the records that satisfy a query, those of the fold it leaves out aside."""
    out = np.zeros((len(queries), n), np.float64)
    matches, marks = np.empty(len(index.codes), np.int64), np.zeros(len(index.starts), np.int64)
    for q in range(len(queries)):
        for record in matches[: _matches(index, queries[q], q + 1, marks, values, False, matches)]:
            if values[record] >= 0 and (left_out[q] < 0 or folds[record] != left_out[q]):
                out[q, values[record]] += weight[record]
    return out


@kernel
def _groups_of(groups: Array, records: Array, mark: int, seen: Array, hit: Array) -> int:
    """Distinct groups of some records, written into `hit`."""
    total = 0
    for record in records:
        group = groups[record]
        if seen[group] != mark:
            seen[group] = mark
            hit[total] = group
            total += 1
    return total


@kernel
def group_weight(index: Index, queries: Array, groups: Array, weight: Array) -> Array:
    """Weight of the groups with a record that satisfies each query."""
    out = np.zeros(len(queries), np.int64)
    matches, hit = np.empty(len(index.codes), np.int64), np.empty(len(index.codes), np.int64)
    seen, marks = np.zeros(len(weight), np.int64), np.zeros(len(index.starts), np.int64)
    for q in range(len(queries)):
        count = _matches(index, queries[q], q + 1, marks, groups, False, matches)
        for group in hit[: _groups_of(groups, matches[:count], q + 1, seen, hit)]:
            out[q] += weight[group]
    return out


@kernel
def _allow(index: Index, lineup: Array, others: Array, bits: Array, change: bool, open_bits: Array) -> None:
    """Bit j of a code says that the j-th query of the line-up allows it; set, or cleared for the next line-up."""
    open_bits[:] = 0
    for j in range(len(lineup)):
        for column in range(others.shape[1]):
            code = others[lineup[j], column]
            if code < 0:
                open_bits[column] |= 1 << j
                continue
            set_number = index.first_set[column] + code
            for item in index.items[index.set_starts[set_number] : index.set_starts[set_number + 1]]:
                code_number = index.first_code[column] + item
                bits[code_number] = bits[code_number] | (1 << j) if change else 0


@kernel
def lineup_weight(
    index: Index,
    queries: Array,
    lineups: Array,  # per query: places in `others`, at most 62
    others: Array,
    groups: Array,
    begins: Array,  # where the records of each group begin in `members`
    members: Array,
    weight: Array,
) -> Array:
    """Weight of the groups that satisfy a query with one record and each query of its line-up with that or another."""
    out = np.zeros(lineups.shape, np.int64)
    matches, hit = np.empty(len(index.codes), np.int64), np.empty(len(index.codes), np.int64)
    seen, marks = np.zeros(len(weight), np.int64), np.zeros(len(index.starts), np.int64)
    bits, open_bits = np.zeros(len(index.starts), np.int64), np.zeros(others.shape[1], np.int64)
    codes, first_code = index.codes, index.first_code
    for q in range(len(queries)):
        count = _matches(index, queries[q], q + 1, marks, groups, False, matches)
        _allow(index, lineups[q], others, bits, True, open_bits)
        for group in hit[: _groups_of(groups, matches[:count], q + 1, seen, hit)]:
            satisfied = 0
            for record in members[begins[group] : begins[group + 1]]:
                allowed = (1 << lineups.shape[1]) - 1
                for column in range(len(open_bits)):
                    allowed &= bits[first_code[column] + codes[record, column]] | open_bits[column]
                satisfied |= allowed
            for j in range(lineups.shape[1]):
                out[q, j] += weight[group] * ((satisfied >> j) & 1)
        _allow(index, lineups[q], others, bits, False, open_bits)
    return out
