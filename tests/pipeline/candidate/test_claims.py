"""claims.csv: bound to one candidate, counted, and never quoted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from celosia.data.sheets import read_rows, write_rows
from celosia.model.claims import Claims, Outsider
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

OLD = "celosia/claims/1\ncandidate,sha256:00\ntarget,source_used,claim,confidence,correct,minutes,note\n"
SECRET = "Zutanita vive en el sur"


PEOPLE = "statement,Declaro\noutsider,Externa 7,E2\nindependent,sí,no\ndate,2026-11-15,\n"
HEAD = OLD.replace("/1", "/2").replace("target", f"{PEOPLE}target")


def put(folder, body, head=HEAD):
    (folder / "claims.csv").write_text(head + body, "utf-8")
    return read_claims(ProjectPaths(folder).claims)


@pytest.mark.requirement("M29")
def test_attempts_claims_hits_and_minutes_are_counted(tmp_path):
    rows = f"fila 3,redes,{SECRET},alta,sí,30,\nfila 4,redes,{SECRET},baja,no,15,\n,redes,,,,45,nada\n\n"
    old = put(tmp_path, rows, OLD)
    assert old == Claims("sha256:00", rows=3, correct=1, claims=2, minutes=90, sources=("redes",))
    assert not old.independent
    people = (Outsider("Externa 7", True, "2026-11-15"), Outsider("E2"))
    assert put(tmp_path, rows) == replace(old, statement="Declaro", outsiders=people)
    assert put(tmp_path, rows.replace(",", ";"), HEAD.replace(",", ";")).rows == 3  # as a Spanish Excel saves it
    assert put(tmp_path, "", OLD) == Claims("sha256:00", 0, 0)


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    ("line", "wrong", "number"),
    [("outsider,Externa 7,E2", f"outsider,,{SECRET}", 4), ("independent,sí,no", f"independent,{SECRET}", 5),
     ("date,2026-11-15,", f"date,{SECRET}", 6), ("date,2026-11-15,", "date,15-11-2026", 6)],
)  # fmt: skip
def test_a_person_who_cannot_be_read_is_refused_by_the_line_alone(tmp_path, line, wrong, number):
    with pytest.raises(ClaimsUnclear) as fault:
        put(tmp_path, "", HEAD.replace(line, wrong))
    assert fault.value.values["line"] == number
    assert "Zutanita" not in str(fault.value)


def test_no_file_is_nobody_tried(tmp_path):
    assert read_claims(ProjectPaths(tmp_path).claims) is None


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (f"a,b,{SECRET},alta,quizás,10,\n", 8),
        (f"a,b,{SECRET},alta,,10,\n", 8),  # a claim that nobody judged
        (f"a,b,{SECRET},alta,no,10,\na,b,{SECRET},alta,no,diez,\n", 9),
        (f"a,b,{SECRET},alta,no,-1,\n", 8),
        ("a,b,,,,,nada\n", 8),  # no claim after how long?
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
        ("celosia/claims/3\n", UnknownFormat),
        ("celosia/claims/2\n", ClaimsUnclear),
        (f"celosia/claims/2\ncandidate,x\n{SECRET},x\n", ClaimsUnclear),
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
    empty = read_claims(ProjectPaths(folder).claims)
    assert (empty.candidate, empty.rows) == (digest_for(open_project(folder), "candidate"), 0)
    assert "no conocía estos datos" in empty.statement
    assert not empty.outsiders
    with pytest.raises(AlreadyExists):
        write_claims_form(folder)
    book = write_claims_form(folder, tmp_path / "planilla.xlsx")
    write_rows(path, [*read_rows(book), ["", "redes", "", "", "", "60", ""]])
    assert read_claims(ProjectPaths(folder).claims).minutes == 60
