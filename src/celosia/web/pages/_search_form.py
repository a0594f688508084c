"""The form of the policy: criteria made from their declared parameters, the suppression limit, method and priorities.

Knows a draft of what was chosen. Ignores whether it is sensible: the verb that writes it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.model.plan import MEANS, METHODS, METRICS
from celosia.model.policy_view import CriterionForm, CriterionInForce, Demand, ParameterForm, PolicyView
from celosia.web._frame import tell
from celosia.web._widgets import (
    Cell,
    button,
    card,
    check,
    choice,
    details,
    heading,
    line,
    note,
    number_field,
    paragraph,
    said,
    slider,
    state,
    table,
    tag,
    text_area,
    word,
)

_STARTS: Mapping[str, Any] = {"k": 5, "l": 2, "c": 3, "t": 0.2, "delta": 1.0, "beta": 1.0, "alpha": 0.5,
                              "threshold": 0.2, "fraction": 0.1}  # fmt: skip
_REACH = {"k": 50, "l": 20}  # how far a slider goes; the number beside it goes further
_MEASURED = {"k": "k", "distinct_l": "l"}
_BY_FILE = ("k_map",)  # needs a table of a population, which the project's file names
_FOLLOWED = """(e) => e.target.closest(".c-pair").querySelectorAll("input").forEach((other) => {
  if (other !== e.target) other.value = e.target.value;
})"""
Put = Callable[[Any], None]


@dataclass(slots=True)
class Draft:
    """What the form holds before it is written."""

    view: PolicyView
    criteria: list[dict[str, Any]] = field(default_factory=list)
    chosen: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    reason_box: ui.element | None = None
    reason_for: Demand | None = None  # the demand for which the page asks a reason

    @classmethod
    def of(cls, view: PolicyView) -> Draft:
        """The form as the project's file has it."""
        return cls(view, [dict(one.data) for one in view.criteria])

    def over(self, view: PolicyView, saved: Mapping[str, Any]) -> Draft:
        """The form over the file as it is now: what was saved no longer waits, unless it was changed again since."""
        made = Draft.of(view)
        made.chosen = {key: value for key, value in self.chosen.items() if key not in saved or saved[key] != value}
        if self.changes().get("criteria", saved.get("criteria")) != saved.get("criteria"):
            made.criteria = self.criteria
        return made

    def changes(self) -> dict[str, Any]:
        """What differs from the file."""
        changed = {key: value for key, value in self.chosen.items() if value != _plain(getattr(self.view, key))}
        if self.criteria != [dict(one.data) for one in self.view.criteria]:
            changed["criteria"] = self.criteria
        if self.value("method") == "recipe" and self.order() != list(self.view.order):
            changed["order"] = self.order()  # it asks for the whole order: what is shown is what is meant
        return changed

    def order(self) -> list[str]:
        """The quasi-identifiers in the order in which they give way; those that nobody placed come last."""
        placed = [name for name in self.value("order") if name in self.view.quasi]
        return [*placed, *(name for name in self.view.quasi if name not in placed)]

    def value(self, key: str) -> Any:
        """A setting as chosen, or as it stands."""
        return self.chosen.get(key, _plain(getattr(self.view, key)))

    def below(self) -> Demand | None:
        """The demand of a norm that the criteria do not reach."""
        for data in self.criteria:
            measure = _MEASURED.get(data["criterion"], "")
            demand = self.view.least(measure) if measure else None
            if demand is not None and demand.asked is not None and _less(data.get(measure), demand.asked):
                return demand
        return None


def policy_form(draft: Draft, save: Callable[[], Any], search: Callable[[], Any]) -> None:
    """The whole form in the current place."""
    with card(word("web_search.policy.title")):
        if draft.view.blocked:
            note(draft.view.blocked, "bad", word("web_search.blocked"))
        _demands(draft.view)
        heading(word("web_search.policy.criteria"), 3)
        box = tag("div", classes="c-criteria")
        draft.reason_box, draft.reason_for = tag("div"), None
        _criteria(draft, box)
        _limit(draft)
        _settings(draft)
        _reason(draft)
        with line():
            blocked = bool(draft.view.blocked and not draft.criteria)
            button(word("web_search.search"), search, "primary", disabled=blocked, every=True)
            button(word("web_search.save"), save, every=True)


def _demands(view: PolicyView) -> None:
    if not view.demands:
        paragraph(word("web_search.demand.none"))
        return
    rows = [
        [f"{one.protocol.upper()}: {one.section}", _asks(one, one.norm), _here(one),
         word(f"web_search.demand.{'must' if one.compulsory else 'should'}")]
        for one in view.demands
    ]  # fmt: skip
    heads = [word(f"web_search.demand.column_{key}") for key in ("rule", "asks", "here", "kind")]
    with details(word("web_search.demand.title"), opened=any(one.reason for one in view.demands)):
        table(heads, rows, word("web_search.demand.title"))


def _asks(demand: Demand, value: int | None) -> str:
    if value is None:
        return word("web_search.demand.observations")
    return word("web_search.demand.asks", measure=demand.measure, value=value)


def _here(demand: Demand) -> str:
    if not demand.reason:
        return word("web_search.demand.as_norm")
    return word("web_search.demand.changed", measure=demand.measure, value=demand.asked, reason=demand.reason)


# --- criteria -------------------------------------------------------------------------------------


def _criteria(draft: Draft, box: ui.element) -> None:
    """The criteria and the way to add one; built again when their number changes."""
    box.clear()
    forms = {form.name: form for form in draft.view.forms}
    with box:
        if not draft.criteria:
            note(word("web_search.policy.none"), "warning")
        for data in draft.criteria:
            _criterion(draft, data, forms[data["criterion"]], box)
        _adding(draft, forms, box)
    _reason(draft)


def _criterion(draft: Draft, data: dict[str, Any], form: CriterionForm, box: ui.element) -> None:
    name = _title(data)

    def remove() -> None:
        draft.criteria.remove(data)
        _criteria(draft, box)

    with tag("fieldset", classes="c-criterion"):
        tag("legend", name)
        asked_by_norm = _origin(draft, data) == "norm"
        paragraph(word(f"web_search.about.{form.name}"), "c-soft")
        visible = [one for one in form.parameters if one.required and one.name != "variable"]
        spare = [one for one in form.parameters if not one.required]
        with line():
            for parameter in visible:
                _parameter(draft, data, parameter)
        if spare and form.name not in _BY_FILE:
            with details(word("web_search.policy.more")), line():
                for parameter in spare:
                    _parameter(draft, data, parameter)
        if not asked_by_norm:  # taken out, it would come back
            label = word("web_search.policy.remove_label", criterion=name)
            button(word("web_search.policy.remove"), remove, "small", label)


def _origin(draft: Draft, data: Mapping[str, Any]) -> str:
    """Who put a criterion there, said with a word; what was changed or added here is the project's."""
    known: list[CriterionInForce] = [one for one in draft.view.criteria if dict(one.data) == data]
    origin = known[0].origin if known else "project"
    state(word(f"web_search.origin.{origin}"), "info")
    return origin


def _title(data: Mapping[str, Any]) -> str:
    words = word(f"plan.criterion.{data['criterion']}")
    return f"{words}: {data['variable']}" if data.get("variable") else words


def _parameter(draft: Draft, data: dict[str, Any], parameter: ParameterForm) -> None:
    """The field of one declared parameter."""
    label = word(f"web_search.parameter.{parameter.name}")
    value = data.get(parameter.name, parameter.default)

    def put(given: Any) -> None:
        data[parameter.name] = given
        _reason(draft)

    if parameter.kind == "choice":
        options = {option: word(f"web_search.option.{option}") for option in parameter.options}
        choice(label, options, str(value), put)
    elif parameter.kind == "flag":
        check(label, bool(value), put)
    elif parameter.kind == "name":
        paragraph(f"{label}: {value}. {word('web_search.policy.by_file')}")
    elif parameter.kind == "whole":
        least, reach = int(parameter.minimum or 1), max(_REACH.get(parameter.name, 50), int(value or 0))
        _paired(label, value, lambda given: put(_whole(given)), least, reach, 1)
    elif (parameter.maximum or 0) <= 1:
        _paired(label, value, put, float(parameter.minimum or 0), 1, 0.01)
    else:
        number_field(label, value, put, parameter.minimum, parameter.maximum, "any")


def _paired(text: str, value: Any, put: Put, least: float, most: float, step: float, exact: str = "") -> None:
    """A slider and an exact number that follow each other, in the browser; either one puts the value."""

    def moved(given: Any) -> None:
        if given is not None:
            put(_whole(given))

    name = exact or word("web_search.policy.exact", name=text)
    with tag("div", classes="c-pair"):
        slider(text, value or least, moved, least, most, step).on("input", js_handler=_FOLLOWED)
        number_field(name, value, moved, least, None, "any", hidden_label=True).on("input", js_handler=_FOLLOWED)


def _adding(draft: Draft, forms: Mapping[str, CriterionForm], box: ui.element) -> None:
    offered = [form for form in forms.values() if form.name not in _BY_FILE]
    sensitive = draft.view.sensitive
    wanted = {"criterion": "distinct_l" if sensitive else "k", "variable": _unprotected(draft)}

    def add() -> None:
        form = forms[wanted["criterion"]]
        if form.per_variable and not sensitive:
            tell(word("web_search.policy.no_sensitive"), "warning")
            return
        made = _started(form, wanted["variable"])
        if any((one["criterion"], one.get("variable")) == (form.name, made.get("variable")) for one in draft.criteria):
            tell(word("web_search.policy.twice"), "warning")
            return
        draft.criteria.append(made)
        _criteria(draft, box)

    with tag("fieldset", classes="c-criterion c-adding"):
        tag("legend", word("web_search.policy.add"))
        with line():
            names = {form.name: word(f"plan.criterion.{form.name}") for form in offered}
            choice(word("web_search.explain.criterion"), names, wanted["criterion"],
                   lambda given: wanted.update(criterion=given))  # fmt: skip
            if sensitive:
                choice(word("web_search.policy.add_for"), {name: name for name in sensitive}, wanted["variable"],
                       lambda given: wanted.update(variable=given))  # fmt: skip
            with tag("div", classes="c-field"):
                button(word("web_search.policy.add_button"), add)
        if not sensitive:
            paragraph(word("web_search.policy.no_sensitive"), "c-soft")


def _unprotected(draft: Draft) -> str:
    """The first sensitive variable that no criterion protects, or the first one."""
    held = {one.get("variable") for one in draft.criteria}
    return next((name for name in draft.view.sensitive if name not in held), next(iter(draft.view.sensitive), ""))


def _started(form: CriterionForm, variable: str) -> dict[str, Any]:
    made: dict[str, Any] = {"criterion": form.name}
    for parameter in form.parameters:
        if parameter.required:
            made[parameter.name] = variable if parameter.name == "variable" else _STARTS[parameter.name]
    return made


# --- limit, method, priorities --------------------------------------------------------------------


def _limit(draft: Draft) -> None:
    percent = _percent(draft.view.limit)

    def put(given: float) -> None:
        draft.chosen["limit"] = Fraction(str(given)) / 100
        rows = int(draft.chosen["limit"] * draft.view.rows)
        said(told, word("web_search.policy.limit_rows", rows=rows, total=draft.view.rows))

    with tag("fieldset", classes="c-criterion"):
        tag("legend", word("web_search.policy.limit"))
        paragraph(word("web_search.policy.limit_hint"), "c-soft")
        _paired("%", percent, put, 0, 100, 1, word("web_search.policy.limit_exact"))
        rows = int(draft.view.limit * draft.view.rows)
        told = paragraph(word("web_search.policy.limit_rows", rows=rows, total=draft.view.rows))


def _settings(draft: Draft) -> None:
    def put(key: str) -> Put:
        return lambda given: draft.chosen.update({key: given})

    methods = {name: method_word(name) for name in METHODS}
    metrics = {name: word(f"web_search.metric.{name}") for name in METRICS}
    means = {name: word(f"web_search.mean.{name}") for name in MEANS}
    kept = {name: word(f"web_search.settings.{name}") for name in ("keep", "drop")}
    with details(word("web_search.settings.title"), opened=draft.value("method") == "recipe"):
        with line():
            choice(word("web_search.settings.method"), methods, draft.value("method"), put("method"))
            choice(word("web_search.settings.metric"), metrics, draft.value("metric"), put("metric"))
            choice(word("web_search.settings.mean"), means, draft.value("mean"), put("mean"))
            choice(word("web_search.settings.suppressed"), kept, draft.value("suppressed"), put("suppressed"))
        if any(one.measure == "observations" for one in draft.view.demands):
            paragraph(word("web_search.settings.drop_warning"), "c-soft")
        check(word("web_search.settings.mask_sensitive"), draft.value("mask_sensitive"), put("mask_sensitive"))
        heading(word("web_search.settings.importance"), 3)
        paragraph(word("web_search.settings.importance_why"), "c-soft")
        _importance(draft, tag("div"))


def _importance(draft: Draft, box: ui.element) -> None:
    """The quasi-identifiers in the order in which they give way, each with its weight."""
    box.clear()
    order = draft.order()

    def move(place: int, by: int) -> None:
        order[place], order[place + by] = order[place + by], order[place]
        draft.chosen["order"] = order
        _importance(draft, box)

    rows: list[list[Cell]]
    rows = [[name, _weight_cell(draft, name), str(i + 1), _moving_cell(name, i, len(order), move)]
            for i, name in enumerate(order)]  # fmt: skip
    heads = [word(f"web_search.settings.{key}") for key in ("variable", "weight", "order")]
    with box:
        table([*heads, ""], rows, word("web_search.settings.importance"), numbers=(2,))


def _weight_cell(draft: Draft, name: str) -> Callable[[], None]:
    def put(given: float | None) -> None:
        weights = {**draft.value("weights"), name: _whole(1 if given is None else given)}
        draft.chosen["weights"] = {key: value for key, value in weights.items() if value != 1}

    def build() -> None:
        label = word("web_search.settings.weight_label", variable=name)
        number_field(label, draft.value("weights").get(name, 1), put, 0, 1_000_000, "any", hidden_label=True)

    return build


def _moving_cell(name: str, place: int, many: int, move: Callable[[int, int], None]) -> Callable[[], None]:
    def build() -> None:
        for key, by, last in (("up", -1, place == 0), ("down", 1, place == many - 1)):
            label = word(f"web_search.settings.{key}_label", variable=name)
            button(word(f"web_search.settings.{key}"), partial(move, place, by), "small", label, disabled=last)

    return build


def _reason(draft: Draft) -> None:
    """Room for a reason, where the criteria ask less than a norm does; left alone while somebody writes it."""
    box, demand = draft.reason_box, draft.below()
    if box is None or demand == draft.reason_for:
        return
    draft.reason_for = demand
    box.clear()
    if demand is not None:
        with box:
            note(word("web_search.weaker", protocol=demand.protocol.upper(), measure=demand.measure,
                      minimum=demand.asked), "warning")  # fmt: skip
            text_area(word("web_search.why"), draft.why, lambda given: setattr(draft, "why", str(given)), rows=2)


def method_word(method: str) -> str:
    """A method's name."""
    return word(f"web_search.method.{method.replace('-', '_')}")


def _percent(share: Fraction) -> float | int:
    return _whole(float(share * 100))


def _whole(given: Any) -> Any:
    """A number as a file should hold it: 5 rather than 5.0."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _less(value: Any, least: int) -> bool:
    return isinstance(value, int | float) and value < least


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def share_text(rows: int, total: int) -> str:
    """A share of the records as the norms print it."""
    return messages.part(rows / total if total else 0.0)
