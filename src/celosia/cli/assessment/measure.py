"""`celosia measure`: is this file k-anonymous, l-diverse, t-close? Only checks, changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from celosia import messages
from celosia.cli.reading import counting_options, reading_choices, reading_options
from celosia.cli.shell import argument, build_command, names_option, option
from celosia.cli.show import labels, print_json, print_table, say, watching

_COUNTS = ("rows", "persons", "classes", "k", "k_persons", "unique_rows")


def command() -> click.Command:
    """The command."""
    params = [
        argument("target"),
        names_option("measure", "--quasi"),
        names_option("measure", "--sensitive"),
        option("measure", "--person", default=None),
        option("measure", "--missing", type=click.Choice(["own", "wildcard"]), default="own"),
        *reading_options(),
        *counting_options(),
    ]
    return build_command("measure", run, params)


def run(
    target: str,
    quasi: tuple[str, ...],
    sensitive: tuple[str, ...],
    person: str | None,
    missing: str,
    as_json: bool,
    **reading: Any,
) -> None:
    """Measure and show."""
    from celosia.pipeline.assessment.on_files import measure_table
    from celosia.pipeline.intake.open_table import open_table

    choices = reading_choices(reading) | {"naming": (*quasi, *sensitive, person)}
    with watching(as_json) as watch, open_table(target, watch, described=False, **choices) as data:
        report = measure_table(data, quasi, sensitive, person, missing, watch).as_dict()
    if as_json:
        print_json(report)
    else:
        show_measures(report, quasi)


def show_measures(report: dict[str, Any], quasi: tuple[str, ...]) -> None:
    """The report as short tables: the counts, then each sensitive variable."""
    header = labels("cli.measure", "measure", "value")
    rows = _rows({key: report[key] for key in _COUNTS if report[key] is not None})
    for limit, below in report["rows_below"].items():
        share = below / report["rows"] if report["rows"] else 0.0
        label = messages.text("cli.measure.below", k=int(limit))
        rows.append([label, f"{messages.integer(below)} ({messages.percent(share)})"])
    print_table(messages.text("cli.measure.title", quasi=", ".join(quasi)), header, rows, right=(1,))
    for name, values in report["sensitive"].items():
        rows = _rows({key: value for key, value in values.items() if not isinstance(value, dict)})
        print_table(messages.text("cli.measure.sensitive_title", variable=name), header, rows, right=(1,))
    if report["k"] is not None:
        say(f"cli.measure.level_{_level(report['k_persons'] or report['k'])}")


def _rows(figures: Mapping[str, object]) -> list[list[str]]:
    return [[messages.text(f"measures.short.{key}"), _figure_text(value)] for key, value in figures.items()]


def _level(k: int) -> str:
    """The levels of the MINSAL norm: k = 1 may not be published, 2–3 may, more than 3 is the ideal."""
    return "red" if k < 2 else "amber" if k < 4 else "green"


def _figure_text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return messages.integer(value)
    return messages.decimal(value, 4) if isinstance(value, float) else str(value)
