"""What the searches answered: the frontier with its points, what costs most, the methods side by side.

Knows saved reports. Ignores how they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.dossier.figures import criterion_text, limit_text, loss_text, metric_text
from celosia.messages import text
from celosia.model.reports.explanation import Explanation, Outcome
from celosia.model.reports.methods import MethodComparison, MethodResult
from celosia.web.pages.search.form import method_text, share_text
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify
from celosia.web.ui.html import Cell
from celosia.workbench.operations.search import compare_methods, explain_report, frontier_report
from celosia.workbench.views.policy import PolicyView
from celosia.workbench.views.saved import Saved
from celosia.workbench.views.search import FrontierPoint, SearchView

_GREY = "#8a979d"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a979d")  # Okabe and Ito
_SYMBOLS = ("circle", "rect", "triangle", "diamond", "pin", "arrow", "roundRect")
Line = Sequence[FrontierPoint]  # the points of one k


@dataclass(frozen=True, slots=True)
class Actions:
    """What the answers let a reader do."""

    adopt: Callable[[FrontierPoint], Any]
    use_method: Callable[[MethodResult], Any]
    adopted: bool = False  # whoever has just taken a point sees the table still open


def _compute_line(page: PageContext, saved: Saved[Any] | None, part: str, operation: Callable[[Path], None]) -> None:
    """When a report was made, whether it is out of date, and the button that makes it (again)."""
    if saved is None:
        html.paragraph(text(f"web_search.{part}.none"))
    elif saved.stale:
        html.note(text("web_search.stale"), "warning")
    with html.line():
        label = text(f"web_search.{part}.{'start' if saved is None else 'again'}")
        html.button(label, lambda: page.start(operation, page.folder))
        if saved is not None:
            html.tag("small", text("web_search.when", when=saved.when.replace("T", " ")[:16]))


def _masking_note(policy: PolicyView) -> None:
    if policy.mask_sensitive and policy.sensitive:
        html.paragraph(text("web_search.masking"), "c-soft")


# --- the frontier ---------------------------------------------------------------------------------


def frontier_card(page: PageContext, view: SearchView, actions: Actions) -> None:
    """The chart, and its points as a table."""
    with html.card(text("web_search.frontier.title")):
        _compute_line(page, view.frontier, "frontier", frontier_report)
        if view.frontier is None:
            return
        frontier, policy = view.frontier.report, view.policy
        lines = [points for k in frontier.ks if (points := frontier.line(k))]
        if not lines:
            html.note(text("web_search.frontier.empty"), "warning")
            return
        if not frontier.complete:
            html.note(text("web_search.frontier.incomplete"), "warning")
        html.paragraph(text("web_search.frontier.why"))
        _masking_note(policy)

        def pick(event: Any) -> Any:
            point = lines[event.series_index][event.data_index]
            if _is_below_norm(policy, point):
                return notify(text("web_search.frontier.below_long", k=point.k), "warning")
            return actions.adopt(point)

        html.chart(frontier_options(lines, frontier.metric), text("web_search.frontier.picture"), pick, height=380)
        with html.details(text("web_search.frontier.points"), opened=actions.adopted):
            _points_table(policy, lines, frontier.metric, actions)


def frontier_options(lines: Sequence[Line], metric: str) -> dict[str, Any]:
    """The chart: loss against suppressed share, a line and a symbol for each k."""
    axis = {
        "type": "value",
        "nameLocation": "middle",
        "axisLine": {"show": True, "lineStyle": {"color": _GREY}},
        "splitLine": {"lineStyle": {"color": _GREY, "opacity": 0.25}},
    }
    return {
        "animation": False,
        "color": list(_COLOURS),
        "grid": {"left": 64, "right": 24, "top": 64, "bottom": 56},
        "legend": {"top": 0},  # on a narrow screen it takes two lines; paged, the last k would be out of sight
        "tooltip": {"trigger": "item", "backgroundColor": "rgba(138, 151, 157, .3)", "borderWidth": 0},
        "xAxis": {**axis, "name": text("web_search.frontier.x"), "nameGap": 32, "min": 0},
        "yAxis": {**axis, "name": metric_text(metric), "nameGap": 46, "scale": True},
        "series": [_series(number, points) for number, points in enumerate(lines)],
    }


def _series(number: int, points: Line) -> dict[str, Any]:
    return {
        "type": "line",
        "name": text("web_search.frontier.line", k=points[0].k),
        "symbolSize": 13,
        "symbol": _SYMBOLS[number % len(_SYMBOLS)],
        "cursor": "pointer",
        "data": [[round(100 * point.suppressed_share, 2), round(point.loss or 0.0, 6)] for point in points],
    }


def _is_below_norm(policy: PolicyView, point: FrontierPoint) -> bool:
    demand = policy.strictest_demand("k")
    return demand is not None and point.k < (demand.asked or 0)


def _is_chosen(policy: PolicyView, point: FrontierPoint) -> bool:
    asked = [criterion.data["k"] for criterion in policy.criteria if criterion.data["criterion"] == "k"]
    return asked == [point.k] and policy.limit == point.limit


def _points_table(policy: PolicyView, lines: Sequence[Line], metric: str, actions: Actions) -> None:
    rows: list[list[Cell]] = [
        [
            f"k = {point.k}",
            limit_text(point.limit),
            ("" if point.proved else "≥ ") + loss_text(metric, point.loss or 0.0),
            f"{messages.percent(point.suppressed_share)} ({messages.integer(point.suppressed_rows)})",
            _adopt_cell(policy, point, actions),
        ]
        for points in lines
        for point in points
    ]
    heads = ["k", text("web_search.frontier.limit"), metric_text(metric), text("web_search.frontier.share"), ""]
    html.table(heads, rows, text("web_search.frontier.points"), numbers=(1, 2, 3))


def _adopt_cell(policy: PolicyView, point: FrontierPoint, actions: Actions) -> Callable[[], None]:
    def build() -> None:
        if _is_below_norm(policy, point):
            html.state(text("web_search.frontier.below"), "warning")
        elif _is_chosen(policy, point):
            html.state(text("web_search.frontier.chosen"), "good")
        else:
            label = text("web_search.frontier.adopt_label", k=point.k, limit=limit_text(point.limit))
            html.button(text("web_search.frontier.adopt"), lambda: actions.adopt(point), "small", label)

    return build


# --- what costs most ------------------------------------------------------------------------------


def explanation_card(page: PageContext, view: SearchView) -> None:
    """The sentences first, then the figures behind them."""
    with html.card(text("web_search.explain.title")):
        _compute_line(page, view.explanation, "explain", explain_report)
        if view.explanation is None:
            return
        summary = view.explanation.report
        with html.tag("ul"):
            for sentence in summary.sentences[messages.language()]:
                html.tag("li", sentence)
        _masking_note(view.policy)
        if summary.explanation.variables:
            _costs_table(summary.explanation)
        if summary.explanation.criteria:
            _criteria_table(summary.explanation)


def _costs_table(explanation: Explanation) -> None:
    metric = explanation.metric
    rows = [
        [
            cost.name,
            text("web_search.plan.level_of", level=cost.level, height=cost.height),
            _loss_text(metric, cost.loss),
            _loss_text(metric, cost.price),
            _outcome_text(metric, cost.without),
        ]
        for cost in explanation.variables
    ]
    heads = [text(f"web_search.plan.{key}") for key in ("variable", "level")]
    heads += [text(f"web_search.explain.{key}") for key in ("own", "price", "without")]
    html.heading(text("web_search.explain.variables"), 3)
    html.table(heads, rows, text("web_search.explain.variables"), numbers=(1, 2, 3, 4))


def _criteria_table(explanation: Explanation) -> None:
    rows = [
        [
            criterion_text(cost.criterion, explanation.person_key),
            messages.integer(cost.rows),
            messages.integer(cost.alone),
        ]
        for cost in explanation.criteria
    ]
    heads = [text(f"web_search.explain.{key}") for key in ("criterion", "rows", "alone")]
    html.heading(text("web_search.explain.criteria"), 3)
    html.table(heads, rows, text("web_search.explain.criteria"), numbers=(1, 2))


def _loss_text(metric: str, value: float | None) -> str:
    return "—" if value is None else loss_text(metric, 0.0 if abs(value) < 1e-9 else value)


def _outcome_text(metric: str, outcome: Outcome | None) -> str:
    if outcome is None:
        return "—"
    share = messages.percent(outcome.suppressed_share)
    if outcome.loss is None:
        return text("explain.cell_none", share=share)
    return text("explain.cell", loss=loss_text(metric, outcome.loss), share=share)


# --- the methods ----------------------------------------------------------------------------------


def methods_card(page: PageContext, view: SearchView, actions: Actions) -> None:
    """The methods side by side, each with its button."""
    with html.card(text("web_search.compare.title")):
        _compute_line(page, view.methods, "compare", compare_methods)
        if view.methods is None:
            return
        comparison = view.methods.report
        html.paragraph(text("web_search.compare.why", metric=metric_text(comparison.metric)))
        smallest = "smallest_persons" if comparison.person_key else "smallest_rows"
        keys = ("method", "fits", "loss", "suppressed", "masked", "classes", smallest, "seconds", "optimal")
        heads = [text(f"web_search.compare.{key}") for key in keys]
        rows = [_method_row(view.policy, comparison, result, actions) for result in comparison.methods]
        html.table(heads, rows, text("web_search.compare.caption"), numbers=(2, 3, 4, 5, 6, 7), classes="c-methods")


def _method_row(policy: PolicyView, comparison: MethodComparison, result: MethodResult, actions: Actions) -> list[Cell]:
    suppressed = "—"
    if result.suppressed_rows is not None:
        share = share_text(result.suppressed_rows, comparison.rows)
        suppressed = f"{share} ({messages.integer(result.suppressed_rows)})"
    counts = (result.masked_sensitive, result.classes, result.smallest_class)
    return [
        lambda: _method_cell(result.method, comparison.best == result.method),
        lambda: _feasible_cell(policy, result, actions),
        "—" if result.loss is None else messages.decimal(result.loss, 4),
        suppressed,
        *("—" if count is None else messages.integer(count) for count in counts),
        "—" if result.seconds is None else messages.decimal(result.seconds, 2),
        text(f"dictionary.answer.{'yes' if result.optimal else 'no'}"),
    ]


def _method_cell(method: str, best: bool) -> None:
    html.tag("span", method_text(method) + " ")
    if best:
        html.state(text("web_search.compare.best"), "good")
    html.tag("small", text(f"web_search.method_about.{method.replace('-', '_')}"))


def _feasible_cell(policy: PolicyView, result: MethodResult, actions: Actions) -> None:
    if result.refused:
        html.state(text("web_search.compare.impossible"), "bad")
        html.tag("small", text(f"errors.{result.refused}", **(result.fields or {})))
    elif not result.feasible:
        html.state(text("web_search.compare.no"), "bad")
    else:
        html.state(text("web_search.compare.yes"), "good")
        if policy.method == result.method:
            html.state(text("web_search.compare.in_use"), "info")
        else:
            label = text("web_search.compare.use_label", method=method_text(result.method))
            html.button(text("web_search.compare.use"), lambda: actions.use_method(result), "small", label)
