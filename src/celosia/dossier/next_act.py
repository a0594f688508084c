"""The next act of a project in one sentence: who does it, by name and role, and what they type."""

from __future__ import annotations

from celosia import messages
from celosia.model.people import ROLES
from celosia.model.reports.status import GateStatus


def next_act_sentence(act: GateStatus) -> str:
    """What follows, by whom, and the command."""
    return messages.text("status.next", who=doer_words(act), command=act.command)


def doer_words(act: GateStatus) -> str:
    """Who does it: names where somebody holds the role, else that nobody does yet."""
    roles = _any_of([messages.text(f"protocols.role.{role}") for role in act.doers if role in ROLES])
    if not act.people:
        return messages.text("status.no_doer", role=roles)
    return messages.text("status.doer", names=_any_of(list(act.people)), role=roles)


def _any_of(words: list[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return messages.text("status.any_of", first=", ".join(words[:-1]), last=words[-1])
