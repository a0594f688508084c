"""The documents of ATENEA and MEL from a project as it is; what is not there yet is said to be so.

Knows which verb gives each figure. Ignores formats and files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from celosia import messages
from celosia.data.sheets import write_rows
from celosia.dossier import (
    Document,
    Paragraph,
    annotated_document,
    annotated_rows,
    contrast_document,
    evaluation_document,
    profile_document,
    request_document,
    risk_document,
    techniques_document,
)
from celosia.errors import ContrastOneKind, ContrastTooSmall, NoScenario, UnknownVariable
from celosia.model.closing import ClosingReport
from celosia.model.scenarios import ScenarioReport
from celosia.pipeline._call import Place
from celosia.pipeline._mel import annotated_dictionary, contrast_report, source_figures
from celosia.pipeline._open import opened
from celosia.pipeline._profile import profile_table
from celosia.pipeline._project import open_project
from celosia.pipeline._risk import scenario_risk

if TYPE_CHECKING:
    from celosia.pipeline._documents import Gathered

ANNOTATED = "mel_dictionary.xlsx"


def atenea_request(gathered: Gathered, language: str) -> Document:
    """The record of the request."""
    return request_document(gathered.request, gathered.variables, language)


def atenea_profile(gathered: Gathered, language: str) -> Document:
    """The exploratory analysis of the base."""
    with opened(gathered.project.folder) as found:
        return profile_document(profile_table(found), language)


def atenea_risk(gathered: Gathered, language: str) -> Document:
    """The risk report: the declared scenarios, or the quasi-identifiers together and in pairs."""
    return risk_document(project_scenarios(gathered.project.folder), language)


def atenea_techniques(gathered: Gathered, language: str) -> Document:
    """The record of techniques."""
    plan = gathered.plan if gathered.check is not None else None
    return techniques_document(plan.changes if plan else None, gathered.done, plan.seed if plan else "none", language)


def atenea_evaluation(gathered: Gathered, language: str) -> Document:
    """The evaluation of results, by exactly the checks that the request chose."""
    return evaluation_document(_closing(gathered), gathered.request.limited, language)


def mel_dictionary(gathered: Gathered, language: str) -> Document:
    """The annotated dictionary, with the risk that would stay and the lead's validation."""
    folder = gathered.project.folder
    approvals = [one for one in gathered.approvals if one.what == "dictionary"]
    return annotated_document(annotated_dictionary(folder), source_figures(folder), approvals, language)


def mel_contrast(gathered: Gathered, language: str) -> Document:
    """The contrast report, or what still stands against it."""
    if gathered.check is None:
        return _pending(messages.text("mel.contrast.none"), language)
    try:
        return contrast_document(contrast_report(gathered.project.folder), language)
    except (ContrastTooSmall, ContrastOneKind, UnknownVariable) as reason:
        return _pending(str(reason), language)


def _pending(reason: str, language: str) -> Document:
    title, mark = messages.text("protocols.document.mel_contrast"), messages.text("mel.internal_mark")
    return Document(title, messages.text("mel.contrast.subtitle"), language, (Paragraph(reason),), mark=mark)


def project_scenarios(folder: Place) -> ScenarioReport:
    """The declared scenarios of a project, or its quasi-identifiers together and in pairs; without any, none."""
    try:
        return scenario_risk(folder)
    except NoScenario:
        return ScenarioReport(open_project(folder).config.source.rows, None, ())


def _closing(gathered: Gathered) -> ClosingReport | None:
    folder = gathered.project.folder
    if gathered.check is None or not (folder / "request.toml").is_file():
        return None
    from celosia.pipeline._closing import closing_evaluation

    return closing_evaluation(folder)


def export_annotated_dictionary(folder: Place, target: Place | None = None) -> Path:
    """Write the annotated dictionary, with its two added columns, as .xlsx or .csv; give where it is."""
    project = open_project(folder)
    path = Path(target) if target is not None else project.folder / ANNOTATED
    with messages.speaking(project.config.language):
        write_rows(path, annotated_rows(annotated_dictionary(folder)))
    return path


BUILDERS: dict[str, Callable[[Gathered, str], Document]] = {
    "atenea_request": atenea_request,
    "atenea_profile": atenea_profile,
    "atenea_risk": atenea_risk,
    "atenea_techniques": atenea_techniques,
    "atenea_evaluation": atenea_evaluation,
    "mel_dictionary": mel_dictionary,
    "mel_contrast": mel_contrast,
}
