"""Sections of the risk page: people, special uniques, places, and the same analysis after treatment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from celosia import messages
from celosia.model.scenarios import threshold_text
from celosia.web._frame import Desk
from celosia.web._widgets import (
    Cell,
    choice,
    details,
    figures,
    heading,
    line,
    note,
    number_field,
    paragraph,
    table,
    word,
)
from celosia.web.pages._risk_section import (
    Risk,
    bars,
    compute_button,
    meanings,
    number_text,
    pairs_table,
    section,
    share_text,
)

_RISKS = ("highest", "expected", "rate", "high")
_MINIMUM, _MAX_SIZE = 50, 3
_OUTCOMES = {"keep": "good", "recode": "warning", "remove": "warning"}


# --- people ---------------------------------------------------------------------------------------


def people_section(desk: Desk, risk: Risk) -> None:
    """Individual and global risk, and the three attackers."""
    asked = dict(risk.asked("risk_people"))
    wanted = {"weight": asked.get("weight") or "", "household": asked.get("household") or risk.state["household"] or ""}
    others = [name for name in risk.names if name not in risk.state["quasi"]]
    options = {"": word("web_risk.none"), **{name: name for name in others}}

    def start() -> None:
        given: dict[str, Any] = {key: value or None for key, value in wanted.items()}
        desk.start("risk_people", desk.folder, **given)

    with section(risk, "risk_people", "people") as found:
        with line("c-top"):
            for key in wanted:
                hint = word(f"web_risk.people.{key}_hint")
                held = wanted[key] if wanted[key] in options else ""
                choice(word(f"web_risk.people.{key}"), options, held, _putting(wanted, key), hint)
        compute_button(found, "people", start)
        if found is not None:
            _people(found)


def _putting(wanted: dict[str, Any], key: str) -> Any:
    return lambda given: wanted.__setitem__(key, given)


def _people(found: Mapping[str, Any]) -> None:
    whole = found["global"]
    expected = messages.decimal(whole["expected_reidentifications"], 2)
    note(word("people_risk.residual", expected=expected, share=share_text(whole["rate"])), "info")
    pairs_table([*_frequency_lines(found["frequencies"]), *_risk_lines(found)], word("web_risk.people.caption"))
    heading(word("web_risk.people.attackers"), 3)
    _attackers(found["attackers"])
    keys = ["frequency", "individual", "expected", "prosecutor", "journalist", "marketer"]
    keys += ["household_risk"] if found["household"] else []
    meanings([f"risk.explained.{key}" for key in keys])


def _frequency_lines(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    lines = [
        (word("people_risk.classes"), messages.integer(found["classes"])),
        (word("people_risk.smallest"), number_text(found["smallest_fk"])),
        (word("people_risk.unique_rows"), messages.integer(found["unique_rows"])),
    ]
    return lines + [
        (word("people_risk.below", k=int(k)), messages.integer(rows)) for k, rows in found["violations"].items()
    ]


def _risk_lines(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    lines = []
    for part in ("individual", "household"):
        held = found[part]
        if held is not None:
            shown = (share_text(held["highest"]), messages.decimal(held["expected_reidentifications"], 2),
                     share_text(held["rate"]), messages.integer(held["high_rows"]))  # fmt: skip
            lines += [(word(f"people_risk.{part}_{key}"), text) for key, text in zip(_RISKS, shown, strict=True)]
    return lines


def _attackers(found: Mapping[str, Any]) -> None:
    kinds = [name for name in ("prosecutor", "journalist") if found[name] is not None]
    rows = [
        [word(f"people_risk.{key}"), *(share_text(found[name][key]) for name in kinds)] for key in ("highest", "mean")
    ]
    for limit in found["prosecutor"]["above"]:
        label = word("people_risk.above", threshold=messages.decimal(float(limit), 2))
        rows.append([label, *(share_text(found[name]["above"][limit]) for name in kinds)])
    head = [word("people_risk.attacker"), *(word(f"people_risk.{name}") for name in kinds)]
    table(head, rows, word(f"people_risk.attackers_{found['unit']}"), tuple(range(1, len(head))), show_caption=True)
    paragraph(word("people_risk.marketer", share=share_text(found["marketer"])))


# --- special uniques ------------------------------------------------------------------------------


def special_section(desk: Desk, risk: Risk) -> None:
    """Counts by size, scores, and the part of each variable."""
    asked = risk.asked("risk_special")
    wanted: dict[str, Any] = {"max_size": asked.get("max_size") or _MAX_SIZE}

    def put(given: float | None) -> None:
        wanted["max_size"] = None if given is None else int(given)

    with section(risk, "risk_special", "special") as found:
        hint = word("web_risk.special.max_size_hint")
        number_field(word("web_risk.special.max_size"), wanted["max_size"], put, 1, len(risk.state["quasi"]), hint=hint)
        compute_button(found, "special", lambda: desk.start("risk_special", desk.folder, **wanted))
        if found is not None:
            _special(found)


def _special(found: Mapping[str, Any]) -> None:
    figures([
        (word("web_risk.overview.rows"), messages.integer(found["rows"])),
        (word("web_risk.special.unique"), messages.integer(found["unique_rows"])),
        (word("web_risk.special.special"), messages.integer(found["special_rows"])),
    ])  # fmt: skip
    columns = ("size", "sets", "rows", "smallest")
    rows = [[messages.integer(one[key]) for key in columns] for one in found["sizes"]]
    _special_table("sizes", columns, rows, (1, 2, 3))
    if found["special_rows"]:
        _contributions(found)
    score = {key: messages.decimal(found["score"][key], 2) for key in ("total", "maximum")}
    paragraph(word("special.score", scoring=word(f"special.scoring.{found['scoring']}"), **score))
    if found["skipped_cells"]:
        paragraph(word("special.skipped", cells=found["skipped_cells"]))
    if found["persons"]:
        paragraph(word("special.persons", **found["persons"]))
    meanings([f"risk.explained.{key}" for key in ("minimal_unique", "special_score", "dis", "contribution")])


def _contributions(found: Mapping[str, Any]) -> None:
    parts = [(name, share or 0.0) for name, share in found["contributions"].items()]
    parts.sort(key=lambda one: (-one[1], one[0]))
    heading(word("special.title.contributions"), 3)
    said = [word("web_risk.special.chart_part", variable=name, share=share_text(share)) for name, share in parts]
    label = word("web_risk.special.chart", parts=", ".join(said))
    bars([name for name, _ in parts], [round(100 * share, 2) for _, share in parts], label, upright=False, whole=False)
    with details(word("web_risk.bands.table")):
        _special_table(
            "contributions", ("variable", "share"), [[name, share_text(share)] for name, share in parts], (1,)
        )
        _special_table("dis", ("interval", "rows"), _dis_lines(found["dis"]), (1,))


def _special_table(name: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], numbers: Sequence[int]) -> None:
    head = [word(f"special.column.{column}") for column in columns]
    table(head, rows, word(f"special.title.{name}"), numbers, show_caption=True)


def _dis_lines(dis: Mapping[str, Any]) -> list[list[str]]:
    edges = [messages.decimal(edge, 1) for edge in dis["edges"]]
    between = [word("special.between", low=low, high=high) for low, high in pairwise(edges)]
    names = [word("special.zero"), *between, word("special.above", low=edges[-1])]
    return [[name, messages.integer(rows)] for name, rows in zip(names, dis["rows"], strict=True)]


# --- places ---------------------------------------------------------------------------------------


def geography_section(desk: Desk, risk: Risk) -> None:
    """More than so many units in every area, variable by variable, level by level."""
    asked = risk.asked("risk_geography")
    wanted: dict[str, Any] = {"minimum": asked.get("minimum", _MINIMUM), "unit": _unit_of(asked)}

    def start() -> None:
        kind, _, column = wanted["unit"].partition(":")
        counted = {kind: column} if column else {}
        desk.start("risk_geography", desk.folder, minimum=wanted["minimum"], **counted)

    def put(given: float | None) -> None:
        wanted["minimum"] = _MINIMUM if given is None else int(given)

    with section(risk, "risk_geography", "geography", minimum=wanted["minimum"]) as found:
        if not risk.state["places"]:
            paragraph(word("web_risk.geography.no_places"))
            return
        with line("c-top"):
            number_field(word("web_risk.geography.minimum"), wanted["minimum"], put, 0)
            choice(word("web_risk.geography.unit"), _units(risk), wanted["unit"], _putting(wanted, "unit"),
                   word("web_risk.geography.unit_hint"))  # fmt: skip
        compute_button(found, "geography", start)
        for one in found["variables"] if found else ():
            _place(one)
        if found:
            meanings(["risk.explained.geography"])


def _unit_of(asked: Mapping[str, Any]) -> str:
    return next((f"{kind}:{asked[kind]}" for kind in ("unit", "members") if asked.get(kind)), "")


def _units(risk: Risk) -> dict[str, str]:
    """What may be counted: distinct values of a column, or the sum of one."""
    others = [name for name in risk.names if name not in risk.state["places"]]
    distinct = {f"unit:{name}": word("web_risk.geography.distinct", variable=name) for name in others}
    sums = {f"members:{name}": word("web_risk.geography.sum", variable=name) for name in others}
    return {"": word("web_risk.geography.unit_project"), **distinct, **sums}


def _place(found: Mapping[str, Any]) -> None:
    title = word("special.title.geography", variable=found["variable"], minimum=found["minimum"])
    heading(title, 3)
    outcome = "_or_".join(found["treatments"])
    fields = {"variable": found["variable"], "minimum": found["minimum"], "level": _level(found["finest_level"])}
    note(word(f"special.outcome.{outcome}", **fields), _OUTCOMES[found["treatments"][0]])
    paragraph(word(f"special.unit.{found['unit']}", units=found["units"], column=found["unit_variable"] or ""), "c-why")
    columns = ("level", "areas", "smallest", "small_areas", "small_units", "missing", "masked", "unknown", "passes")
    names = ["smallest_area" if name == "smallest" else name for name in columns]
    rows = [[_place_cell(one[name]) for name in columns] for one in found["levels"]]
    table([word(f"special.column.{name}") for name in names], rows, title, tuple(range(1, 8)))


def _level(level: int | None) -> str:
    return "–" if level is None else messages.integer(level)


def _place_cell(figure: int | bool | None) -> str:
    if isinstance(figure, bool):
        return word("special.yes" if figure else "special.no")
    return "–" if figure is None else messages.integer(figure)


# --- after treatment ------------------------------------------------------------------------------


def after_section(desk: Desk, risk: Risk) -> None:
    """The first analysis beside the same on the candidate."""
    with section(risk, "risk_after", "after") as found:
        if not (risk.state["candidate"] and risk.state["request"]):
            paragraph(word("web_risk.after.needs"))
        else:
            compute_button(found, "after", lambda: desk.start("risk_after", desk.folder))
        if found is not None and found["risk"]:
            _after(found["risk"])


def _after(found: Mapping[str, Any]) -> None:
    before, after = found["before"], found["after"]
    threshold = threshold_text(found["threshold"])
    head = [word("web_risk.after.variables"), word("web_risk.after.before"), word("web_risk.after.after")]
    lines = [
        [word("web_risk.after.k"), *(number_text(side["k_persons"] or side["k"]) for side in (before, after))],
        [word("web_risk.after.unique"), *(messages.integer(side["unique_rows"]) for side in (before, after))],
        [word("web_risk.after.at_risk", threshold=threshold),
         *(f"{messages.integer(side['at_risk'])} ({share_text(side['at_risk_share'])})" for side in (before, after))],
    ]  # fmt: skip
    table([word("web_risk.figure"), *head[1:]], lines, word("web_risk.after.title"), (1, 2))
    rows = [[names, share_text(first), share_text(second)] for names, first, second in found["scenarios"]]
    table(head, rows, word("web_risk.after.caption"), (1, 2), show_caption=True)
