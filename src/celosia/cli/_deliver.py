"""`celosia deliver`: MEL's four data files, the restricted half apart."""

from __future__ import annotations

from pathlib import Path

import click

from celosia import messages
from celosia.cli._shell import argument, json_option, option, verb
from celosia.cli._show import print_json, print_table, say


def command() -> click.Command:
    """The verb."""
    return verb(
        "deliver",
        run,
        [
            argument("project", type=click.Path(path_type=Path)),
            option("deliver", "--release", default=None),
            json_option(),
        ],
    )


def run(project: Path, release: str | None, as_json: bool) -> None:
    """Assemble the delivery and say what is in it."""
    from celosia.pipeline import deliver

    made = deliver(project, release)
    if as_json:
        print_json(made.as_dict())
        return
    keys = ("file", "rows", "columns", "publish", "digest")
    lines = [
        [
            file.path,
            messages.integer(file.rows),
            messages.integer(file.columns),
            _publishable(file.publish),
            file.sha256,
        ]
        for file in made.delivery.files
    ]
    title = messages.text("cli.deliver.title", path=made.folder, release=made.delivery.release)
    print_table(title, [messages.text(f"cli.deliver.column.{key}") for key in keys], lines, right=(1, 2))
    say("cli.deliver.done")


def _publishable(publish: bool) -> str:
    return messages.text("cli.deliver.publish" if publish else "cli.deliver.restricted")
