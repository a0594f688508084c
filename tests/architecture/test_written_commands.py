"""Every command that a page tells its reader to type is one that the program accepts."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from celosia import messages
from celosia.cli import build_cli
from celosia.messages import LANGUAGES
from tests.architecture.source_files import REPOSITORY

PLACEHOLDER = re.compile(r"‹|…|\[|<")


def typed_commands(page: Path) -> list[list[str]]:
    """The words of each `$ celosia …` in a page, but for those that leave something out."""
    lines = re.findall(r"^\$ celosia (.+?)(?:\s+#.*)?$", page.read_text("utf-8"), flags=re.M)
    return [shlex.split(line) for line in lines if not PLACEHOLDER.search(line) and not line.endswith("\\")]


def parse(command: click.Command, words: list[str], name: str, parent: click.Context | None = None) -> None:
    """Parse as the program would, without running anything."""
    context = command.make_context(name, list(words), parent=parent)
    if isinstance(command, click.Group) and context.protected_args + context.args:
        below, found, rest = command.resolve_command(context, [*context.protected_args, *context.args])
        assert found is not None
        parse(found, rest, below or "", context)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_typed_command_is_accepted(language: str) -> None:
    cli = build_cli(language)
    refused = []
    with messages.speaking(language):
        for page in sorted((REPOSITORY / "docs" / language).glob("*.md")):
            for words in typed_commands(page):
                try:
                    parse(cli, words, "celosia")
                except click.exceptions.Exit:
                    continue
                except click.ClickException as error:
                    refused.append(f"{page.name}: celosia {' '.join(words)}: {error.format_message()}")
    assert refused == []


def test_the_recipes_have_the_same_commands_in_both_languages() -> None:
    verbs = [
        [words[0] for words in typed_commands(REPOSITORY / "docs" / language / "recipes.md")] for language in LANGUAGES
    ]
    assert verbs[0] == verbs[1]
    assert len(verbs[0]) > 15
