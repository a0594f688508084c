"""`celosia status`: where a project is, what blocks it and the next command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from celosia import messages
from celosia.cli.shell import build_command, project_argument
from celosia.cli.show import labels, print_report, print_table, role_names, say

if TYPE_CHECKING:
    from celosia.model.reports.status import ApprovalStatus, GateStatus, StatusReport


def command() -> click.Command:
    """The command."""
    return build_command("status", run, [project_argument()])


def run(project: Path, as_json: bool) -> int:
    """Show the steps of the workflow; 0 where all is done, else 1."""
    from celosia.pipeline.release.status import status

    report = status(project)
    print_report(report, as_json, _show)
    return 0 if report.done else 1


def _show(report: StatusReport) -> None:
    from celosia.dossier.next_act import next_act_sentence

    for words in report.problems:
        say("status.problem", words=words)
    for words in report.warnings:
        say("status.warning", words=words)
    for protocol in report.protocols:
        gates = [gate for gate in report.gates if gate.protocol == protocol]
        rows = [[*_gate_texts(gate), role_names(gate.roles), gate.reason] for gate in gates]
        header = labels("status.head", "gate", "state", "roles", "reason")
        print_table(messages.text(f"protocols.title.{protocol}"), header, rows)
    if report.approvals:
        header = labels("status.head", "what", "name", "role", "when", "state", "note")
        print_table(messages.text("status.approvals"), header, [_approval_row(each) for each in report.approvals])
    for review in report.reviews:
        say("status.overdue" if review.overdue else "status.due", release=review.release, due=review.due)
    for words in report.legal:
        say("status.legal", words=words)
    if report.next_act is not None:
        click.echo(next_act_sentence(report.next_act))
    elif report.done:
        say("status.done")


def _gate_texts(gate: GateStatus) -> list[str]:
    return [messages.text(f"protocols.gate.{gate.gate}"), messages.text(f"status.state.{gate.state.value}")]


def _approval_row(approval: ApprovalStatus) -> list[str]:
    what, state = messages.text(f"people.what.{approval.what}"), messages.text(f"status.approval.{approval.state}")
    return [what, approval.name, role_names([approval.role]), approval.when, state, approval.note]
