"""How exposed people are: overview, ordered scenarios, individual risk, special uniques, places, and again afterwards.

Shows saved reports and starts the work that makes them; counts nothing itself. Declared scenarios are written in
celosia.toml, where the command line reads them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.reports.overview import SizeBand
from celosia.model.reports.scenarios import indicator_tenths, threshold_text
from celosia.web.pages.risk.more import after_section, geography_section, people_section, special_section
from celosia.web.pages.risk.section import bar_chart, compute_button, section, share_text, show_meanings
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify, step_path
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.workbench.operations.risk import (
    add_scenario,
    remove_scenario,
    risk_overview,
    risk_scenarios,
    risk_state,
    risk_table,
    write_risk_document,
)
from celosia.workbench.views.risk import (
    FrequencyLine,
    FrequencyLines,
    OverviewFigures,
    RiskView,
    ScenarioLine,
    ScenarioList,
)

_LEVELS = {"red": "warning", "amber": "info", "green": "good"}
_SENSITIVE = ("l", "entropy_l", "alpha", "t_equal")
_FORMS = ("pdf", "docx")


@project_page("risk")
async def risk_page(page: PageContext) -> None:
    """Every section with its saved report, or a button to compute it."""
    view = await page.ask(risk_state, page.folder)
    html.paragraph(text("web_risk.opening"))
    if not view.quasi:
        with html.note(text("web_risk.no_quasi"), "warning"):
            html.link(text("web_risk.to_dictionary"), step_path(page.name, "dictionary"))
        return
    _overview_section(page, view)
    _scenarios_section(page, view)
    people_section(page, view)
    special_section(page, view)
    geography_section(page, view)
    after_section(page, view)


# --- overview -------------------------------------------------------------------------------------


def _overview_section(page: PageContext, view: RiskView) -> None:
    with section(view.overview, "overview", quasi=", ".join(view.quasi)) as overview:
        compute_button(overview, "overview", lambda: page.start(risk_overview, page.folder))
        if overview is None:
            return
        _main_figures(overview)
        _size_bands(overview)
        _three_risks(overview)
        if overview.sensitive:
            _sensitive_table(overview)
        keys = ["k", "k_persons", "unique_rows", *(_SENSITIVE if overview.sensitive else ())]
        show_meanings([f"measures.{key}" for key in keys])


def _main_figures(overview: OverviewFigures) -> None:
    measures, unit, at_risk = overview.measures, overview.unit, overview.at_risk
    k = measures.k if measures.k_persons is None else measures.k_persons
    units_at_risk = f"{messages.integer(at_risk.units)} ({share_text(at_risk.share)})"
    pairs = [
        (text("web_risk.overview.rows"), messages.integer(measures.rows)),
        (text("web_risk.overview.classes"), messages.integer(measures.classes)),
        (text("web_risk.overview.k"), "–" if k is None else messages.integer(k)),
        (text(f"web_risk.overview.at_risk_{unit}"), units_at_risk),
    ]
    if measures.persons is not None:
        pairs.insert(0, (text("web_risk.overview.persons"), messages.integer(measures.persons)))
    html.figures(*pairs)
    criterion = overview.criterion
    threshold = threshold_text(criterion.exact)
    html.paragraph(text("web_risk.overview.at_risk_why", largest=criterion.largest_f, threshold=threshold), "c-why")
    if k is not None:
        level = "red" if k < 2 else "amber" if k < 4 else "green"
        html.note(text(f"web_risk.overview.k_{level}", k=k), _LEVELS[level])


def _size_bands(overview: OverviewFigures) -> None:
    """The classes by size: a chart, and the same as a table."""
    unit, total, by_person = overview.unit, overview.units, overview.unit == "persons"
    html.heading(text(f"web_risk.bands.title_{unit}"), 3)
    sizes, units = [_band_text(band) for band in overview.bands], [band.units for band in overview.bands]
    parts = [
        text("web_risk.bands.chart_part", size=size, units=count) for size, count in zip(sizes, units, strict=True)
    ]
    bar_chart(sizes, units, text("web_risk.bands.chart", parts=", ".join(parts)))
    columns = ["size", "classes", unit, "share", *(["rows"] if by_person else [])]
    rows = []
    for size, band in zip(sizes, overview.bands, strict=True):
        share = share_text(band.units / total if total else 0.0)
        row = [size, messages.integer(band.classes), messages.integer(band.units), share]
        rows.append([*row, messages.integer(band.rows)] if by_person else row)
    with html.details(text("web_risk.bands.table")):
        html.table(
            [text(f"web_risk.bands.{key}") for key in columns], rows, text("web_risk.bands.caption"), (1, 2, 3, 4)
        )
        if by_person:
            html.paragraph(text("web_risk.bands.once"), "c-why")


def _band_text(band: SizeBand) -> str:
    if band.high is None:
        return text("web_risk.bands.from", low=band.low)
    if band.high == band.low:
        return messages.integer(band.low)
    return text("web_risk.bands.between", low=band.low, high=band.high)


def _three_risks(overview: OverviewFigures) -> None:
    """Singling out, linkability and inference, each with its own figure."""
    html.heading(text("web_risk.three.title"), 3)
    unit, alone, linked = overview.unit, overview.singling_out, overview.linkability
    singled_out = text(f"web_risk.three.singling_out_{unit}", units=alone.units, share=share_text(alone.share))
    linkability = (
        text("web_risk.three.linkability_none")
        if linked is None
        else text("web_risk.three.linkability_found", **asdict(linked))
    )
    rows = [
        [text("web_risk.three.singling_out"), singled_out, text("web_risk.three.singling_out_why")],
        [text("web_risk.three.linkability"), linkability, text("web_risk.three.linkability_why")],
    ]
    for name, single_value in overview.inference.items():
        fields = {"units": single_value.units, "classes": single_value.classes, "share": share_text(single_value.share)}
        inference = text(f"web_risk.three.inference_{unit}", **fields)
        rows.append([text("web_risk.three.inference", variable=name), inference, text("web_risk.three.inference_why")])
    head = [text(f"web_risk.three.{key}") for key in ("risk", "found", "meaning")]
    html.table(head, rows, text("web_risk.three.caption"), classes="c-wrap")


def _sensitive_table(overview: OverviewFigures) -> None:
    html.heading(text("web_risk.sensitive.title"), 3)
    measures = overview.measures.sensitive
    rows = [[name, *(_figure_text(measures[name][key]) for key in _SENSITIVE)] for name in overview.sensitive]
    head = [text("web_risk.variable"), *(text(f"measures.{key}.name") for key in _SENSITIVE)]
    html.table(head, rows, text("web_risk.sensitive.caption"), (1, 2, 3, 4))


def _figure_text(value: float | int | None) -> str:
    if value is None:
        return "–"
    return messages.integer(value) if isinstance(value, int) else messages.decimal(value, 2)


# --- scenarios ------------------------------------------------------------------------------------


@dataclass(slots=True)
class ScenarioDraft:
    """What the reader has chosen so far."""

    variables: list[str] = field(default_factory=list)
    at_most: float | None = 3  # the operation refuses what is no whole number
    combine: str = "2"
    identifiers: bool = False


def _scenarios_section(page: PageContext, view: RiskView) -> None:
    with section(view.ordered, "scenarios") as ordered:
        html.heading(text("web_risk.scenarios.declared"), 3)
        _declared_scenarios(page, view)
        _new_scenario(page, view, ScenarioDraft())
        _compute_scenarios(page, view, ScenarioDraft())
        if ordered is not None:
            _ordered_scenarios(page, ordered)
            _document_buttons(page)
            show_meanings([f"risk.explained.{key}" for key in ("indicator", "at_risk", "share", "rows_at_risk")])
        if view.table is not None and page.may(risk_table):  # it lists categories: for whoever prepares
            for scenario in view.table.report.scenarios:
                if scenario.table is not None:
                    _frequencies(scenario.table)


def _declared_scenarios(page: PageContext, view: RiskView) -> None:
    if not view.scenarios:
        html.paragraph(text("web_risk.scenarios.none"))
        return

    async def remove(number: int) -> None:
        await page.ask(remove_scenario, page.folder, number, expected=view.digest)
        notify(text("web_risk.scenarios.removed"), "good")
        ui.navigate.reload()

    def remove_button(number: int, names: str) -> None:
        label = text("web_risk.scenarios.remove_label", variables=names)
        html.button(text("web_risk.scenarios.remove"), partial(remove, number), "small", label)

    rows: list[list[Cell]] = []
    for number, scenario in enumerate(view.scenarios, start=1):
        names = _scenario_names(scenario)
        rows.append([names, _criterion_text(scenario), partial(remove_button, number, names)])
    head = [text("risk.column.variables"), text("risk.column.criterion"), text("web_risk.scenarios.remove")]
    html.table(head, rows, text("web_risk.scenarios.declared"))


def _criterion_text(scenario: ScenarioLine) -> str:
    return text("risk.criterion", threshold=threshold_text(scenario.criterion.exact))


def _scenario_names(scenario: ScenarioLine) -> str:
    levels = scenario.levels
    return ", ".join(
        text("web_risk.scenarios.level", variable=name, level=levels[name]) if levels.get(name) else name
        for name in scenario.variables
    )


def _new_scenario(page: PageContext, view: RiskView, draft: ScenarioDraft) -> None:
    """Pick variables and the criterion in whole numbers; the scenario is written in celosia.toml."""

    def tick(name: str, ticked: bool) -> None:
        chosen = {*draft.variables, name} if ticked else {*draft.variables} - {name}
        draft.variables = [variable for variable in view.variables if variable in chosen]

    async def add() -> None:
        await page.ask(add_scenario, page.folder, draft.variables, draft.at_most, expected=view.digest)
        notify(text("web_risk.scenarios.added"), "good")
        ui.navigate.reload()

    with html.details(text("web_risk.scenarios.new")):
        with html.tag("fieldset", classes="c-fieldset"):
            html.tag("legend", text("web_risk.scenarios.choose"))
            for name in view.variables:
                html.check(name, False, partial(tick, name))
        with html.line("c-top"):
            _at_most_field(draft)
            html.button(text("web_risk.scenarios.add"), add)


def _at_most_field(draft: ScenarioDraft) -> None:
    def put(given: float | None) -> None:
        draft.at_most = int(given) if given is not None and given == int(given) else given

    hint = text("web_risk.scenarios.at_most_hint")
    html.number_field(text("web_risk.scenarios.at_most"), draft.at_most, put, 1, hint=hint)


def _compute_scenarios(page: PageContext, view: RiskView, draft: ScenarioDraft) -> None:
    count = len(view.quasi)
    options = {"": text("web_risk.scenarios.only")}
    options |= {"2": text("web_risk.scenarios.pairs")} if count > 1 else {}
    options |= {"3": text("web_risk.scenarios.triples")} if count > 2 else {}
    draft.combine = draft.combine if draft.combine in options else ""

    def start() -> None:
        page.start(
            risk_scenarios,
            page.folder,
            all_combinations=int(draft.combine) if draft.combine else None,
            at_most=draft.at_most,
            identifiers=draft.identifiers,
        )

    with html.line("c-top"):
        html.choice(text("web_risk.scenarios.combine"), options, draft.combine, partial(setattr, draft, "combine"))
        _at_most_field(draft)
    with html.line():
        if view.identifiers:
            html.check(text("web_risk.scenarios.identifiers"), False, partial(setattr, draft, "identifiers"))
        html.button(text("web_risk.scenarios.compute"), start, "primary")


def _ordered_scenarios(page: PageContext, ordered: ScenarioList) -> None:
    """The guide's report: order, variables, criterion, units at risk, proportion."""
    html.paragraph(text(f"risk.unit_{ordered.unit}", units=ordered.units, rows=ordered.rows))

    def table_button(scenario: ScenarioLine) -> None:
        label = text("web_risk.scenarios.table_label", variables=_scenario_names(scenario))
        start = partial(page.start, risk_table, page.folder, scenario.variables, scenario.criterion.largest_f)
        html.button(text("web_risk.scenarios.table"), start, "small", label)

    rows: list[list[Cell]] = []
    for scenario in ordered.scenarios:
        fields = {"part": scenario.at_risk, "whole": ordered.units, "share": share_text(scenario.share)}
        rows.append(
            [
                messages.integer(scenario.order),
                _scenario_names(scenario),
                _criterion_text(scenario),
                messages.integer(scenario.at_risk),
                text("web_risk.scenarios.proportion", **fields),
                partial(table_button, scenario),
            ]
        )
    head = [text(f"risk.column.{key}") for key in ("order", "variables", "criterion", "at_risk", "share")]
    box = html.table(
        [*head, text("web_risk.scenarios.table_column")], rows, text("web_risk.scenarios.caption"), (0, 3, 4)
    )
    box.classes("c-tall")
    if ordered.listed > len(rows):
        html.paragraph(text("web_risk.scenarios.more", shown=len(rows), listed=ordered.listed))


def _document_buttons(page: PageContext) -> None:
    async def write(form: str) -> None:
        page.offer(await page.ask(write_risk_document, page.folder, form))

    with html.line():
        html.tag("span", text("web_risk.scenarios.document"))
        for form in _FORMS:
            html.button(text(f"web_risk.scenarios.{form}"), partial(write, form))


def _frequencies(frequencies: FrequencyLines) -> None:
    """Every combination of a scenario with its frequency and RI, one decimal."""
    html.heading(text("web_risk.frequencies.title", variables=", ".join(frequencies.variables)), 3)
    html.paragraph(text("web_risk.frequencies.words"))

    def verdict(combination: FrequencyLine) -> None:
        key = "at_risk" if combination.at_risk else "not_at_risk" if combination.f else "absent"
        html.state(text(f"web_risk.frequencies.{key}"), "bad" if combination.at_risk else "info")

    rows: list[list[Cell]] = []
    for number, combination in enumerate(frequencies.lines, start=1):
        values = (value or "–" for value in combination.values)
        indicator = messages.decimal(indicator_tenths(combination.f) / 10, 1)
        rows.append(
            [
                messages.integer(number),
                *values,
                messages.integer(combination.f),
                indicator,
                partial(verdict, combination),
            ]
        )
    number_head, *heads = (text(f"risk.column.{key}") for key in ("line", "frequency", "indicator"))
    head = [number_head, *frequencies.variables, *heads, text("web_risk.frequencies.column")]
    wide = len(frequencies.variables)
    html.table(head, rows, text("web_risk.frequencies.caption"), (0, wide + 1, wide + 2)).classes("c-tall")
    if frequencies.listed > len(rows):
        html.paragraph(text("web_risk.frequencies.more", shown=len(rows), listed=frequencies.listed))
