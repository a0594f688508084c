"""The norms as data: every rule has its section, its sentence and its measure, or the file is not read."""

from __future__ import annotations

import copy
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from celosia import messages, protocols
from celosia.model.errors import UnknownFormat
from celosia.model.people import ROLES
from celosia.model.protocols import Needs, Severity
from celosia.model.requests import Request
from celosia.protocols.errors import ProtocolDamaged, UnknownProtocol
from celosia.protocols.load import IDS, combined_rules, load, norm_of, protocol_from, smallest_class, strictest_minimum
from celosia.protocols.measures import MEASURES
from celosia.protocols.words import asked_text, k_level, sentence_of

HOME = Path(protocols.__file__).parent


@pytest.mark.parametrize("identifier", IDS)
def test_every_rule_has_a_section_a_known_measure_and_a_sentence_in_both_languages(identifier):
    for rule in load(identifier).rules:
        assert rule.section.strip()
        assert rule.measure in MEASURES
        for language in messages.LANGUAGES:
            with messages.speaking(language):
                assert sentence_of(rule).endswith((".", ")"))
                assert asked_text(rule)


@pytest.mark.parametrize("identifier", IDS)
def test_rules_gates_and_documents_are_named_once_and_every_gate_has_its_people(identifier):
    protocol = load(identifier)
    for parts in (protocol.rules, protocol.gates, protocol.documents):
        assert len({part.id for part in parts}) == len(parts) > 0
    assert all(set(gate.roles) <= set(ROLES) and gate.roles for gate in protocol.gates)


@pytest.mark.parametrize("identifier", [name for name in IDS if name != "ley21719"])  # its text is no seed: articles
def test_every_section_is_a_heading_of_the_norm_itself(shared, identifier):
    norm = {"minsal": "003_", "atenea": "000_", "mel": "002_", "yapo": "001_"}[norm_of(identifier)]
    text = _plain(next((shared / "seeds").glob(f"{norm}*.txt")).read_text("utf-8"))
    parts = load(identifier).rules + load(identifier).gates + load(identifier).documents
    for heading in {piece for part in parts for piece in re.split("; |: ", part.section)}:
        words = _plain(re.sub(r"^([\dIVX]+(\.\d+)*\.?|[a-z\d]\)|i+\.)\s", "", heading))
        assert words in text, heading


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9áéíóúñ]+", " ", text.lower()).strip()


def test_every_requirement_named_exists(shared):
    known = set(re.findall(r"^\| ([MAPY]\d\d) \|", (shared / "REQUIREMENTS.md").read_text("utf-8"), flags=re.M))
    named = {each for identifier in IDS for rule in load(identifier).rules for each in rule.requirement}
    assert named <= known
    assert len(named) > 50


@pytest.mark.requirement("A01", "A02", "M07", "M33")
def test_the_items_of_the_request_exist_and_have_their_words():
    for identifier in IDS:
        for rule in load(identifier).rules:
            for item in rule.asked.get("items", ()) if rule.measure == "request_items" else ():
                assert Request().item(item) in (None, "", ())
                assert messages.has(f"protocols.item.{item}")
    assert len(load("atenea").rule("request").asked["items"]) == 6
    assert len(load("atenea").rule("legal").asked["items"]) == 2
    assert len(load("minsal").rule("answers").asked["items"]) == 4


@pytest.mark.requirement("M12", "M13", "A14", "P20")
def test_the_thresholds_are_those_of_the_norms():
    assert load("minsal").rule("k").asked["k"] == 2
    assert load("minsal").rule("l").asked["l"] == 2
    assert load("minsal-sensible").rule("k").asked["k"] == 3
    assert load("minsal").rule("k_ideal").asked["k"] == 4
    assert load("minsal").rule("k_ideal").severity is Severity.SHOULD
    assert Fraction(load("atenea").rule("risk").asked["threshold"]) == Fraction(3, 10)
    assert load("mel").rule("geography").asked["units"] == 50
    assert load("mel").rule("anonymous").severity is Severity.SHOULD
    assert [load("yapo").rule(f"k_{who}").asked["k"] for who in ("internal", "government", "sponsors")] == [5, 10, 10]


@pytest.mark.requirement("M33", "M38")
def test_minsal_asks_for_three_signatures_and_the_gates_come_in_the_order_of_the_norm():
    assert load("minsal").rule("signatures").asked["roles"] == ("head", "executor", "verifier")
    for name in ("atenea", "mel"):
        assert load(name).rule("signatures").asked["roles"] == ("lead", "executor", "verifier")
        order = [gate.id for gate in load(name).gates]
        assert order.index("release") < order.index("signatures") < order.index("publication")
    gates = [gate.id for gate in load("minsal").gates]
    assert gates.index("plan") < gates.index("run") < gates.index("intruder") < gates.index("signatures")
    mel = [gate.id for gate in load("mel").gates]
    assert mel.index("dictionary") < mel.index("run") < mel.index("delivery")


@pytest.mark.requirement("M13")
def test_a_profile_tightens_its_base_and_keeps_the_rest():
    base, profile = load("minsal"), load("minsal-sensible")
    assert [rule.id for rule in profile.rules] == [rule.id for rule in base.rules]
    changed = [own.id for own, base_rule in zip(profile.rules, base.rules, strict=True) if own != base_rule]
    assert changed == ["k", "intruder"]
    assert profile.gates == base.gates
    assert profile.documents == base.documents


@pytest.mark.requirement("M14")
@pytest.mark.parametrize(
    ("k", "colour", "word"), [(1, "red", "rojo"), (2, "amber", "ámbar"), (3, "amber", "ámbar"), (4, "green", "verde")]
)
def test_levels_use_the_words_of_the_norm(k, colour, word):
    assert k_level(k) == colour
    text = messages.text(f"protocols.level.{colour}", k=k)
    assert text.startswith(word)
    assert "mayor que 3" in text or k == 1


@pytest.mark.requirement("M20", "A17")
def test_several_protocols_together_ask_the_most_of_each():
    assert strictest_minimum(combined_rules(["minsal", "atenea", "mel"]), "k") == (4, "atenea")
    assert strictest_minimum(combined_rules(["minsal-sensible", "mel"]), "k") == (3, "minsal-sensible")
    assert strictest_minimum(combined_rules(["minsal"]), "l") == (2, "minsal")
    assert strictest_minimum(combined_rules(["mel"]), "k") == (0, "mel")
    names = [(rule.protocol, rule.id) for rule in combined_rules(["minsal", "minsal-sensible", "minsal"])]
    assert len(names) == len(set(names)) == len(load("minsal").rules) + 2  # its k and its intruder test


@pytest.mark.parametrize(("threshold", "smallest"), [("0.3", 4), ("1/3", 4), ("0.2", 6), ("0.5", 3), ("1", 2)])
def test_the_smallest_class_below_a_risk_is_counted_in_whole_numbers(threshold, smallest):
    assert smallest_class(Fraction(threshold)) == smallest


def test_what_needs_the_source_is_marked_so_that_it_is_attested():
    assert {rule.id for rule in load("mel").rules if rule.needs is Needs.SOURCE} >= {"geography", "contrast"}
    assert load("minsal").rule("k").needs is Needs.FILE


def test_every_sentence_about_a_missing_part_belongs_to_a_measure():
    lacking = {key for key in messages.section("es", "protocols") if key.startswith("lacking.")}
    assert {key.removeprefix("lacking.") for key in lacking} <= set(MEASURES)
    measured = {key.partition(".")[2] for key in messages.section("es", "protocols") if key.startswith("measured.")}
    assert measured == set(MEASURES)


def test_an_unknown_protocol_is_refused_with_the_known_ones():
    with pytest.raises(UnknownProtocol, match="minsal-sensible"):
        load("gdpr")


@pytest.fixture
def document():
    return copy.deepcopy(tomllib.loads((HOME / "atenea.toml").read_text("utf-8")))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda d: d["rules"][0].update(measure="astrology"), "request"),
        (lambda d: d["rules"][0].update(section=" "), "request"),
        (lambda d: d["rules"][0].update(id="nobody_explained"), "nobody_explained"),
        (lambda d: d["rules"][0].update(asked={}), "request"),
        (lambda d: d["rules"][8].update(asked={"threshold": "2"}), "risk"),
        (lambda d: d["gates"][0].update(section=""), "request"),
        (lambda d: d["gates"][0].update(id="dance"), "dance"),
        (lambda d: d["documents"][0].update(id="poem"), "poem"),
    ],
)
def test_a_file_with_a_rule_nobody_could_judge_or_explain_is_not_read(document, change, part):
    assert protocol_from(document, "x.toml").id == "atenea"
    change(document)
    with pytest.raises(ProtocolDamaged) as refused:
        protocol_from(document, "x.toml")
    assert refused.value.values["part"] == part
    assert refused.value.values["reason"] in str(refused.value)


def test_a_file_of_another_format_is_refused_by_name(document):
    with pytest.raises(UnknownFormat):
        protocol_from({**document, "format": "celosia/protocol/9"}, "x.toml")


def test_a_sentence_missing_in_one_language_is_found(document, monkeypatch):
    real = messages.section

    def without(code: str, name: str) -> dict[str, str]:
        sentences = dict(real(code, name))
        if (code, name) == ("en", "protocols"):
            sentences.pop("rule.atenea.risk")
        return sentences

    monkeypatch.setattr(messages, "section", without)
    with pytest.raises(ProtocolDamaged, match="en"):
        protocol_from(document, "x.toml")
