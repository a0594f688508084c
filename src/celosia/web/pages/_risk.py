"""How exposed people are: overview, ordered scenarios, individual risk, special uniques, places, and again afterwards.

Shows kept reports and starts the work that makes them; counts nothing itself. Declared scenarios are written in
celosia.toml, where the command line reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.model.scenarios import indicator_tenths, threshold_text
from celosia.web._frame import Desk, page, step_path, tell
from celosia.web._widgets import (
    Cell,
    button,
    check,
    choice,
    details,
    figures,
    heading,
    line,
    link,
    note,
    number_field,
    paragraph,
    state,
    table,
    tag,
    word,
)
from celosia.web.pages._risk_more import after_section, geography_section, people_section, special_section
from celosia.web.pages._risk_section import Risk, bars, compute_button, meanings, section, share_text

_LEVELS = {"red": "warning", "amber": "info", "green": "good"}
_SENSITIVE = ("l", "entropy_l", "alpha", "t_equal")
_FORMS = ("pdf", "docx")


@page("risk")
async def risk_page(desk: Desk) -> None:
    """Every section with what is kept, or a button to compute it."""
    risk = Risk(await desk.ask("risk_state", desk.folder))
    paragraph(word("web_risk.opening"))
    if not risk.state["quasi"]:
        with note(word("web_risk.no_quasi"), "warning"):
            link(word("web_risk.to_dictionary"), step_path(desk.name, "dictionary"))
        return
    _overview(desk, risk)
    _scenarios(desk, risk)
    people_section(desk, risk)
    special_section(desk, risk)
    geography_section(desk, risk)
    after_section(desk, risk)


# --- overview -------------------------------------------------------------------------------------


def _overview(desk: Desk, risk: Risk) -> None:
    with section(risk, "risk_overview", "overview", quasi=", ".join(risk.state["quasi"])) as found:
        compute_button(found, "overview", lambda: desk.start("risk_overview", desk.folder))
        if found is None:
            return
        _first_figures(found)
        _bands(found)
        _three(found)
        if found["sensitive"]:
            _sensitive(found)
        keys = ["k", "k_persons", "unique_rows", *(_SENSITIVE if found["sensitive"] else ())]
        meanings([f"measures.{key}" for key in keys])


def _first_figures(found: Mapping[str, Any]) -> None:
    measured, unit = found["measures"], found["unit"]
    k = measured["k"] if measured["k_persons"] is None else measured["k_persons"]
    counts = ["persons", "rows"] if unit == "persons" else ["rows"]
    at_risk = found["at_risk"]
    figures([
        *((word(f"web_risk.overview.{key}"), messages.integer(measured[key])) for key in counts),
        (word("web_risk.overview.classes"), messages.integer(measured["classes"])),
        (word("web_risk.overview.k"), "–" if k is None else messages.integer(k)),
        (word(f"web_risk.overview.at_risk_{unit}"),
         f"{messages.integer(at_risk['units'])} ({share_text(at_risk['share'])})"),
    ])  # fmt: skip
    criterion = found["criterion"]
    threshold = threshold_text(criterion["exact"])
    paragraph(word("web_risk.overview.at_risk_why", largest=criterion["largest_f"], threshold=threshold), "c-why")
    if k is not None:
        level = "red" if k < 2 else "amber" if k < 4 else "green"
        note(word(f"web_risk.overview.k_{level}", k=k), _LEVELS[level])


def _bands(found: Mapping[str, Any]) -> None:
    """The classes by size: a picture, and the same as a table."""
    unit, total = found["unit"], found["units"]
    heading(word(f"web_risk.bands.title_{unit}"), 3)
    sizes = [_size(band) for band in found["bands"]]
    units = [band["units"] for band in found["bands"]]
    parts = [
        word("web_risk.bands.chart_part", size=size, units=count) for size, count in zip(sizes, units, strict=True)
    ]
    bars(sizes, units, word("web_risk.bands.chart", parts=", ".join(parts)))
    columns = ["size", "classes", unit, "share", *(["rows"] if unit == "persons" else [])]
    rows = [
        [size, messages.integer(band["classes"]), messages.integer(band["units"]),
         share_text(band["units"] / total if total else 0.0),
         *([messages.integer(band["rows"])] if unit == "persons" else [])]
        for size, band in zip(sizes, found["bands"], strict=True)
    ]  # fmt: skip
    with details(word("web_risk.bands.table")):
        table([word(f"web_risk.bands.{key}") for key in columns], rows, word("web_risk.bands.caption"), (1, 2, 3, 4))
        if unit == "persons":
            paragraph(word("web_risk.bands.once"), "c-why")


def _size(band: Mapping[str, Any]) -> str:
    if band["high"] is None:
        return word("web_risk.bands.from", low=band["low"])
    if band["high"] == band["low"]:
        return messages.integer(band["low"])
    return word("web_risk.bands.between", low=band["low"], high=band["high"])


def _three(found: Mapping[str, Any]) -> None:
    """Singling out, linkability and inference, each with its own figure."""
    heading(word("web_risk.three.title"), 3)
    unit, alone, linked = found["unit"], found["singling_out"], found["linkability"]
    key = "web_risk.three.linkability_found" if linked else "web_risk.three.linkability_none"
    rows = [
        [word("web_risk.three.singling_out"),
         word(f"web_risk.three.singling_out_{unit}", units=alone["units"], share=share_text(alone["share"])),
         word("web_risk.three.singling_out_why")],
        [word("web_risk.three.linkability"), word(key, **(linked or {})), word("web_risk.three.linkability_why")],
    ]  # fmt: skip
    for name, one in found["inference"].items():
        told = {"units": one["units"], "classes": one["classes"], "share": share_text(one["share"])}
        rows.append([
            word("web_risk.three.inference", variable=name), word(f"web_risk.three.inference_{unit}", **told),
            word("web_risk.three.inference_why"),
        ])  # fmt: skip
    head = [word(f"web_risk.three.{key}") for key in ("risk", "found", "meaning")]
    table(head, rows, word("web_risk.three.caption"), classes="c-wrap")


def _sensitive(found: Mapping[str, Any]) -> None:
    heading(word("web_risk.sensitive.title"), 3)
    measured = found["measures"]["sensitive"]
    rows = [[name, *(_figure(measured[name][key]) for key in _SENSITIVE)] for name in found["sensitive"]]
    head = [word("web_risk.variable"), *(word(f"measures.{key}.name") for key in _SENSITIVE)]
    table(head, rows, word("web_risk.sensitive.caption"), (1, 2, 3, 4))


def _figure(value: float | int | None) -> str:
    if value is None:
        return "–"
    return messages.integer(value) if isinstance(value, int) else messages.decimal(value, 2)


# --- scenarios ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Builder:
    """What the reader has chosen so far."""

    variables: list[str] = field(default_factory=list)
    at_most: float | None = 3  # a part of one is refused by the verb
    combine: str = "2"
    identifiers: bool = False


def _scenarios(desk: Desk, risk: Risk) -> None:
    with section(risk, "risk_scenarios", "scenarios") as found:
        heading(word("web_risk.scenarios.declared"), 3)
        _declared(desk, risk)
        _new_scenario(desk, risk, Builder())
        _compute(desk, risk, Builder())
        if found is not None:
            _ordered(desk, found)
            _documents(desk)
            meanings([f"risk.explained.{key}" for key in ("indicator", "at_risk", "share", "rows_at_risk")])
        table_found = risk.found("risk_table")
        if table_found is not None and desk.may("risk_table"):  # it lists categories: for whoever prepares
            _frequencies(table_found)


def _declared(desk: Desk, risk: Risk) -> None:
    stated = risk.state["scenarios"]
    if not stated:
        paragraph(word("web_risk.scenarios.none"))
        return

    async def remove(number: int) -> None:
        await desk.ask("remove_scenario", desk.folder, number, expected=risk.state["digest"])
        tell(word("web_risk.scenarios.removed"), "good")
        ui.navigate.reload()

    def removal(number: int, names: str) -> None:
        label = word("web_risk.scenarios.remove_label", variables=names)
        button(word("web_risk.scenarios.remove"), partial(remove, number), "small", label)

    rows: list[list[Cell]] = []
    for number, one in enumerate(stated, start=1):
        names = _names(one)
        criterion = word("risk.criterion", threshold=threshold_text(one["criterion"]["exact"]))
        rows.append([names, criterion, partial(removal, number, names)])
    head = [word("risk.column.variables"), word("risk.column.criterion"), word("web_risk.scenarios.remove")]
    table(head, rows, word("web_risk.scenarios.declared"))


def _names(scenario: Mapping[str, Any]) -> str:
    levels = scenario["levels"]
    return ", ".join(
        word("web_risk.scenarios.level", variable=name, level=levels[name]) if levels.get(name) else name
        for name in scenario["variables"]
    )


def _new_scenario(desk: Desk, risk: Risk, chosen: Builder) -> None:
    """Pick variables and the criterion in whole numbers; the scenario is written in celosia.toml."""

    def tick(name: str, ticked: bool) -> None:
        chosen.variables = [one for one in risk.names if (ticked if one == name else one in chosen.variables)]

    async def add() -> None:
        at_most = chosen.at_most
        await desk.ask("add_scenario", desk.folder, chosen.variables, at_most, expected=risk.state["digest"])
        tell(word("web_risk.scenarios.added"), "good")
        ui.navigate.reload()

    with details(word("web_risk.scenarios.new")):
        with tag("fieldset", classes="c-fieldset"):
            tag("legend", word("web_risk.scenarios.choose"))
            for name in risk.names:
                check(name, False, partial(tick, name))
        with line("c-top"):
            _at_most(chosen)
            button(word("web_risk.scenarios.add"), add)


def _at_most(chosen: Builder) -> None:
    def put(given: float | None) -> None:
        chosen.at_most = int(given) if given is not None and given == int(given) else given

    hint = word("web_risk.scenarios.at_most_hint")
    number_field(word("web_risk.scenarios.at_most"), chosen.at_most, put, 1, hint=hint)


def _compute(desk: Desk, risk: Risk, chosen: Builder) -> None:
    many = len(risk.state["quasi"])
    options = {"": word("web_risk.scenarios.only")}
    options |= {"2": word("web_risk.scenarios.pairs")} if many > 1 else {}
    options |= {"3": word("web_risk.scenarios.triples")} if many > 2 else {}
    chosen.combine = chosen.combine if chosen.combine in options else ""

    def start() -> None:
        wide = int(chosen.combine) if chosen.combine else None
        asked: dict[str, Any] = {"all_combinations": wide, "at_most": chosen.at_most, "identifiers": chosen.identifiers}
        desk.start("risk_scenarios", desk.folder, **asked)

    with line("c-top"):
        choice(word("web_risk.scenarios.combine"), options, chosen.combine, partial(setattr, chosen, "combine"))
        _at_most(chosen)
    with line():
        if risk.state["identifiers"]:
            check(word("web_risk.scenarios.identifiers"), False, partial(setattr, chosen, "identifiers"))
        button(word("web_risk.scenarios.compute"), start, "primary")


def _ordered(desk: Desk, found: Mapping[str, Any]) -> None:
    """The guide's report: order, variables, criterion, units at risk, proportion."""
    paragraph(word(f"risk.unit_{found['unit']}", units=found["units"], rows=found["rows"]))

    def frequencies(scenario: Mapping[str, Any]) -> None:
        label = word("web_risk.scenarios.table_label", variables=_names(scenario))
        largest = scenario["criterion"]["largest_f"]
        start = partial(desk.start, "risk_table", desk.folder, scenario["variables"], largest)
        button(word("web_risk.scenarios.table"), start, "small", label)

    rows: list[list[Cell]] = []
    for one in found["scenarios"]:
        share = share_text(one["share"])
        proportion = word("web_risk.scenarios.proportion", part=one["at_risk"], whole=found["units"], share=share)
        criterion = word("risk.criterion", threshold=threshold_text(one["criterion"]["exact"]))
        rows.append([
            messages.integer(one["order"]), _names(one), criterion, messages.integer(one["at_risk"]), proportion,
            partial(frequencies, one),
        ])  # fmt: skip
    head = [word(f"risk.column.{key}") for key in ("order", "variables", "criterion", "at_risk", "share")]
    box = table([*head, word("web_risk.scenarios.table_column")], rows, word("web_risk.scenarios.caption"), (0, 3, 4))
    box.classes("c-tall")
    if found["listed"] > len(found["scenarios"]):
        paragraph(word("web_risk.scenarios.more", shown=len(found["scenarios"]), listed=found["listed"]))


def _documents(desk: Desk) -> None:
    async def write(form: str) -> None:
        desk.offer(await desk.ask("write_risk_document", desk.folder, form))

    with line():
        tag("span", word("web_risk.scenarios.document"))
        for form in _FORMS:
            button(word(f"web_risk.scenarios.{form}"), partial(write, form))


def _frequencies(found: Mapping[str, Any]) -> None:
    """Every combination of a scenario with its frequency and RI, one decimal."""
    [scenario] = found["scenarios"]
    held = scenario["table"]
    heading(word("web_risk.frequencies.title", variables=", ".join(held["variables"])), 3)
    paragraph(word("web_risk.frequencies.words"))

    def judged(one: Mapping[str, Any]) -> None:
        key = "at_risk" if one["at_risk"] else "not_at_risk" if one["f"] else "absent"
        state(word(f"web_risk.frequencies.{key}"), "bad" if one["at_risk"] else "info")

    rows: list[list[Cell]] = [
        [messages.integer(number), *(value or "–" for value in one["values"]), messages.integer(one["f"]),
         messages.decimal(indicator_tenths(one["f"]) / 10, 1), partial(judged, one)]
        for number, one in enumerate(held["lines"], start=1)
    ]  # fmt: skip
    names = [word(f"risk.column.{key}") for key in ("line", "frequency", "indicator")]
    head = [names[0], *held["variables"], *names[1:], word("web_risk.frequencies.column")]
    wide = len(held["variables"])
    table(head, rows, word("web_risk.frequencies.caption"), (0, wide + 1, wide + 2)).classes("c-tall")
    if held["listed"] > len(held["lines"]):
        paragraph(word("web_risk.frequencies.more", shown=len(held["lines"]), listed=held["listed"]))
