"""Roll-up: the classes of a node from the table of any finer node.

Knows packed keys, counts and lookup tables. Ignores what the codes mean.
A key is one 64-bit word with the codes of all variables, each code the smallest leaf of its group in
depth-first order; so a table of classes is again a table of leaves, and one set of lookups serves any
source. Where the codes need more than 64 bits, a key is the number of a row of `codes` and equal rows are
found by comparing all columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import inline, kernel

# The roll-ups take `offset, shift, mask` per bit group (where the lookup of its levels begins, its shift and its mask)
# and end with `out_keys, out_rows, slot, start`: keys and rows to write, as long as the source; slots; the first free
# number. They are single arguments because numba takes a tuple of arrays apart at every call.
Array = Any
Leaves = tuple[Array, Array, Array, Array, Array]  # leading and dense groups, number of leaves, shifts and masks
_DENSE = 4  # cells of a full table per entry up to which it is worth filling
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def count_codes(codes: Array, rows: Array, begin: Array) -> Array:
    """Rows of each code of each column, one column after the other from `begin`."""
    out = np.zeros(begin[-1], np.int64)
    for i in range(len(codes)):
        for v in range(codes.shape[1]):
            out[begin[v] + codes[i, v]] += rows[i]
    return out


@kernel
def pack_keys(codes: Array, leaf: Array, begin: Array, shift: Array) -> Array:
    """One word per tuple: the leaf of each code, shifted to its place."""
    out = np.empty(len(codes), np.uint64)
    for i in range(len(codes)):
        key = np.uint64(0)
        for v in range(codes.shape[1]):
            key |= np.uint64(leaf[begin[v] + codes[i, v]]) << shift[v]
        out[i] = key
    return out


@kernel
def smallest_source(levels: Array, sizes: Array, many: int, target: Array) -> int:
    """The first of the smallest tables whose levels are nowhere above the target; -1 when there is none."""
    best = -1
    for t in range(many):
        if best >= 0 and sizes[t] >= sizes[best]:
            continue
        v = 0
        while v < len(target) and levels[t, v] <= target[v]:
            v += 1
        if v == len(target):
            best = t
    return best


@kernel
def fill_lookup(coarse: Array, address: Array, begin: int, variables: Array, levels: Array, encoding: Leaves) -> int:
    """Coarser bits and address of every pattern of a bit group, from `begin`; gives the number of addresses.

    The last variable varies fastest, as in the order of the tuples.
    """
    leading, dense, leaves, shift, mask = encoding
    low = shift[variables[0]]
    width = np.uint64(0)
    for v in variables:
        low = min(low, shift[v])
    for v in variables:
        width |= mask[v] << (shift[v] - low)
    for pattern in range(np.int64(width) + 1):
        bits = np.uint64(0)
        position = np.int64(0)
        for i in range(len(variables)):
            v = variables[i]
            leaf = min(np.int64((np.uint64(pattern) >> (shift[v] - low)) & mask[v]), leaves[v] - 1)
            bits |= np.uint64(leading[v, levels[i], leaf]) << shift[v]
            position = position * (dense[v, levels[i], leaves[v] - 1] + 1) + dense[v, levels[i], leaf]
        coarse[begin + pattern] = bits
        address[begin + pattern] = position
    cells = 1
    for i in range(len(variables)):
        v = variables[i]
        cells *= dense[v, levels[i], leaves[v] - 1] + 1
    return cells


@kernel
def roll_direct(
    keys: Array,
    rows: Array,
    dense: Array,
    offset: Array,
    shift: Array,
    mask: Array,
    stride: Array,
    labelled: bool,
    out_keys: Array,
    out_rows: Array,
    slot: Array,
    start: int,
) -> tuple[Array, Array, Array]:
    """Class of each source tuple (if `labelled`), a key and the rows of each class, classes by their address.

    The slots are never cleared: numbers below the first free one are from earlier calls and count as empty.
    """
    n = len(keys)
    label = np.empty(n if labelled else 0, np.int32)
    groups = len(offset)
    classes = 0
    for i in range(n):
        key = keys[i]
        address = np.int64(0)
        for g in range(groups):
            address += dense[offset[g] + np.int64((key >> shift[g]) & mask[g])] * stride[g]
        c = slot[address] - start
        if c < 0:
            c = classes
            slot[address] = c + start
            out_keys[c] = key
            out_rows[c] = 0
            classes += 1
        out_rows[c] += rows[i]
        if labelled:
            label[i] = c
    return label, out_keys[:classes].copy(), out_rows[:classes].copy()


@inline
def _regions(keys: Array, dense: Array, offset: int, shift: Any, mask: Any, cells: int) -> tuple[Array, Array]:
    """Where the slots of each address of the first bit group begin, and how many bits they have."""
    begin = np.zeros(cells + 1, np.int64)
    down = np.empty(cells, np.uint64)
    for i in range(len(keys)):
        begin[dense[offset + np.int64((keys[i] >> shift) & mask)] + 1] += 1
    for r in range(cells):
        bits = 2
        while 1 << bits < 2 * begin[r + 1]:
            bits += 1
        down[r] = np.uint64(64 - bits)
        begin[r + 1] = begin[r] + (1 << bits)
    return begin, down


@kernel
def roll_hash(
    keys: Array,
    rows: Array,
    leading: Array,
    dense: Array,
    offset: Array,
    shift: Array,
    mask: Array,
    cells: int,
    labelled: bool,
    out_keys: Array,
    out_rows: Array,
    slot: Array,
    start: int,
) -> tuple[Array, Array, Array]:
    """As `roll_direct`, by open addressing, for domains too wide to address.

    Each of the `cells` addresses of the first bit group has a region of slots of its own, at least twice its
    tuples: tuples come ordered by their first variables, so the slots in use lie close together. Needs four slots
    per tuple and four per cell.
    """
    n = len(keys)
    begin, down = _regions(keys, dense, offset[0], shift[0], mask[0], cells)
    label = np.empty(n if labelled else 0, np.int32)
    groups = len(offset)
    classes = 0
    for i in range(n):
        key = keys[i]
        coarse = np.uint64(0)
        for g in range(groups):
            coarse |= leading[offset[g] + np.int64((key >> shift[g]) & mask[g])]
        region = dense[offset[0] + np.int64((key >> shift[0]) & mask[0])]
        mixed = coarse ^ (coarse >> np.uint64(31))
        at = begin[region] + np.int64((mixed * _GOLDEN) >> down[region])
        c = slot[at] - start
        while c >= 0 and out_keys[c] != coarse:
            at += 1
            if at == begin[region + 1]:
                at = begin[region]
            c = slot[at] - start
        if c < 0:
            c = classes
            slot[at] = c + start
            out_keys[c] = coarse
            out_rows[c] = 0
            classes += 1
        out_rows[c] += rows[i]
        if labelled:
            label[i] = c
    return label, out_keys[:classes].copy(), out_rows[:classes].copy()


@kernel
def roll_wide(
    keys: Array,
    rows: Array,
    codes: Array,
    leading: Array,
    levels: Array,
    bits: int,
    out_keys: Array,
    out_rows: Array,
    slot: Array,
    start: int,
) -> tuple[Array, Array, Array]:
    """As `roll_hash` for keys wider than a word: a key is a row of `codes`, compared column by column."""
    n = len(keys)
    last = (1 << bits) - 1
    down = np.uint64(64 - bits)
    label = np.empty(n, np.int32)
    width = codes.shape[1]
    classes = 0
    for i in range(n):
        here = np.int64(keys[i])
        mixed = np.uint64(0)
        for v in range(width):
            mixed = (mixed ^ np.uint64(leading[v, levels[v], codes[here, v]])) * _GOLDEN
            mixed ^= mixed >> np.uint64(29)
        at = np.int64((mixed * _GOLDEN) >> down)
        c = slot[at] - start
        while c >= 0:
            other = np.int64(out_keys[c])
            v = 0
            while v < width and leading[v, levels[v], codes[here, v]] == leading[v, levels[v], codes[other, v]]:
                v += 1
            if v == width:
                break
            at = (at + 1) & last
            c = slot[at] - start
        if c < 0:
            c = classes
            slot[at] = c + start
            out_keys[c] = keys[i]
            out_rows[c] = 0
            classes += 1
        out_rows[c] += rows[i]
        label[i] = c
    return label, out_keys[:classes].copy(), out_rows[:classes].copy()


@inline
def _roll_values_densely(
    label: Array, classes: int, offsets: Array, values: Array, counts: Array, n_values: int
) -> tuple[Array, Array, Array]:
    """Add up in a full table of classes by values, then list what is there."""
    sums = np.zeros((classes, n_values), np.int64)
    for i in range(len(label)):
        mine = sums[label[i]]
        for e in range(offsets[i], offsets[i + 1]):
            mine[values[e]] += counts[e]
    most_entries = min(len(values), classes * n_values)
    out_offsets = np.zeros(classes + 1, np.int64)
    out_values = np.empty(most_entries, np.int32)
    out_counts = np.empty(most_entries, np.int64)
    n_entries = 0
    for c in range(classes):
        for value in range(n_values):
            if sums[c, value] > 0:
                out_values[n_entries] = value
                out_counts[n_entries] = sums[c, value]
                n_entries += 1
        out_offsets[c + 1] = n_entries
    return out_offsets, out_values[:n_entries].copy(), out_counts[:n_entries].copy()


@kernel
def roll_values(
    label: Array, classes: int, offsets: Array, values: Array, counts: Array, n_values: int, targets: Array
) -> tuple[Array, Array, Array]:
    """Counts of each value in each class, from those of the source tuples.

    `targets`, when as long as `values`, receives for each source entry the entry it went to.
    """
    if len(targets) == 0 and classes * n_values <= _DENSE * len(values):
        return _roll_values_densely(label, classes, offsets, values, counts, n_values)
    start = np.zeros(classes + 1, np.int64)
    for i in range(len(label)):
        start[label[i] + 1] += 1
    for c in range(classes):
        start[c + 1] += start[c]
    fill = start[:-1].copy()
    order = np.empty(len(label), np.int32)
    for i in range(len(label)):
        order[fill[label[i]]] = i
        fill[label[i]] += 1
    entry_of = np.full(n_values, -1, np.int64)
    out_offsets = np.zeros(classes + 1, np.int64)
    out_values = np.empty(len(values), np.int32)
    out_counts = np.empty(len(values), np.int64)
    follow = len(targets) == len(values)
    n_entries = 0
    for c in range(classes):
        begin = n_entries
        for j in range(start[c], start[c + 1]):
            i = order[j]
            for e in range(offsets[i], offsets[i + 1]):
                value = values[e]
                p = entry_of[value]
                if p < begin:
                    p = n_entries
                    entry_of[value] = p
                    out_values[p] = value
                    out_counts[p] = 0
                    n_entries += 1
                out_counts[p] += counts[e]
                if follow:
                    targets[e] = p
        out_offsets[c + 1] = n_entries
    return out_offsets, out_values[:n_entries].copy(), out_counts[:n_entries].copy()


@kernel
def roll_sets(label: Array, classes: int, sets: Array) -> Array:
    """Union of small sets held as bits."""
    out = np.zeros(classes, np.uint64)
    for i in range(len(label)):
        out[label[i]] |= sets[i]
    return out


@kernel
def roll_extremes(label: Array, classes: int, low: Array, high: Array) -> tuple[Array, Array]:
    """Smallest and largest value of each class: two differ exactly when at least two values occur."""
    out_low = np.full(classes, np.iinfo(np.int32).max, np.int32)
    out_high = np.full(classes, -1, np.int32)
    for i in range(len(label)):
        c = label[i]
        out_low[c] = min(out_low[c], low[i])
        out_high[c] = max(out_high[c], high[i])
    return out_low, out_high


@kernel
def roll_persons(
    label: Array, classes: int, settled: Array, index: Array, person: Array
) -> tuple[Array, Array, Array, Array]:
    """Distinct persons of each class, and settled persons and incidence after the merge.

    The incidence (tuple `index`, `person`) comes and leaves ordered by person.
    """
    out_settled = np.zeros(classes, np.int64)
    for i in range(len(label)):
        out_settled[label[i]] += settled[i]
    stamp = np.full(classes, -1, np.int64)
    out_index = np.empty(len(index), np.int64)
    out_person = np.empty(len(index), np.int64)
    n_pairs = 0
    i = 0
    while i < len(index):
        who = person[i]
        begin = n_pairs
        while i < len(index) and person[i] == who:
            c = label[index[i]]
            if stamp[c] != who:
                stamp[c] = who
                out_index[n_pairs] = c
                out_person[n_pairs] = who
                n_pairs += 1
            i += 1
        if n_pairs - begin == 1:
            out_settled[out_index[begin]] += 1
            n_pairs = begin
    counted = out_settled.copy()
    for i in range(n_pairs):
        counted[out_index[i]] += 1
    return counted, out_settled, out_index[:n_pairs].copy(), out_person[:n_pairs].copy()
