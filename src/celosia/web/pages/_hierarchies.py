"""Hierarchies: the variables on the left; on the right the chosen one is built, looked at level by level and saved.

Everything is a question to a verb: a description is tried at each change and nothing is written until it is saved.
Source: MINSAL, Anexo II.1, sections 5 to 7.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import context, ui

from celosia import messages
from celosia.model.hierarchies import HierarchyLine, HierarchyList
from celosia.web._frame import Desk, page, tell
from celosia.web._widgets import button, card, choice, line, note, paragraph, state, tag, upload, word
from celosia.web.pages._hierarchy_bench import KINDS, Bench, kind_of, seen
from celosia.web.pages._hierarchy_form import form
from celosia.web.pages._hierarchy_levels import bounds, levels
from celosia.web.pages._hierarchy_tree import tree_editor


@page("hierarchies")
async def hierarchies_page(desk: Desk) -> None:
    """The hierarchies of a project."""
    paragraph(word("web_hierarchies.intro"))
    bench = Bench(desk)
    bench.forms = await desk.ask("hierarchy_builders")
    bench.listed = await desk.ask("project_hierarchies", desk.folder, measured=False)
    if not bench.listed.lines:
        note(word("web_hierarchies.none"), "warning")
        return
    asked = context.client.request.query_params.get("variable", "")
    names = [one.variable for one in bench.listed.lines]
    bench.variable = asked if asked in names else names[0]
    with tag("div", classes="c-side"):
        bench.list_box = tag("nav", classes="c-card c-vars", aria_label=word("web_hierarchies.list"))
        bench.work_box = tag("div")
    build_list(bench)
    await open_variable(bench, bench.variable)
    ui.timer(0.1, partial(measure_list, bench), once=True)  # the page stands first; the heights need every column


async def measure_list(bench: Bench) -> None:
    """Ask again for the list, this time with heights and problems; once more if something was saved meanwhile."""
    found, digest = bench.listed, ""
    while digest != bench.listed.digest:
        digest = bench.listed.digest
        found = await bench.desk.ask("project_hierarchies", bench.desk.folder)
    bench.listed = found
    show_list(bench)


def build_list(bench: Bench) -> None:
    """The variables as buttons that are never replaced; what is said of each is filled in by `show_list`."""
    with bench.list_box:
        tag("h2", word("web_hierarchies.list"))
        with tag("ul", classes="c-plain-list"):
            for one in bench.listed.lines:
                with tag("li", classes=f"c-role c-role-{one.role}"):
                    made = button(one.variable, partial(open_variable, bench, one.variable), "quiet", every=True)
                    bench.lines[one.variable] = (made, tag("div"))


def show_list(bench: Bench) -> None:
    """Say of each variable where its hierarchy comes from and its levels, and mark the chosen one."""
    for one in bench.listed.lines:
        if one.variable not in bench.lines:
            continue
        made, box = bench.lines[one.variable]
        made.props["aria-current"] = "true" if one.variable == bench.variable else None
        box.clear()
        with box:
            _line(one)


def _line(one: HierarchyLine) -> None:
    words = (word(f"dictionary.role.{one.role}"), _origin(one), _levels(one))
    tag("small", " · ".join(filter(None, words)))
    if one.draft:
        state(word("web_hierarchies.unsaved_tree"), "info")
    if one.problem:
        state(word("web_hierarchies.has_problem"), "bad")
    if not one.published:
        tag("small", word("web_hierarchies.not_published"))


def _origin(one: HierarchyLine) -> str:
    if not one.origin:
        return word("web_hierarchies.without")
    kind = kind_of(one.origin)
    return word("web_hierarchies.proposed") if kind == "default" else word(f"web_hierarchies.kind.{kind}")


def _levels(one: HierarchyLine) -> str:
    """The levels that the search may use, as far as they are known."""
    if one.height is None or not one.origin:
        return ""
    if one.minimum is None and one.maximum is None:
        return word("web_hierarchies.levels_all", height=one.height)
    low, high = one.minimum or 0, one.height if one.maximum is None else one.maximum
    return word("web_hierarchies.levels_some", minimum=low, maximum=high, height=one.height)


# --- the chosen variable ------------------------------------------------------------------------------


async def open_variable(bench: Bench, variable: str) -> None:
    """Show what the project holds for a variable; a tree left unsaved is taken up again."""
    async with bench.acts:
        bench.variable = variable
        await _open(bench)


async def _open(bench: Bench, unless_changed: bool = False) -> None:
    before = bench.described()
    draft = any(one.draft for one in bench.listed.lines if one.variable == bench.variable)
    trial = await bench.tried("try_hierarchy", {"draft": True} if draft else None)
    if trial is not None and (not unless_changed or bench.described() == before):
        bench.begin(trial)
        show_list(bench)
        await show_work(bench)


async def show_work(bench: Bench, focus: bool = False) -> None:
    """The right side: kind, form, levels, bounds and what can be done."""
    bench.work_box.clear()
    with bench.work_box:
        with card(word("web_hierarchies.chosen", variable=seen(bench.variable))):
            await _kind(bench, focus)
        if bench.kind != "file":
            bench.levels_box = tag("div", aria_live="polite")
            with card(word("web_hierarchies.levels.bounds")):
                bench.bounds_box = tag("div")
                _acts(bench)
            show_levels(bench)


async def _kind(bench: Bench, focus: bool) -> None:
    trial = bench.trial
    paragraph(word("web_hierarchies.rows_of_values", values=trial.values, rows=trial.rows), "c-soft")
    options = {kind: word(f"web_hierarchies.kind.{kind}") for kind in KINDS}
    with line():
        made = choice(word("web_hierarchies.kind_label"), options, bench.kind, partial(change_kind, bench))
    if focus:
        made.run_method("focus")  # the field it replaces had the keyboard
    paragraph(word(f"web_hierarchies.about.{bench.kind}"))
    if trial.veiled:
        note(word("web_hierarchies.veiled"), "warning")
    if bench.kind == "default":
        _adapt(bench)
    elif bench.kind == "file":
        take = partial(take_file, bench, bench.variable)
        upload(word("web_hierarchies.form.upload"), bench.desk.csrf, take, ".csv,.txt")
    elif bench.kind == "tree":
        await tree_editor(bench, partial(show_work, bench), partial(try_again, bench))
    else:
        form(bench, partial(try_again, bench), partial(show_work, bench))


def _adapt(bench: Bench) -> None:
    builder = str(bench.trial.spec.get("builder", ""))
    if not builder:
        return
    paragraph(word("web_hierarchies.described_by", kind=word(f"web_hierarchies.kind.{kind_of(builder)}")))

    async def adapt() -> None:
        bench.kind, bench.spec = kind_of(builder), dict(bench.trial.spec)
        await show_work(bench)

    if bench.trial.height:
        button(word("web_hierarchies.adapt"), adapt)


async def change_kind(bench: Bench, kind: str) -> None:
    """Begin a kind of hierarchy with what suits the values; the tree begins with what is on the page."""
    async with bench.acts:
        await _begin_kind(bench, kind)


async def _begin_kind(bench: Bench, kind: str) -> None:
    if kind == "file":
        bench.kind = kind
        await show_work(bench, focus=True)
        return
    if kind == "tree":
        await bench.desk.ask("begin_tree", bench.desk.folder, bench.variable, bench.spec)
        trial = await bench.tried("try_hierarchy", {"draft": True})
    elif kind == "default":
        trial = await bench.tried("try_hierarchy", {})
    else:
        trial = await bench.tried("begin_hierarchy", kind)
    if trial is not None:
        bench.begin(trial, keep_bounds=True)
        await show_work(bench, focus=True)


async def take_file(bench: Bench, variable: str, told: dict[str, str]) -> None:
    """A file that arrived becomes a draft: its gaps are shown, nothing of the project is replaced."""
    path = bench.desk.uploaded(str(told.get("ticket")))
    if path is None:
        return
    async with bench.acts:
        if variable != bench.variable:  # another was opened while it was on its way: it waits where it belongs
            await bench.desk.ask("take_hierarchy", bench.desk.folder, variable, path)
            lines = [replace(one, draft=one.draft or one.variable == variable) for one in bench.listed.lines]
            bench.listed = replace(bench.listed, lines=tuple(lines))
            show_list(bench)
            return
        trial = await bench.tried("take_hierarchy", path)
        if trial is not None:
            bench.begin(trial)
            await show_work(bench)


async def try_again(bench: Bench) -> None:
    """Try the description as it stands on the page."""
    await _tried(bench)


# --- levels, bounds, what can be done -----------------------------------------------------------------


def show_levels(bench: Bench) -> None:
    """What the description makes of the values. Fields and buttons that stay the same are not replaced."""
    bench.levels_box.clear()
    with bench.levels_box:
        _problem(bench)
        _gaps(bench)
        _short(bench)
        if bench.trial.levels:
            with card(word("web_hierarchies.levels.title")):
                levels(bench, partial(show_levels, bench))
    bounds(bench)
    bench.save_button.props.set_optional("disabled", bool(bench.trial.problem) or not bench.trial.levels or None)
    bench.export_button.props.set_optional("disabled", not bench.trial.levels or None)


def _problem(bench: Bench) -> None:
    if bench.trial.problem:
        note(bench.trial.problem, "bad", word("web_hierarchies.problem"))


def _short(bench: Bench) -> None:
    if bench.trial.short_values:
        count = messages.integer(bench.trial.short_values)
        note(word("web_hierarchies.short_numbers", count=count, width=bench.trial.short_width), "warning")


def _gaps(bench: Bench) -> None:
    trial = bench.trial
    if not trial.gap_values:
        return
    sentence = word("web_hierarchies.gaps.some", values=trial.gap_values, rows=trial.gap_rows)
    if not trial.problem:
        sentence += " " + word("web_hierarchies.gaps.sent")
    with note(sentence, "warning", word("web_hierarchies.gaps.title")):
        if not trial.gaps:
            button(word("web_hierarchies.gaps.show"), partial(_tried, bench, show_gaps=True), "small")
        else:
            with tag("div", word("web_hierarchies.gaps.listed"), "c-values"):
                for value in trial.gaps:
                    tag("code", seen(value))
    if trial.gap_values > len(trial.gaps) > 0:
        paragraph(word("web_hierarchies.cut", shown=len(trial.gaps), total=trial.gap_values))


async def _tried(bench: Bench, show_gaps: bool = False) -> None:
    trial = await bench.tried("try_hierarchy", bench.spec, show_gaps=show_gaps)
    if trial is not None:
        bench.trial = trial
        bench.clip_bounds()
        show_levels(bench)


def _acts(bench: Bench) -> None:
    with line():
        bench.save_button = button(word("web_hierarchies.act.save"), partial(save, bench), "primary", every=True)
        button(word("web_hierarchies.act.reset"), partial(reset, bench))
        bench.export_button = button(word("web_hierarchies.act.export"), partial(export, bench))


async def save(bench: Bench) -> None:
    """Write the description and the bounds into the project; what is changed meanwhile stays on the page."""
    async with bench.acts:
        given = bench.described()
        digest = bench.listed.digest
        saved = await bench.desk.ask("save_hierarchy", bench.desk.folder, *given, expected=digest)
        tell(word("web_hierarchies.saved", variable=saved.variable, height=saved.height), "good")
        await _after(bench, given)


async def reset(bench: Bench) -> None:
    """Back to the proposal; a tree being edited goes with it."""
    async with bench.acts:
        await bench.desk.ask("reset_hierarchy", bench.desk.folder, bench.variable, expected=bench.listed.digest)
        await bench.desk.ask("discard_tree", bench.desk.folder, bench.variable)
        tell(word("web_hierarchies.reset_done", variable=bench.variable), "good")
        await _after(bench)


async def _after(bench: Bench, saved: tuple[Any, ...] | None = None) -> None:
    """Show the new state: only the chosen variable can have changed, so the others are not looked at again."""
    before = {one.variable: one for one in bench.listed.lines}
    found: HierarchyList = await bench.desk.ask("project_hierarchies", bench.desk.folder, measured=False)
    kept = [replace(one, height=before[one.variable].height, problem=before[one.variable].problem)
            if one.variable in before else one for one in found.lines]  # fmt: skip
    bench.listed = replace(found, lines=tuple(kept))
    if saved in (None, bench.described()):
        await _open(bench, unless_changed=saved is not None)
    bench.listed = replace(bench.listed, lines=tuple(map(partial(_as_tried, bench), bench.listed.lines)))
    show_list(bench)


def _as_tried(bench: Bench, one: HierarchyLine) -> HierarchyLine:
    if one.variable != bench.variable or not one.origin:
        return one
    return replace(one, height=bench.trial.height, problem=bench.trial.problem)


async def export(bench: Bench) -> None:
    """Hand out what is on the page, in ARX's layout."""
    path = bench.desk.scratch("hierarchy.csv")
    await bench.desk.ask("export_tried", bench.desk.folder, bench.variable, path, bench.spec)
    bench.desk.offer(path, f"{bench.variable}.csv")
