"""`celosia hierarchy`: show, import and export the hierarchy of a variable."""

from __future__ import annotations

from pathlib import Path

import click

from celosia import messages
from celosia.cli.shell import PATH, argument, build_command, build_group, option, project_argument
from celosia.cli.show import labels, print_done, print_json, print_table, say


def command() -> click.Command:
    """The group of commands."""
    project, variable, file = project_argument(), argument("variable"), argument("file", type=PATH)
    list_gaps = option("hierarchy_import", "--list-gaps", is_flag=True)
    commands = [
        build_command("show", show, [project, variable], "hierarchy_show"),
        build_command("export", export, [project, variable, file], "hierarchy_export"),
        build_command("import", import_file, [project, variable, file, list_gaps], "hierarchy_import"),
    ]
    return build_group("hierarchy", commands)


def show(project: Path, variable: str, as_json: bool) -> None:
    """Levels, groups and the smallest group of each."""
    from celosia.pipeline.planning.hierarchy_files import view_hierarchy

    view = view_hierarchy(project, variable)
    if as_json:
        print_json(view.as_dict())
        return
    header = labels("hierarchy.view", "level", "groups", "smallest")
    rows = [
        [str(level), messages.integer(groups), messages.integer(smallest)]
        for level, (groups, smallest) in enumerate(zip(view.groups, view.smallest_rows, strict=True))
    ]
    title = messages.text("hierarchy.view.title", variable=variable, origin=_origin(view.origin))
    print_table(title, header, rows, right=(0, 1, 2))
    if view.short_values:
        say("hierarchy.view.short_numbers", count=messages.integer(view.short_values), width=view.short_width)


def _origin(origin: str) -> str:
    """A file or a builder by its own name; what nobody described is a proposal."""
    return messages.text("hierarchy.view.proposed") if origin == "default" else origin


def export(project: Path, variable: str, file: Path, as_json: bool) -> None:
    """Write the hierarchy in ARX's layout."""
    from celosia.pipeline.planning.hierarchy_files import export_hierarchy

    values = export_hierarchy(project, variable, file)
    if as_json:
        print_done("hierarchy-export", variable=variable, file=str(file), values=values)
    else:
        say("hierarchy.view.exported", lines=values, file=file)


def import_file(project: Path, variable: str, file: Path, list_gaps: bool, as_json: bool) -> None:
    """Check a hierarchy file and take it into the project."""
    from celosia.pipeline.planning.hierarchy_files import import_hierarchy, uncovered_values

    if list_gaps:
        _show_gaps(variable, uncovered_values(project, variable, file), as_json)
        return
    levels = import_hierarchy(project, variable, file)
    if as_json:
        print_done("hierarchy-import", variable=variable, levels=levels)
    else:
        say("hierarchy.view.imported", levels=levels)


def _show_gaps(variable: str, values: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        print_done("hierarchy-gaps", variable=variable, values=list(values))
        return
    for value in values:
        click.echo(value)
