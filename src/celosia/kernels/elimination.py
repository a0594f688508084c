"""Vectors that a sparse system of relations sends to zero, modulo a prime just below 2^31.

Knows rows (relations), columns (unknown cells) and small whole coefficients. Ignores what they stand for. A system is
cut into connected parts; in each part:

1. *Peeling.* A column left in one row only is solved by that row: both go, without arithmetic and without fill. When
   no such column is left, the row that sets free the most columns is put aside into the core, and peeling goes on.
2. *Core.* The rows put aside are the only dense part: with the peeled columns substituted they are factored as L·U.
   A fixed mixture of the rows not yet used finds each next column; when it finds none, those rows depend on the
   others (were that wrong, step 3 would tell).
3. *Vectors.* Columns outside the basis get values from a fixed stream; the rest follow. Every vector is multiplied
   back into the system, and if one row is not zero the part's vectors are all made zero, which reads as "follows from
   the others": the safe side.

A part with e entries, k rows in the core and rank r of them costs e for peeling and each vector, and r·e + r²·k for
the factors. In tables nearly all of the core depends on the rest: 60 × 40 × 20 categories with all margins have about
4,500 rows, k about 160 and r below 25.
Sources: LaMacchia and Odlyzko 1990 (structured Gaussian elimination); Shokrollahi and Luby 2011 (inactivation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import kernel

Longs = NDArray[np.int64]
System = tuple[Longs, Longs, Longs, Longs, Longs, Longs]  # by rows: starts, columns, values; by columns likewise
Plan = tuple[Longs, Longs, Longs]  # peeled rows and columns in order, rows of the core
Factors = tuple[Longs, Longs, Longs, Longs]  # multipliers, upper, pivot rows (places in the core), pivot columns

GAPS = (1, 19)  # the primes are 2^31 - 1 and 2^31 - 19
_BITS = 31
_LOW = (1 << 31) - 1
_TOP = 1 << 31
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S20, _S27, _S30, _S31, _S33 = np.uint64(20), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(33)


@kernel
def fold(number: int, gap: int) -> int:
    """A number from 0 to 2^62 + 2^32, modulo the prime: 2^31 counts as `gap`."""
    once = (number >> _BITS) * gap + (number & _LOW)
    twice = (once >> _BITS) * gap + (once & _LOW)
    return twice - (_TOP - gap) if twice >= _TOP - gap else twice


@kernel
def inverse(number: int, gap: int) -> int:
    """The number that gives 1 when multiplied (Fermat)."""
    if number == 1 or number == _TOP - gap - 1:  # 1 and -1, nearly all there are in tables
        return number
    power, result, base = _TOP - gap - 2, 1, number
    while power > 0:
        if power & 1:
            result = fold(result * base, gap)
        base = fold(base * base, gap)
        power >>= 1
    return result


@kernel
def _draw(x: Longs, first: int, seed: int, gap: int) -> None:
    """Fill with a fixed stream of residues (splitmix64), numbered by row and column."""
    for i in range(x.shape[0]):
        for v in range(x.shape[1]):
            mixed = ((np.uint64(seed + i) << _S20) + np.uint64(first + v + 1)) * _GOLDEN
            mixed = (mixed ^ (mixed >> _S30)) * _FIRST
            mixed = (mixed ^ (mixed >> _S27)) * _SECOND
            x[i, v] = fold(np.int64((mixed ^ (mixed >> _S31)) >> _S33), gap)


@kernel
def _remove_row(row: int, system: System, active: Any, left: Longs, twos: Longs, queue: Longs, tail: int) -> int:
    """Take a row away; columns left in one row join the queue. Gives the queue's new end."""
    active[row] = False
    for entry in range(system[0][row], system[0][row + 1]):
        column = system[1][entry]
        left[column] -= 1
        if left[column] != 1 and left[column] != 2:
            continue
        change = 1 if left[column] == 2 else -1
        for other in range(system[3][column], system[3][column + 1]):
            if active[system[4][other]]:
                twos[system[4][other]] += change
        if left[column] == 1:
            queue[tail] = column
            tail += 1
    return tail


@kernel
def _next_core(system: System, active: Any, twos: Longs) -> int:
    """The row that sets free the most columns; among equals the longest, then the first."""
    best, best_twos, best_length = -1, -1, -1
    for row in range(len(active)):
        length = system[0][row + 1] - system[0][row]
        if active[row] and (twos[row] > best_twos or (twos[row] == best_twos and length > best_length)):
            best, best_twos, best_length = row, twos[row], length
    return best


@kernel
def peel(system: System) -> Plan:
    """Rows solved by a column that no later row holds, in order, and the rows of the core."""
    rows, columns = len(system[0]) - 1, len(system[3]) - 1
    left = system[3][1:] - system[3][:-1]
    active, twos = np.ones(rows, np.bool_), np.zeros(rows, np.int64)
    queue, head, tail = np.empty(columns, np.int64), 0, 0
    for column in range(columns):
        if left[column] == 1:
            queue[tail] = column
            tail += 1
        if left[column] == 2:
            for entry in range(system[3][column], system[3][column + 1]):
                twos[system[4][entry]] += 1
    peeled_row, peeled_column, core = np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64)
    peeled = n_core = 0
    while peeled + n_core < rows:
        row = -1
        while head < tail and row < 0:
            row = _only_row(system, queue[head], active)
            head += 1
        if row >= 0:
            peeled_row[peeled], peeled_column[peeled] = row, queue[head - 1]
            peeled += 1
        else:
            row = _next_core(system, active, twos)
            core[n_core] = row
            n_core += 1
        tail = _remove_row(row, system, active, left, twos, queue, tail)
    return peeled_row[:peeled].copy(), peeled_column[:peeled].copy(), core[:n_core].copy()


@kernel
def _only_row(system: System, column: int, active: Any) -> int:
    """The active row of a column, or -1."""
    for entry in range(system[3][column], system[3][column + 1]):
        if active[system[4][entry]]:
            return system[4][entry]
    return -1


@kernel
def _follow(x: Longs, system: System, plan: Plan, gap: int) -> None:
    """Solve the peeled columns, last first, from the values of the others; one vector per column of `x`."""
    prime = _TOP - gap
    for step in range(len(plan[0]) - 1, -1, -1):
        row, column, pivot = plan[0][step], plan[1][step], 1
        for v in range(x.shape[1]):
            x[column, v] = 0
        for entry in range(system[0][row], system[0][row + 1]):
            other, value = system[1][entry], system[2][entry]
            if other == column:
                pivot = value
                continue
            for v in range(x.shape[1]):
                x[column, v] = fold(x[column, v] + value * x[other, v], gap)
        scale = fold(prime - inverse(pivot, gap), gap)
        for v in range(x.shape[1]):
            x[column, v] = fold(x[column, v] * scale, gap)


@kernel
def _residues(x: Longs, rows: Longs, system: System, gap: int) -> Longs:
    """What the named rows make of the vectors."""
    result = np.zeros((len(rows), x.shape[1]), np.int64)
    for i in range(len(rows)):
        for entry in range(system[0][rows[i]], system[0][rows[i] + 1]):
            for v in range(x.shape[1]):
                result[i, v] = fold(result[i, v] + system[2][entry] * x[system[1][entry], v], gap)
    return result


@kernel
def _column_sum(column: int, y: Longs, v: int, system: System, gap: int) -> int:
    """What row weights make of one column."""
    total = 0
    for entry in range(system[3][column], system[3][column + 1]):
        total = fold(total + system[5][entry] * y[system[4][entry], v], gap)
    return total


@kernel
def _column_sums(columns: Longs, y: Longs, system: System, gap: int) -> Longs:
    """What row weights make of the named columns."""
    result = np.empty((len(columns), y.shape[1]), np.int64)
    for i in range(len(columns)):
        for v in range(y.shape[1]):
            result[i, v] = _column_sum(columns[i], y, v, system, gap)
    return result


@kernel
def _weigh(y: Longs, target: Longs, system: System, plan: Plan, gap: int) -> None:
    """Weights of the peeled rows, first to last, so that each peeled column comes to its target."""
    prime = _TOP - gap
    for step in range(len(plan[0])):
        row, column, pivot = plan[0][step], plan[1][step], 1
        for entry in range(system[3][column], system[3][column + 1]):
            if system[4][entry] == row:
                pivot = system[5][entry]
        scale = inverse(pivot, gap)
        for v in range(y.shape[1]):
            y[row, v] = 0
            rest = target[column, v] + prime - _column_sum(column, y, v, system, gap)
            y[row, v] = fold(fold(rest, gap) * scale, gap)


@kernel
def _reduced_rows(
    chance: Longs, rank: int, multipliers: Longs, pivot_row: Longs, core: Longs, y: Longs, gap: int
) -> None:
    """Weights of core rows that leave nothing of a mixture of the rows not yet used in the pivot columns."""
    prime = _TOP - gap
    for row in range(len(y)):
        y[row, 0] = 0
    for j in range(len(core)):
        y[core[j], 0] = chance[j, 0]
    for i in range(rank - 1, -1, -1):
        share = 0
        for j in range(len(core)):
            share = fold(share + multipliers[i, j] * y[core[j], 0], gap)
        y[core[pivot_row[i]], 0] = fold(prime - share, gap)


@kernel
def _reduce_column(column: Longs, rank: int, multipliers: Longs, upper: Longs, pivot_row: Longs, gap: int) -> None:
    """Apply the earlier row operations to a new column of the core; its upper part is kept."""
    prime = _TOP - gap
    for i in range(rank):
        factor = column[pivot_row[i], 0]
        upper[i, rank] = factor
        minus = fold(prime - factor, gap)
        for j in range(len(column)):
            column[j, 0] = fold(column[j, 0] + multipliers[i, j] * minus, gap)


@kernel
def factor(system: System, plan: Plan, gap: int) -> Factors:
    """The core as L·U. A mixture of the rows not yet used finds the next column; when it finds none, they depend."""
    rows, columns, size = len(system[0]) - 1, len(system[3]) - 1, len(plan[2])
    multipliers, upper = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
    pivot_row, pivot_column, rank = np.empty(size, np.int64), np.empty(size, np.int64), 0
    basic, chance = np.zeros(columns, np.bool_), np.empty((size, 1), np.int64)
    _draw(chance, 0, 0, gap)
    for step in range(len(plan[1])):
        basic[plan[1][step]] = True
    nothing, x, y = np.zeros((columns, 1), np.int64), np.zeros((columns, 1), np.int64), np.zeros((rows, 1), np.int64)
    while rank < size:
        _reduced_rows(chance, rank, multipliers, pivot_row, plan[2], y, gap)
        _weigh(y, nothing, system, plan, gap)
        pivot = 0
        while pivot < columns and (basic[pivot] or _column_sum(pivot, y, 0, system, gap) == 0):
            pivot += 1
        if pivot == columns:
            break
        for other in range(columns):
            x[other, 0] = other == pivot
        _follow(x, system, plan, gap)
        column = _residues(x, plan[2], system, gap)
        _reduce_column(column, rank, multipliers, upper, pivot_row, gap)
        pivot_position = _first_used(column, chance)
        upper[rank, rank] = column[pivot_position, 0]
        scale = inverse(column[pivot_position, 0], gap)
        pivot_row[rank], pivot_column[rank], basic[pivot], chance[pivot_position, 0] = pivot_position, pivot, True, 0
        for i in range(rank + 1):
            column[pivot_row[i], 0] = 0
        for other in range(size):
            multipliers[rank, other] = fold(column[other, 0] * scale, gap)
        rank += 1
    return multipliers[:rank].copy(), upper[:rank, :rank].copy(), pivot_row[:rank].copy(), pivot_column[:rank].copy()


@kernel
def _first_used(column: Longs, chance: Longs) -> int:
    """The first row that has a share in the mixture and an entry in the column."""
    for i in range(len(column)):
        if chance[i, 0] != 0 and column[i, 0] != 0:
            return i
    return -1


@kernel
def _solve(right: Longs, factors: Factors, gap: int) -> Longs:
    """Values of the pivot columns for which the core rows come to minus `right`."""
    multipliers, upper, pivot_row, _ = factors
    prime, rank = _TOP - gap, len(pivot_row)
    result = np.zeros((rank, right.shape[1]), np.int64)
    for i in range(rank):
        for j in range(len(right)):
            minus = fold(prime - multipliers[i, j], gap)
            if minus != 0:
                for v in range(right.shape[1]):
                    right[j, v] = fold(right[j, v] + minus * right[pivot_row[i], v], gap)
    for i in range(rank - 1, -1, -1):
        scale = inverse(upper[i, i], gap)
        for v in range(right.shape[1]):
            total = right[pivot_row[i], v]
            for j in range(i + 1, rank):
                total = fold(total + upper[i, j] * result[j, v], gap)
            result[i, v] = fold((prime - total) * scale, gap)
    return result


@kernel
def _solve_across(right: Longs, factors: Factors, gap: int) -> Longs:
    """Weights of the pivot rows for which the pivot columns come to `right`."""
    multipliers, upper, pivot_row, _ = factors
    prime, rank = _TOP - gap, len(pivot_row)
    for i in range(rank):
        scale = inverse(upper[i, i], gap)
        for v in range(right.shape[1]):
            total = right[i, v]
            for j in range(i):
                total = fold(total + (prime - upper[j, i]) * right[j, v], gap)
            right[i, v] = fold(total * scale, gap)
    for i in range(rank - 1, -1, -1):
        for v in range(right.shape[1]):
            total = right[i, v]
            for j in range(i + 1, rank):
                total = fold(total + (prime - multipliers[i, pivot_row[j]]) * right[j, v], gap)
            right[i, v] = total
    return right


# --- a connected part, eliminated ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Eliminated:
    """One connected part, ready to be solved in either direction."""

    system: System
    plan: Plan
    factors: Factors
    gap: int

    @property
    def pivots(self) -> Longs:
        """Rows of the core that do not depend on others."""
        return self.plan[2][self.factors[2]]

    def fillings(self, width: int, seed: int) -> Longs:
        """So many vectors that every row sends to zero, drawn evenly from all there are."""
        x = np.empty((len(self.system[3]) - 1, width), np.int64)
        _draw(x, 0, seed, self.gap)
        x[self.factors[3]] = 0
        _follow(x, self.system, self.plan, self.gap)
        x[self.factors[3]] = _solve(_residues(x, self.plan[2], self.system, self.gap), self.factors, self.gap)
        _follow(x, self.system, self.plan, self.gap)
        if _residues(x, np.arange(len(self.system[0]) - 1), self.system, self.gap).any():
            x[:] = 0
        return x

    def weights(self, target: Longs, brought: Longs | None = None) -> Longs:
        """Row weights under which the columns come to their targets, where that is possible.

        `brought` has weights of core rows that depend on others; without it they are zero.
        """
        y = np.zeros((len(self.system[0]) - 1, target.shape[1]), np.int64) if brought is None else brought
        _weigh(y, target, self.system, self.plan, self.gap)
        lacking = target[self.factors[3]] - _column_sums(self.factors[3], y, self.system, self.gap)
        y[self.pivots] += _solve_across(lacking % (_TOP - self.gap), self.factors, self.gap)
        y[self.pivots] %= _TOP - self.gap
        _weigh(y, target, self.system, self.plan, self.gap)
        return y

    def loose_weights(self, width: int, seed: int) -> Longs:
        """So many row weights under which every column comes to zero, drawn evenly from all there are."""
        y, core = np.zeros((len(self.system[0]) - 1, width), np.int64), self.plan[2]
        chance = np.empty((len(core), width), np.int64)
        _draw(chance, width, seed, self.gap)
        y[core] = chance
        y[self.pivots] = 0
        return self.weights(np.zeros((len(self.system[3]) - 1, width), np.int64), y)


def eliminate(system: System, gap: int) -> Eliminated:
    """Peel a connected part and factor its core."""
    plan = peel(system)
    return Eliminated(system, plan, factor(system, plan, gap), gap)
