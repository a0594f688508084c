"""`celosia dictionary`: the annotated dictionary out to a workbook, back in, and checked."""

from __future__ import annotations

from pathlib import Path

import click

from celosia import messages
from celosia.cli._shell import argument, group, json_option, names_option, option, verb
from celosia.cli._show import print_done, print_json, say


def command() -> click.Command:
    """The group of verbs."""
    file = {"type": click.Path(path_type=Path)}
    project = argument("project", **file)
    return group(
        "dictionary",
        [
            verb("export", export, [project, argument("file", **file), json_option()], "dictionary_export"),
            verb("import", bring, [project, argument("file", **file), json_option()], "dictionary_import"),
            verb(
                "purpose",
                purpose,
                [
                    project,
                    names_option("dictionary_purpose", "--variables"),
                    option("dictionary_purpose", "--purpose", default=""),
                    json_option(),
                ],
                "dictionary_purpose",
            ),
            verb("check", check, [project, json_option()], "dictionary_check"),
        ],
    )


def export(project: Path, file: Path, as_json: bool) -> None:
    """Write the dictionary as .csv or .xlsx."""
    from celosia.pipeline import export_dictionary

    variables = export_dictionary(project, file)
    if as_json:
        print_done("dictionary-export", file=str(file), variables=variables)
    else:
        say("cli.dictionary.exported", file=file, variables=variables)


def bring(project: Path, file: Path, as_json: bool) -> None:
    """Replace the dictionary by an edited one, after checking it."""
    from celosia.pipeline import import_dictionary

    _show_changed("dictionary-import", import_dictionary(project, file), as_json)


def purpose(project: Path, variables: tuple[str, ...], purpose: str, as_json: bool) -> None:
    """State the purpose of some variables."""
    from celosia.pipeline import state_purpose

    _show_changed("dictionary-purpose", state_purpose(project, variables, purpose), as_json)


def _show_changed(what: str, changed: int, as_json: bool) -> None:
    if as_json:
        print_done(what, changed=changed)
    else:
        say("cli.dictionary.imported", changed=changed)


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
