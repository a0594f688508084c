"""`status`: where a project is, what blocks it and the next command, from its files as they are now.

Knows gates and what each one leaves behind. Ignores figures: what the file alone can answer is measured by `run`,
`check` and `release`, and read here from what they left. A part that cannot be read blocks the gate that needs it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType

from celosia import messages
from celosia.dossier import human_sentence
from celosia.model import dictionary
from celosia.model.protocols import Protocol, Rule
from celosia.model.requests import Request
from celosia.model.status import ApprovalStatus, GateState, GateStatus, Review, StatusReport
from celosia.pipeline._call import Place, moment
from celosia.pipeline._closing import closing_path, limited_in
from celosia.pipeline._intruder_claims import summary
from celosia.pipeline._request import missing_items
from celosia.pipeline._rules import _judged, rules_of
from celosia.pipeline._status_facts import Facts, facts_of
from celosia.protocols import load, measured_text, norm_of, sentence_of

Found = tuple[str, str]  # why it is not done, and what to type; an empty reason: it is done
_DONE: Found = ("", "")
_MEASURES: Mapping[str, tuple[str, ...]] = {
    "request": ("request_items",),
    "dictionary": ("roles", "labels", "dictionary", "dictionary_approval"),
    "plan": ("plan_approval",),
    "intruder": ("intruder",),
    "residual": ("residual_approval",),
    "check": ("second_person",),
    "signatures": ("signatures",),
}
_PROBLEMS = ("celosia.toml", "overrides", "people", "approvals", "journal")


def status(folder: Place, *, now: datetime | None = None) -> StatusReport:
    """A project at this moment of its walk; a broken one is told as broken."""
    return status_of(facts_of(Path(folder)), moment(now).date())


def status_of(facts: Facts, today: date) -> StatusReport:
    """The status from what a project holds, for whoever has read it already."""
    place = facts.folder
    if facts.project is None:
        return StatusReport(str(place), (), (), problems=tuple(facts.faults.values()))
    names = facts.project.config.protocols
    none: tuple[Rule, ...] = ()
    rules = facts.read("overrides", lambda: rules_of(place), none)
    gates = [gate for name in names for gate in _gates(facts, load(name), rules)]
    problems = [words for part, words in facts.faults.items() if part in _PROBLEMS or part.startswith("releases/")]
    if not names:
        problems.append(messages.text("status.no_protocol"))
    return StatusReport(
        project=facts.project.config.name,
        protocols=names,
        gates=tuple(gates),
        approvals=tuple(
            ApprovalStatus(one.what, one.role, one.name, one.when, state, one.note) for one, state in facts.approvals
        ),
        reviews=_reviews(facts, today),
        problems=tuple(problems),
    )


def _gates(facts: Facts, protocol: Protocol, rules: tuple[Rule, ...]) -> list[GateStatus]:
    own = tuple(rule for rule in rules if rule.protocol in (protocol.id, norm_of(protocol.id)))
    found, open_gate = [], ""
    for gate in protocol.gates:
        reason, command = _judge(facts, gate.id, own, protocol)
        state = GateState.DONE if not reason else GateState.WAITING if open_gate else GateState.BLOCKED
        if state is GateState.WAITING:
            short = messages.text(f"protocols.gate.{open_gate}").partition(":")[0]
            reason = messages.text("status.waits", gate=short)
        if reason and not open_gate:
            open_gate = gate.id
        if state is GateState.DONE and gate.id == "intruder" and facts.claims is not None:
            reason = human_sentence(summary(facts.claims, facts.claims.candidate))  # how sure "nobody" is
        found.append(GateStatus(protocol.id, gate.id, gate.section, gate.roles, state, reason, command))
    return found


def _judge(facts: Facts, gate: str, rules: tuple[Rule, ...], protocol: Protocol) -> Found:
    """What a gate leaves behind first, then the rules about people and papers that belong to it."""
    reason, command = _LEFT[gate](facts, protocol) if gate in _LEFT else _DONE
    if reason:
        return reason, command
    context = facts.context()
    for rule in rules:
        if rule.measure in _MEASURES.get(gate, ()):
            result = _judged(context, rule)
            if not result.passes:
                words = messages.text("status.unmet", rule=sentence_of(result), measured=measured_text(result))
                return words, _command(facts, gate, rule)
    return _DONE


def _command(facts: Facts, gate: str, rule: Rule) -> str:
    """What to type for a rule of a gate that does not hold."""
    approved = {"dictionary_approval": "dictionary", "plan_approval": "plan", "residual_approval": "residual"}
    if rule.measure in approved:
        return f"celosia approve {_quoted(facts.folder)} {approved[rule.measure]} --role {_signer(facts, rule)}"
    if rule.measure == "signatures" and facts.release:
        return f"celosia sign {_quoted(facts.release.folder)} --role {_signer(facts, rule)}"
    if rule.measure in ("dictionary", "labels"):  # descriptions and labels are written in the dictionary itself
        return f"celosia dictionary export {_quoted(facts.folder)} {_quoted(facts.folder / 'dictionary.xlsx')}"
    return _type(facts, gate)


def _signer(facts: Facts, rule: Rule) -> str:
    """A role that the rule asks for, that has not signed yet and that somebody holds."""
    roles: list[str] = list(rule.asked["roles"])
    signed = {one.role for one in facts.signatures} if rule.measure == "signatures" else set()
    held = {role for person in facts.people for role in person.roles}
    left = [role for role in roles if role not in signed] or roles
    return next((role for role in left if role in held), left[0])


def _quoted(path: object) -> str:
    """A path as it can be typed."""
    return shlex.quote(str(path))


def _type(facts: Facts, gate: str) -> str:
    folder = _quoted(facts.folder)
    release = _quoted(facts.release.folder) if facts.release else f"{folder}/releases/…"
    return {
        "request": f"celosia request {folder}",
        "dictionary": f"celosia dictionary check {folder}",
        "plan": f"celosia plan {folder}",
        "run": f"celosia run {folder}",
        "intruder": f"celosia claims {folder}",
        "residual": f"celosia approve {folder} residual --role lead",
        "check": f"celosia check {folder} && celosia approve {folder} candidate --role verifier",
        "release": f"celosia release {folder}",
        "delivery": f"celosia deliver {folder}",
        "signatures": f"celosia sign {release} --role …",
        "consultation": f"celosia publish {folder} {release} --consultation …",
        "publication": f"celosia publish {folder} {release}",
    }[gate]  # fmt: skip


# --- what each gate leaves behind -----------------------------------------------------------------


def _blocked(facts: Facts, gate: str, key: str, **fields: object) -> Found:
    return messages.text(f"status.reason.{key}", **fields), _type(facts, gate)


def _request(facts: Facts, protocol: Protocol) -> Found:
    if "request" in facts.faults:
        return facts.faults["request"], _type(facts, "request")
    if facts.request is None:
        return _blocked(facts, "request", "no_request")
    missing = missing_items(facts.request, (protocol.id,))
    if missing:
        return _blocked(facts, "request", "items", names=", ".join(_item(key) for key in missing))
    return _DONE


def _item(key: str) -> str:
    return messages.text(f"protocols.item.{key}") if messages.has(f"protocols.item.{key}") else key


def _dictionary(facts: Facts, protocol: Protocol) -> Found:
    if facts.variables is None:
        return facts.faults.get("dictionary", "–"), _type(facts, "dictionary")
    if not dictionary.published(facts.variables):
        words = messages.text("status.reason.nothing_published")
        return words, f"celosia dictionary purpose {_quoted(facts.folder)} --variables A,B,C --purpose …"
    return _DONE


def _plan(facts: Facts, protocol: Protocol) -> Found:
    if facts.plan is None:
        return facts.faults.get("plan") or messages.text("status.reason.no_plan"), _type(facts, "plan")
    return _blocked(facts, "plan", "stale_plan") if facts.stale else _DONE


def _run(facts: Facts, protocol: Protocol) -> Found:
    if not facts.candidate:
        return facts.faults.get("candidate") or messages.text("status.reason.no_candidate"), _type(facts, "run")
    made = [entry.get("facts") or {} for entry in facts.journal if entry.get("what") == "run"]
    plans = [str(one.get("plan")) for one in made if one.get("candidate") == facts.candidate]
    if facts.plan is None or facts.plan.digest not in plans:
        return _blocked(facts, "run", "other_plan")
    limited = _limited(facts.request, facts)
    if limited:
        return _blocked(facts, "run", "limited", names=", ".join(limited))
    return _DONE


def _limited(request: Request | None, facts: Facts) -> tuple[str, ...]:
    return limited_in(request, facts.plan) if request is not None and facts.plan is not None else ()


def _intruder(facts: Facts, protocol: Protocol) -> Found:
    if "claims" in facts.faults:
        return facts.faults["claims"], _type(facts, "intruder")
    return _blocked(facts, "intruder", "no_claims") if facts.claims is None else _DONE


def _release(facts: Facts, protocol: Protocol) -> Found:
    lost = _not_kept(facts)
    if lost and any(rule.measure == "properties" for rule in protocol.rules):
        words = messages.text("status.reason.not_kept", names=", ".join(lost))
        return words, f"celosia request {_quoted(facts.folder)} --closing"
    if facts.release is None:
        return _blocked(facts, "release", "other_release" if facts.releases else "no_release")
    wrong = (*facts.release.changed, *facts.release.added, *facts.release.removed)
    if wrong:
        return _blocked(facts, "release", "damaged_release", files=", ".join(wrong))
    return _DONE


def _not_kept(facts: Facts) -> list[str]:
    """What the last closing evaluation of this very candidate found not kept; without one, `release` makes it."""
    try:
        stored = json.loads(closing_path(facts.folder).read_text("utf-8"))
        if stored["candidate"] != facts.candidate:
            return []
        return [f"{one['property']} {one['variable']}" for one in stored["properties"] if not one["passes"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _delivery(facts: Facts, protocol: Protocol) -> Found:
    made = facts.folder / "delivery" / "manifest.json"
    return _DONE if made.is_file() else _blocked(facts, "delivery", "no_delivery")


def _signatures(facts: Facts, protocol: Protocol) -> Found:
    return _blocked(facts, "signatures", "no_release") if facts.release is None else _DONE


def _consultation(facts: Facts, protocol: Protocol) -> Found:
    entry = facts.release.publication if facts.release else None
    return _DONE if entry and entry.consultation else _blocked(facts, "consultation", "no_consultation")


def _publication(facts: Facts, protocol: Protocol) -> Found:
    entry = facts.release.publication if facts.release else None
    return _DONE if entry else _blocked(facts, "publication", "unpublished")


_LEFT: Mapping[str, Callable[[Facts, Protocol], Found]] = MappingProxyType({
    "request": _request,
    "dictionary": _dictionary,
    "plan": _plan,
    "run": _run,
    "intruder": _intruder,
    "release": _release,
    "delivery": _delivery,
    "signatures": _signatures,
    "consultation": _consultation,
    "publication": _publication,
})  # fmt: skip


def _reviews(facts: Facts, today: date) -> tuple[Review, ...]:
    """When each published release is looked at again (M34)."""
    found = []
    for held in facts.releases:
        due = held.publication.next_review if held.publication else ""
        if due:
            found.append(Review(held.folder.name, due, due < today.isoformat()))
    return tuple(found)
