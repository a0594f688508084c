"""The levels of a hierarchy as charts and tables: groups with their rows, each value at each level, the tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from celosia import messages
from celosia.messages import text
from celosia.web.pages.hierarchies.editor import HierarchyEditor, visible_text
from celosia.web.ui import html
from celosia.web.ui.html import Cell
from celosia.workbench.views.hierarchies import GroupView, HierarchyTrial, LevelView

_VIEWS = ("groups", "matrix", "tree")
_BRANCHES = 12  # groups shown under one group of the tree
_LEAVES = 6  # values shown under one group of the tree

Retry = Callable[[], None]


def levels_part(editor: HierarchyEditor, retry: Retry) -> None:
    """A line per level, and below it one of three views."""
    trial = editor.trial
    _levels_table(trial)
    with html.line():
        _view_choice(editor, retry)
        if editor.view == "groups":
            options = {
                str(level.level): text("web_hierarchies.levels.level_n", level=level.level) for level in trial.levels
            }
            html.choice(
                text("web_hierarchies.levels.level"), options, str(editor.level), partial(_show_level, editor, retry)
            )
    if editor.view == "matrix":
        _matrix_table(trial)
    elif editor.view == "tree":
        _show_tree(trial)
    else:
        _groups_table(trial, trial.levels[editor.level])


def _view_choice(editor: HierarchyEditor, retry: Retry) -> None:
    def change(view: str) -> None:
        editor.view = view
        retry()

    options = {view: text(f"web_hierarchies.levels.view_{view}") for view in _VIEWS}
    html.choice(text("web_hierarchies.levels.view"), options, editor.view, change)


def _show_level(editor: HierarchyEditor, retry: Retry, level: str) -> None:
    editor.level = int(level)
    retry()


def _levels_table(trial: HierarchyTrial) -> None:
    wide = any(level.width for level in trial.levels)
    heads = ["level", "groups", *(["width"] if wide else []), "smallest", "example"]
    rows = [
        [
            str(level.level),
            messages.integer(level.total),
            *([level.width or "–"] if wide else []),
            messages.integer(level.smallest),
            _example_label(level),
        ]
        for level in trial.levels
    ]
    caption = text("web_hierarchies.levels.caption", variable=visible_text(trial.variable))
    numbers = range(1, len(heads) - 1)
    html.table([text(f"web_hierarchies.levels.{head}") for head in heads], rows, caption, tuple(numbers))


def _example_label(level: LevelView) -> str:
    """The name of a typical group: the largest."""
    largest = max(level.groups, key=lambda group: group.rows, default=None)
    return "" if largest is None else _short_label(largest.label)


def _short_label(label: str, most: int = 60) -> str:
    shown = visible_text(label)
    return shown if len(shown) <= most else shown[:most] + "…"


# --- the groups of one level --------------------------------------------------------------------------


def _groups_table(trial: HierarchyTrial, level: LevelView) -> None:
    largest = max((group.rows for group in level.groups), default=1)
    rows: list[Sequence[Cell]] = [
        [
            visible_text(group.label),
            messages.integer(group.values),
            messages.integer(group.rows),
            messages.part(group.rows / max(trial.rows, 1)),
            partial(_share_bar, group.rows / max(largest, 1)),
        ]
        for group in level.groups
    ]
    heads = [text(f"web_hierarchies.levels.{key}") for key in ("group", "values", "rows", "share")]
    box = html.table([*heads, ""], rows, text("web_hierarchies.levels.groups_caption", level=level.level), (1, 2, 3))
    box.classes("c-tall c-levels")
    _cut_note(len(level.groups), level.total)


def _share_bar(share: float) -> None:
    with html.tag("span", classes="c-meter", aria_hidden="true"):
        html.tag("span").style(f"width: {100 * share:.1f}%")


def _cut_note(shown: int, total: int) -> None:
    if shown < total:
        html.paragraph(text("web_hierarchies.cut", shown=shown, total=total))


# --- each value at each level, as ARX shows it --------------------------------------------------------


def _matrix_table(trial: HierarchyTrial) -> None:
    rows = [_value_path(trial, group) for group in trial.levels[0].groups]
    heads = [text("web_hierarchies.levels.level_n", level=level.level) for level in trial.levels]
    box = html.table(heads, rows, text("web_hierarchies.levels.matrix_caption"))
    box.classes("c-tall c-levels")
    _cut_note(len(rows), trial.levels[0].total)


def _value_path(trial: HierarchyTrial, group: GroupView) -> list[str]:
    """The labels of a value, from itself upwards; a group beyond the shown ones is a dot."""
    labels = [_short_label(group.label)]
    for level in trial.levels[1:]:
        if not 0 <= group.parent < len(level.groups):
            labels += ["…"] * (len(trial.levels) - len(labels))
            break
        group = level.groups[group.parent]
        labels.append(_short_label(group.label))
    return labels


# --- the tree -----------------------------------------------------------------------------------------


def _show_tree(trial: HierarchyTrial) -> None:
    html.paragraph(text("web_hierarchies.levels.tree_caption"), "c-soft")
    children = _children_by_level(trial)
    top = trial.levels[-1]
    label = text("web_hierarchies.levels.tree_caption")
    with html.tag("div", classes="c-scroll c-tall c-tree", tabindex="0", role="region", aria_label=label):
        _show_branches(trial, children, top.level, list(range(len(top.groups))), top.total)


def _children_by_level(trial: HierarchyTrial) -> list[dict[int, list[int]]]:
    """For each level above 0, the places of the groups below that each of its groups holds."""
    children: list[dict[int, list[int]]] = [{}]
    for level in trial.levels[:-1]:
        below: dict[int, list[int]] = {}
        for place, group in enumerate(level.groups):
            below.setdefault(group.parent, []).append(place)
        children.append(below)
    return children


def _show_branches(
    trial: HierarchyTrial, children: Sequence[dict[int, list[int]]], level: int, places: Sequence[int], total: int
) -> None:
    most = _LEAVES if level == 0 else _BRANCHES
    with html.tag("ul"):
        for place in places[:most]:
            group = trial.levels[level].groups[place]
            with html.tag("li"):
                html.tag(
                    "span", text("web_hierarchies.levels.group_rows", label=_short_label(group.label), rows=group.rows)
                )
                if level > 0:
                    below = children[level].get(place, [])
                    _show_branches(trial, children, level - 1, below, len(below))
        if total > most:
            html.tag("li", text("web_hierarchies.levels.and_more", count=total - min(most, len(places))), "c-soft")


# --- minimum and maximum ------------------------------------------------------------------------------


def bounds_fields(editor: HierarchyEditor) -> None:
    """The least and the greatest level that the search may use; built again only when there are other levels."""
    offered = f"{len(editor.trial.levels)} {editor.minimum} {editor.maximum}"
    if editor.bounds_box.props.get("data-offered") == offered:
        return
    editor.bounds_box.props["data-offered"] = offered
    editor.bounds_box.clear()
    with editor.bounds_box:
        _build_bounds(editor)


def _build_bounds(editor: HierarchyEditor) -> None:
    options = {"": text("web_hierarchies.levels.all")}
    options |= {str(level.level): str(level.level) for level in editor.trial.levels}

    def put(name: str, value: Any) -> None:
        setattr(editor, name, int(value) if value else None)
        editor.bounds_box.props["data-offered"] = f"{len(editor.trial.levels)} {editor.minimum} {editor.maximum}"

    with html.line():
        for name in ("minimum", "maximum"):
            level = getattr(editor, name)
            value = "" if level is None else str(level)
            html.choice(text(f"web_hierarchies.levels.{name}"), options, value, partial(put, name))
    html.paragraph(text("web_hierarchies.levels.bounds_hint"), "c-soft")
