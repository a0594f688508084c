"""The intruder and the outsider of the page: attacks kept, claims handed over and judged, nothing of the house told."""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile
from dataclasses import replace

import pytest

from celosia.data.sheets import read_rows
from celosia.model.claims import Claims, Outsider
from celosia.model.paths import ProjectPaths
from celosia.model.reports.attacks import UNJUDGED, Control, Estimate, attack_report_from
from celosia.model.reports.status import GateState
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.candidate.approvals import digest_for
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.errors import ClaimsUnjudged
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intruder.battery import against_majority_without_record
from celosia.pipeline.intruder.claims import write_claims_form
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import open_project
from celosia.workbench import outsider_test
from celosia.workbench.errors import AnswerUnfit, AttemptClosed, AttemptIncomplete, NothingTried, NotIndependent
from celosia.workbench.intruder import intrude_project, intruder_file, intruder_view, judge_claims, received_claims
from celosia.workbench.outsider_test import attempt_file, attempt_view, open_attempts, save_attempt, send_claims
from celosia.workbench.views.intruder import Answer
from tests.projects.steps import NOW
from tests.projects.survey import PLANTED, PUBLISHED, make_project

pytestmark = pytest.mark.slow
WHO, OTHER = "Óscar Fuentes", "Nora Vidal"
CLAIM = "Es Zutanita Quiñimán, la vecina"


@pytest.fixture(scope="module")
def attacked_project(tmp_path_factory):
    """A project with its candidate, attacked once."""
    folder = make_project(tmp_path_factory.mktemp("intruder") / "p")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    intrude_project(folder, attempts=200, now=NOW)
    return folder


@pytest.fixture
def project(attacked_project, tmp_path):
    folder = tmp_path / "p"
    shutil.copytree(attacked_project, folder)
    return folder


def test_only_projects_with_a_candidate_are_named_outside(project):
    other = project.parent / "denuncias"
    other.mkdir()
    shutil.copy(project / "celosia.toml", other)
    (project.parent / "enlace").symlink_to(project)
    assert open_attempts(project.parent) == (project.name,)
    (project / "private" / "candidate" / "verdict.json").unlink()
    assert open_attempts(project.parent) == ()


def make_claim(view, place=0, **changed):
    given = {"source_used": "prensa", "claim": CLAIM, "confidence": "high", "minutes": "12", **changed}
    return Answer(view.records[place].row, **given)


def send(folder, *answers, view=None, name=WHO):
    view = view or attempt_view(folder, name)
    return send_claims(folder, answers, expected=view.expected, independent=True, name=name, now=NOW)


def journal(folder):
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text("utf-8").splitlines()]


# --- the attacks -----------------------------------------------------------------------------------


@pytest.mark.requirement("M28")
def test_the_attacks_are_kept_with_their_intervals_and_controls(project):
    view = intruder_view(project, now=NOW)
    assert view.current
    assert view.when.startswith("2026-11-15")
    measured = [estimate for estimate in view.report.estimates if estimate.measured]
    assert {estimate.risk for estimate in view.report.estimates} >= {
        "singling_out",
        "linkability",
        "inference",
    }
    assert measured
    assert all(estimate.low <= estimate.rate <= estimate.high for estimate in measured)
    assert all(
        estimate.attempts <= 200
        for estimate in measured
        if estimate.risk in ("singling_out", "linkability", "inference")
    )
    assert attack_report_from(view.report.as_dict()) == view.report


def test_attacks_on_another_candidate_are_told_as_such(project):
    candidate = project / "private" / "candidate" / "verdict.json"
    content = json.loads(candidate.read_text("utf-8"))
    candidate.write_text(json.dumps(content | {"digest": "sha256:00"}), "utf-8")
    view = intruder_view(project, now=NOW)
    assert view.report is not None
    assert not view.current


def test_a_report_that_the_journal_does_not_name_is_not_shown(project):
    report = project / "private" / "intruder" / "report.json"
    report.write_text(report.read_text("utf-8").replace('"findings": [', '"findings": [ '), "utf-8")
    assert intruder_view(project, now=NOW).report is None


def test_a_project_without_attacks_or_candidate_has_a_view(tmp_path):
    folder = make_project(tmp_path / "p")
    view = intruder_view(folder, now=NOW)
    assert (view.candidate, view.report, view.current, view.human) == (False, None, False, None)
    assert not attempt_view(folder, WHO).open


@pytest.mark.requirement("M30")
def test_an_outside_list_is_linked_by_the_columns_that_are_named(project, tmp_path):
    outside = tmp_path / "padron.csv"
    outside.write_text("genero,sector\n" + "H,norte\nM,sur\n" * 20, "utf-8")
    attacked_project = intrude_project(
        project, external=outside, on={"SEXO": "genero", "ZONA": "sector"}, attempts=100, now=NOW
    )
    exact = next(estimate for estimate in attacked_project.estimates if estimate.attack == "external_exact")
    assert exact.measured or exact.reason != "no_external"
    with pytest.raises(ValueOutOfRange):
        intrude_project(project, attempts=5)


def test_the_verdict_is_written_from_what_was_kept(project, tmp_path):
    page = intruder_file(project, tmp_path / "v.html", now=NOW).read_text("utf-8")
    assert "Veredicto" in page
    assert PLANTED not in page


# --- what the outsider sees ------------------------------------------------------------------------


@pytest.mark.requirement("M29")
def test_an_outsider_sees_the_candidate_alone(project):
    view = attempt_view(project, WHO)
    rows = list(csv.DictReader((project / "private/candidate/data.csv").open(encoding="utf-8")))
    assert view.rows == len(rows)
    assert [column.name for column in view.columns] == list(rows[0])
    assert set(rows[0]) == set(PUBLISHED)
    for record in view.records:
        assert dict(record.values).items() <= rows[record.row - 1].items()
    alike = [record.alike for record in view.records]
    assert alike == sorted(alike)
    content = repr(view)
    assert not any(word in content for word in (PLANTED, "RUT", "NOMBRE", str(project), "encuesta.csv", "plan"))


@pytest.mark.requirement("M29")
def test_the_file_of_the_outsider_holds_the_candidate_and_the_public_dictionary(project, tmp_path):
    path = attempt_file(project, tmp_path / "candidato.zip")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["data.csv", "dictionary.csv"]
        assert archive.read("data.csv") == (project / "private/candidate/data.csv").read_bytes()
        words = archive.read("dictionary.csv").decode()
    assert "RUT" not in words
    assert "estudio" not in words  # why a variable is published is the house's
    assert len(list(csv.reader(io.StringIO(words)))) == 2 + len(PUBLISHED)  # format and head


def test_what_is_wrong_in_the_house_is_not_told_outside(project, tmp_path):
    view = attempt_view(project, WHO)
    (project / "private/candidate/data.csv").write_text("SEXO\nH\n", "utf-8")
    assert not attempt_view(project, WHO).open
    for act in (lambda: attempt_file(project, tmp_path / "c.zip"), lambda: send(project, make_claim(view), view=view)):
        with pytest.raises(AttemptClosed) as fault:
            act()
        assert str(project) not in str(fault.value)
    with pytest.raises(AttemptClosed):
        save_attempt(tmp_path / "nada", [make_claim(view)], expected=view.expected, name=WHO)


# --- what the outsider writes ----------------------------------------------------------------------


@pytest.mark.requirement("M29")
def test_a_draft_is_its_authors_alone_and_counts_for_nothing(project):
    view = attempt_view(project, WHO)
    draft = save_attempt(project, [make_claim(view)], expected=view.expected, name=WHO)
    assert draft.answers == (make_claim(view),)
    assert draft.sent == ()
    assert attempt_view(project, OTHER).answers == ()
    assert read_claims(ProjectPaths(project).claims) is None
    with pytest.raises(EditedMeanwhile):  # the same person in another tab
        save_attempt(project, [], expected=view.expected, name=WHO)
    assert attempt_view(project, WHO).answers == draft.answers


@pytest.mark.requirement("M29", "M35")
def test_claims_wait_until_the_house_judges_them(project):
    view = attempt_view(project, WHO)
    nothing = Answer(view.records[1].row, minutes="15")
    sent = send(project, make_claim(view), nothing)
    assert sent.sent == (view.records[0].row, view.records[1].row)
    with pytest.raises(ClaimsUnjudged):
        read_claims(ProjectPaths(project).claims)
    waiting = intruder_view(project, now=NOW)
    assert (waiting.unjudged, waiting.human, waiting.fault) == (1, None, "")
    assert waiting.gates[0].state is not GateState.DONE
    received = received_claims(project)
    assert [(entry.claim, entry.confidence, entry.correct) for entry in received.lines] == [
        (CLAIM, "alta", ""),
        ("", "", ""),
    ]
    assert received.lines[0].values == view.records[0].values
    assert judge_claims(project, {received.lines[0].line: "no"}, expected=received.expected, now=NOW) == 0
    read = read_claims(ProjectPaths(project).claims)
    assert replace(read, outsiders=(), statement="", sources=()) == Claims(
        digest_for(open_project(project), "candidate"), rows=2, correct=0, claims=1, minutes=27
    )
    assert (read.outsiders, read.independent) == ((Outsider(WHO, True, "2026-11-15"),), True)
    assert intruder_view(project, now=NOW).human.current
    handed, judged = journal(project)[-2:]
    assert (handed["what"], handed["who"]) == ("claims", WHO)
    assert handed["facts"]["attempts"] == 2
    assert (judged["what"], judged["facts"]["claims"], judged["facts"]["correct"]) == ("claims-judged", 1, 0)
    assert "Zutanita" not in (project / "journal.jsonl").read_text("utf-8")


def test_what_was_handed_over_cannot_be_changed_and_two_people_lose_nothing(project):
    first, second = attempt_view(project, WHO), attempt_view(project, OTHER)
    nothing = Answer(first.records[0].row, minutes="15")
    send(project, nothing, view=first)
    send(project, nothing, view=second, name=OTHER)  # the same words of another person are another attempt
    assert read_claims(ProjectPaths(project).claims).rows == 2
    with pytest.raises(AttemptClosed):
        send(project, nothing)
    again = attempt_view(project, WHO)
    send(project, Answer(again.records[1].row, minutes="9"))
    assert read_claims(ProjectPaths(project).claims).minutes == 39


def test_a_form_that_waits_is_filled_and_an_old_one_is_put_away(project):
    write_claims_form(project, records=3)
    view = attempt_view(project, WHO)
    send(project, Answer(view.records[0].row, minutes="5"))
    rows = read_rows(project / "claims.csv")
    assert len(rows) == 7 + 3
    assert rows[7][5] == "5"
    assert [row[:2] for row in rows[3:6]] == [["outsider", WHO], ["independent", "sí"], ["date", "2026-11-15"]]
    path = project / "claims.csv"
    path.write_text(
        path.read_text("utf-8").replace(digest_for(open_project(project), "candidate"), "sha256:0ld"), "utf-8"
    )
    send(project, Answer(view.records[1].row, minutes="7"))
    assert read_claims(ProjectPaths(project).claims).minutes == 7
    assert (project / "private/intruder/claims-0ld.csv").is_file()


def test_a_process_that_died_while_handing_over_enters_nothing_twice(project, monkeypatch):
    view, write_draft = attempt_view(project, WHO), outsider_test._write_draft
    answer = Answer(view.records[0].row, minutes="15")

    def die(project, name, draft):
        if not draft.handing:
            raise KeyboardInterrupt
        write_draft(project, name, draft)

    monkeypatch.setattr(outsider_test, "_write_draft", die)
    with pytest.raises(KeyboardInterrupt):
        send(project, answer)
    monkeypatch.setattr(outsider_test, "_write_draft", write_draft)
    assert attempt_view(project, WHO).answers == (answer,)
    send(project, answer)
    assert read_claims(ProjectPaths(project).claims).rows == 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"source_used": ""}, AttemptIncomplete),
        ({"confidence": ""}, AttemptIncomplete),
        ({"claim": "", "minutes": ""}, AttemptIncomplete),
        ({"minutes": "-3"}, AnswerUnfit),
        ({"minutes": "١٢"}, AnswerUnfit),
        ({"confidence": "segurísimo"}, AnswerUnfit),
        ({"claim": "x" * 501}, AnswerUnfit),
        ({"row": 10_000_000}, AttemptClosed),
        ({"source_used": "", "claim": "", "confidence": "", "minutes": ""}, NothingTried),
    ],
)
def test_what_cannot_be_judged_or_counted_is_not_taken(project, change, error):
    view = attempt_view(project, WHO)
    with pytest.raises(error) as fault:
        send(project, replace(make_claim(view), **change))
    assert "Zutanita" not in str(fault.value)
    assert not (project / "claims.csv").exists()


def test_whoever_knows_the_data_does_not_send(project):
    view = attempt_view(project, WHO)
    with pytest.raises(NotIndependent):
        send_claims(project, [make_claim(view)], expected=view.expected, independent=False, name=WHO)


def test_a_claim_is_one_line_of_text_that_no_spreadsheet_runs(project):
    view = attempt_view(project, WHO)
    send(project, make_claim(view, claim="=HYPERLINK(1)\n\x1b[31mrojo", source_used="@cuenta"))
    row = read_rows(project / "claims.csv")[7]
    assert row[1:3] == ["'@cuenta", "'=HYPERLINK(1) [31mrojo"]


# --- the house judges ------------------------------------------------------------------------------


def test_two_who_judge_at_once_do_not_overwrite_each_other(project):
    view = attempt_view(project, WHO)
    send(project, make_claim(view))
    seen = received_claims(project)
    judge_claims(project, {seen.lines[0].line: "yes"}, expected=seen.expected, now=NOW)
    before = digest_of_file(project / "claims.csv")
    with pytest.raises(EditedMeanwhile):
        judge_claims(project, {seen.lines[0].line: "no"}, expected=seen.expected, now=NOW)
    assert digest_of_file(project / "claims.csv") == before
    assert intruder_view(project, now=NOW).human.correct == 1


@pytest.mark.parametrize("answers", [{99: "yes"}, {4: "quizás"}, {1: "yes"}])
def test_only_claims_that_are_there_are_judged(project, answers):
    send(project, make_claim(attempt_view(project, WHO)))
    before = digest_of_file(project / "claims.csv")
    with pytest.raises(ValueOutOfRange):
        judge_claims(project, answers, now=NOW)
    assert digest_of_file(project / "claims.csv") == before


def test_attacks_go_on_while_claims_wait_for_their_answer(project):
    send(project, make_claim(attempt_view(project, WHO)))
    attacks = intrude_project(project, attempts=100, now=NOW)
    assert attacks.human is None
    assert UNJUDGED in attacks.notes


def test_claims_that_cannot_be_read_are_told_and_hide_nothing_else(project):
    (project / "claims.csv").write_text("otra cosa\n", "utf-8")
    view = intruder_view(project, now=NOW)
    assert view.fault
    assert view.report is not None


def test_an_attack_that_works_reaches_somebody():
    estimate = Estimate(
        attack="class_majority",
        risk="inference",
        attempts=60,
        successes=11,
        rate=0.18,
        low=0.1,
        high=0.3,
        control=Control.MARGINS,
        control_attempts=60,
        control_successes=12,
        control_rate=0.2,
        excess=-0.02,
        excess_low=-0.1,
        excess_high=0.1,
        persons=0,
        detail={"majority_rate_without_record": 0.0},
    )
    beyond = against_majority_without_record(estimate, 120)
    assert beyond.works
    assert beyond.persons == 22
