"""Cycles and cheapest paths in a network whose arcs are cells and whose nodes are sums.

Arrays in, arrays out. A column runs from its `tail` to its `head`; moving it by +1 carries one unit that way, by -1
one unit back, where `up` and `down` allow it. A unit carried round a cycle changes cells and no sum. Whatever moves in
whole numbers is made of such cycles, so a column that lies on none has one value only (flow decomposition: Ahuja,
Magnanti and Orlin 1993, theorem 3.5).

One search per column would visit the whole table each time. Within a set of nodes that all reach each other (a strong
component) two trees do for all columns: one leads from a root to every node, the other from every node to the root. A
column from u to v is closed by the way from v to the root and from there to u, less the detour that both have in
common. Only a column of the trees may meet its own way back; these few are searched for one by one.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from celosia.kernels._jit import kernel

Network = tuple[Any, Any, Any, Any]  # per node where its columns begin, the columns; per column its tail and its head


@kernel
def orient_rows(starts: Any, columns: Any, ends: Any, signs: Any) -> tuple[Any, bool]:
    """A sign per row that gives every column +1 at one end and -1 at the other, and whether there is one.

    `ends` and `signs` (columns, 2) are the rows of a column and its coefficients there. The last row is free:
    it takes any sign.
    """
    free_row = len(starts) - 2
    sign, queue, balanced = np.zeros(free_row + 1, np.int64), np.empty(free_row + 1, np.int64), True
    for root in range(free_row):
        if sign[root] != 0:
            continue
        sign[root], queue[0], head, tail = 1, root, 0, 1
        while head < tail:
            row = queue[head]
            head += 1
            for entry in range(starts[row], starts[row + 1]):
                column = columns[entry]
                here = 0 if ends[column, 0] == row else 1
                other = ends[column, 1 - here]
                required = -signs[column, here] * sign[row] * signs[column, 1 - here]
                if other == free_row:
                    continue
                if sign[other] == 0:
                    sign[other], queue[tail], tail = required, other, tail + 1
                balanced = balanced and sign[other] == required
    return sign, balanced


@kernel
def _passes(column: int, node: int, network: Network, up: Any, down: Any, backward: bool) -> bool:
    """Whether a unit may leave a node by a column (or, backward, arrive)."""
    leaving_upward = (network[2][column] == node) != backward
    return bool(up[column]) if leaving_upward else bool(down[column])


@kernel
def _other_end(column: int, node: int, network: Network) -> int:
    """The other end of a column."""
    return int(network[3][column] if network[2][column] == node else network[2][column])


@kernel
def grow_tree(network: Network, up: Any, down: Any, part: Any, roots: Any, backward: bool) -> Any:
    """Per node the column by which the root of its part reaches it (backward: by which it nears the root), or -1."""
    came_by, met = np.full(len(part), -1, np.int64), np.zeros(len(part), np.bool_)
    queue = np.empty(len(part), np.int64)
    for root in roots:
        met[root], queue[0], head, tail = True, root, 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            for entry in range(network[0][node], network[0][node + 1]):
                column = network[1][entry]
                other = _other_end(column, node, network)
                if met[other] or part[other] != part[node] or not _passes(column, node, network, up, down, backward):
                    continue
                met[other], came_by[other], queue[tail], tail = True, column, other, tail + 1
    return came_by


@kernel
def _path_by_trees(first: int, goal: int, network: Network, trees: tuple[Any, Any], position: Any, way: Any) -> int:
    """The way between two nodes of a part by its trees, without visiting a node twice; gives its length.

    `way` receives the columns; `position` is scratch, -1 everywhere before and after.
    """
    outward, inward = trees
    node, length = first, 0
    position[node] = 0
    while inward[node] >= 0:
        way[length] = inward[node]
        node, length = _other_end(inward[node], node, network), length + 1
        position[node] = length
    node, back = goal, 0
    while position[node] < 0:
        back += 1
        node = _other_end(outward[node], node, network)
    meeting = position[node]
    _forget(first, inward, network, position)
    node = goal
    for step in range(back):
        way[meeting + back - 1 - step] = outward[node]
        node = _other_end(outward[node], node, network)
    return meeting + back


@kernel
def _forget(first: int, inward: Any, network: Network, position: Any) -> None:
    node = first
    position[node] = -1
    while inward[node] >= 0:
        node = _other_end(inward[node], node, network)
        position[node] = -1


@kernel
def tree_cycles(
    network: Network, up: Any, down: Any, part: Any, trees: tuple[Any, Any], requested: Any, either: bool
) -> tuple[Any, Any, Any]:
    """For every requested column on a cycle, one that moves it, as starts, columns and moves; one met needs no more.

    What is not met in the end lies on no such cycle. Unless `either` will do, a cycle moves its column up.
    """
    settled, position = np.zeros(len(requested), np.bool_), np.full(len(part), -1, np.int64)
    way, price = np.empty(2 * len(part), np.int64), np.ones(len(requested))
    starts = [0]
    columns: Any = [0 for _ in range(0)]
    moves: Any = [0 for _ in range(0)]
    for searched in (False, True):
        for target in np.flatnonzero(requested):
            for sense in (1, -1) if either else (1, 1):
                if settled[target] or not (up[target] if sense > 0 else down[target]):
                    continue
                first, goal = network[3][target], network[2][target]
                if sense < 0:
                    first, goal = goal, first
                if part[first] != part[goal]:
                    continue
                if searched:
                    chosen = cheapest_path(first, goal, target, network, up, down, price)
                else:
                    chosen = way[: _path_by_trees(first, goal, network, trees, position, way)]
                if len(chosen) == 0 or (len(chosen) == 1 and chosen[0] == target):
                    continue
                columns.append(target)
                moves.append(sense)
                along = moves_along(first, chosen, network)
                columns.extend(chosen)
                moves.extend(along)
                settled[target] = True
                settled[chosen[along > 0] if not either else chosen] = True
                starts.append(len(columns))
    return np.array(starts), np.array(columns), np.array(moves)


@kernel
def moves_along(first: int, way: Any, network: Network) -> Any:
    """How each column of a way moves to carry a unit along it from its first node."""
    moves, node = np.empty(len(way), np.int64), first
    for step in range(len(way)):
        moves[step] = 1 if network[2][way[step]] == node else -1
        node = _other_end(way[step], node, network)
    return moves


@kernel
def cheapest_path(first: int, goal: int, banned: int, network: Network, up: Any, down: Any, price: Any) -> Any:
    """The columns of the cheapest way from one node to another that avoids a column; none if there is no way."""
    nodes = len(network[0]) - 1
    cost, came_by = np.full(nodes, np.inf), np.full(nodes, -1, np.int64)
    done = np.zeros(nodes, np.bool_)
    cost[first], heap = 0.0, [(0.0, np.int64(first))]
    while len(heap) > 0 and not done[goal]:
        so_far, node = heapq.heappop(heap)
        if done[node]:
            continue
        done[node] = True
        for entry in range(network[0][node], network[0][node + 1]):
            column = network[1][entry]
            after = so_far + price[column]
            other = _other_end(column, node, network)
            if after >= cost[other] or after >= cost[goal] or column == banned:
                continue
            if _passes(column, node, network, up, down, False):
                cost[other], came_by[other] = after, column
                heapq.heappush(heap, (after, np.int64(other)))
    return _path_to(first, goal, came_by, network)


@kernel
def _path_to(first: int, goal: int, came_by: Any, network: Network) -> Any:
    length, node = 0, goal
    while node != first and came_by[node] >= 0:
        node, length = _other_end(came_by[node], node, network), length + 1
    way = np.empty(length if node == first else 0, np.int64)
    node = goal
    for step in range(len(way) - 1, -1, -1):
        way[step] = came_by[node]
        node = _other_end(came_by[node], node, network)
    return way


@kernel
def push_flow(target: int, move: int, network: Network, low: Any, high: Any, able: Any, price: Any) -> Any:
    """A displacement that takes a column so far up or down, or as far as it goes, unit by unit along cheapest cycles.

    How far it goes is exact (augmenting paths: Ford and Fulkerson 1956); of one unit the displacement is the cheapest.
    """
    moved, up, down = np.zeros(len(price), np.int64), able & (high >= 1), able & (low <= -1)
    sense = 1 if move > 0 else -1
    first, goal = (network[3][target], network[2][target]) if sense > 0 else (network[2][target], network[3][target])
    for _ in range(abs(move)):
        if not (up[target] if sense > 0 else down[target]):
            break
        way = cheapest_path(first, goal, target, network, up, down, price)
        if len(way) == 0:
            break
        moved[target] += sense
        moved[way] += moves_along(first, way, network)
        for column in way:
            up[column], down[column] = moved[column] < high[column], moved[column] > low[column]
        up[target], down[target] = moved[target] < high[target], moved[target] > low[target]
    return moved
