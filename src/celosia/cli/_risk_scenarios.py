"""The scenarios of `celosia risk`: the ordered report of the ATENEA guide, and its table of frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from celosia import messages
from celosia.cli._risk_part import Asked, RiskPart, Watch
from celosia.cli._shell import names_option, option
from celosia.cli._show import print_table, say
from celosia.model.scenarios import indicator_tenths, threshold_text


def options() -> list[click.Parameter]:
    """What may be asked of the scenarios."""
    return [
        option("risk", "--scenario", multiple=True, callback=_split, metavar="A,B"),
        option("risk", "--all-combinations", type=click.IntRange(min=2), default=None),
        names_option("risk", "--quasi"),
        option("risk", "--identifiers", is_flag=True),
        option("risk", "--threshold", default=None),
        option("risk", "--person", default=None),
        option("risk", "--table", is_flag=True),
        option("risk", "--top", type=click.IntRange(min=0), default=50),
    ]


def _split(_: click.Context, __: click.Parameter, given: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(name.strip() for name in one.split(",") if name.strip()) for one in given)


def _request(asked: Asked) -> Any:
    from celosia.pipeline import ScenarioRequest

    return ScenarioRequest(
        asked["scenario"], asked["all_combinations"], asked["threshold"], asked["quasi"], asked["identifiers"]
    )


def needs_roles(asked: Asked) -> bool:
    """Whether the columns of a file must be looked at, because nobody says which identify."""
    return asked["identifiers"] or not _request(asked).names_its_variables


def figures(found: Any, asked: Asked, watch: Watch) -> dict[str, Any]:
    """The scenarios in their order."""
    from celosia.pipeline import scenario_risk_table

    counted = scenario_risk_table(found, _request(asked), asked["person"], asked["table"], watch)
    return dict(counted.as_dict())


def show(report: dict[str, Any], asked: Asked) -> None:
    """The report as the guide lays it out; then the tables that were asked for."""
    say(f"risk.unit_{report['unit']}", units=report["units"], rows=report["rows"])
    scenarios = report["scenarios"]
    shown = scenarios[: asked["top"] or None]
    columns = ["order", "variables", "criterion", "at_risk", "share"]
    columns += ["rows_at_risk", "rows_share"] if report["unit"] == "persons" else []
    header = [messages.text(f"risk.column.{name}") for name in columns]
    lines = [[_cell(scenario, name) for name in columns] for scenario in shown]
    print_table(messages.text("risk.title"), header, lines, right=(0, 3, 4, 5, 6))
    if len(shown) < len(scenarios):
        say("risk.more", shown=len(shown), scenarios=len(scenarios))
    apart = [scenario for scenario in scenarios if scenario["masked"]["rows"]]
    if apart:
        say("risk.masked", scenarios=len(apart), units=max(scenario["masked"]["units"] for scenario in apart))
    for scenario in scenarios:
        if "table" in scenario:
            _show_table(scenario, report["unit"])


def _cell(scenario: dict[str, Any], column: str) -> str:
    if column == "variables":
        return _variables(scenario)
    if column == "criterion":
        return messages.text("risk.criterion", threshold=threshold_text(scenario["criterion"]["exact"]))
    figure = scenario[column]
    return messages.part(figure) if column.endswith("share") else messages.integer(figure)


def _variables(scenario: dict[str, Any]) -> str:
    levels = scenario["levels"]
    named = [
        messages.text("risk.at_level", variable=name, level=levels[name]) if levels[name] else name
        for name in scenario["variables"]
    ]
    return ", ".join(named)


def _show_table(scenario: dict[str, Any], unit: str) -> None:
    table = scenario["table"]
    header = [messages.text("risk.column.line"), *table["variables"]]
    header += [messages.text("risk.column.frequency"), messages.text("risk.column.indicator")]
    lines = [
        [
            str(number),
            *line["values"],
            messages.integer(line["f"]),
            messages.decimal(indicator_tenths(line["f"]) / 10, 1),
        ]
        for number, line in enumerate(table["lines"], start=1)
    ]
    title = messages.text("risk.table_title", variables=_variables(scenario))
    print_table(title, header, lines, right=(0, len(header) - 2, len(header) - 1))
    if not table["complete"]:
        say("risk.table_cut", cells=table["cells"], lines=len(lines))
    risky = [number for number, line in enumerate(table["lines"], start=1) if line["at_risk"]]
    share = messages.part(scenario["share"])
    numbers = ", ".join(map(str, risky[:20])) + (", …" if len(risky) > 20 else "") if risky else "–"
    say(f"risk.table_{unit}", lines=numbers, at_risk=scenario["at_risk"], share=share)


PART = RiskPart(options, figures, show, ("indicator", "at_risk", "share", "rows_at_risk"), needs_roles=needs_roles)
