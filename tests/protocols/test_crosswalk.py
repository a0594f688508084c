"""The crosswalk: every pointer exists, nothing claims more than was read, and a release fills it in."""

from __future__ import annotations

import copy
import re
import tomllib
from pathlib import Path

import pytest

from celosia import messages, protocols
from celosia.cli.commands import _BUILDERS
from celosia.cli.project.crosswalk import TEXTS
from celosia.model.errors import UnknownFormat
from celosia.model.protocols import Needs, Severity
from celosia.model.releases import Manifest
from celosia.model.reports.crosswalk import (
    Coverage,
    CrosswalkLine,
    Evidence,
    Pointer,
    PointerKind,
    Reading,
    ReleaseCrosswalk,
)
from celosia.model.requests import Request
from celosia.model.rules import RuleResult
from celosia.model.verdict import State
from celosia.pipeline.release.documents import BUILDERS
from celosia.protocols.crosswalk import crosswalk_from, load_crosswalk, pointed_name, pointer_text, rules_measured_by
from celosia.protocols.errors import ProtocolDamaged
from celosia.protocols.load import load

HOME = Path(protocols.__file__).parent
LINES = [(text.id, line) for text in load_crosswalk() for line in text.lines]
POINTERS = sorted({pointer for _, line in LINES for pointer in line.pointers}, key=lambda each: (each.kind, each.id))
EXISTS = {
    PointerKind.MEASURE: lambda name: bool(rules_measured_by(name)),
    PointerKind.MANIFEST: lambda name: name in Manifest.__slots__,
    PointerKind.FINDING: lambda name: messages.has(f"release.finding.{name}"),
    PointerKind.ATTACK: lambda name: messages.has(f"attacks.attack_{name}"),
    PointerKind.DOCUMENT: lambda name: name in BUILDERS,
    PointerKind.ITEM: lambda name: Request().item(name) in (None, "", (), [], {}),
    PointerKind.COMMAND: lambda name: name in _BUILDERS,
}


@pytest.mark.parametrize("pointer", POINTERS, ids=lambda each: f"{each.kind}:{each.id}")
def test_what_a_line_points_to_exists_and_has_its_words(pointer: Pointer) -> None:
    assert EXISTS[pointer.kind](pointer.id)
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            assert pointed_name(pointer).strip()
            assert pointed_name(pointer) in pointer_text(pointer)


def test_every_kind_of_pointer_is_checked_and_a_false_one_would_be_seen() -> None:
    assert set(EXISTS) == set(PointerKind)
    for kind in (PointerKind.MEASURE, PointerKind.MANIFEST, PointerKind.FINDING, PointerKind.ATTACK):
        assert not EXISTS[kind]("nothing_of_the_kind")
    assert not EXISTS[PointerKind.DOCUMENT]("poem")
    assert not EXISTS[PointerKind.COMMAND]("dance")


def test_every_text_and_line_is_named_once_and_says_what_was_not_read() -> None:
    assert tuple(text.id for text in load_crosswalk()) == TEXTS
    for text in load_crosswalk():
        assert len({line.id for line in text.lines}) == len(text.lines)
        assert [line.id for line in text.lines if line.reading is Reading.UNREAD] == ["rest"]


@pytest.mark.parametrize(("text", "line"), LINES, ids=lambda each: each if isinstance(each, str) else each.id)
def test_an_answer_in_full_was_read_and_an_answer_shows_something(text: str, line: CrosswalkLine) -> None:
    if line.coverage is Coverage.FULL:
        assert line.reading in (Reading.ARTICLE, Reading.EXTRACT)
    assert bool(line.pointers) == (line.coverage is not Coverage.NONE)
    if line.reading is Reading.UNREAD:
        assert line.coverage is Coverage.NONE
        assert "No leíd" in messages.text(f"crosswalk.{text}.{line.id}.how")


@pytest.fixture
def document() -> dict:
    return copy.deepcopy(tomllib.loads((HOME / "crosswalk.toml").read_text("utf-8")))


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.update(reading="summary", coverage="full"),
        lambda line: line.update(coverage="unmet"),
        lambda line: line.update(pointers=[]),
        lambda line: line.update(coverage="none"),
        lambda line: line.update(pointers=["measure:astrology"]),
        lambda line: line.update(id="nobody_explained"),
    ],
)
def test_a_line_that_claims_too_much_or_shows_nothing_is_not_read(document, change) -> None:
    crosswalk_from(document, "x.toml")
    change(document["texts"][0]["lines"][0])
    with pytest.raises(ProtocolDamaged, match=r"ley21719\."):
        crosswalk_from(document, "x.toml")


def test_another_format_is_refused_by_name(document) -> None:
    with pytest.raises(UnknownFormat):
        crosswalk_from({**document, "format": "celosia/crosswalk/9"}, "x.toml")


# --- one release ------------------------------------------------------------------------------------

K, L, FILES = (
    Pointer(PointerKind.MEASURE, "k"),
    Pointer(PointerKind.MEASURE, "l"),
    Pointer(PointerKind.FINDING, "files"),
)
LINE = CrosswalkLine("x", "1", Reading.ARTICLE, Coverage.FULL, (K, L, FILES))


def result(state: State, severity: Severity = Severity.MUST, rule: str = "k") -> RuleResult:
    return RuleResult("minsal", rule, "4", Needs.FILE, severity, state)


def coverage(*evidence: Evidence, line: CrosswalkLine = LINE) -> Coverage:
    return ReleaseCrosswalk("r", "sha256:0", True, evidence).coverage(line)


def test_a_release_answers_no_more_than_its_figures() -> None:
    assert coverage() is Coverage.NONE
    assert coverage(Evidence(K, (result(State.HOLDS),))) is Coverage.FULL
    assert coverage(Evidence(K, (result(State.FAILS),))) is Coverage.UNMET
    assert coverage(Evidence(K, (result(State.NOT_MEASURABLE),))) is Coverage.UNMET
    assert coverage(Evidence(K, (result(State.FAILS, Severity.SHOULD),))) is Coverage.UNMET  # advice alone, unmet
    ideal = Evidence(K, (result(State.ATTESTED), result(State.FAILS, Severity.SHOULD, "k_ideal")))
    assert coverage(ideal) is Coverage.FULL
    assert coverage(ideal, Evidence(FILES, state=State.FAILS)) is Coverage.UNMET
    assert coverage(Evidence(FILES, state=State.HOLDS)) is Coverage.PART  # no rule of its protocols measures it


# --- the law ----------------------------------------------------------------------------------------


def test_the_law_asks_no_number_as_a_duty() -> None:
    """Law 21.719 names no threshold: k and l are advice, and every rule names its article."""
    for rule in load("ley21719").rules:
        assert all(re.fullmatch(r"art\. \d+( [a-z]| \w+ies)?", part) for part in rule.section.split("; "))
        assert rule.severity is (Severity.SHOULD if rule.id in ("k", "l", "second_person") else Severity.MUST)


def test_the_law_leaves_no_pseudonym_and_is_signed_by_who_did_and_who_checked() -> None:
    from celosia.pipeline.project.pseudonym_keys import NORMS_WITHOUT_PSEUDONYMS

    assert load("ley21719").rule("no_way_back").measure == "pseudonyms"
    assert "ley21719" in NORMS_WITHOUT_PSEUDONYMS
    assert load("ley21719").rule("accreditation").asked["roles"] == ("executor", "verifier")


def test_what_no_measure_answers_has_no_rule() -> None:
    measured = {rule.measure for rule in load("ley21719").rules}
    unanswered = {line.place for text, line in LINES if text == "ley21719" and line.coverage is Coverage.NONE}
    assert {"art. 15 ter", "art. 14 sexies", "art. 16 sexies"} <= unanswered
    assert not measured & {"geography", "request_items", "publication_items"}
