"""The page of a report: one file, style and pictures inside, readable on paper.

Knows the report as data. Shapes and the house's page come from the product's documents; only the colours of the
curves are this page's own. Nothing on it comes from elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

import celosia.dossier as dossier
from bench.terminal import amount_text, change_text, faster_text, ratio_text
from celosia.drawing.picture import Drawing
from celosia.drawing.shapes import Shape, circle, label, line

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 176, 34, 44  # room around the plot
COLOURS = 8
STRIP, STRIP_HEIGHT = 130, 18
STRIP_DECADES = (-3.0, 2.0)  # ratios from 1/1000 to 100


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: its name at the end, its points, and whether it is only there to compare with."""

    name: str
    points: tuple[tuple[float, float], ...]
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis: pixels for values."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """The powers of ten on it; also twos and fives where there are few."""
        decades = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1, 2, 5) if self.high - self.low < 2 else (1,)
        found = [step * 10.0**power for power in decades for step in steps]
        return [value for value in found if self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9]


def page_of(report: Mapping[str, Any]) -> str:
    """The report as HTML."""
    figures = [figure for bench in report["benches"] for figure in bench["figures"]]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            report=report,
            language="en",
            machine=machine_text(report["machine"]),
            cards=cards(report, figures),
            worse=[(bench["bench"], one) for bench in report["benches"] for one in bench["figures"] if one["worse"]],
            failures=[(bench["bench"], text) for bench in report["benches"] for text in bench["failures"]],
            charts=[Markup(drawing.svg()) for drawing in charts(report["curves"])],
            strip=lambda figure: Markup(strip(figure)),
            ratio=ratio_text,
            amount=amount_text,
            faster=faster_text,
            change=change_text,
        )
    )


def cards(report: Mapping[str, Any], figures: Sequence[Mapping[str, Any]]) -> list[tuple[int, str, str]]:
    """Number, words and colour of each summary."""
    worse = sum(figure["worse"] for figure in figures)
    compared = sum(figure["change"] is not None for figure in figures)
    missed = sum(figure["reached"] is False for figure in figures)
    failures = sum(len(bench["failures"]) for bench in report["benches"])
    return [
        (sum(figure["ratio"] is not None for figure in figures), "ratios measured", ""),
        (worse, f"more than 25 % worse, of {compared} compared", "red" if worse else ""),
        (sum(figure["reached"] is True for figure in figures), "goals reached", "green"),
        (missed, "goals missed", "amber" if missed else ""),
        (failures, "failures", "red" if failures else ""),
        (sum(figure["ratio"] is None for figure in figures), "not measured", ""),
    ]


def machine_text(machine: Mapping[str, Any]) -> str:
    """The machine in one line."""
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items())
    hardware = f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gb']:g} GB"
    return f"{hardware}, {machine['system']} {machine['architecture']}, Python {machine['python']}; {libraries}"


def charts(curves: Sequence[Mapping[str, Any]]) -> Iterable[Drawing]:
    """For each bench with curves: amounts over rows, and ratios over rows."""
    for bench in dict.fromkeys(curve["bench"] for curve in curves):
        own = [curve for curve in curves if curve["bench"] == bench]
        ours = [Line(f"{curve['series']} {curve['slope']:.2f}", _points(curve, "ours")) for curve in own]
        theirs = {
            curve["against"]: Line(f"{curve['against']} {curve['their_slope']:.2f}", _points(curve, "theirs"), True)
            for curve in own
            if "against" in curve
        }
        unit = "seconds" if own[0]["of"] == "seconds" else own[0]["of"]
        yield log_chart(f"{bench}-amounts", f"{bench}: {unit} by rows (exponent of growth)", [*ours, *theirs.values()])
        ratios = [Line(curve["series"], _points(curve, "ratio")) for curve in own]
        yield log_chart(f"{bench}-ratios", f"{bench}: ratio by rows", ratios)


def log_chart(name: str, title: str, lines: Sequence[Line]) -> Drawing:
    """Curves on logarithmic axes, each named at its end."""
    across = _axis((x for one in lines for x, _ in one.points), LEFT, WIDTH - RIGHT)
    up = _axis((y for one in lines for _, y in one.points), HEIGHT - BOTTOM, TOP)
    shapes = [label(LEFT, 18, title, style="ch-strong"), *_grid(across, up)]
    places = _spread_out([up.at(one.points[-1][1]) for one in lines])
    for number, (one, place) in enumerate(zip(lines, places, strict=True)):
        shapes += _curve(one, "quiet" if one.quiet else str(number % COLOURS), across, up, place)
    said = "; ".join(f"{one.name}: {', '.join(f'{x:,.0f} {y:.3g}' for x, y in one.points)}" for one in lines)
    return Drawing(name, title, said, WIDTH, HEIGHT, tuple(shapes))


def strip(figure: Mapping[str, Any]) -> str:
    """A ratio on its own small scale: one is the middle line, the bar goes from least to most, a tick is the goal."""
    axis = Axis(*STRIP_DECADES, 4, STRIP - 4)
    middle, colour = STRIP_HEIGHT / 2, "worse" if figure["worse"] else "late" if figure["reached"] is False else "0"
    shapes = [line("ch-grid", 4, middle, STRIP - 4, middle), line("ch-axis", axis.at(1), 2, axis.at(1), 16)]
    if figure["goal"]:
        goal = _held(axis, figure["goal"])
        shapes.append(line("ch-limit", goal, 1, goal, 17))
    least, most, ratio = (_held(axis, figure[key]) for key in ("least", "most", "ratio"))
    shapes += [
        line(f"bench-line-{colour}", least, middle, most, middle),
        circle(f"bench-dot-{colour}", ratio, middle, 4),
    ]
    said = f"{ratio_text(figure['ratio'])} ({ratio_text(figure['least'])} to {ratio_text(figure['most'])})"
    return Drawing(_id(figure["id"]), figure["name"], said, STRIP, STRIP_HEIGHT, tuple(shapes)).svg()


def _curve(one: Line, colour: str, across: Axis, up: Axis, place: float) -> list[Shape]:
    dots = [(across.at(x), up.at(y)) for x, y in one.points]
    joined = [line(f"bench-line-{colour}", *start, *end) for start, end in pairwise(dots)]
    marks = [circle(f"bench-dot-{colour}", x, y, 3.5, f"{one.name}: {point[0]:,.0f}, {point[1]:.3g}")
             for (x, y), point in zip(dots, one.points, strict=True)]  # fmt: skip
    lead = line("ch-grid", dots[-1][0] + 5, dots[-1][1], WIDTH - RIGHT + 10, place)
    return [*joined, lead, *marks, label(WIDTH - RIGHT + 14, place + 4, one.name, style=f"bench-name-{colour}")]


def _grid(across: Axis, up: Axis) -> list[Shape]:
    shapes = []
    for value in across.ticks():
        x = across.at(value)
        shapes += [line("ch-grid", x, TOP, x, HEIGHT - BOTTOM), label(x, HEIGHT - BOTTOM + 18, _rows(value), "middle")]
    for value in up.ticks():
        y = up.at(value)
        shapes += [line("ch-grid", LEFT, y, WIDTH - RIGHT, y), label(LEFT - 8, y + 4, f"{value:g}", "end")]
    shapes.append(label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "rows", "middle"))
    return [*shapes, line("ch-axis", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM)]


def _axis(values: Iterable[float], start: float, end: float) -> Axis:
    logs = [math.log10(value) for value in values]
    low, high = min(logs), max(logs)
    space = max((high - low) * 0.04, 0.02)
    return Axis(low - space, high + space, start, end)


def _spread_out(places: Sequence[float], least: float = 15.0) -> list[float]:
    """Names moved apart so that none covers another."""
    found = list(places)
    lowest = TOP - least
    for index in sorted(range(len(found)), key=found.__getitem__):
        found[index] = lowest = max(found[index], lowest + least)
    over = max(0.0, lowest - (HEIGHT - BOTTOM))
    return [place - over for place in found]


def _held(axis: Axis, value: float) -> float:
    """The pixel of a value, at the edge where it lies outside."""
    return min(max(axis.at(value), axis.start), axis.end)


def _points(curve: Mapping[str, Any], key: str) -> tuple[tuple[float, float], ...]:
    return tuple(zip(curve["rows"], curve[key], strict=True))


def _rows(value: float) -> str:
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def _id(text: str) -> str:
    return "f-" + "".join(character if character.isalnum() else "-" for character in text)


def _environment() -> jinja2.Environment:
    folders = [Path(__file__).parent, Path(dossier.__file__).parent / "templates"]
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
