"""Rules, levels and figures in words, from the catalogue: what a table, a document or a refusal shows.

Knows sentences. Ignores data. Source of the levels: MINSAL, Definiciones (k > 1 compulsory, ideally > 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia import messages
from celosia.model.protocols import Rule
from celosia.model.rules import RuleResult
from celosia.model.verdict import State
from celosia.protocols.load import load

COMPULSORY, IDEAL = 2, 4  # MINSAL: k > 1, ideally > 3
_CODES = ("unit", "level", "kind", "audience")  # fields whose values are words of the catalogue
# Figures that a release of an earlier version does not state.
_UNSTATED = dict.fromkeys(("minutes", "lacking_rows", "lacking_minutes", "outsiders", "independent"), "–")
_LISTS = ("items", "roles", "missing")  # lists of such words


def k_level(k: int) -> str:
    """MINSAL's levels: 1 is red, 2 and 3 amber, 4 and more green."""
    return "red" if k < COMPULSORY else "amber" if k < IDEAL else "green"


def sentence_of(rule: Rule | RuleResult) -> str:
    """What the rule says, in the current language."""
    identifier = rule.id if isinstance(rule, Rule) else rule.rule
    return messages.text(f"protocols.rule.{rule.protocol}.{identifier}")


def asked_text(rule: Rule | RuleResult) -> str:
    """What the rule asks, short enough for a table."""
    measure = rule.measure if isinstance(rule, Rule) else _measure_of(rule)
    return messages.text(f"protocols.asked.{measure}", **_figure_texts(rule.asked)) + _exceptions(rule.asked)


def reason_text(rule: Rule | RuleResult) -> str:
    """Why a rule asks so much where its norm gives no number; empty where the norm does."""
    key = f"protocols.reason.{rule.protocol}.{rule.id if isinstance(rule, Rule) else rule.rule}"
    return messages.text(key) if messages.has(key) else ""


def measured_text(result: RuleResult) -> str:
    """What was found, short enough for a table."""
    measure = _measure_of(result)
    if "sensitive" in result.measured:
        return messages.text("protocols.no_sensitive.none")
    if "statement" in result.measured:
        return messages.text("protocols.no_sensitive.stated", **result.measured)
    if result.state is State.NOT_MEASURABLE or not result.measured:
        lacking = f"protocols.lacking.{measure}"
        return messages.text(lacking) if messages.has(lacking) else messages.text("protocols.unmeasured")
    return messages.text(f"protocols.measured.{measure}", **_figure_texts(result.measured))


def overlap_text(result: RuleResult) -> str:
    """Who acts in which roles at once."""
    return str(_value("overlaps", result.measured["overlaps"]))


def _measure_of(result: RuleResult) -> str:
    return load(result.protocol).rule(result.rule).measure


def _exceptions(asked: Mapping[str, Any]) -> str:
    allowed = asked.get("allowed")
    return f" {messages.text('protocols.except', columns=_value('allowed', allowed))}" if allowed else ""


def _figure_texts(figures: Mapping[str, Any]) -> dict[str, Any]:
    return _UNSTATED | {key: _value(key, value) for key, value in figures.items()}


def _value(key: str, value: Any) -> Any:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return messages.text(f"dictionary.answer.{'yes' if value else 'no'}")
    if isinstance(value, Mapping):
        if key == "overlaps":
            return ", ".join(f"{name} ({', '.join(map(_word, roles))})" for name, roles in value.items()) or "–"
        return ", ".join(f"{name} ({count})" for name, count in value.items()) or "–"
    if isinstance(value, str):
        return messages.text(f"protocols.word.{value}") if key in _CODES else _decimal(key, value)
    if isinstance(value, Sequence):
        words = [_word(item) if key in _LISTS else str(item) for item in value if not isinstance(item, Mapping)]
        return ", ".join(words) or "–"
    return value


def _word(identifier: str) -> str:
    """The catalogue's word for an item or a role; its own id where there is none."""
    for key in (f"protocols.item.{identifier}", f"protocols.role.{identifier}"):
        if messages.has(key):
            return messages.text(key)
    return identifier


def _decimal(key: str, value: str) -> str:
    comma = key in ("threshold", "risk") and messages.language() == "es"
    return value.replace(".", ",") if comma else value
