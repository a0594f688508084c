"""How far a project is: the gates of its norms, what is done, what blocks, and where to go next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from celosia.dossier.next_act import doer_words
from celosia.messages import text
from celosia.model.reports.status import GateState, GateStatus, StatusReport
from celosia.web.server.rights import role_names
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, step_path
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.web.ui.verdicts import table_heads
from celosia.workbench.operations.projects import status

# The page on which a gate is passed; the others are passed from the command line.
_PAGES = {
    "request": "request",
    "dictionary": "dictionary",
    "exploration": "data",
    "risk": "risk",
    "plan": "search",
    "run": "search",
    "intruder": "intruder",
    "check": "result",
    **dict.fromkeys(("residual", "release", "delivery", "signatures", "consultation", "publication"), "dossier"),
}
_COLOUR = {GateState.DONE: "good", GateState.BLOCKED: "bad", GateState.WAITING: "info"}


@project_page("overview")
async def overview_page(page: PageContext) -> None:
    """The status of the project, as `celosia status` prints it."""
    report = await page.ask(status, page.folder)
    for problem in report.problems:
        html.note(problem, "warning")
    for words in report.warnings:
        html.note(text("status.warning", words=words), "info")
    _next_gate(page, report)
    for protocol in report.protocols:
        with html.card(text(f"protocols.title.{protocol}")):
            _gates_table(page, [gate for gate in report.gates if gate.protocol == protocol])
    if report.approvals:
        with html.card(text("status.approvals")):
            _approvals_table(report)


def _next_gate(page: PageContext, report: StatusReport) -> None:
    """The next act: its gate, who does it, and the page or command that passes it."""
    first = report.next_act
    if first is None:
        if report.gates:
            html.note(text("status.done"), "good")
        return
    step = _page_of(first)
    with html.note(first.reason, "warning", text("web.overview.next", gate=text(f"protocols.gate.{first.gate}"))):
        html.paragraph(text("web.overview.who", who=doer_words(first)))
        if step:
            html.link(text("web.overview.go", page=text(f"web.step.{step}")), step_path(page.name, step))
    if not step and first.command:
        html.paragraph(text("web.overview.command"))
        html.tag("pre", first.command, "c-command", tabindex="0", aria_label=text("web.overview.command"))


def _page_of(gate: GateStatus) -> str:
    """The page of a gate; what only lacks an approval is approved in the dossier."""
    return "dossier" if gate.command.startswith("celosia approve") else _PAGES.get(gate.gate, "")


def _gates_table(page: PageContext, gates: Sequence[GateStatus]) -> None:
    def name_cell(gate: GateStatus) -> None:
        name, step = text(f"protocols.gate.{gate.gate}"), _page_of(gate)
        if step:
            html.link(name, step_path(page.name, step))
        else:
            html.tag("span", name)

    rows: list[list[Cell]] = [
        [
            partial(name_cell, gate),
            partial(html.state, text(f"status.state.{gate.state.value}"), _COLOUR[gate.state]),
            role_names(gate.roles),
            gate.section,
            gate.reason,
        ]
        for gate in gates
    ]
    gate_head, state_head, roles_head, reason_head = table_heads("status.head", "gate", "state", "roles", "reason")
    columns = [gate_head, state_head, roles_head, text("web.overview.section"), reason_head]
    html.table(columns, rows, text("web.overview.gates"))


def _approvals_table(report: StatusReport) -> None:
    rows = [
        [
            text(f"people.what.{approval.what}"),
            approval.name,
            text(f"protocols.role.{approval.role}"),
            approval.when,
            text(f"status.approval.{approval.state}"),
            approval.note,
        ]
        for approval in report.approvals
    ]
    columns = table_heads("status.head", "what", "name", "role", "when", "state", "note")
    html.table(columns, rows, text("status.approvals"))
