"""What every report shows of itself: in words, as a table, as data, as a picture.

Knows how to write lines of figures. Ignores what they mean: each report gives its sentence (`summary`), its lines
(`records`) and its pictures (`drawings`). A line holds names of variables, counts and shares, never the record of a
person; what a notebook shows is escaped and readable on light and dark paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from celosia import messages
from celosia.drawing.picture import Drawing
from celosia.drawing.svg import escape
from celosia.model.errors import NothingToDraw
from celosia.model.value_errors import ValueOutOfRange

if TYPE_CHECKING:
    from celosia.frames import FrameKind

Records = Sequence[Mapping[str, Any]]
Drawings = Mapping[str, Callable[[], Drawing]]
_SHOWN = 20  # lines in a notebook; `to_frame` gives all
_TABLE = "border-collapse:collapse;font-size:.9em;margin:.4em 0;min-width:36em"
_CELL = "padding:.2em .7em;border-bottom:1px solid rgba(128,128,128,.4);color:inherit;background:none"


class Report:
    """The common face of the reports that the library answers with."""

    __slots__ = ("_kind",)
    _kind: Literal["pandas", "polars", "arrow"] | None

    @property
    def summary(self) -> str:
        """The report in one sentence or two."""
        raise NotImplementedError

    def records(self) -> Records:
        """The lines of the report, by the names of their columns."""
        raise NotImplementedError

    def words(self) -> Records:
        """The lines as a reader sees them; the same unless a report has names of its own for things."""
        return self.records()

    def drawings(self) -> Drawings:
        """What can be drawn of the report, by name, the most telling first."""
        return {}

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, the same that the command line writes with --json."""
        return self.as_dict()

    def to_frame(self, kind: str | None = None) -> Any:
        """The lines as a frame of `kind`; else of the kind handed in, else of the library that is installed."""
        # Arrow is loaded only where a frame is asked for.
        from celosia.frames import make_frame

        return make_frame(self.records(), kind or getattr(self, "_kind", None))

    def plot(self, name: str | None = None) -> Drawing:
        """A picture of the report: the first, or the one named; a notebook shows it and `save` writes it."""
        drawings = self.drawings()
        if not drawings:
            raise NothingToDraw(report=type(self).__name__)
        chosen = next(iter(drawings)) if name is None else name
        if chosen not in drawings:
            raise ValueOutOfRange(parameter="name", given=name, allowed=", ".join(drawings))
        return drawings[chosen]()

    def of_kind(self, kind: FrameKind | None) -> Self:
        """The same report, which remembers the kind of the frame it was made from."""
        object.__setattr__(self, "_kind", kind)
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    def _repr_html_(self) -> str:
        return html_table(self.summary, self.words())


def html_table(caption: str, records: Records) -> str:
    """Lines as a small table with its title; numbers are aligned right, and the number of lines left out is given."""
    names = tuple(dict.fromkeys(name for record in records for name in record))
    head = "".join(
        f'<th scope="col" style="{_style(_is_figure(records, name))}">{_heading(name)}</th>' for name in names
    )
    body = "".join(_html_line(record, names) for record in records[:_SHOWN])
    more = len(records) - _SHOWN
    note = f"<p>{escape(messages.text('reports.more_lines', count=more))}</p>" if more > 0 else ""
    title = f'<caption style="text-align:left;color:inherit;padding:.3em 0">{escape(caption)}</caption>'
    return f'<table style="{_TABLE}">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}'


def _html_line(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """A line: its first cell is its heading."""
    cells = []
    for position, name in enumerate(names):
        value = record.get(name)
        tag = "td" if position else 'th scope="row"'
        style = _style(_is_number(value)) + (";font-weight:normal" if not position else "")
        cells.append(f'<{tag} style="{style}">{escape(_cell_text(value))}</{tag[:2]}>')
    return f"<tr>{''.join(cells)}</tr>"


def _heading(name: str) -> str:
    """The words for a column; a column named by the data keeps its name."""
    key = f"reports.heading.{name}"
    return escape(messages.text(key) if messages.has(key) else name)


def _style(figure: bool) -> str:
    return f"{_CELL};text-align:{'right' if figure else 'left'}"


def _is_figure(records: Records, name: str) -> bool:
    return any(_is_number(record.get(name)) for record in records)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell_text(value: Any) -> str:
    """A value in the words of the reader."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return messages.text("reports.yes" if value else "reports.no")
    if isinstance(value, int):
        return messages.integer(value)
    if isinstance(value, float):
        return messages.decimal(value, 4)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def flat_lines(figures: Mapping[str, Any], before: str = "") -> list[dict[str, Any]]:
    """Nested figures as lines of a name and a value; the parts of a name are joined by dots."""
    lines: list[dict[str, Any]] = []
    for name, value in figures.items():
        if isinstance(value, Mapping):
            lines += flat_lines(value, f"{before}{name}.")
        elif not isinstance(value, list | tuple):
            lines.append({"figure": before + name, "value": value})
    return lines
