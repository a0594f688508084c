"""`celosia approve`: show what is being signed, then sign it in one's own role."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.release.release import passphrase, passphrase_options
from celosia.cli.shell import argument, build_command, option, project_argument
from celosia.cli.show import labels, page_width, print_json, print_next_act, print_table, role_names, say

if TYPE_CHECKING:
    from celosia.pipeline.project.folder import Project

FORMAT = "celosia/approvals-given/1"


def command() -> click.Command:
    """The command."""
    from celosia.model.people import ROLES, SUBJECTS

    approvable = tuple(subject for subject in SUBJECTS if subject != "release")
    params = [
        project_argument(),
        argument("what", type=click.Choice(approvable), nargs=-1, required=True),
        option("approve", "--role", type=click.Choice(ROLES), required=True),
        option("approve", "--note", default=""),
        option("approve", "--yes", is_flag=True),
        *passphrase_options("approve"),
    ]
    return build_command("approve", run, params)


def run(
    project: Path,
    what: tuple[str, ...],
    role: str,
    note: str,
    yes: bool,
    as_json: bool,
    identity: Path | None,
    passphrase_file: Path | None,
) -> int:
    """Show the sheet, the digest and the figures of each thing, ask once, sign; 1 when the person says no."""
    from celosia.pipeline.candidate.approvals import approve
    from celosia.pipeline.project.folder import open_project
    from celosia.pipeline.project.identity import load_identity

    opened_project = open_project(project)
    seen = {subject: _show(opened_project, subject, err=as_json) for subject in what}
    if not yes and sys.stdin.isatty() and not click.confirm(messages.text("people.confirm"), err=True):
        click.echo(messages.text("people.not_signed"), err=True)
        return 1
    signer = load_identity(passphrase(passphrase_file), identity)
    approvals = [
        approve(project, subject, signer, role, note, figures=figures, expected=seal)
        for subject, (figures, seal) in seen.items()
    ]
    if as_json:
        documents = [approval.as_dict() for approval in approvals]
        print_json(documents[0] if len(documents) == 1 else {"format": FORMAT, "approvals": documents})
        return 0
    for approval in approvals:
        what_text = messages.text(f"people.what.{approval.what}")
        say("people.approved", name=signer.name, role=role_names([role]), what=what_text)
    print_next_act(project)
    return 0


def _show(project: Project, what: str, err: bool) -> tuple[dict[str, Any], str]:
    """Show what the signature will cover; give its figures and its seal. Beside a JSON report, on the other stream."""
    from celosia.dossier.signed import signed_lines
    from celosia.dossier.text import to_text
    from celosia.pipeline.candidate.approvals import approval_contents, details_for, digest_for, seal_of

    shown = approval_contents(project, what)
    figures = dict(shown.figures)
    digest = digest_for(project, what, figures)
    if shown.sheet is not None:
        click.echo(to_text(shown.sheet, page_width()), err=err)
    click.echo(messages.text("people.signing", what=messages.text(f"people.what.{what}"), digest=digest), err=err)
    details = details_for(project, what)
    rows = [*signed_lines(figures), *details]
    if err:
        for name, value in rows:
            click.echo(f"{name}: {value}", err=True)
    elif rows:
        print_table(messages.text("people.shown"), labels("people.head", "figure", "value"), rows)
    if details:
        click.echo(messages.text("intruder.signed.published"), err=err)
    return figures, seal_of(digest, figures)
