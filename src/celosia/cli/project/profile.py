"""`celosia profile`: what is in a table, printed and saved as JSON and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli.reading import counting_options, reading_choices, reading_options
from celosia.cli.shell import PATH, argument, build_command, option
from celosia.cli.show import labels, print_json, print_table, say, watching


def command() -> click.Command:
    """The command."""
    params = [
        argument("target"),
        option("profile", "--into", type=PATH, default=None),
        option("profile", "--rare", type=click.IntRange(min=1), default=3),
        *reading_options(),
        *counting_options(),
    ]
    return build_command("profile", run, params)


def run(target: str, into: Path | None, rare: int, as_json: bool, **reading: Any) -> None:
    """Profile, save and show."""
    from celosia.pipeline.intake.open_table import open_table
    from celosia.pipeline.intake.profile import profile_table, save_profile
    from celosia.pipeline.project.declared_scenarios import note_exploration

    with watching(as_json) as watch, open_table(target, watch, **reading_choices(reading)) as data:
        report = profile_table(data, watch, rare)
        saved = save_profile(report, Path(target), into)
        note_exploration(data.project)
    if as_json:
        print_json(report.as_dict())
        return
    show_profile(report)
    for path in saved:
        say("cli.profile.saved", path=path)


def show_profile(report: Any) -> None:
    """The profile on a terminal: one line per variable, then the exposure."""
    say("cli.profile.dimensions", rows=report.rows, columns=report.columns)
    columns = ("variable", "role", "scale", "distinct", "missing", "masked", "unknown", "rare_column", "summary")
    header = labels("cli.profile", *columns)
    print_table("", header, [_line(variable) for variable in report.variables], right=(3, 4, 5, 6, 7))
    if report.exposure is not None:
        show_exposure(report.exposure, report.rows)


def show_exposure(exposure: Any, rows: int) -> None:
    """How the quasi-identifiers single people out."""
    say("cli.profile.quasi", names=", ".join(exposure.quasi))
    unique = exposure.unique_rows / rows if rows else 0.0
    say("cli.profile.classes", classes=exposure.classes, k=exposure.k, unique=messages.percent(unique))
    if exposure.persons is not None:
        say("cli.profile.persons", person=exposure.person, persons=exposure.persons, k=exposure.k_persons)
    below = [f"k={k}: {messages.percent(n / rows if rows else 0.0)}" for k, n in exposure.rows_below.items()]
    say("cli.profile.below", listed="; ".join(below))


def _line(variable: Any) -> list[str]:
    counts = (variable.distinct, variable.missing, variable.masked, variable.unknown, variable.rare.values)
    role = messages.text(f"dictionary.role.{variable.role}") if variable.role else "–"
    scale = messages.text(f"dictionary.scale.{variable.scale}") if variable.scale else "–"
    return [variable.name, role, scale, *[messages.integer(n) for n in counts], _summary(variable)]


def _summary(variable: Any) -> str:
    if variable.veiled:
        return messages.text("cli.profile.veiled")
    if variable.numbers is not None:
        n = variable.numbers
        numbers = [messages.decimal(value, 2) for value in (n.minimum, n.mean, n.maximum)]
        return messages.text("cli.profile.numbers", low=numbers[0], mean=numbers[1], high=numbers[2])
    top = [f"{c.value} {messages.percent(c.share, 1)}" for c in variable.categories[:3]]
    return ", ".join(top)
