"""Short cycles through the hidden cells of a table: moving along one changes cells and no total.

Arrays in, arrays out. Where every cell lies in at most two sums the cells are the edges of a graph whose nodes are the
sums, and a filling that differs from the true one by 1 in a cell is a cycle through its edge. A breadth-first search
finds the shortest. A cell in one sum only ends at a free row, which holds no total. Nothing returned here is
trusted: the caller checks each move in exact arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import kernel

Graph = tuple[Any, Any, Any, Any]  # per row where its columns begin, the columns; per column its two rows and signs
Pair = tuple[Any, Any]  # whether a column may move by +1 and by -1
Trail = tuple[Any, Any, Any]  # the column and the state by which each state was reached, and the queue


@kernel
def find_cycles(
    row_starts: Any, row_columns: Any, ends: Any, signs: Any, up: Any, down: Any, requested: Any
) -> tuple[Any, Any, Any]:
    """For each requested column a cycle that moves it by one, as starts, columns and moves; one met needs no more.

    `ends` (columns, 2) are the rows of a column, `signs` its coefficients there. The last row is free, the second
    end of columns in a single sum. `up` and `down` say whether a column may move by +1 and -1. A column whose first end
    is -1 never moves.
    """
    rows = len(row_starts) - 1  # the free row is among them
    came_by = np.full(2 * rows, -1, np.int64)  # per row and sign of what it lacks: the column that brought us here
    came_from = np.full(2 * rows, -1, np.int64)
    graph = (row_starts, row_columns, ends, signs)
    trail = (came_by, came_from, np.empty(2 * rows, np.int64))
    settled = np.zeros(len(requested), np.bool_)
    starts = [0]
    columns: Any = [0 for _ in range(0)]
    moves: Any = [0 for _ in range(0)]
    for target in np.flatnonzero(requested):
        if settled[target] or ends[target, 0] < 0:
            continue
        for direction in (1, -1):
            if (direction > 0 and not up[target]) or (direction < 0 and not down[target]):
                continue
            goal = _state(ends[target, 0], -signs[target, 0] * direction, rows)
            first = _state(ends[target, 1], signs[target, 1] * direction, rows)
            if _search(first, goal, target, graph, (up, down), trail, rows):
                columns.append(target)
                moves.append(direction)
                settled[target] = True
                state = goal
                while state != first and not (state == first + 1 and first == 2 * rows - 2):
                    column = came_by[state]
                    columns.append(column)
                    moves.append(_move(came_from[state], column, ends, signs, rows))
                    settled[column] = True
                    state = came_from[state]
                starts.append(len(columns))
                break
    return np.array(starts), np.array(columns), np.array(moves)


@kernel
def _state(row: int, lack: int, rows: int) -> int:
    """A row that has one too many or one too few; at the free row it is the first of two that mean either."""
    if row == rows - 1:
        return 2 * row
    return 2 * row + (1 if lack > 0 else 0)


@kernel
def _move(state: int, column: int, ends: Any, signs: Any, rows: int) -> int:
    """How a column moves to put right the row of a state."""
    row = state // 2
    # The free row needs nothing: either move will do.
    if row == rows - 1:
        return -1 if state % 2 == 0 else 1
    excess = 1 if state % 2 == 1 else -1
    side = 0 if ends[column, 0] == row else 1
    return -excess * signs[column, side]


@kernel
def _search(first: int, goal: int, target: int, graph: Graph, may_move: Pair, trail: Trail, rows: int) -> bool:
    """Breadth first from one end of the target to the other; what was touched is wiped before the next search."""
    row_starts, row_columns, ends, signs = graph
    up, down = may_move
    came_by, came_from, queue = trail
    came_by[:] = -1
    queue[0], head, tail = first, 0, 1
    came_by[first] = target
    if first == 2 * rows - 2:
        came_by[first + 1], queue[1], tail = target, first + 1, 2
    while head < tail:
        state = queue[head]
        head += 1
        if state == goal:
            return True
        row = state // 2
        for entry in range(row_starts[row], row_starts[row + 1]):
            column = row_columns[entry]
            if column == target:
                continue
            move = _move(state, column, ends, signs, rows)
            if (move > 0 and not up[column]) or (move < 0 and not down[column]):
                continue
            side = 1 if ends[column, 0] == row else 0
            after = _state(ends[column, side], signs[column, side] * move, rows)
            if came_by[after] < 0:
                came_by[after] = column
                came_from[after] = state
                queue[tail] = after
                tail += 1
                if after == 2 * rows - 2:
                    came_by[after + 1], came_from[after + 1] = column, state
                    queue[tail] = after + 1
                    tail += 1
    return False
