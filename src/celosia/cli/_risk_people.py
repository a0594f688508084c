"""The people part of `celosia risk`: individual and household risk, three attackers, the population behind."""

from __future__ import annotations

from typing import Any

import click

from celosia import messages
from celosia.cli._risk_part import Asked, RiskPart, Watch
from celosia.cli._shell import option
from celosia.cli._show import print_table, say

_ASKING = ("people", "weight", "household", "population", "fraction", "alpha")
_HARDLY = 0.01  # expected re-identifications below which the number would print as zero
_SECTIONS = ("frequencies", "individual", "household", "global", "attackers", "population")
_EXPLAINED = ("frequency", "individual", "household_risk", "expected", "prosecutor", "journalist", "marketer",
              "k_map", "uniqueness")  # fmt: skip


def options() -> list[click.Parameter]:
    """What may be asked about people."""
    return [
        option("risk", "--people", is_flag=True),
        option("risk", "--weight", default=None),
        option("risk", "--household", default=None),
        option("risk", "--population", default=None),
        option("risk", "--population-count", default=None),
        option("risk", "--fraction", type=float, default=None),
        option("risk", "--alpha", type=float, default=None),
    ]


def is_asked(asked: Asked) -> bool:
    """Whether one of the options was given."""
    return any(asked[name] not in (None, False) for name in _ASKING)


def figures(found: Any, asked: Asked, watch: Watch) -> dict[str, Any]:
    """The sections of the people's risk."""
    from celosia.pipeline import people_risk_of

    named = asked["quasi"] or (asked["scenario"][0] if asked["scenario"] else None)
    chosen = {name: asked[name] for name in _ASKING[1:]}
    counted = people_risk_of(
        found, named, population_count=asked["population_count"], person=asked["person"], report=watch, **chosen
    ).as_dict()
    return {"people_variables": counted["variables"]} | {name: counted[name] for name in _SECTIONS}


def show(report: dict[str, Any], asked: Asked) -> None:
    """The sections as short tables, and in words what is left over."""
    title = messages.text("people_risk.title", variables=", ".join(report["people_variables"]))
    print_table(title, _header(), [*_frequency_lines(report), *_risk_lines(report)], right=(1,))
    _show_attackers(report["attackers"])
    if report["population"] is not None:
        _show_population(report["population"])
    expected = report["global"]["expected_reidentifications"]
    if expected < _HARDLY:
        say("people_risk.residual_small", expected=messages.decimal(_HARDLY, 2))
    else:
        shown = messages.decimal(expected, 2)
        say("people_risk.residual", expected=shown, share=_share(report["global"]["rate"]))


def _header() -> list[str]:
    return [messages.text("people_risk.figure"), messages.text("people_risk.value")]


def _frequency_lines(report: dict[str, Any]) -> list[list[str]]:
    found = report["frequencies"]
    lines = [
        _line("classes", messages.integer(found["classes"])),
        _line("smallest", _number(found["smallest_fk"])),
        _line("smallest_population", _number(found["smallest_Fk"])),
        _line("unique_rows", messages.integer(found["unique_rows"])),
    ]
    for k, rows in found["violations"].items():
        lines.append([messages.text("people_risk.below", k=int(k)), messages.integer(rows)])
    return lines


def _risk_lines(report: dict[str, Any]) -> list[list[str]]:
    lines = []
    for name in ("individual", "household"):
        section = report[name]
        if section is not None:
            lines += [
                _line(f"{name}_highest", _share(section["highest"])),
                _line(f"{name}_expected", messages.decimal(section["expected_reidentifications"], 2)),
                _line(f"{name}_rate", _share(section["rate"])),
                _line(f"{name}_high", messages.integer(section["high_rows"])),
            ]
    return lines


def _show_attackers(found: dict[str, Any]) -> None:
    kinds = [name for name in ("prosecutor", "journalist") if found[name] is not None]
    header = [messages.text("people_risk.attacker"), *(messages.text(f"people_risk.{name}") for name in kinds)]
    lines = [[messages.text(f"people_risk.{key}"), *(_share(found[name][key]) for name in kinds)]
             for key in ("highest", "mean")]  # fmt: skip
    for limit in found["prosecutor"]["above"]:
        label = messages.text("people_risk.above", threshold=messages.decimal(float(limit), 2))
        lines.append([label, *(_share(found[name]["above"][limit]) for name in kinds)])
    title = messages.text(f"people_risk.attackers_{found['unit']}")
    print_table(title, header, lines, right=tuple(range(1, len(header))))
    say("people_risk.marketer", share=_share(found["marketer"]))
    short = (found["journalist"] or {}).get("short_classes")
    if short:
        say("people_risk.short", classes=short)


def _show_population(found: dict[str, Any]) -> None:
    lines = [
        _line("size", messages.integer(round(found["size"]))),
        _line("sampling_fraction", _share(found["sampling_fraction"])),
    ]
    if found["k_map"] is not None:
        lines.append(_line("k_map", messages.integer(found["k_map"])))
    for model, share in found["uniqueness"].items():
        shown = "–" if share is None else f"{messages.integer(round(found['uniques'][model]))} ({_share(share)})"
        lines.append([messages.text(f"people_risk.model.{model}"), shown])
    print_table(messages.text("people_risk.population_title"), _header(), lines, right=(1,))
    say(f"people_risk.chosen_{found['chosen']}")


def _line(key: str, value: str) -> list[str]:
    return [messages.text(f"people_risk.{key}"), value]


def _share(value: float | None) -> str:
    return "–" if value is None else messages.part(value)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return messages.integer(int(value)) if value == int(value) else messages.decimal(value, 2)


PART = RiskPart(
    options,
    figures,
    show,
    _EXPLAINED,
    is_asked=is_asked,
    needs_roles=lambda asked: is_asked(asked) and not (asked["quasi"] or asked["scenario"]),
)
