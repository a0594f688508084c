"""The treatments before the search: those declared, in their order, and a form for one more.

The form is made from the declared parameters of the technique. It writes `[[steps]]` of celosia.toml, nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.paths import SETTINGS
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify
from celosia.web.ui.html import Cell
from celosia.web.ui.pair_syntax import LineUnclear, read_lines, write_lines
from celosia.workbench.operations.search import edit_steps, proposed_steps_view, steps_view
from celosia.workbench.views.treatments import ProposedStep, Step, StepParameter, StepsView

_COLUMNS = ("columns", "strata", "compare", "sensitive", "geography", "match", "risk", "order")  # hold several columns
_COLUMN = ("at_column", "household", "latitude", "longitude", "place", "dates")  # hold one
# Parameters that are asked for at once although they have a default.
_FIRST = tuple("k reason confirmed l level share stay width end km keep at top_quantile mode".split())


@dataclass(frozen=True, slots=True)
class _TypedLines:
    """Lines as they were typed: they are read when the step is added, so that half of them is no error yet."""

    kind: str
    lines: str


@dataclass(slots=True)
class Treatments:
    """The card of the treatments: what the file declares, and the step that is being written."""

    page: PageContext
    box: ui.element
    view: StepsView
    on_change: Callable[[], Awaitable[None]]
    technique: str = "microaggregate"
    chosen: dict[str, Any] = field(default_factory=dict)
    proposed: tuple[ProposedStep, ...] | None = None
    adding: bool = False
    proposals: ui.element = field(init=False)  # a box of their own: they may come while a step is being written

    def build(self) -> None:
        """Build the card again."""
        self.box.clear()
        with self.box, html.card(text("web_search.steps.title")):
            html.paragraph(text("web_search.steps.why"))
            self._show_declared()
            with html.details(text("web_search.steps.add_title"), opened=self.adding) as box:
                note_open = lambda event: setattr(self, "adding", bool(event.args))  # noqa: E731
                box.on("toggle", note_open, js_handler="(e) => emit(e.target.open)")
                self._show_form()
            self.proposals = html.tag("div")
            self._show_proposals()

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The declared steps as the file holds them."""
        return [dict(declared.step) for declared in self.view.steps]

    async def write(self, steps: Sequence[Step], filled_in: bool = False) -> None:
        """Write the steps; what a technique does not accept is refused and nothing changes.

        A step that was filled in leaves its form; with any other, what is half filled in stays.
        """
        self.view = await self.page.ask(edit_steps, self.page.folder, list(steps), expected=self.view.digest)
        if filled_in:
            self.chosen, self.adding = {}, False
        self.build()
        notify(text("web_search.steps.saved"), "good")
        await self.on_change()

    async def read(self) -> None:
        """Read the file again: the form above may have written it since the card was built."""
        self.view = await self.page.ask(steps_view, self.page.folder)

    async def add(self, step: Step, filled_in: bool = False) -> None:
        """Add a step behind the others."""
        await self.read()
        await self.write([*self.steps, dict(step)], filled_in)

    async def move(self, place: int, by: int) -> None:
        """Change the place of a step with its neighbour."""
        steps = self.steps
        steps[place], steps[place + by] = steps[place + by], steps[place]
        await self._replace(steps)

    async def remove(self, place: int) -> None:
        """Take a step out."""
        await self._replace([step for number, step in enumerate(self.steps) if number != place])

    async def _replace(self, steps: Sequence[Step]) -> None:
        """Write these steps in place of those that were shown, unless others are there by now."""
        shown = self.steps
        await self.read()
        if self.steps == shown:
            await self.write(steps)
            return
        self.build()
        notify(text("web_search.steps.moved"), "warning")

    # --- declared steps ---

    def _show_declared(self) -> None:
        steps = self.view.steps
        if not steps:
            html.paragraph(text("web_search.steps.none"), "c-soft")
            return
        for declared in steps:
            if declared.fault:
                html.note(declared.fault, "bad", declared.title)
        rows: list[list[Cell]] = [
            [str(place + 1), declared.title, _settings_text(declared.settings), partial(self._show_moves, place)]
            for place, declared in enumerate(steps)
        ]
        heads = [text(f"web_search.steps.{key}") for key in ("place", "technique", "settings")]
        html.table([*heads, ""], rows, text("web_search.steps.title"))

    def _show_moves(self, place: int) -> None:
        title, last = self.view.steps[place].title, len(self.view.steps) - 1
        with html.line("c-tight"):
            for key, by, disabled in (("up", -1, place == 0), ("down", 1, place == last)):
                label, move = text(f"web_search.steps.{key}_label", technique=title), partial(self.move, place, by)
                html.button(text(f"web_search.settings.{key}"), move, "small", label, disabled=disabled)
            label = text("web_search.policy.remove_label", criterion=title)
            html.button(text("web_search.policy.remove"), partial(self.remove, place), "small", label)

    # --- one more step ---

    def _show_form(self) -> None:
        forms = {form.technique: form for form in self.view.forms}
        form = forms[self.technique]

        def choose(name: Any) -> None:
            # Whoever chooses has it open, though the browser may report its opening only after the choice.
            self.technique, self.chosen, self.adding = str(name), {}, True
            self.build()

        titles = {name: form.title for name, form in forms.items()}
        html.choice(text("web_search.steps.technique"), titles, self.technique, choose)
        html.paragraph(form.summary, "c-soft")
        first = [param for param in form.parameters if param.required or param.name in _FIRST]
        self._show_fields(first)
        others = [param for param in form.parameters if param not in first]
        if others:
            with html.details(text("web_search.policy.more")):
                self._show_fields(others)
        with html.line():
            html.button(text("web_search.steps.add"), self._add_filled_in, "primary")
        html.paragraph(text("web_search.steps.by_file"), "c-soft")

    async def _add_filled_in(self) -> None:
        filled = {key: value for key, value in self.chosen.items() if value not in ("", [], {})}
        typed = {key: value for key, value in filled.items() if isinstance(value, _TypedLines)}
        try:
            tables = {key: read_lines(value.kind, value.lines) for key, value in typed.items()}
        except LineUnclear as fault:
            notify(text("web_search.steps.line_unclear", line=fault.line), "bad")
            return
        await self.add({"technique": self.technique, **filled, **tables}, filled_in=True)

    def _show_fields(self, parameters: Sequence[StepParameter]) -> None:
        with html.tag("div", classes="c-narrow"):
            for param in parameters:
                self._show_field(param)

    def _show_field(self, param: StepParameter) -> None:
        """The field of one declared parameter; its label says what it means, the hint how the file calls it."""
        label, hint = param.meaning, f"{SETTINGS}: {param.name}"

        def put(value: Any) -> None:
            if value is None or value == param.default:
                self.chosen.pop(param.name, None)
            else:
                self.chosen[param.name] = value

        value = self.chosen.get(param.name, param.default)
        if param.name in _COLUMNS or (param.kind == "texts" and param.choices):
            _check_boxes(label, param.choices or self.view.columns, list(value or ()), put)
        elif param.name in _COLUMN:
            columns = {"": text("web_search.steps.nothing"), **{column: column for column in self.view.columns}}
            html.choice(label, columns, str(value or ""), put, hint)
        elif param.choices:
            empty = {} if param.default is not None else {"": text("web_search.steps.nothing")}
            html.choice(label, {**empty, **{option: option for option in param.choices}}, str(value or ""), put, hint)
        elif param.kind == "flag":
            html.check(label, bool(value), put)
        elif param.kind in ("pairs", "conditions"):
            shown = value.lines if isinstance(value, _TypedLines) else write_lines(value or {})
            put_lines = lambda lines: put(_TypedLines(param.kind, str(lines)) if str(lines).strip() else None)  # noqa: E731
            html.text_area(label, shown, put_lines, text(f"web_search.steps.{param.kind}"), 5)
        elif param.kind == "whole":
            html.number_field(
                label, value, lambda given: put(None if given is None else int(given)), param.minimum, hint=hint
            )
        else:
            html.text_field(label, _typed_text(value), lambda typed: put(_read_typed(param.kind, str(typed))), hint)

    # --- proposals ---

    def _show_proposals(self) -> None:
        self.proposals.clear()
        with self.proposals:
            if self.proposed is None:
                html.button(text("web_search.steps.propose"), self._propose)
                return
            if not self.proposed:
                html.paragraph(text("web_search.steps.no_proposal"), "c-soft")
                return
            rows: list[list[Cell]] = [
                [proposal.variable, proposal.title, proposal.sentence, partial(self._show_take, proposal)]
                for proposal in self.proposed
            ]
            heads = [text(f"web_search.steps.{key}") for key in ("variable", "technique", "reason")]
            html.table([*heads, ""], rows, text("web_search.steps.proposals"), show_caption=True)

    async def _propose(self) -> None:
        self.proposed = await self.page.ask(proposed_steps_view, self.page.folder)
        self._show_proposals()

    def _show_take(self, proposal: ProposedStep) -> None:
        """Take a proposal as it is; one that a person has to complete goes to the form."""

        def complete() -> None:
            step = dict(proposal.step)
            self.technique, self.chosen, self.adding = str(step.pop("technique")), step, True
            self.build()

        label = text("web_search.steps.take_label", technique=proposal.title, variable=proposal.variable)
        if proposal.needs:
            html.button(text("web_search.steps.complete"), complete, "small", label)
        else:
            html.button(text("web_search.steps.take"), lambda: self.add(proposal.step), "small", label)


def _settings_text(settings: Mapping[str, Any]) -> str:
    return "; ".join(f"{key}: {_value_text(value)}" for key, value in settings.items())


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return text(f"dictionary.answer.{'yes' if value else 'no'}")
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value))
    if isinstance(value, Mapping):
        return text("web_search.steps.entries", count=len(value))
    return messages.integer(value) if isinstance(value, int) else str(value)


def _check_boxes(label: str, options: Sequence[str], ticked: list[str], put: Callable[[Any], None]) -> None:
    def tick(option: str, on: bool) -> None:
        chosen = {*ticked, option} if on else {*ticked} - {option}
        ticked[:] = [known for known in options if known in chosen]
        put(list(ticked))

    with html.tag("fieldset", classes="c-fieldset"):
        html.tag("legend", label)
        for option in options:
            html.check(option, option in ticked, partial(tick, option))


def _typed_text(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _read_typed(kind: str, typed: str) -> Any:
    """What was typed, as the file holds it: a number with a point, several things between bars."""
    if kind in ("texts", "numbers", "wholes"):
        parts = [part.strip() for part in typed.split("|") if part.strip()]
        return [_read_number(part) for part in parts] if kind != "texts" else parts
    return _read_number(typed) if kind == "number" else typed.strip()


def _read_number(typed: str) -> Any:
    """A number as people write it; what is none is left for the technique to refuse."""
    plain = typed.strip().replace(",", ".")
    return int(plain) if plain.lstrip("+-").isdigit() else plain
