"""`celosia approve`: show what is being signed, then sign it in one's own role."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli._release import passphrase, passphrase_options
from celosia.cli._shell import argument, json_option, option, verb
from celosia.cli._show import print_json, print_table, say

_SUBJECTS = ("dictionary", "plan", "candidate", "residual")


def command() -> click.Command:
    """The verb."""
    from celosia.model.people import ROLES

    return verb("approve", run, [
        argument("project", type=click.Path(path_type=Path)),
        argument("what", type=click.Choice(_SUBJECTS)),
        option("approve", "--role", type=click.Choice(ROLES), required=True),
        option("approve", "--note", default=""),
        option("approve", "--yes", is_flag=True),
        *passphrase_options("approve"),
        json_option(),
    ])  # fmt: skip


def run(
    project: Path, what: str, role: str, note: str, yes: bool, as_json: bool, identity: Path | None,
    passphrase_file: Path | None,
) -> int:  # fmt: skip
    """Show digest and figures, ask, sign; 1 when the person says no."""
    from celosia.pipeline import approve, digest_for, figures_for, load_identity

    figures = figures_for(project, what)
    digest = digest_for(project, what, figures)
    _show(what, digest, figures, err=as_json)
    if not yes and sys.stdin.isatty() and not click.confirm(messages.text("people.confirm"), err=True):
        click.echo(messages.text("people.not_signed"), err=True)
        return 1
    made = approve(project, what, load_identity(passphrase(passphrase_file), identity), role, note, figures=figures)
    if as_json:
        print_json(made.as_dict())
    else:
        role_words = messages.text(f"protocols.role.{role}")
        say("people.approved", name=made.name, role=role_words, what=messages.text(f"people.what.{what}"))
    return 0


def _show(what: str, digest: str, figures: Mapping[str, Any], err: bool) -> None:
    """What the signature will cover; beside a JSON report it goes to the other stream."""
    click.echo(messages.text("people.signing", what=messages.text(f"people.what.{what}"), digest=digest), err=err)
    from celosia.dossier import signed_lines

    rows = signed_lines(figures)
    if err:
        for name, value in rows:
            click.echo(f"{name}: {value}", err=True)
    elif rows:
        header = [messages.text("people.head.figure"), messages.text("people.head.value")]
        print_table(messages.text("people.shown"), header, rows)
