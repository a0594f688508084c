"""Categories: merging neighbours of an order, declared groups, trees, and rare values by frequency.

Knows categories as text and, for frequencies, how often each occurs. Ignores what they mean.
Sources: MINSAL, Anexo II.1.6 (ordering); YAPÓ, 3 (rare values merged into «Otros» until it reaches k).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from celosia.hierarchy.builder import Builder, Detail, LeafLabels
from celosia.hierarchy.value_order import ordered_positions
from celosia.model.parameters import Many, Text, TomlTable, Whole, conflict

# --- order: neighbours merge, `factor` at a time ------------------------------------------------------

ORDER_PARAMS = {
    "order": Many(Text()),
    "factor": Whole(default=2, minimum=2),
    "height": Whole(minimum=1),
    "label": Text(default="set", choices=("set", "range")),
}


def natural_order(plain: Sequence[str]) -> tuple[str, ...]:
    """Values by size where all of them are numbers, else by code point."""
    return tuple(plain[position] for position in ordered_positions(plain)[1])  # «9 o más» beside «10» has no size


def place_in_order(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """Neighbours of the order merged until one group is left; without a declared order, the natural one."""
    order = settings["order"] if settings["order"] is not None else natural_order(plain)
    if len(set(order)) != len(order):
        raise conflict("order", "order", "repeated")
    columns: list[list[str]] = []
    size, stop = settings["factor"], settings["height"]
    while not columns or (len(set(columns[-1])) > 1 and len(columns) != stop):
        columns.append(_group_labels(order, size, settings["label"]))
        size *= settings["factor"]
    labels = {value: tuple(column[position] for column in columns) for position, value in enumerate(order)}
    return LeafLabels(labels, len(columns))


def _group_labels(order: Sequence[str], size: int, style: str) -> list[str]:
    """For each category, the name of its group; a name already taken by another group gets a number."""
    names: list[str] = []
    taken: Counter[str] = Counter()
    for start in range(0, len(order), size):
        members = order[start : start + size]
        name = _group_name(members, style)
        while taken[name]:
            name += f" ({start // size + 1})"
        taken[name] += 1
        names += [name] * len(members)
    return names


def _group_name(members: Sequence[str], style: str) -> str:
    if len(members) == 1:
        return members[0]
    return f"{members[0]} a {members[-1]}" if style == "range" else "{" + ", ".join(members) + "}"


# --- groups: each level a table of label = [members] --------------------------------------------------

GROUPS_PARAMS = {"levels": TomlTable(required=True)}


def place_in_groups(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """Declared groups: level 1 names every value once; higher levels join labels of the level below.

    A label that a higher level does not name stays as it is.
    """
    tables = [settings["levels"]] if isinstance(settings["levels"], dict) else settings["levels"]
    first, *higher = [_parent_of(table) for table in tables]
    labels = {}
    for value, label in first.items():
        path = [label]
        for parents in higher:
            path.append(parents.get(path[-1], path[-1]))
        labels[value] = tuple(path)
    return LeafLabels(labels, len(tables))


def _parent_of(table: Any) -> dict[str, str]:
    """Group of each member; a member in two groups, or anything that is not a table of lists, is refused."""
    if not isinstance(table, dict):
        raise conflict("groups", "levels", "groups")
    pairs = [(member, label) for label, members in table.items() for member in _checked_members("groups", members)]
    parents = dict(pairs)
    if len(parents) != len(pairs):
        raise conflict("groups", "levels", "repeated")
    return parents


def _checked_members(builder: str, members: Any) -> Sequence[str]:
    if not isinstance(members, list | tuple) or not all(isinstance(member, str) for member in members):
        raise conflict(builder, "levels" if builder == "groups" else "tree", builder)
    return members


# --- tree: nested tables, leaves in lists -------------------------------------------------------------

TREE_PARAMS = {"tree": TomlTable(required=True)}


def place_in_tree(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """A category tree; a leaf nearer to the root keeps its own name where others have more levels."""
    paths = list(_paths(settings["tree"], ()))
    if len({path[-1] for path in paths}) != len(paths):
        raise conflict("tree", "tree", "repeated")
    depth = max((len(path) for path in paths), default=1) - 1
    labels = {
        path[-1]: tuple(path[min(depth - level, len(path) - 1)] for level in range(1, depth + 1)) for path in paths
    }
    return LeafLabels(labels, depth)


def _paths(tree: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, dict):
        for label, below in tree.items():
            yield from _paths(below, (*above, label))
    else:
        yield from ((*above, leaf) for leaf in _checked_members("tree", tree))


# --- frequency: rare values merge ---------------------------------------------------------------------

FREQUENCY_PARAMS = {"minimums": Many(Whole(minimum=2), required=True), "rest": Text(default="Otros")}


def place_by_frequency(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """At each level, values rarer than its minimum become `rest`; the next rarest join until it reaches it."""
    counts: Mapping[str, int] | None = settings["counts"]
    if counts is None:
        raise conflict("frequency", "counts", "counts")
    minimums = settings["minimums"]
    if list(minimums) != sorted(set(minimums)) or settings["rest"] in plain:
        raise conflict("frequency", "minimums, rest", "frequency")
    rarest = sorted(plain, key=lambda value: (counts.get(value, 0), value))
    sizes = [counts.get(value, 0) for value in rarest]
    merged = [_count_of_merged_values(sizes, minimum) for minimum in minimums]
    rank = {value: rank_ for rank_, value in enumerate(rarest)}
    labels = {value: tuple(settings["rest"] if rank[value] < n else value for n in merged) for value in plain}
    return LeafLabels(labels, len(minimums))


def _count_of_merged_values(sizes: Sequence[int], minimum: int) -> int:
    """How many of the rarest values merge: all below the minimum, and as many more as bring them up to it."""
    rare = sum(size < minimum for size in sizes)
    if rare == 0:
        return 0
    reached = [total >= minimum for total in accumulate(sizes)]
    return next((i + 1 for i in range(rare - 1, len(sizes)) if reached[i]), len(sizes))


# --- identity and suppression -------------------------------------------------------------------------


def place_as_is(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """The values alone."""
    return LeafLabels(dict.fromkeys(plain, ()), 0)


def place_under_star(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """The values, and above them `*`."""
    return LeafLabels(dict.fromkeys(plain, ()), 0, closed=True)


def order_detail(settings: Mapping[str, Any], level: int) -> Detail:
    """How many neighbours make a group."""
    return {"size": str(settings["factor"] ** level)}


ORDER = Builder("order", ORDER_PARAMS, place_in_order, order_detail)
GROUPS = Builder("groups", GROUPS_PARAMS, place_in_groups)
TREE = Builder("tree", TREE_PARAMS, place_in_tree)
FREQUENCY = Builder("frequency", FREQUENCY_PARAMS, place_by_frequency)
IDENTITY = Builder("identity", {}, place_as_is)
SUPPRESS = Builder("suppress", {}, place_under_star)
