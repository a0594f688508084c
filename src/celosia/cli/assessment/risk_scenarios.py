"""The scenarios of `celosia risk`: the ordered report of the ATENEA guide, and its table of frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from celosia import messages
from celosia.cli.assessment.risk_part import RiskPart, Settings, Watch
from celosia.cli.shell import names_option, option
from celosia.cli.show import labels, print_table, say
from celosia.model.reports.scenarios import indicator_tenths, threshold_text


def options() -> list[click.Parameter]:
    """The options of the scenarios."""
    return [
        option("risk", "--scenario", multiple=True, callback=_split, metavar="A,B"),
        option("risk", "--declare", is_flag=True),
        option("risk", "--all-combinations", type=click.IntRange(min=2), default=None),
        names_option("risk", "--quasi"),
        option("risk", "--identifiers", is_flag=True),
        option("risk", "--threshold", default=None),
        option("risk", "--person", default=None),
        option("risk", "--table", is_flag=True),
        option("risk", "--top", type=click.IntRange(min=0), default=50),
    ]


def _split(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(name.strip() for name in text.split(",") if name.strip()) for text in texts)


def _request(settings: Settings) -> Any:
    from celosia.pipeline.assessment.scenario_risk import ScenarioRequest

    names = ("scenario", "all_combinations", "threshold", "quasi", "identifiers")
    return ScenarioRequest(*(settings[name] for name in names))


def needs_roles(settings: Settings) -> bool:
    """Whether the roles of the columns must be suggested, because nobody says which identify."""
    return settings["identifiers"] or not _request(settings).names_its_variables


def figures(data: Any, settings: Settings, watch: Watch) -> dict[str, Any]:
    """The scenarios in their order."""
    from celosia.pipeline.assessment.scenario_risk import scenario_risk_table
    from celosia.pipeline.project.declared_scenarios import declare_scenarios, note_risk

    risk = scenario_risk_table(data, _request(settings), settings["person"], settings["table"], watch)
    scenarios = [line.scenario for line in risk.scenarios]
    declared = {}
    if settings["declare"]:
        new = [scenario.variables for scenario in scenarios if scenario.origin != "declared"]
        declared = {"declared": declare_scenarios(data.project or data.source.name, new, settings["threshold"])}
    note_risk(data.project, scenarios)
    return {**risk.as_dict(), **declared}


def show(report: dict[str, Any], settings: Settings) -> None:
    """The report in the layout of the ATENEA guide; then the tables that were asked for."""
    say(f"risk.unit_{report['unit']}", units=report["units"], rows=report["rows"])
    scenarios = report["scenarios"]
    shown = scenarios[: settings["top"] or None]
    columns = ["order", "variables", "criterion", "at_risk", "share"]
    columns += ["rows_at_risk", "rows_share"] if report["unit"] == "persons" else []
    lines = [[_cell(scenario, name) for name in columns] for scenario in shown]
    print_table(messages.text("risk.title"), labels("risk.column", *columns), lines, right=(0, 3, 4, 5, 6))
    if len(shown) < len(scenarios):
        say("risk.more", shown=len(shown), scenarios=len(scenarios))
    if report["left_out"]:
        say("risk.left_out", variables=", ".join(report["left_out"]))
    masked = [scenario for scenario in scenarios if scenario["masked"]["rows"]]
    if masked:
        say("risk.masked", scenarios=len(masked), units=max(scenario["masked"]["units"] for scenario in masked))
    if "declared" in report:
        say("risk.declared", count=report["declared"])
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
    header = [messages.text("risk.column.line"), *table["variables"], *labels("risk.column", "frequency", "indicator")]
    lines = []
    for number, line in enumerate(table["lines"], start=1):
        indicator = messages.decimal(indicator_tenths(line["f"]) / 10, 1)
        lines.append([str(number), *line["values"], messages.integer(line["f"]), indicator])
    title = messages.text("risk.table_title", variables=_variables(scenario))
    print_table(title, header, lines, right=(0, len(header) - 2, len(header) - 1))
    if not table["complete"]:
        say("risk.table_cut", cells=table["cells"], lines=len(lines))
    risky = [number for number, line in enumerate(table["lines"], start=1) if line["at_risk"]]
    share = messages.part(scenario["share"])
    numbers = ", ".join(map(str, risky[:20])) + (", …" if len(risky) > 20 else "") if risky else "–"
    say(f"risk.table_{unit}", lines=numbers, at_risk=scenario["at_risk"], share=share)


PART = RiskPart(options, figures, show, ("indicator", "at_risk", "share", "rows_at_risk"), needs_roles=needs_roles)
