"""`celosia init` and `celosia suggest`: from a raw file to a project folder; what identifies people, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.reading import counting_options, reading_choices, reading_options
from celosia.cli.shell import PATH, argument, build_command, names_option, option
from celosia.cli.show import labels, print_json, print_report, print_table, say, watching, yes_or_no

if TYPE_CHECKING:
    from celosia.pipeline.intake.init_project import InitResult


def command() -> click.Command:
    """The command."""
    from celosia.model.project import PROTOCOLS

    params = [
        argument("source"),
        option("init", "--into", type=PATH, default=None),
        names_option("init", "--protocol", choices=PROTOCOLS),
        option("init", "--dictionary", type=PATH, default=None),
        option("init", "--person", default=None),
        *reading_options(),
        *counting_options(),
    ]
    return build_command("init", run, params)


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
    from celosia.pipeline.intake.init_project import init
    from celosia.storage import is_private

    with watching(as_json) as watch:
        result = init(source, into, protocol, dictionary, person, report=watch, **reading_choices(reading))
    if not is_private(result.project.paths.private):
        click.echo(messages.text("reading.not_private"), err=True)
    print_report(result, as_json, _show)


def _show(result: InitResult) -> None:
    show_reading(result.project.config.source)
    show_variables(result.variables)
    if result.project.config.person:
        say("cli.init.person_found", name=result.project.config.person)
    say("cli.init.done", folder=result.project.folder)


def show_reading(source: Any) -> None:
    """How the source was read, and what was guessed."""
    say("cli.reading.read", name=source.name, rows=source.rows, columns=source.columns)
    for name in source.choices.guessed:
        value = getattr(source.choices, name, "")
        say("cli.reading.guessed", choice=messages.text(f"reading.choices.{name}"), value=_value_text(value))
    for note in source.choices.notes:
        click.echo("  " + note.text())


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return yes_or_no(value)
    return {"\t": "TAB"}.get(str(value), str(value))


def show_variables(variables: Any) -> None:
    """The proposed dictionary, one line per variable."""
    header = labels("dictionary.column", "name", "role", "scale", "evidence")
    rows = [[v.name, _word("role", v.role), _word("scale", v.scale), v.evidence] for v in variables]
    print_table(messages.text("cli.init.proposal"), header, rows)


def _word(group: str, value: object) -> str:
    return messages.text(f"dictionary.{group}.{value}") if value else "–"


def suggest_command() -> click.Command:
    """The command `suggest`."""
    from celosia.model.requests import PURPOSES

    params = [
        argument("target"),
        option("suggest", "--treatments", is_flag=True),
        names_option("suggest", "--purpose", choices=PURPOSES),
        *reading_options(),
        *counting_options(),
    ]
    return build_command("suggest", run_suggest, params)


def run_suggest(target: str, treatments: bool, purpose: tuple[str, ...], as_json: bool, **reading: Any) -> None:
    """Propose roles with their evidence, and treatments with their reasons on request."""
    from celosia.pipeline.intake.open_table import open_table, suggestion_report
    from celosia.pipeline.intake.proposed_treatments import treatments_of_table

    with watching(as_json) as report, open_table(target, report, **reading_choices(reading)) as data:
        if as_json:
            print_json(suggestion_report(data, purpose))
            return
        show_reading(data.source)
        show_variables(data.variables)
        if treatments or purpose:
            show_treatments(treatments_of_table(data, purpose))


def show_treatments(proposed: Mapping[str, Sequence[Any]]) -> None:
    """The treatments of each variable, the first one first, with the reason."""
    header = labels("cli.suggest", "variable", "treatment", "reason")
    rows = [
        [name if position == 0 else "", treatment.technique, treatment.sentence]
        for name, treatments in proposed.items()
        for position, treatment in enumerate(treatments)
    ]
    print_table(messages.text("cli.suggest.treatments_title"), header, rows)
