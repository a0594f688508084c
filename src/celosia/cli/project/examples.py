"""`celosia examples`: the example projects that come with the program."""

from __future__ import annotations

from pathlib import Path

import click

from celosia import messages
from celosia.cli.shell import PATH, argument, build_command, build_group, option
from celosia.cli.show import labels, print_done, print_json, print_table, say


def command() -> click.Command:
    """The group of commands."""
    # The names stand here too: the module that holds the examples is not light to import.
    example = argument("example", type=click.Choice(("minsal", "atenea", "mel", "yapo")))
    into = option("examples", "--into", type=PATH)
    commands = [
        build_command("list", list_examples, [], "examples_list"),
        build_command("copy", copy, [example, into], "examples_copy"),
        build_command("walk", walk, [example, into], "examples_walk", has_json=False),
    ]
    return build_group("examples", commands)


def list_examples(as_json: bool) -> None:
    """Every example with what it is about."""
    from celosia.demo import examples

    summaries = examples.list_examples()
    if as_json:
        rows = [{"example": example.name, "commands": example.commands} for example in summaries]
        print_json({"format": "celosia/examples/1", "examples": rows})
        return
    header = labels("cli.examples", "head_example", "head_about", "head_commands")
    lines = [[item.name, messages.text(f"cli.examples.about.{item.name}"), str(item.commands)] for item in summaries]
    print_table(messages.text("cli.examples.title"), header, lines, right=(2,))


def copy(example: str, into: Path | None, as_json: bool) -> None:
    """Copy one into a new folder."""
    from celosia.demo.examples import copy_example

    folder = into or Path(example)
    copy_example(example, folder)
    if as_json:
        print_done("examples", example=example, path=str(folder))
        return
    say("cli.examples.copied", path=folder)
    say("cli.examples.walk_it", path=folder, example=example)


def walk(example: str, into: Path | None) -> None:
    """Do one whole, showing each command and its answer."""
    from celosia.demo.examples import walk_example

    folder = into or Path(example)
    walk_example(example, folder, click.echo)
    say("cli.examples.walked", path=folder)
