"""`celosia explain`: why, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from celosia.cli._reading import counting_options
from celosia.cli._shell import argument, json_option, option, verb
from celosia.cli._show import announce_first_time, print_json, say, watching


def command() -> click.Command:
    """The verb."""
    return verb(
        "explain",
        run,
        [
            argument("project", type=click.Path(path_type=Path)),
            option("explain", "--frontier", is_flag=True),
            option("plan", "--k", type=click.IntRange(min=1)),
            option("plan", "--l", type=click.IntRange(min=1)),
            option("plan", "--limit", metavar="0–1"),
            option("explain", "--time-limit", type=click.FloatRange(min=0, min_open=True)),
            option("explain", "--into", type=click.Path(path_type=Path)),
            *counting_options(),
            json_option(),
        ],
    )


def run(
    project: Path, frontier: bool, into: Path | None, time_limit: float | None, as_json: bool, **asked: Any
) -> None:
    """Explain and show."""
    from celosia.dossier import explanation_sentences
    from celosia.pipeline import explain_plan

    announce_first_time(as_json)
    with watching(as_json) as report:
        told = explain_plan(project, frontier, into, time_limit, report, **asked)
    if as_json:
        border = {"frontier": told.frontier.as_dict()} if told.frontier is not None else {}
        print_json(told.explanation.as_dict() | border)
        return
    for sentence in explanation_sentences(told.explanation):
        click.echo(sentence)
    for path in told.saved:
        say("cli.explain.saved", path=path)
