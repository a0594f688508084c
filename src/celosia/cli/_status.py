"""`celosia status`: where a project is, what blocks it and the next command."""

from __future__ import annotations

from pathlib import Path

import click

from celosia import messages
from celosia.cli._shell import argument, json_option, verb
from celosia.cli._show import print_json, print_table, say


def command() -> click.Command:
    """The verb."""
    return verb("status", run, [argument("project", type=click.Path(path_type=Path)), json_option()])


def run(project: Path, as_json: bool) -> int:
    """Show the walk; 0 where all is done, else 1."""
    from celosia.pipeline import status

    report = status(project)
    if as_json:
        print_json(report.as_dict())
        return 0 if report.done else 1
    for words in report.problems:
        say("status.problem", words=words)
    for protocol in report.protocols:
        rows = [
            [messages.text(f"protocols.gate.{gate.gate}"), messages.text(f"status.state.{gate.state.value}"),
             ", ".join(messages.text(f"protocols.role.{role}") for role in gate.roles), gate.reason]
            for gate in report.gates if gate.protocol == protocol
        ]  # fmt: skip
        header = [messages.text(f"status.head.{key}") for key in ("gate", "state", "roles", "reason")]
        print_table(messages.text(f"protocols.title.{protocol}"), header, rows)
    if report.approvals:
        rows = [
            [messages.text(f"people.what.{one.what}"), one.name, messages.text(f"protocols.role.{one.role}"), one.when,
             messages.text(f"status.approval.{one.state}"), one.note]
            for one in report.approvals
        ]  # fmt: skip
        header = [messages.text(f"status.head.{key}") for key in ("what", "name", "role", "when", "state", "note")]
        print_table(messages.text("status.approvals"), header, rows)
    for review in report.reviews:
        say("status.overdue" if review.overdue else "status.due", release=review.release, due=review.due)
    if report.next:
        say("status.next", command=report.next)
    elif report.done:
        say("status.done")
    return 0 if report.done else 1
