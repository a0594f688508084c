"""Minimal sample uniques of a table of codes, by refining partitions along a tree of variable sets.

Knows codes (−1 where a cell takes part in nothing) and which tuples stand for a single row. Ignores names and scores.
A node of the tree is a set of variables and the groups of tuples that agree on it; its children add one variable
below the lowest it has, in ascending order. So sets are visited in the order of their bit masks, every set after all
its subsets, with no more memory than one partition per level; groups of one tuple leave the branch at once.
Sources: Elliot, Manning, Mayes, Gurd and Bane 2005 (SUDA); Manning, Haglin and Keane 2008 (SUDA2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import inline, kernel

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Buffers = tuple[Ints, Ints, Ints]


@inline
def _double_length(array: Longs, used: int) -> Longs:
    larger = np.empty(2 * len(array), np.int64)
    for i in range(used):
        larger[i] = array[i]
    return larger


@inline
def _count_values(
    codes: Ints, alone: Flags, members: Ints, first: int, last: int, count: Ints, slot: Ints, touched: Ints
) -> int:
    """Count the values of a group; `slot` becomes 0 where one of its tuples is a single row, else −1."""
    values = 0
    for i in range(first, last):
        code = codes[members[i]]
        if code < 0:
            continue
        if count[code] == 0:
            touched[values] = code
            values += 1
            slot[code] = -1
        count[code] += 1
        if alone[members[i]]:
            slot[code] = 0
    return values


@inline
def _distribute(
    codes: Ints,
    alone: Flags,
    members: Ints,
    first: int,
    last: int,
    count: Ints,
    slot: Ints,
    next_members: Ints,
    singles: Ints,
    n_singles: int,
) -> int:
    """Put each member into the group of its value, or among the singles; give how many are single by now."""
    for i in range(first, last):
        code = codes[members[i]]
        if code < 0:
            continue
        if slot[code] >= 0:
            next_members[slot[code]] = members[i]
            slot[code] += 1
        elif count[code] == 1 and alone[members[i]]:
            singles[n_singles] = members[i]
            n_singles += 1
    return n_singles


@inline
def _add_single(codes: Ints, alone: Flags, member: int, singles: Ints, n_singles: int) -> int:
    if codes[member] >= 0 and alone[member]:
        singles[n_singles] = member
        return n_singles + 1
    return n_singles


@kernel
def _split(
    codes: Ints, alone: Flags, members: Ints, ends: Ints, groups: int, deeper: bool, output: Buffers, scratch: Buffers
) -> tuple[int, int]:
    """Split groups by one variable: groups of two tuples or more go on, lone tuples of one row become `singles`.

    Groups in which no tuple stands for a single row can show nothing new and are dropped; none goes on unless the
    branch goes `deeper`. `output` receives members and ends of the next groups, and the singles. `scratch` is per value
    its count, which is 0 again at the end, where its next member goes or −1, and the values touched.
    """
    next_members, next_ends, singles = output
    count, slot, touched = scratch
    n_groups, n_singles, write, first = 0, 0, 0, 0
    for group in range(groups):
        last = ends[group]
        # Most groups are pairs, and a pair needs no counting.
        if last - first == 2:
            first_member, second_member = members[first], members[first + 1]
            if codes[first_member] != codes[second_member]:
                n_singles = _add_single(codes, alone, first_member, singles, n_singles)
                n_singles = _add_single(codes, alone, second_member, singles, n_singles)
            elif deeper and codes[first_member] >= 0:
                next_members[write], next_members[write + 1] = first_member, second_member
                write += 2
                next_ends[n_groups] = write
                n_groups += 1
            first = last
            continue
        values = _count_values(codes, alone, members, first, last, count, slot, touched)
        for t in range(values):
            code = touched[t]
            goes_on = deeper and count[code] > 1 and slot[code] == 0
            slot[code] = write if goes_on else -1
            if goes_on:
                write += count[code]
                next_ends[n_groups] = write
                n_groups += 1
        n_singles = _distribute(codes, alone, members, first, last, count, slot, next_members, singles, n_singles)
        for t in range(values):
            count[touched[t]] = 0
        first = last
    return n_groups, n_singles


@kernel
def unique_sets(codes: Ints, sizes: Longs, alone: Flags, most: int) -> tuple[Longs, Longs]:
    """Tuple and variable set, as bits, where each branch of at most `most` variables first makes the tuple unique.

    `codes[v]` holds the codes of variable v, all below `sizes[v]`; `alone` marks the tuples of a single row. Pairs come
    in ascending order of the sets. With a set, all that add variables below its lowest are unique too, and not listed.
    """
    n_variables, n = codes.shape
    members, ends = np.empty((most + 1, max(n, 1)), np.int32), np.empty((most + 1, max(n, 1)), np.int32)
    groups, limit, step = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64)
    mask = np.zeros(most + 1, np.int64)
    n_values = max(sizes.max(), 1) if n_variables else 1
    scratch = (np.zeros(n_values, np.int32), np.empty(n_values, np.int32), np.empty(n_values, np.int32))
    singles = np.empty(max(n, 1), np.int32)
    sets, owners = np.empty(1024, np.int64), np.empty(1024, np.int64)
    for i in range(n):
        members[0, i] = i
    ends[0, 0], groups[0], limit[0] = n, min(n, 1), n_variables
    depth, total = 0, 0
    while depth >= 0:
        variable = step[depth]
        if variable >= limit[depth] or groups[depth] == 0 or depth == most:
            depth -= 1
            continue
        step[depth] += 1
        down = depth + 1
        mask[down] = mask[depth] | (np.int64(1) << np.int64(variable))
        deeper = down < most and variable > 0
        output = (members[down], ends[down], singles)
        n_groups, n_singles = _split(
            codes[variable], alone, members[depth], ends[depth], groups[depth], deeper, output, scratch
        )
        while total + n_singles > len(sets):
            sets, owners = _double_length(sets, total), _double_length(owners, total)
        for i in range(n_singles):
            sets[total], owners[total] = mask[down], singles[i]
            total += 1
        groups[down], limit[down], step[down] = n_groups, variable, 0
        depth = down
    return owners[:total], sets[:total]


@kernel
def sets_by_tuple(owners: Longs, sets: Longs, tuples: int) -> tuple[Longs, Longs]:
    """The sets tuple by tuple, in the order given within each, and where those of each tuple end."""
    ends = np.zeros(tuples, np.int64)
    for owner in owners:
        ends[owner] += 1
    total = 0
    for owner in range(tuples):
        total += ends[owner]
        ends[owner] = total - ends[owner]
    grouped = np.empty(len(sets), np.int64)
    for i in range(len(sets)):
        grouped[ends[owners[i]]] = sets[i]
        ends[owners[i]] += 1
    return grouped, ends


@inline
def _is_unique(mask: int, sets: Longs, first: int, last: int) -> bool:
    """Whether a tuple is unique on `mask`: in the branch of the greatest of its sets that does not exceed it."""
    low, high = first, last
    while low < high:
        middle = (low + high) >> 1
        if sets[middle] <= mask:
            low = middle + 1
        else:
            high = middle
    if low == first:
        return False
    nearest = sets[low - 1]
    return mask < nearest + (nearest & -nearest)


@kernel
def minimal_sets(sets: Longs, ends: Longs) -> Flags:
    """Which sets are minimal: unique no more once any one variable is left out.

    `sets` are those of `unique_sets` tuple by tuple, ascending within each; `ends` says where each tuple's end.
    """
    minimal = np.ones(len(sets), np.bool_)
    first = 0
    for owner in range(len(ends)):
        last = ends[owner]
        for i in range(first, last):
            # Without its lowest variable a set is not unique, or it would not be listed.
            left = sets[i] & (sets[i] - 1)
            while left:
                variable = left & -left
                left ^= variable
                if _is_unique(sets[i] ^ variable, sets, first, last):
                    minimal[i] = False
                    break
        first = last
    return minimal


@kernel
def tally_minimal_sets(
    sets: Longs,
    ends: Longs,
    minimal: Flags,
    weights: NDArray[np.float64],
    by_size: NDArray[np.int32],
    contribution: NDArray[np.float64],
) -> None:
    """Add each tuple's minimal sets to its count by size, and their weight to each variable in them."""
    first = 0
    for owner in range(len(ends)):
        for i in range(first, ends[owner]):
            if not minimal[i]:
                continue
            size, left = 0, sets[i]
            while left:
                left &= left - 1
                size += 1
            by_size[owner, size - 1] += 1
            variable, left = 0, sets[i]
            while left:
                if left & 1:
                    contribution[owner, variable] += weights[size - 1]
                left >>= 1
                variable += 1
        first = ends[owner]
