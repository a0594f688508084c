"""What is shown before a signature is what the signature names: sheets of a real project."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from celosia.cli.entry import main
from celosia.dossier.document import Table
from celosia.dossier.page import to_html
from celosia.dossier.stored import document_from
from celosia.dossier.text import to_text
from celosia.pipeline.candidate.approval_sheet import sheet_digest, sheet_for
from celosia.pipeline.candidate.approvals import approval_contents, approve, figures_for, valid_approvals
from celosia.pipeline.candidate.errors import PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.explain import explain_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import ShownOther
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.document_input import collect_document_input
from celosia.pipeline.release.documents import document_builders, write_documents
from celosia.pipeline.release.forms import read_forms
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publish import publish
from celosia.workbench.dossier import release_view, signing_view
from tests.projects.discharges import QUASI, make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW, PHRASE


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("sheet")
    people = make_keys(home)
    run_to_approved_candidate(make_project(home / "p", people), people, k=3)
    return home


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home")) / "p"


def keys(folder: Path) -> dict:
    from celosia.pipeline.project.identity import load_identity

    return {role: load_identity(PHRASE, folder.parent / f"{role}.key") for role in ("head", "executor", "verifier")}


def test_an_approval_names_the_digest_of_the_sheet_and_the_sheet_is_kept(folder) -> None:
    project = open_project(folder)
    approvals = {approval.what: approval for approval in project.approvals}
    for what in ("plan", "candidate"):
        digest = approvals[what].figures["sheet"]
        stored = project.paths.approved / f"sheet-{digest.partition(':')[2]}.json"
        assert sheet_digest(document_from(stored.read_text("utf-8"), "-")) == digest
    assert approvals["candidate"].figures == figures_for(project, "candidate")
    assert signing_view(folder, "candidate").documents == (approval_contents(project, "candidate").sheet,)


def test_nobody_approves_another_sheet_than_the_one_shown(folder) -> None:
    figures = figures_for(open_project(folder), "candidate")
    claims = folder / "claims.csv"
    claims.write_text(claims.read_text("utf-8") + "web,buscador,,,,20,nada\n", "utf-8")
    with pytest.raises(ShownOther):
        approve(folder, "candidate", keys(folder)["verifier"], "verifier", figures=figures, now=NOW)
    assert approve(folder, "candidate", keys(folder)["verifier"], "verifier", now=NOW).figures["sheet"]


def test_the_rows_shown_are_of_the_file_and_shared_by_k_records(folder) -> None:
    project = open_project(folder)
    with project.paths.candidate.data.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = Counter(tuple(row[name] for name in QUASI) for row in rows)
    sheet = sheet_for(project, "candidate")
    table = next(block for block in sheet.blocks if isinstance(block, Table) and "Fila 1" in block.header)
    names, *shown = zip(*table.rows, strict=True)
    assert len(shown) == 3
    for cells in shown:
        row = dict(zip(names, cells, strict=True))
        assert row in rows
        combination = tuple(row[name] for name in QUASI)
        assert sizes[combination] >= 3
        assert set(combination) != {"*"}


def test_the_least_l_on_the_sheet_is_counted_on_the_file(folder) -> None:
    with open_project(folder).paths.candidate.data.open(encoding="utf-8", newline="") as file:
        values: dict[tuple[str, ...], set[str]] = {}
        for row in csv.DictReader(file):
            combination = tuple(row[name] for name in QUASI)
            if set(combination) != {"*"} and row["DIAG1"] != "*":
                values.setdefault(combination, set()).add(row["DIAG1"])
    least = min(map(len, values.values()))
    assert f"l = {least}: el grupo que menos" in to_html(sheet_for(open_project(folder), "candidate"))


def test_the_points_next_to_a_plan_are_those_of_the_frontier_and_are_on_its_sheet(folder) -> None:
    project = open_project(folder)
    near = {(point["k"], point["limit"]): point for point in project.plan.notes["neighbours"]}
    assert set(near) == {(k, "1") for k in (2, 3, 4)} | {(3, "1/2")}
    assert "Otras opciones cercanas" in to_text(sheet_for(project, "plan"))
    curve = explain_plan(folder, with_frontier=True).frontier
    assert curve is not None
    assert near == {key: point for key in near for point in curve.as_dict()["points"] if key == _key(point)}


def _key(point: dict) -> tuple[int, str]:
    return point["k"], point["limit"]


def test_an_exchanged_point_voids_the_approval_and_stops_the_run(folder) -> None:
    path = folder / "plan.json"
    assert valid_approvals(open_project(folder), "plan")
    document = json.loads(path.read_text("utf-8"))
    document["notes"]["neighbours"][-1]["suppressed_rows"] += 1
    path.write_text(json.dumps(document), "utf-8")
    assert not valid_approvals(open_project(folder), "plan")
    with pytest.raises(PlanStale):
        run_plan(folder, now=NOW)


def test_a_frontier_of_the_present_files_is_on_the_sheet_of_another_method_and_an_old_one_is_not(folder) -> None:
    make_plan(folder, now=NOW, method="local")
    assert "neighbours" not in open_project(folder).plan.notes
    assert "celosia explain --frontier" in to_text(sheet_for(open_project(folder), "plan"))
    explain_plan(folder, with_frontier=True)
    assert "Otras opciones cercanas" in to_text(sheet_for(open_project(folder), "plan"))
    dictionary = folder / "dictionary.csv"
    dictionary.write_text(dictionary.read_text("utf-8").replace("Etiqueta", "Rótulo"), "utf-8")
    assert "Otras opciones cercanas" not in to_text(sheet_for(open_project(folder), "plan"))


def test_the_command_shows_the_sheet_before_it_signs_and_json_stays_alone(folder, capsys) -> None:
    phrase = folder.parent / "phrase.txt"
    phrase.write_text(PHRASE, "utf-8")
    line = ["approve", str(folder), "candidate", "--role", "verifier", "--yes", "--passphrase-file", str(phrase)]
    line += ["--identity", str(folder.parent / "verifier.key")]
    assert main(["--lang", "es", *line]) == 0
    out = capsys.readouterr().out
    assert out.index("Hoja de aprobación: el candidato") < out.index("aprobó: el candidato")
    assert main(["--lang", "es", *line, "--json"]) == 0
    answer = capsys.readouterr()
    assert json.loads(answer.out)["what"] == "candidate"
    assert "Hoja de aprobación" in answer.err


def test_a_release_carries_the_sheet_and_the_public_report_is_printed_as_signed_with_its_dates_added(folder) -> None:
    release = make_release(folder, now=NOW).folder
    forms = read_forms(release, folder)
    assert forms.documents[0].title == "Hoja de aprobación: la publicación"
    assert release_view(folder, release.name).documents == forms.documents
    for role, key in keys(folder).items():
        sign_release(release, folder, key, role, now=NOW)
    day = NOW.date()
    publish(
        folder, release, keys(folder)["head"], consultation=day, publication_date=day, update_period="anual", now=NOW
    )
    request = folder / "request.toml"
    request.write_text(request.read_text("utf-8").replace("Egresos hospitalarios", "Otro título"), "utf-8")
    inputs = collect_document_input(open_project(folder), NOW)
    printed = document_builders(inputs, "public")["public_report"](inputs, "es")
    signed = next(document for document in forms.documents if document.title == "Informe público de anonimización")
    assert printed.blocks[: len(signed.blocks)] == signed.blocks
    page = to_html(printed)
    assert "Otro título" not in page
    assert "2026-11-15" in page
    assert "2027-11-15" in page
    assert (release / "dossier/public_report.html").read_text("utf-8") == to_html(signed)
    names = {path.name for path in write_documents(folder, "internal", ("html",), now=NOW)}
    assert "approval_sheet.html" in names
