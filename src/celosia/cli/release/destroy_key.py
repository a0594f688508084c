"""`celosia destroy-key`: destroy the keys and codebooks that lead from a pseudonym to a person."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from celosia import messages
from celosia.cli.shell import build_command, option, project_argument
from celosia.cli.show import print_json, say


def command() -> click.Command:
    """The command."""
    params = [project_argument(), option("destroy_key", "--yes", is_flag=True)]
    return build_command("destroy-key", run, params, key="destroy_key")


def run(project: Path, yes: bool, as_json: bool) -> int:
    """Ask, destroy and report; 1 when the person says no."""
    from celosia.pipeline.project.folder import open_project
    from celosia.pipeline.project.pseudonym_keys import destroy_keys, keys_present

    present = keys_present(open_project(project))
    if present and not yes and not _confirm(present):
        click.echo(messages.text("cli.destroy_key.kept"), err=as_json)
        return 1
    result = destroy_keys(project)
    if as_json:
        print_json(result.as_dict())
    elif not present:
        say("cli.destroy_key.nothing")
    else:
        say("cli.destroy_key.done", keys=result.keys, codebooks=result.codebooks)
    return 0


def _confirm(present: tuple[str, ...]) -> bool:
    """Whether the person types the word; a pipe that says nothing is a no."""
    word = messages.text("dictionary.answer.yes")
    click.echo(messages.text("cli.destroy_key.ask", names=", ".join(present), word=word), err=True)
    return sys.stdin.readline().strip().lower() in (word, word.replace("í", "i"))
