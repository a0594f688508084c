"""Evidence: one sentence, in both languages, without a single cell."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia import messages
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.fallback import FALLBACKS
from celosia.proposals.judge import judge_table
from celosia.proposals.person import person_key
from celosia.proposals.propose import suggest
from celosia.proposals.topics import TOPICS
from tests.proposals import made_columns as made

PLANTED = "Zacarías Piripincho"


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_topic_has_its_words(language: str) -> None:
    with messages.speaking(language):
        for topic in TOPICS:
            assert messages.has(f"suggest.what.{topic.name}")
            assert messages.has(f"suggest.are.{topic.name}") or topic.test is None
        for topic in FALLBACKS:
            assert messages.has(f"suggest.silent.{topic.name}")


def test_the_evidence_follows_the_language() -> None:
    with messages.speaking("en"):
        proposal = made.of_one("x1", made.emails())
    assert proposal.evidence == "100 % of the 200 distinct values are e-mail addresses."


@pytest.mark.requirement("M02")
def test_name_and_values_are_told_in_one_sentence() -> None:
    proposal = made.of_one("correo", made.emails())
    assert proposal.evidence == (
        "El nombre «correo» indica el correo electrónico"
        " y el 100 % de los 200 valores distintos son correos electrónicos."
    )


@pytest.mark.parametrize(
    "header", ["x1", "nombre", "observaciones", "comuna", "cargo", "diagnostico", "pais", "id", "fecha"]
)
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_a_planted_name_never_appears(header: str, language: str) -> None:
    columns = [made.full_names(), made.notes(), made.some("1", "2"), made.addresses(), []]
    with messages.speaking(language):
        for cells in columns:
            evidence = made.of_one(header, [*cells, PLANTED, f"{PLANTED} 99"]).evidence
            assert "Piripincho" not in evidence
            assert evidence.endswith(".")
            assert not evidence.endswith("..")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(string.ascii_letters, min_size=9, max_size=14), min_size=1, max_size=30))
def test_no_cell_is_ever_quoted(cells: list[str]) -> None:
    known = " ".join(messages.section("es", "suggest").values())
    (proposal,) = suggest([ColumnFacts.of("x1", cells)])
    assert not any(cell in proposal.evidence for cell in cells if cell not in known)


def test_a_table_judged_once_gets_the_same_dictionary_and_the_same_key() -> None:
    facts = [
        ColumnFacts.of("correo", made.emails()),
        ColumnFacts.of("rut", made.runs()),
        ColumnFacts.of("sexo", ["F", "M"]),
    ]
    opinion = judge_table(facts)
    assert suggest(facts, judgement=opinion) == suggest(facts)
    assert person_key(facts, opinion) == person_key(facts) == "rut"
