"""Pictures of an evaluation: class sizes, risk by scenario, distributions, change of associations, risk against loss.

Knows figures. Each function is pure: data in, SVG text out. Before is grey and after is blue; a rise is orange and a
fall is blue, told also by a sign, so that colour alone never speaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from celosia import messages
from celosia.dossier.drawing import Drawing, Shape, circle, clip_text, label, line, nice_top, rect
from celosia.model.reports.evaluation import AssociationChange, Distribution, EvaluationReport, RiskComparison
from celosia.model.reports.scenarios import threshold_text

WIDTH, HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 66, 58
_ROW = 44  # pixels of a line of bars
_LONGEST = 26  # letters of a name that fit beside a bar, also wide ones
_INTERVAL = re.compile(r"(≤ |> )?-?\d+(\.\d+)?(–-?\d+(\.\d+)?)?")
_FRACTION = re.compile(r"-?\d+\.\d+")


def class_size_svg(risk: RiskComparison) -> str:
    """Share of rows by the size of their class, before and after."""
    names = [name for name, _, _ in risk.before.class_sizes]
    before = [rows / max(risk.before.rows, 1) for _, _, rows in risk.before.class_sizes]
    after = [rows / max(risk.after.rows, 1) for _, _, rows in risk.after.class_sizes]
    return _columns(
        "class-sizes",
        messages.text("evaluation.chart.class_sizes"),
        names,
        (before, after),
        messages.text("evaluation.chart.class_size_axis"),
    )


def distribution_svg(distribution: Distribution, number: int = 0) -> str:
    """Shares of a variable's categories, before and after."""
    others = messages.text("evaluation.chart.others")
    masked = messages.text("evaluation.chart.masked")
    names = [
        others if not name else masked if set(name) == {"*"} else _category_label(name) for name in distribution.labels
    ]
    return _bars(
        f"distribution-{number}",
        messages.text("evaluation.chart.distribution", variable=distribution.variable),
        names,
        (distribution.before, distribution.after),
    )


def _category_label(name: str) -> str:
    """A category; the ends of an interval of numbers with the decimal mark of the language."""
    if not _INTERVAL.fullmatch(name):
        return name
    return _FRACTION.sub(lambda found: messages.decimal(float(found[0]), len(found[0].partition(".")[2])), name)


def scenario_risk_svg(scenarios: Sequence[tuple[str, float, float | None]], threshold: str) -> str:
    """Share at risk in each scenario (name, before, after), the riskiest first."""
    ordered = sorted(scenarios, key=lambda one: (-one[1], one[0]))
    after = [share for _, _, share in ordered]
    known = [share for share in after if share is not None]
    second = [share or 0.0 for share in after] if known else None
    shown = threshold_text(threshold)
    title = messages.text("evaluation.chart.scenarios", threshold=shown)
    return _bars("scenarios", title, [name for name, _, _ in ordered], ([scenario[1] for scenario in ordered], second))


def correlation_change_svg(change: AssociationChange) -> str:
    """What was added to the association of each pair: a square per pair, with the figure in it."""
    names, cell = change.variables, max(30.0, min(64.0, 540 / len(change.variables)))
    left, top = 190, 66 + 5.6 * min(max(len(name) for name in names), 16)
    shapes = [label(16, 28, messages.text("evaluation.chart.association"), style="ch-strong")]
    for i, row in enumerate(names):
        shapes.append(label(left - 8, top + cell * (i + 0.5) + 4, clip_text(row), "end"))
        shapes.append(label(left + cell * (i + 0.5) + 4, top - 8, clip_text(row, 16), turned=-45))
        shapes += [s for j in range(i + 1) for s in _square(change, i, j, left, top, cell)]
    width = round(max(left + cell * len(names) + 110, 460))
    height = round(top + cell * len(names) + 50)
    shapes.append(label(16, height - 16, messages.text("evaluation.chart.association_key")))
    return Drawing(
        "association",
        messages.text("evaluation.chart.association"),
        messages.text("evaluation.chart.association_words", largest=change.largest or 0.0, mean=change.mean or 0.0),
        width,
        height,
        tuple(shapes),
    ).svg()


def risk_utility_svg(points: Sequence[tuple[str, float, float]], threshold: str) -> str:
    """One dot per release (name, share at risk, share of information lost): near the corner is better."""
    high, step = nice_top([risk for _, risk, _ in points])
    wide, across = nice_top([loss for _, _, loss in points])
    high, wide = min(max(high, step), 1.0), min(max(wide, across), 1.0)
    plot_w, plot_h = WIDTH - _LEFT - 150, HEIGHT - _TOP - _BOTTOM
    title = messages.text("evaluation.chart.risk_utility")
    shapes = [label(16, 28, title, style="ch-strong"), *_grid(high, step, plot_w)]
    for i in range(round(wide / across) + 1):
        x = _LEFT + plot_w * i * across / wide
        shapes.append(line("ch-grid", x, _TOP, x, _TOP + plot_h))
        shapes.append(label(x, _TOP + plot_h + 18, messages.percent(i * across, _digits(across)), "middle"))
    shapes.append(label(_LEFT + plot_w / 2, HEIGHT - 14, messages.text("evaluation.chart.loss_axis"), "middle"))
    shown = threshold_text(threshold)
    shapes.append(label(16, _TOP - 14, messages.text("evaluation.chart.risk_axis", threshold=shown)))
    named: list[tuple[float, float]] = []
    for i, (name, risk, loss) in enumerate(points):
        x, y = _LEFT + plot_w * loss / wide, _TOP + plot_h * (1 - risk / high)
        shapes.append(circle("ch-before" if i == 0 and len(points) > 1 else "ch-after", x, y, 7, name))
        beside = y - 12 if y > _TOP + plot_h - 30 else y + 20  # clear of the axis
        while any(abs(beside - there) < 15 and abs(x - at) < 90 for at, there in named):
            beside += 15 if beside > y else -15  # names of points that lie together stand one under the other
        named.append((x, beside))
        shapes.append(label(x + 12, beside, clip_text(name, 24)))
    words = "; ".join(f"{name}: {messages.percent(risk)}, {messages.percent(loss)}" for name, risk, loss in points)
    return Drawing("risk-utility", title, words, WIDTH, HEIGHT, tuple(shapes)).svg()


def pictures(report: EvaluationReport) -> dict[str, str]:
    """Every picture of a report, by the name of its file."""
    drawings: dict[str, str] = {}
    if report.risk is not None:
        risk, before, after = report.risk, report.risk.before, report.risk.after
        drawings["class-sizes"] = class_size_svg(risk)
        drawings["risk"] = scenario_risk_svg(risk.scenarios, risk.threshold)
        points = [(messages.text("evaluation.before"), before.at_risk_share, 0.0)]
        points.append((messages.text("evaluation.after"), after.at_risk_share, report.loss.loss))
        drawings["risk-utility"] = risk_utility_svg(points, risk.threshold)
    if report.association is not None:
        drawings["association"] = correlation_change_svg(report.association)
    for number, distribution in enumerate(report.distributions, start=1):
        if distribution.labels:
            drawings[f"distribution-{number:02d}"] = distribution_svg(distribution, number)
    return drawings


def _columns(
    key: str, title: str, names: Sequence[str], series: tuple[Sequence[float], Sequence[float]], axis: str
) -> str:
    """Standing bars in pairs."""
    top, step = nice_top([*series[0], *series[1]])
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    slot = width / max(len(names), 1)
    shapes = [*_heading(title), *_grid(top, step, width)]
    for i, name in enumerate(names):
        for j, style in enumerate(("ch-before", "ch-after")):
            tall = height * series[j][i] / top
            x = _LEFT + slot * (i + 0.14 + 0.36 * j)
            shapes.append(rect(style, x, _TOP + height - tall, slot * 0.34, tall, messages.percent(series[j][i])))
        shapes.append(label(_LEFT + slot * (i + 0.5), _TOP + height + 18, name, "middle"))
    shapes.append(line("ch-axis", _LEFT, _TOP + height, _LEFT + width, _TOP + height))
    shapes.append(label(_LEFT + width / 2, HEIGHT - 14, axis, "middle"))
    return Drawing(key, title, _words(names, series), WIDTH, HEIGHT, tuple(shapes)).svg()


def _bars(key: str, title: str, names: Sequence[str], series: tuple[Sequence[float], Sequence[float] | None]) -> str:
    """Lying bars, one line per name: room for long names."""
    given = [part for part in series if part is not None]
    top, _ = nice_top([value for part in given for value in part])
    left, width = 230, WIDTH - 230 - 90
    thick = (_ROW - 14) / len(given)
    shapes = _heading(title, both=len(given) > 1)
    for i, name in enumerate(names):
        y = _TOP + 8 + _ROW * i
        shapes.append(label(left - 10, y + (_ROW - 14) / 2 + 5, clip_text(name, _LONGEST), "end"))
        for j, (part, style) in enumerate(zip(given, ("ch-before", "ch-after"), strict=False)):
            long = width * part[i] / top
            shapes.append(rect(style, left, y + thick * j, long, thick - 1, name))
            shapes.append(label(left + long + 6, y + thick * (j + 0.5) + 4, messages.part(part[i], 1)))
    height = _TOP + _ROW * len(names) + 20
    shapes.append(line("ch-axis", left, _TOP, left, height - 16))
    return Drawing(key, title, _words(names, given), WIDTH, height, tuple(shapes)).svg()


def _heading(title: str, both: bool = True) -> list[Shape]:
    """The title and what the two colours mean."""
    shapes = [label(16, 28, clip_text(title, 84), style="ch-strong")]
    for i, (style, key) in enumerate((("ch-before", "before"), ("ch-after", "after"))[: 2 if both else 1]):
        shapes.append(rect(style, 16 + 110 * i, 40, 12, 12))
        shapes.append(label(34 + 110 * i, 51, messages.text(f"evaluation.{key}")))
    return shapes


def _grid(top: float, step: float, width: float) -> list[Shape]:
    height = HEIGHT - _TOP - _BOTTOM
    shapes = []
    for i in range(round(top / step) + 1):
        y = _TOP + height * (1 - i * step / top)
        shapes.append(line("ch-grid", _LEFT, y, _LEFT + width, y))
        shapes.append(label(_LEFT - 8, y + 4, messages.percent(i * step, _digits(step)), "end"))
    return shapes


def _digits(step: float) -> int:
    return 0 if step >= 0.01 else 1 if step >= 0.001 else 2


def _square(change: AssociationChange, i: int, j: int, left: float, top: float, cell: float) -> list[Shape]:
    value, x, y = change.change[i][j], left + cell * j, top + cell * i
    if i == j or value is None:
        return [rect("ch-none", x, y, cell - 2, cell - 2)]
    style = "ch-up" if value > 0 else "ch-down"
    strength = 0.0 if abs(value) < 0.005 else 0.12 + 0.5 * min(abs(value), 1.0)
    shown = "0" if abs(value) < 0.005 else ("+" if value > 0 else "−") + messages.decimal(abs(value), 2)
    pair = f"{change.variables[i]} · {change.variables[j]}: {shown}"
    shapes = [rect("ch-none", x, y, cell - 2, cell - 2), rect(style, x, y, cell - 2, cell - 2, pair, strength)]
    return [*shapes, label(x + cell / 2 - 1, y + cell / 2 + 4, shown, "middle")] if cell >= 40 else shapes


def _words(names: Sequence[str], series: Sequence[Sequence[float]]) -> str:
    """The figures of a picture for those who listen to it."""
    parts = [f"{name}: {' → '.join(messages.percent(part[i]) for part in series)}" for i, name in enumerate(names)]
    return "; ".join(parts)
