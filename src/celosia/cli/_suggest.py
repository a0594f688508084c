"""`celosia suggest`: what identifies people in a file, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from celosia import messages
from celosia.cli._init import show_reading, show_variables
from celosia.cli._reading import counting_options, reading_choices, reading_options
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import print_json, print_table, watching


def command() -> click.Command:
    """The verb."""
    from celosia.model.purposes import PURPOSES

    return verb(
        "suggest",
        run,
        [
            argument("target"),
            option("suggest", "--treatments", is_flag=True),
            names_option("suggest", "--purpose", choices=PURPOSES),
            *reading_options(),
            *counting_options(),
            json_option(),
        ],
    )


def run(target: str, treatments: bool, purpose: tuple[str, ...], as_json: bool, **reading: Any) -> None:
    """Propose roles with their evidence, and treatments with their reasons on request."""
    from celosia.pipeline import opened, proposed_treatments, suggestion_report

    with watching(as_json) as report, opened(target, report, **reading_choices(reading)) as found:
        if as_json:
            print_json(suggestion_report(found, purpose))
            return
        show_reading(found.source)
        show_variables(found.variables)
        if treatments or purpose:
            show_treatments(proposed_treatments(found, purpose))


def show_treatments(proposed: Mapping[str, Sequence[Any]]) -> None:
    """The treatments of each variable, the first one first, with the reason."""
    header = [messages.text(f"cli.suggest.{column}") for column in ("variable", "treatment", "reason")]
    rows = [
        [name if place == 0 else "", one.technique, one.sentence]
        for name, found in proposed.items()
        for place, one in enumerate(found)
    ]
    print_table(messages.text("cli.suggest.treatments_title"), header, rows)
