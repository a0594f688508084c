"""Which classes pass a criterion on their sensitive values, and how many rows can never be kept.

Values come as lists per class (offsets, values, counts); `alive` says which classes to look at. Each kernel
returns `passes` and `lost`. A criterion whose passing classes pass together bounds every finer node: what a
finer node keeps of a class is, taken together, a part of the class that passes; so at least the rows beyond
the largest such part are lost. Thresholds are compared in whole numbers of up to 128 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import compiled, inlined

Array = Any
_TOLERANCE = 1e-12
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@inlined
def product_at_most(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Whether a·b ≤ c·d, exactly, for whole numbers from 0 to 2**63 - 1."""
    a, b, c, d = np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d)
    low = (a & _LOW) * (b & _LOW)
    middle = (a >> _HALF) * (b & _LOW) + (low >> _HALF)
    other = (a & _LOW) * (b >> _HALF) + (middle & _LOW)
    left_high = (a >> _HALF) * (b >> _HALF) + (middle >> _HALF) + (other >> _HALF)
    left_low = (other << _HALF) | (low & _LOW)
    low2 = (c & _LOW) * (d & _LOW)
    middle2 = (c >> _HALF) * (d & _LOW) + (low2 >> _HALF)
    other2 = (c & _LOW) * (d >> _HALF) + (middle2 & _LOW)
    right_high = (c >> _HALF) * (d >> _HALF) + (middle2 >> _HALF) + (other2 >> _HALF)
    right_low = (other2 << _HALF) | (low2 & _LOW)
    return left_high < right_high or (left_high == right_high and left_low <= right_low)


@compiled
def judge_distinct(
    offsets: Array, values: Array, counts: Array, alive: Array, countable: Array, least: int
) -> tuple[Array, Array]:
    """At least `least` countable values, or no visible value at all."""
    classes = len(offsets) - 1
    passes = np.ones(classes, np.bool_)
    lost = np.zeros(classes, np.int64)
    for c in range(classes):
        if not alive[c] or offsets[c] == offsets[c + 1]:
            continue
        distinct = 0
        visible = 0
        for e in range(offsets[c], offsets[c + 1]):
            visible += counts[e]
            if countable[values[e]]:
                distinct += 1
        if distinct < least:
            passes[c] = False
            lost[c] = visible
    return passes, lost


@inlined
def _gather(begin: int, end: int, values: Array, counts: Array, countable: Array, into: Array) -> int:
    """Countable counts of a class, largest first; returns how many."""
    found = 0
    for e in range(begin, end):
        if countable[values[e]]:
            into[found] = counts[e]
            found += 1
    part = into[:found]
    part.sort()
    for i in range(found // 2):
        part[i], part[found - 1 - i] = part[found - 1 - i], part[i]
    return found


@inlined
def _capped_entropy(sizes: Array, found: int, cap: float) -> float:
    """Entropy of the sizes, none counted beyond the cap."""
    total = 0.0
    weighted = 0.0
    for i in range(found):
        size = min(float(sizes[i]), cap)
        total += size
        weighted += size * np.log(size)
    return np.log(total) - weighted / total


@compiled
def judge_entropy(
    offsets: Array, values: Array, counts: Array, alive: Array, countable: Array, least: float
) -> tuple[Array, Array]:
    """exp(entropy) at least `least`; kept parts are bounded by cutting the largest values down."""
    classes = len(offsets) - 1
    passes = np.ones(classes, np.bool_)
    lost = np.zeros(classes, np.int64)
    sizes = np.empty(len(countable), np.int64)
    needed = np.log(least * (1.0 - _TOLERANCE))
    for c in range(classes):
        if not alive[c] or offsets[c] == offsets[c + 1]:
            continue
        visible = 0
        for e in range(offsets[c], offsets[c + 1]):
            visible += counts[e]
        found = _gather(offsets[c], offsets[c + 1], values, counts, countable, sizes)
        if found > 0 and _capped_entropy(sizes, found, np.inf) >= needed:
            continue
        passes[c] = False
        if found < least * (1.0 - 1e-9):
            lost[c] = visible
            continue
        low, high = 1.0, float(sizes[0])
        for _ in range(40):
            middle = (low + high) / 2
            if _capped_entropy(sizes, found, middle) >= needed - 1e-9:
                low = middle
            else:
                high = middle
        gone = 0.0
        for i in range(found):
            gone += max(0.0, sizes[i] - high)
        lost[c] = max(1, int(gone - 1e-6))
    return passes, lost


@inlined
def _largest_cap(sizes: Array, found: int, least: int, numerator: int, denominator: int) -> Any:
    """The largest cap on the counts (largest first) with which they pass; 0 when there is none."""
    low, high = 0, sizes[0] if found > 0 else 0
    cap = high
    while low < high:
        tail = 0
        for i in range(least - 1, found):
            tail += min(sizes[i], cap)
        if product_at_most(numerator, tail, denominator, cap):
            high = cap - 1
        else:
            low = cap
        cap = (low + high + 1) // 2
    return low


@compiled
def judge_recursive(
    offsets: Array,
    values: Array,
    counts: Array,
    alive: Array,
    countable: Array,
    least: int,
    numerator: int,
    denominator: int,
) -> tuple[Array, Array]:
    """r1 < c·(r_l + r_{l+1} + …) with c = numerator/denominator."""
    classes = len(offsets) - 1
    passes = np.ones(classes, np.bool_)
    lost = np.zeros(classes, np.int64)
    sizes = np.empty(len(countable), np.int64)
    for c in range(classes):
        if not alive[c] or offsets[c] == offsets[c + 1]:
            continue
        found = _gather(offsets[c], offsets[c + 1], values, counts, countable, sizes)
        cap = _largest_cap(sizes, found, least, numerator, denominator)
        if found > 0 and cap == sizes[0]:
            continue
        passes[c] = False
        gone = 0
        for i in range(found):
            gone += max(0, sizes[i] - cap)
        for e in range(offsets[c], offsets[c + 1]):
            if cap == 0 and not countable[values[e]]:
                gone += counts[e]
        lost[c] = max(1, gone)
    return passes, lost


@inlined
def _rows_beyond_part(size: int, part: float) -> int:
    """Rows of a failing class beyond its largest part; rounding may not cost a row that could be kept."""
    return max(size - max(0, int(np.floor(part + 1e-6 * (size + 1)))), 1)


@inlined
def _too_far_alone(
    begin: int,
    end: int,
    values: Array,
    counts: Array,
    reference: Array,
    absent: int,
    total: int,
    size: int,
    share: float,
) -> int:
    """`_rows_too_far` for one partition into single values."""
    part = float(size)
    while True:
        scale = part / total
        wanted = absent
        there = 0
        for e in range(begin, end):
            rows = reference[values[e]]
            if rows * scale > counts[e]:
                wanted += rows
                there += counts[e]
        excess = wanted * scale - there - share * part
        slope = wanted / total - share
        if excess <= 1e-9 * size or slope <= 0.0:
            break
        part -= excess / slope
        if excess < 0.5 * slope or part <= 0.0:
            break
    return _rows_beyond_part(size, part)


@compiled
def judge_equal(
    offsets: Array,
    values: Array,
    counts: Array,
    alive: Array,
    reference: Array,
    total: int,
    numerator: int,
    denominator: int,
) -> tuple[Array, Array]:
    """`judge_partitions` for one partition into single values: half the L1 distance to the reference."""
    classes = len(offsets) - 1
    passes = np.ones(classes, np.bool_)
    lost = np.zeros(classes, np.int64)
    share = numerator / denominator * (1.0 + 1e-9)
    for c in range(classes):
        begin, end = offsets[c], offsets[c + 1]
        if not alive[c] or begin == end:
            continue
        size = 0
        for e in range(begin, end):
            size += counts[e]
        absent = total
        distance = 0
        for e in range(begin, end):
            rows = reference[values[e]]
            absent -= rows
            distance += abs(counts[e] * total - rows * size)
        distance += absent * size
        if not product_at_most(distance, denominator, 2 * numerator, size * total):
            passes[c] = False
            lost[c] = _too_far_alone(begin, end, values, counts, reference, absent, total, size, share)
    return passes, lost


@inlined
def _group_counts(
    begin: int, end: int, values: Array, counts: Array, group: Array, held: Array, touched: Array, filled: Array
) -> int:
    """Counts by group in each partition, the groups touched, and the size of the class."""
    size = 0
    for e in range(begin, end):
        size += counts[e]
        for p in range(len(filled)):
            g = group[p, values[e]]
            if held[p, g] == 0:
                touched[p, filled[p]] = g
                filled[p] += 1
            held[p, g] += counts[e]
    return size


@inlined
def _rows_too_far(
    held: Array, touched: Array, filled: Array, absent: Array, reference: Array, total: int, size: int, share: float
) -> int:
    """Rows of a class beyond its largest part that can still be close enough to the reference.

    A part is too far while what the reference has and the class has not exceeds share·part. The excess is convex in
    the part, so nowhere below its tangents: steps down the tangents from the whole class never go too far.
    """
    part = float(size)
    while True:
        scale = part / total
        missing = 0.0
        slope = -share
        for p in range(len(filled)):
            wanted = float(absent[p])
            there = 0
            for i in range(filled[p]):
                g = touched[p, i]
                if reference[p, g] * scale > held[p, g]:
                    wanted += reference[p, g]
                    there += held[p, g]
            missing += wanted * scale - there
            slope += wanted / total
        excess = missing - share * part
        if excess <= 1e-9 * size or slope <= 0.0:
            break
        part -= excess / slope
        if excess < 0.5 * slope or part <= 0.0:
            break
    return _rows_beyond_part(size, part)


@compiled
def judge_partitions(
    offsets: Array,
    values: Array,
    counts: Array,
    alive: Array,
    group: Array,
    reference: Array,
    total: int,
    numerator: int,
    denominator: int,
) -> tuple[Array, Array]:
    """Mean over partitions of half the L1 distance to the reference ≤ numerator/denominator.

    `group[p, value]` is the group of a value in partition p, `reference[p, group]` its rows among `total`.
    One partition into single values is the equal distance; the levels of a hierarchy give the hierarchical one.
    """
    classes = len(offsets) - 1
    partitions, width = reference.shape
    passes = np.ones(classes, np.bool_)
    lost = np.zeros(classes, np.int64)
    held = np.zeros((partitions, width), np.int64)
    touched = np.zeros((partitions, width), np.int64)
    filled = np.zeros(partitions, np.int64)
    absent = np.zeros(partitions, np.int64)
    share = numerator / denominator * partitions * (1.0 + 1e-9)
    for c in range(classes):
        if not alive[c] or offsets[c] == offsets[c + 1]:
            continue
        size = _group_counts(offsets[c], offsets[c + 1], values, counts, group, held, touched, filled)
        distance = 0
        for p in range(partitions):
            absent[p] = total
            for i in range(filled[p]):
                g = touched[p, i]
                absent[p] -= reference[p, g]
                distance += abs(held[p, g] * total - reference[p, g] * size)
            distance += absent[p] * size
        if not product_at_most(distance, denominator, 2 * partitions * numerator, size * total):
            passes[c] = False
            lost[c] = _rows_too_far(held, touched, filled, absent, reference, total, size, share)
        for p in range(partitions):
            for i in range(filled[p]):
                held[p, touched[p, i]] = 0
            filled[p] = 0
    return passes, lost


@compiled
def judge_ordered(
    offsets: Array,
    values: Array,
    counts: Array,
    alive: Array,
    rank: Array,
    reference: Array,
    total: int,
    numerator: int,
    denominator: int,
) -> tuple[Array, Array]:
    """Earth mover's distance over ordered values: mean distance of the cumulated shares, at most the threshold."""
    classes = len(offsets) - 1
    width = len(reference)
    passes = np.ones(classes, np.bool_)
    lost = np.zeros(classes, np.int64)
    held = np.zeros(width, np.int64)
    share = numerator / denominator * (width - 1) * (1.0 + 1e-9)
    for c in range(classes):
        if not alive[c] or offsets[c] == offsets[c + 1]:
            continue
        size = 0
        for e in range(offsets[c], offsets[c + 1]):
            size += counts[e]
            held[rank[values[e]]] += counts[e]
        distance = 0
        here = 0
        there = 0
        for r in range(width - 1):
            here += held[r]
            there += reference[r]
            distance += abs(here * total - there * size)
        if not product_at_most(distance, denominator, (width - 1) * numerator, size * total):
            passes[c] = False
            low, high = 0, size - 1
            while low < high:
                part = (low + high + 1) // 2
                missing = 0.0
                here = 0
                there = 0
                for r in range(width - 1):
                    here += held[r]
                    there += reference[r]
                    missing += max(0.0, there * (part / total) - here)
                    missing += max(0.0, (total - there) * (part / total) - (size - here))
                if missing <= share * part:
                    low = part
                else:
                    high = part - 1
            lost[c] = size - low
        for e in range(offsets[c], offsets[c + 1]):
            held[rank[values[e]]] = 0
    return passes, lost


@inlined
def _rows_beyond(begin: int, end: int, values: Array, counts: Array, upper: Array, size: int) -> int:
    """Rows of a class beyond its largest part in which no value exceeds its share `upper`."""
    low, high = 0, size - 1
    while low < high:
        part = (low + high + 1) // 2
        room = 0.0
        for e in range(begin, end):
            room += min(float(counts[e]), upper[values[e]] * part)
        if room * (1.0 + 1e-9) >= part:
            low = part
        else:
            high = part - 1
    return size - low


@compiled
def judge_shares(
    offsets: Array, values: Array, counts: Array, alive: Array, allowed: Array, scale: int
) -> tuple[Array, Array]:
    """No value above its share: count·scale ≤ allowed[value]·size, in whole numbers."""
    classes = len(offsets) - 1
    passes = np.ones(classes, np.bool_)
    lost = np.zeros(classes, np.int64)
    upper = allowed / scale
    for c in range(classes):
        if not alive[c]:
            continue
        size = 0
        for e in range(offsets[c], offsets[c + 1]):
            size += counts[e]
        for e in range(offsets[c], offsets[c + 1]):
            if not product_at_most(counts[e], scale, allowed[values[e]], size):
                passes[c] = False
                lost[c] = _rows_beyond(offsets[c], offsets[c + 1], values, counts, upper, size)
                break
    return passes, lost


@compiled
def judge_share_range(
    offsets: Array, values: Array, counts: Array, alive: Array, lower: Array, upper: Array
) -> tuple[Array, Array]:
    """Every value present has a share between `lower` and `upper`, both included, to 1e-12."""
    classes = len(offsets) - 1
    passes = np.ones(classes, np.bool_)
    lost = np.zeros(classes, np.int64)
    for c in range(classes):
        if not alive[c]:
            continue
        size = 0
        for e in range(offsets[c], offsets[c + 1]):
            size += counts[e]
        above = False
        for e in range(offsets[c], offsets[c + 1]):
            share = counts[e] / size
            if share > upper[values[e]] * (1.0 + _TOLERANCE):
                above = True
                passes[c] = False
            if share < lower[values[e]] * (1.0 - _TOLERANCE):
                passes[c] = False
        if above:
            lost[c] = _rows_beyond(offsets[c], offsets[c + 1], values, counts, upper, size)
    return passes, lost
