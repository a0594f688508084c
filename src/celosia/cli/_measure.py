"""`celosia measure`: is this file k-anonymous, l-diverse, t-close? Only checks, changes nothing."""

from __future__ import annotations

from typing import Any

import click

from celosia import messages
from celosia.cli._reading import counting_options, reading_choices, reading_options
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import print_json, print_table, say, watching


def command() -> click.Command:
    """The verb."""
    return verb(
        "measure",
        run,
        [
            argument("target"),
            names_option("measure", "--quasi"),
            names_option("measure", "--sensitive"),
            option("measure", "--person", default=None),
            option("measure", "--missing", type=click.Choice(["own", "wildcard"]), default="own"),
            *reading_options(),
            *counting_options(),
            json_option(),
        ],
    )


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
    from celosia.pipeline import measure_table, opened

    choices = reading_choices(reading) | {"naming": (*quasi, *sensitive, person)}
    with watching(as_json) as report, opened(target, report, described=False, **choices) as found:
        measured = measure_table(found, quasi, sensitive, person, missing, report)
    if as_json:
        print_json(measured.as_dict())
        return
    show_measures(measured.as_dict(), quasi)


def show_measures(report: dict[str, Any], quasi: tuple[str, ...]) -> None:
    """The report as two short tables."""
    rows = [[messages.text(f"measures.short.{key}"), _shown(report[key])] for key in _PLAIN if report[key] is not None]
    for limit, below in report["rows_below"].items():
        share = below / report["rows"] if report["rows"] else 0.0
        label = messages.text("cli.measure.below", k=int(limit))
        rows.append([label, f"{messages.integer(below)} ({messages.percent(share)})"])
    print_table(messages.text("cli.measure.title", quasi=", ".join(quasi)), _header(), rows, right=(1,))
    for name, values in report["sensitive"].items():
        figures = {key: value for key, value in values.items() if not isinstance(value, dict)}
        lines = [[messages.text(f"measures.short.{key}"), _shown(value)] for key, value in figures.items()]
        print_table(messages.text("cli.measure.sensitive_title", variable=name), _header(), lines, right=(1,))
    if report["k"] is not None:
        say(f"cli.measure.level_{_level(report['k_persons'] or report['k'])}")


def _header() -> list[str]:
    return [messages.text("cli.measure.measure"), messages.text("cli.measure.value")]


_PLAIN = ("rows", "persons", "classes", "k", "k_persons", "unique_rows")


def _level(k: int) -> str:
    """MINSAL's words: k = 1 may not be published, 2–3 may, more than 3 is the ideal."""
    return "red" if k < 2 else "amber" if k < 4 else "green"


def _shown(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return messages.integer(value)
    return messages.decimal(value, 4) if isinstance(value, float) else str(value)
