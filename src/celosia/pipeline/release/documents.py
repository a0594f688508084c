"""`document`: the forms and reports of a project, from its own files, each for its audience.

Knows where a project keeps what it did and hands it to the dossier. What is public is copied field by field into facts
that have no place for anything else; internal documents stay in `private/dossier/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from celosia import messages
from celosia.data.sheets import write_rows
from celosia.dossier.atenea import (
    EliminatedVariable,
    evaluation_document,
    profile_document,
    request_document,
    risk_document,
    techniques_document,
)
from celosia.dossier.charts import pictures
from celosia.dossier.document import Block, Document, Heading, Items, Note, Paragraph, Picture, Signatures, Signer
from celosia.dossier.docx import to_docx
from celosia.dossier.mel import annotated_document, annotated_rows, contrast_document
from celosia.dossier.minsal import AnexoI, anexo_i_body, anexo_i_closing
from celosia.dossier.page import to_html
from celosia.dossier.pdf import to_pdf
from celosia.dossier.reports import InternalFacts, PublicFacts, internal_report, public_report, publication_blocks
from celosia.drawing.typesetter import can_write_pdf
from celosia.evaluation.errors import ContrastOneKind, ContrastTooSmall
from celosia.model.errors import UnknownVariable
from celosia.model.paths import ANNOTATED_DICTIONARY
from celosia.model.people import Approval
from celosia.model.reports.closing import ClosingReport
from celosia.model.reports.evaluation import EvaluationReport
from celosia.model.reports.scenarios import ScenarioReport
from celosia.model.rules import RuleReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Scale, Treatment, Variable
from celosia.model.verdict import State
from celosia.pipeline.assessment.errors import NoCandidate, NoScenario
from celosia.pipeline.assessment.scenario_risk import scenario_risk
from celosia.pipeline.candidate.approval_sheet import override_lines, protocol_titles, rule_lines, sheet_for
from celosia.pipeline.candidate.mel import annotated_dictionary, contrast_report, source_figures
from celosia.pipeline.candidate.rule_context import RuleContext
from celosia.pipeline.candidate.rules import judge_rule, rules_of
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.intake.profile import profile_table
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.people import role_words
from celosia.pipeline.release.document_input import DocumentInput, collect_document_input
from celosia.pipeline.release.folder import ReleaseOnDisk
from celosia.pipeline.release.forms import forms_folder, read_form, signed_forms
from celosia.pipeline.release.legal.records import legal_sentences
from celosia.protocols.load import load
from celosia.protocols.words import overlap_text
from celosia.storage import PRIVATE_FILE, atomic_write, make_private_folder, translate_write_errors

_SHEET = "approval_sheet"
AUDIENCES = ("internal", "public")
FORMATS = ("html", "pdf", "docx")
_OPEN_FILE = 0o644


def write_documents(
    folder: ProjectArg,
    audience: str = "internal",
    formats: Sequence[str] | None = None,
    into: PathArg | None = None,
    *,
    language: str | None = None,
    evaluation: EvaluationReport | None = None,
    now: datetime | None = None,
) -> tuple[Path, ...]:
    """Write the documents that a project's protocols ask for one audience; give their paths.

    Without formats, as pages and as PDF; where the part that writes PDF is not installed, as pages alone.
    """
    formats = (("html", "pdf") if can_write_pdf() else ("html",)) if formats is None else formats
    _refuse_unknown("audience", (audience,), AUDIENCES)
    _refuse_unknown("format", formats, FORMATS)
    inputs = collect_document_input(open_project(folder), utc_now(now), evaluation)
    spoken = language or inputs.project.config.language
    with messages.speaking(spoken):
        documents = {name: build(inputs, spoken) for name, build in document_builders(inputs, audience).items()}
    target = _target(inputs.project, audience, into)
    rendered = [(f"{name}.{form}", render(documents[name], form, inputs.now)) for name in documents for form in formats]
    written = tuple(_write_document(target / name, content, audience) for name, content in rendered)
    if audience == "internal" and "mel" in inputs.project.config.protocols:
        sheet = target / ANNOTATED_DICTIONARY  # what the lead gets is a workbook (MEL IV.2)
        return (*written, export_annotated_dictionary(inputs.project, sheet))
    return written


# --- what each document is made from --------------------------------------------------------------


def minsal_form(inputs: DocumentInput, language: str) -> Document:
    """MINSAL's Anexo I, without its end."""
    return anexo_i_body(_anexo_i_data(inputs), language)


def _anexo_i_data(inputs: DocumentInput) -> AnexoI:
    publication, requested = inputs.publication, inputs.request.publication
    return AnexoI(
        date=inputs.now.date().isoformat(),
        request=inputs.request,
        variables=inputs.public_variables,
        withheld=inputs.withheld,
        plan=inputs.plan,
        check=inputs.check,
        overrides=override_lines(inputs.project),
        people=inputs.people,
        verifiers=tuple(dict.fromkeys(approval.name for approval in _verifications(inputs))),
        overlaps=_overlaps(inputs),
        signatures=inputs.signatures,
        attempts=inputs.attempts,
        attacks=inputs.attacks,
        publication_date=publication.publication_date if publication else "",
        update_period=publication.update_period if publication else str(requested.get("update_period", "")),
    )


def _verifications(inputs: DocumentInput) -> list[Approval]:
    """The approvals of this candidate by its verifiers: who verified, not who might have."""
    return [approval for approval in inputs.approvals if (approval.what, approval.role) == ("candidate", "verifier")]


def _overlaps(inputs: DocumentInput) -> str:
    """Who acts in more than one of the roles that a norm tells apart."""
    context = RuleContext(people=inputs.people, approvals={"candidate": _verifications(inputs)})
    apart = [rule for rule in rules_of(inputs.project) if rule.measure == "separate_people"]
    results = [judge_rule(context, rule) for rule in apart]
    return ", ".join(dict.fromkeys(overlap_text(result) for result in results if result.state is State.FAILS))


def public_document(inputs: DocumentInput, language: str) -> Document:
    """The public report; without a measured candidate there is nothing to tell."""
    done, request = inputs.work_done, inputs.request
    if done is None:
        raise NoCandidate(path=str(inputs.project.folder))
    tested = inputs.attempts if inputs.attempts and inputs.attempts.current else None
    facts = PublicFacts(
        title=inputs.title,
        done=done,
        period_from=str(request.source.get("period_from", "")),
        period_until=str(request.source.get("period_until", "")),
        unit=str(request.source.get("unit", "")),
        department=str(request.source.get("department", "")),
        purpose=str(request.minsal.get("purpose", "")),
        contact=str(request.publication.get("contact", "")),
        licence=str(request.publication.get("licence", "")),
        protocols=protocol_titles(inputs.project),
        overrides=override_lines(inputs.project),
        attempts=tested.rows if tested and not tested.correct else None,
        outsider=tested is not None and tested.independent,
        update_period=str(request.publication.get("update_period", "")),
        next_review=str(request.publication.get("next_review", "")),
    )
    return public_report(facts, language)


def internal_document(inputs: DocumentInput, language: str) -> Document:
    """The internal report."""
    project, plan, check, request = inputs.project, inputs.plan, inputs.check, inputs.request
    digests = {"source": project.config.source.digest}
    digests |= {"plan": plan.digest} if plan else {}
    digests |= {"candidate": check.digest} if check else {}
    drawn = pictures(inputs.evaluation).values() if inputs.evaluation else ()
    facts = InternalFacts(
        title=inputs.title,
        project=project.config.name,
        done=inputs.work_done,
        check=check,
        protocols=protocol_titles(project),
        source=project.config.source.name,
        digests=digests,
        version=version("celosia"),
        seed=plan.seed if plan else "",
        requester=request.requester,
        use=request.use,
        authorisation=request.authorisation,
        withheld=inputs.withheld,
        changes=plan.changes if plan else (),
        rules=rule_lines(inputs.rules),
        overrides=override_lines(project),
        approvals=(*inputs.approvals, *inputs.signatures),
        attempts=inputs.attempts,
        attacks=inputs.attacks,
        journal=inputs.journal,
        pictures=tuple(Picture(svg) for svg in drawn),
    )
    return internal_report(facts, language)


# --- documents of ATENEA and MEL --------------------------------------------------------------------


def atenea_request(inputs: DocumentInput, language: str) -> Document:
    """The record of the request."""
    return request_document(inputs.request, inputs.variables, language)


def atenea_profile(inputs: DocumentInput, language: str) -> Document:
    """The exploratory analysis of the base."""
    with open_table(inputs.project) as source:
        return profile_document(profile_table(source), language)


def atenea_risk(inputs: DocumentInput, language: str) -> Document:
    """The risk report: the declared scenarios, or the quasi-identifiers together and in pairs."""
    return risk_document(project_scenarios(inputs.project), language)


def atenea_techniques(inputs: DocumentInput, language: str) -> Document:
    """The record of techniques."""
    plan = inputs.plan if inputs.check is not None else None
    changes, seed = (plan.changes, plan.seed) if plan else (None, "none")
    return techniques_document(changes, inputs.work_done, seed, language, eliminated_variables(inputs))


def eliminated_variables(inputs: DocumentInput) -> tuple[EliminatedVariable, ...]:
    """The variables of the source of which nothing is published, each with the first reason that holds."""
    removed = {name for change in (inputs.plan.changes if inputs.plan else ()) for name in change["removed"]}
    limited, lines = set(inputs.request.limited), {variable.name: variable for variable in inputs.variables}

    def reason_of(variable: Variable) -> str:
        reasons = {
            "identifier": variable.role == Role.IDENTIFIER,
            "limited": variable.name in limited,
            "free_text": variable.scale == Scale.FREE_TEXT,
            "treatment": variable.treatment == Treatment.REMOVE,
            "step": variable.name in removed,
        }
        return next((reason for reason, holds in reasons.items() if holds), "purpose")

    return tuple(EliminatedVariable(lines[name], reason_of(lines[name])) for name in inputs.withheld)


def atenea_evaluation(inputs: DocumentInput, language: str) -> Document:
    """The evaluation of results, by exactly the checks that the request chose."""
    return evaluation_document(_closing(inputs), inputs.request.limited, language)


def mel_dictionary(inputs: DocumentInput, language: str) -> Document:
    """The annotated dictionary, with the risk that would stay and the lead's validation."""
    project = inputs.project
    approvals = [approval for approval in inputs.approvals if approval.what == "dictionary"]
    return annotated_document(annotated_dictionary(project), source_figures(project), approvals, language)


def mel_contrast(inputs: DocumentInput, language: str) -> Document:
    """The contrast report, or the reason why there is none yet."""
    if inputs.check is None:
        return _pending(messages.text("mel.contrast.none"), language)
    try:
        return contrast_document(contrast_report(inputs.project), language)
    except (ContrastTooSmall, ContrastOneKind, UnknownVariable) as reason:
        return _pending(str(reason), language)


def _pending(reason: str, language: str) -> Document:
    title, mark = messages.text("protocols.document.mel_contrast"), messages.text("mel.internal_mark")
    return Document(title, messages.text("mel.contrast.subtitle"), language, (Paragraph(reason),), mark=mark)


def project_scenarios(folder: ProjectArg) -> ScenarioReport:
    """The declared scenarios of a project, or its quasi-identifiers together and in pairs; without any, none."""
    project = open_project(folder)
    try:
        return scenario_risk(project)
    except NoScenario:
        return ScenarioReport(project.config.source.rows, None, ())


def _closing(inputs: DocumentInput) -> ClosingReport | None:
    if inputs.check is None or inputs.project.request is None:
        return None
    from celosia.pipeline.candidate.closing_evaluation import closing_evaluation

    return closing_evaluation(inputs.project)


def export_annotated_dictionary(folder: ProjectArg, target: PathArg | None = None) -> Path:
    """Write the annotated dictionary, with its two added columns, as .xlsx or .csv; give where it is."""
    project = open_project(folder)
    path = Path(target) if target is not None else project.paths.annotated_dictionary
    with messages.speaking(project.config.language):
        write_rows(path, annotated_rows(annotated_dictionary(project)))
    return path


def approval_sheet(inputs: DocumentInput, language: str) -> Document:
    """What whoever signs is shown: of the release where there is a candidate, else of the plan."""
    residual = [approval.figures for approval in inputs.approvals if approval.what == "residual"]
    figures = {name: value for name, value in residual[-1].items() if name != "sheet"} if residual else None
    return sheet_for(
        inputs.project,
        "plan" if inputs.check is None else "release",
        rules=inputs.rules,
        residual=figures,
        approvals=inputs.approvals,
        language=language,
    )


# Each is named as its protocol names it.
_ATENEA = (atenea_request, atenea_profile, atenea_risk, atenea_techniques, atenea_evaluation)
_MEL = (mel_dictionary, mel_contrast)
Builder = Callable[[DocumentInput, str], Document]
# Documents of the protocols that are made here, by the id their protocol gives them.
BUILDERS: dict[str, Builder] = {
    _SHEET: approval_sheet,
    "minsal_form": minsal_form,
    "internal_report": internal_document,
    "public_report": public_document,
    **{build.__name__: build for build in (*_ATENEA, *_MEL)},
}


def document_builders(inputs: DocumentInput, audience: str) -> dict[str, Builder]:
    """The report of the audience, and what the protocols ask for it: as it was signed, where there is a release."""
    forms = _form_names(inputs.project)
    sheet = [_SHEET] if audience == "internal" and inputs.plan is not None else []
    names = dict.fromkeys([*sheet, *_document_names(inputs.project, audience), f"{audience}_report"])
    known = [name for name in names if name in BUILDERS]
    return {name: partial(_form_with_closing, name) if name in forms else BUILDERS[name] for name in known}


def _form_names(project: Project) -> list[str]:
    """The documents that are signed with a release; the internal report goes on with the project."""
    internal = [name for name in _document_names(project, "internal") if name in BUILDERS and name != "internal_report"]
    return [_SHEET, *internal, *public_names(project)]


def public_names(project: Project) -> list[str]:
    """The documents of a release that anybody may read."""
    names = dict.fromkeys([*_document_names(project, "public"), "public_report"])
    return [name for name in names if name in BUILDERS]


def _document_names(project: Project, audience: str) -> list[str]:
    """The documents that the protocols of a project ask for an audience, in their order."""
    protocols = [load(name) for name in project.config.protocols]
    return [document.id for protocol in protocols for document in protocol.documents if document.audience == audience]


# --- forms, as they are signed and after ------------------------------------------------------------


def forms_to_sign(project: Project, rules: RuleReport, now: datetime) -> dict[str, tuple[Document, bytes]]:
    """The sheet, the forms and the public report: the document that is signed, and its PDF with places to sign."""
    # An earlier release of the same candidate lends this one neither signatures nor dates.
    inputs = collect_document_input(project, now)
    inputs = replace(inputs, rules=rules, signatures=(), publication=None, release=None)
    language = project.config.language
    forms = {}
    for name in _form_names(project):
        body = BUILDERS[name](inputs, language)
        whole = replace(body, blocks=(*body.blocks, *_closing_blocks(name, inputs)))
        forms[name] = (body, to_pdf(whole, now))
    return forms


def write_public_documents(project: Project, forms: Path, target: Path, now: datetime) -> None:
    """The public documents of a release from the forms that are signed with it, for everybody to read."""
    for name in public_names(project):
        document = read_form(forms, name)
        for form in ("html", "pdf"):
            _write_document(target / f"{name}.{form}", render(document, form, now), "public")


def _form_with_closing(name: str, inputs: DocumentInput, language: str) -> Document:
    """A form as it was made for the signers of the release, or as it is now, with what was added since."""
    release = inputs.release
    # Releases made before this document was signed hold none of it.
    if release is None or f"{name}.json" not in (release.manifest.forms or {}):
        body = BUILDERS[name](inputs, language)
        return replace(body, blocks=(*body.blocks, *_closing_blocks(name, inputs)))
    folder = forms_folder(inputs.project.paths, release.folder.name)
    body = signed_forms(folder, release)[name]
    with messages.speaking(body.language):
        digest = Note(
            messages.text("documents.form.signed", release=release.folder.name, digest=release.manifest.digest)
        )
        legal = _legal_notes(f"{name}.pdf", inputs, release)
        return replace(body, blocks=(*body.blocks, digest, *_closing_blocks(name, inputs), *legal))


def _legal_notes(form: str, inputs: DocumentInput, release: ReleaseOnDisk) -> tuple[Block, ...]:
    """The signatures with legal effect on a form, and the time stamps of its release."""
    sentences = legal_sentences(inputs.project.paths, release, inputs.project.journal.entries, form)
    return (Items(sentences),) if sentences else ()


def _closing_blocks(name: str, inputs: DocumentInput) -> tuple[Block, ...]:
    """The end of a form: who signed the release and, in Anexo I and the public report, its dates."""
    if name == "minsal_form":
        return anexo_i_closing(_anexo_i_data(inputs), messages.language())
    if name == "public_report":
        return publication_blocks(inputs.publication) if inputs.publication else ()
    signers = [
        Signer(role_words(given.role), given.name, given.when[:10], given.signature) for given in inputs.signatures
    ]
    return (Heading(messages.text("documents.form.signatures")), Signatures(tuple(signers))) if signers else ()


# --- writing ---------------------------------------------------------------------------------------


def _target(project: Project, audience: str, into: PathArg | None) -> Path:
    """Where the documents go; the public ones stay apart from the internal ones."""
    if into is None:
        paths = project.paths
        return make_private_folder(paths.internal_dossier if audience == "internal" else paths.public_dossier)
    target = Path(into)
    with translate_write_errors(target):
        target.mkdir(parents=True, exist_ok=True)
    return target


def render(document: Document, form: str, now: datetime) -> bytes:
    """A document as the bytes of one of the formats."""
    if form == "html":
        return to_html(document).encode("utf-8")
    return to_pdf(document, now) if form == "pdf" else to_docx(document, now)


def _write_document(path: Path, content: bytes, audience: str) -> Path:
    with atomic_write(path, _OPEN_FILE if audience == "public" else PRIVATE_FILE) as draft:
        draft.write_bytes(content)
    return path


def _refuse_unknown(parameter: str, given: Sequence[str], known: Sequence[str]) -> None:
    for value in given:
        if value not in known:
            raise ValueOutOfRange(parameter=parameter, given=value, allowed=", ".join(known))
