"""`celosia dictionary`: export, import and check the annotated dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from celosia import messages
from celosia.cli.shell import PATH, argument, build_command, build_group, names_option, option, project_argument
from celosia.cli.show import print_done, print_report, say

if TYPE_CHECKING:
    from celosia.pipeline.intake.dictionary_files import DictionaryState


def command() -> click.Command:
    """The group of commands."""
    project, file = project_argument(), argument("file", type=PATH)
    variables = names_option("dictionary_purpose", "--variables")
    text = option("dictionary_purpose", "--purpose", default="")
    rest = option("dictionary_purpose", "--rest", is_flag=True)
    commands = [
        build_command("export", export, [project, file], "dictionary_export"),
        build_command("import", replace_dictionary, [project, file], "dictionary_import"),
        build_command("purpose", purpose, [project, variables, rest, text], "dictionary_purpose"),
        build_command("check", check, [project], "dictionary_check"),
    ]
    return build_group("dictionary", commands)


def export(project: Path, file: Path, as_json: bool) -> None:
    """Write the dictionary as .csv or .xlsx."""
    from celosia.pipeline.intake.dictionary_files import export_dictionary

    variables = export_dictionary(project, file)
    if as_json:
        print_done("dictionary-export", file=str(file), variables=variables)
    else:
        say("cli.dictionary.exported", file=file, variables=variables)


def replace_dictionary(project: Path, file: Path, as_json: bool) -> None:
    """Replace the dictionary by an edited one, after checking it."""
    from celosia.pipeline.intake.dictionary_files import import_dictionary

    _show_changed("dictionary-import", import_dictionary(project, file), as_json)


def purpose(project: Path, variables: tuple[str, ...], rest: bool, purpose: str, as_json: bool) -> None:
    """State the purpose of some variables, or of all that lack one."""
    from celosia.pipeline.intake.dictionary_files import check_dictionary, state_purpose

    _show_changed("dictionary-purpose", state_purpose(project, variables, purpose, rest=rest), as_json)
    without = check_dictionary(project).without_purpose if rest and not as_json else ()
    if without:
        say("cli.dictionary.still_without", names=", ".join(without))


def _show_changed(what: str, changed: int, as_json: bool) -> None:
    if as_json:
        print_done(what, changed=changed)
    else:
        say("cli.dictionary.imported", changed=changed)


def check(project: Path, as_json: bool) -> int:
    """Say what is still missing before anything could be published."""
    from celosia.pipeline.intake.dictionary_files import check_dictionary

    state = check_dictionary(project)
    print_report(state, as_json, _show_state)
    return 1 if state.without_role else 0


def _show_state(state: DictionaryState) -> None:
    for key in ("without_role", "without_purpose", "published"):
        names = ", ".join(getattr(state, key)) or messages.text("cli.dictionary.none")
        say(f"cli.dictionary.{key}", names=names)
