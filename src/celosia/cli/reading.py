"""The options that say how a source is to be read, shared by the commands that read one."""

from __future__ import annotations

from typing import Any

import click

from celosia.cli.shell import names_option, option

_KEYS = "encoding delimiter quote header decimal sheet drop rename_duplicates engine memory".split()


def reading_options() -> list[click.Parameter]:
    """`--encoding`, `--delimiter`, `--header/--no-header`, `--decimal`, `--sheet`, `--drop`, `--rename-duplicates`."""
    return [
        option("reading", "--encoding", default=None),
        option("reading", "--delimiter", default=None),
        option("reading", "--quote", default=None),
        option("reading", "--header/--no-header", default=None),
        option("reading", "--decimal", default=None, type=click.Choice([".", ","])),
        option("reading", "--sheet", default=None),
        names_option("reading", "--drop"),
        option("reading", "--rename-duplicates", is_flag=True, default=None),
    ]


def counting_options() -> list[click.Parameter]:
    """`--engine` and `--memory`: where counting happens and how much it may take."""
    return [
        option("reading", "--engine", default=None),
        option("reading", "--memory", default=None, metavar="4GB"),
    ]


def reading_choices(settings: dict[str, Any]) -> dict[str, Any]:
    """The choices the user made by hand; the rest is detected."""
    return {key: settings[key] for key in _KEYS if settings.get(key) not in (None, ())}
