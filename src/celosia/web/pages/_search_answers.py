"""What the searches answered: the frontier with its points, what costs most, the methods side by side.

Knows kept reports as plain data. Ignores how they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.dossier import criterion_text, limit_text, loss_text, metric_text
from celosia.model.policy_view import PolicyView
from celosia.web._frame import Desk, tell
from celosia.web._widgets import (
    Cell,
    button,
    card,
    chart,
    details,
    heading,
    line,
    note,
    paragraph,
    state,
    table,
    tag,
    word,
)
from celosia.web.pages._search_form import method_word, share_text

_GREY = "#8a979d"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a979d")  # Okabe and Ito
_SIGNS = ("circle", "rect", "triangle", "diamond", "pin", "arrow", "roundRect")
Point = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choices:
    """What the answers let a reader do."""

    adopt: Callable[[Point], Any]
    use_method: Callable[[Mapping[str, Any]], Any]
    adopted: bool = False  # whoever has just taken a point sees the table still open


def _asked(desk: Desk, kept: Mapping[str, Any] | None, part: str, verb: str) -> None:
    """When it was computed, whether it is out of date, and the button that computes it (again)."""
    if kept is None:
        paragraph(word(f"web_search.{part}.none"))
    elif kept["stale"]:
        note(word("web_search.stale"), "warning")
    with line():
        again = word(f"web_search.{part}.{'start' if kept is None else 'again'}")
        button(again, lambda: desk.start(verb, desk.folder))
        if kept is not None:
            tag("small", word("web_search.when", when=str(kept["when"]).replace("T", " ")[:16]))


def _counted_together(view: PolicyView) -> None:
    if view.mask_sensitive and view.sensitive:
        paragraph(word("web_search.masking"), "c-soft")


# --- the frontier ---------------------------------------------------------------------------------


def frontier_card(desk: Desk, found: Mapping[str, Any], choices: Choices) -> None:
    """The chart, and its points as a table."""
    kept, view = found.get("frontier"), found["policy"]
    with card(word("web_search.frontier.title")):
        _asked(desk, kept, "frontier", "frontier_report")
        if kept is None:
            return
        border = kept["frontier"]
        lines = _lines(border)
        if not lines:
            note(word("web_search.frontier.empty"), "warning")
            return
        if not border["complete"]:
            note(word("web_search.frontier.incomplete"), "warning")
        paragraph(word("web_search.frontier.why"))
        _counted_together(view)
        _drawn(lines, border["metric"], lambda point: _picked(view, point, choices))
        with details(word("web_search.frontier.points"), opened=choices.adopted):
            _points(view, lines, border["metric"], choices)


def _lines(border: Mapping[str, Any]) -> list[list[Point]]:
    """The points of each k that fit, each solution once, under the smallest limit that allows it."""
    lines = []
    for k in border["ks"]:
        seen: dict[tuple[Any, ...], Point] = {}
        for point in border["points"]:
            if point["k"] == k and point["feasible"]:
                seen.setdefault((point["suppressed_rows"], point["loss"]), point)
        if seen:
            lines.append(list(seen.values()))
    return lines


def _drawn(lines: Sequence[Sequence[Point]], metric: str, picked: Callable[[Point], Any]) -> None:
    def clicked(event: Any) -> Any:
        return picked(lines[event.series_index][event.data_index])

    chart(frontier_options(lines, metric), word("web_search.frontier.picture"), clicked, height=380)


def frontier_options(lines: Sequence[Sequence[Point]], metric: str) -> dict[str, Any]:
    """The picture: loss against suppressed share, a line and a sign for each k."""
    axis = {"type": "value", "nameLocation": "middle", "axisLine": {"show": True, "lineStyle": {"color": _GREY}},
            "splitLine": {"lineStyle": {"color": _GREY, "opacity": 0.25}}}  # fmt: skip
    return {
        "animation": False,
        "color": list(_COLOURS),
        "grid": {"left": 64, "right": 24, "top": 64, "bottom": 56},
        "legend": {"top": 0},  # on a narrow screen it takes two lines; paged, the last k would be out of sight
        "tooltip": {"trigger": "item", "backgroundColor": "rgba(138, 151, 157, .3)", "borderWidth": 0},
        "xAxis": {**axis, "name": word("web_search.frontier.x"), "nameGap": 32, "min": 0},
        "yAxis": {**axis, "name": metric_text(metric), "nameGap": 46, "scale": True},
        "series": [
            {
                "type": "line", "name": word("web_search.frontier.line", k=line[0]["k"]), "symbolSize": 13,
                "symbol": _SIGNS[i % len(_SIGNS)], "cursor": "pointer",
                "data": [[round(100 * point["suppressed_share"], 2), round(point["loss"], 6)] for point in line],
            }
            for i, line in enumerate(lines)
        ],
    }  # fmt: skip


def _picked(view: PolicyView, point: Point, choices: Choices) -> Any:
    if _is_below(view, point):
        tell(word("web_search.frontier.below_long", k=point["k"]), "warning")
        return None
    return choices.adopt(point)


def _is_below(view: PolicyView, point: Point) -> bool:
    demand = view.least("k")
    return demand is not None and point["k"] < (demand.asked or 0)


def _is_chosen(view: PolicyView, point: Point) -> bool:
    asked = [one.data["k"] for one in view.criteria if one.data["criterion"] == "k"]
    return asked == [point["k"]] and view.limit == Fraction(point["limit"])


def _points(view: PolicyView, lines: Sequence[Sequence[Point]], metric: str, choices: Choices) -> None:
    rows: list[list[Cell]] = [
        [f"k = {point['k']}", limit_text(Fraction(point["limit"])), _loss(point, metric),
         f"{messages.percent(point['suppressed_share'])} ({messages.integer(point['suppressed_rows'])})",
         _adopting(view, point, choices)]
        for one in lines
        for point in one
    ]  # fmt: skip
    heads = ["k", word("web_search.frontier.limit"), metric_text(metric), word("web_search.frontier.share"), ""]
    table(heads, rows, word("web_search.frontier.points"), numbers=(1, 2, 3))


def _loss(point: Point, metric: str) -> str:
    return ("" if point["proved"] else "≥ ") + loss_text(metric, point["loss"])


def _adopting(view: PolicyView, point: Point, choices: Choices) -> Callable[[], None]:
    limit = limit_text(Fraction(point["limit"]))

    def build() -> None:
        if _is_below(view, point):
            state(word("web_search.frontier.below"), "warning")
        elif _is_chosen(view, point):
            state(word("web_search.frontier.chosen"), "good")
        else:
            label = word("web_search.frontier.adopt_label", k=point["k"], limit=limit)
            button(word("web_search.frontier.adopt"), lambda: choices.adopt(point), "small", label)

    return build


# --- what costs most ------------------------------------------------------------------------------


def explanation_card(desk: Desk, found: Mapping[str, Any]) -> None:
    """The sentences first, then the figures behind them."""
    kept = found.get("explanation")
    with card(word("web_search.explain.title")):
        _asked(desk, kept, "explain", "explain_report")
        if kept is None:
            return
        with tag("ul"):
            for sentence in kept["sentences"][messages.language()]:
                tag("li", sentence)
        _counted_together(found["policy"])
        told = kept["explanation"]
        if told["variables"]:
            _costs(told)
        if told["criteria"]:
            _culprits(told)


def _costs(told: Mapping[str, Any]) -> None:
    metric = told["metric"]
    rows = [
        [one["name"], word("web_search.plan.level_of", level=one["level"], height=one["height"]),
         _figure(metric, one["loss"]), _figure(metric, one["price"]), _outcome(metric, one["without"])]
        for one in told["variables"]
    ]  # fmt: skip
    heads = [word("web_search.plan.variable"), word("web_search.plan.level"),
             *(word(f"web_search.explain.{key}") for key in ("own", "price", "without"))]  # fmt: skip
    heading(word("web_search.explain.variables"), 3)
    table(heads, rows, word("web_search.explain.variables"), numbers=(1, 2, 3, 4))


def _culprits(told: Mapping[str, Any]) -> None:
    rows = [
        [criterion_text(one["criterion"], told["person_key"]), messages.integer(one["rows"]),
         messages.integer(one["alone"])]
        for one in told["criteria"]
    ]  # fmt: skip
    heads = [word(f"web_search.explain.{key}") for key in ("criterion", "rows", "alone")]
    heading(word("web_search.explain.criteria"), 3)
    table(heads, rows, word("web_search.explain.criteria"), numbers=(1, 2))


def _figure(metric: str, value: float | None) -> str:
    return "—" if value is None else loss_text(metric, 0.0 if abs(value) < 1e-9 else value)


def _outcome(metric: str, outcome: Mapping[str, Any] | None) -> str:
    if outcome is None:
        return "—"
    share = messages.percent(outcome["suppressed_share"])
    if outcome["loss"] is None:
        return word("explain.cell_none", share=share)
    return word("explain.cell", loss=loss_text(metric, outcome["loss"]), share=share)


# --- the methods ----------------------------------------------------------------------------------


def methods_card(desk: Desk, found: Mapping[str, Any], choices: Choices) -> None:
    """The methods side by side, each with its button."""
    kept, view = found.get("methods"), found["policy"]
    with card(word("web_search.compare.title")):
        _asked(desk, kept, "compare", "compare_methods")
        if kept is None:
            return
        compared = kept["comparison"]
        paragraph(word("web_search.compare.why", metric=metric_text(compared["metric"])))
        smallest = "smallest_persons" if compared["person_key"] else "smallest_rows"
        keys = ("method", "fits", "loss", "suppressed", "masked", "classes", smallest, "seconds", "optimal")
        heads = [word(f"web_search.compare.{key}") for key in keys]
        rows = [_compared(view, compared, one, choices) for one in compared["methods"]]
        table(heads, rows, word("web_search.compare.caption"), numbers=(2, 3, 4, 5, 6, 7), classes="c-methods")


def _compared(view: PolicyView, compared: Mapping[str, Any], one: Mapping[str, Any], choices: Choices) -> list[Any]:
    suppressed = one["suppressed_rows"]
    shown = (
        "—" if suppressed is None else f"{share_text(suppressed, compared['rows'])} ({messages.integer(suppressed)})"
    )
    return [
        lambda: _method_cell(one["method"], compared["best"] == one["method"]),
        lambda: _fits(view, one, choices),
        "—" if one["loss"] is None else messages.decimal(one["loss"], 4),
        shown,
        *(_count(one[key]) for key in ("masked_sensitive", "classes", "smallest_class")),
        "—" if one["seconds"] is None else messages.decimal(one["seconds"], 2),
        word(f"dictionary.answer.{'yes' if one['optimal'] else 'no'}"),
    ]


def _method_cell(method: str, best: bool) -> None:
    tag("span", method_word(method) + " ")
    if best:
        state(word("web_search.compare.best"), "good")
    tag("small", word(f"web_search.method_about.{method.replace('-', '_')}"))


def _fits(view: PolicyView, one: Mapping[str, Any], choices: Choices) -> None:
    if one["refused"]:
        state(word("web_search.compare.impossible"), "bad")
        tag("small", word(f"errors.{one['refused']}", **(one["fields"] or {})))
    elif one["feasible"]:
        state(word("web_search.compare.yes"), "good")
        _use(view, one, choices)
    else:
        state(word("web_search.compare.no"), "bad")


def _use(view: PolicyView, one: Mapping[str, Any], choices: Choices) -> None:
    if view.method == one["method"]:
        state(word("web_search.compare.in_use"), "info")
    else:
        label = word("web_search.compare.use_label", method=method_word(one["method"]))
        button(word("web_search.compare.use"), lambda: choices.use_method(one), "small", label)


def _count(value: int | None) -> str:
    return "—" if value is None else messages.integer(value)
