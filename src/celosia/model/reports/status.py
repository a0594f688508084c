"""Where a project is on its walk: each gate of each protocol, what blocks it, the next command. `celosia/status/1`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from celosia.model.plain import plain_fields

STATUS_FORMAT = "celosia/status/1"
# Every step that a protocol may ask for, in the order of the work: of several protocols, the earliest comes first.
GATES = tuple(
    "request exploration dictionary risk plan run residual intruder check release signatures delivery consultation"
    " publication".split()
)


class GateState(StrEnum):
    """Done; blocked by something that is missing or fails here; or waiting for an earlier gate."""

    DONE = "done"
    BLOCKED = "blocked"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class GateStatus:
    """One gate of one protocol."""

    protocol: str
    gate: str
    section: str
    roles: tuple[str, ...]
    state: GateState
    reason: str = ""  # why it is not done, in words
    command: str = ""  # what to type next
    doers: tuple[str, ...] = ()  # the roles of whoever types it, where it is blocked
    people: tuple[str, ...] = ()  # who holds them in the project


@dataclass(frozen=True, slots=True)
class ApprovalStatus:
    """One line of approvals.jsonl, and whether it counts."""

    what: str
    role: str
    name: str
    when: str
    state: str  # valid, voided, forged, stranger, role
    note: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """When a release is looked at again."""

    release: str
    due: str
    overdue: bool


@dataclass(frozen=True, slots=True)
class StatusReport:
    """A project at one moment."""

    project: str
    protocols: tuple[str, ...]
    gates: tuple[GateStatus, ...]
    approvals: tuple[ApprovalStatus, ...] = ()
    reviews: tuple[Review, ...] = ()
    warnings: tuple[str, ...] = ()  # what stops nothing and stays on record, in words
    legal: tuple[str, ...] = ()  # signatures with legal effect and time stamps of the present release, in words
    problems: tuple[str, ...] = ()  # what is broken in the project itself, in words

    @property
    def next(self) -> str:
        """The next command to type; nothing where all is done."""
        return self.next_act.command if self.next_act else ""

    @property
    def next_act(self) -> GateStatus | None:
        """The one thing to do next, over all protocols; every surface names it from here."""
        blocked = [gate for gate in self.gates if gate.state is GateState.BLOCKED]
        return min(blocked, key=lambda gate: GATES.index(gate.gate), default=None)

    @property
    def done(self) -> bool:
        """Whether every gate is passed and nothing is broken."""
        gates = all(gate.state is GateState.DONE for gate in self.gates)
        return bool(self.gates) and gates and not self.problems

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        names = "project protocols done next next_act gates approvals reviews warnings legal problems"
        return {"format": STATUS_FORMAT, **plain_fields(self, names)}
