"""The intruder in words: every key that an attack can give has its sentence, and the verdict comes first."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import celosia.attacks
import celosia.pipeline.intruder
from celosia import messages
from celosia.attacks.disguise import SPACES
from celosia.dossier.intruder import intruder_document, worksheet_document, worksheet_form
from celosia.dossier.intruder_words import (
    finding_sentence,
    human_sentence,
    intruder_sentences,
    note_sentences,
    reason_sentence,
)
from celosia.dossier.minsal import AnexoI, Attempts, anexo_i, attempts_sentence
from celosia.dossier.page import to_html
from celosia.dossier.pdf import to_pdf
from celosia.model.reports.attacks import AttackReport, Control, Estimate, Finding, HumanPart
from celosia.model.reports.worksheet import ExposedRecord, Worksheet
from tests.dossier.pdf_text import text_of

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
NOT_KEYS = {
    "control_attempts", "control_rate", "control_successes", "excess_high", "excess_interval", "excess_low",
    "intruder_before", "rate_interval", "same_values",
}  # fmt: skip
_KEY = re.compile(r"[a-z]+(_[a-z0-9]+)+")


def estimate(attack: str = "isolating_combination", **changes: object) -> Estimate:
    """An attack that works."""
    made = Estimate(
        attack=attack, risk="singling_out", attempts=200, successes=150, rate=0.75, low=0.69, high=0.81,
        control=Control.MARGINS, control_attempts=200, control_successes=10, control_rate=0.05, excess=0.7,
        excess_low=0.63, excess_high=0.76, persons=700, variables=("EDAD", "COMUNA"), remedy="COMUNA",
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def report(*estimates: Estimate, findings: tuple[Finding, ...] = (), **rest: object) -> AttackReport:
    made = AttackReport(target="sha256:" + "ab" * 32, seed=1, rows=1_000, persons=None, estimates=estimates,
                        findings=findings)  # fmt: skip
    return replace(made, **rest)  # type: ignore[arg-type]


def letters(text: str) -> str:
    """The text without what a line break changes: blanks and hyphens."""
    return re.sub(r"[\W_]+", "", text)


def words_in_code() -> set[str]:
    """Every constant of the attacks that looks like a key."""
    folders = [Path(package.__file__ or "").parent for package in (celosia.attacks, celosia.pipeline.intruder)]
    found = set()
    for path in (path for folder in folders for path in folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _KEY.fullmatch(node.value):
                found.add(node.value)
    return found


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_key_that_an_attack_gives_has_its_sentence(language: str) -> None:
    told = {key.partition(".")[2] for key in messages.section(language, "intruder") if "." in key}
    words = words_in_code()
    assert len(words) > 60
    assert words - told - NOT_KEYS == set()
    assert {f"space.{space.name}" for space in SPACES} <= set(messages.section(language, "intruder"))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_attacks_findings_and_kinds_go_together_in_the_catalogue(language: str) -> None:
    by_section: dict[str, set[str]] = {}
    for key in messages.section(language, "intruder"):
        name, _, rest = key.partition(".")
        by_section.setdefault(name, set()).add(rest)
    assert by_section["attack"] == by_section["about"]
    assert by_section["finding"] == by_section["kind"]


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_finding_and_reason_can_be_told_from_what_it_carries(language: str) -> None:
    detail = {"within": 1, "few": 3, "single": 2, "formats": 2, "encoding": "base64", "algorithm": "sha256",
              "space": "run", "hits": 3, "guesses": 10, "size": 27_000_000, "groups": 2}  # fmt: skip
    with messages.speaking(language):
        for key in messages.section(language, "intruder"):
            if key.startswith("finding."):
                found = Finding(kind=key[8:], columns=("A", "B"), cells=5, persons=4, severity="high", detail=detail)
                assert "A" in finding_sentence(found)
            if key.startswith("reason."):
                assert reason_sentence(estimate(reason=key[7:], detail={"variable": "A"}))


def test_the_verdict_names_the_strongest_attack_whom_it_reaches_and_what_stops_it() -> None:
    weaker = estimate("two_views", risk="linkability", persons=300)
    said = intruder_sentences(report(weaker, estimate()))
    assert "«Combinación que aísla a una persona»: alcanza a 700 de 1000 registros" in said[0]
    assert "«COMUNA»" in said[2]


def test_before_and_after_are_told_side_by_side() -> None:
    before, after = estimate(), estimate(excess_low=-0.01, persons=3)
    safe = report(after, before=(before,))
    said = " ".join(intruder_sentences(safe))
    assert "Ninguno de los ataques" in said
    assert "alcanzaba a 700 registros" in said
    page = to_html(intruder_document(safe, "es"))
    assert "Antes y después" in page
    worse = intruder_sentences(report(before, before=(replace(before, persons=900),)))
    assert "el mismo ataque alcanzaba a 900 registros" in " ".join(worse)


def test_a_finding_alone_is_the_verdict() -> None:
    found = Finding(kind="hashed_identifier", columns=("CLAVE",), cells=9, persons=9, severity="high", remedy="CLAVE",
                    detail={"space": "run", "algorithm": "md5"})  # fmt: skip
    said = intruder_sentences(report(findings=(found,)))
    assert "Identificador disfrazado" in said[0]
    assert "el resumen md5 de un dato corto (RUN)" in said[1]
    low = replace(found, severity="low")
    assert "Ninguno" in intruder_sentences(report(findings=(low,)))[0]


def test_what_could_not_be_tried_is_on_the_page() -> None:
    untried = estimate("external_exact", risk="linkage", rate=None, low=None, high=None, attempts=0, successes=0,
                       excess=None, excess_low=None, excess_high=None, reason="no_external")  # fmt: skip
    page = to_html(intruder_document(report(untried), "es"))
    assert "no se dio una lista externa" in page


def test_the_human_part_is_told_with_its_interval() -> None:
    human = HumanPart(candidate="sha256:00", attempts=20, claims=4, correct=1, minutes=90, current=True, rate=0.05,
                      low=0.009, high=0.236)  # fmt: skip
    assert "5,0 %; intervalo de 95 %: 0,9 % a 23,6 %" in human_sentence(human)
    assert "otro candidato" in human_sentence(replace(human, current=False))
    assert "no tiene intentos" in human_sentence(replace(human, attempts=0, rate=None))
    assert "Todavía nadie" in human_sentence(None)


@pytest.mark.requirement("M29")
def test_anexo_i_prints_the_rate_of_right_claims_with_its_interval() -> None:
    attempts = Attempts(20, 1, True, (0.009, 0.236))
    assert "5,0 % (intervalo de 95 %: 0,9 % a 23,6 %)" in attempts_sentence(attempts)
    assert "23,6 %" in to_html(anexo_i(AnexoI(attempts=attempts), "es"))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_page_and_the_pdf_say_the_same_verdict(language: str) -> None:
    document = intruder_document(report(estimate(), notes=("control_margins",)), language)
    with messages.speaking(language):
        verdict = intruder_sentences(report(estimate()))[0]
        notes = note_sentences(report(estimate(), notes=("control_margins",)))
    assert verdict in to_html(document)
    assert letters(verdict)[:60] in letters(text_of(to_pdf(document, NOW)))  # a hyphenated line is read in pieces
    assert len(notes) == 2


@pytest.mark.requirement("M29")
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_worksheet_asks_source_claim_confidence_right_and_minutes_of_each_record(language: str) -> None:
    sheet = Worksheet("sha256:00", (ExposedRecord(17, (("SEXO", "<b>Mujer"), ("COMUNA", "053**")), 2),))
    form, paper = worksheet_form(sheet, language), text_of(to_pdf(worksheet_document(sheet, language), NOW))
    with messages.speaking(language):
        for key in ("source_used", "claim", "confidence", "correct", "minutes", "note", "do_not"):
            sentence = messages.text(f"intruder.worksheet.{key}")
            assert sentence in form
            assert letters(sentence) in letters(paper)
    assert "&lt;b&gt;Mujer" in form
    assert "<b>Mujer" not in form
    assert form.count("<input") == 8
    assert "<script" not in form
    assert "053**" in paper
