"""`celosia dictionary`: the annotated dictionary out to a workbook, back in, and checked."""

from __future__ import annotations

from pathlib import Path

import click

from celosia import messages
from celosia.cli._shell import argument, group, json_option, names_option, option, verb
from celosia.cli._show import print_json, say


def command() -> click.Command:
    """The group of verbs."""
    file = {"type": click.Path(path_type=Path)}
    return group(
        "dictionary",
        [
            verb("export", export, [argument("project", **file), argument("file", **file)], "dictionary_export"),
            verb("import", bring, [argument("project", **file), argument("file", **file)], "dictionary_import"),
            verb(
                "purpose",
                purpose,
                [
                    argument("project", **file),
                    names_option("dictionary_purpose", "--variables"),
                    option("dictionary_purpose", "--purpose", default=""),
                ],
                "dictionary_purpose",
            ),
            verb("check", check, [argument("project", **file), json_option()], "dictionary_check"),
        ],
    )


def export(project: Path, file: Path) -> None:
    """Write the dictionary as .csv or .xlsx."""
    from celosia.pipeline import export_dictionary

    export_dictionary(project, file)
    say("cli.dictionary.exported", file=file)


def bring(project: Path, file: Path) -> None:
    """Replace the dictionary by an edited one, after checking it."""
    from datetime import UTC, datetime

    from celosia.pipeline import import_dictionary

    changed = import_dictionary(project, file, now=datetime.now(UTC))
    say("cli.dictionary.imported", changed=changed)


def purpose(project: Path, variables: tuple[str, ...], purpose: str) -> None:
    """State the purpose of some variables."""
    from datetime import UTC, datetime

    from celosia.pipeline import state_purpose

    say("cli.dictionary.imported", changed=state_purpose(project, variables, purpose, now=datetime.now(UTC)))


def check(project: Path, as_json: bool) -> int:
    """Say what is still missing before anything could be published."""
    from celosia.pipeline import check_dictionary

    state = check_dictionary(project)
    if as_json:
        print_json(state.as_dict())
    else:
        for key, names in (("without_role", state.without_role), ("without_purpose", state.without_purpose)):
            listed = ", ".join(names) if names else messages.text("cli.dictionary.none")
            say(f"cli.dictionary.{key}", names=listed)
        say("cli.dictionary.published", names=", ".join(state.published) or messages.text("cli.dictionary.none"))
    return 1 if state.without_role else 0
