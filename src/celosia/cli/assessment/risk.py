"""`celosia risk`: how exposed people are, scenario by scenario. It only counts; with `--declare` the scenarios stay.

Each part declares its options, its keys of the report and how they are shown; a new one joins PARTS.
"""

from __future__ import annotations

from typing import Any

import click

from celosia import messages
from celosia.cli.assessment import risk_people, risk_scenarios, risk_special
from celosia.cli.assessment.risk_part import RiskPart
from celosia.cli.reading import counting_options, reading_choices, reading_options
from celosia.cli.shell import argument, build_command, option
from celosia.cli.show import print_json, say, watching

PARTS: tuple[RiskPart, ...] = (risk_scenarios.PART, risk_people.PART, *risk_special.PARTS)


def command() -> click.Command:
    """The command."""
    own = [param for part in PARTS for param in part.options()]
    shared = [option("risk", "--explain", is_flag=True), *reading_options(), *counting_options()]
    return build_command("risk", run, [argument("target"), *own, *shared])


def run(target: str, as_json: bool, explain: bool, **settings: Any) -> None:
    """Count and show."""
    from celosia.pipeline.intake.open_table import open_table

    parts = [part for part in PARTS if part.is_requested(settings)]
    described = any(part.needs_roles(settings) for part in parts)
    report: dict[str, Any] = {}
    choices = reading_choices(settings) | {"naming": (*settings["quasi"], settings["person"])}
    with watching(as_json) as watch, open_table(target, watch, described, **choices) as data:
        for part in parts:
            report |= part.figures(data, settings, watch)
    if as_json:
        print_json(report | ({"definitions": _definitions(parts)} if explain else {}))
        return
    for part in parts:
        part.show(report, settings)
    for definition in _definitions(parts).values() if explain else ():
        say("risk.definition", **definition)


def _definitions(parts: list[RiskPart]) -> dict[str, dict[str, str]]:
    """The definition and the source of each figure, in the language in use."""
    return {
        name: {field: messages.text(f"risk.explained.{name}.{field}") for field in ("name", "definition", "source")}
        for part in parts
        for name in part.explained
    }
