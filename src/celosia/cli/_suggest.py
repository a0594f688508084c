"""`celosia suggest`: what identifies people in a file, and why."""

from __future__ import annotations

from typing import Any

import click

from celosia.cli._init import show_reading, show_variables
from celosia.cli._reading import reading_choices, reading_options
from celosia.cli._shell import argument, json_option, verb
from celosia.cli._show import print_json, watching


def command() -> click.Command:
    """The verb."""
    return verb("suggest", run, [argument("target"), *reading_options(), json_option()])


def run(target: str, as_json: bool, **reading: Any) -> None:
    """Propose roles with their evidence."""
    from celosia.pipeline import opened, suggestion_report

    with watching(as_json) as report, opened(target, report, **reading_choices(reading)) as found:
        if as_json:
            print_json(suggestion_report(found))
            return
        show_reading(found.source)
        show_variables(found.variables)
