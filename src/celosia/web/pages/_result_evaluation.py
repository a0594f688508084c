"""Before and after on the result's page: risk, loss by variable, distributions, what was asked to be kept.

Shows the evaluation that was kept; nothing is computed here. Source: ATENEA 4.2.5; MINSAL, Implementación; MEL IV.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.dossier import figure_text, percent_text
from celosia.model.values import is_masked
from celosia.web._frame import Desk
from celosia.web._widgets import (
    Cell,
    button,
    card,
    chart,
    choice,
    details,
    figures,
    heading,
    line,
    note,
    paragraph,
    state,
    table,
    tag,
    word,
)

_BEFORE, _AFTER = "#5b8fa3", "#d08a2e"  # told apart by lightness as well, on light and on dark
Document = Mapping[str, Any]


def evaluation_part(desk: Desk, found: Document | None, candidate: str) -> None:
    """The evaluation of this candidate, or the button that makes it."""
    with card(word("web_result.evaluation.title")):
        paragraph(word("web_result.evaluation.intro"))
        with line():
            key = "again" if found else "start"
            text = word(f"web_result.evaluation.{key}")
            button(text, lambda: desk.start("evaluation_report", desk.folder), "plain" if found else "primary")
            if found:
                paragraph(word("web_result.evaluation.made", when=f"{found['when'][:10]} {found['when'][11:16]} UTC"))
        if found is None:
            return
        if found["candidate"] != candidate:
            note(word("web_result.evaluation.other"), "warning")
        elif found["stale"]:
            note(word("web_result.evaluation.stale"), "warning")
        _shown(found)


def _shown(found: Document) -> None:
    report = found["evaluation"]
    _summary(report)
    note(found["residual"], "info")
    if report["risk"]:
        _risk(report["risk"])
    _losses(report["loss"]["variables"])
    _distributions(report["distributions"])
    if found["closing"]:
        _closing(found["closing"])
    if found["contrast"]:
        _contrast(found["contrast"])
    with details(word("web_result.evaluation.properties")):
        _properties(report["properties"], word("web_result.evaluation.properties"))
    with details(word("web_result.evaluation.distances")):
        _distances(report["distances"])


def _summary(report: Document) -> None:
    loss = report["loss"]
    rows = f"{messages.integer(loss['masked_rows'])} ({messages.percent(loss['masked_rows_share'])})"
    cells = f"{messages.integer(loss['masked_cells'])} ({messages.percent(loss['masked_cells_share'])})"
    counts = [messages.integer(report[side]["rows"]) for side in ("before", "after")]
    figures([
        (word("web_result.evaluation.lost"), messages.percent(loss["loss"])),
        (word("web_result.evaluation.masked_rows"), rows),
        (word("web_result.evaluation.masked_cells"), cells),
        (word("web_result.evaluation.observations"), " → ".join(counts)),
    ])  # fmt: skip


def _risk(risk: Document) -> None:
    heading(word("evaluation.section.risk"), 3)
    shown = messages.decimal(float(risk["threshold"]), 2)
    paragraph(word("evaluation.risk.quasi", names=", ".join(risk["quasi"]), threshold=shown))
    before, after = risk["before"], risk["after"]
    rows = [
        [
            word("evaluation.risk.at_risk"),
            *(_counted(side["at_risk"], side["at_risk_share"]) for side in (before, after)),
        ],
        *([word(f"evaluation.risk.{key}"), _whole(before[name]), _whole(after[name])] for key, name in _RISKS),
        [word("evaluation.risk.largest"), *(figure_text(side["largest_risk"]) for side in (before, after))],
    ]
    rows = [row for row in rows if row[1:] != ["–", "–"]]
    columns = [word("evaluation.head.measure"), word("evaluation.before"), word("evaluation.after")]
    table(columns, rows, word("evaluation.section.risk"), numbers=(1, 2))


_RISKS = (
    ("k", "k"), ("k_persons", "k_persons"), ("classes", "classes"), ("unique", "unique_rows"),
    ("suppressed", "suppressed_rows"),
)  # fmt: skip


def _counted(count: int, share: float) -> str:
    return f"{messages.integer(count)} ({messages.part(share)})"


def _whole(value: int | None) -> str:
    return "–" if value is None else messages.integer(value)


def _losses(variables: Sequence[Document]) -> None:
    heading(word("web_result.evaluation.by_variable"), 3)
    rows: list[list[Cell]] = [
        [
            one["variable"],
            partial(_bar, one["loss"]),
            messages.percent(one["loss"]),
            _counted(one["masked_cells"], one["masked_share"]),
            f"{messages.integer(one['missing_before'])} → {messages.integer(one['missing_after'])}",
        ]
        for one in sorted(variables, key=lambda one: -one["loss"])
    ]
    words = [word(f"evaluation.head.{key}") for key in ("variable", "loss", "loss", "masked", "missing")]
    words[1] = word("web_result.evaluation.lost")
    table(words, rows, word("web_result.evaluation.by_variable"), numbers=(2, 3, 4))


def _bar(share: float) -> None:
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    with tag("span", classes="c-meter", aria_hidden="true"):
        tag("span").style(f"width: {width}")


# --- distributions ---------------------------------------------------------------------------------


def _distributions(found: Sequence[Document]) -> None:
    by_name = {one["variable"]: one for one in found}
    if not by_name:
        return
    heading(word("web_result.evaluation.distribution"), 3)
    options = {str(i): name for i, name in enumerate(by_name)}
    names = list(by_name)

    def chosen(value: str) -> None:
        box.clear()
        with box:
            _distribution(by_name[names[int(value)]])

    with line():
        choice(word("web_result.evaluation.variable"), options, "0", chosen)
    box = tag("div")
    chosen("0")


def _distribution(one: Document) -> None:
    if not one["labels"]:
        paragraph(word("web_result.evaluation.none_shown"))
        return
    labels = [_label(text) for text in one["labels"]]
    title = word("evaluation.chart.distribution", variable=one["variable"])
    chart(_options(labels, one["before"], one["after"]), title, height=120 + 34 * len(labels))
    with details(word("web_result.evaluation.table")):
        shares = zip(labels, one["before"], one["after"], strict=True)
        rows = [[label, messages.percent(before), messages.percent(after)] for label, before, after in shares]
        columns = [word("web_result.evaluation.category"), word("evaluation.before"), word("evaluation.after")]
        table(columns, rows, title, numbers=(1, 2))


def _label(text: str) -> str:
    if not text:
        return word("evaluation.chart.others")
    return word("evaluation.chart.masked") if is_masked(text) else text


def _options(labels: Sequence[str], before: Sequence[float], after: Sequence[float]) -> dict[str, Any]:
    """Horizontal bars, the first category on top; shares in percent."""
    axis = {"type": "category", "data": list(labels), "inverse": True,
            "axisLabel": {"width": 130, "overflow": "truncate"}}  # fmt: skip
    series = [
        {"type": "bar", "name": word(f"evaluation.{key}"), "itemStyle": {"color": colour},
         "data": [round(100 * share, 2) for share in shares]}
        for key, colour, shares in (("before", _BEFORE, before), ("after", _AFTER, after))
    ]  # fmt: skip
    return {
        "animation": False,
        "tooltip": {"trigger": "axis", "axisPointer": {"type": "shadow"}},
        "legend": {"top": 0},
        "grid": {"left": 8, "right": 24, "top": 36, "bottom": 8, "containLabel": True},
        "xAxis": {"type": "value", "axisLabel": {"formatter": "{value} %", "hideOverlap": True}},
        "yAxis": axis,
        "series": series,
    }


# --- what was asked to be kept ---------------------------------------------------------------------


def _closing(closing: Document) -> None:
    heading(word("web_result.evaluation.closing"), 3)
    key = "closing_passes" if closing["passes"] else "closing_fails"
    note(word(f"web_result.evaluation.{key}"), "good" if closing["passes"] else "bad")
    if closing["limited"]:
        note(word("web_result.evaluation.limited", names=", ".join(closing["limited"])), "bad")
    _properties([closing["observations"], *closing["properties"]], word("web_result.evaluation.closing"))


def _properties(checks: Sequence[Document], caption: str) -> None:
    keys = ("property", "variable", "before", "after", "difference", "relative", "tolerance", "result")
    columns = [word(f"evaluation.{key}" if key in ("before", "after") else f"evaluation.head.{key}") for key in keys]
    table(columns, [_property(one) for one in checks], caption, numbers=(2, 3, 4, 5, 6))


def _property(one: Document) -> list[Cell]:
    name = f"evaluation.measure.{one['property']}.name"
    told = word("evaluation.result.pass" if one["passes"] else "evaluation.result.fail")
    told = f"{told} ({word('evaluation.note.' + one['note'])})" if one["note"] else told
    numbers = [figure_text(one[key]) for key in ("before", "after", "difference")]
    shares = [percent_text(one[key]) for key in ("relative", "tolerance")]
    property_name = word(name) if messages.has(name) else one["property"]
    return [property_name, one["variable"], *numbers, *shares, partial(state, told, "good" if one["passes"] else "bad")]


def _contrast(contrast: Document) -> None:
    heading(word("web_result.evaluation.contrast"), 3)
    if "refused" in contrast:
        note(contrast["refused"], "warning")
        return
    holds = contrast["holds"]
    key = "contrast_holds" if holds else "contrast_fails"
    note(word(f"web_result.evaluation.{key}"), "good" if holds else "bad")
    rows: list[list[Cell]] = [
        [one["variable"], statistic, figure_text(pair[0]), figure_text(pair[1]), partial(_equal, pair[0] == pair[1])]
        for one in contrast["lines"]
        for statistic, pair in _statistics(one)
    ]
    keys = ("variable", "statistic", "before", "after", "result")
    columns = [word(f"evaluation.{key}" if key in ("before", "after") else f"evaluation.head.{key}") for key in keys]
    table(columns, rows, word("web_result.evaluation.contrast"), numbers=(2, 3))


def _statistics(one: Document) -> list[tuple[str, Sequence[float | None]]]:
    found = []
    for key, pair in one["statistics"].items():
        name = f"evaluation.measure.{key}.name"
        found.append((word(name) if messages.has(name) else key, pair))
    return found


def _equal(equal: bool) -> ui.element:
    return state(word("evaluation.result.equal" if equal else "evaluation.result.differs"), "good" if equal else "bad")


def _distances(found: Sequence[Document]) -> None:
    keys = ("total_variation", "hellinger", "kolmogorov_smirnov", "earth_mover")
    columns = [word("evaluation.head.variable"), *(word(f"evaluation.measure.{key}.name") for key in keys)]
    rows = [[one["variable"], *(figure_text(one[key]) for key in keys)] for one in found]
    table(columns, rows, word("web_result.evaluation.distances"), numbers=(1, 2, 3, 4))
