"""The form of the policy: criteria made from their declared parameters, the suppression limit, method and priorities.

Knows a draft of what was chosen. Ignores whether it is sensible: the operation that writes it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.parameters import ParameterForm
from celosia.model.plan import MEANS, METHODS, METRICS
from celosia.web.ui import html
from celosia.web.ui.context import notify
from celosia.web.ui.html import Cell
from celosia.workbench.views.policy import CriterionForm, Demand, PolicyView

_FIRST_VALUES: Mapping[str, Any] = {
    "k": 5,
    "l": 2,
    "c": 3,
    "t": 0.2,
    "delta": 1.0,
    "beta": 1.0,
    "alpha": 0.5,
    "threshold": 0.2,
    "fraction": 0.1,
}
_REACH = {"k": 50, "l": 20}  # how far a slider goes; the number beside it goes further
_MEASURES = {"k": "k", "distinct_l": "l"}
_BY_FILE = ("k_map",)  # needs a table of a population, which the project's file names
_FOLLOW = """(e) => e.target.closest(".c-pair").querySelectorAll("input").forEach((other) => {
  if (other !== e.target) other.value = e.target.value;
})"""
Put = Callable[[Any], None]


@dataclass(slots=True)
class PolicyDraft:
    """What the form holds before it is written."""

    view: PolicyView
    criteria: list[dict[str, Any]] = field(default_factory=list)
    chosen: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    reason_box: ui.element | None = None
    reason_for: Demand | None = None  # the demand for which the page asks a reason

    @classmethod
    def of(cls, view: PolicyView) -> PolicyDraft:
        """The form as the project's file has it."""
        return cls(view, [dict(criterion.data) for criterion in view.criteria])

    def over(self, view: PolicyView, saved: Mapping[str, Any]) -> PolicyDraft:
        """The form over the file as it is now: what was saved no longer waits, unless it was changed again since."""
        draft = PolicyDraft.of(view)
        draft.chosen = {key: value for key, value in self.chosen.items() if key not in saved or saved[key] != value}
        if self.changes().get("criteria", saved.get("criteria")) != saved.get("criteria"):
            draft.criteria = self.criteria
        return draft

    def changes(self) -> dict[str, Any]:
        """What differs from the file."""
        changes = {key: value for key, value in self.chosen.items() if value != _toml_value(getattr(self.view, key))}
        if self.criteria != [dict(criterion.data) for criterion in self.view.criteria]:
            changes["criteria"] = self.criteria
        if self.value("method") == "recipe" and self.order() != list(self.view.order):
            changes["order"] = self.order()  # the recipe needs the whole order: what is shown is what is meant
        return changes

    def order(self) -> list[str]:
        """The quasi-identifiers in the order in which they give way; those that nobody placed come last."""
        first = [name for name in self.value("order") if name in self.view.quasi]
        return [*first, *(name for name in self.view.quasi if name not in first)]

    def value(self, key: str) -> Any:
        """A setting as chosen, or as the file has it."""
        return self.chosen.get(key, _toml_value(getattr(self.view, key)))

    def unmet_demand(self) -> Demand | None:
        """The demand of a norm that the criteria do not reach."""
        for data in self.criteria:
            measure = _MEASURES.get(data["criterion"], "")
            demand, value = self.view.strictest_demand(measure) if measure else None, data.get(measure)
            least = None if demand is None else demand.asked
            if least is not None and isinstance(value, int | float) and value < least:
                return demand
        return None


def policy_form(draft: PolicyDraft, save: Callable[[], Any], search: Callable[[], Any]) -> None:
    """The whole form in the current place."""
    with html.card(text("web_search.policy.title")):
        if draft.view.blocked:
            html.note(draft.view.blocked, "bad", text("web_search.blocked"))
        _demands_table(draft.view)
        html.heading(text("web_search.policy.criteria"), 3)
        box = html.tag("div", classes="c-criteria")
        draft.reason_box, draft.reason_for = html.tag("div"), None
        _build_criteria(draft, box)
        _limit_fields(draft)
        _settings_fields(draft)
        _build_reason(draft)
        with html.line():
            blocked = bool(draft.view.blocked and not draft.criteria)
            html.button(text("web_search.search"), search, "primary", disabled=blocked, every=True)
            html.button(text("web_search.save"), save, every=True)


def _demands_table(view: PolicyView) -> None:
    if not view.demands:
        html.paragraph(text("web_search.demand.none"))
        return
    rows = [
        [
            f"{demand.protocol.upper()}: {demand.section}",
            _norm_text(demand),
            _project_text(demand),
            text(f"web_search.demand.{'must' if demand.compulsory else 'should'}"),
        ]
        for demand in view.demands
    ]
    heads = [text(f"web_search.demand.column_{key}") for key in ("rule", "asks", "here", "kind")]
    with html.details(text("web_search.demand.title"), opened=any(demand.reason for demand in view.demands)):
        html.table(heads, rows, text("web_search.demand.title"))


def _norm_text(demand: Demand) -> str:
    if demand.norm is None:
        return text("web_search.demand.observations")
    return text("web_search.demand.asks", measure=demand.measure, value=demand.norm)


def _project_text(demand: Demand) -> str:
    if not demand.reason:
        return text("web_search.demand.as_norm")
    return text("web_search.demand.changed", measure=demand.measure, value=demand.asked, reason=demand.reason)


# --- criteria -------------------------------------------------------------------------------------


def _build_criteria(draft: PolicyDraft, box: ui.element) -> None:
    """The criteria and the form to add one; built again when their number changes."""
    box.clear()
    forms = {form.name: form for form in draft.view.forms}
    with box:
        if not draft.criteria:
            html.note(text("web_search.policy.none"), "warning")
        for data in draft.criteria:
            _criterion_fields(draft, data, forms[data["criterion"]], box)
        _new_criterion(draft, forms, box)
    _build_reason(draft)


def _criterion_fields(draft: PolicyDraft, data: dict[str, Any], form: CriterionForm, box: ui.element) -> None:
    name = text(f"plan.criterion.{data['criterion']}")
    name = f"{name}: {data['variable']}" if data.get("variable") else name

    def remove() -> None:
        draft.criteria.remove(data)
        _build_criteria(draft, box)

    with html.tag("fieldset", classes="c-criterion"):
        html.tag("legend", name)
        # What was changed or added here is the project's.
        origins = [criterion.origin for criterion in draft.view.criteria if dict(criterion.data) == data]
        origin = origins[0] if origins else "project"
        html.state(text(f"web_search.origin.{origin}"), "info")
        html.paragraph(text(f"web_search.about.{form.name}"), "c-soft")
        required = [param for param in form.parameters if param.required and param.name != "variable"]
        others = [param for param in form.parameters if not param.required]
        with html.line():
            for param in required:
                _parameter_field(draft, data, param)
        if others and form.name not in _BY_FILE:
            with html.details(text("web_search.policy.more")), html.line():
                for param in others:
                    _parameter_field(draft, data, param)
        if origin != "norm":  # taken out, it would come back
            label = text("web_search.policy.remove_label", criterion=name)
            html.button(text("web_search.policy.remove"), remove, "small", label)


def _parameter_field(draft: PolicyDraft, data: dict[str, Any], param: ParameterForm) -> None:
    """The field of one declared parameter."""
    label = text(f"web_search.parameter.{param.name}")
    value = data.get(param.name, param.default)

    def put(given: Any) -> None:
        data[param.name] = given
        _build_reason(draft)

    if param.choices:
        options = {option: text(f"web_search.option.{option}") for option in param.choices}
        html.choice(label, options, str(value), put)
    elif param.kind == "flag":
        html.check(label, bool(value), put)
    elif param.kind == "name":
        html.paragraph(f"{label}: {value}. {text('web_search.policy.by_file')}")
    elif param.kind == "whole":
        least, reach = int(param.minimum or 1), max(_REACH.get(param.name, 50), int(value or 0))
        _slider_and_number(label, value, lambda given: put(_plain_number(given)), least, reach, 1)
    elif (param.maximum or 0) <= 1:
        _slider_and_number(label, value, put, float(param.minimum or 0), 1, 0.01)
    else:
        html.number_field(label, value, put, param.minimum, param.maximum, "any")


def _slider_and_number(
    label: str, value: Any, put: Put, least: float, most: float, step: float, exact: str = ""
) -> None:
    """A slider and an exact number that follow each other, in the browser; either one puts the value."""

    def put_given(given: Any) -> None:
        if given is not None:
            put(_plain_number(given))

    exact = exact or text("web_search.policy.exact", name=label)
    with html.tag("div", classes="c-pair"):
        html.slider(label, value or least, put_given, least, most, step).on("input", js_handler=_FOLLOW)
        html.number_field(exact, value, put_given, least, None, "any", hidden_label=True).on(
            "input", js_handler=_FOLLOW
        )


def _new_criterion(draft: PolicyDraft, forms: Mapping[str, CriterionForm], box: ui.element) -> None:
    sensitive = draft.view.sensitive
    protected = {data.get("variable") for data in draft.criteria}
    unprotected = next((name for name in sensitive if name not in protected), next(iter(sensitive), ""))
    wanted = {"criterion": "distinct_l" if sensitive else "k", "variable": unprotected}

    def add() -> None:
        form = forms[wanted["criterion"]]
        if form.per_variable and not sensitive:
            notify(text("web_search.policy.no_sensitive"), "warning")
            return
        first = {**_FIRST_VALUES, "variable": wanted["variable"]}
        data = {
            "criterion": form.name,
            **{param.name: first[param.name] for param in form.parameters if param.required},
        }
        known = [(other["criterion"], other.get("variable")) for other in draft.criteria]
        if (form.name, data.get("variable")) in known:
            notify(text("web_search.policy.twice"), "warning")
            return
        draft.criteria.append(data)
        _build_criteria(draft, box)

    with html.tag("fieldset", classes="c-criterion c-adding"):
        html.tag("legend", text("web_search.policy.add"))
        with html.line():
            names = {name: text(f"plan.criterion.{name}") for name in forms if name not in _BY_FILE}
            put = partial(wanted.__setitem__, "criterion")
            html.choice(text("web_search.explain.criterion"), names, wanted["criterion"], put)
            if sensitive:
                put = partial(wanted.__setitem__, "variable")
                html.choice(
                    text("web_search.policy.add_for"), {name: name for name in sensitive}, wanted["variable"], put
                )
            with html.tag("div", classes="c-field"):
                html.button(text("web_search.policy.add_button"), add)
        if not sensitive:
            html.paragraph(text("web_search.policy.no_sensitive"), "c-soft")


# --- limit, method, priorities --------------------------------------------------------------------


def _limit_fields(draft: PolicyDraft) -> None:
    def rows_text(limit: Fraction) -> str:
        return text("web_search.policy.limit_rows", rows=int(limit * draft.view.rows), total=draft.view.rows)

    def put(given: float) -> None:
        draft.chosen["limit"] = Fraction(str(given)) / 100
        html.set_text(rows, rows_text(draft.chosen["limit"]))

    with html.tag("fieldset", classes="c-criterion"):
        html.tag("legend", text("web_search.policy.limit"))
        html.paragraph(text("web_search.policy.limit_hint"), "c-soft")
        percent = _plain_number(float(draft.view.limit * 100))
        _slider_and_number("%", percent, put, 0, 100, 1, text("web_search.policy.limit_exact"))
        rows = html.paragraph(rows_text(draft.view.limit))


def _settings_fields(draft: PolicyDraft) -> None:
    options = {
        "method": {name: method_text(name) for name in METHODS},
        "metric": {name: text(f"web_search.metric.{name}") for name in METRICS},
        "mean": {name: text(f"web_search.mean.{name}") for name in MEANS},
        "suppressed": {name: text(f"web_search.settings.{name}") for name in ("keep", "drop")},
    }
    with html.details(text("web_search.settings.title"), opened=draft.value("method") == "recipe"):
        with html.line():
            for key, names in options.items():
                put = partial(draft.chosen.__setitem__, key)
                html.choice(text(f"web_search.settings.{key}"), names, draft.value(key), put)
        if any(demand.measure == "observations" for demand in draft.view.demands):
            html.paragraph(text("web_search.settings.drop_warning"), "c-soft")
        put = partial(draft.chosen.__setitem__, "mask_sensitive")
        html.check(text("web_search.settings.mask_sensitive"), draft.value("mask_sensitive"), put)
        html.heading(text("web_search.settings.importance"), 3)
        html.paragraph(text("web_search.settings.importance_why"), "c-soft")
        _build_importance(draft, html.tag("div"))


def _build_importance(draft: PolicyDraft, box: ui.element) -> None:
    """The quasi-identifiers in the order in which they give way, each with its weight."""
    box.clear()
    order = draft.order()

    def move(place: int, by: int) -> None:
        order[place], order[place + by] = order[place + by], order[place]
        draft.chosen["order"] = order
        _build_importance(draft, box)

    def weight_cell(name: str) -> None:
        def put(given: float | None) -> None:
            weights = {**draft.value("weights"), name: _plain_number(1 if given is None else given)}
            draft.chosen["weights"] = {key: value for key, value in weights.items() if value != 1}

        label = text("web_search.settings.weight_label", variable=name)
        html.number_field(label, draft.value("weights").get(name, 1), put, 0, 1_000_000, "any", hidden_label=True)

    def move_cell(name: str, place: int) -> None:
        for key, by, disabled in (("up", -1, place == 0), ("down", 1, place == len(order) - 1)):
            label = text(f"web_search.settings.{key}_label", variable=name)
            html.button(text(f"web_search.settings.{key}"), partial(move, place, by), "small", label, disabled=disabled)

    rows: list[list[Cell]] = [
        [name, partial(weight_cell, name), str(place + 1), partial(move_cell, name, place)]
        for place, name in enumerate(order)
    ]
    heads = [text(f"web_search.settings.{key}") for key in ("variable", "weight", "order")]
    with box:
        html.table([*heads, ""], rows, text("web_search.settings.importance"), numbers=(2,))


def _build_reason(draft: PolicyDraft) -> None:
    """The field of a reason, where the criteria ask less than a norm does; left alone while somebody writes it."""
    box, demand = draft.reason_box, draft.unmet_demand()
    if box is None or demand == draft.reason_for:
        return
    draft.reason_for = demand
    box.clear()
    if demand is not None:
        with box:
            fields = {"protocol": demand.protocol.upper(), "measure": demand.measure, "minimum": demand.asked}
            html.note(text("web_search.weaker", **fields), "warning")
            html.text_area(text("web_search.why"), draft.why, lambda given: setattr(draft, "why", str(given)), rows=2)


def method_text(method: str) -> str:
    """A method's name."""
    return text(f"web_search.method.{method.replace('-', '_')}")


def share_text(rows: int, total: int) -> str:
    """A share of the records as the norms print it."""
    return messages.part(rows / total if total else 0.0)


def _plain_number(given: Any) -> Any:
    """A number as a file should hold it: 5 rather than 5.0."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _toml_value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
