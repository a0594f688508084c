"""Three parts of `celosia risk` that are shown on request: special uniques, the rule over a place, rare values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli._risk_part import Asked, RiskPart, Watch
from celosia.cli._shell import names_option, option
from celosia.cli._show import print_table, say
from celosia.model.geography import MINIMUM
from celosia.model.rarity import RARE
from celosia.model.special_uniques import Scoring

_FOLDER = click.Path(file_okay=False, path_type=Path)


# --- special uniques ------------------------------------------------------------------------------


def _special_options() -> list[click.Parameter]:
    return [
        option("risk", "--special-uniques", is_flag=True),
        option("risk", "--max-size", type=click.IntRange(min=1), default=None),
        option("risk", "--scoring", type=click.Choice([str(each) for each in Scoring]), default=str(Scoring.ORIGINAL)),
        option("risk", "--dis-fraction", type=click.FloatRange(min=0, max=1, min_open=True), default=0.01),
        option("risk", "--special-rows", type=_FOLDER, default=None),
    ]


def _special_asked(asked: Asked) -> bool:
    return bool(asked["special_uniques"] or asked["special_rows"])


def _special_figures(found: Any, asked: Asked, watch: Watch) -> dict[str, Any]:
    from celosia.pipeline import special_uniques_of

    report = special_uniques_of(
        found,
        asked["quasi"] or None,
        asked["max_size"],
        asked["scoring"],
        asked["dis_fraction"],
        asked["person"],
        asked["special_rows"],
        watch,
    )
    return {"special_uniques": report.as_dict()}


def _show_special(document: dict[str, Any], asked: Asked) -> None:
    report = document["special_uniques"]
    say("special.rows", rows=report["rows"], unique=report["unique_rows"], special=report["special_rows"])
    sizes = [
        [messages.integer(size[name]) for name in ("size", "sets", "rows", "smallest")] for size in report["sizes"]
    ]
    _table("sizes", ("size", "sets", "rows", "smallest"), sizes)
    score = {name: messages.decimal(report["score"][name], 2) for name in ("total", "maximum")}
    say("special.score", scoring=messages.text(f"special.scoring.{report['scoring']}"), **score)
    _table("dis", ("interval", "rows"), _dis_lines(report["dis"]))
    parts = [[name, _share(share)] for name, share in report["contributions"].items()]
    _table("contributions", ("variable", "share"), parts)
    if report["skipped_cells"]:
        say("special.skipped", cells=report["skipped_cells"])
    if report["persons"]:
        say("special.persons", **report["persons"])
    if asked["special_rows"]:
        say("special.saved", folder=str(asked["special_rows"]))


def _dis_lines(dis: dict[str, Any]) -> list[list[str]]:
    edges = [messages.decimal(edge, 1) for edge in dis["edges"]]
    between = [messages.text("special.between", low=low, high=high) for low, high in pairwise(edges)]
    names = [messages.text("special.zero"), *between, messages.text("special.above", low=edges[-1])]
    return [[name, messages.integer(rows)] for name, rows in zip(names, dis["rows"], strict=True)]


# --- geography ------------------------------------------------------------------------------------


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


def _geography_figures(found: Any, asked: Asked, watch: Watch) -> dict[str, Any]:
    from celosia.pipeline import geography_rule_of

    report = geography_rule_of(
        found,
        asked["geography"],
        asked["minimum"],
        asked["unit"],
        asked["members"],
        asked["area_population"],
        asked["area_count"],
        unknown=asked["unknown"],
    )
    return {"geography": report.as_dict()}


def _show_geography(document: dict[str, Any], asked: Asked) -> None:
    report = document["geography"]
    columns = ("level", "areas", "smallest", "small_areas", "small_units", "missing", "masked", "unknown", "passes")
    lines = [[_cell(level[name]) for name in columns] for level in report["levels"]]
    named = [{"smallest": "smallest_area"}.get(name, name) for name in columns]
    _table("geography", named, lines, variable=report["variable"], minimum=report["minimum"])
    say(f"special.unit.{report['unit']}", units=report["units"], column=report["unit_variable"])
    say(f"special.outcome.{'_or_'.join(report['treatments'])}", **_outcome(report))
    for floor, level in report["finest_by_floor"].items():
        if level is None:
            say("special.floor_none", floor=int(floor))
        else:
            say("special.floor", floor=int(floor), level=level)


def _outcome(report: dict[str, Any]) -> dict[str, Any]:
    level = report["finest_level"]
    return {"variable": report["variable"], "minimum": report["minimum"], "level": "–" if level is None else level}


# --- rare values ----------------------------------------------------------------------------------


def _rare_options() -> list[click.Parameter]:
    return [
        option("risk", "--rare", is_flag=True),
        option("risk", "--rare-at-most", type=click.IntRange(min=1), default=RARE),
    ]


def _rare_figures(found: Any, asked: Asked, watch: Watch) -> dict[str, Any]:
    from celosia.pipeline import rare_values_of

    report = rare_values_of(found, asked["rare_at_most"], person=asked["person"], report=watch)
    return {"rare": report.as_dict()}


def _show_rare(document: dict[str, Any], asked: Asked) -> None:
    report = document["rare"]
    columns = ("name", "values", "rare_values", "rare_units", "single_values", "strong")
    held = [variable for variable in report["variables"] if variable["rare_values"] or variable["strong"]]
    lines = [
        [variable["name"], *[messages.integer(variable[name]) for name in columns[1:5]], _reason(variable["strong"])]
        for variable in held
    ]
    _table("rare", columns, lines, threshold=report["threshold"])
    say("special.strong_note" if report["strong"] else "special.no_strong")


def _reason(strong: str | None) -> str:
    return messages.text(f"special.strong.{strong}") if strong else "–"


# --- shared ---------------------------------------------------------------------------------------


def _table(name: str, columns: Sequence[str], lines: Sequence[Sequence[str]], **fields: object) -> None:
    header = [messages.text(f"special.column.{column}") for column in columns]
    words = [place for place, column in enumerate(columns) if column in ("variable", "name", "interval", "strong")]
    right = [place for place in range(len(columns)) if place not in words]
    print_table(messages.text(f"special.title.{name}", **fields), header, lines, right)


def _cell(figure: int | bool | None) -> str:
    if isinstance(figure, bool):
        return messages.text("special.yes" if figure else "special.no")
    return "–" if figure is None else messages.integer(figure)


def _share(share: float | None) -> str:
    return "–" if share is None else messages.percent(share)


PARTS = (
    RiskPart(
        _special_options,
        _special_figures,
        _show_special,
        ("minimal_unique", "special_score", "dis", "contribution"),
        is_asked=_special_asked,
        needs_roles=lambda asked: not asked["quasi"],
    ),
    RiskPart(
        _geography_options,
        _geography_figures,
        _show_geography,
        ("geography", "floors"),
        is_asked=lambda asked: bool(asked["geography"]),
    ),
    RiskPart(
        _rare_options,
        _rare_figures,
        _show_rare,
        ("rare", "strong"),
        is_asked=lambda asked: bool(asked["rare"]),
        needs_roles=lambda asked: True,
    ),
)
