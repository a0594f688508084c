"""The form of a builder, made from its declared parameters; each change is tried at once.

Knows kinds of parameters and how they are typed in. Ignores what the builders do with them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from celosia import messages
from celosia.messages import text
from celosia.model.parameters import ParameterForm
from celosia.web.pages.hierarchies.editor import HierarchyEditor, visible_text
from celosia.web.ui import html
from celosia.web.ui.context import notify
from celosia.workbench.operations.hierarchies import values_in_order
from celosia.workbench.views.hierarchies import BuilderForm

Retry = Callable[[], Awaitable[None]]
Put = Callable[[Any], Awaitable[None]]
# The parameters asked first; the others are behind «more options». Those left out have fields of their own.
_FIRST = {
    "intervals": ("start", "end", "width", "cuts", "coarser", "factor"),
    "mask": ("side", "steps"),
    "dates": ("format", "levels"),
    "order": ("factor", "label"),
    "official": ("list", "levels", "labels"),
    "frequency": ("minimums", "rest"),
}
_ELSEWHERE = ("unknown", "order", "top", "uncovered")
_BY_CUTS, _BY_WIDTH = ("cuts", "coarser"), ("width", "start", "end", "factor")
_DATE_LEVELS = {"yyyy-mm": ["quarter", "year"], "yyyy": ["span"]}  # of dates that have no day
_MARKS = {".": "point", ",": "comma"}


def builder_form(editor: HierarchyEditor, retry: Retry, rebuild: Retry) -> None:
    """The fields of the builder on the page."""
    builder = next(form for form in editor.forms.builders if form.name == editor.kind)
    offered = [param for param in builder.parameters if param.name not in _ELSEWHERE and _applies(editor, param.name)]
    first = _FIRST.get(builder.name, ())
    main = sorted((param for param in offered if param.name in first), key=lambda param: first.index(param.name))
    rest = [param for param in offered if param.name not in first]
    if builder.name == "intervals":
        _division_choice(editor, retry, rebuild)
    with html.line("c-top"):
        for param in main:
            _parameter_field(editor, builder, param, retry, rebuild)
    if builder.name == "order":
        _order_editor(editor, retry, rebuild)
    _common_checks(editor, builder, retry)
    if rest:
        with html.details(text("web_hierarchies.more")), html.line("c-top"):
            for param in rest:
                _parameter_field(editor, builder, param, retry, rebuild)


def _applies(editor: HierarchyEditor, name: str) -> bool:
    """Whether a parameter belongs to what was chosen: equal widths or own limits, a home among countries."""
    if editor.kind == "intervals":
        return name not in (_BY_WIDTH if "cuts" in editor.spec else _BY_CUTS)
    if editor.kind == "official" and name in ("home", "home_label", "other_label"):
        return editor.spec.get("list") == "countries"
    return True


def _division_choice(editor: HierarchyEditor, retry: Retry, rebuild: Retry) -> None:
    async def change(value: str) -> None:
        others = {key: division for key, division in editor.spec.items() if key not in (*_BY_WIDTH, *_BY_CUTS)}
        end = editor.spec.get("end", 100)
        editor.spec = others | ({"cuts": [0, end]} if value == "by_cuts" else {"width": 10, "start": 0, "end": 100})
        await retry()
        await rebuild()

    options = {key: text(f"web_hierarchies.choice.{key}") for key in ("by_width", "by_cuts")}
    division = "by_cuts" if "cuts" in editor.spec else "by_width"
    with html.line():
        html.choice(text("web_hierarchies.form.division"), options, division, change)


def _common_checks(editor: HierarchyEditor, builder: BuilderForm, retry: Retry) -> None:
    """The top level and what becomes of values without a group; `*` alone ends there anyway."""
    if builder.name == "suppress":
        return

    async def top(value: bool) -> None:
        await _put_parameter(editor, "top", value or None, retry)

    async def suppress(value: bool) -> None:
        await _put_parameter(editor, "uncovered", "suppress" if value else None, retry)

    with html.line():
        html.check(text("web_hierarchies.parameter.top"), bool(editor.spec.get("top")), top)
        html.check(text("web_hierarchies.parameter.uncovered"), editor.spec.get("uncovered") == "suppress", suppress)


async def _put_parameter(editor: HierarchyEditor, name: str, value: Any, retry: Retry) -> None:
    """Set or leave out one parameter and try."""
    editor.spec.pop(name, None)
    if value is not None:
        editor.spec[name] = value
    await retry()


# --- one field ----------------------------------------------------------------------------------------


def _parameter_field(
    editor: HierarchyEditor, builder: BuilderForm, param: ParameterForm, retry: Retry, rebuild: Retry
) -> None:
    value = editor.spec.get(param.name, param.default)
    put = partial(_put_parameter, editor, param.name, retry=retry)
    if param.name == "levels":
        _level_checks(editor, builder.name, retry)
    elif param.name == "coarser":
        _coarser_field(editor, param, retry)
    elif param.kind == "flag":
        html.check(_label(builder, param), bool(value), lambda given: put(bool(given)))
    elif param.choices:
        _choice_field(editor, builder, param, put, rebuild)
    elif param.kind in ("whole", "number"):
        _number_field(builder, param, value, put)
    elif param.kind in ("wholes", "numbers"):
        shown = " ".join(str(item) for item in value or ())
        html.text_field(_label(builder, param), shown, partial(_put_numbers, builder, param, put), _hint(param))
    elif param.kind == "text":
        html.text_field(_label(builder, param), str(value or ""), lambda given: put(str(given) or None), _hint(param))


def _label(builder: BuilderForm, param: ParameterForm) -> str:
    own = f"web_hierarchies.parameter.{builder.name}_{param.name}"
    return text(own if messages.has(own) else f"web_hierarchies.parameter.{param.name}")


def _hint(param: ParameterForm) -> str:
    key = f"web_hierarchies.hint.{param.name}"
    return text(key) if messages.has(key) else ""


def _number_field(builder: BuilderForm, param: ParameterForm, value: Any, put: Put) -> None:
    async def change(given: float | None) -> None:
        await put(int(given) if given is not None and given == int(given) else given)

    step = 1 if param.kind == "whole" else "any"
    html.number_field(_label(builder, param), value, change, minimum=param.minimum, step=step, hint=_hint(param))


async def _put_numbers(builder: BuilderForm, param: ParameterForm, put: Put, typed: str) -> None:
    try:
        await put(read_numbers(typed, whole=param.kind == "wholes") or None)
    except ValueError:
        notify(text("web_hierarchies.form.bad_number", name=_label(builder, param)), "warning")


def read_numbers(typed: str, whole: bool) -> list[int | float]:
    """The numbers somebody typed: a single comma between digits is a decimal mark, otherwise it separates."""
    numbers: list[int | float] = []
    for token in re.split(r"[;\s]+", typed.strip()):
        parts = [token.replace(",", ".")] if not whole and token.strip(",").count(",") == 1 else token.split(",")
        numbers += [_read_number(part) for part in parts if part.strip(".,")]
    return numbers


def _read_number(part: str) -> int | float:
    number = float(part.strip(","))
    return int(number) if number == int(number) else number


def _choice_field(
    editor: HierarchyEditor, builder: BuilderForm, param: ParameterForm, put: Put, rebuild: Retry
) -> None:
    async def change(given: str) -> None:
        if param.name in ("list", "format"):  # their levels are others
            editor.spec.pop("levels", None)
            if param.name == "format":
                editor.spec["levels"] = _DATE_LEVELS.get(given, ["month", "quarter", "year"])
        await put(given)
        if param.name in ("list", "format"):
            await rebuild()

    options = {key: _choice_text(param.name, key) for key in param.choices}
    value = str(editor.spec.get(param.name, param.default) or param.choices[0])
    html.choice(_label(builder, param), options, value, change, _hint(param) if param.name != "label" else "")


def _choice_text(name: str, key: str) -> str:
    if name == "list":
        return text(f"hierarchy.list.{key}")
    own = f"web_hierarchies.choice.{_MARKS.get(key, key)}"
    return text(own) if messages.has(own) else key


# --- levels of dates and lists ------------------------------------------------------------------------


def _level_checks(editor: HierarchyEditor, builder: str, retry: Retry) -> None:
    """A check box for each level there could be, finest first."""
    possible = _possible_levels(editor, builder)
    chosen_levels = editor.spec.get("levels") or (possible if builder == "official" else ())

    async def change(name: str, given: bool) -> None:
        others = editor.spec.get("levels") or chosen_levels
        chosen = [known for known in possible if (given if known == name else known in others)]
        await _put_parameter(editor, "levels", chosen or None, retry)

    with html.tag("fieldset", classes="c-fieldset"):
        html.tag("legend", text("web_hierarchies.parameter.levels"))
        for name in possible:
            html.check(_level_text(builder, name), name in chosen_levels, partial(change, name))


def _possible_levels(editor: HierarchyEditor, builder: str) -> Sequence[str]:
    if builder == "dates":
        dates = next(known for known in editor.forms.builders if known.name == "dates")
        return next(param.choices for param in dates.parameters if param.name == "levels")
    official = editor.spec.get("list")
    listed = next((known.levels for known in editor.forms.lists if known.id == official), ())
    return (*listed, "home") if editor.spec.get("home") else listed


def _level_text(builder: str, name: str) -> str:
    return text(f"web_hierarchies.choice.{name}") if builder == "dates" else text(f"hierarchy.level.{name}")


def _coarser_field(editor: HierarchyEditor, param: ParameterForm, retry: Retry) -> None:
    """The limits of further levels, a line each."""
    shown = "\n".join(" ".join(str(cut) for cut in cuts) for cuts in editor.spec.get("coarser") or ())

    async def change(typed: str) -> None:
        try:
            cuts = [read_numbers(row, whole=False) for row in typed.splitlines() if row.strip()]
        except ValueError:
            notify(text("web_hierarchies.form.bad_number", name=text("web_hierarchies.parameter.coarser")), "warning")
            return
        await _put_parameter(editor, "coarser", cuts or None, retry)

    html.text_area(text("web_hierarchies.parameter.coarser"), shown, change, _hint(param))


# --- the order of categories --------------------------------------------------------------------------


def _order_editor(editor: HierarchyEditor, retry: Retry, rebuild: Retry) -> None:
    """The categories in their order, each with buttons to move it; by value unless somebody wants it otherwise."""

    async def by_hand() -> None:
        async with editor.lock:
            editor.spec["order"] = list(await editor.page.ask(values_in_order, editor.page.folder, editor.variable))
            await retry()
            await rebuild()

    async def by_value() -> None:
        editor.spec.pop("order", None)
        await retry()
        await rebuild()

    if editor.spec.get("order") is None:
        if not editor.trial.veiled:
            html.button(text("web_hierarchies.form.order_by_hand"), by_hand)
        return
    html.tag("h3", text("web_hierarchies.form.order"))
    box = html.tag("ol", classes="c-order")

    def show(focus: int | None = None) -> None:
        box.clear()
        with box:
            for place, value in enumerate(editor.spec["order"]):
                with html.tag("li"):
                    _movable_value(editor, place, value, retry, show, focus)

    show()
    html.button(text("web_hierarchies.form.order_by_value"), by_value, "small")


def _movable_value(
    editor: HierarchyEditor, place: int, value: str, retry: Retry, show: Callable[[int | None], None], focus: int | None
) -> None:
    """A category and its two buttons; the one just moved keeps the keyboard."""

    async def move(by: int) -> None:
        order = list(editor.spec["order"])
        order[place], order[place + by] = order[place + by], order[place]
        editor.spec["order"] = order
        await retry()
        show(place + by)

    last = len(editor.spec["order"]) - 1
    html.tag("span", visible_text(value))
    for key, by, disabled in (("up", -1, place == 0), ("down", 1, place == last)):
        label = text(f"web_hierarchies.form.{key}_of", value=visible_text(value))
        move_button = html.button(
            text(f"web_hierarchies.form.{key}"), partial(move, by), "small", label, disabled=disabled
        )
        if place == focus and not disabled:
            move_button.run_method("focus")
