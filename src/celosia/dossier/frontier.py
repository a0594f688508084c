"""The frontier as a picture and as a page: loss against suppressed share, one line per k.

The picture is plain SVG with its style inside: no script, readable on light and dark paper. A few values of k are
coloured and named at the end of their line; the others are thin. The horizontal scale is a square root, because
most limits people ask for lie below a tenth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from celosia import messages
from celosia.dossier.figures import limit_text, loss_text, metric_text
from celosia.dossier.page import render
from celosia.model.reports.explanation import Frontier, FrontierPoint

WIDTH, HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 84, 18, 56
_NAMED = (2, 3, 5, 10, 20)
_TICKS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
_LABEL_STEP = 16  # pixels between the names of two lines


@dataclass(frozen=True, slots=True)
class Line:
    """One k: its dots in pixels and, when it is named, its colour number, its name and where it stands."""

    k: int
    dots: tuple[tuple[float, float], ...]
    colour: int | None = None
    label: str = ""
    label_y: float = 0.0

    @property
    def path(self) -> str:
        """The dots as SVG writes a polyline."""
        return " ".join(f"{x},{y}" for x, y in self.dots)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """All that the template draws, in pixels."""

    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x_name: str
    y_name: str
    title: str
    description: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


def frontier_svg(frontier: Frontier) -> str:
    """The picture as a file of its own."""
    return render("frontier.svg.j2", plot=frontier_plot(frontier))


def frontier_page(frontier: Frontier) -> str:
    """The picture and the table behind it as one self-contained HTML page."""
    return render("frontier.html.j2", frontier=frontier, plot=frontier_plot(frontier), table=frontier_table(frontier))


def frontier_plot(frontier: Frontier) -> Plot:
    """Where everything goes."""
    feasible = [point.outcome for point in frontier.points if point.outcome.loss is not None]
    widest = _next_tick(max((outcome.suppressed_share for outcome in feasible), default=0.0))
    step = _tick_step(max((outcome.loss or 0.0 for outcome in feasible), default=1.0))
    highest = step * max(math.ceil(max((outcome.loss or 0.0 for outcome in feasible), default=1.0) / step - 1e-9), 1)
    lines = [_line(frontier, k, widest, highest) for k in frontier.ks]
    return Plot(
        lines=_label_lines([line for line in lines if line.dots]),
        x_ticks=tuple(Tick(_x_position(tick, widest), messages.percent(tick, 0)) for tick in _x_ticks(widest)),
        y_ticks=_y_ticks(frontier.metric, step, highest),
        x_name=messages.text("explain.frontier.x"),
        y_name=metric_text(frontier.metric),
        title=messages.text("explain.frontier.title"),
        description=messages.text(
            "explain.frontier.description", first=frontier.ks[0], last=frontier.ks[-1], rows=frontier.rows
        ),
    )


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the table; `repeated` when the limit before has the same solution."""

    text: str
    repeated: bool = False


def frontier_table(frontier: Frontier) -> tuple[list[str], list[list[Cell]]]:
    """Heads and cells: one row per k, one column per limit."""
    heads = ["k", *(limit_text(limit) for limit in frontier.limits)]
    return heads, [[Cell(messages.integer(k)), *_cells(frontier, k)] for k in frontier.ks]


def _cells(frontier: Frontier, k: int) -> list[Cell]:
    points = [frontier.at(k, limit) for limit in frontier.limits]
    before = [None, *points]
    return [
        Cell(_cell(point, frontier.metric), _is_same_point(point, left))
        for point, left in zip(points, before, strict=False)
    ]


def _is_same_point(point: FrontierPoint | None, left: FrontierPoint | None) -> bool:
    return point is not None and left is not None and point.outcome == left.outcome


def _cell(point: FrontierPoint | None, metric: str) -> str:
    if point is None:
        return messages.text("explain.none")
    outcome = point.outcome
    share = messages.percent(outcome.suppressed_share)
    if outcome.loss is None:
        return messages.text("explain.cell_none", share=share)
    mark = "" if outcome.proved else "≥ "
    return messages.text("explain.cell", loss=mark + loss_text(metric, outcome.loss), share=share)


def _x_position(share: float, widest: float) -> float:
    return round(_LEFT + math.sqrt(share / widest) * (WIDTH - _LEFT - _RIGHT), 1)


def _y_position(loss: float, highest: float) -> float:
    return round(HEIGHT - _BOTTOM - loss / highest * (HEIGHT - _TOP - _BOTTOM), 1)


def _next_tick(share: float) -> float:
    return next(tick for tick in (*_TICKS[1:], math.inf) if share <= tick)


def _x_ticks(widest: float) -> list[float]:
    """Ticks up to the widest, the crowded ones left out."""
    chosen: list[float] = []
    for tick in (tick for tick in _TICKS if tick <= widest):
        if not chosen or _x_position(tick, widest) - _x_position(chosen[-1], widest) >= 36:
            chosen.append(tick)
    return chosen


def _tick_step(highest: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that makes four to eight ticks."""
    rough = (highest or 1.0) / 7
    power = 10 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)


def _y_ticks(metric: str, step: float, highest: float) -> tuple[Tick, ...]:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    values = [step * i for i in range(round(highest / step) + 1)]
    return tuple(Tick(_y_position(value, highest), messages.decimal(value, digits)) for value in values)


def _line(frontier: Frontier, k: int, widest: float, highest: float) -> Line:
    outcomes = [point.outcome for point in frontier.line(k)]
    dots = [(_x_position(o.suppressed_share, widest), _y_position(o.loss or 0.0, highest)) for o in outcomes]
    return Line(k, tuple(dict.fromkeys(dots)))


def _labelled_ks(ks: Sequence[int]) -> list[int]:
    """The values of k that are coloured: the usual ones, or a few spread over what there is."""
    usual = [k for k in ks if k in _NAMED]
    if len(usual) >= min(len(ks), 3):
        return usual
    last = len(ks) - 1
    return sorted({ks[round(i * last / (len(_NAMED) - 1))] for i in range(len(_NAMED))})


def _label_lines(lines: list[Line]) -> tuple[Line, ...]:
    """Colours and names for a few lines; names stand apart from each other, in the order of their ends."""
    named = _labelled_ks([line.k for line in lines])
    ends = sorted((line for line in lines if line.k in named), key=lambda line: (line.dots[-1][1], -line.k))
    places = _spread_heights([line.dots[-1][1] for line in ends], _TOP + 6, HEIGHT - _BOTTOM - 4)
    where = {line.k: place for line, place in zip(ends, places, strict=True)}
    thin = [line for line in lines if line.k not in named]
    bold = [
        Line(line.k, line.dots, named.index(line.k), messages.text("explain.frontier.label", k=line.k), where[line.k])
        for line in lines
        if line.k in named
    ]
    return (*thin, *bold)


def _spread_heights(wanted: list[float], top: float, bottom: float) -> list[float]:
    """Heights near the wanted ones (ascending) that leave room for a name each."""
    placed: list[float] = []
    for place in wanted:
        placed.append(max(place, placed[-1] + _LABEL_STEP if placed else top))
    over = max(placed[-1] - bottom, 0) if placed else 0
    for i in range(len(placed) - 1, -1, -1):
        placed[i] -= over
        over = max(0.0, placed[i - 1] + _LABEL_STEP - placed[i]) if i else 0
    return [round(place, 1) for place in placed]
