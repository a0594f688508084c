"""How a gate stands: why it is not done, what to type and who does; and the gates of ATENEA's two analyses.

Knows a project, its journal and the closing evaluation. Ignores the other gates, which `status` judges.
Source: ATENEA G3_DE 4.2.2, 4.2.3 and 4.2.5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from celosia import messages
from celosia.dossier.closing import failing_text, ways_out
from celosia.errors import CelosiaError
from celosia.model.paths import ReleasePaths
from celosia.model.protocols import Gate, Protocol
from celosia.model.requests import Request
from celosia.pipeline.candidate.closing_evaluation import stored_closing
from celosia.pipeline.project.declared_scenarios import is_explored, unanalysed_scenarios
from celosia.pipeline.project.folder import Project
from celosia.pipeline.release.mel_delivery import changed_delivery, delivered_release
from celosia.system.paths import shell_word

JournalEntries = Sequence[Mapping[str, Any]]
# Whose work it is where neither the command nor the gate says it.
_DOERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys("plan run dictionary release deliver people profile risk intruder".split(), ("executor",)),
    "check": ("verifier",),
}


class GateOutcome(NamedTuple):
    """Why a gate is not done, what to type and who does: an empty reason says that it is done."""

    reason: str
    command: str
    doers: tuple[str, ...] = ()


DONE = GateOutcome("", "")


def quote(path: object) -> str:
    """A path as it can be typed."""
    return shell_word(path)


def roles_of_command(command: str, gate: Gate) -> tuple[str, ...]:
    """The roles of whoever types a command: the one that it names, else those whose work it is."""
    named = re.search(r"--role (\w+)", command)
    return (named[1],) if named else _DOERS.get(command.split()[1] if command else "", gate.roles)


def exploration_outcome(project: Project | None, journal: JournalEntries) -> GateOutcome:
    """The exploratory analysis of the present source (ATENEA 4.2.2)."""
    if project is None or is_explored(project, journal):
        return DONE
    return GateOutcome(messages.text("status.reason.not_explored"), f"celosia profile {quote(project.folder)}")


def risk_outcome(project: Project | None, journal: JournalEntries) -> GateOutcome:
    """The risk analysis of the present source, over every declared scenario (ATENEA 4.2.3)."""
    left = unanalysed_scenarios(project, journal) if project is not None else []
    if project is None or left == []:
        return DONE
    command = f"celosia risk {quote(project.folder)}"
    if left is None:
        return GateOutcome(messages.text("status.reason.no_risk"), f"{command} --scenario A,B --declare")
    return GateOutcome(messages.text("status.reason.risk_elsewhere", names=", ".join(left)), command)


def closing_outcome(
    project: Project | None, candidate: str, request: Request | None, protocol: Protocol
) -> GateOutcome:
    """The closing evaluation, where the protocol asks for one (ATENEA 4.2.5)."""
    if project is None or not any(rule.measure == "properties" for rule in protocol.rules):
        return DONE
    closing, folder = stored_closing(project, candidate, request), quote(project.folder)
    if closing is None:
        return GateOutcome(messages.text("status.reason.no_closing"), f"celosia check {folder}")
    if closing.passes:
        return DONE
    words = messages.text("status.reason.not_kept", failing=failing_text(closing), ways=ways_out())
    return GateOutcome(words, f"celosia plan {folder}")


def delivery_outcome(project: Project | None, release: str) -> GateOutcome:
    """The delivery of the present release, given by the digest of its manifest, each file as it was delivered."""
    if project is None:
        return DONE
    command = f"celosia deliver {quote(project.folder)}"
    if not ReleasePaths(project.paths.delivery).manifest.is_file():
        return GateOutcome(messages.text("status.reason.no_delivery"), command)
    try:
        changed = changed_delivery(project)
        if release and delivered_release(project) != release:
            return GateOutcome(messages.text("status.reason.other_delivery"), command)
    except CelosiaError as fault:
        return GateOutcome(str(fault), command)
    if changed:
        return GateOutcome(messages.text("status.reason.damaged_delivery", files=", ".join(changed)), command)
    return DONE


def was_checked(candidate: str, journal: JournalEntries) -> bool:
    """Whether somebody measured this very candidate again, and all held."""
    checks = [entry.get("facts") or {} for entry in journal if entry.get("what") == "check"]
    return any(check.get("candidate") == candidate and check.get("holds") is True for check in checks)
