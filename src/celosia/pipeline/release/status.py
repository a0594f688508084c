"""`status`: where a project is, what blocks it and the next command, from its files as they are now.

Knows gates and what each one leaves behind. Ignores figures: what the file alone can answer is measured by `run`,
`check` and `release`, and read here from what they left. Each part of a project is read on its own: one that cannot be
read is reported, blocks the gate that needs it, and does not hide the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from celosia import messages
from celosia.dossier.intruder_words import human_sentence
from celosia.errors import CelosiaError
from celosia.model import dictionary
from celosia.model.paths import DATA, MANIFEST, RELEASES, SETTINGS, ProjectPaths
from celosia.model.people import Approval, Person, name_of_signer
from celosia.model.plan import Plan, digest_of
from celosia.model.protocols import Protocol, Rule
from celosia.model.reports.status import ApprovalStatus, GateState, GateStatus, Review, StatusReport
from celosia.model.requests import Request
from celosia.model.variables import Role, Variable
from celosia.model.verdict import CheckReport, State
from celosia.pipeline.candidate.approvals import approval_states, digest_for
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.closing_evaluation import limited_in
from celosia.pipeline.candidate.intruder_evidence import AttackRecord, attack_record, unanswered_text
from celosia.pipeline.candidate.rule_context import RuleContext, published_variables, read_check, statement_in
from celosia.pipeline.candidate.rules import judge_rule, missing_signers, rules_of
from celosia.pipeline.intruder.claims import summarise_claims
from celosia.pipeline.planning.step_syntax import plain_step
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.people import role_words
from celosia.pipeline.project.request import missing_items
from celosia.pipeline.project.roster import people_not_in_roster, signed_people
from celosia.pipeline.release.folder import ReleaseOnDisk, read_release
from celosia.pipeline.release.forms import changed_forms, forms_folder
from celosia.pipeline.release.gate_outcomes import (
    DONE,
    GateOutcome,
    closing_outcome,
    delivery_outcome,
    exploration_outcome,
    quote,
    risk_outcome,
    roles_of_command,
    was_checked,
)
from celosia.pipeline.release.legal.records import legal_sentences
from celosia.pipeline.release.project_state import STATE, changed_since
from celosia.pipeline.release.publication_entry import wrong_parts
from celosia.pipeline.release.signers import valid_signatures
from celosia.protocols.load import load, norm_of
from celosia.protocols.words import measured_text, overlap_text, sentence_of

_Part = TypeVar("_Part")
_MEASURES: Mapping[str, tuple[str, ...]] = {
    "request": ("request_items",),
    "dictionary": ("roles", "labels", "dictionary", "dictionary_approval"),
    "plan": ("plan_approval",),
    "intruder": ("intruder", "intruder_findings", "intruder_approval"),
    "residual": ("residual_approval",),
    "check": ("intruder_findings", "second_person"),  # where no gate is about the intruder, these hold up the verifier
    "signatures": ("signatures",),
}
_PROBLEMS = (SETTINGS, "overrides", "people", "roster", "approvals", "journal", "legal")


@dataclass(slots=True)
class ProjectFacts:
    """The parts of a project that could be read; `faults` says in words why another could not."""

    folder: Path
    project: Project | None = None
    variables: tuple[Variable, ...] | None = None
    request: Request | None = None
    plan: Plan | None = None
    check: CheckReport | None = None
    candidate: str = ""  # digest of the present file, which was checked
    people: tuple[Person, ...] = ()  # whom the signed roster names
    waiting: tuple[Person, ...] = ()  # whom it does not name yet
    approvals: tuple[tuple[Approval, str], ...] = ()
    claims: Any = None
    attacks: AttackRecord | None = None
    journal: Sequence[Mapping[str, Any]] = ()
    releases: tuple[ReleaseOnDisk, ...] = ()
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> ProjectPaths:
        """Where the files of the project lie."""
        return ProjectPaths(self.folder)

    def read(self, part: str, reader: Callable[[], _Part], otherwise: _Part) -> _Part:
        """A part of the project, or `otherwise`; the reason why it could not be read is kept."""
        try:
            return reader()
        except CelosiaError as fault:
            self.faults[part] = str(fault)
        except OSError:
            self.faults[part] = messages.text("status.unreadable", part=part)
        return otherwise

    @property
    def release(self) -> ReleaseOnDisk | None:
        """The newest release that holds the present candidate."""
        matching = [release for release in self.releases if release.manifest.files.get(DATA) == self.candidate]
        return matching[-1] if matching and self.candidate else None

    @property
    def signatures(self) -> tuple[Approval, ...]:
        """The signatures over the newest release that are right."""
        if self.release is None:
            return ()
        return tuple(valid_signatures(self.release))

    @property
    def stale(self) -> bool:
        """Whether dictionary, source or steps are no longer those that the plan was made from."""
        if self.plan is None or self.project is None:
            return False
        project = self.project
        declared = [dict(plain_step(step)) for step in project.settings.get("steps", [])]
        same = self.plan.source == project.config.source.digest and declared == [dict(s) for s in self.plan.steps]
        return not same or self.plan.dictionary != self.read("dictionary", lambda: project.dictionary_digest, "")

    def context(self) -> RuleContext:
        """What the rules about people and documents look at; nothing of the file is measured here."""
        lines = self.variables
        published = None
        if lines is not None:
            published = published_variables(lines, self.plan) if self.plan else dictionary.publishable_variables(lines)
        valid: dict[str, list[Approval]] = {}
        for approval, state in self.approvals:
            valid.setdefault(approval.what, []).extend([approval] if state == "valid" else [])
        return RuleContext(
            variables=lines,
            published=published,
            plan=self.plan,
            check=self.check,
            request=self.request,
            no_sensitive_attribute=statement_in(self.request),
            approvals=valid,
            people=self.people,
            claims=self.claims,
            attacks=self.attacks,
            signatures=self.signatures,
        )


def read_facts(folder: ProjectArg) -> ProjectFacts:
    """Everything of a project that can be read."""
    facts = ProjectFacts(folder.folder if isinstance(folder, Project) else Path(folder))
    facts.project = facts.read(SETTINGS, lambda: open_project(folder), None)
    project, paths = facts.project, facts.paths
    if project is None:
        return facts
    facts.variables = facts.read("dictionary", lambda: project.variables, None)
    facts.request = facts.read("request", lambda: project.request, None)
    if paths.plan.is_file():
        facts.plan = facts.read("plan", lambda: project.plan, None)
    facts.people = facts.read("people", lambda: signed_people(project.roster, project.people), ())
    if "people" not in facts.faults:
        facts.waiting = people_not_in_roster(project.roster, project.people)
        facts.read("roster", lambda: project.members, facts.people)
    if not {"people", "dictionary"} & set(facts.faults):
        facts.approvals = facts.read("approvals", lambda: approval_states(project), ())
    if paths.candidate.folder.is_dir():
        facts.check = facts.read("candidate", lambda: read_check(paths.candidate), None)
        facts.candidate = facts.read("candidate", lambda: digest_for(project, "candidate"), "")
    facts.claims = facts.read("claims", lambda: read_claims(paths.claims), None)
    if paths.journal.is_file():
        facts.journal = facts.read("journal", lambda: project.journal.entries, ())
        facts.attacks = attack_record(paths, facts.journal, facts.candidate)
    facts.releases = _releases(facts)
    return facts


def _releases(facts: ProjectFacts) -> tuple[ReleaseOnDisk, ...]:
    folders = sorted(path.parent for path in facts.paths.releases.glob(f"*/{MANIFEST}") if path.is_file())
    releases = [facts.read(f"{RELEASES}/{path.name}", partial(read_release, path), None) for path in folders]
    return tuple(release for release in releases if release is not None)


# --- gates ----------------------------------------------------------------------------------------


def status(folder: PathArg, *, now: datetime | None = None) -> StatusReport:
    """The gates of a project and what blocks them; a broken project is reported as such."""
    return status_of(read_facts(Path(folder)), utc_now(now).date())


def status_of(facts: ProjectFacts, today: date) -> StatusReport:
    """The status from what a project holds, for whoever has read it already."""
    project = facts.project
    if project is None:
        return StatusReport(str(facts.folder), (), (), problems=tuple(facts.faults.values()))
    names = project.config.protocols
    none: tuple[Rule, ...] = ()
    rules = facts.read("overrides", lambda: rules_of(project), none)
    gates = [gate for name in names for gate in _gates(facts, load(name), rules)]
    unsaid: tuple[str, ...] = ()
    legal = facts.read("legal", partial(_legal_sentences, facts), unsaid)
    problems = [words for part, words in facts.faults.items() if part in _PROBLEMS or part.startswith(f"{RELEASES}/")]
    if facts.waiting and "roster" not in facts.faults:
        people = ", ".join(person.name for person in facts.waiting)
        problems.append(messages.text("status.people_wait", names=people, folder=quote(facts.folder)))
    if not names:
        problems.append(messages.text("status.no_protocol"))
    return StatusReport(
        project=project.config.name,
        protocols=names,
        gates=tuple(gates),
        approvals=tuple(
            ApprovalStatus(given.what, given.role, name_of_signer(given, facts.people), given.when, state, given.note)
            for given, state in facts.approvals
        ),
        reviews=_reviews(facts, today),
        warnings=(*_warnings(facts, rules), *_changes_since(facts)),
        legal=legal,
        problems=tuple(problems),
    )


def _gates(facts: ProjectFacts, protocol: Protocol, rules: tuple[Rule, ...]) -> list[GateStatus]:
    own = tuple(rule for rule in rules if rule.protocol in (protocol.id, norm_of(protocol.id)))
    gates, open_gate = [], ""
    for gate in protocol.gates:
        reason, command, doers = _judge(facts, gate.id, own, protocol)
        state = GateState.DONE if not reason else GateState.WAITING if open_gate else GateState.BLOCKED
        if state is GateState.WAITING:
            short = messages.text(f"protocols.gate.{open_gate}").partition(":")[0]
            reason = messages.text("status.waits", gate=short)
        if reason and not open_gate:
            open_gate = gate.id
        if state is GateState.DONE and gate.id == "intruder" and facts.claims is not None:
            reason = human_sentence(summarise_claims(facts.claims, facts.claims.candidate))  # how sure "nobody" is
        gate_status = GateStatus(protocol.id, gate.id, gate.section, gate.roles, state, reason, command)
        if state is GateState.BLOCKED:
            doers = doers or roles_of_command(command, gate)
            names = tuple(person.name for person in facts.people if set(doers) & set(person.roles))
            gate_status = replace(gate_status, doers=doers, people=names)
        gates.append(gate_status)
    return gates


def _judge(facts: ProjectFacts, gate: str, rules: tuple[Rule, ...], protocol: Protocol) -> GateOutcome:
    """What a gate leaves behind first, then the rules about people and documents that belong to it."""
    outcome = _GATE_CHECKS[gate](facts, protocol) if gate in _GATE_CHECKS else DONE
    if outcome.reason:
        return outcome
    context = facts.context()
    for rule in rules:
        if rule.measure in _MEASURES.get(gate, ()):
            result = judge_rule(context, rule)
            unsigned = _missing_roles(facts, rule) if rule.measure == "signatures" else []
            if unsigned:
                return GateOutcome(_signers_text(facts, unsigned), signing_command(facts, unsigned[0]))
            if not result.passes and rule.measure == "intruder_findings":
                words = unanswered_text(facts.attacks, rule.asked["roles"])
                given = GateOutcome(words, _command(facts, gate, rule))
                return given if words else _block(facts, "attacks", "attack_first")
            if not result.passes:
                words = messages.text("status.unmet", rule=sentence_of(result), measured=measured_text(result))
                return GateOutcome(words, _command(facts, gate, rule))
    return DONE


def _command(facts: ProjectFacts, gate: str, rule: Rule) -> str:
    """What to type for a rule of a gate that does not hold."""
    if rule.measure == "second_person" and was_checked(facts.candidate, facts.journal):
        return f"celosia approve {quote(facts.folder)} candidate --role verifier"
    if rule.measure.endswith(("_approval", "_findings")):
        subject, role = rule.measure.removesuffix("_approval").removeprefix("intruder_"), _signer(facts, rule)
        note = " --note …" if subject == "findings" or (subject, role) == ("intruder", "verifier") else ""
        return f"celosia approve {quote(facts.folder)} {subject} --role {role}{note}"
    if rule.measure in ("dictionary", "labels"):  # descriptions and labels are written in the dictionary itself
        return f"celosia dictionary export {quote(facts.folder)} {quote(facts.paths.dictionary_workbook)}"
    return _gate_command(facts, gate)


def _signer(facts: ProjectFacts, rule: Rule) -> str:
    """A role that the rule asks for and that somebody holds."""
    roles: list[str] = list(rule.asked["roles"])
    available = {role for person in facts.people for role in person.roles}
    return next((role for role in roles if role in available), roles[0])


def _missing_roles(facts: ProjectFacts, rule: Rule) -> list[str]:
    """The roles that have still to sign the present release; where only a delegate is there, theirs for the lead's."""
    roles = missing_signers(rule.asked["roles"], {signature.role for signature in facts.signatures})
    delegated = not _holders(facts, "lead") and bool(_holders(facts, "delegate"))
    return ["delegate" if role == "lead" and delegated else role for role in roles]


def _holders(facts: ProjectFacts, role: str) -> list[str]:
    """Who may sign the release in a role: the project's roster gives it to them, and the release's own does."""
    keys = [member.key for member in facts.release.holders(role)] if facts.release else []
    return [person.name for person in facts.people if role in person.roles and person.key in keys]


def _signers_text(facts: ProjectFacts, roles: Sequence[str]) -> str:
    """Who has still to sign, by name, each with what they type."""
    parts = []
    for role in roles:
        names, command = _holders(facts, role), signing_command(facts, role)
        key = "status.signer" if names else "status.no_signer"
        parts.append(messages.text(key, names=" / ".join(names), role=role_words(role), command=command))
    return messages.text("status.reason.unsigned", signers="; ".join(parts))


def signing_command(facts: ProjectFacts, role: str) -> str:
    """What brings the signature of a role: to sign, else to make a release that lists its holder, else to name one."""
    if facts.release is not None and _holders(facts, role):
        return f"celosia sign {quote(facts.release.folder)} --role {role}"
    if any(role in person.roles for person in facts.people):
        return f"celosia release {quote(facts.folder)}"
    if any(role in person.roles for person in facts.waiting):
        return f"celosia people sign {quote(facts.folder)}"
    return f"celosia people add {quote(facts.folder)} --card … --role {role}"


def _gate_command(facts: ProjectFacts, gate: str) -> str:
    folder = quote(facts.folder)
    release = quote(facts.release.folder) if facts.release else f"{folder}/{RELEASES}/…"
    return {
        "request": f"celosia request {folder}",
        "dictionary": f"celosia dictionary check {folder}",
        "plan": f"celosia plan {folder}",
        "run": f"celosia run {folder}",
        "intruder": f"celosia claims {folder}",
        "attacks": f"celosia intruder {folder}",
        "residual": f"celosia approve {folder} residual --role lead",
        "check": f"celosia check {folder}",
        "release": f"celosia release {folder}",
        "delivery": f"celosia deliver {folder}",
        "signatures": f"celosia sign {release} --role …",
        "consultation": f"celosia publish {folder} {release} --consultation …",
        "publication": f"celosia publish {folder} {release}",
    }[gate]


# --- what each gate leaves behind -----------------------------------------------------------------


def _block(facts: ProjectFacts, gate: str, key: str, **fields: object) -> GateOutcome:
    return GateOutcome(messages.text(f"status.reason.{key}", **fields), _gate_command(facts, gate))


def _request(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    if "request" in facts.faults:
        return GateOutcome(facts.faults["request"], _gate_command(facts, "request"))
    if facts.request is None:
        return _block(facts, "request", "no_request")
    missing = missing_items(facts.request, (protocol.id,))
    names = [messages.text(item) if messages.has(item := f"protocols.item.{key}") else key for key in missing]
    return _block(facts, "request", "items", names=", ".join(names)) if missing else DONE


def _dictionary(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    if facts.variables is None:
        return GateOutcome(facts.faults.get("dictionary", "–"), _gate_command(facts, "dictionary"))
    if not dictionary.publishable_variables(facts.variables):
        words = messages.text("status.reason.nothing_published")
        return GateOutcome(words, f"celosia dictionary purpose {quote(facts.folder)} --variables A,B,C --purpose …")
    published = dictionary.publishable_variables(facts.variables)
    judged = any(rule.measure == "l" for rule in protocol.rules)
    if judged and not any(v.role == Role.SENSITIVE for v in published) and not statement_in(facts.request):
        words = messages.text("status.reason.no_sensitive")
        command = f"celosia request {quote(facts.folder)} --no-sensitive-attribute …"
        return GateOutcome(words, command, ("head",))
    return DONE


def _exploration(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    return exploration_outcome(facts.project, facts.journal)


def _risk(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    return risk_outcome(facts.project, facts.journal)


def _plan(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    if facts.plan is None:
        words = facts.faults.get("plan") or messages.text("status.reason.no_plan")
        return GateOutcome(words, _gate_command(facts, "plan"))
    return _block(facts, "plan", "stale_plan") if facts.stale else DONE


def _run(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    if not facts.candidate:
        words = facts.faults.get("candidate") or messages.text("status.reason.no_candidate")
        return GateOutcome(words, _gate_command(facts, "run"))
    runs = [entry.get("facts") or {} for entry in facts.journal if entry.get("what") == "run"]
    plans = [str(run.get("plan")) for run in runs if run.get("candidate") == facts.candidate]
    if facts.plan is None or facts.plan.digest not in plans:
        return _block(facts, "run", "other_plan")
    limited = limited_in(facts.request, facts.plan) if facts.request is not None else ()
    if not limited:
        return DONE
    words = messages.text("status.reason.limited", names=", ".join(limited))
    return GateOutcome(words, f"celosia request {quote(facts.folder)} --extract", ("executor",))


def _intruder(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    if "claims" in facts.faults:
        return GateOutcome(facts.faults["claims"], _gate_command(facts, "intruder"))
    return _block(facts, "intruder", "no_claims") if facts.claims is None else DONE


def _check(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    return closing_outcome(facts.project, facts.candidate, facts.request, protocol)


def _release(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    if facts.release is None:
        return _block(facts, "release", "other_release" if facts.releases else "no_release")
    name = facts.release.folder.name
    wrong = (*facts.release.differences, *changed_forms(forms_folder(facts.paths, name), facts.release.manifest))
    if wrong:
        return _block(facts, "release", "damaged_release", files=", ".join(wrong))
    signed = facts.release.manifest.covered.get("request")
    if facts.request is not None and signed not in (None, digest_of(facts.request.as_dict())):
        return _block(facts, "release", "request_changed", release=name)
    return DONE


def _delivery(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    return delivery_outcome(facts.project, facts.release.manifest.digest if facts.release else "")


def _signatures(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    return _block(facts, "signatures", "no_release") if facts.release is None else DONE


def _consultation(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    entry = facts.release.publication if facts.release else None
    return DONE if entry and entry.consultation else _block(facts, "consultation", "no_consultation")


def _publication(facts: ProjectFacts, protocol: Protocol) -> GateOutcome:
    entry = facts.release.publication if facts.release else None
    if entry is None or facts.release is None:
        return _block(facts, "publication", "unpublished")
    wrong = [messages.text(f"release.publication_wrong.{part}") for part in wrong_parts(entry, facts.release)]
    return _block(facts, "publication", "wrong_entry", parts="; ".join(wrong)) if wrong else DONE


# A gate is checked by the function of its name.
_OF_PREPARATION = (_request, _exploration, _dictionary, _risk, _plan, _run, _intruder)
_OF_RELEASE = (_check, _release, _delivery, _signatures, _consultation, _publication)
_GATE_CHECKS: Mapping[str, Callable[[ProjectFacts, Protocol], GateOutcome]] = MappingProxyType(
    {check.__name__.removeprefix("_"): check for check in (*_OF_PREPARATION, *_OF_RELEASE)}
)


def _reviews(facts: ProjectFacts, today: date) -> tuple[Review, ...]:
    """When each published release is looked at again (M34)."""
    dues = [(release.folder.name, release.publication.next_review) for release in facts.releases if release.publication]
    return tuple(Review(name, due, due < today.isoformat()) for name, due in dues if due)


def _changes_since(facts: ProjectFacts) -> tuple[str, ...]:
    """Files of the project that are not as they were when the present release was made: nothing signed changes."""
    if facts.release is None or STATE not in (facts.release.manifest.forms or {}):
        return ()
    unchanged: tuple[str, ...] = ()
    name = facts.release.folder.name
    forms = forms_folder(facts.paths, name)
    if changed_forms(forms, facts.release.manifest):
        return unchanged  # the gate of the release says so
    changed = facts.read("state", partial(changed_since, facts.paths, forms), unchanged)
    return (messages.text("status.changed_since", release=name, files=", ".join(changed)),) if changed else unchanged


def _warnings(facts: ProjectFacts, rules: Sequence[Rule]) -> tuple[str, ...]:
    """One person in roles that a norm tells apart: it stops nothing and is always said."""
    context, apart = facts.context(), [rule for rule in rules if rule.measure == "separate_people"]
    results = [judge_rule(context, rule) for rule in apart]
    overlaps = dict.fromkeys(overlap_text(result) for result in results if result.state is State.FAILS)
    return tuple(messages.text("status.overlap", overlaps=text) for text in overlaps)


def _legal_sentences(facts: ProjectFacts) -> tuple[str, ...]:
    """The legal signatures and time stamps of the present release, as they were taken in; `verify` judges them."""
    if facts.release is None:
        return ()
    return legal_sentences(facts.paths, facts.release, facts.journal)
