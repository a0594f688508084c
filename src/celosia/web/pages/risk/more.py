"""Sections of the risk page: people, special uniques, places, and the same analysis after treatment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from typing import Any

from celosia import messages
from celosia.messages import text
from celosia.model.reports.evaluation import RiskComparison
from celosia.model.reports.scenarios import threshold_text
from celosia.web.pages.risk.section import (
    bar_chart,
    compute_button,
    number_text,
    pairs_table,
    section,
    share_text,
    show_meanings,
)
from celosia.web.ui import html
from celosia.web.ui.context import PageContext
from celosia.web.ui.html import Cell
from celosia.workbench.operations.risk import risk_after, risk_geography, risk_people, risk_special
from celosia.workbench.views.risk import (
    AreaFigures,
    Attackers,
    DisFigures,
    FrequencyFigures,
    PeopleFigures,
    RiskView,
    SpecialFigures,
)

_MINIMUM, _MAX_SIZE = 50, 3
_OUTCOMES = {"keep": "good", "recode": "warning", "remove": "warning"}


# --- people ---------------------------------------------------------------------------------------


def people_section(page: PageContext, view: RiskView) -> None:
    """Individual and global risk, and the three attackers."""
    asked = view.people.asked if view.people else {}
    wanted = {"weight": asked.get("weight") or "", "household": asked.get("household") or view.household or ""}
    others = [name for name in view.variables if name not in view.quasi]
    options = {"": text("web_risk.none"), **{name: name for name in others}}

    def start() -> None:
        weight, household = wanted["weight"] or None, wanted["household"] or None
        page.start(risk_people, page.folder, weight=weight, household=household)

    with section(view.people, "people") as people:
        with html.line("c-top"):
            for key in wanted:
                hint = text(f"web_risk.people.{key}_hint")
                value = wanted[key] if wanted[key] in options else ""
                html.choice(text(f"web_risk.people.{key}"), options, value, partial(wanted.__setitem__, key), hint)
        compute_button(people, "people", start)
        if people is not None:
            _people_figures(people)


def _people_figures(people: PeopleFigures) -> None:
    expected = messages.decimal(people.individual.expected_reidentifications, 2)
    html.note(text("people_risk.residual", expected=expected, share=share_text(people.individual.rate)), "info")
    pairs_table([*_frequency_pairs(people.frequencies), *_risk_pairs(people)], text("web_risk.people.caption"))
    html.heading(text("web_risk.people.attackers"), 3)
    _attackers_table(people.attackers)
    keys = ["frequency", "individual", "expected", "prosecutor", "journalist", "marketer"]
    keys += ["household_risk"] if people.household else []
    show_meanings([f"risk.explained.{key}" for key in keys])


def _frequency_pairs(frequencies: FrequencyFigures) -> list[tuple[str, str]]:
    below = frequencies.violations.items()
    return [
        (text("people_risk.classes"), messages.integer(frequencies.classes)),
        (text("people_risk.smallest"), number_text(frequencies.smallest_fk)),
        (text("people_risk.unique_rows"), messages.integer(frequencies.unique_rows)),
        *((text("people_risk.below", k=int(k)), messages.integer(rows)) for k, rows in below),
    ]


def _risk_pairs(people: PeopleFigures) -> list[tuple[str, str]]:
    pairs = []
    for part, risk in (("individual", people.individual), ("household", people.household)):
        if risk is not None:
            values = {
                "highest": share_text(risk.highest),
                "expected": messages.decimal(risk.expected_reidentifications, 2),
                "rate": share_text(risk.rate),
                "high": messages.integer(risk.high_rows),
            }
            pairs += [(text(f"people_risk.{part}_{key}"), value) for key, value in values.items()]
    return pairs


def _attackers_table(attackers: Attackers) -> None:
    kinds = {"prosecutor": attackers.prosecutor, "journalist": attackers.journalist}
    known = {name: attack for name, attack in kinds.items() if attack is not None}
    rows = [
        [text("people_risk.highest"), *(share_text(attack.highest) for attack in known.values())],
        [text("people_risk.mean"), *(share_text(attack.mean) for attack in known.values())],
    ]
    for limit in attackers.prosecutor.above:
        label = text("people_risk.above", threshold=messages.decimal(float(limit), 2))
        rows.append([label, *(share_text(attack.above[limit]) for attack in known.values())])
    head = [text("people_risk.attacker"), *(text(f"people_risk.{name}") for name in known)]
    html.table(
        head, rows, text(f"people_risk.attackers_{attackers.unit}"), tuple(range(1, len(head))), show_caption=True
    )
    html.paragraph(text("people_risk.marketer", share=share_text(attackers.marketer)))


# --- special uniques ------------------------------------------------------------------------------


def special_section(page: PageContext, view: RiskView) -> None:
    """Counts by size, scores, and the part of each variable."""
    asked = view.special.asked if view.special else {}
    wanted: dict[str, Any] = {"max_size": asked.get("max_size") or _MAX_SIZE}

    def put(given: float | None) -> None:
        wanted["max_size"] = None if given is None else int(given)

    with section(view.special, "special") as special:
        hint = text("web_risk.special.max_size_hint")
        html.number_field(text("web_risk.special.max_size"), wanted["max_size"], put, 1, len(view.quasi), hint=hint)
        compute_button(special, "special", lambda: page.start(risk_special, page.folder, **wanted))
        if special is not None:
            _special_figures(special)


def _special_figures(special: SpecialFigures) -> None:
    html.figures(
        (text("web_risk.overview.rows"), messages.integer(special.rows)),
        (text("web_risk.special.unique"), messages.integer(special.unique_rows)),
        (text("web_risk.special.special"), messages.integer(special.special_rows)),
    )
    counts = [(size.size, size.sets, size.rows, size.smallest) for size in special.sizes]
    rows = [[messages.integer(count) for count in row] for row in counts]
    _special_table("sizes", ("size", "sets", "rows", "smallest"), rows, (1, 2, 3))
    if special.special_rows:
        _contributions(special)
    total, maximum = messages.decimal(special.score.total, 2), messages.decimal(special.score.maximum, 2)
    scoring = text(f"special.scoring.{special.scoring}")
    html.paragraph(text("special.score", scoring=scoring, total=total, maximum=maximum))
    if special.left_out:
        html.paragraph(text("special.left_out", variables=", ".join(special.left_out)))
    if special.skipped_cells:
        html.paragraph(text("special.skipped", cells=special.skipped_cells))
    if special.persons:
        html.paragraph(text("special.persons", **asdict(special.persons)))
    show_meanings([f"risk.explained.{key}" for key in ("minimal_unique", "special_score", "dis", "contribution")])


def _contributions(special: SpecialFigures) -> None:
    shares = sorted(
        ((name, share or 0.0) for name, share in special.contributions.items()), key=lambda x: (-x[1], x[0])
    )
    html.heading(text("special.title.contributions"), 3)
    parts = [text("web_risk.special.chart_part", variable=name, share=share_text(share)) for name, share in shares]
    label = text("web_risk.special.chart", parts=", ".join(parts))
    percents = [round(100 * share, 2) for _, share in shares]
    bar_chart([name for name, _ in shares], percents, label, upright=False, whole=False)
    with html.details(text("web_risk.bands.table")):
        rows = [[name, share_text(share)] for name, share in shares]
        _special_table("contributions", ("variable", "share"), rows, (1,))
        _special_table("dis", ("interval", "rows"), _dis_rows(special.dis), (1,))


def _special_table(name: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], numbers: Sequence[int]) -> None:
    head = [text(f"special.column.{column}") for column in columns]
    html.table(head, rows, text(f"special.title.{name}"), numbers, show_caption=True)


def _dis_rows(dis: DisFigures) -> list[list[str]]:
    edges = [messages.decimal(edge, 1) for edge in dis.edges]
    between = [text("special.between", low=low, high=high) for low, high in pairwise(edges)]
    names = [text("special.zero"), *between, text("special.above", low=edges[-1])]
    return [[name, messages.integer(rows)] for name, rows in zip(names, dis.rows, strict=True)]


# --- places ---------------------------------------------------------------------------------------


def geography_section(page: PageContext, view: RiskView) -> None:
    """More than so many units in every area, variable by variable, level by level."""
    asked = view.geography.asked if view.geography else {}
    unit = next((f"{kind}:{asked[kind]}" for kind in ("unit", "members") if asked.get(kind)), "")
    wanted: dict[str, Any] = {"minimum": asked.get("minimum", _MINIMUM), "unit": unit}

    def start() -> None:
        kind, _, column = wanted["unit"].partition(":")
        counted = {kind: column} if column else {}
        page.start(risk_geography, page.folder, minimum=wanted["minimum"], **counted)

    def put(given: float | None) -> None:
        wanted["minimum"] = _MINIMUM if given is None else int(given)

    with section(view.geography, "geography", minimum=wanted["minimum"]) as geography:
        if not view.places:
            html.paragraph(text("web_risk.geography.no_places"))
            return
        with html.line("c-top"):
            html.number_field(text("web_risk.geography.minimum"), wanted["minimum"], put, 0)
            label, hint = text("web_risk.geography.unit"), text("web_risk.geography.unit_hint")
            html.choice(label, _unit_options(view), wanted["unit"], partial(wanted.__setitem__, "unit"), hint)
        compute_button(geography, "geography", start)
        if geography is not None:
            for area in geography.variables:
                _area_figures(area)
            show_meanings(["risk.explained.geography"])


def _unit_options(view: RiskView) -> dict[str, str]:
    """What may be counted: distinct values of a column, or the sum of one."""
    others = [name for name in view.variables if name not in view.places]
    distinct = {f"unit:{name}": text("web_risk.geography.distinct", variable=name) for name in others}
    sums = {f"members:{name}": text("web_risk.geography.sum", variable=name) for name in others}
    return {"": text("web_risk.geography.unit_project"), **distinct, **sums}


def _area_figures(area: AreaFigures) -> None:
    title = text("special.title.geography", variable=area.variable, minimum=area.minimum)
    html.heading(title, 3)
    level = "–" if area.finest_level is None else messages.integer(area.finest_level)
    fields = {"variable": area.variable, "minimum": area.minimum, "level": level}
    html.note(text(f"special.outcome.{'_or_'.join(area.treatments)}", **fields), _OUTCOMES[area.treatments[0]])
    html.paragraph(text(f"special.unit.{area.unit}", units=area.units, column=area.unit_variable or ""), "c-why")
    columns = ("level", "areas", "smallest", "small_areas", "small_units", "missing", "masked", "unknown", "passes")
    names = ["smallest_area" if name == "smallest" else name for name in columns]
    rows = [[_area_text(getattr(level, name)) for name in columns] for level in area.levels]
    html.table([text(f"special.column.{name}") for name in names], rows, title, tuple(range(1, 8)))


def _area_text(figure: int | bool | None) -> str:
    if isinstance(figure, bool):
        return text("special.yes" if figure else "special.no")
    return "–" if figure is None else messages.integer(figure)


# --- after treatment ------------------------------------------------------------------------------


def after_section(page: PageContext, view: RiskView) -> None:
    """The first analysis beside the same on the candidate."""
    with section(view.after, "after") as after:
        if not (view.candidate and view.request):
            html.paragraph(text("web_risk.after.needs"))
        else:
            compute_button(after, "after", lambda: page.start(risk_after, page.folder))
        if after is not None and after.risk:
            _comparison_tables(after.risk)


def _comparison_tables(risk: RiskComparison) -> None:
    sides = (risk.before, risk.after)
    at_risk = [f"{messages.integer(side.at_risk)} ({share_text(side.at_risk_share)})" for side in sides]
    rows = [
        [text("web_risk.after.k"), *(number_text(side.k_persons or side.k) for side in sides)],
        [text("web_risk.after.unique"), *(messages.integer(side.unique_rows) for side in sides)],
        [text("web_risk.after.at_risk", threshold=threshold_text(risk.threshold)), *at_risk],
    ]
    head = [text("web_risk.after.before"), text("web_risk.after.after")]
    html.table([text("web_risk.figure"), *head], rows, text("web_risk.after.title"), (1, 2))
    shares = [[names, share_text(first), share_text(second)] for names, first, second in risk.scenarios]
    caption = text("web_risk.after.caption")
    html.table([text("web_risk.after.variables"), *head], shares, caption, (1, 2), show_caption=True)
