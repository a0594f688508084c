"""`celosia destroy-key`: nothing leads back from a pseudonym to a person any more."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from celosia import messages
from celosia.cli._shell import argument, json_option, option, verb
from celosia.cli._show import print_json, say


def command() -> click.Command:
    """The verb."""
    return verb(
        "destroy-key",
        run,
        [
            argument("project", type=click.Path(path_type=Path)),
            option("destroy_key", "--yes", is_flag=True),
            json_option(),
        ],
        key="destroy_key",
    )


def run(project: Path, yes: bool, as_json: bool) -> int:
    """Ask, destroy, say what is gone; 1 when the person says no."""
    from celosia.pipeline import destroy_keys, keys_present, open_project

    present = keys_present(open_project(project).folder)
    if present and not yes and not _confirmed(present):
        click.echo(messages.text("cli.destroy_key.kept"), err=as_json)
        return 1
    done = destroy_keys(project)
    if as_json:
        print_json(done.as_dict())
    elif not present:
        say("cli.destroy_key.nothing")
    else:
        say("cli.destroy_key.done", keys=done.keys, codebooks=done.codebooks)
    return 0


def _confirmed(present: tuple[str, ...]) -> bool:
    """Whether the person types the word; a pipe that says nothing is a no."""
    word = messages.text("dictionary.answer.yes")
    click.echo(messages.text("cli.destroy_key.ask", names=", ".join(present), word=word), err=True)
    return sys.stdin.readline().strip().lower() in (word, word.replace("í", "i"))
