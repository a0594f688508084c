"""What a project may change in a norm: thresholds, with a written reason, shown everywhere."""

from __future__ import annotations

import pytest

from celosia.protocols.errors import OverrideElsewhere, OverrideNotPossible, OverrideUnexplained, OverrideUnknown
from celosia.protocols.load import combined_rules, strictest_minimum
from celosia.protocols.words import asked_text

WHY = "el comité lo aprobó el 3 de mayo"


def only(rules, identifier):
    (rule,) = [rule for rule in rules if rule.id == identifier]
    return rule


def test_a_threshold_changes_with_a_reason_and_the_rule_says_so():
    rules = combined_rules(["atenea"], {"atenea": {"risk": {"asked": {"threshold": "0.5"}, "reason": WHY}}})
    assert only(rules, "risk").overridden == WHY
    assert asked_text(only(rules, "risk")) == "RI < 0,5 en cada escenario"
    assert strictest_minimum(rules, "k") == (3, "atenea")
    assert [rule.id for rule in rules if rule.overridden] == ["risk"]


def test_a_norm_is_not_changed_for_the_next_project():
    combined_rules(["minsal"], {"minsal": {"k": {"asked": {"k": 1}, "reason": WHY}}})
    assert only(combined_rules(["minsal"]), "k").asked["k"] == 2


@pytest.mark.parametrize("reason", ["", "   ", None])
def test_without_a_reason_it_is_refused(reason):
    change = {"asked": {"k": 9}} | ({} if reason is None else {"reason": reason})
    with pytest.raises(OverrideUnexplained, match=r"overrides\.minsal\.k"):
        combined_rules(["minsal"], {"minsal": {"k": change}})


def test_an_unknown_rule_or_protocol_is_refused_with_the_known_ones():
    with pytest.raises(OverrideUnknown, match="free_text"):
        combined_rules(["minsal"], {"minsal": {"kk": {"asked": {"k": 3}, "reason": WHY}}})
    with pytest.raises(OverrideElsewhere, match="minsal"):
        combined_rules(["minsal"], {"mel": {"geography": {"asked": {"units": 30}, "reason": WHY}}})


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ("k", {"k": 0}),
        ("k", {"k": "2"}),
        ("k", {"k": True}),
        ("k", {"kk": 2}),
        ("k", {}),
        ("signatures", {"roles": []}),
        ("answers", {"items": []}),
        ("intruder", {"rows": 0}),
        ("second_person", {"names": []}),
        ("free_text", {"allowed": "OBS"}),
    ],
)
def test_what_a_norm_demands_of_people_and_impossible_values_cannot_be_changed(rule, asked):
    with pytest.raises(OverrideNotPossible):
        combined_rules(["minsal"], {"minsal": {rule: {"asked": asked, "reason": WHY}}})


@pytest.mark.requirement("M05", "P09")
def test_an_exception_is_a_column_named_with_its_reason():
    rules = combined_rules(["minsal"], {"minsal": {"free_text": {"asked": {"allowed": ["OBS"]}, "reason": WHY}}})
    assert asked_text(only(rules, "free_text")) == "ninguno (salvo OBS, con motivo escrito)"


def test_a_profile_can_be_overridden_under_its_own_name_and_its_base_under_either():
    for name in ("minsal-sensible", "minsal"):
        rules = combined_rules(["minsal-sensible"], {name: {"l": {"asked": {"l": 3}, "reason": WHY}}})
        assert strictest_minimum(rules, "l") == (3, "minsal")
    tightened = combined_rules(["minsal-sensible"], {"minsal-sensible": {"k": {"asked": {"k": 5}, "reason": WHY}}})
    assert strictest_minimum(tightened, "k") == (5, "minsal-sensible")
    with pytest.raises(OverrideUnknown):
        combined_rules(["minsal-sensible"], {"minsal": {"k": {"asked": {"k": 1}, "reason": WHY}}})
