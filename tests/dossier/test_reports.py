"""The public and the internal report: what the first may say, and that nothing of the second reaches it."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import fields, replace

import pytest

from celosia import messages
from celosia.dossier.document import Document, Picture
from celosia.dossier.docx import to_docx
from celosia.dossier.minsal import Attempts
from celosia.dossier.page import to_html
from celosia.dossier.pdf import to_pdf
from celosia.dossier.reports import InternalFacts, JournalLine, PublicFacts, RuleLine, internal_report, public_report
from celosia.dossier.technique import done_by
from celosia.model.people import Approval
from tests.dossier.pdf_text import text_of
from tests.dossier.samples import CHECK, NOW, OVERRIDE, PLAN, WITHHELD

SECRET = "PLANTED"
DONE = done_by(PLAN, CHECK, len(WITHHELD))
PUBLIC = PublicFacts(
    title="Egresos 2024", done=DONE, period_from="2024-01-01", period_until="2024-12-31", unit="egreso",
    department="DEIS", purpose="Conocer los egresos", contact="deis@minsal.cl", licence="CC BY 4.0",
    protocols=("MINSAL",), overrides=(OVERRIDE,), attempts=12, outsider=True,
    update_period="anual", next_review="2027-12-01",
)  # fmt: skip
INTERNAL = InternalFacts(
    title="Egresos 2024", project="egresos", done=DONE, check=CHECK, protocols=("MINSAL",), source="egresos.csv",
    digests={"source": "sha256:1", "plan": PLAN.digest, "candidate": "sha256:3"}, version="1.0", seed="kept",
    requester="Unidad de Estudios", use="Investigación", authorisation="Resolución 12", withheld=WITHHELD,
    changes=PLAN.changes,
    rules=(RuleLine("Cada combinación se repite", "minsal", "4. Verificación", "k ≥ 2", "k = 3", "cumple"),),
    overrides=(OVERRIDE,),
    approvals=(Approval("plan", "sha256:9", "head", "Carla Núñez", "a" * 64, "2026-11-14T09:30:00+00:00", "conforme"),),
    attempts=Attempts(12, 0, True),
    journal=(JournalLine("2026-11-15T12:00:00+00:00", "Ana Pérez", "run", "primera entrega"),),
    pictures=(Picture('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>', "clases"),),
)  # fmt: skip


def everything(made: Document) -> dict[str, str]:
    """All text and metadata of a document in each format."""
    with zipfile.ZipFile(io.BytesIO(to_docx(made, NOW))) as parts:
        word = " ".join(parts.read(name).decode("utf-8", "replace") for name in parts.namelist())
    pdf = to_pdf(made, NOW)
    return {"html": to_html(made), "pdf": text_of(pdf) + pdf.decode("latin-1"), "docx": word}


@pytest.mark.requirement("P23", "A31")
@pytest.mark.parametrize(
    "word",
    ["Egresos 2024", "2024-01-01 a 2024-12-31", "deis@minsal.cl", "CC BY 4.0", "Qué se hizo", "Riesgo que queda",
     "Qué se puede inferir todavía", "2027-12-01", "anual", "MINSAL", "DEIS", "la base es pequeña"],
)  # fmt: skip
def test_the_public_report_says_what_it_must(word: str) -> None:
    made = public_report(PUBLIC)
    assert word in to_html(made)
    assert word.replace(" ", "") in text_of(to_pdf(made, NOW)).replace(" ", "")


@pytest.mark.requirement("A31")
def test_the_residual_risk_is_said_with_its_figure() -> None:
    page = to_html(public_report(PUBLIC))
    assert "al menos 3 personas" in page
    assert "una vez de cada 3 (33,33 %)" in page
    assert "nunca es nulo" in page


@pytest.mark.requirement("A31")
@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("k", [None, 1, 2, 1000])
def test_no_report_says_that_there_is_no_risk(language: str, k: int | None) -> None:
    made = public_report(replace(PUBLIC, done=replace(DONE, k=k, k_persons=k)), language)
    page = to_html(made).lower()
    assert not re.search(
        r"riesgo cero|sin riesgo|0 riesgo|riesgo (de )?0\b|zero risk|no risk|risk[- ]free|0 risk", page
    )
    assert "(0,00 %)" not in page.split("riesgo que queda")[-1]


def test_the_public_facts_have_no_place_for_internal_things() -> None:
    """Whoever adds such a field must first come here and say why."""
    allowed = {
        "title", "done", "period_from", "period_until", "unit", "department", "purpose", "contact", "licence",
        "protocols", "overrides", "attempts", "outsider", "update_period", "next_review",
    }  # fmt: skip
    assert {field.name for field in fields(PublicFacts)} == allowed
    private = {
        "seed",
        "notes",
        "asked",
        "changes",
        "journal",
        "rules",
        "digest",
        "source",
        "withheld_names",
        "steps_of",
    }
    assert not private & {field.name for field in fields(type(DONE))}


@pytest.mark.requirement("A31")
@pytest.mark.parametrize("form", ["html", "pdf", "docx"])
def test_nothing_planted_in_private_parts_of_a_plan_reaches_the_public_report(form: str) -> None:
    change = {**PLAN.changes[1], "notes": {SECRET: SECRET}, "loss": {SECRET: 1.0}, "preserved": [SECRET]}
    steps = ({"technique": "recode", "columns": ["EDAD"], "map": {SECRET: SECRET}, "where": {"COMUNA": [SECRET]}},)
    policy = {**PLAN.policy, "hierarchies": {"EDAD": {"builder": "groups", "levels": [{SECRET: [SECRET]}]}}}
    plan = replace(
        PLAN, policy=policy, source=SECRET, dictionary=SECRET, asked={"x": SECRET}, steps=steps, changes=(change,),
        seed=SECRET, notes={"outcome": SECRET}, bound=None,
    )  # fmt: skip
    check = replace(CHECK, file=SECRET, digest=SECRET)
    made = public_report(replace(PUBLIC, done=done_by(plan, check, len(WITHHELD))))
    assert SECRET not in everything(made)[form]
    assert "EDAD" in everything(made)[form] or form == "pdf"


def test_the_public_report_names_steps_without_their_figures() -> None:
    page = to_html(public_report(PUBLIC))
    assert "Agrupación en intervalos: «EDAD»" in page
    assert "2950" not in page
    assert "Semilla" not in page


def test_figures_of_a_count_in_records_are_called_records() -> None:
    page = to_html(public_report(replace(PUBLIC, done=replace(DONE, k_persons=None))))
    assert "al menos 4 registros" in page


def test_empty_items_stay_empty_and_an_absent_review_is_said() -> None:
    page = to_html(public_report(PublicFacts("T", DONE)))
    assert "se fijan después de firmar este informe" in page
    assert "None" not in page


@pytest.mark.requirement("M35")
@pytest.mark.parametrize(
    "word",
    ["egresos.csv", "Cada combinación se repite", "4. Verificación", "k ≥ 2", "k = 3", "cumple", "2950", "98,33 %",
     "la base es pequeña", "Carla Núñez", "conforme", "2026-11-14 09:30", "Ana Pérez", "primera entrega",
     "plan aplicado y candidato medido", "guardada en private/", "Unidad de Estudios", "sobre el archivo: 12"],
)  # fmt: skip
def test_the_internal_report_keeps_every_decision(word: str) -> None:
    made = internal_report(INTERNAL)
    assert word in to_html(made)
    assert word.replace(" ", "") in text_of(to_pdf(made, NOW)).replace(" ", "")


def test_the_internal_report_says_on_every_page_that_it_is_internal() -> None:
    assert "no se publica" in to_html(internal_report(INTERNAL))
    assert public_report(PUBLIC).mark == ""


def test_an_internal_report_of_a_fresh_project_says_what_is_not_there() -> None:
    page = to_html(internal_report(InternalFacts("T", "p")))
    for key in ("no_rules", "no_verdict", "no_changes", "no_overrides", "no_approvals", "no_intruder"):
        assert messages.text(f"documents.internal.{key}") in page


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_both_reports_speak_both_languages(language: str) -> None:
    for made, title in ((public_report(PUBLIC, language), "public.title"),
                        (internal_report(INTERNAL, language), "internal.title")):  # fmt: skip
        assert messages.section(language, "documents")[title] in to_html(made)
        assert to_pdf(made, NOW) == to_pdf(made, NOW)
        assert made.language == language


def test_the_picture_of_the_records_adds_up() -> None:
    page = to_html(internal_report(INTERNAL))
    shown = [int(n.replace(".", "")) for n in re.findall(r"(?:a la vista|enmascarado|enmascarados): ([\d.]+) \(", page)]
    assert shown[:3] == [3000 - 219 - 12, 12, 219]
