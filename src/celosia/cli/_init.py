"""`celosia init FILE`: from a raw file to a project folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli._reading import counting_options, reading_choices, reading_options
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import print_json, print_table, say, watching


def command() -> click.Command:
    """The verb."""
    from celosia.model.project import PROTOCOLS

    return verb(
        "init",
        run,
        [
            argument("source"),
            option("init", "--into", type=click.Path(path_type=Path), default=None),
            names_option("init", "--protocol", choices=PROTOCOLS),
            option("init", "--dictionary", type=click.Path(path_type=Path), default=None),
            option("init", "--person", default=None),
            *reading_options(),
            *counting_options(),
            json_option(),
        ],
    )


def run(
    source: str,
    into: Path | None,
    protocol: tuple[str, ...],
    dictionary: Path | None,
    person: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Make the project and show what was read and proposed."""
    from celosia.pipeline import init

    with watching(as_json) as report:
        made = init(
            source, into, protocol, dictionary, person,
            report=report, **reading_choices(reading),
        )  # fmt: skip
    if as_json:
        print_json(made.as_dict())
        return
    show_reading(made.project.config.source)
    show_variables(made.variables)
    if made.project.config.person:
        say("cli.init.person_found", name=made.project.config.person)
    say("cli.init.done", folder=made.project.folder)


def show_reading(source: Any) -> None:
    """How the source was read, and what was guessed."""
    say("cli.reading.read", name=source.name, rows=source.rows, columns=source.columns)
    for name in source.choices.guessed:
        value = getattr(source.choices, name, "")
        say("cli.reading.guessed", choice=messages.text(f"reading.choices.{name}"), value=_named(value))
    for note in source.choices.notes:
        click.echo("  " + note.text())


def _named(value: object) -> str:
    if isinstance(value, bool):
        return messages.text(f"dictionary.answer.{'yes' if value else 'no'}")
    return {"\t": "TAB"}.get(str(value), str(value))


def show_variables(variables: Any) -> None:
    """The proposed dictionary, one line per variable."""
    header = [messages.text(f"dictionary.column.{column}") for column in ("name", "role", "scale", "evidence")]
    rows = [[v.name, _word("role", v.role), _word("scale", v.scale), v.evidence] for v in variables]
    print_table(messages.text("cli.init.proposal"), header, rows)


def _word(group: str, value: object) -> str:
    return messages.text(f"dictionary.{group}.{value}") if value else "–"
