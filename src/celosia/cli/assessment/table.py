"""`celosia table`: a protected cross table, and why each suppressed cell is suppressed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from celosia import messages
from celosia.cli.reading import counting_options, reading_choices, reading_options
from celosia.cli.shell import argument, build_command, option
from celosia.cli.show import page_width, print_json, print_table, say, watching

Cell = Mapping[str, Any]
# Cells: nobody reads more on a terminal, and drawing them would take minutes.
_MOST_DRAWN = 10_000


def command() -> click.Command:
    """The command."""
    params = [
        argument("target"),
        option("table", "--rows", required=True),
        option("table", "--columns", default=None),
        option("table", "--k", type=click.IntRange(min=2), default=5),
        option("table", "--margins", is_flag=True),
        option("table", "--person", default=None),
        option("table", "--action", type=click.Choice(["suppress", "merge", "both"]), default="suppress"),
        option("table", "--others", default=None),
        option("table", "--zeros", type=click.Choice(["show", "hide"]), default="show"),
        option("table", "--width", type=click.IntRange(min=1), default=1),
        option("table", "--round", "base", type=click.IntRange(min=2), default=None),
        option("table", "--percent", type=click.Choice(["rows", "columns", "all"]), default=None),
        option("table", "--out", default=None),
        option("apply", "--overwrite", is_flag=True),
        *reading_options(),
        *counting_options(),
    ]
    return build_command("table", run, params)


def run(target: str, as_json: bool, out: str | None, overwrite: bool, **settings: Any) -> None:
    """Make the table, write it where a file is asked for, and show it."""
    from celosia.pipeline.assessment.cross_table import TableRequest, cross_table_of, write_table
    from celosia.pipeline.intake.open_table import open_table

    request = TableRequest(**{name: settings[name] for name in TableRequest.__dataclass_fields__})
    choices = reading_choices(settings) | {"naming": request.named_variables}
    with watching(as_json) as watch, open_table(target, watch, described=False, **choices) as data:
        report = cross_table_of(data, request, watch)
    if out is not None:
        write_table(report, out, overwrite=overwrite)
    if as_json:
        print_json(report.as_dict())
        return
    show_table(report.as_dict())
    if out is not None:
        say("cli.table.written", path=out)


def show_table(table: Mapping[str, Any]) -> None:
    """The table, unless it is too large for a terminal, and why cells are suppressed."""
    unit = messages.text(f"tables.unit.{table['unit']}")
    if len(table["cells"]) > _MOST_DRAWN:
        say("cli.table.not_drawn", cells=len(table["cells"]))
    else:
        _draw(table, unit)
    _explain(table, unit)


def _draw(table: Mapping[str, Any], unit: str) -> None:
    columns = list(dict.fromkeys(cell["column"] for cell in table["cells"]))
    lines: dict[str | None, list[str]] = {}
    for cell in table["cells"]:
        lines.setdefault(cell["row"], []).append(_cell_text(cell, table["percent"]))
    header = [_label(column) if table["columns"] else unit for column in columns]
    names = {"rows": table["rows"], "columns": table["columns"] or ""}
    title = messages.text("cli.table.title_one" if table["columns"] is None else "cli.table.title", unit=unit, **names)
    longest = max(len(label) for label in (table["rows"], *map(_label, lines)))
    for block in _blocks(page_width() - longest - 4, header, list(lines.values())):
        rows = [[_label(row), *line[block]] for row, line in lines.items()]
        print_table(title, [table["rows"], *header[block]], rows, right=range(1, len(header) + 1))


def _blocks(available: int, header: list[str], lines: list[list[str]]) -> Iterator[slice]:
    """Runs of columns that fit side by side: a number cut in two would be read as another one."""
    start, used = 0, 0
    for position, column in enumerate(header):
        width = 3 + max(len(text) for text in (column, *(line[position] for line in lines)))
        if position > start and used + width > available:
            yield slice(start, position)
            start, used = position, 0
        used += width
    yield slice(start, len(header))


def _label(category: str | None) -> str:
    return messages.text("tables.total") if category is None else category


def _cell_text(cell: Cell, percent: str | None) -> str:
    if cell["value"] is None:
        return messages.text("tables.hidden_mark")
    return messages.integer(cell["value"]) if percent is None else f"{messages.decimal(cell['value'], 2)} %"


def _explain(table: Mapping[str, Any], unit: str) -> None:
    """In words: what was merged or rounded, and every suppressed cell with its reason."""
    if table["merged"]:
        say("cli.table.merged", label=table["merged"]["label"], categories=", ".join(table["merged"]["categories"]))
    if table["method"] == "round":
        say("cli.table.rounded", base=table["base"])
        if not table["repeatable"]:
            say("cli.table.not_repeatable")
        return
    hidden = [cell for cell in table["cells"] if cell["value"] is None]
    if not hidden:
        say("cli.table.nothing_hidden", k=table["k"], unit=unit)
        return
    say("cli.table.hidden", primary=table["cells_primary"], secondary=table["cells_secondary"], k=table["k"], unit=unit)
    say("cli.table.recoverable", count=table["recoverable_without"])
    for reason, cells in _group_by(hidden, "reason").items():
        fields = {"k": table["k"], "unit": unit} if reason == "threshold" else {}
        say("cli.table.why", reason=messages.text(f"tables.reason.{reason}", **fields), count=len(cells))
        if len(table["cells"]) > _MOST_DRAWN:
            continue
        for row, inside in _group_by(cells, "row").items() if table["columns"] else ():
            say("cli.table.where", row=_label(row), columns=", ".join(_label(cell["column"]) for cell in inside))
        if table["columns"] is None:
            say("cli.table.where_one", rows=", ".join(_label(cell["row"]) for cell in cells))


def _group_by(cells: Sequence[Cell], key: str) -> dict[Any, list[Cell]]:
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell[key], []).append(cell)
    return groups
