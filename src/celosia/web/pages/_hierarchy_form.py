"""The form of a builder, made from its declared parameters; each change is tried at once.

Knows kinds of parameters and how they are typed in. Ignores what the builders do with them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from celosia import messages
from celosia.model.hierarchies import BuilderForm, ParameterForm
from celosia.web._frame import tell
from celosia.web._widgets import (
    button,
    check,
    choice,
    details,
    line,
    number_field,
    tag,
    text_area,
    text_field,
    word,
)
from celosia.web.pages._hierarchy_bench import Bench, seen

Again = Callable[[], Awaitable[None]]
# The parameters asked first; the others wait behind «more options». Those left out have their own places.
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


def form(bench: Bench, again: Again, rebuild: Again) -> None:
    """The fields of the builder on the page."""
    builder = next(one for one in bench.forms.builders if one.name == bench.kind)
    offered = [one for one in builder.parameters if one.name not in _ELSEWHERE and _applies(bench, one.name)]
    first = _FIRST.get(builder.name, ())
    main = sorted((one for one in offered if one.name in first), key=lambda one: first.index(one.name))
    rest = [one for one in offered if one.name not in first]
    if builder.name == "intervals":
        _division(bench, again, rebuild)
    with line("c-top"):
        for one in main:
            _field(bench, builder, one, again, rebuild)
    if builder.name == "order":
        _order(bench, again, rebuild)
    _common(bench, builder, again)
    if rest:
        with details(word("web_hierarchies.more")), line("c-top"):
            for one in rest:
                _field(bench, builder, one, again, rebuild)


def _applies(bench: Bench, name: str) -> bool:
    """Whether a parameter belongs to what was chosen: equal widths or own limits, a home among countries."""
    if bench.kind == "intervals":
        return name not in (_BY_WIDTH if "cuts" in bench.spec else _BY_CUTS)
    if bench.kind == "official" and name in ("home", "home_label", "other_label"):
        return bench.spec.get("list") == "countries"
    return True


def _division(bench: Bench, again: Again, rebuild: Again) -> None:
    async def change(value: str) -> None:
        kept = {key: held for key, held in bench.spec.items() if key not in (*_BY_WIDTH, *_BY_CUTS)}
        end = bench.spec.get("end", 100)
        bench.spec = kept | ({"cuts": [0, end]} if value == "by_cuts" else {"width": 10, "start": 0, "end": 100})
        await again()
        await rebuild()

    options = {key: word(f"web_hierarchies.choice.{key}") for key in ("by_width", "by_cuts")}
    held = "by_cuts" if "cuts" in bench.spec else "by_width"
    with line():
        choice(word("web_hierarchies.form.division"), options, held, change)


def _common(bench: Bench, builder: BuilderForm, again: Again) -> None:
    """The top level and what becomes of values without a group; `*` alone ends there anyway."""
    if builder.name == "suppress":
        return

    async def top(value: bool) -> None:
        await _put(bench, "top", value or None, again)

    async def suppress(value: bool) -> None:
        await _put(bench, "uncovered", "suppress" if value else None, again)

    with line():
        check(word("web_hierarchies.parameter.top"), bool(bench.spec.get("top")), top)
        check(word("web_hierarchies.parameter.uncovered"), bench.spec.get("uncovered") == "suppress", suppress)


async def _put(bench: Bench, name: str, value: Any, again: Again) -> None:
    """Set or leave out one parameter and try."""
    bench.spec.pop(name, None)
    if value is not None:
        bench.spec[name] = value
    await again()


# --- one field ----------------------------------------------------------------------------------------


def _field(bench: Bench, builder: BuilderForm, one: ParameterForm, again: Again, rebuild: Again) -> None:
    value = bench.spec.get(one.name, one.default)
    put = partial(_put, bench, one.name, again=again)
    if one.name == "levels":
        _levels(bench, builder.name, again)
    elif one.name == "coarser":
        _coarser(bench, one, again)
    elif one.kind == "flag":
        check(_words(builder, one), bool(value), lambda given: put(bool(given)))
    elif one.choices:
        _choice(bench, builder, one, put, rebuild)
    elif one.kind in ("whole", "number"):
        _number(builder, one, value, put)
    elif one.kind in ("wholes", "numbers"):
        shown = " ".join(str(item) for item in value or ())
        text_field(_words(builder, one), shown, partial(_numbers, builder, one, put), _hint(one))
    elif one.kind == "text":
        text_field(_words(builder, one), str(value or ""), lambda given: put(str(given) or None), _hint(one))


def _words(builder: BuilderForm, one: ParameterForm) -> str:
    own = f"web_hierarchies.parameter.{builder.name}_{one.name}"
    return word(own if messages.has(own) else f"web_hierarchies.parameter.{one.name}")


def _hint(one: ParameterForm) -> str:
    key = f"web_hierarchies.hint.{one.name}"
    return word(key) if messages.has(key) else ""


def _number(builder: BuilderForm, one: ParameterForm, value: Any, put: Callable[[Any], Awaitable[None]]) -> None:
    async def change(given: float | None) -> None:
        await put(int(given) if given is not None and given == int(given) else given)

    step = 1 if one.kind == "whole" else "any"
    number_field(_words(builder, one), value, change, minimum=one.minimum, step=step, hint=_hint(one))


async def _numbers(builder: BuilderForm, one: ParameterForm, put: Callable[[Any], Awaitable[None]], text: str) -> None:
    try:
        await put(numbers_in(text, whole=one.kind == "wholes") or None)
    except ValueError:
        tell(word("web_hierarchies.form.bad_number", name=_words(builder, one)), "warning")


def numbers_in(text: str, whole: bool) -> list[int | float]:
    """The numbers somebody typed: a comma is a decimal mark where only one stands between digits, else it separates."""
    found: list[int | float] = []
    for token in re.split(r"[;\s]+", text.strip()):
        parts = [token.replace(",", ".")] if not whole and token.strip(",").count(",") == 1 else token.split(",")
        found += [_number_in(part) for part in parts if part.strip(".,")]
    return found


def _number_in(part: str) -> int | float:
    number = float(part.strip(","))
    return int(number) if number == int(number) else number


def _choice(
    bench: Bench, builder: BuilderForm, one: ParameterForm, put: Callable[[Any], Awaitable[None]], rebuild: Again
) -> None:
    async def change(given: str) -> None:
        if one.name in ("list", "format"):  # their levels are others
            bench.spec.pop("levels", None)
            if one.name == "format":
                bench.spec["levels"] = _DATE_LEVELS.get(given, ["month", "quarter", "year"])
        await put(given)
        if one.name in ("list", "format"):
            await rebuild()

    options = {key: _choice_words(one.name, key) for key in one.choices}
    value = str(bench.spec.get(one.name, one.default) or one.choices[0])
    choice(_words(builder, one), options, value, change, _hint(one) if one.name != "label" else "")


def _choice_words(name: str, key: str) -> str:
    if name == "list":
        return word(f"hierarchy.list.{key}")
    own = f"web_hierarchies.choice.{_MARKS.get(key, key)}"
    return word(own) if messages.has(own) else key


# --- levels of dates and lists ------------------------------------------------------------------------


def _levels(bench: Bench, builder: str, again: Again) -> None:
    """A check box for each level there could be, finest first."""
    possible = _possible_levels(bench, builder)
    held = bench.spec.get("levels") or (possible if builder == "official" else ())

    async def change(name: str, given: bool) -> None:
        others = bench.spec.get("levels") or held
        chosen = [one for one in possible if (given if one == name else one in others)]
        await _put(bench, "levels", chosen or None, again)

    with tag("fieldset", classes="c-fieldset"):
        tag("legend", word("web_hierarchies.parameter.levels"))
        for name in possible:
            check(_level_words(builder, name), name in held, partial(change, name))


def _possible_levels(bench: Bench, builder: str) -> Sequence[str]:
    if builder == "dates":
        dates = next(one for one in bench.forms.builders if one.name == "dates")
        return next(one.choices for one in dates.parameters if one.name == "levels")
    listed = next((one.levels for one in bench.forms.lists if one.id == bench.spec.get("list")), ())
    return (*listed, "home") if bench.spec.get("home") else listed


def _level_words(builder: str, name: str) -> str:
    return word(f"web_hierarchies.choice.{name}") if builder == "dates" else word(f"hierarchy.level.{name}")


def _coarser(bench: Bench, one: ParameterForm, again: Again) -> None:
    """The limits of further levels, a line each."""
    shown = "\n".join(" ".join(str(cut) for cut in cuts) for cuts in bench.spec.get("coarser") or ())

    async def change(text: str) -> None:
        try:
            cuts = [numbers_in(row, whole=False) for row in text.splitlines() if row.strip()]
        except ValueError:
            tell(word("web_hierarchies.form.bad_number", name=word("web_hierarchies.parameter.coarser")), "warning")
            return
        await _put(bench, "coarser", cuts or None, again)

    text_area(word("web_hierarchies.parameter.coarser"), shown, change, _hint(one))


# --- the order of categories --------------------------------------------------------------------------


def _order(bench: Bench, again: Again, rebuild: Again) -> None:
    """The categories in their order, each with buttons to move it; by value unless somebody wants it otherwise."""

    async def by_hand() -> None:
        async with bench.acts:
            bench.spec["order"] = list(await bench.desk.ask("values_in_order", bench.desk.folder, bench.variable))
            await again()
            await rebuild()

    async def by_value() -> None:
        bench.spec.pop("order", None)
        await again()
        await rebuild()

    if bench.spec.get("order") is None:
        if not bench.trial.veiled:
            button(word("web_hierarchies.form.order_by_hand"), by_hand)
        return
    tag("h3", word("web_hierarchies.form.order"))
    box = tag("ol", classes="c-order")

    def show(focus: int | None = None) -> None:
        box.clear()
        with box:
            for place, value in enumerate(bench.spec["order"]):
                with tag("li"):
                    _movable(bench, place, value, again, show, focus)

    show()
    button(word("web_hierarchies.form.order_by_value"), by_value, "small")


def _movable(
    bench: Bench, place: int, value: str, again: Again, show: Callable[[int | None], None], focus: int | None
) -> None:
    """A category and its two buttons; the one just moved keeps the keyboard."""

    async def move(by: int) -> None:
        order = list(bench.spec["order"])
        order[place], order[place + by] = order[place + by], order[place]
        bench.spec["order"] = order
        await again()
        show(place + by)

    last = len(bench.spec["order"]) - 1
    tag("span", seen(value))
    for key, by, stuck in (("up", -1, place == 0), ("down", 1, place == last)):
        label = word(f"web_hierarchies.form.{key}_of", value=seen(value))
        made = button(word(f"web_hierarchies.form.{key}"), partial(move, by), "small", label, disabled=stuck)
        if place == focus and not stuck:
            made.run_method("focus")
