"""claims.csv: bound to one candidate, counted, and never quoted."""

from __future__ import annotations

import pytest

from celosia.data.sheets import read_rows, write_rows
from celosia.model.claims import Claims
from celosia.model.errors import UnknownFormat
from celosia.model.paths import ProjectPaths
from celosia.pipeline.candidate.approvals import digest_for
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.errors import ClaimsUnclear, NothingToApprove
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intruder.claims import write_claims_form
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from celosia.storage import AlreadyExists
from tests.projects.steps import NOW
from tests.projects.survey import make_project

HEAD = "celosia/claims/1\ncandidate,sha256:00\ntarget,source_used,claim,confidence,correct,minutes,note\n"
SECRET = "Zutanita vive en el sur"


def put(folder, body, head=HEAD):
    (folder / "claims.csv").write_text(head + body, "utf-8")
    return read_claims(ProjectPaths(folder).claims)


@pytest.mark.requirement("M29")
def test_attempts_claims_hits_and_minutes_are_counted(tmp_path):
    rows = f"fila 3,redes,{SECRET},alta,sí,30,\nfila 4,redes,{SECRET},baja,no,15,\n,redes,,,,45,nada\n\n"
    assert put(tmp_path, rows) == Claims("sha256:00", rows=3, correct=1, claims=2, minutes=90)
    assert put(tmp_path, rows.replace(",", ";"), HEAD.replace(",", ";")).rows == 3  # as a Spanish Excel saves it
    assert put(tmp_path, "") == Claims("sha256:00", 0, 0)


def test_no_file_is_nobody_tried(tmp_path):
    assert read_claims(ProjectPaths(tmp_path).claims) is None


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (f"a,b,{SECRET},alta,quizás,10,\n", 4),
        (f"a,b,{SECRET},alta,,10,\n", 4),  # a claim that nobody judged
        (f"a,b,{SECRET},alta,no,10,\na,b,{SECRET},alta,no,diez,\n", 5),
        (f"a,b,{SECRET},alta,no,-1,\n", 4),
        ("a,b,,,,,nada\n", 4),  # no claim after how long?
    ],
)
def test_a_row_that_cannot_be_counted_is_refused_by_its_line_alone(tmp_path, rows, line):
    with pytest.raises(ClaimsUnclear) as fault:
        put(tmp_path, rows)
    assert fault.value.values["line"] == line
    assert "Zutanita" not in str(fault.value)


@pytest.mark.parametrize(
    ("head", "error"),
    [
        (f"{SECRET}\n", UnknownFormat),
        ("celosia/claims/2\n", UnknownFormat),
        ("", UnknownFormat),
        ("celosia/claims/1\n", ClaimsUnclear),
        (f"celosia/claims/1\n{SECRET},x\n", ClaimsUnclear),
        (f"celosia/claims/1\ncandidate,x\n{SECRET}\n", ClaimsUnclear),
    ],
)
def test_another_head_is_refused_and_not_quoted(tmp_path, head, error):
    with pytest.raises(error) as fault:
        put(tmp_path, "", head)
    assert "Zutanita" not in str(fault.value)


@pytest.mark.slow
@pytest.mark.requirement("M29")
def test_the_form_is_bound_to_the_candidate_and_never_overwrites_results(tmp_path):
    folder = make_project(tmp_path / "p")
    with pytest.raises(NothingToApprove):
        write_claims_form(folder)
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    path = write_claims_form(folder)
    assert read_claims(ProjectPaths(folder).claims) == Claims(digest_for(open_project(folder), "candidate"), 0, 0)
    with pytest.raises(AlreadyExists):
        write_claims_form(folder)
    book = write_claims_form(folder, tmp_path / "planilla.xlsx")
    write_rows(path, [*read_rows(book), ["", "redes", "", "", "", "60", ""]])
    assert read_claims(ProjectPaths(folder).claims).minutes == 60
