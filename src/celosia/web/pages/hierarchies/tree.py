"""The tree editor: a table of members and their groups at one level; marked members are joined into a named group.

Works with the keyboard alone. The tree is a draft of the project: it outlives the page and is not used until saved.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.web.pages.hierarchies.editor import HierarchyEditor, TreeCursor, visible_text
from celosia.web.ui import html
from celosia.web.ui.context import notify
from celosia.web.ui.html import Cell
from celosia.workbench.operations.hierarchies import begin_tree, discard_tree, edit_tree, tree_page, try_hierarchy
from celosia.workbench.views.hierarchies import TreeItem, TreePage

_SHOWN = 50
_OFFERED = 500  # groups in the lists to pick from
Retry = Callable[[], Awaitable[None]]


async def tree_editor(editor: HierarchyEditor, rebuild: Retry, retry: Retry) -> None:
    """The editor, or the way into it where the hierarchy is described and not yet a draft."""
    if not editor.spec.get("draft"):
        html.button(text("web_hierarchies.tree.begin"), partial(_begin_draft, editor, rebuild))
        return
    box = html.tag("div", classes="c-editor")
    await _show_editor(editor, box, rebuild, retry)


async def _begin_draft(editor: HierarchyEditor, rebuild: Retry) -> None:
    async with editor.lock:
        await editor.page.ask(begin_tree, editor.page.folder, editor.variable, editor.spec)
        trial = await editor.try_with(try_hierarchy, {"draft": True})
        if trial is not None:
            editor.take(trial, keep_bounds=True)
            await rebuild()


async def _show_editor(
    editor: HierarchyEditor, box: ui.element, rebuild: Retry, retry: Retry, focus: bool = False
) -> None:
    """The whole editor at the level that is looked at."""
    tree = await _read_page(editor)
    show = partial(_show_editor, editor, box, rebuild, retry, focus=True)
    box.clear()
    with box:
        _level_line(editor, tree, show, retry)
        members = html.tag("div")
        _filter_line(editor.cursor, tree, partial(_show_members, editor, members))
        members.move(box)
        with members:
            _members_table(editor, tree, members)
        name = _join_line(editor, tree, show, retry)
        _rename_part(editor, tree, show, retry)
        _uncovered_check(editor, tree, retry)
        with html.line():
            html.button(text("web_hierarchies.tree.discard"), partial(_discard_draft, editor, rebuild), "danger")
    if focus:
        name.run_method("focus")  # what was pressed is gone: the keyboard goes on from the group's name


async def _show_members(editor: HierarchyEditor, box: ui.element) -> None:
    """The members alone: looking for others leaves the fields above as they are."""
    tree = await _read_page(editor)
    box.clear()
    with box:
        _members_table(editor, tree, box)


async def _read_page(editor: HierarchyEditor) -> TreePage:
    cursor = editor.cursor
    return await editor.page.ask(
        tree_page,
        editor.page.folder,
        editor.variable,
        cursor.level,
        contains=cursor.contains,
        only_gaps=cursor.only_gaps,
        start=cursor.start,
        at_most=_SHOWN,
    )


async def _change_draft(
    editor: HierarchyEditor, tree: TreePage, change: Mapping[str, Any], show: Retry, retry: Retry
) -> None:
    """Make a change on the draft as it was seen, then show what it became."""
    async with editor.lock:
        await editor.page.ask(edit_tree, editor.page.folder, editor.variable, dict(change), expected=tree.digest)
        editor.cursor.marked.clear()
        await retry()
        editor.cursor.level = min(editor.cursor.level, max(editor.trial.height, 1))
        await show()


def _level_line(editor: HierarchyEditor, tree: TreePage, show: Retry, retry: Retry) -> None:
    async def look_at(level: str) -> None:
        editor.cursor = TreeCursor(level=int(level))
        await show()

    change = partial(_change_draft, editor, tree, show=show, retry=retry)

    async def add() -> None:
        await change({"do": "add_level", "after": tree.level})
        await look_at(str(tree.level + 1))

    with html.line():
        options = {str(level): str(level) for level in range(1, tree.height + 1)}
        html.choice(text("web_hierarchies.tree.level"), options, str(tree.level), look_at)
        html.button(text("web_hierarchies.tree.add_level"), add, "small")
        if tree.height > 1:
            remove = {"do": "remove_level", "level": tree.level}
            html.button(text("web_hierarchies.tree.remove_level"), partial(change, remove), "small")
        html.button(text("web_hierarchies.tree.add_top"), partial(change, {"do": "top"}), "small")


def _filter_line(cursor: TreeCursor, tree: TreePage, show: Retry) -> None:
    async def find(typed: str) -> None:
        cursor.contains, cursor.start = str(typed), 0
        await show()

    async def only(given: bool) -> None:
        cursor.only_gaps, cursor.start = given, 0
        await show()

    with html.line():
        html.text_field(text("web_hierarchies.tree.filter"), cursor.contains, find, kind="search")
        if tree.level == 1 and (tree.gap_values or cursor.only_gaps):
            html.check(text("web_hierarchies.tree.only_gaps", count=tree.gap_values), cursor.only_gaps, only)


# --- members ------------------------------------------------------------------------------------------


def _members_table(editor: HierarchyEditor, tree: TreePage, box: ui.element) -> None:
    member = "member_value" if tree.level == 1 else "member_group"
    heads = [text(f"web_hierarchies.tree.{key}") for key in ("mark", member, "group", "rows")]
    rows = [_member_row(editor.cursor, item) for item in tree.items]
    caption = text("web_hierarchies.tree.caption", level=tree.level)
    html.table(heads, rows, caption, (3,), row_heads=False).classes("c-tall c-levels")
    _page_buttons(editor, tree, partial(_show_members, editor, box))


def _member_row(cursor: TreeCursor, item: TreeItem) -> Sequence[Cell]:
    def mark(given: bool) -> None:
        (cursor.marked.add if given else cursor.marked.discard)(item.member)

    def box() -> None:
        label = text("web_hierarchies.tree.mark_one", member=visible_text(item.member))
        html.check(label, item.member in cursor.marked, mark, hidden_label=True)

    group = visible_text(item.group) if item.placed else text("web_hierarchies.tree.no_group")
    return [box, visible_text(item.member), group, messages.integer(item.rows)]


def _page_buttons(editor: HierarchyEditor, tree: TreePage, show: Retry) -> None:
    cursor = editor.cursor

    async def turn(by: int) -> None:
        cursor.start = max(cursor.start + by, 0)
        await show()

    async def mark(given: bool) -> None:
        shown = (await _read_page(editor)).items if given else ()  # what was typed in the filter just before counts
        cursor.marked = cursor.marked | {item.member for item in shown} if given else set()
        await show()

    last = cursor.start + len(tree.items)
    with html.line():
        html.button(text("web_hierarchies.tree.mark_all"), partial(mark, True), "small")
        html.button(text("web_hierarchies.tree.mark_none"), partial(mark, False), "small")
        if tree.total > _SHOWN:
            before, after = cursor.start == 0, last >= tree.total
            html.button(text("web_hierarchies.tree.previous"), partial(turn, -_SHOWN), "small", disabled=before)
            html.button(text("web_hierarchies.tree.next"), partial(turn, _SHOWN), "small", disabled=after)
        first = min(cursor.start + 1, tree.total)
        html.tag("span", text("web_hierarchies.tree.shown", first=first, last=last, total=tree.total), "c-soft")


# --- changes ------------------------------------------------------------------------------------------


def _join_line(editor: HierarchyEditor, tree: TreePage, show: Retry, retry: Retry) -> ui.element:
    cursor = editor.cursor

    def put_name(name: str) -> None:
        cursor.name = str(name)

    async def join() -> None:
        if not cursor.marked:
            notify(text("web_hierarchies.tree.mark_first"), "warning")
            return
        change = {"do": "group", "level": tree.level, "members": sorted(cursor.marked), "name": cursor.name}
        await _change_draft(editor, tree, change, show, retry)

    with html.line():
        with html.label_field(text("web_hierarchies.tree.name")) as name:
            value = {"^value": cursor.name}
            name_field = html.tag("input", classes="c-input", id=name, type="text", list=f"{name}-groups", **value)
            name_field.on("input", lambda event: put_name(event.args), js_handler="(e) => emit(e.target.value)")
            with html.tag("datalist", id=f"{name}-groups"):
                for group in tree.groups[:_OFFERED]:
                    html.tag("option", value=group)
        html.button(text("web_hierarchies.tree.join"), join, "primary")
    return name_field


def _rename_part(editor: HierarchyEditor, tree: TreePage, show: Retry, retry: Retry) -> None:
    groups = tree.groups[:_OFFERED]
    wanted = {"place": "0", "name": ""}

    async def rename() -> None:
        group = groups[int(wanted["place"])]
        change = {"do": "rename", "level": tree.level, "group": group, "name": wanted["name"]}
        await _change_draft(editor, tree, change, show, retry)

    with html.details(text("web_hierarchies.tree.rename")), html.line():
        options = {str(place): visible_text(group) for place, group in enumerate(groups)}
        html.choice(text("web_hierarchies.tree.rename_of"), options, "0", lambda place: wanted.update(place=str(place)))
        html.text_field(text("web_hierarchies.tree.rename_to"), "", lambda name: wanted.update(name=str(name)))
        html.button(text("web_hierarchies.tree.rename_do"), rename, disabled=not groups)


def _uncovered_check(editor: HierarchyEditor, tree: TreePage, retry: Retry) -> None:
    if not tree.gap_values and "uncovered" not in editor.spec:
        return

    async def suppress(given: bool) -> None:
        editor.spec.pop("uncovered", None)
        if given:
            editor.spec["uncovered"] = "suppress"
        await retry()

    html.check(text("web_hierarchies.parameter.uncovered"), editor.spec.get("uncovered") == "suppress", suppress)


async def _discard_draft(editor: HierarchyEditor, rebuild: Retry) -> None:
    async with editor.lock:
        await editor.page.ask(discard_tree, editor.page.folder, editor.variable)
        notify(text("web_hierarchies.tree.discarded"))
        trial = await editor.try_with(try_hierarchy)
        if trial is not None:
            editor.take(trial)
            await rebuild()
