"""Three parts of `celosia risk` shown on request: special uniques, the geography rule, rare values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli.assessment.risk_part import RiskPart, Settings, Watch
from celosia.cli.shell import names_option, option
from celosia.cli.show import labels, print_table, say
from celosia.model.reports.geography import MINIMUM
from celosia.model.reports.rarity import RARE
from celosia.model.reports.special_uniques import Scoring

_FOLDER = click.Path(file_okay=False, path_type=Path)


def _special_options() -> list[click.Parameter]:
    return [
        option("risk", "--special-uniques", is_flag=True),
        option("risk", "--max-size", type=click.IntRange(min=1), default=None),
        option("risk", "--scoring", type=click.Choice(list(map(str, Scoring))), default=str(Scoring.ORIGINAL)),
        option("risk", "--dis-fraction", type=click.FloatRange(min=0, max=1, min_open=True), default=0.01),
        option("risk", "--special-rows", type=_FOLDER, default=None),
    ]


def _special_figures(data: Any, settings: Settings, watch: Watch) -> dict[str, Any]:
    from celosia.pipeline.assessment.special_uniques import special_uniques

    report = special_uniques(
        data,
        settings["quasi"] or None,
        settings["max_size"],
        settings["scoring"],
        settings["dis_fraction"],
        settings["person"],
        settings["special_rows"],
        watch,
    )
    return {"special_uniques": report.as_dict()}


def _show_special(document: dict[str, Any], settings: Settings) -> None:
    report = document["special_uniques"]
    say("special.rows", rows=report["rows"], unique=report["unique_rows"], special=report["special_rows"])
    columns = ("size", "sets", "rows", "smallest")
    _table("sizes", columns, [[messages.integer(size[name]) for name in columns] for size in report["sizes"]])
    score = {name: messages.decimal(report["score"][name], 2) for name in ("total", "maximum")}
    say("special.score", scoring=messages.text(f"special.scoring.{report['scoring']}"), **score)
    _table("dis", ("interval", "rows"), _dis_lines(report["dis"]))
    shares = report["contributions"].items()
    lines = [[name, "–" if share is None else messages.percent(share)] for name, share in shares]
    _table("contributions", ("variable", "share"), lines)
    if report["left_out"]:
        say("special.left_out", variables=", ".join(report["left_out"]))
    if report["skipped_cells"]:
        say("special.skipped", cells=report["skipped_cells"])
    if report["persons"]:
        say("special.persons", **report["persons"])
    if settings["special_rows"]:
        say("special.saved", folder=str(settings["special_rows"]))


def _dis_lines(dis: dict[str, Any]) -> list[list[str]]:
    edges = [messages.decimal(edge, 1) for edge in dis["edges"]]
    between = [messages.text("special.between", low=low, high=high) for low, high in pairwise(edges)]
    names = [messages.text("special.zero"), *between, messages.text("special.above", low=edges[-1])]
    return [[name, messages.integer(rows)] for name, rows in zip(names, dis["rows"], strict=True)]


def _geography_options() -> list[click.Parameter]:
    return [
        option("risk", "--geography", default=None),
        option("risk", "--minimum", type=click.IntRange(min=0), default=MINIMUM),
        option("risk", "--unit", default=None),
        option("risk", "--members", default=None),
        names_option("risk", "--unknown"),
        option("risk", "--area-population", default=None),
        option("risk", "--area-count", default=None),
    ]


def _geography_figures(data: Any, settings: Settings, watch: Watch) -> dict[str, Any]:
    from celosia.pipeline.assessment.special_uniques import geography_rule

    same_names = {name: settings[name] for name in ("minimum", "unit", "members", "unknown")}
    population = {"population": settings["area_population"], "population_count": settings["area_count"]}
    report = geography_rule(data, settings["geography"], **same_names, **population)
    return {"geography": report.as_dict()}


def _show_geography(document: dict[str, Any], settings: Settings) -> None:
    report = document["geography"]
    columns = ("level", "areas", "smallest", "small_areas", "small_units", "missing", "masked", "unknown", "passes")
    lines = [[_cell(level[name]) for name in columns] for level in report["levels"]]
    named = [{"smallest": "smallest_area"}.get(name, name) for name in columns]
    _table("geography", named, lines, variable=report["variable"], minimum=report["minimum"])
    say(f"special.unit.{report['unit']}", units=report["units"], column=report["unit_variable"])
    finest = "–" if report["finest_level"] is None else report["finest_level"]
    outcome = f"special.outcome.{'_or_'.join(report['treatments'])}"
    say(outcome, variable=report["variable"], minimum=report["minimum"], level=finest)
    for floor, level in report["finest_by_floor"].items():
        if level is None:
            say("special.floor_none", floor=int(floor))
        else:
            say("special.floor", floor=int(floor), level=level)


def _rare_options() -> list[click.Parameter]:
    return [
        option("risk", "--rare", is_flag=True),
        option("risk", "--rare-at-most", type=click.IntRange(min=1), default=RARE),
    ]


def _rare_figures(data: Any, settings: Settings, watch: Watch) -> dict[str, Any]:
    from celosia.pipeline.assessment.special_uniques import rare_values

    report = rare_values(data, settings["rare_at_most"], person=settings["person"], report=watch)
    return {"rare": report.as_dict()}


def _show_rare(document: dict[str, Any], settings: Settings) -> None:
    report = document["rare"]
    columns = ("name", "values", "rare_values", "rare_units", "single_values", "strong")
    lines = []
    for variable in report["variables"]:
        if variable["rare_values"] or variable["strong"]:
            reason = messages.text(f"special.strong.{variable['strong']}") if variable["strong"] else "–"
            lines.append([variable["name"], *[messages.integer(variable[name]) for name in columns[1:5]], reason])
    _table("rare", columns, lines, threshold=report["threshold"])
    say("special.strong_note" if report["strong"] else "special.no_strong")


def _table(name: str, columns: Sequence[str], lines: Sequence[Sequence[str]], **fields: object) -> None:
    texts = ("variable", "name", "interval", "strong")
    right = [position for position, column in enumerate(columns) if column not in texts]
    print_table(messages.text(f"special.title.{name}", **fields), labels("special.column", *columns), lines, right)


def _cell(figure: int | bool | None) -> str:
    if isinstance(figure, bool):
        return messages.text("special.yes" if figure else "special.no")
    return "–" if figure is None else messages.integer(figure)


PARTS = (
    RiskPart(
        _special_options,
        _special_figures,
        _show_special,
        ("minimal_unique", "special_score", "dis", "contribution"),
        is_requested=lambda settings: bool(settings["special_uniques"] or settings["special_rows"]),
        needs_roles=lambda settings: not settings["quasi"],
    ),
    RiskPart(
        _geography_options,
        _geography_figures,
        _show_geography,
        ("geography", "floors"),
        is_requested=lambda settings: bool(settings["geography"]),
    ),
    RiskPart(
        _rare_options,
        _rare_figures,
        _show_rare,
        ("rare", "strong"),
        is_requested=lambda settings: bool(settings["rare"]),
        needs_roles=lambda settings: True,
    ),
)
