"""Which published class a tuple may join, which it may join once made coarser, and how fine each could be at best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import inline, kernel

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)
_LEAST = 1e-12  # a gain below this is rounding


@inline
def _fill_key(partial: Longs, picked: Longs, word: Longs, i: int, key: Longs) -> np.uint64:
    """The key of a tuple at a node, and its hash."""
    key[:] = 0
    for v in range(len(picked)):
        key[word[v]] += partial[picked[v], i]
    mixed = np.uint64(0)
    for w in range(len(key)):
        mixed = (mixed ^ np.uint64(key[w])) * _GOLDEN
        mixed ^= mixed >> _FOLD
    return mixed


@inline
def _find(slots: Longs, keys: Longs, key: Longs, slot: int, mask: int) -> int:
    """The slot that holds a key, or the free one where it belongs."""
    while slots[slot] != 0:
        same = True
        for w in range(len(key)):
            if keys[slots[slot] - 1, w] != key[w]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@inline
def _enter_members(
    keys_by_level: tuple[Any, ...], node: Longs, members: Longs, table: tuple[Any, ...], key: Longs
) -> int:
    """Put the keys of some tuples at a node into the table; gives how many there are."""
    partial, word = keys_by_level
    slots, keys, homes, mask = table
    groups = 0
    for i in members:
        slot = np.int64(_fill_key(partial, node, word, i, key) & np.uint64(mask))
        slot = _find(slots, keys, key, slot, mask)
        if slots[slot] == 0:
            keys[groups] = key
            homes[groups] = slot
            groups += 1
            slots[slot] = groups
    return groups


@inline
def _price(cost: Floats, node: Longs, i: int, limit: float) -> float:
    """What a row of a tuple costs at a node, or something from the limit on."""
    price = 0.0
    for v in range(len(node)):
        price += cost[node[v], i]
        if price >= limit:
            break
    return price


@kernel
def cheapest_cover(keys_by_level: tuple[Any, ...], cost: Floats, nodes: Longs, home: Longs, now: Floats) -> Any:
    """For each tuple the node of the cheapest class, other than its own, that already shows what it would show there.

    `nodes` are rows of (variable, level) places; `home` is the node of each tuple or -1; `now` what a row of it costs
    at present. Gives -1 where no class is cheaper.
    """
    partial, word = keys_by_level
    count = partial.shape[1]
    best, chosen = now.copy() - _LEAST, np.full(count, -1, np.int64)
    words = int(word.max()) + 1
    key, keys = np.zeros(words, np.int64), np.zeros((count, words), np.int64)
    length = 16
    while length < 2 * count:
        length *= 2
    mask, slots, homes = length - 1, np.zeros(length, np.int64), np.zeros(count, np.int64)
    order = np.argsort(home, kind="mergesort")
    ends = np.searchsorted(home[order], np.arange(len(nodes) + 1))
    for n in range(len(nodes)):
        table = (slots, keys, homes, mask)
        groups = _enter_members(keys_by_level, nodes[n], order[ends[n] : ends[n + 1]], table, key)
        for i in range(count):
            price = _price(cost, nodes[n], i, best[i])
            if home[i] != n and price < best[i]:
                slot = np.int64(_fill_key(partial, nodes[n], word, i, key) & np.uint64(mask))
                if slots[_find(slots, keys, key, slot, mask)] != 0:
                    best[i] = price
                    chosen[i] = n
        for group in range(groups):
            slots[homes[group]] = 0
    return chosen


@inline
def _meeting_level(labels: tuple[Any, ...], first: int, second: int, level: int, v: int) -> int:
    """The lowest level from a given one at which two tuples show the same; one above the top if there is none."""
    partial, start, top = labels
    while level <= top[v] and partial[start[v] + level, first] != partial[start[v] + level, second]:
        level += 1
    return level


@inline
def _price_of_joining(
    labels: tuple[Any, ...], cost: Floats, group: tuple[Any, ...], x: int, rows: int, limit: float
) -> float:
    """By how much everything becomes dearer when a tuple joins a class; infinite where nothing would be seen."""
    start, top = labels[1], labels[2]
    member, levels, size = group
    price, seen = 0.0, False
    for v in range(len(start)):
        level = _meeting_level(labels, member, x, levels[v], v)
        if level > top[v]:
            return np.inf
        dearer = cost[start[v] + level, member] - cost[start[v] + levels[v], member]
        price += dearer * size + cost[start[v] + level, x] * rows
        seen = seen or level < top[v]
        if price >= limit:
            break
    return price if seen else np.inf


@kernel
def join_coarser(
    tables: tuple[Any, ...], classes: tuple[Any, ...], waiting: Longs, rows: Longs, hidden_cost: float, anyhow: int
) -> Any:
    """Put each waiting tuple into the class that it makes dearer by least, where that costs less than hiding it.

    `tables` are the label of each (variable, level) for each tuple, where each variable begins, its top, and the
    costs; `classes` are one member, the levels and the rows of each class, changed in place. The first `anyhow` rows
    join whatever it costs, as long as something stays to be seen. Gives the class of each waiting tuple or -1.
    """
    partial, start, top, cost = tables
    labels = (partial, start, top)
    member, levels, size = classes
    joins = np.full(len(waiting), -1, np.int64)
    for place in range(len(waiting)):
        x = waiting[place]
        best, chosen = np.inf if anyhow > 0 else rows[x] * hidden_cost - _LEAST, -1
        for c in range(len(member)):
            price = _price_of_joining(labels, cost, (member[c], levels[c], size[c]), x, rows[x], best)
            if price < best:
                best, chosen = price, c
        if chosen >= 0:
            for v in range(len(start)):
                levels[chosen, v] = _meeting_level(labels, member[chosen], x, levels[chosen, v], v)
            size[chosen] += rows[x]
            joins[place] = chosen
            anyhow -= rows[x]
    return joins


@kernel
def lower_costs(picked: Longs, cost: Floats, label: Longs, sizes: Longs, smallest: int, best: Floats) -> None:
    """Lower the least cost of each tuple to that of this node, where the rows that share its labels are enough."""
    for i in range(len(best)):
        if sizes[label[i]] >= smallest:
            price = 0.0
            for v in range(len(picked)):
                price += cost[picked[v], i]
            best[i] = min(best[i], price)
