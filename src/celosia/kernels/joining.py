"""Compatible pairs of two lists of tuples, joined column by column without looking at all pairs.

Knows sorted code matrices and, per column, which label goes with which value. Ignores what they mean. A node is a run
of equal prefixes on each side; its children are met from the shorter run, by searching the codes that go together in
the longer one. So the work follows the pairs found, in the manner of a worst-case optimal join (Ngo, Ré, Rudra 2013).
The join stops when its output is full and can be resumed from there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import inline, kernel

Array = Any
Side = tuple[Array, Array]  # sorted codes, and where the run of equal prefixes up to each column ends
Pairs = tuple[Array, Array]  # where the codes that go with each code begin, and those codes


@inline
def _lower(codes: Array, column: int, low: int, high: int, code: int) -> int:
    """The first row of a sorted run whose code is not below the code one."""
    while low < high:
        middle = (low + high) // 2
        if codes[middle, column] < code:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def _holds(items: Array, low: int, high: int, code: int) -> bool:
    end = high
    while low < high:
        middle = (low + high) // 2
        if items[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low < end and items[low] == code


@kernel
def run_ends(codes: Array) -> Array:
    """For each row and column of a sorted matrix, where the run of equal prefixes up to that column ends."""
    n, columns = codes.shape
    ends = np.empty((n, columns), np.int32)
    for row in range(n - 1, -1, -1):
        same = row + 1 < n
        for column in range(columns):
            same = same and codes[row, column] == codes[row + 1, column]
            ends[row, column] = ends[row + 1, column] if same else row + 1
    return ends


@kernel
def _grow_stack(stack: Array, top: int, more: int) -> Array:
    """The stack, with space for so many more nodes."""
    if top + more <= len(stack):
        return stack
    wider = np.empty((2 * (top + more), stack.shape[1]), np.int64)
    wider[:top] = stack[:top]
    return wider


@inline
def _push(stack: Array, top: int, depth: int, own: tuple[int, int], other: tuple[int, int], swapped: bool) -> int:
    """Push a child, a run of each side; returns the new height of the stack."""
    stack[top, 0] = depth + 1
    stack[top, 1 + 2 * swapped], stack[top, 2 + 2 * swapped] = own
    stack[top, 3 - 2 * swapped], stack[top, 4 - 2 * swapped] = other
    return top + 1


@kernel
def _children(
    stack: Array, top: int, depth: int, run: Array, side: Side, other_side: Side, pairs: Pairs, swapped: bool
) -> tuple[Array, int]:
    """Push the compatible children of a node, going through the first side of `run` and searching the other."""
    codes, ends = side
    other, other_ends = other_side
    starts, items = pairs
    row = run[0]
    while row < run[1]:
        end = ends[row, depth]
        first, last = starts[codes[row, depth]], starts[codes[row, depth] + 1]
        stack = _grow_stack(stack, top, min(last - first, run[3] - run[2]))
        at = run[2]
        if last - first <= run[3] - run[2]:
            for item in range(first, last):
                at = _lower(other, depth, at, run[3], items[item])
                if at < run[3] and other[at, depth] == items[item]:
                    top = _push(stack, top, depth, (row, end), (at, other_ends[at, depth]), swapped)
        else:
            while at < run[3]:
                if _holds(items, first, last, other[at, depth]):
                    top = _push(stack, top, depth, (row, end), (at, other_ends[at, depth]), swapped)
                at = other_ends[at, depth]
        row = end
    return stack, top


@kernel
def _write_incompatible(
    a: int, low: int, high: int, codes: Array, items: Array, out_left: Array, out_right: Array, written: int
) -> int:
    """Write the pairs of a left row with the right rows of a run whose code is not among the items."""
    for row in range(low, high):
        if not _holds(items, 0, len(items), codes[row]):
            out_left[written], out_right[written] = a, row
            written += 1
    return written


@kernel
def join_pairs(
    stack: Array,
    top: int,
    left: Array,
    left_ends: Array,
    right: Array,
    right_ends: Array,
    starts: Array,
    items: Array,
    back_starts: Array,
    back_items: Array,
    offsets: Array,
    odd_last: bool,
    out_left: Array,
    out_right: Array,
) -> tuple[Array, int, int]:
    """Fill the output with pairs of rows; returns the stack, its height (0: complete) and the pairs written.

    `starts` and `items` hold, for the columns one after another, the right codes that go with each left code, and
    `back_*` the left codes of each right one; `offsets[column]` says where a column begins in `starts` and in
    `back_starts`. With `odd_last` the pairs wanted are those that agree everywhere but in the last column.
    A node of the stack is (depth, left run, right run); rows are distinct, so a leaf is one row of each side.
    """
    columns, written, run = left.shape[1], 0, np.empty(4, np.int64)
    while top > 0:
        depth = stack[top - 1, 0]
        a, b, c, d = stack[top - 1, 1], stack[top - 1, 2], stack[top - 1, 3], stack[top - 1, 4]
        if depth == columns:
            if written == len(out_left):
                return stack, top, written
            out_left[written], out_right[written] = a, c
            written += 1
            top -= 1
        elif odd_last and depth == columns - 1:
            # One row of the left side at a time, so that the output never has to hold more than one row's pairs.
            if written + d - c > len(out_left):
                return stack, top, written
            at = offsets[depth, 0] + left[a, depth]
            written = _write_incompatible(
                a, c, d, right[:, depth], items[starts[at] : starts[at + 1]], out_left, out_right, written
            )
            stack[top - 1, 1] = a + 1
            if a + 1 == b:
                top -= 1
        else:
            top -= 1
            if b - a <= d - c:
                run[0], run[1], run[2], run[3] = a, b, c, d
                pairs = (starts[offsets[depth, 0] :], items)
                stack, top = _children(stack, top, depth, run, (left, left_ends), (right, right_ends), pairs, False)
            else:
                run[0], run[1], run[2], run[3] = c, d, a, b
                pairs = (back_starts[offsets[depth, 1] :], back_items)
                stack, top = _children(stack, top, depth, run, (right, right_ends), (left, left_ends), pairs, True)
    return stack, top, written


@kernel
def record_sole_persons(
    left: Array, right: Array, left_who: Array, right_who: Array, left_sole: Array, right_sole: Array
) -> None:
    """Keep, for each tuple, the only person met on the other side: -1 nobody yet, -2 several.

    `*_who` is the only person behind a tuple, -2 where there are several.
    """
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        if left_sole[a] == -1:
            left_sole[a] = right_who[b]
        elif left_sole[a] != right_who[b]:
            left_sole[a] = -2
        if right_sole[b] == -1:
            right_sole[b] = left_who[a]
        elif right_sole[b] != left_who[a]:
            right_sole[b] = -2


@kernel
def mark_crowded(left: Array, right: Array, crowded: Array, crowd: Array) -> None:
    """Mark each right tuple that goes with a crowded left one."""
    for pair in range(len(left)):
        if crowded[left[pair]]:
            crowd[right[pair]] = True


@kernel
def keep_best(right: Array, mass: Array, who: Array, best: Array, claim: Array) -> None:
    """For each right tuple, the greatest mass of its pairs and the person behind it; of equals the first."""
    for pair in range(len(right)):
        if mass[pair] > best[right[pair]]:
            best[right[pair]] = mass[pair]
            claim[right[pair]] = who[pair]


@kernel
def weigh_pairs(
    left: Array, right: Array, odd: Array, level: Array, weights: Array, scale: float, rows: Array, total: Array
) -> Array:
    """The weight of each pair, from log weights (levels × left tuples × columns), and its total per right tuple.

    Every column counts as agreeing (level 0) but the odd one; the total counts each of the left tuple's rows.
    """
    base = np.zeros(weights.shape[1])
    for tuple_ in range(weights.shape[1]):
        for column in range(weights.shape[2]):
            base[tuple_] += weights[0, tuple_, column]
    share = np.empty(len(left))
    for pair in range(len(left)):
        a, column = left[pair], odd[pair]
        log = base[a]
        if column >= 0:
            log += weights[level[pair], a, column] - weights[0, a, column]
        share[pair] = np.exp(min(log, 600.0)) * scale
        total[right[pair]] += share[pair] * rows[a]
    return share


@kernel
def add_expected_levels(left: Array, odd: Array, level: Array, mass: Array, tells: Array, expected: Array) -> None:
    """Add the mass of each pair to its level in each column (columns × levels), where the left tuple tells anything."""
    by_tuple = np.zeros(len(tells))
    for pair in range(len(left)):
        a, column = left[pair], odd[pair]
        by_tuple[a] += mass[pair]
        if column >= 0 and tells[a, column]:
            expected[column, level[pair]] += mass[pair]
            expected[column, 0] -= mass[pair]
    for tuple_ in range(len(tells)):
        for column in range(tells.shape[1]):
            if tells[tuple_, column]:
                expected[column, 0] += by_tuple[tuple_]
