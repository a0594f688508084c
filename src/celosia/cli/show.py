"""Showing reports: tables on a terminal, JSON on request, progress only where someone watches.

Knows the terminal and the catalogue. Ignores what a report says.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli.code_pages import text_in_code_page

# A pipe has no width of its own; rich would cut at 80.
_PIPE_WIDTH = 140


def print_report(report: Any, as_json: bool, show: Callable[[Any], None]) -> None:
    """A report as JSON or as `show` writes it for a person."""
    if as_json:
        print_json(report.as_dict())
    else:
        show(report)


def print_json(report: dict[str, Any]) -> None:
    """The report alone on stdout, escaped where that does not speak UTF-8: a `?` would be another value."""
    click.echo(json.dumps(report, ensure_ascii=not speaks_unicode(), indent=2))


def speaks_unicode() -> bool:
    """Whether stdout can write any letter."""
    return "utf" in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()


def print_done(what: str, **facts: object) -> None:
    """What a command without a report of its own did, as its versioned JSON."""
    print_json({"format": "celosia/done/1", "what": what, **facts})


def say(key: str, **fields: object) -> None:
    """One sentence on stdout."""
    click.echo(messages.text(key, **fields))


def labels(section: str, *keys: str) -> list[str]:
    """The texts of a section of the catalogue, such as the headings of a table."""
    return [messages.text(f"{section}.{key}") for key in keys]


def yes_or_no(answer: object) -> str:
    """An answer in words."""
    return messages.text(f"dictionary.answer.{'yes' if answer else 'no'}")


def role_names(roles: Sequence[str]) -> str:
    """Roles by their names, separated by commas."""
    return ", ".join(messages.text(f"protocols.role.{role}") for role in roles)


def announce_first_time(quiet: bool) -> None:
    """Say why the first search on a machine takes longer, unless the report must stand alone."""
    from celosia.pipeline.project.progress import are_kernels_compiled

    if not quiet and not are_kernels_compiled():
        click.echo(messages.text("cli.first_time"), err=True)


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """A table; `right` are the columns that hold numbers."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"

    def cell_text(words: str) -> Text:
        # As Text, a cell is never read as markup.
        return Text(text_in_code_page(words, encoding))

    table = Table(title=cell_text(title), title_justify="left", header_style="bold", expand=False)
    for position, name in enumerate(header):
        table.add_column(cell_text(name), justify="right" if position in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*[cell_text(cell) for cell in row])
    terminal = True if sys.stdout.isatty() else None
    # The table is drawn into a buffer, so that all output goes through click.echo whatever stdout is.
    buffer = io.BytesIO()
    text_buffer = io.TextIOWrapper(buffer, encoding, "replace", newline="", write_through=True)
    Console(file=text_buffer, width=width, highlight=False, force_terminal=terminal).print(table)
    click.echo(buffer.getvalue().decode(encoding), nl=False)


def page_width() -> int:
    """How many characters fit side by side."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH


def path_from_here(path: Path) -> Path:
    """A path as somebody would type it in the current folder, where it lies below; the same path elsewhere."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def print_next_act(project: Path) -> bool:
    """What follows, by whom and with which command, as `celosia status` says it; False where it says nothing."""
    from celosia.dossier.next_act import next_act_sentence
    from celosia.pipeline.project.folder import is_project
    from celosia.pipeline.release.status import status

    report = status(project) if is_project(project) else None
    if report is None or not report.gates:
        return False
    click.echo(messages.text("status.done") if report.next_act is None else next_act_sentence(report.next_act))
    return True


@contextlib.contextmanager
def watching(quiet: bool) -> Iterator[Callable[[str, float], None] | None]:
    """A progress bar on a terminal's stderr; None when nobody watches or the report must stand alone."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(stage: str, share: float) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(messages.text(f"cli.stage.{stage}"), total=1.0)
            bars.update(tasks[stage], completed=share)

        yield report
