"""`celosia hierarchy`: look at a hierarchy, bring one in, take one out."""

from __future__ import annotations

from pathlib import Path

import click

from celosia import messages
from celosia.cli._shell import argument, group, json_option, option, verb
from celosia.cli._show import print_json, print_table, say


def command() -> click.Command:
    """The group of verbs."""
    file = {"type": click.Path(path_type=Path)}
    project, variable = argument("project", **file), argument("variable")
    return group(
        "hierarchy",
        [
            verb("show", show, [project, variable, json_option()], "hierarchy_show"),
            verb("export", export, [project, variable, argument("file", **file)], "hierarchy_export"),
            verb(
                "import",
                bring,
                [project, variable, argument("file", **file), option("hierarchy_import", "--list-gaps", is_flag=True)],
                "hierarchy_import",
            ),
        ],
    )


def show(project: Path, variable: str, as_json: bool) -> None:
    """Levels, groups and the smallest group of each."""
    from celosia.pipeline import view_hierarchy

    view = view_hierarchy(project, variable)
    if as_json:
        print_json(view.as_dict())
        return
    header = [messages.text(f"hierarchy.view.{key}") for key in ("level", "groups", "smallest")]
    rows = [
        [str(level), messages.integer(groups), messages.integer(smallest)]
        for level, (groups, smallest) in enumerate(zip(view.groups, view.smallest_rows, strict=True))
    ]
    title = messages.text("hierarchy.view.title", variable=variable, origin=view.origin)
    print_table(title, header, rows, right=(0, 1, 2))


def export(project: Path, variable: str, file: Path) -> None:
    """Write the hierarchy in ARX's layout."""
    from celosia.pipeline import export_hierarchy

    say("hierarchy.view.exported", lines=export_hierarchy(project, variable, file), file=file)


def bring(project: Path, variable: str, file: Path, list_gaps: bool) -> int:
    """Check a hierarchy file and take it into the project."""
    from datetime import UTC, datetime

    from celosia.pipeline import import_hierarchy, uncovered_values

    if list_gaps:
        for value in uncovered_values(project, variable, file):
            click.echo(value)
        return 0
    say("hierarchy.view.imported", levels=import_hierarchy(project, variable, file, now=datetime.now(UTC)))
    return 0
