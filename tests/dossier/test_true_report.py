"""The public report at every k, l and risk: no sentence claims what the figures deny."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import messages
from celosia.dossier.page import to_html
from celosia.dossier.reports import PublicFacts, public_report
from celosia.dossier.technique import Done, done_by
from celosia.model.verdict import State, Suppression, Verdict
from tests.dossier.samples import CHECK, PLAN

DONE = done_by(PLAN, CHECK, 2)
CANNOT_TELL = {"es": "no distingue dentro del grupo", "en": "cannot tell them apart"}
ALWAYS = {"es": "siempre (100 %)", "en": "always (100 %)"}
SEVERAL = {"es": "valores distintos o más", "en": "distinct values or more"}
MASKED = {"es": "Todos los registros tienen enmascarados", "en": "Every record has"}
FEWER_PERSONS = {"es": "Se contaron registros y no personas", "en": "Records were counted, not persons"}
MORE_RECORDS = {"es": "Se contaron personas y no registros", "en": "Persons were counted, not records"}
SET_APART = {"es": "está entre los", "en": "is among the"}
CALLS_IT_LOW = {"es": ("es bajo", "bajo los supuestos", "riesgo bajo"), "en": ("is low", "low risk")}

sizes = st.one_of(st.none(), st.integers(1, 6), st.integers(7, 10**6))
works = st.builds(
    lambda k, persons, masked, handling, quasi, distinct: replace(
        DONE, k=k, k_persons=None if k is None or not persons else max(1, k // 2),
        suppression=Suppression(DONE.rows, masked, 0, handling == "drop"),
        quasi=DONE.quasi if quasi else (), distinct=distinct,
    ),
    sizes, st.booleans(), st.integers(0, 50), st.sampled_from(["keep", "drop"]), st.booleans(),
    st.dictionaries(st.just("DIAG1"), st.integers(1, 5), max_size=1),
)  # fmt: skip


def page_of(done: Done, language: str, **facts: object) -> str:
    return to_html(public_report(replace(PublicFacts("T", done), **facts), language))


@pytest.mark.requirement("A31")
@given(works, st.sampled_from(messages.LANGUAGES))
def test_each_sentence_stands_exactly_where_its_figures_hold(done: Done, language: str) -> None:
    page, k = page_of(done, language), done.smallest
    judged = bool(done.quasi)
    assert (CANNOT_TELL[language] in page) == (judged and k is not None and k > 1)
    assert (ALWAYS[language] in page) == (judged and k == 1)
    assert (MASKED[language] in page) == (judged and k is None)
    assert (FEWER_PERSONS[language] in page) == (judged and k is not None and k > 1 and done.unit == "rows")
    assert (MORE_RECORDS[language] in page) == (judged and k is not None and k > 1 and done.unit == "persons")
    assert (SEVERAL[language] in page) == (done.distinct.get("DIAG1", 1) > 1)
    assert (SET_APART[language] in page) == (k is not None and done.suppression.masked > 0)
    assert not any(words in page for words in CALLS_IT_LOW[language])


@pytest.mark.parametrize(("single", "shared"), [(1, True), (4, False)])
def test_with_k_of_one_the_report_says_how_many_are_alone(single: int, shared: bool) -> None:
    page = page_of(replace(DONE, k=1, k_persons=1, single=single, classes=4), "es")
    assert f"a la vista en el archivo publicado: 4; de ellas, de una sola persona: {single}." in page
    assert f"que quedan a la vista (4) son de una sola persona: {single}." in page
    assert ("De los registros que comparten la combinación" in page) == shared


def test_what_was_not_asked_or_done_is_not_said_to_have_been() -> None:
    bare = replace(DONE, method="full-domain", criteria=(), levels=dict.fromkeys(DONE.levels, 0))
    page = page_of(bare, "es")
    assert "No se exigió ningún criterio de protección" in page
    assert "se buscó la combinación de niveles" not in page
    assert "Se publican sin generalizar" in page


def test_only_an_l_that_holds_on_the_file_is_told() -> None:
    asked = {"criterion": "distinct_l", "variable": "DIAG1", "l": 3}
    for state, least in ((State.HOLDS, {"DIAG1": 3}), (State.FAILS, {}), (State.NOT_MEASURABLE, {})):
        check = replace(CHECK, verdicts=(Verdict("distinct_l", asked, None, 0, 0, state),))
        assert done_by(PLAN, check, 0).distinct == least


@pytest.mark.parametrize(
    ("language", "person"), [("es", "Una persona sin conocimiento previo"), ("en", "A person without prior knowledge")]
)
def test_a_person_did_the_test_only_where_one_is_on_record(language: str, person: str) -> None:
    assert person in page_of(DONE, language, attempts=12, outsider=True)
    assert person not in page_of(DONE, language, attempts=12)
    assert person not in page_of(DONE, language, outsider=True)


@given(st.integers(0, 500), st.integers(0, 500), st.sampled_from(["keep", "drop"]))
def test_records_the_plan_suppressed_and_others_masked_add_up(planned: int, others: int, handling: str) -> None:
    plan = replace(PLAN, suppressed_rows=planned, policy={**PLAN.policy, "suppressed": handling})
    check = replace(CHECK, suppressed_rows=planned, otherwise_masked_rows=others, drops_suppressed=handling == "drop")
    page = page_of(done_by(plan, check, 0), "es")
    total = 3000 + (planned if handling == "drop" else 0)
    told = f"Registros que suprime el plan: {planned} de {total}"
    assert (told if planned else "El plan no suprime ningún registro.") in page
    assert ("Registros que el plan no suprime" in page) == (others > 0)
    told = f"En total tienen «*» en todos sus cuasi-identificadores {planned + others} de los 3000"
    assert (told in page) == (handling == "keep" and planned > 0 and others > 0)
