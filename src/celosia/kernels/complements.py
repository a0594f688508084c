"""Which further cells to hide so that no relation gives a hidden one away, and which of them may be given back.

Knows relations as sparse rows, cells as columns and what hiding a cell costs. Ignores values, labels and thresholds.
`close_rows` is the quick, local part: a relation with a single unknown cell gets a second one. `give_back` is exact
(modulo a prime): with x the vectors that the relations send to zero, publishing cell c leaves those with x_c = 0, so a
protected cell becomes known when its entries are proportional to those of c, and a single person sees through to a
second cell when the entries of both and of c are of rank two. What is unsafe to publish stays unsafe when less is
hidden, so every cell is judged once and no second pass can give back more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import kernel
from celosia.kernels.elimination import System, fold, inverse

Longs = NDArray[np.int64]
Verdicts = NDArray[np.int8]

UNDECIDED, PUBLISH, KEEP = 0, 1, 2
TESTED = 4  # vectors that a judgement needs: one is spent on the cell, three tell the others apart
_TOP = 1 << 31
_MIX, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


# --- hiding ------------------------------------------------------------------------------------------


@kernel
def close_rows(
    system: System, hidden: Any, able: Any, wanted: Any, traits: tuple[Any, Any, Longs], cost: Longs, first: Longs
) -> int:
    """Hide a further cell in every row that has one unknown wanted cell, or a single person and one protected cell.

    `hidden`, `able` (may be hidden) and `wanted` (must not be computed) are changed in i; `traits` are what is
    protected, what is a single person's and which cells are the same people; `first` are the rows to look at. An
    unknown cell that nobody wants, or that cannot be helped, counts as known. Gives how many were hidden.
    """
    rows = len(system[0]) - 1
    unknown, count = hidden.copy(), np.zeros(rows, np.int64)
    for row in range(rows):
        for entry in range(system[0][row], system[0][row + 1]):
            count[row] += unknown[system[1][entry]]
    queue, waiting, head, size, done = np.empty(rows, np.int64), np.zeros(rows, np.bool_), 0, len(first), 0
    for i in range(size):
        queue[i] = first[i]
        waiting[first[i]] = True
    while size > 0:
        row = queue[head]
        head, size = (head + 1) % rows, size - 1
        waiting[row] = False
        exposed = _exposed_cell(row, system, count, unknown, traits)
        if exposed < 0:
            continue
        cell = _cheapest(row, system, count, able, cost) if wanted[exposed] else -1
        if cell < 0 and count[row] > 1:
            continue
        if cell < 0:
            cell, change = exposed, -1
            unknown[cell] = False
        else:
            hidden[cell], able[cell], wanted[cell], unknown[cell], change = True, False, True, True, 1
            done += 1
        for entry in range(system[3][cell], system[3][cell + 1]):
            other = system[4][entry]
            count[other] += change
            if not waiting[other]:
                queue[(head + size) % rows], waiting[other], size = other, True, size + 1
    return done


@kernel
def _exposed_cell(row: int, system: System, count: Longs, unknown: Any, traits: tuple[Any, Any, Longs]) -> int:
    """An unknown cell that a row leaves exposed, or -1."""
    protected, single, twin = traits
    if count[row] != 1 and count[row] != 2:
        return -1
    first = second = -1
    for entry in range(system[0][row], system[0][row + 1]):
        if unknown[system[1][entry]]:
            first, second = system[1][entry], first
    if count[row] == 1:
        return first
    if twin[first] == twin[second]:
        return -1
    if protected[first] and single[second]:
        return first
    return second if protected[second] and single[first] else -1


@kernel
def _cheapest(row: int, system: System, count: Longs, able: Any, cost: Longs) -> int:
    """The cell of a row that costs least to hide: its own cost, once more for each relation it would open; or -1."""
    best, best_price = -1, 0.0
    for entry in range(system[0][row], system[0][row + 1]):
        cell = system[1][entry]
        if not able[cell]:
            continue
        opened = 0
        for other in range(system[3][cell], system[3][cell + 1]):
            opened += count[system[4][other]] == 0
        price = float(cost[cell]) * (1.0 + opened)
        if best < 0 or price < best_price or (price == best_price and cell < best):
            best, best_price = cell, price
    return best


# --- giving back -------------------------------------------------------------------------------------


@kernel
def _reveals(x: Longs, cell: int, protected: Any, gap: int) -> bool:
    """Whether publishing a cell makes a protected one known: the entries of both are proportional."""
    prime = _TOP - gap
    for member in range(len(protected)):
        if not protected[member]:
            continue
        equal = 1
        while equal < TESTED:
            minus = fold(x[equal, cell] * x[0, member], gap)
            if fold(x[equal, member] * x[0, cell] + prime - minus, gap) != 0:
                break
            equal += 1
        if equal == TESTED:
            return True
    return False


@kernel
def _reveals_to_single(x: Longs, cell: int, protected: Any, single: Any, gap: int) -> bool:
    """Whether publishing a cell makes a protected one known to all, or to a person who is alone in another one."""
    prime, members = _TOP - gap, len(protected)
    rest = np.empty((TESTED - 1, members), np.int64)
    scale = inverse(x[0, cell], gap)
    for v in range(1, TESTED):
        minus = fold((prime - x[v, cell]) * scale, gap)
        for member in range(members):
            rest[v - 1, member] = fold(x[v, member] + x[0, member] * minus, gap)
    for member in range(members):
        if protected[member] and rest[0, member] == 0 and rest[1, member] == 0 and rest[2, member] == 0:
            return True
    keys = _directions(rest, gap)
    return _shares_direction(keys, protected, single)


@kernel
def _directions(rest: Longs, gap: int) -> Longs:
    """One number per column: its direction. The inverses of all are made from one (Montgomery's trick)."""
    members = rest.shape[1]
    before, product = np.empty(members, np.int64), 1
    for member in range(members):
        before[member] = product
        if rest[0, member] != 0:
            product = fold(product * rest[0, member], gap)
    back, keys = inverse(product, gap), np.empty(members, np.int64)
    for member in range(members - 1, -1, -1):
        scale, second, third = 0, rest[1, member], rest[2, member]
        if rest[0, member] != 0:
            scale = fold(back * before[member], gap)
            back = fold(back * rest[0, member], gap)
            second, third = fold(second * scale, gap), fold(third * scale, gap)
        elif second != 0:
            second, third = -1, fold(third * inverse(second, gap), gap)
        elif third != 0:
            second, third = -1, -1
        keys[member] = (second << 31) + third
    return keys


@kernel
def _clash(had: int, guarded: bool, alone: bool) -> bool:
    return (guarded and (had & 2) != 0) or (alone and (had & 1) != 0)


@kernel
def _shares_direction(keys: Longs, protected: Any, single: Any) -> bool:
    """Whether a single person's cell and another protected one have the same direction."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    directions, marks = np.empty(size, np.int64), np.zeros(size, np.int8)  # 1: a protected one, 2: a single person's
    for member in range(len(keys)):
        slot = np.int64((np.uint64(keys[member]) * _MIX) >> _SHIFT) & (size - 1)
        while marks[slot] != 0 and directions[slot] != keys[member]:
            slot = (slot + 1) & (size - 1)
        if _clash(marks[slot], protected[member], single[member]):
            return True
        directions[slot] = keys[member]
        marks[slot] |= protected[member] + 2 * single[member]
    return False


@kernel
def _eliminate_entry(x: Longs, cell: int, gap: int) -> None:
    """Make the entry of a cell zero in all vectors but the first, which is used up."""
    prime = _TOP - gap
    scale = inverse(x[0, cell], gap)
    for v in range(1, len(x)):
        minus = fold((prime - x[v, cell]) * scale, gap)
        for i in range(x.shape[1]):
            x[v, i] = fold(x[v, i] + x[0, i] * minus, gap)


@kernel
def _bring_forward(x: Longs, cell: int) -> bool:
    """Put first a vector in which a cell has an entry; whether there is one."""
    for v in range(len(x)):
        if x[v, cell] != 0:
            for i in range(x.shape[1]):
                x[0, i], x[v, i] = x[v, i], x[0, i]
            return True
    return False


@kernel
def give_back(x: Longs, protected: Any, single: Any, people: bool, gap: int) -> Verdicts:
    """Judge cells in their order; the columns of `x` are the protected and single ones, then these.

    Each cell that is published uses up a vector; cells that no vector is left for stay undecided. `people` says
    whether any is a single person's.
    """
    members, first = len(protected), 0
    verdicts = np.zeros(x.shape[1] - members, np.int8)
    for candidate in range(len(verdicts)):
        if len(x) - first < TESTED:
            break
        cell, live = members + candidate, x[first:]
        if not _bring_forward(live, cell):
            verdicts[candidate] = PUBLISH
            continue
        is_revealing = (
            _reveals_to_single(live, cell, protected, single, gap) if people else _reveals(live, cell, protected, gap)
        )
        verdicts[candidate] = KEEP if is_revealing else PUBLISH
        if not is_revealing:
            _eliminate_entry(live, cell, gap)
            first += 1
    return verdicts
