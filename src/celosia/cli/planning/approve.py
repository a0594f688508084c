"""`celosia approve`: show what is being signed, then sign it in one's own role."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli.release.release import passphrase, passphrase_options
from celosia.cli.shell import argument, build_command, option, project_argument
from celosia.cli.show import labels, page_width, print_json, print_next_act, print_table, role_names, say


def command() -> click.Command:
    """The command."""
    from celosia.model.people import ROLES

    params = [
        project_argument(),
        argument("what", type=click.Choice(("dictionary", "plan", "candidate", "residual"))),
        option("approve", "--role", type=click.Choice(ROLES), required=True),
        option("approve", "--note", default=""),
        option("approve", "--yes", is_flag=True),
        *passphrase_options("approve"),
    ]
    return build_command("approve", run, params)


def run(
    project: Path,
    what: str,
    role: str,
    note: str,
    yes: bool,
    as_json: bool,
    identity: Path | None,
    passphrase_file: Path | None,
) -> int:
    """Show the sheet, the digest and the figures, ask, sign; 1 when the person says no."""
    from celosia.dossier.text import to_text
    from celosia.pipeline.candidate.approvals import approve, digest_for, shown_before
    from celosia.pipeline.project.folder import open_project
    from celosia.pipeline.project.identity import load_identity

    opened_project = open_project(project)
    shown = shown_before(opened_project, what)
    figures = shown.figures
    digest = digest_for(opened_project, what, figures)
    if shown.sheet is not None:
        click.echo(to_text(shown.sheet, page_width()), err=as_json)
    _show(what, digest, figures, err=as_json)
    if not yes and sys.stdin.isatty() and not click.confirm(messages.text("people.confirm"), err=True):
        click.echo(messages.text("people.not_signed"), err=True)
        return 1
    approval = approve(project, what, load_identity(passphrase(passphrase_file), identity), role, note, figures=figures)
    if as_json:
        print_json(approval.as_dict())
    else:
        what_text = messages.text(f"people.what.{what}")
        say("people.approved", name=approval.name, role=role_names([role]), what=what_text)
        print_next_act(project)
    return 0


def _show(what: str, digest: str, figures: Mapping[str, Any], err: bool) -> None:
    """What the signature will cover; beside a JSON report it goes to the other stream."""
    from celosia.dossier.signed import signed_lines

    click.echo(messages.text("people.signing", what=messages.text(f"people.what.{what}"), digest=digest), err=err)
    rows = signed_lines(figures)
    if err:
        for name, value in rows:
            click.echo(f"{name}: {value}", err=True)
    elif rows:
        print_table(messages.text("people.shown"), labels("people.head", "figure", "value"), rows)
