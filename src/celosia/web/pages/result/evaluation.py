"""Before and after on the result's page: risk, loss by variable, distributions, what was asked to be preserved.

Shows the saved evaluation; nothing is computed here. Source: ATENEA 4.2.5; MINSAL, Implementación; MEL IV.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.dossier.evaluation import figure_text, percent_text
from celosia.messages import text
from celosia.model.reports.closing import ClosingReport
from celosia.model.reports.evaluation import (
    Distribution,
    EvaluationReport,
    PropertyCheck,
    RiskComparison,
    VariableDistance,
    VariableLoss,
)
from celosia.model.values import is_masked
from celosia.web.ui import html
from celosia.web.ui.context import PageContext
from celosia.web.ui.html import Cell
from celosia.web.ui.verdicts import minute_text
from celosia.workbench.operations.result import evaluation_report
from celosia.workbench.views.result import ContrastView, EvaluationView
from celosia.workbench.views.saved import Saved

_BEFORE, _AFTER = "#5b8fa3", "#d08a2e"  # they differ in lightness as well, on light and on dark


def evaluation_card(page: PageContext, saved: Saved[EvaluationView] | None, candidate: str) -> None:
    """The evaluation of this candidate, or the button that makes it."""
    with html.card(text("web_result.evaluation.title")):
        html.paragraph(text("web_result.evaluation.intro"))
        with html.line():
            label = text(f"web_result.evaluation.{'again' if saved else 'start'}")
            html.button(label, lambda: page.start(evaluation_report, page.folder), "plain" if saved else "primary")
            if saved:
                html.paragraph(text("web_result.evaluation.made", when=minute_text(saved.when)))
        if saved is None:
            return
        if saved.report.candidate != candidate:
            html.note(text("web_result.evaluation.other"), "warning")
        elif saved.stale:
            html.note(text("web_result.evaluation.stale"), "warning")
        _show_evaluation(saved.report)


def _show_evaluation(view: EvaluationView) -> None:
    evaluation = view.evaluation
    _main_figures(evaluation)
    html.note(view.residual, "info")
    if evaluation.risk:
        _risk_table(evaluation.risk)
    _losses_table(evaluation.loss.variables)
    _distributions(evaluation.distributions)
    if view.closing:
        _closing_part(view.closing)
    if view.contrast:
        _contrast_part(view.contrast)
    with html.details(text("web_result.evaluation.properties")):
        _properties_table(evaluation.properties, text("web_result.evaluation.properties"))
    with html.details(text("web_result.evaluation.distances")):
        _distances_table(evaluation.distances)


def _main_figures(evaluation: EvaluationReport) -> None:
    loss = evaluation.loss
    rows = f"{messages.integer(loss.masked_rows)} ({messages.percent(loss.masked_rows_share)})"
    cells = f"{messages.integer(loss.masked_cells)} ({messages.percent(loss.masked_cells_share)})"
    counts = [messages.integer(file.rows) for file in (evaluation.before, evaluation.after)]
    html.figures(
        (text("web_result.evaluation.lost"), messages.percent(loss.loss)),
        (text("web_result.evaluation.masked_rows"), rows),
        (text("web_result.evaluation.masked_cells"), cells),
        (text("web_result.evaluation.observations"), " → ".join(counts)),
    )


def _risk_table(risk: RiskComparison) -> None:
    html.heading(text("evaluation.section.risk"), 3)
    threshold = messages.decimal(float(risk.threshold), 2)
    html.paragraph(text("evaluation.risk.quasi", names=", ".join(risk.quasi), threshold=threshold))
    sides = (risk.before, risk.after)
    rows = [
        [text("evaluation.risk.at_risk"), *(_count_text(side.at_risk, side.at_risk_share) for side in sides)],
        [text("evaluation.risk.k"), *(_whole_text(side.k) for side in sides)],
        [text("evaluation.risk.k_persons"), *(_whole_text(side.k_persons) for side in sides)],
        [text("evaluation.risk.classes"), *(_whole_text(side.classes) for side in sides)],
        [text("evaluation.risk.unique"), *(_whole_text(side.unique_rows) for side in sides)],
        [text("evaluation.risk.suppressed"), *(_whole_text(side.masked_rows) for side in sides)],
        [text("evaluation.risk.largest"), *(figure_text(side.largest_risk) for side in sides)],
    ]
    rows = [row for row in rows if row[1:] != ["–", "–"]]
    columns = [text("evaluation.head.measure"), text("evaluation.before"), text("evaluation.after")]
    html.table(columns, rows, text("evaluation.section.risk"), numbers=(1, 2))


def _count_text(count: int, share: float) -> str:
    return f"{messages.integer(count)} ({messages.part(share)})"


def _whole_text(value: int | None) -> str:
    return "–" if value is None else messages.integer(value)


def _losses_table(losses: Sequence[VariableLoss]) -> None:
    html.heading(text("web_result.evaluation.by_variable"), 3)
    rows: list[list[Cell]] = [
        [
            loss.variable,
            partial(_loss_bar, loss.loss),
            messages.percent(loss.loss),
            _count_text(loss.masked_cells, loss.masked_share),
            f"{messages.integer(loss.missing_before)} → {messages.integer(loss.missing_after)}",
        ]
        for loss in sorted(losses, key=lambda loss: -loss.loss)
    ]
    variable, *heads = (text(f"evaluation.head.{key}") for key in ("variable", "loss", "masked", "missing"))
    columns = [variable, text("web_result.evaluation.lost"), *heads]
    html.table(columns, rows, text("web_result.evaluation.by_variable"), numbers=(2, 3, 4))


def _loss_bar(share: float) -> None:
    with html.tag("span", classes="c-meter", aria_hidden="true"):
        html.tag("span").style(f"width: {100 * min(max(share, 0.0), 1.0):.1f}%")


# --- distributions ---------------------------------------------------------------------------------


def _distributions(distributions: Sequence[Distribution]) -> None:
    if not distributions:
        return
    html.heading(text("web_result.evaluation.distribution"), 3)
    options = {str(place): distribution.variable for place, distribution in enumerate(distributions)}

    def show(place: str) -> None:
        box.clear()
        with box:
            _show_distribution(distributions[int(place)])

    with html.line():
        html.choice(text("web_result.evaluation.variable"), options, "0", show)
    box = html.tag("div")
    show("0")


def _show_distribution(distribution: Distribution) -> None:
    if not distribution.labels:
        html.paragraph(text("web_result.evaluation.none_shown"))
        return
    labels = [_category_text(label) for label in distribution.labels]
    title = text("evaluation.chart.distribution", variable=distribution.variable)
    options = _chart_options(labels, distribution.before, distribution.after)
    html.chart(options, title, height=120 + 34 * len(labels))
    with html.details(text("web_result.evaluation.table")):
        shares = zip(labels, distribution.before, distribution.after, strict=True)
        rows = [[label, messages.percent(before), messages.percent(after)] for label, before, after in shares]
        columns = [text("web_result.evaluation.category"), text("evaluation.before"), text("evaluation.after")]
        html.table(columns, rows, title, numbers=(1, 2))


def _category_text(label: str) -> str:
    if not label:
        return text("evaluation.chart.others")
    return text("evaluation.chart.masked") if is_masked(label) else label


def _chart_options(labels: Sequence[str], before: Sequence[float], after: Sequence[float]) -> dict[str, Any]:
    """Horizontal bars, the first category on top; shares in percent."""
    axis_label = {"width": 130, "overflow": "truncate"}
    series = [
        {
            "type": "bar",
            "name": text(f"evaluation.{key}"),
            "itemStyle": {"color": colour},
            "data": [round(100 * share, 2) for share in shares],
        }
        for key, colour, shares in (("before", _BEFORE, before), ("after", _AFTER, after))
    ]
    return {
        "animation": False,
        "tooltip": {"trigger": "axis", "axisPointer": {"type": "shadow"}},
        "legend": {"top": 0},
        "grid": {"left": 8, "right": 24, "top": 36, "bottom": 8, "containLabel": True},
        "xAxis": {"type": "value", "axisLabel": {"formatter": "{value} %", "hideOverlap": True}},
        "yAxis": {"type": "category", "data": list(labels), "inverse": True, "axisLabel": axis_label},
        "series": series,
    }


# --- what was asked to be preserved ----------------------------------------------------------------


def _closing_part(closing: ClosingReport) -> None:
    html.heading(text("web_result.evaluation.closing"), 3)
    key = "closing_passes" if closing.passes else "closing_fails"
    html.note(text(f"web_result.evaluation.{key}"), "good" if closing.passes else "bad")
    if closing.limited:
        html.note(text("web_result.evaluation.limited", names=", ".join(closing.limited)), "bad")
    _properties_table([closing.observations, *closing.properties], text("web_result.evaluation.closing"))


def _properties_table(checks: Sequence[PropertyCheck], caption: str) -> None:
    keys = ("property", "variable", "before", "after", "difference", "relative", "tolerance", "result")
    html.table(_heads(keys), [_property_row(check) for check in checks], caption, numbers=(2, 3, 4, 5, 6))


def _heads(keys: Sequence[str]) -> list[str]:
    return [text(f"evaluation.{key}" if key in ("before", "after") else f"evaluation.head.{key}") for key in keys]


def _measure_name(measure: str) -> str:
    key = f"evaluation.measure.{measure}.name"
    return text(key) if messages.has(key) else measure


def _property_row(check: PropertyCheck) -> list[Cell]:
    result = text("evaluation.result.pass" if check.passes else "evaluation.result.fail")
    result = f"{result} ({text('evaluation.note.' + check.note)})" if check.note else result
    return [
        _measure_name(check.property),
        check.variable,
        *(figure_text(value) for value in (check.before, check.after, check.difference)),
        *(percent_text(value) for value in (check.relative, check.tolerance)),
        partial(html.state, result, "good" if check.passes else "bad"),
    ]


def _contrast_part(contrast: ContrastView) -> None:
    html.heading(text("web_result.evaluation.contrast"), 3)
    if contrast.refused:
        html.note(contrast.refused, "warning")
        return
    key = "contrast_holds" if contrast.holds else "contrast_fails"
    html.note(text(f"web_result.evaluation.{key}"), "good" if contrast.holds else "bad")
    rows: list[list[Cell]] = [
        [
            contrast_line.variable,
            _measure_name(statistic),
            figure_text(before),
            figure_text(after),
            partial(_equality_state, before == after),
        ]
        for contrast_line in contrast.lines
        for statistic, (before, after) in contrast_line.statistics.items()
    ]
    heads = _heads(("variable", "statistic", "before", "after", "result"))
    html.table(heads, rows, text("web_result.evaluation.contrast"), numbers=(2, 3))


def _equality_state(equal: bool) -> ui.element:
    return html.state(
        text("evaluation.result.equal" if equal else "evaluation.result.differs"), "good" if equal else "bad"
    )


def _distances_table(distances: Sequence[VariableDistance]) -> None:
    keys = ("total_variation", "hellinger", "kolmogorov_smirnov", "earth_mover")
    columns = [text("evaluation.head.variable"), *(text(f"evaluation.measure.{key}.name") for key in keys)]
    rows = [[row.variable, *(figure_text(getattr(row, key)) for key in keys)] for row in distances]
    html.table(columns, rows, text("web_result.evaluation.distances"), numbers=(1, 2, 3, 4))
