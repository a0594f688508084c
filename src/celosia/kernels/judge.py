"""Which classes pass a criterion on their sensitive values, and how many rows can never be kept.

Values come as lists per class (offsets, values, counts); `alive` says which classes to judge. Each kernel
returns `passes` and `lost`. A criterion whose passing classes pass together bounds every finer node: what a
finer node keeps of a class is, taken together, a part of the class that passes; so at least the rows beyond
the largest such part are lost. Thresholds are compared in whole numbers of up to 128 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import inline, kernel

Array = Any
Verdicts = tuple[Array, Array]  # of each class: whether it passes, and the rows lost here and in every finer node
_TOLERANCE = 1e-12
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@inline
def _all_pass(offsets: Array) -> Verdicts:
    """The verdicts before any class is judged; a class that is not alive or has no value keeps this one."""
    return np.ones(len(offsets) - 1, np.bool_), np.zeros(len(offsets) - 1, np.int64)


@inline
def _is_judged(c: int, offsets: Array, alive: Array) -> bool:
    return alive[c] and offsets[c] < offsets[c + 1]


@inline
def product_at_most(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Whether a·b ≤ c·d, exactly, for whole numbers from 0 to 2**63 - 1."""
    left_high, left_low = _product(np.uint64(a), np.uint64(b))
    right_high, right_low = _product(np.uint64(c), np.uint64(d))
    return left_high < right_high or (left_high == right_high and left_low <= right_low)


@inline
def _product(a: Any, b: Any) -> Any:
    """The upper and the lower 64 bits of a product."""
    low = (a & _LOW) * (b & _LOW)
    middle = (a >> _HALF) * (b & _LOW) + (low >> _HALF)
    other = (a & _LOW) * (b >> _HALF) + (middle & _LOW)
    high = (a >> _HALF) * (b >> _HALF) + (middle >> _HALF) + (other >> _HALF)
    return high, (other << _HALF) | (low & _LOW)


@inline
def _size(begin: int, end: int, counts: Array) -> int:
    """Rows of a class, also those whose value may not be counted."""
    size = 0
    for e in range(begin, end):
        size += counts[e]
    return size


# --- l-diversity -------------------------------------------------------------------------------------


@kernel
def judge_distinct(
    offsets: Array, values: Array, counts: Array, alive: Array, countable: Array, least: int
) -> Verdicts:
    """At least `least` countable values, or no visible value at all."""
    passes, lost = _all_pass(offsets)
    for c in range(len(passes)):
        if _is_judged(c, offsets, alive):
            distinct = 0
            visible = 0
            for e in range(offsets[c], offsets[c + 1]):
                visible += counts[e]
                if countable[values[e]]:
                    distinct += 1
            if distinct < least:
                passes[c], lost[c] = False, visible
    return passes, lost


@inline
def _countable_sizes(begin: int, end: int, values: Array, counts: Array, countable: Array, into: Array) -> int:
    """Countable counts of a class, largest first; returns how many."""
    n = 0
    for e in range(begin, end):
        if countable[values[e]]:
            into[n] = counts[e]
            n += 1
    part = into[:n]
    part.sort()
    for i in range(n // 2):
        part[i], part[n - 1 - i] = part[n - 1 - i], part[i]
    return n


@inline
def _capped_entropy(sizes: Array, n: int, cap: float) -> float:
    """Entropy of the sizes, none counted beyond the cap."""
    total = 0.0
    weighted = 0.0
    for i in range(n):
        size = min(float(sizes[i]), cap)
        total += size
        weighted += size * np.log(size)
    return np.log(total) - weighted / total


@inline
def _rows_above_entropy(sizes: Array, n: int, needed: float) -> int:
    """Rows that a class of too little entropy must lose: its largest values are cut down, by halving."""
    low, high = 1.0, float(sizes[0])
    for _ in range(40):
        middle = (low + high) / 2
        if _capped_entropy(sizes, n, middle) >= needed - 1e-9:
            low = middle
        else:
            high = middle
    excess = 0.0
    for i in range(n):
        excess += max(0.0, sizes[i] - high)
    return max(1, int(excess - 1e-6))


@kernel
def judge_entropy(
    offsets: Array, values: Array, counts: Array, alive: Array, countable: Array, least: float
) -> Verdicts:
    """exp(entropy) at least `least`."""
    passes, lost = _all_pass(offsets)
    sizes = np.empty(len(countable), np.int64)
    needed = np.log(least * (1.0 - _TOLERANCE))
    for c in range(len(passes)):
        if _is_judged(c, offsets, alive):
            begin, end = offsets[c], offsets[c + 1]
            n = _countable_sizes(begin, end, values, counts, countable, sizes)
            if n == 0 or _capped_entropy(sizes, n, np.inf) < needed:
                enough = n >= least * (1.0 - 1e-9)
                passes[c] = False
                lost[c] = _rows_above_entropy(sizes, n, needed) if enough else _size(begin, end, counts)
    return passes, lost


@inline
def _largest_cap(sizes: Array, n: int, least: int, numerator: int, denominator: int) -> Any:
    """The largest cap on the counts (largest first) with which they pass; 0 when there is none."""
    low, high = 0, sizes[0] if n > 0 else 0
    cap = high
    while low < high:
        tail = 0
        for i in range(least - 1, n):
            tail += min(sizes[i], cap)
        if product_at_most(numerator, tail, denominator, cap):
            high = cap - 1
        else:
            low = cap
        cap = (low + high + 1) // 2
    return low


@kernel
def judge_recursive(
    offsets: Array, values: Array, counts: Array, alive: Array, countable: Array, least: int, p: int, q: int
) -> Verdicts:
    """r1 < c·(r_l + r_{l+1} + …) with c = p/q."""
    passes, lost = _all_pass(offsets)
    sizes = np.empty(len(countable), np.int64)
    for c in range(len(passes)):
        if not _is_judged(c, offsets, alive):
            continue
        n = _countable_sizes(offsets[c], offsets[c + 1], values, counts, countable, sizes)
        cap = _largest_cap(sizes, n, least, p, q)
        if n > 0 and cap == sizes[0]:
            continue
        excess = 0
        for i in range(n):
            excess += max(0, sizes[i] - cap)
        for e in range(offsets[c], offsets[c + 1]):
            if cap == 0 and not countable[values[e]]:
                excess += counts[e]
        passes[c], lost[c] = False, max(1, excess)
    return passes, lost


# --- t-closeness: the distance to a reference of `total` rows is at most t -----------------------------


@inline
def _rows_beyond_part(size: int, part: float) -> int:
    """Rows of a failing class beyond its largest part; rounding may not cost a row that could be kept."""
    return max(size - max(0, int(np.floor(part + 1e-6 * (size + 1)))), 1)


@inline
def _rows_too_far_alone(begin: int, end: int, values: Array, counts: Array, reference: Array, bounds: Any) -> int:
    """`_rows_too_far` for one partition into single values."""
    absent, total, size, share = bounds
    part = float(size)
    while True:
        scale = part / total
        expected = absent
        there = 0
        for e in range(begin, end):
            rows = reference[values[e]]
            if rows * scale > counts[e]:
                expected += rows
                there += counts[e]
        excess = expected * scale - there - share * part
        slope = expected / total - share
        if excess <= 1e-9 * size or slope <= 0.0:
            break
        part -= excess / slope
        if excess < 0.5 * slope or part <= 0.0:
            break
    return _rows_beyond_part(size, part)


@kernel
def judge_equal(
    offsets: Array, values: Array, counts: Array, alive: Array, reference: Array, total: int, p: int, q: int
) -> Verdicts:
    """`judge_partitions` for one partition into single values: half the L1 distance is at most p/q."""
    passes, lost = _all_pass(offsets)
    share = p / q * (1.0 + 1e-9)
    for c in range(len(passes)):
        if _is_judged(c, offsets, alive):
            begin, end = offsets[c], offsets[c + 1]
            size = _size(begin, end, counts)
            absent = total
            distance = 0
            for e in range(begin, end):
                rows = reference[values[e]]
                absent -= rows
                distance += abs(counts[e] * total - rows * size)
            distance += absent * size
            if not product_at_most(distance, q, 2 * p, size * total):
                passes[c] = False
                lost[c] = _rows_too_far_alone(begin, end, values, counts, reference, (absent, total, size, share))
    return passes, lost


@inline
def _group_counts(begin: int, end: int, values: Array, counts: Array, group: Array, scratch: Any) -> int:
    """Counts by group in each partition, the groups touched, and the size of the class."""
    sums, touched, filled, _ = scratch
    size = 0
    for e in range(begin, end):
        size += counts[e]
        for i in range(len(filled)):
            g = group[i, values[e]]
            if sums[i, g] == 0:
                touched[i, filled[i]] = g
                filled[i] += 1
            sums[i, g] += counts[e]
    return size


@inline
def _rows_too_far(scratch: Any, reference: Array, total: int, size: int, share: float) -> int:
    """Rows of a class beyond its largest part that can still be close enough to the reference.

    A part is too far while what the reference has and the class has not exceeds share·part. The excess is convex in
    the part, so nowhere below its tangents: steps down the tangents from the whole class never go too far.
    """
    sums, touched, filled, absent = scratch
    part = float(size)
    while True:
        scale = part / total
        missing = 0.0
        slope = -share
        for i in range(len(filled)):
            expected = float(absent[i])
            there = 0
            for j in range(filled[i]):
                g = touched[i, j]
                if reference[i, g] * scale > sums[i, g]:
                    expected += reference[i, g]
                    there += sums[i, g]
            missing += expected * scale - there
            slope += expected / total
        excess = missing - share * part
        if excess <= 1e-9 * size or slope <= 0.0:
            break
        part -= excess / slope
        if excess < 0.5 * slope or part <= 0.0:
            break
    return _rows_beyond_part(size, part)


@kernel
def judge_partitions(
    offsets: Array,
    values: Array,
    counts: Array,
    alive: Array,
    group: Array,
    reference: Array,
    total: int,
    p: int,
    q: int,
) -> Verdicts:
    """Mean over partitions of half the L1 distance to the reference ≤ p/q.

    `group[i, value]` is the group of a value in partition i, `reference[i, group]` its rows among `total`.
    One partition into single values is the equal distance; the levels of a hierarchy give the hierarchical one.
    """
    passes, lost = _all_pass(offsets)
    partitions = len(reference)
    sums, touched = np.zeros(reference.shape, np.int64), np.zeros(reference.shape, np.int64)
    filled, absent = np.zeros(partitions, np.int64), np.zeros(partitions, np.int64)
    scratch = (sums, touched, filled, absent)
    share = p / q * partitions * (1.0 + 1e-9)
    for c in range(len(passes)):
        if not _is_judged(c, offsets, alive):
            continue
        size = _group_counts(offsets[c], offsets[c + 1], values, counts, group, scratch)
        distance = 0
        for i in range(partitions):
            absent[i] = total
            for j in range(filled[i]):
                g = touched[i, j]
                absent[i] -= reference[i, g]
                distance += abs(sums[i, g] * total - reference[i, g] * size)
            distance += absent[i] * size
        if not product_at_most(distance, q, 2 * partitions * p, size * total):
            passes[c], lost[c] = False, _rows_too_far(scratch, reference, total, size, share)
        for i in range(partitions):
            for j in range(filled[i]):
                sums[i, touched[i, j]] = 0
            filled[i] = 0
    return passes, lost


@inline
def _rows_too_unordered(sums: Array, reference: Array, total: int, size: int, share: float) -> int:
    """Rows of a class beyond its largest part whose cumulated shares can still be close enough, by halving."""
    low, high = 0, size - 1
    while low < high:
        part = (low + high + 1) // 2
        missing = 0.0
        here = 0
        there = 0
        for r in range(len(reference) - 1):
            here += sums[r]
            there += reference[r]
            missing += max(0.0, there * (part / total) - here)
            missing += max(0.0, (total - there) * (part / total) - (size - here))
        if missing <= share * part:
            low = part
        else:
            high = part - 1
    return size - low


@kernel
def judge_ordered(
    offsets: Array,
    values: Array,
    counts: Array,
    alive: Array,
    rank: Array,
    reference: Array,
    total: int,
    p: int,
    q: int,
) -> Verdicts:
    """Earth mover's distance over ordered values: mean distance of the cumulated shares, at most p/q."""
    passes, lost = _all_pass(offsets)
    width = len(reference)
    sums = np.zeros(width, np.int64)
    share = p / q * (width - 1) * (1.0 + 1e-9)
    for c in range(len(passes)):
        if not _is_judged(c, offsets, alive):
            continue
        size = 0
        for e in range(offsets[c], offsets[c + 1]):
            size += counts[e]
            sums[rank[values[e]]] += counts[e]
        distance = 0
        here = 0
        there = 0
        for r in range(width - 1):
            here += sums[r]
            there += reference[r]
            distance += abs(here * total - there * size)
        if not product_at_most(distance, q, (width - 1) * p, size * total):
            passes[c], lost[c] = False, _rows_too_unordered(sums, reference, total, size, share)
        for e in range(offsets[c], offsets[c + 1]):
            sums[rank[values[e]]] = 0
    return passes, lost


# --- shares of single values -------------------------------------------------------------------------


@inline
def _rows_beyond(begin: int, end: int, values: Array, counts: Array, upper: Array, size: int) -> int:
    """Rows of a class beyond its largest part in which no value exceeds its share `upper`."""
    low, high = 0, size - 1
    while low < high:
        part = (low + high + 1) // 2
        possible = 0.0
        for e in range(begin, end):
            possible += min(float(counts[e]), upper[values[e]] * part)
        if possible * (1.0 + 1e-9) >= part:
            low = part
        else:
            high = part - 1
    return size - low


@kernel
def judge_shares(offsets: Array, values: Array, counts: Array, alive: Array, allowed: Array, scale: int) -> Verdicts:
    """No value above its share: count·scale ≤ allowed[value]·size, in whole numbers."""
    passes, lost = _all_pass(offsets)
    upper = allowed / scale
    for c in range(len(passes)):
        if _is_judged(c, offsets, alive):
            begin, end = offsets[c], offsets[c + 1]
            size = _size(begin, end, counts)
            for e in range(begin, end):
                if not product_at_most(counts[e], scale, allowed[values[e]], size):
                    passes[c], lost[c] = False, _rows_beyond(begin, end, values, counts, upper, size)
                    break
    return passes, lost


@kernel
def judge_share_range(
    offsets: Array, values: Array, counts: Array, alive: Array, lower: Array, upper: Array
) -> Verdicts:
    """Every value present has a share between `lower` and `upper`, both included, to 1e-12."""
    passes, lost = _all_pass(offsets)
    for c in range(len(passes)):
        if _is_judged(c, offsets, alive):
            begin, end = offsets[c], offsets[c + 1]
            size = _size(begin, end, counts)
            above = False
            for e in range(begin, end):
                share = counts[e] / size
                above = above or share > upper[values[e]] * (1.0 + _TOLERANCE)
                if above or share < lower[values[e]] * (1.0 - _TOLERANCE):
                    passes[c] = False
            if above:
                lost[c] = _rows_beyond(begin, end, values, counts, upper, size)
    return passes, lost
