"""`celosia table`: a cross table that may be shown, and why each hidden cell is hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from celosia import messages
from celosia.cli._reading import counting_options, reading_choices, reading_options
from celosia.cli._shell import argument, json_option, option, verb
from celosia.cli._show import page_width, print_json, print_table, say, watching

Cell = Mapping[str, Any]
_MOST_DRAWN = 10_000  # cells: nobody reads more on a terminal, and drawing them would take minutes


def command() -> click.Command:
    """The verb."""
    return verb(
        "table",
        run,
        [
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
            json_option(),
        ],
    )


def run(target: str, as_json: bool, out: str | None, overwrite: bool, **asked: Any) -> None:
    """Make the table, keep it where a file is asked for, and show it."""
    from celosia.pipeline import TableRequest, cross_table_of, opened, write_table

    own = TableRequest(**{name: asked[name] for name in TableRequest.__dataclass_fields__})
    choices = reading_choices(asked) | {"naming": own.named}
    with watching(as_json) as report, opened(target, report, described=False, **choices) as found:
        made = cross_table_of(found, own, report)
    if out is not None:
        write_table(made, out, overwrite=overwrite)
    if as_json:
        print_json(made.as_dict())
        return
    show_table(made.as_dict())
    if out is not None:
        say("cli.table.written", path=out)


def show_table(made: Mapping[str, Any]) -> None:
    """The table as a page shows it, unless nobody could read it there, and why cells are hidden."""
    unit = messages.text(f"tables.unit.{made['unit']}")
    if len(made["cells"]) > _MOST_DRAWN:
        say("cli.table.not_drawn", cells=len(made["cells"]))
    else:
        _draw(made, unit)
    _explain(made, unit)


def _draw(made: Mapping[str, Any], unit: str) -> None:
    columns = list(dict.fromkeys(cell["column"] for cell in made["cells"]))
    lines: dict[str | None, list[str]] = {}
    for cell in made["cells"]:
        lines.setdefault(cell["row"], []).append(_shown(cell, made["percent"]))
    header = [_label(column) if made["columns"] else unit for column in columns]
    names = {"rows": made["rows"], "columns": made["columns"] or ""}
    title = messages.text("cli.table.title_one" if made["columns"] is None else "cli.table.title", unit=unit, **names)
    labels = [_label(row) for row in lines]
    for block in _blocks([made["rows"], *labels], header, list(lines.values())):
        rows = [[label, *line[block]] for label, line in zip(labels, lines.values(), strict=True)]
        print_table(title, [made["rows"], *header[block]], rows, right=range(1, len(header) + 1))


def _blocks(labels: list[str], header: list[str], lines: list[list[str]]) -> Iterator[slice]:
    """Runs of columns that fit side by side: a number cut in two would be read as another one."""
    room = page_width() - max(len(label) for label in labels) - 4
    start, used = 0, 0
    for at, column in enumerate(header):
        width = 3 + max(len(word) for word in (column, *(line[at] for line in lines)))
        if at > start and used + width > room:
            yield slice(start, at)
            start, used = at, 0
        used += width
    yield slice(start, len(header))


def _label(category: str | None) -> str:
    return messages.text("tables.total") if category is None else category


def _shown(cell: Cell, percent: str | None) -> str:
    if cell["value"] is None:
        return messages.text("tables.hidden_mark")
    return messages.integer(cell["value"]) if percent is None else f"{messages.decimal(cell['value'], 2)} %"


def _explain(made: Mapping[str, Any], unit: str) -> None:
    """In words: what was merged or rounded, and every hidden cell with its reason."""
    if made["merged"]:
        say("cli.table.merged", label=made["merged"]["label"], categories=", ".join(made["merged"]["categories"]))
    if made["method"] == "round":
        say("cli.table.rounded", base=made["base"])
        if not made["repeatable"]:
            say("cli.table.not_repeatable")
        return
    hidden = [cell for cell in made["cells"] if cell["value"] is None]
    if not hidden:
        say("cli.table.nothing_hidden", k=made["k"], unit=unit)
        return
    say("cli.table.hidden", primary=made["cells_primary"], secondary=made["cells_secondary"], k=made["k"], unit=unit)
    say("cli.table.recoverable", count=made["recoverable_without"])
    for reason, cells in _by(hidden, "reason").items():
        say("cli.table.why", reason=_reason(reason, made["k"], unit), count=len(cells))
        if len(made["cells"]) > _MOST_DRAWN:
            continue
        for row, inside in _by(cells, "row").items() if made["columns"] else ():
            say("cli.table.where", row=_label(row), columns=", ".join(_label(cell["column"]) for cell in inside))
        if made["columns"] is None:
            say("cli.table.where_one", rows=", ".join(_label(cell["row"]) for cell in cells))


def _by(cells: Sequence[Cell], key: str) -> dict[Any, list[Cell]]:
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell[key], []).append(cell)
    return groups


def _reason(reason: str, k: int, unit: str) -> str:
    fields = {"k": k, "unit": unit} if reason == "threshold" else {}
    return messages.text(f"tables.reason.{reason}", **fields)
