"""Approvals: a person's signature over the digest of something, void as soon as one byte of it changes.

`approvals.jsonl` holds one approval a line. Which of them count is asked anew each time, from the files as they are.
A plan is approved together with everything that made it: dictionary, settings of celosia.toml, hierarchies.
`private/approved/` keeps, for each digest that was signed, the digests of its parts: a voided approval says what
changed since. An older approval has no such file and no explanation.
Sources: MEL IV.2 (the dictionary, before anything is applied); MINSAL Roles 1 and Verificación 4.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.dossier.document import Document
from celosia.dossier.stored import document_text
from celosia.model import dictionary
from celosia.model.people import ROLES, SUBJECTS, Approval, ChangedPart, Person
from celosia.model.plan import digest_of
from celosia.model.roster import roster_name
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Treatment
from celosia.pipeline.candidate import intruder_evidence as evidence
from celosia.pipeline.candidate.errors import CandidateChanged, NothingToApprove, RoleNotHeld, SamePerson
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.acts import Act, note_missing, refuse_other
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.errors import NoPlan, NotInRoster, PeopleMissing
from celosia.pipeline.project.fallbacks import value_or
from celosia.pipeline.project.files import approval_line
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_signing
from celosia.pipeline.project.identity import Identity, is_signed
from celosia.pipeline.project.people import role_words, same_name
from celosia.pipeline.project.roster import acted_after_end, entry_acts, held_role
from celosia.storage import atomic_write, content_digest, make_private_folder, translate_read_errors
from celosia.system.paths import same_spelling

FORMAT = "celosia/approved/1"
Parts = Mapping[str, Mapping[str, str]]  # part -> name -> digest
_COVERS = {
    "dictionary": ("source", "variables", "dictionary", "overrides"),
    "plan": ("source", "variables", "dictionary", "overrides", "settings", "hierarchies", "plan"),
    "candidate": ("candidate",),
    "residual": ("variables", "dictionary", "candidate"),
    "intruder": ("candidate", "claims", "attacks"),
    "findings": ("candidate", "attacks"),
}
_MEASURED = ("rows", "suppressed_rows", "otherwise_masked_rows", "k", "k_persons")
_NOTHING: Mapping[str, Any] = {}
_SETTINGS = ("protocols", "unit", "policy", "steps", "hierarchies", "scenarios", "overrides")
_WITH_SHEET = ("plan", "candidate", "residual")
_APPROVABLE = tuple(subject for subject in SUBJECTS if subject != "release")


def approve(
    folder: ProjectArg,
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
    when = utc_now(now)
    with open_for_signing(folder) as project:
        # Reading the journal checks its chain: nobody signs over one that somebody changed.
        note_missing(project.paths.journal, [*roster_acts(project), *approval_acts(project)])
        present = approval_contents(project, what)
        # The sheet and the risk that is accepted are those of now, whatever the caller says.
        refuse_other(messages.text(f"people.what.{what}"), figures.get("sheet"), str(present.figures.get("sheet", "")))
        shown = dict(present.figures) if not figures or what == "residual" else {**figures, **present.sheet_figure}
        digest = digest_for(project, what, shown)
        refuse_other(messages.text(f"people.what.{what}"), expected, seal_of(digest, shown))
        approval = _sign_approval(project, what, digest, identity, role, note, shown, when)
        _refuse_own_work(project, approval)
        evidence.refuse_unfit_evidence(project, approval, when)
        _journal.refuse_unwritable(project.paths.journal)
        _save_covered_parts(project, digest)
        _save_sheet(project, present)
        _add(project.paths.approvals, approval)
        act = _act(approval)
        _journal.append_entry(project.paths.journal, act.what, when, act.facts, who=act.who, why=act.why)
    return approval


def seal_of(digest: str, figures: Mapping[str, Any]) -> str:
    """What a person was shown, in one digest: the thing itself and its figures."""
    return digest_of({"digest": digest, "figures": _json_value(figures)})


def _add(path: Path, approval: Approval) -> None:
    """Append an approval in one step: a process killed here leaves the file as it was, or with the new line.

    Whoever was killed after this step, before the journal, gives the same approval again: its line is not repeated.
    """
    before = b""
    if path.is_file():
        with translate_read_errors(path):
            before = path.read_bytes()
    line = approval_line(approval)
    lines = [text for text in before.split(b"\n") if text and text != line]
    with atomic_write(path, 0o644) as draft:
        draft.write_bytes(b"".join(text + b"\n" for text in [*lines, line]))


def _act(approval: Approval) -> Act:
    facts = {"what": approval.what, "digest": approval.digest, "role": approval.role}
    return Act("approve", facts, approval.name, approval.note, approval.when)


def approval_acts(project: Project) -> list[Act]:
    """The approvals that people of the project really gave."""
    return [
        _act(approval)
        for approval in project.approvals
        if is_rightly_signed(approval) and _signer_state(project, approval) == "valid"
    ]


def roster_acts(project: Project) -> list[Act]:
    """The entries of the roster, once people.toml and the journal agree with it."""
    return entry_acts(project.roster) if project.members else []


def is_rightly_signed(approval: Approval) -> bool:
    """Whether the signature of an approval was made with the key that it names."""
    return is_signed(approval.signed_part(), approval.signature, approval.key)


def signature_over(
    project: Project, digest: str, identity: Identity, role: str, note: str, now: datetime, what: str = "release"
) -> Approval:
    """A signature over a release's manifest, or its publication, by a person of the project that made it."""
    return _sign_approval(project, what, digest, identity, role, note, _NOTHING, now)


# --- what is covered ------------------------------------------------------------------------------


def digest_for(project: Project, what: str, figures: Mapping[str, Any] = _NOTHING) -> str:
    """The digest of what an approval would cover now."""
    if what not in _APPROVABLE:
        raise ValueOutOfRange(parameter="what", given=what, allowed=", ".join(_APPROVABLE))
    if what == "dictionary":
        return _annotated_digest(project)
    if what == "plan":
        return _plan_digest(project)
    candidate = _candidate_digest(project, what)
    if what == "candidate":
        return candidate
    if what in evidence.SUBJECTS:
        return evidence.evidence_digest(project, what, candidate)
    parts = {"dictionary": project.dictionary_digest, "candidate": candidate, "figures": _json_value(figures)}
    return digest_of(parts)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person is shown before approving: figures and, of a plan or a file, the sheet that they name by digest."""

    figures: Mapping[str, Any]
    sheet: Document | None = None

    @property
    def sheet_figure(self) -> dict[str, Any]:
        """The digest of the sheet as one of the figures that are signed; nothing where there is no sheet."""
        return {"sheet": self.figures["sheet"]} if self.sheet is not None else {}


def approval_contents(project: Project, what: str) -> Shown:
    """What is shown before approving something, as it is now."""
    figures = _figures_without_sheet(project, what)
    if what not in _WITH_SHEET:
        return Shown(figures)
    from celosia.pipeline.candidate.approval_sheet import sheet_digest, sheet_for

    sheet = sheet_for(project, what, residual=figures if what == "residual" else None)
    return Shown({**figures, "sheet": sheet_digest(sheet)}, sheet)


def figures_for(project: Project, what: str) -> dict[str, Any]:
    """The figures that a person is shown before signing: counts, column names, reasons and the sheet by its digest."""
    return dict(approval_contents(project, what).figures)


def _figures_without_sheet(project: Project, what: str) -> dict[str, Any]:
    if what == "dictionary":
        return _dictionary_figures(project)
    if what == "plan":
        plan = _plan_of(project)
        return {
            "method": plan.method,
            "variables": len(plan.published),
            "steps": len(plan.steps),
            "suppressed_rows": plan.suppressed_rows,
            "otherwise_masked_rows": plan.suppression.otherwise,
            "loss": round(plan.loss, 6),
            "overrides": overrides_of(project),
        }
    if what == "candidate":
        verdict = _verdict(project, what)
        return {name: verdict.get(name) for name in _MEASURED}
    if what in evidence.SUBJECTS:
        return evidence.evidence_figures(project, what, _candidate_digest(project, what))
    if what == "residual":
        from celosia.pipeline.candidate.mel import residual_figures

        return dict(residual_figures(project))
    return {}


def details_for(project: Project, what: str) -> list[tuple[str, str]]:
    """What a person reads beside the figures, which is never published: a label and its words."""
    known = what in evidence.SUBJECTS
    return list(evidence.evidence_details(project, what, _candidate_digest(project, what))) if known else []


def overrides_of(project: Project) -> dict[str, str]:
    """What the project asks otherwise than its norms, rule by rule, with the written reason (MEL IV.2.b)."""
    return {name: str(change.get("reason", "")) for name, change in _overrides(project).items()}


def _overrides(project: Project) -> dict[str, Any]:
    overrides = project.settings.get("overrides", {})
    return {f"{norm}.{rule}": change for norm, rules in overrides.items() for rule, change in rules.items()}


def _dictionary_figures(project: Project) -> dict[str, Any]:
    variables = project.variables
    shown = {
        "variables": len(variables),
        "published": len(dictionary.publishable_variables(variables)),
        "removed": sum(variable.treatment == Treatment.REMOVE for variable in variables),
        "overrides": overrides_of(project),
    }
    if "mel" not in project.config.protocols:
        return shown
    from celosia.pipeline.candidate.mel import annotated_figures

    return shown | annotated_figures(project)


def _annotated_digest(project: Project) -> str:
    """The dictionary's bytes and, where MEL lets a variable depart from its rule, those written exceptions (P09)."""
    from celosia.pipeline.candidate.mel import exceptions_of

    source, exceptions = project.config.source.digest, _json_value(exceptions_of(project))
    return digest_of({"dictionary": project.dictionary_digest, "source": source, "exceptions": exceptions})


def _plan_of(project: Project) -> Any:
    try:
        return project.plan
    except NoPlan:
        raise NothingToApprove(what="plan") from None


def _plan_digest(project: Project) -> str:
    """A plan and everything it was made from, as they are now: a changed step voids what was approved before it."""
    document = project.settings
    files = sorted(project.paths.hierarchies.glob("*.csv"))
    parts = {
        "plan": _plan_of(project).digest,
        "dictionary": project.dictionary_digest,
        "source": project.config.source.digest,
        "settings": _json_value({name: document[name] for name in _SETTINGS if name in document}),
        "hierarchies": {same_spelling(path.name): hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    }
    return digest_of(parts)


def _candidate_digest(project: Project, what: str) -> str:
    """The candidate's own bytes, which must be those that were checked."""
    recorded = str(_verdict(project, what)["digest"])
    data = project.paths.candidate.data
    if not data.is_file():
        raise NothingToApprove(what=what)
    if content_digest(data) != recorded:
        raise CandidateChanged(path=str(data), reason=messages.text("people.candidate_bytes"))
    return recorded


def _verdict(project: Project, what: str) -> dict[str, Any]:
    try:
        verdict = json.loads(project.paths.candidate.verdict.read_text("utf-8"))
        return {**verdict, "digest": str(verdict["digest"])}
    except (OSError, ValueError, KeyError, TypeError):
        raise NothingToApprove(what=what) from None


# --- which of them count --------------------------------------------------------------------------


def valid_approvals(project: Project, what: str) -> tuple[Approval, ...]:
    """The approvals that count now: rightly signed, by somebody who holds the role, over the present state."""
    approvals = [approval for approval in project.approvals if approval.what == what]
    return tuple(approval for approval in approvals if _state(project, approval) == "valid")


def approval_states(project: Project) -> tuple[tuple[Approval, str], ...]:
    """Every approval and whether it counts: valid, voided, forged, stranger (nobody's key), role (not held), or date.

    `date`: the key was not, or no longer, in the roster at that moment or when the journal tells of the approval, or
    the journal never had the state that it names.
    """
    return tuple((approval, _state(project, approval)) for approval in project.approvals)


def _state(project: Project, approval: Approval) -> str:
    if not is_rightly_signed(approval):
        return "forged"
    standing = _signer_state(project, approval)
    return standing if standing != "valid" or _still_covers(project, approval) else "voided"


def _signer_state(project: Project, approval: Approval) -> str:
    """Whether whoever approved was in the signed roster at that moment, in that role and with that key."""
    member = project.roster.of_key(approval.key)
    person = next((person for person in project.people if person.key == approval.key), None)
    under_cover = person is None or (member is not None and member.name == approval.name)
    name = approval.name if under_cover or person is None else roster_name(replace(person, name=approval.name))
    if member is None or not same_name(member.name, name):
        return "stranger"
    if approval.role not in member.roles:
        return "role"
    in_time = held_role(project.roster, approval.key, name, approval.role, approval.when)
    late = acted_after_end(project.roster, project.journal, approval.key, _act(approval))
    return "valid" if in_time and not late and approval.journal in project.journal.digests else "date"


def _still_covers(project: Project, approval: Approval) -> bool:
    # What cannot be read is not what was approved.
    return value_or(False, lambda: _has_approved_digest(project, approval))


def _has_approved_digest(project: Project, approval: Approval) -> bool:
    if approval.what == "dictionary" and approval.figures.get("overrides", {}) != overrides_of(project):
        # The approver was not shown this exception.
        return False
    return approval.digest == digest_for(project, approval.what, approval.figures)


# --- signing --------------------------------------------------------------------------------------


def _sign_approval(
    project: Project,
    what: str,
    digest: str,
    identity: Identity,
    role: str,
    note: str,
    figures: Mapping[str, Any],
    now: datetime,
) -> Approval:
    if role not in ROLES:
        raise ValueOutOfRange(parameter="role", given=role, allowed=", ".join(ROLES))
    person = member_of(project, identity)
    if role not in person.roles:
        raise RoleNotHeld(name=person.name, words=role_words(role), role=role)
    when = now.isoformat(timespec="seconds")
    head = _journal.read_journal(project.paths.journal).head
    name = roster_name(person)  # an outsider is not named in public
    draft = Approval(what, digest, role, name, person.key, when, note, _json_value(figures), head)
    return replace(draft, signature=identity.sign(draft.signed_part()))


def member_of(project: Project, identity: Identity) -> Person:
    """The person of the signed roster whose key this is; whoever waits there cannot sign yet."""
    member = next((person for person in project.members if person.key == identity.key), None)
    if all(person.key != identity.key for person in project.people):
        raise PeopleMissing(path=str(project.paths.people))
    if member is None:
        raise NotInRoster(name=identity.name, project=str(project.folder))
    return member


def _refuse_own_work(project: Project, approval: Approval) -> None:
    """Who executed does not verify, whatever roles were written since (M31); forged approvals do not count."""
    other = {"verifier": "executor", "executor": "verifier"}.get(approval.role)
    for earlier in project.approvals:
        same = earlier.key == approval.key or same_name(earlier.name, approval.name)
        if earlier.role == other and same and is_rightly_signed(earlier):
            raise SamePerson(name=approval.name)
    if approval.role == "verifier" and any(same_name(name, approval.name) for name in who_ran(project)):
        raise SamePerson(name=approval.name)


def who_ran(project: Project) -> list[str]:
    """Who executed, as the journal says: ran the plan, or signed as executor."""
    entries = project.journal.entries if project.paths.journal.is_file() else ()
    return [str(entry["who"]) for entry in entries if entry.get("who") and _is_execution(entry)]


def _is_execution(entry: Mapping[str, Any]) -> bool:
    facts = entry.get("facts")
    role = facts.get("role") if isinstance(facts, Mapping) else None
    return entry.get("what") == "run" or (entry.get("what") in ("approve", "sign") and role == "executor")


def _json_value(document: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON holds it: what is signed must be what is read back."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(document), ensure_ascii=False, default=str))
    return plain


# --- what changed since an approval ---------------------------------------------------------------


def covered_parts(project: Project) -> dict[str, dict[str, str]]:
    """Everything that approvals cover, as it is now; what cannot be read is empty."""
    document = project.settings
    files = sorted(project.paths.hierarchies.glob("*.csv"))
    settings = [name for name in _SETTINGS if name in document and name != "overrides"]
    return {
        "source": {"": project.config.source.digest},
        "dictionary": {"": value_or("", lambda: content_digest(project.paths.dictionary))},
        "variables": _variable_digests(project),
        "overrides": {name: _value_digest(change) for name, change in _overrides(project).items()},
        "settings": {name: _value_digest(document[name]) for name in settings},
        "hierarchies": {same_spelling(path.name): value_or("", partial(content_digest, path)) for path in files},
        "plan": {"": value_or("", lambda: project.plan.digest)},
        "candidate": {"": value_or("", lambda: content_digest(project.paths.candidate.data))},
        "claims": {"": value_or("", lambda: content_digest(project.paths.claims))},
        "attacks": {"": value_or("", lambda: evidence.present_attacks_digest(project))},
    }


def _save_covered_parts(project: Project, digest: str) -> None:
    document = {"format": FORMAT, "parts": covered_parts(project)}
    with atomic_write(_path(project, digest)) as draft:
        draft.write_text(json.dumps(document, ensure_ascii=False, sort_keys=True), "utf-8", newline="\n")


def _save_sheet(project: Project, shown: Shown) -> None:
    """Keep the sheet that was approved, by the digest that the approval names."""
    if shown.sheet is None:
        return
    name = str(shown.figures["sheet"]).partition(":")[2]
    with atomic_write(make_private_folder(project.paths.approved) / f"sheet-{name}.json") as draft:
        draft.write_bytes(document_text(shown.sheet).encode("utf-8"))


def changes_since(project: Project, approval: Approval, now: Parts) -> tuple[ChangedPart, ...] | None:
    """What is different from what an approval covered; None where that was not saved."""
    before = _read_parts(project, approval.digest)
    if before is None:
        return None
    changes = {part: _differing(before[part], now[part]) for part in _COVERS[approval.what]}
    if changes.get("variables"):
        # The changed variables already say that the dictionary changed.
        changes.pop("dictionary", None)
    return tuple(ChangedPart(part, names) for part, names in changes.items() if names)


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    names = [*before, *(name for name in now if name not in before)]
    return tuple(name for name in names if before.get(name) != now.get(name))


def _read_parts(project: Project, digest: str) -> Parts | None:
    try:
        document = json.loads(_path(project, digest).read_text("utf-8"))
        names = {name for covered in _COVERS.values() for name in covered}
        parts = {name: dict(document["parts"].get(name, {})) for name in names}
        return parts if document["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _path(project: Project, digest: str) -> Path:
    return make_private_folder(project.paths.approved) / f"{digest.partition(':')[2][:64]}.json"


def _variable_digests(project: Project) -> dict[str, str]:
    variables = value_or((), lambda: project.variables)
    # The language is fixed: the same words, whoever asks.
    with messages.speaking(messages.LANGUAGES[0]):
        lines = dictionary.rows_of(variables)[2:]
    return {variable.name: _value_digest(line) for variable, line in zip(variables, lines, strict=True)}


def _value_digest(value: Any) -> str:
    return digest_of(_json_value({"value": value}))
