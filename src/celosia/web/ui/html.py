"""The few elements all pages are made of: light, native, labelled.

Everything shown is text: a header called `<script>` is seen as `<script>`. Nothing here is ever markup from data.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from nicegui import context, ui

from celosia import messages

_numbers = itertools.count(1)
# A fixed box does not know where its cell was scrolled to: it is put beside it, inside the window.
_PLACE = """(e) => {
  const cell = e.currentTarget, tip = cell.querySelector('.c-tip');
  requestAnimationFrame(() => {
    const at = cell.getBoundingClientRect(), below = at.bottom + 4;
    const fits = below + tip.offsetHeight + 8 < window.innerHeight;
    tip.style.left = Math.max(8, Math.min(at.left, window.innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = (fits ? below : at.top - tip.offsetHeight - 4) + 'px';
  });
}"""
_NUMBERS_AS_WRITTEN = {code: f"(value) => value.toLocaleString('{code}')" for code in messages.LANGUAGES}
Handler = Callable[[Any], Awaitable[None] | None]
Click = Callable[[], Awaitable[None] | None]
Cell = str | Callable[[], object]  # words, or a function that builds what the cell holds


text = messages.text  # a sentence of the catalogue


def tag(name: str, /, text: str = "", classes: str = "", **attributes: Any) -> ui.element:
    """A plain HTML element with words in it; `aria_label` becomes `aria-label`, None is left out."""
    made = ui.element(name)
    if text:
        made._text = text  # shown as text, never as markup
    if classes:
        made.classes(classes)
    for key, value in attributes.items():
        if value is not None:
            made.props[key.rstrip("_").replace("_", "-")] = value
    return made


def set_text(element: ui.element, text: str) -> None:
    """Change the text of an element."""
    if element._text != text:
        element._text = text
        element.update()


def keep_client(answer: Awaitable[None] | None) -> Awaitable[None] | None:
    """The coroutine of a handler, run in the client of the page: by its end its own element may be gone."""
    if answer is None:
        return None
    client = context.client

    async def run_in_client() -> None:
        with client:
            await answer

    return run_in_client()


def ignore_while_running(handler: Callable[..., Awaitable[None] | None]) -> Callable[..., Awaitable[None] | None]:
    """A handler that is not started again while it runs: the second click of two adds nothing twice."""
    running = False

    async def wait_for(answer: Awaitable[None]) -> None:
        nonlocal running
        try:
            await answer
        finally:
            running = False

    def start(*given: Any) -> Awaitable[None] | None:
        nonlocal running
        answer = None if running else handler(*given)
        if answer is None:
            return None
        running = True
        return wait_for(answer)

    return start


def heading(text: str, level: int = 2, **attributes: Any) -> ui.element:
    """A heading."""
    return tag(f"h{level}", text, **attributes)


def paragraph(text: str, classes: str = "") -> ui.element:
    """A paragraph."""
    return tag("p", text, classes)


def note(sentence: str, kind: str = "info", title: str = "") -> ui.element:
    """A box with a message: info, good, warning or bad; the kind is also shown in words."""
    sign = {"info": "ℹ", "good": "✓", "warning": "⚠", "bad": "✗"}[kind]
    box = tag("div", classes=f"c-note c-{kind}", role="alert" if kind == "bad" else "status")
    with box:
        tag("span", sign, "c-sign", aria_hidden="true")
        with tag("div"):
            tag("strong", f"{text(f'web.note.{kind}')}{': ' + title if title else ''}")
            tag("span", f" {sentence}")
    return box


def button(
    text: str,
    on_click: Click,
    kind: str = "plain",
    label: str | None = None,
    disabled: bool = False,
    every: bool = False,
) -> ui.element:
    """A button: plain, primary, danger, quiet or small; `label` is its spoken name, where its text is not enough.

    A click while the last one is being answered does nothing, unless `every` one counts.
    """
    made = tag("button", text, f"c-button c-{kind}", type="button", aria_label=label, disabled=disabled or None)
    handler = on_click if every else ignore_while_running(on_click)
    made.on("click", lambda _: keep_client(handler()))
    return made


def figures(*pairs: tuple[str, str]) -> ui.element:
    """A few figures, each with its name."""
    with tag("dl", classes="c-figures") as made:
        for name, value in pairs:
            with tag("div"):
                tag("dt", name)
                tag("dd", value)
    return made


def state(text: str, kind: str) -> ui.element:
    """A word with a colour: good, warning, bad or info."""
    return tag("span", text, f"c-state c-{kind}")


def link(text: str, target: str, classes: str = "") -> ui.element:
    """A link inside the page; the target is ours, never data."""
    return tag("a", text, classes, href=target)


@contextlib.contextmanager
def label_field(text: str, hint: str = "", hidden: bool = False) -> Iterator[str]:
    """A label and its field; gives the id that the field must take."""
    name = f"f{next(_numbers)}"
    with tag("div", classes="c-field"):
        tag("label", text, "c-hidden" if hidden else "", for_=name)
        yield name
        if hint:
            tag("small", hint, id=f"{name}-hint")


def choice(
    text: str,
    options: Mapping[str, str],
    value: str,
    on_change: Handler,
    hint: str = "",
    hidden_label: bool = False,
    classes: str = "",
) -> ui.element:
    """A native select; options map a value to its words. The handler gets the value."""
    with label_field(text, hint, hidden_label) as name:
        return bare_choice(text, options, value, on_change, classes, id=name)


def bare_choice(
    text: str, options: Mapping[str, str], value: str, on_change: Handler, classes: str = "", **attributes: Any
) -> ui.element:
    """A select without a label of its own beside it, for cells of a table; the text is its spoken name."""
    attributes = attributes if "id" in attributes else {**attributes, "aria_label": text}
    made = tag("select", classes=f"c-select {classes}", **attributes)
    with made:
        for key, words in options.items():
            tag("option", words, value=key, selected=True if key == value else None)
    _call_on_change(made, on_change)
    return made


def _call_on_change(made: ui.element, on_change: Handler, key: str = "value") -> None:
    made.on("change", lambda event: keep_client(on_change(event.args)), js_handler=f"(e) => emit(e.target.{key})")


def text_field(
    text: str,
    value: str,
    on_change: Handler,
    hint: str = "",
    kind: str = "text",
    hidden_label: bool = False,
    **attributes: Any,
) -> ui.element:
    """A one-line input; the handler gets its text when it was changed and left."""
    with label_field(text, hint, hidden_label) as name:
        return _input(name, value, kind, on_change, **attributes)


def number_field(
    text: str,
    value: float | int | None,
    on_change: Handler,
    minimum: float | None = None,
    maximum: float | None = None,
    step: float | str = 1,
    hint: str = "",
    hidden_label: bool = False,
) -> ui.element:
    """A number; the handler gets a float, or None when it was emptied."""

    def put_number(given: Any) -> Awaitable[None] | None:
        try:
            return on_change(None if given in (None, "") else float(given))
        except (TypeError, ValueError):
            return on_change(None)

    shown = "" if value is None else str(value)
    with label_field(text, hint, hidden_label) as name:
        return _input(name, shown, "number", put_number, min=minimum, max=maximum, step=step)


def slider(
    text: str,
    value: float,
    on_change: Handler,
    minimum: float = 0,
    maximum: float = 100,
    step: float = 1,
    hint: str = "",
) -> ui.element:
    """A native range; the handler gets a float when it was let go."""
    with label_field(text, hint) as name:
        return _input(
            name, str(value), "range", lambda given: on_change(float(given)), min=minimum, max=maximum, step=step
        )


def _input(name: str, value: str, kind: str, on_change: Handler, **attributes: Any) -> ui.element:
    # As an attribute: a property would be set again, over what was typed, whenever any part of the page changes.
    made = tag("input", classes="c-input", id=name, type=kind, **{"^value": value}, **attributes)
    _call_on_change(made, on_change)
    return made


def text_area(text: str, value: str, on_change: Handler, hint: str = "", rows: int = 3) -> ui.element:
    """Several lines of text."""
    with label_field(text, hint) as name:
        made = tag("textarea", value, "c-input", id=name, rows=rows)  # its text: what is typed over it stays
        _call_on_change(made, on_change)
        return made


def check(text: str, value: bool, on_change: Handler, hidden_label: bool = False) -> ui.element:
    """A check box; the handler gets True or False."""
    with tag("label", classes="c-check"):
        made = tag("input", type="checkbox", checked=True if value else None, aria_label=text if hidden_label else None)
        _call_on_change(made, lambda given: on_change(bool(given)), "checked")
        if not hidden_label:
            tag("span", text)
    return made


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    caption: str,
    numbers: Sequence[int] = (),
    classes: str = "",
    show_caption: bool = False,
    row_heads: bool = True,
) -> ui.element:
    """A table in a box that scrolls by itself; the first cell of a row is its head, `numbers` are aligned right."""
    box = tag("div", classes="c-scroll", tabindex="0", role="region", aria_label=caption)
    with box, tag("table", classes=f"c-table {classes}"):
        tag("caption", caption, "" if show_caption else "c-hidden")
        with tag("thead"), tag("tr"):
            for i, name in enumerate(columns):
                tag("th", name, "c-number" if i in numbers else "", scope="col")
        with tag("tbody"):
            for row in rows:
                _row(row, numbers, row_heads)
    return box


def _row(row: Sequence[Cell], numbers: Sequence[int], row_heads: bool) -> None:
    with tag("tr"):
        for i, cell in enumerate(row):
            kind, scope = ("th", "row") if i == 0 and row_heads else ("td", None)
            made = tag(kind, cell if isinstance(cell, str) else "", "c-number" if i in numbers else "", scope=scope)
            if not isinstance(cell, str):
                with made:
                    cell()


@contextlib.contextmanager
def tooltip(text: str) -> Iterator[str]:
    """A text shown on hover and on focus of what the block holds; gives the id for its `aria-describedby`."""
    place = f"tip{next(_numbers)}"
    with tag("span", classes="c-explained").on("mouseenter", js_handler=_PLACE).on("focusin", js_handler=_PLACE):
        yield place
        tag("span", text, "c-tip", id=place, role="tooltip")


@contextlib.contextmanager
def card(title: str = "", level: int = 2, classes: str = "") -> Iterator[ui.element]:
    """A section with a heading."""
    name = f"h{next(_numbers)}" if title else None
    with tag("section", classes=f"c-card {classes}", aria_labelledby=name) as made:
        if title:
            heading(title, level, id=name)
        yield made


@contextlib.contextmanager
def details(summary: str, opened: bool = False) -> Iterator[ui.element]:
    """What is shown only to whoever asks for it."""
    with tag("details", open=True if opened else None) as made:
        tag("summary", summary)
        yield made


@contextlib.contextmanager
def line(classes: str = "") -> Iterator[ui.element]:
    """Elements side by side that wrap on a narrow screen."""
    with tag("div", classes=f"c-line {classes}") as made:
        yield made


def _localised_axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    """An axis whose numbers are written as the reader writes them: 1200 and 0,6, not 1,200 and 0.6."""
    label = axis.get("axisLabel", {})
    if axis.get("type") != "value" or "formatter" in label:
        return dict(axis)
    return {**axis, "axisLabel": {**label, ":formatter": _NUMBERS_AS_WRITTEN[messages.language()]}}


def chart(options: Mapping[str, Any], label: str, on_click: Handler | None = None, height: int = 320) -> ui.element:
    """A chart; its label is read to whoever cannot see it, and a table beside it holds the same figures."""
    drawn = {**options, **{key: _localised_axis(options[key]) for key in ("xAxis", "yAxis") if key in options}}
    if "tooltip" in drawn:
        drawn["tooltip"] = {**drawn["tooltip"], "renderMode": "richText"}  # names of categories are never markup
    made = ui.echart(drawn, on_point_click=on_click, renderer="svg")  # its text takes the colours of the style sheet
    made.classes("c-chart").style(f"height: {height}px")
    made.props["role"] = "img"
    made.props["aria-label"] = label
    return made


def upload(sentence: str, csrf: str, on_file: Handler, accept: str = "", hint: str = "") -> None:
    """Choose a file and send it; the handler gets {ticket, name, bytes} of a file that arrived."""
    event = f"celosia_upload_{next(_numbers)}"
    with label_field(sentence, hint) as name:
        progress = f"{name}-progress"
        tag(
            "input",
            classes="c-input",
            id=name,
            type="file",
            accept=accept or None,
            data_celosia_upload="1",
            data_event=event,
            data_csrf=csrf,
            data_progress=progress,
        )
        tag("progress", id=progress, max=1, value=0, hidden=True, aria_label=text("web.upload.progress"))

    def receive(event: Any) -> Awaitable[None] | None:
        fields = event.args if isinstance(event.args, Mapping) else {}
        if fields.get("ticket"):
            return on_file(fields)
        sentence_shown = str(fields.get("sentence") or text("web.upload.failed"))
        ui.notify(sentence_shown, type="negative", timeout=0, close_button=True)
        return None

    ui.on(event, receive)
