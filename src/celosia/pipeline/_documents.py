"""`document`: the forms and reports of a project, from its own files, each for its audience.

Knows where a project keeps what it did and hands it to the dossier. What is public is copied field by field into facts
that have no place for anything else; internal documents stay in `private/dossier/`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from celosia import messages
from celosia.data.files import PRIVATE_FILE, private_folder, replacing, writing_into
from celosia.dossier import (
    AnexoI,
    Attempts,
    Document,
    Done,
    InternalFacts,
    JournalLine,
    Override,
    Picture,
    PublicFacts,
    RuleLine,
    anexo_i,
    done_by,
    internal_report,
    pictures,
    public_report,
    to_docx,
    to_html,
    to_pdf,
)
from celosia.errors import BadProjectFile, NoCandidate, NoPlan, NotARelease, ReleaseDamaged, ValueOutOfRange
from celosia.model.claims import Claims
from celosia.model.evaluation import EvaluationReport
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan
from celosia.model.requests import Request
from celosia.model.rules import RuleReport, rule_report_from
from celosia.model.variables import Variable
from celosia.model.verdict import CheckReport
from celosia.model.verification import Publication
from celosia.pipeline import _journal, _norm_documents
from celosia.pipeline._approve import all_approvals, valid_approvals
from celosia.pipeline._call import Place, moment
from celosia.pipeline._claims import read_claims
from celosia.pipeline._identity import is_signed
from celosia.pipeline._intruder_claims import summary
from celosia.pipeline._people import read_people
from celosia.pipeline._plan import read_plan
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._release_folder import Held, read_release, releases_of
from celosia.pipeline._rule_context import origins, published_variables, read_check
from celosia.pipeline._rules import rules_of
from celosia.protocols import asked_text, load, measured_text, sentence_of

AUDIENCES = ("internal", "public")
FORMATS = ("html", "pdf", "docx")
_OPEN_FILE = 0o644


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a project holds at this moment; None and empty are what is not there yet."""

    project: Project
    now: datetime
    request: Request
    variables: tuple[Variable, ...]
    plan: Plan | None
    check: CheckReport | None
    rules: RuleReport | None
    journal: tuple[JournalLine, ...]
    people: tuple[Person, ...]
    approvals: tuple[Approval, ...]
    signatures: tuple[Approval, ...]
    publication: Publication | None
    attempts: Attempts | None
    evaluation: EvaluationReport | None = None

    @property
    def published(self) -> tuple[Variable, ...]:
        """The published variables, under the names they are published with."""
        return published_variables(self.variables, self.plan) if self.plan else ()

    @property
    def withheld(self) -> tuple[str, ...]:
        """Variables of the source of which nothing is published."""
        kept = set(origins(self.plan).values()) if self.plan else set()
        return tuple(one.name for one in self.variables if one.name not in kept) if self.plan else ()

    @property
    def done(self) -> Done | None:
        """What was done and measured."""
        return done_by(self.plan, self.check, len(self.withheld)) if self.plan and self.check else None

    @property
    def title(self) -> str:
        """The title the request gives, else the name of the project."""
        return self.request.title or str(self.request.source.get("name", "")) or self.project.config.name


def write_documents(
    folder: Place,
    audience: str = "internal",
    formats: Sequence[str] = ("html", "pdf"),
    into: Place | None = None,
    *,
    language: str | None = None,
    evaluation: EvaluationReport | None = None,
    now: datetime | None = None,
) -> tuple[Path, ...]:
    """Write the documents that a project's protocols ask for one audience; give their paths."""
    _refuse_unknown("audience", (audience,), AUDIENCES)
    _refuse_unknown("format", formats, FORMATS)
    gathered = gather(folder, moment(now), evaluation)
    spoken = language or gathered.project.config.language
    with messages.speaking(spoken):
        made = {name: build(gathered, spoken) for name, build in _wanted(gathered, audience).items()}
    target = _target(gathered.project, audience, into)
    rendered = [(f"{name}.{form}", _rendered(made[name], form, gathered.now)) for name in made for form in formats]
    written = tuple(_written(target / name, content, audience) for name, content in rendered)
    if audience == "internal" and "mel" in gathered.project.config.protocols:
        sheet = target / _norm_documents.ANNOTATED  # what the lead gets is a workbook (MEL IV.2)
        return (*written, _norm_documents.export_annotated_dictionary(gathered.project.folder, sheet))
    return written


def gather(folder: Place, now: datetime, evaluation: EvaluationReport | None = None) -> Gathered:
    """Everything a document may speak of, read from the project as it is."""
    project = open_project(folder)
    entries = _journal.entries(project.journal_path)
    plan, check = _plan_and_check(project.folder, entries)
    held = _release_of(project.folder, check)
    claims, people = read_claims(project.folder), read_people(project.folder)
    return Gathered(
        project=project,
        now=now,
        request=_request(project.folder),
        variables=project.variables(),
        plan=plan,
        check=check,
        rules=_rules(project.folder, check),
        journal=tuple(JournalLine(*(str(one[key]) for key in ("when", "who", "what", "why"))) for one in entries),
        people=people,
        approvals=_approvals(project.folder),
        signatures=_signatures(held, people),
        publication=held.publication if held else None,
        attempts=_attempts(claims, check) if claims else None,
        evaluation=evaluation,
    )


def _attempts(claims: Claims, check: CheckReport | None) -> Attempts:
    found = summary(claims, check.digest if check else "")
    interval = None if found.low is None or found.high is None else (found.low, found.high)
    return Attempts(found.attempts, found.correct, check is not None and found.current, interval)


# --- what each document is made from --------------------------------------------------------------


def minsal_form(gathered: Gathered, language: str) -> Document:
    """MINSAL's Anexo I."""
    publication, stated = gathered.publication, gathered.request.publication
    data = AnexoI(
        date=gathered.now.date().isoformat(),
        request=gathered.request,
        variables=gathered.published,
        withheld=gathered.withheld,
        plan=gathered.plan,
        check=gathered.check,
        overrides=_overrides(gathered.project),
        people=gathered.people,
        signatures=gathered.signatures,
        attempts=gathered.attempts,
        publication_date=publication.publication_date if publication else "",
        update_period=publication.update_period if publication else str(stated.get("update_period", "")),
    )
    return anexo_i(data, language)


def public_document(gathered: Gathered, language: str) -> Document:
    """The public report; without a measured candidate there is nothing to tell."""
    done, request, publication = gathered.done, gathered.request, gathered.publication
    if done is None:
        raise NoCandidate(path=str(gathered.project.folder))
    tested = gathered.attempts if gathered.attempts and gathered.attempts.current else None
    facts = PublicFacts(
        title=gathered.title,
        done=done,
        period_from=str(request.source.get("period_from", "")),
        period_until=str(request.source.get("period_until", "")),
        unit=str(request.source.get("unit", "")),
        department=str(request.source.get("department", "")),
        purpose=str(request.minsal.get("purpose", "")),
        contact=str(request.publication.get("contact", "")),
        licence=str(request.publication.get("licence", "")),
        protocols=_titles(gathered.project),
        overrides=_overrides(gathered.project),
        attempts=tested.rows if tested and not tested.correct else None,
        publication_date=publication.publication_date if publication else "",
        update_period=str(publication.update_period if publication else request.publication.get("update_period", "")),
        next_review=str(publication.next_review if publication else request.publication.get("next_review", "")),
    )
    return public_report(facts, language)


def internal_document(gathered: Gathered, language: str) -> Document:
    """The internal report."""
    project, plan, check, request = gathered.project, gathered.plan, gathered.check, gathered.request
    digests = {"source": project.config.source.digest}
    digests |= {"plan": plan.digest} if plan else {}
    digests |= {"candidate": check.digest} if check else {}
    drawn = pictures(gathered.evaluation).values() if gathered.evaluation else ()
    facts = InternalFacts(
        title=gathered.title,
        project=project.config.name,
        done=gathered.done,
        check=check,
        protocols=_titles(project),
        source=project.config.source.name,
        digests=digests,
        version=version("celosia"),
        seed=plan.seed if plan else "",
        requester=request.requester,
        use=request.use,
        authorisation=request.authorisation,
        withheld=gathered.withheld,
        changes=plan.changes if plan else (),
        rules=_rule_lines(gathered.rules),
        overrides=_overrides(project),
        approvals=(*gathered.approvals, *gathered.signatures),
        attempts=gathered.attempts,
        journal=gathered.journal,
        pictures=tuple(Picture(svg) for svg in drawn),
    )
    return internal_report(facts, language)


Builder = Callable[[Gathered, str], Document]
# Documents of the protocols that are made here, by the id their protocol gives them.
BUILDERS: dict[str, Builder] = {
    "minsal_form": minsal_form,
    "internal_report": internal_document,
    "public_report": public_document,
    **_norm_documents.BUILDERS,
}


def _wanted(gathered: Gathered, audience: str) -> dict[str, Builder]:
    """The report of the audience, and what the protocols ask for it."""
    protocols = [load(name) for name in gathered.project.config.protocols]
    listed = [one.id for protocol in protocols for one in protocol.documents if one.audience == audience]
    names = dict.fromkeys([*listed, f"{audience}_report"])
    return {name: BUILDERS[name] for name in names if name in BUILDERS}


# --- reading the project --------------------------------------------------------------------------


def _request(folder: Path) -> Request:
    if not (folder / "request.toml").is_file():
        return Request()
    from celosia.pipeline._request import read_request

    return read_request(folder)


def _plan_and_check(
    folder: Path, entries: Sequence[dict[str, object]]
) -> tuple[Plan | None, CheckReport | None]:  # fmt: skip
    """The plan, and the check of the candidate that this very plan made: figures of another plan would lie."""
    try:
        plan = read_plan(folder)
    except NoPlan:
        return None, None
    try:
        check = read_check(folder / "private" / "candidate")
    except NoCandidate:
        return plan, None
    made = [one.get("facts") or {} for one in entries if one.get("what") == "run"]
    wanted = {"plan": plan.digest, "candidate": check.digest}
    return plan, check if any(isinstance(facts, dict) and wanted.items() <= facts.items() for facts in made) else None


def _rules(folder: Path, check: CheckReport | None) -> RuleReport | None:
    """The rules judged on this candidate; those of another one are left out."""
    path = folder / "private" / "candidate" / "rules.json"
    if check is None or not path.is_file():
        return None
    try:
        report = rule_report_from(json.loads(path.read_text("utf-8")), str(path))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadProjectFile(path=str(path), line="?") from None
    return report if report.digest == check.digest else None


def _release_of(folder: Path, check: CheckReport | None) -> Held | None:
    """The latest release of this very candidate."""
    places = sorted(releases_of(folder).glob("*"), reverse=True) if check else []
    for place in places:
        try:
            held = read_release(place)
        except (NotARelease, ReleaseDamaged):
            continue
        if check and held.manifest.files.get("data.csv") == check.digest:
            return held
    return None


def _signatures(held: Held | None, people: Sequence[Person]) -> tuple[Approval, ...]:
    """Signatures over the manifest, rightly made by somebody who holds the role; the others are none."""
    if held is None:
        return ()
    holders = {(person.key, person.name, role) for person in people for role in person.roles}
    return tuple(
        one
        for one in held.signatures
        if one is not None
        and one.digest == held.manifest.digest
        and (one.key, one.name, one.role) in holders
        and is_signed(one.signed_part(), one.signature, one.key)
    )


def _approvals(folder: Path) -> tuple[Approval, ...]:
    """The approvals that count now, in the order in which they were given."""
    subjects = dict.fromkeys(one.what for one in all_approvals(folder))
    counted = [one for what in subjects for one in valid_approvals(folder, what)]
    return tuple(sorted(counted, key=lambda one: one.when))


def _titles(project: Project) -> tuple[str, ...]:
    return tuple(messages.text(f"protocols.title.{name}") for name in project.config.protocols)


def _overrides(project: Project) -> tuple[Override, ...]:
    changed = [rule for rule in rules_of(project.folder) if rule.overridden]
    return tuple(Override(rule.protocol, sentence_of(rule), rule.overridden) for rule in changed)


def _rule_lines(report: RuleReport | None) -> tuple[RuleLine, ...]:
    return tuple(
        RuleLine(
            sentence_of(one), one.protocol, one.section, asked_text(one), measured_text(one),
            messages.text(f"plan.state_words.{one.state.value}"),
        )
        for one in (report.results if report else ())
    )  # fmt: skip


# --- writing ---------------------------------------------------------------------------------------


def _target(project: Project, audience: str, into: Place | None) -> Path:
    """Where the documents go; the public ones stay apart from the internal ones."""
    home = project.folder / "private" / "dossier"
    if into is None:
        return private_folder(home if audience == "internal" else home / "public")
    target = Path(into)
    with writing_into(target):
        target.mkdir(parents=True, exist_ok=True)
    return target


def _rendered(document: Document, form: str, now: datetime) -> bytes:
    if form == "html":
        return to_html(document).encode("utf-8")
    return to_pdf(document, now) if form == "pdf" else to_docx(document, now)


def _written(path: Path, content: bytes, audience: str) -> Path:
    with replacing(path, _OPEN_FILE if audience == "public" else PRIVATE_FILE) as draft:
        draft.write_bytes(content)
    return path


def _refuse_unknown(parameter: str, given: Sequence[str], known: Sequence[str]) -> None:
    for one in given:
        if one not in known:
            raise ValueOutOfRange(parameter=parameter, given=one, allowed=", ".join(known))
