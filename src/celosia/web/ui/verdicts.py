"""Verdicts, roles and times as every page shows them."""

from __future__ import annotations

from collections.abc import Mapping

from celosia.messages import text
from celosia.model.protocols import Severity
from celosia.model.rules import RuleResult
from celosia.model.verdict import State
from celosia.web.ui import html

_COLOURS = {State.HOLDS: "good", State.ATTESTED: "info", State.FAILS: "bad", State.NOT_MEASURABLE: "bad"}


def show_state(verdict: State) -> None:
    """A verdict as a coloured word."""
    html.state(text(f"plan.state_words.{verdict.value}"), _COLOURS[verdict])


def show_rule_state(rule: RuleResult) -> None:
    """The verdict of a rule; advice that is not followed stops nothing."""
    advice = rule.severity is Severity.SHOULD
    colour = "warning" if advice and rule.state is not State.HOLDS else _COLOURS[rule.state]
    html.state(text(f"plan.state_words.{rule.state.value}"), colour)
    if advice:
        html.tag("small", text("web_result.rules.advice"))


def minute_text(when: str) -> str:
    """A time of the journal to the minute, in UTC."""
    return f"{when[:10]} {when[11:16]} UTC" if len(when) > 16 else when


def capitalise(words: str) -> str:
    """A text with a capital first."""
    return words[:1].upper() + words[1:]


def table_heads(section: str, *keys: str, **fields: object) -> list[str]:
    """The heads of a table, from words that are used inside sentences elsewhere."""
    return [capitalise(text(f"{section}.{key}", **fields)) for key in keys]


def role_options(roles: tuple[str, ...]) -> Mapping[str, str]:
    """Roles with their names, for a choice."""
    return {role: text(f"protocols.role.{role}") for role in roles}
