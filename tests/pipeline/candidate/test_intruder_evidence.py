"""The intruder test as evidence: on record who tried, signed, void after a change; grave findings are answered."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from celosia import messages
from celosia.dossier.intruder_words import attacks_sentences
from celosia.model.people import Approval
from celosia.model.reports.attacks import Finding
from celosia.model.reports.status import GateState
from celosia.pipeline.candidate.approvals import approve, details_for, digest_for, figures_for, valid_approvals
from celosia.pipeline.candidate.errors import (
    AttacksMissing,
    DayImpossible,
    NothingToApprove,
    OutsiderNotApart,
    ReasonMissing,
)
from celosia.pipeline.candidate.intruder_evidence import recorded_attacks
from celosia.pipeline.intruder import attack
from celosia.pipeline.intruder.claims import write_claims_form
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import Identity
from celosia.pipeline.release.documents import write_documents
from celosia.pipeline.release.errors import RulesFail
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from tests.projects.steps import NOW, TESTED_BY, note_attempts, sign_people
from tests.projects.survey import add_people, make_project, run_to_candidate

pytestmark = pytest.mark.slow
GRAVE = Finding(kind="free_text", columns=("DIAG",), cells=9, persons=9, severity="high")
NOTE = "supervisé la prueba en una sala sin acceso a los datos"


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Identity]]:
    """A project whose candidate was attacked and tried by a person, and nothing signed about it."""
    folder = make_project(tmp_path_factory.mktemp("evidence") / "p")
    people = run_to_candidate(folder)
    people |= add_people(folder, ona=["outsider"])
    sign_people(folder, [people["eva"]])
    attack.intrude(str(folder), attempts=100, now=NOW)
    note_attempts(write_claims_form(folder))
    return folder, people


@pytest.fixture
def project(tested: tuple[Path, dict[str, Identity]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(tested[0], tmp_path / "p"))


@pytest.fixture
def people(tested: tuple[Path, dict[str, Identity]]) -> dict[str, Identity]:
    return tested[1]


def signed(folder: Path, what: str = "intruder") -> tuple[Approval, ...]:
    return valid_approvals(open_project(folder), what)


def edit_claims(folder: Path, old: str, new: str) -> None:
    path = folder / "claims.csv"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def find_gravely(folder: Path, *findings: Finding) -> None:
    """The last attacks again, as if they had found this."""
    project = open_project(folder)
    report = recorded_attacks(project, digest_for(project, "candidate")).report
    assert report is not None
    attack._save(project, replace(report, findings=findings), NOW)


def blocked(folder: Path) -> tuple[str, str, str]:
    """Which gate is open, why, and what to type."""
    told = status(folder, now=NOW)
    gate = next(gate for gate in told.gates if gate.state is GateState.BLOCKED)
    return gate.gate, gate.reason, told.next


# --- the test with a person ------------------------------------------------------------------------


@pytest.mark.requirement("M29")
def test_the_signer_sees_who_tried_how_and_what_was_found(project: Path) -> None:
    opened = open_project(project)
    figures = figures_for(opened, "intruder")
    assert (figures["attempts"], figures["minutes"], figures["outsiders"], figures["independent"]) == (10, 90, 1, True)
    # The figures are published with the signature: nobody is named in them.
    assert TESTED_BY not in json.dumps(figures)
    words = " ".join(f"{label} {value}" for label, value in details_for(opened, "intruder"))
    assert TESTED_BY in words
    assert "no conocía estos datos" in words
    assert "diarios" in words


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(("who", "role", "note"), [("ona", "outsider", ""), ("luis", "verifier", NOTE)])
def test_the_outsider_signs_or_the_verifier_attests(
    project: Path, people: dict[str, Identity], who: str, role: str, note: str
) -> None:
    gate, _, command = blocked(project)
    assert (gate, " intruder --role outsider" in command) == ("intruder", True)
    approve(project, "intruder", people[who], role, note, now=NOW)
    assert [approval.role for approval in signed(project)] == [role]
    assert blocked(project)[0] == "check"


@pytest.mark.requirement("M29")
def test_the_head_signs_nothing_of_the_test(project: Path, people: dict[str, Identity]) -> None:
    approve(project, "intruder", people["eva"], "head", NOTE, now=NOW)
    assert blocked(project)[0] == "intruder"


CHANGES: dict[str, Callable[[Path], None]] = {
    "minutes": lambda folder: edit_claims(folder, "diarios,,,,9,", "diarios,,,,8,"),
    "name": lambda folder: edit_claims(folder, TESTED_BY, "Externa 8"),
    "statement": lambda folder: edit_claims(folder, "no conocía", "conocía"),
    "day": lambda folder: edit_claims(folder, "date,2026-11-15", "date,2026-11-14"),
    "source": lambda folder: edit_claims(folder, "diarios", "radio"),
    "attacks": lambda folder: find_gravely(folder, GRAVE),
    "report": lambda folder: (folder / "private/intruder/report.json").unlink(),
    "candidate": lambda folder: (folder / "private/candidate/data.csv").write_text("SEXO\nH\n", "utf-8"),
}


@pytest.mark.requirement("M29")
@pytest.mark.parametrize("change", CHANGES)
def test_the_signature_dies_when_anything_it_covers_changes(
    project: Path, people: dict[str, Identity], change: str
) -> None:
    approve(project, "intruder", people["ona"], "outsider", now=NOW)
    assert signed(project)
    CHANGES[change](project)
    assert not signed(project)


@pytest.mark.requirement("M29")
def test_attacking_again_to_the_same_end_voids_nothing(project: Path, people: dict[str, Identity]) -> None:
    approve(project, "intruder", people["ona"], "outsider", now=NOW)
    attack.intrude(str(project), attempts=100, now=NOW + timedelta(hours=1))
    assert signed(project)


def test_the_verifier_says_how_they_know(project: Path, people: dict[str, Identity]) -> None:
    with pytest.raises(ReasonMissing):
        approve(project, "intruder", people["luis"], "verifier", "  ", now=NOW)


def test_nobody_of_the_project_is_the_outsider(project: Path, people: dict[str, Identity]) -> None:
    edit_claims(project, TESTED_BY, "ana díaz")
    with pytest.raises(OutsiderNotApart):
        approve(project, "intruder", people["luis"], "verifier", NOTE, now=NOW)


@pytest.mark.parametrize("day", ["2026-11-11", "2026-11-19"])
def test_a_day_that_cannot_be_is_refused(project: Path, people: dict[str, Identity], day: str) -> None:
    edit_claims(project, "date,2026-11-15", f"date,{day}")
    with pytest.raises(DayImpossible):
        approve(project, "intruder", people["ona"], "outsider", now=NOW + timedelta(days=1))


def test_nothing_is_signed_before_the_attacks_that_the_norm_asks_for(
    project: Path, people: dict[str, Identity]
) -> None:
    (project / "private/intruder/report.json").unlink()
    with pytest.raises(AttacksMissing):
        approve(project, "intruder", people["ona"], "outsider", now=NOW)
    assert blocked(project)[2] == f"celosia intruder {project}"


@pytest.mark.parametrize("nobody", [lambda path: path.unlink(), lambda path: note_attempts(path, attempts=0)])
def test_a_test_that_nobody_did_is_not_signed(
    project: Path, people: dict[str, Identity], nobody: Callable[[Path], None]
) -> None:
    nobody(project / "claims.csv")
    with pytest.raises(NothingToApprove):
        approve(project, "intruder", people["ona"], "outsider", now=NOW)


# --- what the attacks found ------------------------------------------------------------------------


@pytest.mark.requirement("M28", "M29")
def test_a_grave_finding_blocks_until_it_is_accepted_with_a_reason(project: Path, people: dict[str, Identity]) -> None:
    find_gravely(project, GRAVE)
    approve(project, "intruder", people["ona"], "outsider", now=NOW)
    approve(project, "candidate", people["luis"], "verifier", now=NOW)
    gate, reason, command = blocked(project)
    assert (gate, command) == ("intruder", f"celosia approve {project} findings --role head --note …")
    assert "«DIAG» contiene texto libre" in reason
    assert "celosia plan" in reason
    with pytest.raises(RulesFail) as refused:
        make_release(project, now=NOW)
    assert "hallazgos de los ataques automáticos" in str(refused.value)
    with pytest.raises(ReasonMissing):
        approve(project, "findings", people["eva"], "head", now=NOW)
    approve(project, "findings", people["luis"], "verifier", "no basta", now=NOW)
    assert blocked(project)[0] == "intruder"
    approve(project, "findings", people["eva"], "head", "códigos de una lista cerrada", now=NOW)
    form = _form(project)
    assert "códigos de una lista cerrada" in form
    assert "Gravedad alta: «DIAG» contiene texto libre" in form
    release = make_release(project, now=NOW).folder
    sign_release(release, project, people["eva"], "head", now=NOW)
    told = verify_release(release, now=NOW)
    states = {result.rule: result.state.value for result in told.rules}
    assert (states["intruder_approval"], states["intruder_findings"]) == ("holds", "attested")
    assert not [finding for finding in told.findings if finding.state.value == "fails"]
    # Whoever tried is not named in public, though they signed.
    assert b"Ona" not in b"".join(path.read_bytes() for path in release.rglob("*.json*"))
    assert ("intruder", "Ona Díaz", "valid") in [(a.what, a.name, a.state) for a in status(project, now=NOW).approvals]


@pytest.mark.requirement("M28")
def test_an_acceptance_covers_those_findings_on_that_candidate(project: Path, people: dict[str, Identity]) -> None:
    with pytest.raises(NothingToApprove):
        approve(project, "findings", people["eva"], "head", "nada", now=NOW)
    find_gravely(project, GRAVE)
    approve(project, "findings", people["eva"], "head", "lista cerrada", now=NOW)
    assert signed(project, "findings")
    find_gravely(project, GRAVE, replace(GRAVE, columns=("SEXO",)))
    assert not signed(project, "findings")


@pytest.mark.requirement("M28")
def test_a_milder_attack_afterwards_hides_no_finding(project: Path) -> None:
    """Attacked again without the list or the roles that showed it, the same bytes still hold what was found."""
    find_gravely(project, GRAVE)
    find_gravely(project)
    opened = open_project(project)
    assert recorded_attacks(opened, digest_for(opened, "candidate")).lost
    assert blocked(project)[2] == f"celosia intruder {project}"


# --- the papers ------------------------------------------------------------------------------------


def _form(folder: Path) -> str:
    return next(path for path in write_documents(folder, now=NOW) if path.stem == "minsal_form").read_text("utf-8")


def _public(folder: Path) -> str:
    paths = write_documents(folder, "public", now=NOW)
    return next(path for path in paths if path.name == "public_report.html").read_text("utf-8")


@pytest.mark.requirement("M29", "M33")
def test_the_form_says_by_whom_when_how_long_with_what_and_who_answers(
    project: Path, people: dict[str, Identity]
) -> None:
    approve(project, "intruder", people["luis"], "verifier", NOTE, now=NOW)
    form = _form(project)
    for words in (TESTED_BY, "2026-11-15", "90", "diarios", "no conocía estos datos", "Luis Díaz", NOTE):
        assert words in form
    opened = open_project(project)
    found = attacks_sentences(recorded_attacks(opened, digest_for(opened, "candidate")).report)
    assert found
    assert all(sentence in form for sentence in found)


@pytest.mark.requirement("M29")
def test_the_public_report_speaks_of_an_outsider_only_where_a_signature_answers_for_one(
    project: Path, people: dict[str, Identity]
) -> None:
    assert "No consta con firma quién la hizo" in _public(project)
    approve(project, "intruder", people["ona"], "outsider", now=NOW)
    assert "Una persona sin conocimiento previo de los datos" in _public(project)
    assert TESTED_BY not in _public(project)
    edit_claims(project, "independent,sí", "independent,no")
    assert "Una persona sin conocimiento previo" not in _public(project)


def test_every_floor_that_no_norm_gives_states_its_reason() -> None:
    from celosia.protocols.load import IDS, load
    from celosia.protocols.words import reason_text

    for language in messages.LANGUAGES:
        with messages.speaking(language):
            rules = [rule for name in IDS for rule in load(name).rules if rule.measure == "intruder"]
            assert rules
            assert all(reason_text(rule) for rule in rules)
