"""Documents from a real project: what the files say is what is printed, for each audience, and no cell with it."""

from __future__ import annotations

import csv
import json
import shutil
import stat
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from celosia.cli import main
from celosia.demo.synthetic.discharges import write_discharges
from celosia.model import dictionary
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import JournalBroken
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.documents import write_documents
from tests.dossier.pdf_text import text_of

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
PUBLISHED = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "DIAG1")
STEPS = '\n[[steps]]\ntechnique = "intervals"\ncolumns = ["EDAD_AÑOS"]\nwidth = 5\nwhole = true\n'
REQUEST = """format = "celosia/request/1"
title = "Egresos <2024>"
requester = "Persona solicitante"

[source]
name = "Egresos"
department = "Departamento de Estadísticas"
period_from = "2024-01-01"
period_until = "2024-12-31"
unit = "egreso"
responsible = ["Ana Pérez"]

[minsal]
administrative_act = true
purpose = "Conocer los egresos"

[publication]
contact = "deis@minsal.cl"
licence = "CC BY 4.0"
update_period = "anual"
"""


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_discharges(tmp_path_factory.mktemp("raw") / "egresos.csv", 1_500, 11)


@pytest.fixture(scope="module")
def made(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = init(str(raw), tmp_path_factory.mktemp("documents") / "egresos", (), now=NOW).project.folder
    variables = open_project(folder).variables
    stated = [replace(v, purpose="estudio" if v.name in PUBLISHED else "") for v in variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")
    (folder / "celosia.toml").write_text((folder / "celosia.toml").read_text("utf-8") + STEPS, "utf-8")
    make_plan(folder, now=NOW, k=2)
    run_plan(folder, now=NOW)
    (folder / "request.toml").write_text(REQUEST, "utf-8")
    config = (folder / "celosia.toml").read_text("utf-8").replace("protocols = []", 'protocols = ["minsal"]')
    (folder / "celosia.toml").write_text(config, "utf-8")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "egresos"))


def page(paths: tuple[Path, ...], name: str) -> str:
    return next(path for path in paths if path.name == f"{name}.html").read_text("utf-8")


@pytest.mark.requirement("M33")
def test_the_form_is_made_from_the_project_as_it_is(folder: Path) -> None:
    paths = write_documents(folder, now=NOW)
    form = page(paths, "minsal_form")
    assert {path.name for path in paths} == {
        "approval_sheet.html", "approval_sheet.pdf", "minsal_form.html", "minsal_form.pdf",
        "internal_report.html", "internal_report.pdf",
    }  # fmt: skip
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    assert all(form.count(f'<td class="left">{name}') == 1 for name in PUBLISHED)
    assert "Egresos &lt;2024&gt;" in form
    assert "Agrupación en intervalos en «EDAD_AÑOS»" in form
    assert f"{plan['suppressed_rows']} de 1500" in form
    assert "Conocer los egresos" in form


def test_internal_documents_stay_private(folder: Path) -> None:
    for path in write_documents(folder, now=NOW):
        assert path.parent == folder / "private" / "dossier"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_public_documents_are_only_the_public_report(folder: Path) -> None:
    paths = write_documents(folder, "public", ("html", "pdf", "docx"), folder / "out", now=NOW)
    assert [path.name for path in paths] == ["public_report.html", "public_report.pdf", "public_report.docx"]
    assert {path.parent for path in paths} == {folder / "out"}


def test_without_the_part_that_writes_pdf_the_documents_are_pages_and_one_sentence_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    assert main(["document", str(folder), "--audience", "public", "--into", str(folder / "out")]) == 0
    assert [path.name for path in (folder / "out").iterdir()] == ["public_report.html"]
    assert "celosia[pdf]" in capsys.readouterr().err


def test_a_pdf_that_is_asked_for_names_the_part_that_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    into = folder / "out"
    for asked in (
        ["document", str(folder), "--format", "pdf", "--into", str(into)],
        ["release", str(folder)],
        ["intruder", str(folder), "--worksheet", str(into / "planilla.pdf")],
        ["evaluate", str(folder), "--pictures", str(into / "figuras")],
    ):
        assert main(asked) == 2, asked
        assert "celosia[pdf]" in capsys.readouterr().err, asked
    assert not into.exists() or not any(into.iterdir())
    assert not (folder / "releases").exists()


@pytest.mark.requirement("P23")
def test_who_asked_and_who_worked_are_not_in_the_public_report(folder: Path) -> None:
    paths = write_documents(folder, "public", now=NOW)
    told = page(paths, "public_report") + text_of(paths[1].read_bytes())
    assert "Persona solicitante" not in told
    assert "Ana Pérez" not in told
    assert "sha256:" not in told
    assert "deis@minsal.cl" in told


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_no_cell_of_the_source_is_in_a_document(folder: Path, raw: Path, audience: str) -> None:
    with raw.open(encoding="windows-1252", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    cells = {row[name] for row in rows for name in ("RUN", "NOMBRE", "APELLIDOS", "CORREO", "TELEFONO", "DIRECCION")}
    long = [cell for cell in cells if len(cell) > 5]
    assert len(long) > 1_000
    for path in write_documents(folder, audience, ("html", "pdf"), now=NOW):
        told = path.read_text("utf-8") if path.suffix == ".html" else text_of(path.read_bytes())
        assert not [cell for cell in long if cell in told]


def test_the_same_project_and_date_give_the_same_bytes(folder: Path) -> None:
    first = [path.read_bytes() for path in write_documents(folder, "internal", ("html", "pdf", "docx"), now=NOW)]
    again = [path.read_bytes() for path in write_documents(folder, "internal", ("html", "pdf", "docx"), now=NOW)]
    assert first == again


def test_a_candidate_of_another_plan_lends_no_figures(folder: Path) -> None:
    make_plan(folder, now=NOW + timedelta(hours=1), k=3)
    assert "Todavía no hay un plan aplicado" in page(write_documents(folder, now=NOW), "minsal_form")
    with pytest.raises(NoCandidate):
        write_documents(folder, "public", now=NOW)


def test_before_the_plan_the_form_is_a_form_to_be_filled(folder: Path) -> None:
    (folder / "plan.json").unlink()
    (folder / "request.toml").unlink()
    form = page(write_documents(folder, now=NOW), "minsal_form")
    assert form.count("☒") == 0


def test_a_broken_journal_stops_the_documents(folder: Path) -> None:
    journal = folder / "journal.jsonl"
    journal.write_text(journal.read_text("utf-8").replace('"run"', '"ran"'), "utf-8")
    journal.write_text(journal.read_text("utf-8").replace("full-domain", "cells"), "utf-8")
    with pytest.raises(JournalBroken):
        write_documents(folder, now=NOW)


def test_documents_come_in_the_language_of_the_project_or_the_one_asked(folder: Path) -> None:
    assert "Anexo I: Formulario" in page(write_documents(folder, now=NOW), "minsal_form")
    assert "Annex I: Anonymisation form" in page(write_documents(folder, language="en", now=NOW), "minsal_form")


@pytest.mark.parametrize(("audience", "formats"), [("everybody", ("html",)), ("public", ("odt",))])
def test_an_unknown_audience_or_format_is_refused(folder: Path, audience: str, formats: tuple[str, ...]) -> None:
    with pytest.raises(ValueOutOfRange):
        write_documents(folder, audience, formats, now=NOW)


@pytest.mark.requirement("M29")
def test_the_intruders_results_are_printed_for_the_file_they_are_about(folder: Path) -> None:
    digest = json.loads((folder / "private" / "candidate" / "verdict.json").read_text("utf-8"))["digest"]
    head = "target,source_used,claim,confidence,correct,minutes,note"
    lines = ["celosia/claims/1", f"candidate,{digest}", head, "1,diario,nadie,baja,no,30,", "2,web,nadie,baja,no,20,"]
    (folder / "claims.csv").write_text("\n".join(lines) + "\n", "utf-8")
    assert "Intentos anotados sobre el archivo: 2" in page(write_documents(folder, now=NOW), "minsal_form")
    (folder / "claims.csv").write_text("\n".join([*lines]).replace(digest, "sha256:0") + "\n", "utf-8")
    assert "debe repetirse" in page(write_documents(folder, now=NOW), "minsal_form")


def test_the_command_says_where_each_document_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["document", str(folder), "--format", "html", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    names = ["approval_sheet.html", "minsal_form.html", "internal_report.html"]
    assert [Path(name).name for name in report["files"]] == names
    assert main(["document", str(folder), "--audience", "public", "--format", "pdf", "--lang", "en"]) == 0
    assert "public_report.pdf" in capsys.readouterr().out
    pdf = folder / "private" / "dossier" / "public" / "public_report.pdf"
    assert "Public anonymisation report" in text_of(pdf.read_bytes())
    assert main(["document", str(folder), "--format", "odt"]) == 2
