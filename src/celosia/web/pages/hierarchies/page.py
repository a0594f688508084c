"""Hierarchies: the variables on the left; on the right the chosen one is built, looked at level by level and saved.

A description is tried at each change by an operation; nothing is written until it is saved.
Source: MINSAL, Anexo II.1, sections 5 to 7.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import context, ui

from celosia import messages
from celosia.messages import text
from celosia.web.pages.hierarchies.editor import KINDS, HierarchyEditor, kind_of, visible_text
from celosia.web.pages.hierarchies.form import builder_form
from celosia.web.pages.hierarchies.levels import bounds_fields, levels_part
from celosia.web.pages.hierarchies.tree import tree_editor
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify, upload_field
from celosia.web.ui.page import project_page
from celosia.workbench.operations.hierarchies import (
    begin_hierarchy,
    begin_tree,
    discard_tree,
    export_tried,
    hierarchy_builders,
    project_hierarchies,
    reset_hierarchy,
    save_hierarchy,
    take_hierarchy,
    try_hierarchy,
)
from celosia.workbench.views.hierarchies import HierarchyLine


@project_page("hierarchies")
async def hierarchies_page(page: PageContext) -> None:
    """The hierarchies of a project."""
    html.paragraph(text("web_hierarchies.intro"))
    editor = HierarchyEditor(page)
    editor.forms = await page.ask(hierarchy_builders)
    editor.listed = await page.ask(project_hierarchies, page.folder, measured=False)
    if not editor.listed.lines:
        html.note(text("web_hierarchies.none"), "warning")
        return
    wanted = context.client.request.query_params.get("variable", "")
    names = [entry.variable for entry in editor.listed.lines]
    editor.variable = wanted if wanted in names else names[0]
    with html.tag("div", classes="c-side"):
        editor.list_box = html.tag("nav", classes="c-card c-vars", aria_label=text("web_hierarchies.list"))
        editor.work_box = html.tag("div")
    build_list(editor)
    await open_variable(editor, editor.variable)
    ui.timer(0.1, partial(measure_list, editor), once=True)  # after the page is built: the heights need every column


async def measure_list(editor: HierarchyEditor) -> None:
    """Ask again for the list, this time with heights and problems; once more if something was saved meanwhile."""
    listed, digest = editor.listed, ""
    while digest != editor.listed.digest:
        digest = editor.listed.digest
        listed = await editor.page.ask(project_hierarchies, editor.page.folder)
    editor.listed = listed
    show_list(editor)


def build_list(editor: HierarchyEditor) -> None:
    """The variables as buttons that are never replaced; `show_list` fills in what is shown of each."""
    with editor.list_box:
        html.tag("h2", text("web_hierarchies.list"))
        with html.tag("ul", classes="c-plain-list"):
            for entry in editor.listed.lines:
                with html.tag("li", classes=f"c-role c-role-{entry.role}"):
                    name_button = html.button(
                        entry.variable, partial(open_variable, editor, entry.variable), "quiet", every=True
                    )
                    editor.lines[entry.variable] = (name_button, html.tag("div"))


def show_list(editor: HierarchyEditor) -> None:
    """Say of each variable where its hierarchy comes from and its levels, and mark the chosen one."""
    for entry in editor.listed.lines:
        if entry.variable not in editor.lines:
            continue
        name_button, box = editor.lines[entry.variable]
        name_button.props["aria-current"] = "true" if entry.variable == editor.variable else None
        box.clear()
        with box:
            _show_entry(entry)


def _show_entry(entry: HierarchyLine) -> None:
    parts = (text(f"dictionary.role.{entry.role}"), _origin_text(entry), _levels_text(entry))
    html.tag("small", " · ".join(filter(None, parts)))
    if entry.draft:
        html.state(text("web_hierarchies.unsaved_tree"), "info")
    if entry.problem:
        html.state(text("web_hierarchies.has_problem"), "bad")
    if not entry.published:
        html.tag("small", text("web_hierarchies.not_published"))


def _origin_text(entry: HierarchyLine) -> str:
    if not entry.origin:
        return text("web_hierarchies.without")
    kind = kind_of(entry.origin)
    return text("web_hierarchies.proposed") if kind == "default" else text(f"web_hierarchies.kind.{kind}")


def _levels_text(entry: HierarchyLine) -> str:
    """The levels that the search may use, as far as they are known."""
    if entry.height is None or not entry.origin:
        return ""
    if entry.minimum is None and entry.maximum is None:
        return text("web_hierarchies.levels_all", height=entry.height)
    low, high = entry.minimum or 0, entry.height if entry.maximum is None else entry.maximum
    return text("web_hierarchies.levels_some", minimum=low, maximum=high, height=entry.height)


# --- the chosen variable ------------------------------------------------------------------------------


async def open_variable(editor: HierarchyEditor, variable: str) -> None:
    """Show what the project holds for a variable; a tree left unsaved is taken up again."""
    async with editor.lock:
        editor.variable = variable
        await _open_chosen(editor)


async def _open_chosen(editor: HierarchyEditor, unless_changed: bool = False) -> None:
    before = editor.description()
    draft = any(entry.draft for entry in editor.listed.lines if entry.variable == editor.variable)
    trial = await editor.try_with(try_hierarchy, {"draft": True} if draft else None)
    if trial is not None and (not unless_changed or editor.description() == before):
        editor.take(trial)
        show_list(editor)
        await show_work(editor)


async def show_work(editor: HierarchyEditor, focus: bool = False) -> None:
    """The right side: kind, form, levels, bounds and what can be done."""
    editor.work_box.clear()
    with editor.work_box:
        with html.card(text("web_hierarchies.chosen", variable=visible_text(editor.variable))):
            await _kind_part(editor, focus)
        if editor.kind != "file":
            editor.levels_box = html.tag("div", aria_live="polite")
            with html.card(text("web_hierarchies.levels.bounds")):
                editor.bounds_box = html.tag("div")
                _action_buttons(editor)
            show_levels(editor)


async def _kind_part(editor: HierarchyEditor, focus: bool) -> None:
    trial = editor.trial
    html.paragraph(text("web_hierarchies.rows_of_values", values=trial.values, rows=trial.rows), "c-soft")
    options = {kind: text(f"web_hierarchies.kind.{kind}") for kind in KINDS}
    with html.line():
        kind_field = html.choice(text("web_hierarchies.kind_label"), options, editor.kind, partial(change_kind, editor))
    if focus:
        kind_field.run_method("focus")  # the field it replaces had the keyboard
    html.paragraph(text(f"web_hierarchies.about.{editor.kind}"))
    if trial.veiled:
        html.note(text("web_hierarchies.veiled"), "warning")
    if editor.kind == "default":
        _adapt_button(editor)
    elif editor.kind == "file":
        take = partial(take_file, editor, editor.variable)
        upload_field(editor.page, text("web_hierarchies.form.upload"), take, ".csv,.txt")
    elif editor.kind == "tree":
        await tree_editor(editor, partial(show_work, editor), partial(_try_shown, editor))
    else:
        builder_form(editor, partial(_try_shown, editor), partial(show_work, editor))


def _adapt_button(editor: HierarchyEditor) -> None:
    builder = str(editor.trial.spec.get("builder", ""))
    if not builder:
        return
    html.paragraph(text("web_hierarchies.described_by", kind=text(f"web_hierarchies.kind.{kind_of(builder)}")))

    async def adapt() -> None:
        editor.kind, editor.spec = kind_of(builder), dict(editor.trial.spec)
        await show_work(editor)

    if editor.trial.height:
        html.button(text("web_hierarchies.adapt"), adapt)


async def change_kind(editor: HierarchyEditor, kind: str) -> None:
    """Begin a kind of hierarchy with what suits the values; the tree begins with what is on the page."""
    async with editor.lock:
        await _begin_kind(editor, kind)


async def _begin_kind(editor: HierarchyEditor, kind: str) -> None:
    if kind == "file":
        editor.kind = kind
        await show_work(editor, focus=True)
        return
    if kind == "tree":
        await editor.page.ask(begin_tree, editor.page.folder, editor.variable, editor.spec)
        trial = await editor.try_with(try_hierarchy, {"draft": True})
    elif kind == "default":
        trial = await editor.try_with(try_hierarchy, {})
    else:
        trial = await editor.try_with(begin_hierarchy, kind)
    if trial is not None:
        editor.take(trial, keep_bounds=True)
        await show_work(editor, focus=True)


async def take_file(editor: HierarchyEditor, variable: str, path: Path) -> None:
    """Make a draft of an uploaded file: its gaps are shown, nothing of the project is replaced."""
    async with editor.lock:
        if (
            variable != editor.variable
        ):  # another was opened while the file was uploaded: it becomes the draft of its own variable
            await editor.page.ask(take_hierarchy, editor.page.folder, variable, path)
            lines = [replace(entry, draft=entry.draft or entry.variable == variable) for entry in editor.listed.lines]
            editor.listed = replace(editor.listed, lines=tuple(lines))
            show_list(editor)
            return
        trial = await editor.try_with(take_hierarchy, path)
        if trial is not None:
            editor.take(trial)
            await show_work(editor)


# --- levels, bounds, what can be done -----------------------------------------------------------------


def show_levels(editor: HierarchyEditor) -> None:
    """What the description makes of the values. Fields and buttons that stay the same are not replaced."""
    editor.levels_box.clear()
    with editor.levels_box:
        _problem_note(editor)
        _gaps_note(editor)
        _short_numbers_note(editor)
        if editor.trial.levels:
            with html.card(text("web_hierarchies.levels.title")):
                levels_part(editor, partial(show_levels, editor))
    bounds_fields(editor)
    editor.save_button.props.set_optional("disabled", bool(editor.trial.problem) or not editor.trial.levels or None)
    editor.export_button.props.set_optional("disabled", not editor.trial.levels or None)


def _problem_note(editor: HierarchyEditor) -> None:
    if editor.trial.problem:
        html.note(editor.trial.problem, "bad", text("web_hierarchies.problem"))


def _short_numbers_note(editor: HierarchyEditor) -> None:
    if editor.trial.short_values:
        count = messages.integer(editor.trial.short_values)
        html.note(text("web_hierarchies.short_numbers", count=count, width=editor.trial.short_width), "warning")


def _gaps_note(editor: HierarchyEditor) -> None:
    trial = editor.trial
    if not trial.gap_values:
        return
    sentence = text("web_hierarchies.gaps.some", values=trial.gap_values, rows=trial.gap_rows)
    if not trial.problem:
        sentence += " " + text("web_hierarchies.gaps.sent")
    with html.note(sentence, "warning", text("web_hierarchies.gaps.title")):
        if not trial.gaps:
            html.button(text("web_hierarchies.gaps.show"), partial(_try_shown, editor, show_gaps=True), "small")
        else:
            with html.tag("div", text("web_hierarchies.gaps.listed"), "c-values"):
                for value in trial.gaps:
                    html.tag("code", visible_text(value))
    if trial.gap_values > len(trial.gaps) > 0:
        html.paragraph(text("web_hierarchies.cut", shown=len(trial.gaps), total=trial.gap_values))


async def _try_shown(editor: HierarchyEditor, show_gaps: bool = False) -> None:
    """Try the description on the page and show its levels."""
    trial = await editor.try_with(try_hierarchy, editor.spec, show_gaps=show_gaps)
    if trial is not None:
        editor.trial = trial
        editor.clip_bounds()
        show_levels(editor)


def _action_buttons(editor: HierarchyEditor) -> None:
    with html.line():
        editor.save_button = html.button(text("web_hierarchies.act.save"), partial(save, editor), "primary", every=True)
        html.button(text("web_hierarchies.act.reset"), partial(reset, editor))
        editor.export_button = html.button(text("web_hierarchies.act.export"), partial(export, editor))


async def save(editor: HierarchyEditor) -> None:
    """Write the description and the bounds into the project; what is changed meanwhile stays on the page."""
    async with editor.lock:
        description = editor.description()
        digest = editor.listed.digest
        saved = await editor.page.ask(save_hierarchy, editor.page.folder, *description, expected=digest)
        notify(text("web_hierarchies.saved", variable=saved.variable, height=saved.height), "good")
        await _show_saved(editor, description)


async def reset(editor: HierarchyEditor) -> None:
    """Back to the proposal; a tree being edited goes with it."""
    async with editor.lock:
        await editor.page.ask(reset_hierarchy, editor.page.folder, editor.variable, expected=editor.listed.digest)
        await editor.page.ask(discard_tree, editor.page.folder, editor.variable)
        notify(text("web_hierarchies.reset_done", variable=editor.variable), "good")
        await _show_saved(editor)


async def _show_saved(editor: HierarchyEditor, saved: tuple[Any, ...] | None = None) -> None:
    """Show the new state: only the chosen variable can have changed, so the others are not looked at again."""
    known = {entry.variable: entry for entry in editor.listed.lines}
    listed = await editor.page.ask(project_hierarchies, editor.page.folder, measured=False)
    measured = ((entry, known.get(entry.variable, entry)) for entry in listed.lines)
    lines = tuple(replace(entry, height=other.height, problem=other.problem) for entry, other in measured)
    editor.listed = replace(listed, lines=lines)
    # A form shows what was saved already: made anew, it would lose what is typed in this very moment.
    if saved is None or (saved == editor.description() and editor.kind in ("default", "tree")):
        await _open_chosen(editor, unless_changed=saved is not None)
    editor.listed = replace(editor.listed, lines=tuple(map(partial(_line_with_trial, editor), editor.listed.lines)))
    show_list(editor)


def _line_with_trial(editor: HierarchyEditor, entry: HierarchyLine) -> HierarchyLine:
    if entry.variable != editor.variable or not entry.origin:
        return entry
    return replace(entry, height=editor.trial.height, problem=editor.trial.problem)


async def export(editor: HierarchyEditor) -> None:
    """Hand out what is on the page, in ARX's layout."""
    path = editor.page.scratch_path("hierarchy.csv")
    await editor.page.ask(export_tried, editor.page.folder, editor.variable, path, editor.spec)
    editor.page.offer(path, f"{editor.variable}.csv")
