"""The approval sheet at every k, l, suppression and proof: it says what was measured, and what was not as such."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import messages
from celosia.dossier.approval_sheet import FrontierLine, SheetFacts, approval_sheet
from celosia.dossier.document import Table
from celosia.dossier.page import to_html
from celosia.dossier.stored import document_from, document_text
from celosia.dossier.technique import done_by
from celosia.dossier.text import to_text
from celosia.model.plan import Plan
from celosia.model.verdict import CheckReport
from tests.dossier.samples import CHECK, PLAN, VARIABLES, WITHHELD

ROWS = (("1", "30 a 39", "13*", "A09", "2024"), ("2", "0 a 9", "05*", "*", "2024"))


def facts_of(
    plan: Plan = PLAN, check: CheckReport | None = CHECK, what: str = "candidate", **more: object
) -> SheetFacts:
    done = done_by(plan, check, 2) if check else None
    facts = SheetFacts(what, "Egresos", "egresos", plan, variables=VARIABLES, withheld=WITHHELD, check=check, done=done)
    return replace(facts, **more)


def text_of(facts: SheetFacts, language: str = "es") -> str:
    return " ".join(to_text(approval_sheet(facts, language), 10_000).split())


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("what", ["plan", "candidate", "residual", "release"])
def test_every_subject_has_a_sheet_in_both_languages_that_is_read_back_as_it_was(what, language) -> None:
    sheet = approval_sheet(facts_of(check=None if what == "plan" else CHECK, what=what), language)
    assert document_from(document_text(sheet), "-") == sheet
    assert "{" not in to_html(sheet).partition("<body")[2]


def test_levels_are_told_in_words() -> None:
    text = text_of(facts_of())
    assert "en intervalos de 10 (nivel 2 de 5)." in text
    assert "Con todo su detalle, sin generalizar." in text
    assert "Como está en la fuente; con «*» en 12 registros cuyo grupo no cumplía lo exigido." in text
    assert "RUN, NOMBRE" in text


@given(st.integers(1, 50), st.integers(1, 9), st.booleans())
def test_k_and_l_asked_stand_beside_k_and_l_measured(k: int, least: int, persons: bool) -> None:
    check = replace(CHECK, k=k, k_persons=k if persons else None, single_classes=2 if k == 1 else 0)
    text = text_of(facts_of(check=check, distinct={"DIAG1": least}))
    assert f"k-anonimidad con k = 3 ({'personas' if persons else 'registros'})" in text
    unit, one = ("personas", "una sola persona") if persons else ("registros", "un solo registro")
    alone = f"de {CHECK.classes} combinaciones a la vista, son de {one}: 2"
    told = f"la combinación menos repetida la comparten {k} {unit}" if k > 1 else alone
    assert f"k = {k}: {told}" in text
    assert f"l = {least}: el grupo que menos valores distintos de «DIAG1» muestra, muestra {least}" in text
    assert ("siempre (100 %)" in text) == (k == 1)


@given(st.integers(0, 500), st.integers(0, 500), st.booleans())
def test_suppressed_and_masked_records_are_the_two_counts_of_every_other_paper(
    planned: int, otherwise: int, drops: bool
) -> None:
    policy = {**PLAN.policy, "suppressed": "drop" if drops else "keep"}
    plan = replace(PLAN, suppressed_rows=planned, policy=policy)
    check = replace(CHECK, suppressed_rows=planned, otherwise_masked_rows=otherwise, drops_suppressed=drops)
    text = text_of(facts_of(plan, check))
    told = f"Registros que suprime el plan: {planned} de {3000 + (planned if drops else 0)} ("
    assert (told if planned else "El plan no suprime ningún registro.") in text
    assert ("Registros que el plan no suprime" in text) == (otherwise > 0)
    assert "(0,00 %)" not in text.replace(" 0 de 3000 (0,00 %)", "").replace(" 0 (0,00 %)", "")


def test_a_plan_that_was_not_applied_claims_no_measurement() -> None:
    text = text_of(facts_of(check=None, what="plan"))
    assert "Se mide al aplicar el plan" in text
    assert "Todavía no hay filas" in text
    assert not any(words in text for words in ("la comparten", "En el archivo publicado", "Fila 1"))


def test_rows_are_shown_as_they_are_published_one_a_column() -> None:
    sheet = approval_sheet(facts_of(sample=ROWS))
    table = next(block for block in sheet.blocks if isinstance(block, Table) and "Fila 1" in block.header)
    assert table.header == ("Variable", "Fila 1", "Fila 2")
    assert table.rows == tuple(zip(PLAN.published, *ROWS, strict=True))
    assert "ninguna combinación la comparten 5 registros" in text_of(facts_of(sample_least=5))


@pytest.mark.parametrize(
    ("optimal", "bound", "words"),
    [
        (True, 0.1411, "Está demostrado que ninguna otra combinación"),
        (False, 0.12, "ninguna combinación puede perder menos de 12,00 %, y esta pierde 14,11 %"),
        (False, None, "No está demostrado que sea lo mejor posible: con este método"),
    ],
)
def test_the_proof_is_claimed_only_where_there_is_one(optimal, bound, words) -> None:
    text = text_of(facts_of(replace(PLAN, optimal=optimal, bound=bound)))
    assert words in text
    assert text.count("Está demostrado") == optimal


def test_neighbours_on_the_frontier_are_shown_where_they_are_known() -> None:
    line = FrontierLine(3, 0.1, True, 0.1411, 219, 0.073, True, own=True)
    unsolved = FrontierLine(5, 0.1, False, None, 900, 0.3, True)
    text = text_of(facts_of(frontier=(line, unsolved)))
    assert "→ 3 10,00 % 14,11 % 219 (7,30 %) sí" in text
    assert "5 10,00 % – – no hay solución" in text
    assert "No se calcularon otras opciones" in text_of(facts_of())
    without_k = replace(PLAN, policy={**PLAN.policy, "criteria": []})
    assert "este plan no pide k" in text_of(facts_of(without_k))


def test_a_long_cell_is_wrapped_in_the_terminal() -> None:
    assert max(map(len, to_text(approval_sheet(facts_of(sample=ROWS)), 80).splitlines())) <= 80
