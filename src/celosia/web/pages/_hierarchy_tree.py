"""The tree editor: a table of members and their groups at one level; marked members are joined into a named group.

Works with the keyboard alone. The tree is a draft of the project: it outlives the page and is not used until saved.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.model.hierarchies import TreeItem, TreePage
from celosia.web._frame import tell
from celosia.web._widgets import (
    Cell,
    button,
    check,
    choice,
    details,
    labelled,
    line,
    table,
    tag,
    text_field,
    word,
)
from celosia.web.pages._hierarchy_bench import Bench, TreeLook, seen

_SHOWN = 50
_OFFERED = 500  # groups in the lists to pick from
Again = Callable[[], Awaitable[None]]


async def tree_editor(bench: Bench, rebuild: Again, again: Again) -> None:
    """The editor, or the way into it where the hierarchy is described and not yet a draft."""
    if not bench.spec.get("draft"):
        button(word("web_hierarchies.tree.begin"), partial(_begin, bench, rebuild))
        return
    box = tag("div", classes="c-editor")
    await _show(bench, box, rebuild, again)


async def _begin(bench: Bench, rebuild: Again) -> None:
    async with bench.acts:
        await bench.desk.ask("begin_tree", bench.desk.folder, bench.variable, bench.spec)
        trial = await bench.tried("try_hierarchy", {"draft": True})
        if trial is not None:
            bench.begin(trial, keep_bounds=True)
            await rebuild()


async def _show(bench: Bench, box: ui.element, rebuild: Again, again: Again, focus: bool = False) -> None:
    """The whole editor at the level that is looked at."""
    page = await _page(bench)
    show = partial(_show, bench, box, rebuild, again, focus=True)
    box.clear()
    with box:
        _levels(bench, page, show, again)
        members = tag("div")
        _filter(bench.look, page, partial(_show_members, bench, members))
        members.move(box)
        with members:
            _members(bench, page, members)
        name = _join(bench, page, show, again)
        _rename(bench, page, show, again)
        _uncovered(bench, page, again)
        with line():
            button(word("web_hierarchies.tree.discard"), partial(_discard, bench, rebuild), "danger")
    if focus:
        name.run_method("focus")  # what was pressed is gone: the keyboard goes on from the group's name


async def _show_members(bench: Bench, box: ui.element) -> None:
    """The members alone: looking for others leaves the fields above as they are."""
    page = await _page(bench)
    box.clear()
    with box:
        _members(bench, page, box)


async def _page(bench: Bench) -> TreePage:
    look = bench.look
    found: TreePage = await bench.desk.ask(
        "tree_page", bench.desk.folder, bench.variable, look.level, contains=look.contains, only_gaps=look.only_gaps,
        start=look.start, at_most=_SHOWN,
    )  # fmt: skip
    return found


async def _change(bench: Bench, page: TreePage, change: Mapping[str, Any], show: Again, again: Again) -> None:
    """Make a change on the draft as it was seen, then show what it became."""
    async with bench.acts:
        await bench.desk.ask("edit_tree", bench.desk.folder, bench.variable, dict(change), expected=page.digest)
        bench.look.marked.clear()
        await again()
        bench.look.level = min(bench.look.level, max(bench.trial.height, 1))
        await show()


def _levels(bench: Bench, page: TreePage, show: Again, again: Again) -> None:
    async def look_at(level: str) -> None:
        bench.look = TreeLook(level=int(level))
        await show()

    change = partial(_change, bench, page, show=show, again=again)

    async def add() -> None:
        await change({"do": "add_level", "after": page.level})
        await look_at(str(page.level + 1))

    with line():
        options = {str(level): str(level) for level in range(1, page.height + 1)}
        choice(word("web_hierarchies.tree.level"), options, str(page.level), look_at)
        button(word("web_hierarchies.tree.add_level"), add, "small")
        if page.height > 1:
            remove = {"do": "remove_level", "level": page.level}
            button(word("web_hierarchies.tree.remove_level"), partial(change, remove), "small")
        button(word("web_hierarchies.tree.add_top"), partial(change, {"do": "top"}), "small")


def _filter(look: TreeLook, page: TreePage, show: Again) -> None:
    async def find(text: str) -> None:
        look.contains, look.start = str(text), 0
        await show()

    async def only(given: bool) -> None:
        look.only_gaps, look.start = given, 0
        await show()

    with line():
        text_field(word("web_hierarchies.tree.filter"), look.contains, find, kind="search")
        if page.level == 1 and (page.gap_values or look.only_gaps):
            check(word("web_hierarchies.tree.only_gaps", count=page.gap_values), look.only_gaps, only)


# --- members ------------------------------------------------------------------------------------------


def _members(bench: Bench, page: TreePage, box: ui.element) -> None:
    member = "member_value" if page.level == 1 else "member_group"
    heads = [word(f"web_hierarchies.tree.{key}") for key in ("mark", member, "group", "rows")]
    rows = [_row(bench.look, item) for item in page.items]
    caption = word("web_hierarchies.tree.caption", level=page.level)
    table(heads, rows, caption, (3,), row_heads=False).classes("c-tall c-levels")
    _turning(bench, page, partial(_show_members, bench, box))


def _row(look: TreeLook, item: TreeItem) -> Sequence[Cell]:
    def mark(given: bool) -> None:
        (look.marked.add if given else look.marked.discard)(item.member)

    def box() -> None:
        label = word("web_hierarchies.tree.mark_one", member=seen(item.member))
        check(label, item.member in look.marked, mark, hidden_label=True)

    group = seen(item.group) if item.placed else word("web_hierarchies.tree.no_group")
    return [box, seen(item.member), group, messages.integer(item.rows)]


def _turning(bench: Bench, page: TreePage, show: Again) -> None:
    look = bench.look

    async def turn(by: int) -> None:
        look.start = max(look.start + by, 0)
        await show()

    async def mark(given: bool) -> None:
        shown = (await _page(bench)).items if given else ()  # what was typed in the filter just before counts
        look.marked = look.marked | {item.member for item in shown} if given else set()
        await show()

    last = look.start + len(page.items)
    with line():
        button(word("web_hierarchies.tree.mark_all"), partial(mark, True), "small")
        button(word("web_hierarchies.tree.mark_none"), partial(mark, False), "small")
        if page.total > _SHOWN:
            before, after = look.start == 0, last >= page.total
            button(word("web_hierarchies.tree.previous"), partial(turn, -_SHOWN), "small", disabled=before)
            button(word("web_hierarchies.tree.next"), partial(turn, _SHOWN), "small", disabled=after)
        first = min(look.start + 1, page.total)
        tag("span", word("web_hierarchies.tree.shown", first=first, last=last, total=page.total), "c-soft")


# --- changes ------------------------------------------------------------------------------------------


def _join(bench: Bench, page: TreePage, show: Again, again: Again) -> ui.element:
    look = bench.look

    def named(text: str) -> None:
        look.name = str(text)

    async def join() -> None:
        if not look.marked:
            tell(word("web_hierarchies.tree.mark_first"), "warning")
            return
        change = {"do": "group", "level": page.level, "members": sorted(look.marked), "name": look.name}
        await _change(bench, page, change, show, again)

    with line():
        with labelled(word("web_hierarchies.tree.name")) as name:
            made = tag("input", classes="c-input", id=name, type="text", list=f"{name}-groups",
                       **{"^value": look.name})  # fmt: skip
            made.on("input", lambda event: named(event.args), js_handler="(e) => emit(e.target.value)")
            with tag("datalist", id=f"{name}-groups"):
                for group in page.groups[:_OFFERED]:
                    tag("option", value=group)
        button(word("web_hierarchies.tree.join"), join, "primary")
    return made


def _rename(bench: Bench, page: TreePage, show: Again, again: Again) -> None:
    groups = page.groups[:_OFFERED]
    wanted = {"place": "0", "name": ""}

    async def rename() -> None:
        group = groups[int(wanted["place"])]
        change = {"do": "rename", "level": page.level, "group": group, "name": wanted["name"]}
        await _change(bench, page, change, show, again)

    with details(word("web_hierarchies.tree.rename")), line():
        options = {str(place): seen(group) for place, group in enumerate(groups)}
        choice(word("web_hierarchies.tree.rename_of"), options, "0", lambda place: wanted.update(place=str(place)))
        text_field(word("web_hierarchies.tree.rename_to"), "", lambda text: wanted.update(name=str(text)))
        button(word("web_hierarchies.tree.rename_do"), rename, disabled=not groups)


def _uncovered(bench: Bench, page: TreePage, again: Again) -> None:
    if not page.gap_values and "uncovered" not in bench.spec:
        return

    async def suppress(given: bool) -> None:
        bench.spec.pop("uncovered", None)
        if given:
            bench.spec["uncovered"] = "suppress"
        await again()

    check(word("web_hierarchies.parameter.uncovered"), bench.spec.get("uncovered") == "suppress", suppress)


async def _discard(bench: Bench, rebuild: Again) -> None:
    async with bench.acts:
        await bench.desk.ask("discard_tree", bench.desk.folder, bench.variable)
        tell(word("web_hierarchies.tree.discarded"))
        trial = await bench.tried("try_hierarchy")
        if trial is not None:
            bench.begin(trial)
            await rebuild()
