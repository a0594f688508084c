"""Where a project stands: the gates of its norms, what is done, what blocks, and where to go next."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from celosia.model.status import GateState, GateStatus, StatusReport
from celosia.web._frame import Desk, page, step_path
from celosia.web._widgets import Cell, card, link, note, paragraph, state, table, tag, word

# The page on which a gate is passed; the others are passed from the command line.
_WHERE = MappingProxyType({
    "request": "request", "dictionary": "dictionary", "plan": "search", "run": "search", "residual": "dossier",
    "intruder": "intruder", "check": "result", "release": "dossier", "delivery": "dossier",
    "signatures": "dossier", "consultation": "dossier", "publication": "dossier",
})  # fmt: skip
_COLOUR = MappingProxyType({GateState.DONE: "good", GateState.BLOCKED: "bad", GateState.WAITING: "info"})


@page("overview")
async def overview_page(desk: Desk) -> None:
    """The status of the project, as `celosia status` tells it."""
    found: StatusReport = await desk.ask("status", desk.folder)
    for problem in found.problems:
        note(problem, "warning")
    _next(desk, found)
    for protocol in found.protocols:
        with card(word(f"protocols.title.{protocol}")):
            _gates(desk, [gate for gate in found.gates if gate.protocol == protocol])
    if found.approvals:
        with card(word("status.approvals")):
            _approvals(found)


def _next(desk: Desk, found: StatusReport) -> None:
    """The first thing that blocks, and the page or command that passes it."""
    first = next((gate for gate in found.gates if gate.state is GateState.BLOCKED), None)
    if first is None:
        if found.gates:
            note(word("status.done"), "good")
        return
    with note(first.reason, "warning", word("web.overview.next", gate=word(f"protocols.gate.{first.gate}"))):
        step = _where(first)
        if step:
            link(word("web.overview.go", page=word(f"web.step.{step}")), step_path(desk.name, step))
    if not step and first.command:
        paragraph(word("web.overview.command"))
        tag("pre", first.command, "c-command", tabindex="0", aria_label=word("web.overview.command"))


def _where(gate: GateStatus) -> str:
    """The page of a gate; what only lacks an approval is approved in the dossier."""
    return "dossier" if gate.command.startswith("celosia approve") else _WHERE.get(gate.gate, "")


def _gates(desk: Desk, gates: list[GateStatus]) -> None:
    def row(gate: GateStatus) -> list[Cell]:
        def name() -> None:
            words = word(f"protocols.gate.{gate.gate}")
            if _where(gate):
                link(words, step_path(desk.name, _where(gate)))
            else:
                tag("span", words)

        return [
            name,
            partial(state, word(f"status.state.{gate.state.value}"), _COLOUR[gate.state]),
            ", ".join(word(f"protocols.role.{role}") for role in gate.roles),
            gate.section,
            gate.reason,
        ]

    head = [word(f"status.head.{key}").capitalize() for key in ("gate", "state", "roles")]
    columns = [*head, word("web.overview.section"), word("status.head.reason").capitalize()]
    table(columns, [row(gate) for gate in gates], word("web.overview.gates"))


def _approvals(found: StatusReport) -> None:
    rows = [
        [word(f"people.what.{one.what}"), one.name, word(f"protocols.role.{one.role}"), one.when,
         word(f"status.approval.{one.state}"), one.note]
        for one in found.approvals
    ]  # fmt: skip
    columns = [word(f"status.head.{key}").capitalize() for key in ("what", "name", "role", "when", "state", "note")]
    table(columns, rows, word("status.approvals"))
