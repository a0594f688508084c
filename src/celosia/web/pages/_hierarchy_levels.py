"""The levels of a hierarchy as pictures and tables: groups with their rows, each value at each level, the tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from celosia import messages
from celosia.model.hierarchies import GroupView, HierarchyTrial, LevelView
from celosia.web._widgets import Cell, choice, line, paragraph, table, tag, word
from celosia.web.pages._hierarchy_bench import Bench, seen

_VIEWS = ("groups", "matrix", "tree")
_BRANCHES = 12  # groups shown under one group of the tree
_LEAVES = 6  # values shown under one group of the tree

Again = Callable[[], None]


def levels(bench: Bench, again: Again) -> None:
    """A line per level, and below it one of three views."""
    trial = bench.trial
    _summary(trial)
    with line():
        _chosen_view(bench, again)
        if bench.view == "groups":
            options = {str(one.level): word("web_hierarchies.levels.level_n", level=one.level) for one in trial.levels}
            choice(word("web_hierarchies.levels.level"), options, str(bench.level), partial(_look_at, bench, again))
    if bench.view == "matrix":
        _matrix(trial)
    elif bench.view == "tree":
        _tree(trial)
    else:
        _groups(trial, trial.levels[bench.level])


def _chosen_view(bench: Bench, again: Again) -> None:
    def change(view: str) -> None:
        bench.view = view
        again()

    options = {view: word(f"web_hierarchies.levels.view_{view}") for view in _VIEWS}
    choice(word("web_hierarchies.levels.view"), options, bench.view, change)


def _look_at(bench: Bench, again: Again, level: str) -> None:
    bench.level = int(level)
    again()


def _summary(trial: HierarchyTrial) -> None:
    wide = any(one.width for one in trial.levels)
    heads = ["level", "groups", *(["width"] if wide else []), "smallest", "example"]
    rows = [
        [
            str(one.level), messages.integer(one.total), *([one.width or "–"] if wide else []),
            messages.integer(one.smallest), _example(one),
        ]
        for one in trial.levels
    ]  # fmt: skip
    caption = word("web_hierarchies.levels.caption", variable=seen(trial.variable))
    numbers = range(1, len(heads) - 1)
    table([word(f"web_hierarchies.levels.{head}") for head in heads], rows, caption, tuple(numbers))


def _example(one: LevelView) -> str:
    """The name of a typical group: the largest."""
    largest = max(one.groups, key=lambda group: group.rows, default=None)
    return "" if largest is None else _short(largest.label)


def _short(label: str, most: int = 60) -> str:
    shown = seen(label)
    return shown if len(shown) <= most else shown[:most] + "…"


# --- the groups of one level --------------------------------------------------------------------------


def _groups(trial: HierarchyTrial, level: LevelView) -> None:
    largest = max((group.rows for group in level.groups), default=1)
    rows: list[Sequence[Cell]] = [
        [
            seen(group.label), messages.integer(group.values), messages.integer(group.rows),
            messages.part(group.rows / max(trial.rows, 1)), partial(_bar, group.rows / max(largest, 1)),
        ]
        for group in level.groups
    ]  # fmt: skip
    heads = [word(f"web_hierarchies.levels.{key}") for key in ("group", "values", "rows", "share")]
    box = table([*heads, ""], rows, word("web_hierarchies.levels.groups_caption", level=level.level), (1, 2, 3))
    box.classes("c-tall c-levels")
    _cut(len(level.groups), level.total)


def _bar(share: float) -> None:
    with tag("span", classes="c-meter", aria_hidden="true"):
        tag("span").style(f"width: {100 * share:.1f}%")


def _cut(shown: int, total: int) -> None:
    if shown < total:
        paragraph(word("web_hierarchies.cut", shown=shown, total=total))


# --- each value at each level, as ARX shows it --------------------------------------------------------


def _matrix(trial: HierarchyTrial) -> None:
    rows = [_path(trial, group) for group in trial.levels[0].groups]
    heads = [word("web_hierarchies.levels.level_n", level=one.level) for one in trial.levels]
    box = table(heads, rows, word("web_hierarchies.levels.matrix_caption"))
    box.classes("c-tall c-levels")
    _cut(len(rows), trial.levels[0].total)


def _path(trial: HierarchyTrial, group: GroupView) -> list[str]:
    """The labels of a value, from itself upwards; a group beyond the shown ones is a dot."""
    labels = [_short(group.label)]
    for one in trial.levels[1:]:
        if not 0 <= group.parent < len(one.groups):
            labels += ["…"] * (len(trial.levels) - len(labels))
            break
        group = one.groups[group.parent]
        labels.append(_short(group.label))
    return labels


# --- the tree -----------------------------------------------------------------------------------------


def _tree(trial: HierarchyTrial) -> None:
    paragraph(word("web_hierarchies.levels.tree_caption"), "c-soft")
    children = _children(trial)
    top = trial.levels[-1]
    with tag("div", classes="c-scroll c-tall c-tree", tabindex="0", role="region",
             aria_label=word("web_hierarchies.levels.tree_caption")):  # fmt: skip
        _branches(trial, children, top.level, list(range(len(top.groups))), top.total)


def _children(trial: HierarchyTrial) -> list[dict[int, list[int]]]:
    """For each level above 0, the places of the groups below that each of its groups holds."""
    found: list[dict[int, list[int]]] = [{}]
    for one in trial.levels[:-1]:
        below: dict[int, list[int]] = {}
        for place, group in enumerate(one.groups):
            below.setdefault(group.parent, []).append(place)
        found.append(below)
    return found


def _branches(
    trial: HierarchyTrial, children: Sequence[dict[int, list[int]]], level: int, places: Sequence[int], total: int
) -> None:
    most = _LEAVES if level == 0 else _BRANCHES
    with tag("ul"):
        for place in places[:most]:
            group = trial.levels[level].groups[place]
            with tag("li"):
                tag("span", word("web_hierarchies.levels.group_rows", label=_short(group.label), rows=group.rows))
                if level > 0:
                    below = children[level].get(place, [])
                    _branches(trial, children, level - 1, below, len(below))
        if total > most:
            tag("li", word("web_hierarchies.levels.and_more", count=total - min(most, len(places))), "c-soft")


# --- minimum and maximum ------------------------------------------------------------------------------


def bounds(bench: Bench) -> None:
    """The least and the greatest level that the search may use; built anew only when there are other levels."""
    offered = f"{len(bench.trial.levels)} {bench.minimum} {bench.maximum}"
    if bench.bounds_box.props.get("data-offered") == offered:
        return
    bench.bounds_box.props["data-offered"] = offered
    bench.bounds_box.clear()
    with bench.bounds_box:
        _fields(bench)


def _fields(bench: Bench) -> None:
    options = {"": word("web_hierarchies.levels.all")}
    options |= {str(one.level): str(one.level) for one in bench.trial.levels}

    def chosen(name: str, value: Any) -> None:
        setattr(bench, name, int(value) if value else None)
        bench.bounds_box.props["data-offered"] = f"{len(bench.trial.levels)} {bench.minimum} {bench.maximum}"

    with line():
        for name in ("minimum", "maximum"):
            held = _text(getattr(bench, name))
            choice(word(f"web_hierarchies.levels.{name}"), options, held, partial(chosen, name))
    paragraph(word("web_hierarchies.levels.bounds_hint"), "c-soft")


def _text(level: int | None) -> str:
    return "" if level is None else str(level)
