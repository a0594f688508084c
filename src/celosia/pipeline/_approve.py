"""Approvals: a person's signature over the digest of one thing; it dies when one byte of that thing changes.

`approvals.jsonl` holds one approval a line. Which of them count is asked anew each time, from the files as they are.
A plan is approved together with everything that made it: dictionary, settings of celosia.toml, hierarchies.
Sources: MEL IV.2 (the dictionary, before anything is applied); MINSAL Roles 1 and Verificación 4.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import reading_from, replacing
from celosia.errors import (
    ApprovalFileDamaged,
    CandidateChanged,
    CelosiaError,
    NoPlan,
    NothingToApprove,
    RoleNotHeld,
    SamePerson,
    ValueOutOfRange,
)
from celosia.model import dictionary
from celosia.model.people import APPROVAL_FORMAT, ROLES, SUBJECTS, Approval, Person, approval_from
from celosia.model.plan import digest_of
from celosia.model.variables import Treatment
from celosia.pipeline import _journal
from celosia.pipeline._approved import keep_parts, parts_of
from celosia.pipeline._call import Place, moment
from celosia.pipeline._identity import Identity, is_signed
from celosia.pipeline._people import person_with, read_people, role_words, same_name
from celosia.pipeline._plan import dictionary_digest, read_plan
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._signing import Act, note_missing, refuse_other, signing

_NOTHING: Mapping[str, Any] = {}
_SETTINGS = ("protocols", "unit", "policy", "steps", "hierarchies", "scenarios", "overrides")
_APPROVABLE = tuple(subject for subject in SUBJECTS if subject != "release")
_TEXTS = ("what", "digest", "role", "name", "key", "when", "note", "signature")


def approve(
    folder: Place,
    what: str,
    identity: Identity,
    role: str,
    note: str = "",
    *,
    figures: Mapping[str, Any] = _NOTHING,
    expected: str | None = None,
    now: datetime | None = None,
) -> Approval:
    """Sign the present digest of something in one's own role, with the figures that were shown.

    `expected` is the seal of what the person saw (`seal_of`): anything else is not signed.
    """
    project, when = open_project(folder), moment(now)
    with signing(project.folder):
        if project.journal_path.is_file():
            _journal.entries(project.journal_path)  # nobody signs over a journal that somebody changed
            note_missing(project.journal_path, approval_acts(project.folder))
        shown = dict(figures)
        if not shown or what == "residual":  # the risk that is accepted is the one measured, whatever the caller says
            shown = figures_for(project.folder, what)
        digest = digest_for(project.folder, what, shown)
        refuse_other(messages.text(f"people.what.{what}"), expected, seal_of(digest, shown))
        made = _signed(project.folder, what, digest, identity, role, note, shown, when)
        _refuse_own_work(project.folder, made)
        _journal.refuse_unwritable(project.journal_path)
        keep_parts(project, digest, parts_of(project, _SETTINGS))
        _add(project.folder / "approvals.jsonl", made)
        act = _act(made)
        _journal.append(project.journal_path, act.what, when, act.facts, who=act.who, why=act.why)
    return made


def seal_of(digest: str, figures: Mapping[str, Any]) -> str:
    """What a person was shown, in one digest: the thing itself and its figures."""
    return digest_of({"digest": digest, "figures": _plain(figures)})


def present_parts(project: Project) -> dict[str, dict[str, str]]:
    """What approvals cover, part by part, as it is now."""
    return parts_of(project, _SETTINGS)


def _add(path: Path, made: Approval) -> None:
    """One more approval, in one step: a process killed here leaves all the lines before it, or all and the new one."""
    before = b""
    if path.is_file():
        with reading_from(path):
            before = path.read_bytes()
    line = json.dumps(made.as_dict(), ensure_ascii=False, sort_keys=True).encode("utf-8") + b"\n"
    with replacing(path, 0o644) as draft:
        draft.write_bytes(before + (b"" if not before or before.endswith(b"\n") else b"\n") + line)


def _act(one: Approval) -> Act:
    return Act("approve", {"what": one.what, "digest": one.digest, "role": one.role}, one.name, one.note, one.when)


def approval_acts(folder: Path) -> list[Act]:
    """The approvals that people of the project really gave."""
    known = {person.key: person.name for person in read_people(folder)}
    return [
        _act(one)
        for one in all_approvals(folder)
        if one.key in known and same_name(known[one.key], one.name)
        if is_signed(one.signed_part(), one.signature, one.key)
    ]


def signature_over(folder: Place, digest: str, identity: Identity, role: str, note: str, now: datetime) -> Approval:
    """A signature over a release's manifest, by a person of the project that made it."""
    return _signed(Path(folder), "release", digest, identity, role, note, _NOTHING, now)


# --- what is covered ------------------------------------------------------------------------------


def digest_for(folder: Place, what: str, figures: Mapping[str, Any] = _NOTHING) -> str:
    """The digest of what an approval would cover now."""
    project = open_project(folder)
    if what not in _APPROVABLE:
        raise ValueOutOfRange(parameter="what", given=what, allowed=", ".join(_APPROVABLE))
    if what == "dictionary":
        return _annotated_digest(project)
    if what == "plan":
        return _plan_digest(project)
    candidate = _candidate_digest(project, what)
    if what == "candidate":
        return candidate
    parts = {"dictionary": dictionary_digest(project), "candidate": candidate, "figures": _plain(figures)}
    return digest_of(parts)


def figures_for(folder: Place, what: str) -> dict[str, Any]:
    """The figures that a person is shown before signing: counts, column names and written reasons, never a cell."""
    project = open_project(folder)
    if what == "dictionary":
        return _dictionary_figures(project)
    if what == "plan":
        plan = _plan_of(project)
        return {"method": plan.method, "variables": len(plan.published), "steps": len(plan.steps),
                "suppressed_rows": plan.suppressed_rows, "loss": round(plan.loss, 6),
                "overrides": overrides_of(project)}  # fmt: skip
    if what == "candidate":
        verdict = _verdict(project, what)
        return {name: verdict.get(name) for name in ("rows", "suppressed_rows", "k", "k_persons")}
    if what == "residual":
        from celosia.pipeline._mel import residual_figures

        return dict(residual_figures(project.folder))
    return {}


def overrides_of(project: Project) -> dict[str, str]:
    """What the project asks otherwise than its norms, rule by rule, with the written reason (MEL IV.2.b)."""
    stated = read_toml(project.folder / "celosia.toml").get("overrides", {})
    return {f"{norm}.{rule}": str(change.get("reason", "")) for norm, rules in stated.items()
            for rule, change in rules.items()}  # fmt: skip


def _dictionary_figures(project: Project) -> dict[str, Any]:
    variables = project.variables()
    removed = [variable.name for variable in variables if variable.treatment == Treatment.REMOVE]
    shown = {"variables": len(variables), "published": len(dictionary.published(variables)), "removed": len(removed),
             "overrides": overrides_of(project)}  # fmt: skip
    if "mel" not in project.config.protocols:
        return shown
    from celosia.pipeline._mel import annotated_figures

    return shown | annotated_figures(project.folder)


def _annotated_digest(project: Project) -> str:
    """The dictionary's bytes and, where MEL lets a variable depart from its rule, those written exceptions (P09)."""
    from celosia.pipeline._mel import exceptions_of

    own, written = dictionary_digest(project), exceptions_of(project)
    return digest_of({"dictionary": own, "source": project.config.source.digest, "exceptions": _plain(written)})


def _plan_of(project: Project) -> Any:
    try:
        return read_plan(project.folder)
    except NoPlan:
        raise NothingToApprove(what="plan") from None


def _plan_digest(project: Project) -> str:
    """A plan and everything it was made from, as they are now: a changed step voids what was approved before it."""
    document = read_toml(project.folder / "celosia.toml")
    files = sorted((project.folder / "hierarchies").glob("*.csv"))
    return digest_of({
        "plan": _plan_of(project).digest,
        "dictionary": dictionary_digest(project),
        "source": project.config.source.digest,
        "settings": _plain({name: document[name] for name in _SETTINGS if name in document}),
        "hierarchies": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    })  # fmt: skip


def _candidate_digest(project: Project, what: str) -> str:
    """The candidate's own bytes, which must be those that were checked."""
    stated = str(_verdict(project, what)["digest"])
    data = project.folder / "private" / "candidate" / "data.csv"
    if not data.is_file():
        raise NothingToApprove(what=what)
    if _file_digest(data) != stated:
        raise CandidateChanged(path=str(data), reason=messages.text("people.candidate_bytes"))
    return stated


def _file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def _verdict(project: Project, what: str) -> dict[str, Any]:
    try:
        verdict = json.loads((project.folder / "private" / "candidate" / "verdict.json").read_text("utf-8"))
        return {**verdict, "digest": str(verdict["digest"])}
    except (OSError, ValueError, KeyError, TypeError):
        raise NothingToApprove(what=what) from None


# --- which of them count --------------------------------------------------------------------------


def all_approvals(folder: Place) -> tuple[Approval, ...]:
    """Every line of approvals.jsonl, valid or not."""
    path = Path(folder) / "approvals.jsonl"
    lines = path.read_bytes().split(b"\n") if path.is_file() else []
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(_read(json.loads(line.decode("utf-8"))))
        except (ValueError, KeyError, TypeError):
            raise ApprovalFileDamaged(path=str(path), line=number) from None
    return tuple(found)


def valid_approvals(folder: Place, what: str) -> tuple[Approval, ...]:
    """The approvals that count now: rightly signed, by somebody who holds the role, over what stands there."""
    people = read_people(folder)
    return tuple(one for one in all_approvals(folder) if one.what == what and _state(folder, one, people) == "valid")


def approval_states(folder: Place) -> tuple[tuple[Approval, str], ...]:
    """Every approval and whether it counts: valid, voided, forged, stranger (nobody's key) or role (not held)."""
    people = read_people(folder)
    return tuple((one, _state(folder, one, people)) for one in all_approvals(folder))


def _state(folder: Place, one: Approval, people: tuple[Person, ...]) -> str:
    person = next((person for person in people if person.key == one.key), None)
    if not is_signed(one.signed_part(), one.signature, one.key):
        return "forged"
    if person is None or not same_name(person.name, one.name):
        return "stranger"
    if one.role not in person.roles:
        return "role"
    return "valid" if _still_covers(folder, one) else "voided"


def _still_covers(folder: Place, one: Approval) -> bool:
    try:
        if one.what == "dictionary" and one.figures.get("overrides", {}) != overrides_of(open_project(folder)):
            return False  # an exception that the approver was not shown
        return one.digest == digest_for(folder, one.what, one.figures)
    except CelosiaError:
        return False  # what cannot be read is not what was approved


def _read(document: Any) -> Approval:
    if document["format"] != APPROVAL_FORMAT or not isinstance(document.get("figures", {}), Mapping):
        raise KeyError
    if not all(isinstance(document.get(name, ""), str) for name in _TEXTS):
        raise KeyError
    return approval_from(document)


# --- signing --------------------------------------------------------------------------------------


def _signed(
    folder: Path, what: str, digest: str, identity: Identity, role: str, note: str, figures: Mapping[str, Any],
    now: datetime,
) -> Approval:  # fmt: skip
    if role not in ROLES:
        raise ValueOutOfRange(parameter="role", given=role, allowed=", ".join(ROLES))
    person = person_with(folder, identity.key)
    if role not in person.roles:
        raise RoleNotHeld(name=person.name, words=role_words(role), role=role)
    when = now.isoformat(timespec="seconds")
    draft = Approval(what, digest, role, person.name, person.key, when, note, _plain(figures))
    return replace(draft, signature=identity.sign(draft.signed_part()))


def _refuse_own_work(folder: Path, made: Approval) -> None:
    """Who executed does not verify, whatever roles were written since (M31); forged lines accuse nobody."""
    other = {"verifier": "executor", "executor": "verifier"}.get(made.role)
    for one in all_approvals(folder):
        same = one.key == made.key or same_name(one.name, made.name)
        if one.role == other and same and is_signed(one.signed_part(), one.signature, one.key):
            raise SamePerson(name=made.name)
    if made.role == "verifier" and any(same_name(name, made.name) for name in who_ran(folder)):
        raise SamePerson(name=made.name)


def who_ran(folder: Path) -> list[str]:
    """Who executed, as the journal says: ran the plan, or signed as executor."""
    path = folder / "journal.jsonl"
    found = _journal.entries(path) if path.is_file() else []
    return [str(entry["who"]) for entry in found if entry.get("who") and _executed(entry)]


def _executed(entry: Mapping[str, Any]) -> bool:
    facts = entry.get("facts")
    role = facts.get("role") if isinstance(facts, Mapping) else None
    return entry.get("what") == "run" or (entry.get("what") in ("approve", "sign") and role == "executor")


def _plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON holds it: what is signed must be what is read back."""
    made: dict[str, Any] = json.loads(json.dumps(dict(document), ensure_ascii=False, default=str))
    return made
