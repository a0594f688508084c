"""`celosia risk`: how exposed people are, scenario by scenario. Only counts, changes nothing.

Each part brings its options, its keys of the one document, and its piece of the page; a new one joins PARTS.
"""

from __future__ import annotations

from typing import Any

import click

from celosia import messages
from celosia.cli import _risk_people, _risk_scenarios, _risk_special
from celosia.cli._reading import counting_options, reading_choices, reading_options
from celosia.cli._risk_part import RiskPart
from celosia.cli._shell import argument, json_option, option, verb
from celosia.cli._show import print_json, say, watching

PARTS: tuple[RiskPart, ...] = (_risk_scenarios.PART, _risk_people.PART, *_risk_special.PARTS)


def command() -> click.Command:
    """The verb."""
    own = [param for part in PARTS for param in part.options()]
    explain = option("risk", "--explain", is_flag=True)
    shared = [*reading_options(), *counting_options(), json_option()]
    return verb("risk", run, [argument("target"), *own, explain, *shared])


def run(target: str, as_json: bool, explain: bool, **asked: Any) -> None:
    """Count and show."""
    from celosia.pipeline import opened

    parts = [part for part in PARTS if part.is_asked(asked)]
    described = any(part.needs_roles(asked) for part in parts)
    report: dict[str, Any] = {}
    choices = reading_choices(asked) | {"naming": (*asked["quasi"], asked["person"])}
    with watching(as_json) as watch, opened(target, watch, described, **choices) as found:
        for part in parts:
            report |= part.figures(found, asked, watch)
    if as_json:
        print_json(report | ({"definitions": _definitions(parts)} if explain else {}))
        return
    for part in parts:
        part.show(report, asked)
    for each in _definitions(parts).values() if explain else ():
        say("risk.definition", **each)


def _definitions(parts: list[RiskPart]) -> dict[str, dict[str, str]]:
    """What each figure means and where that is written, in the language in use."""
    return {
        name: {field: messages.text(f"risk.explained.{name}.{field}") for field in ("name", "definition", "source")}
        for part in parts
        for name in part.explained
    }
