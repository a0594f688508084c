"""Charts made of shapes: standing and lying bars, a square per pair, a dot per release, the cells of a table.

Knows figures and their names. Ignores which report they come from. Each function is pure. Of two series the first is
grey and the second blue; a rise is orange and a fall is blue, told also by a sign, so that colour alone never speaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from celosia import messages
from celosia.drawing.picture import Drawing
from celosia.drawing.shapes import Shape, circle, clip_text, label, line, nice_top, rect

WIDTH, HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 66, 58
_ROW = 44  # pixels of a line of bars
_LONGEST = 26  # letters of a name that fit beside a bar, also wide ones
_STYLES = ("ch-before", "ch-after")
_CELL_HEIGHT = 30


@dataclass(frozen=True, slots=True)
class Series:
    """Shares of one colour, and what the colour means; without a name nothing is said of it."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table: its text, how strongly it is coloured (0..1), and whether it is hidden."""

    text: str
    strength: float = 0.0
    hidden: bool = False


def before_and_after(before: Sequence[float], after: Sequence[float]) -> tuple[Series, Series]:
    """Two series named by the words for before and after."""
    return (
        Series(messages.text("evaluation.before"), tuple(before)),
        Series(messages.text("evaluation.after"), tuple(after)),
    )


def vertical_bars(key: str, title: str, names: Sequence[str], series: Sequence[Series], axis: str) -> Drawing:
    """Vertical bars of one or two colours."""
    top, step = nice_top([value for part in series for value in part.values])
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    slot = width / max(len(names), 1)
    wide = 0.34 if len(series) > 1 else 0.7
    shapes = [*_heading(title, series), *_grid(top, step, width)]
    for i, name in enumerate(names):
        for j, (part, style) in enumerate(zip(series, _styles(series), strict=False)):
            tall = height * part.values[i] / top
            x = _LEFT + slot * (i + 0.14 + 0.36 * j)
            shapes.append(rect(style, x, _TOP + height - tall, slot * wide, tall, messages.percent(part.values[i])))
        shapes.append(label(_LEFT + slot * (i + 0.5), _TOP + height + 18, name, "middle"))
    shapes.append(line("ch-axis", _LEFT, _TOP + height, _LEFT + width, _TOP + height))
    shapes.append(label(_LEFT + width / 2, HEIGHT - 14, axis, "middle"))
    return Drawing(key, title, _description(names, series), WIDTH, HEIGHT, tuple(shapes))


def horizontal_bars(key: str, title: str, names: Sequence[str], series: Sequence[Series]) -> Drawing:
    """Horizontal bars of one or two colours, one line per name: room for long names."""
    top, _ = nice_top([value for part in series for value in part.values])
    left, width = 230, WIDTH - 230 - 90
    thick = (_ROW - 14) / max(len(series), 1)
    shapes = _heading(title, series)
    for i, name in enumerate(names):
        y = _TOP + 8 + _ROW * i
        shapes.append(label(left - 10, y + (_ROW - 14) / 2 + 5, clip_text(name, _LONGEST), "end"))
        for j, (part, style) in enumerate(zip(series, _styles(series), strict=False)):
            long = width * part.values[i] / top
            shapes.append(rect(style, left, y + thick * j, long, thick - 1, name))
            shapes.append(label(left + long + 6, y + thick * (j + 0.5) + 4, messages.part(part.values[i], 1)))
    height = _TOP + _ROW * len(names) + 20
    shapes.append(line("ch-axis", left, _TOP, left, height - 16))
    return Drawing(key, title, _description(names, series), WIDTH, height, tuple(shapes))


def pair_squares(
    title: str, words: str, key: str, names: Sequence[str], change: Sequence[Sequence[float | None]]
) -> Drawing:
    """What was added to a figure of each pair: a square per pair, with the figure in it; `key` explains the colours."""
    cell = max(30.0, min(64.0, 540 / len(names)))
    left, top = 190, 66 + 5.6 * min(max(len(name) for name in names), 16)
    shapes = [label(16, 28, title, style="ch-strong")]
    for i, row in enumerate(names):
        shapes.append(label(left - 8, top + cell * (i + 0.5) + 4, clip_text(row), "end"))
        shapes.append(label(left + cell * (i + 0.5) + 4, top - 8, clip_text(row, 16), turned=-45))
        for j in range(i + 1):
            value = None if i == j else change[i][j]
            shapes += _square(f"{names[i]} · {names[j]}", value, left + cell * j, top + cell * i, cell)
    width = round(max(left + cell * len(names) + 110, 460))
    height = round(top + cell * len(names) + 50)
    shapes.append(label(16, height - 16, key))
    return Drawing("association", title, words, width, height, tuple(shapes))


def risk_and_loss(title: str, points: Sequence[tuple[str, float, float]], axes: tuple[str, str]) -> Drawing:
    """One dot per release (name, share at risk, share of information lost): near the corner is better."""
    high, step = nice_top([risk for _, risk, _ in points])
    wide, across = nice_top([loss for _, _, loss in points])
    high, wide = min(max(high, step), 1.0), min(max(wide, across), 1.0)
    plot_w, plot_h = WIDTH - _LEFT - 150, HEIGHT - _TOP - _BOTTOM
    shapes = [label(16, 28, title, style="ch-strong"), *_grid(high, step, plot_w)]
    for i in range(round(wide / across) + 1):
        x = _LEFT + plot_w * i * across / wide
        shapes.append(line("ch-grid", x, _TOP, x, _TOP + plot_h))
        shapes.append(label(x, _TOP + plot_h + 18, messages.percent(i * across, _digits(across)), "middle"))
    shapes.append(label(_LEFT + plot_w / 2, HEIGHT - 14, axes[0], "middle"))
    shapes.append(label(16, _TOP - 14, axes[1]))
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
    return Drawing("risk-utility", title, words, WIDTH, HEIGHT, tuple(shapes))


def table_cells(
    key: str, title: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Cell]]
) -> Drawing:
    """The cells of a table: the larger the figure, the stronger the colour; what is hidden has an edge and a mark."""
    left, top = 190, _TOP + 12
    wide = max(44.0, min(110.0, 900 / max(len(columns), 1)))
    shapes = [label(16, 28, clip_text(title, 84), style="ch-strong")]
    for j, name in enumerate(columns):
        longest = max(int(wide / 7.5), 5)
        shapes.append(label(left + wide * (j + 0.5), top - 8, clip_text(name, longest), "middle"))
    for i, (name, line_of_cells) in enumerate(zip(rows, cells, strict=True)):
        y = top + _CELL_HEIGHT * i
        shapes.append(label(left - 8, y + _CELL_HEIGHT / 2 + 4, clip_text(name), "end"))
        for j, cell in enumerate(line_of_cells):
            shapes += _table_cell(cell, left + wide * j, y, wide)
    width = round(max(left + wide * len(columns) + 16, 460))
    height = round(top + _CELL_HEIGHT * len(rows) + 20)
    words = "; ".join(
        f"{row}: {', '.join(cell.text for cell in line_of_cells)}"
        for row, line_of_cells in zip(rows, cells, strict=True)
    )
    return Drawing(key, title, words, width, height, tuple(shapes))


def _table_cell(cell: Cell, x: float, y: float, wide: float) -> list[Shape]:
    box = (x, y, wide - 2, _CELL_HEIGHT - 2)
    shapes = [rect("ch-none", *box)]
    shapes.append(rect("ch-edge", *box) if cell.hidden else rect("ch-after", *box, "", 0.5 * cell.strength))
    return [*shapes, label(x + wide / 2 - 1, y + _CELL_HEIGHT / 2 + 4, cell.text, "middle")]


def _styles(series: Sequence[Series]) -> Sequence[str]:
    """The colour of each series; one alone and without a name is blue."""
    return _STYLES if any(part.name for part in series) else _STYLES[1:]


def _heading(title: str, series: Sequence[Series]) -> list[Shape]:
    """The title and what each colour means."""
    shapes = [label(16, 28, clip_text(title, 84), style="ch-strong")]
    x = 16.0
    for style, part in zip(_STYLES, series, strict=False):
        if part.name:
            shapes.append(rect(style, x, 40, 12, 12))
            shapes.append(label(x + 18, 51, part.name))
            x += max(110.0, 40 + 7.5 * len(part.name))
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


def _square(pair: str, value: float | None, x: float, y: float, cell: float) -> list[Shape]:
    if value is None:
        return [rect("ch-none", x, y, cell - 2, cell - 2)]
    style = "ch-up" if value > 0 else "ch-down"
    strength = 0.0 if abs(value) < 0.005 else 0.12 + 0.5 * min(abs(value), 1.0)
    shown = "0" if abs(value) < 0.005 else ("+" if value > 0 else "−") + messages.decimal(abs(value), 2)
    box = (x, y, cell - 2, cell - 2)
    shapes = [rect("ch-none", *box), rect(style, *box, f"{pair}: {shown}", strength)]
    return [*shapes, label(x + cell / 2 - 1, y + cell / 2 + 4, shown, "middle")] if cell >= 40 else shapes


def _description(names: Sequence[str], series: Sequence[Series]) -> str:
    """The figures of a picture for those who listen to it."""
    parts = [
        f"{name}: {' → '.join(messages.percent(part.values[i]) for part in series)}" for i, name in enumerate(names)
    ]
    return "; ".join(parts)
