"""The people part of `celosia risk`: individual and household risk, three attackers, the population."""

from __future__ import annotations

from typing import Any

import click

from celosia import messages
from celosia.cli.assessment.risk_part import RiskPart, Settings, Watch
from celosia.cli.shell import option
from celosia.cli.show import labels, print_table, say

_REQUEST = ("people", "weight", "household", "population", "fraction", "alpha")
# Expected re-identifications below which the number would print as zero.
_SMALLEST_SHOWN = 0.01
_SECTIONS = ("frequencies", "individual", "household", "global", "attackers", "population")
_EXPLAINED = "frequency individual household_risk expected prosecutor journalist marketer k_map uniqueness".split()


def options() -> list[click.Parameter]:
    """The options about people."""
    return [
        option("risk", "--people", is_flag=True),
        option("risk", "--weight", default=None),
        option("risk", "--household", default=None),
        option("risk", "--population", default=None),
        option("risk", "--population-count", default=None),
        option("risk", "--fraction", type=float, default=None),
        option("risk", "--alpha", type=float, default=None),
    ]


def is_requested(settings: Settings) -> bool:
    """Whether one of the options was given."""
    return any(settings[name] not in (None, False) for name in _REQUEST)


def figures(data: Any, settings: Settings, watch: Watch) -> dict[str, Any]:
    """The sections of the people's risk."""
    from celosia.pipeline.assessment.individual_risk import people_risk

    named = settings["quasi"] or (settings["scenario"][0] if settings["scenario"] else None)
    chosen = {name: settings[name] for name in _REQUEST[1:]}
    risk = people_risk(
        data, named, population_count=settings["population_count"], person=settings["person"], report=watch, **chosen
    ).as_dict()
    return {"people_variables": risk["variables"]} | {name: risk[name] for name in _SECTIONS}


def show(report: dict[str, Any], settings: Settings) -> None:
    """The sections as short tables, and the residual risk in words."""
    title = messages.text("people_risk.title", variables=", ".join(report["people_variables"]))
    print_table(title, labels("people_risk", "figure", "value"), _figure_lines(report), right=(1,))
    _show_attackers(report["attackers"])
    if report["population"] is not None:
        _show_population(report["population"])
    expected = report["global"]["expected_reidentifications"]
    if expected < _SMALLEST_SHOWN:
        say("people_risk.residual_small", expected=messages.decimal(_SMALLEST_SHOWN, 2))
    else:
        share = _share(report["global"]["rate"])
        say("people_risk.residual", expected=messages.decimal(expected, 2), share=share)


def _figure_lines(report: dict[str, Any]) -> list[list[str]]:
    frequencies = report["frequencies"]
    lines = [
        _line("classes", messages.integer(frequencies["classes"])),
        _line("smallest", _number(frequencies["smallest_fk"])),
        _line("smallest_population", _number(frequencies["smallest_Fk"])),
        _line("unique_rows", messages.integer(frequencies["unique_rows"])),
    ]
    for k, rows in frequencies["violations"].items():
        lines.append([messages.text("people_risk.below", k=int(k)), messages.integer(rows)])
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


def _show_attackers(attackers: dict[str, Any]) -> None:
    kinds = [name for name in ("prosecutor", "journalist") if attackers[name] is not None]
    header = labels("people_risk", "attacker", *kinds)
    lines = [_line(key, *(_share(attackers[name][key]) for name in kinds)) for key in ("highest", "mean")]
    for limit in attackers["prosecutor"]["above"]:
        label = messages.text("people_risk.above", threshold=messages.decimal(float(limit), 2))
        lines.append([label, *(_share(attackers[name]["above"][limit]) for name in kinds)])
    title = messages.text(f"people_risk.attackers_{attackers['unit']}")
    print_table(title, header, lines, right=tuple(range(1, len(header))))
    say("people_risk.marketer", share=_share(attackers["marketer"]))
    short = (attackers["journalist"] or {}).get("short_classes")
    if short:
        say("people_risk.short", classes=short)


def _show_population(population: dict[str, Any]) -> None:
    lines = [
        _line("size", messages.integer(round(population["size"]))),
        _line("sampling_fraction", _share(population["sampling_fraction"])),
    ]
    if population["k_map"] is not None:
        lines.append(_line("k_map", messages.integer(population["k_map"])))
    for model, share in population["uniqueness"].items():
        text = "–" if share is None else f"{messages.integer(round(population['uniques'][model]))} ({_share(share)})"
        lines.append([messages.text(f"people_risk.model.{model}"), text])
    header = labels("people_risk", "figure", "value")
    print_table(messages.text("people_risk.population_title"), header, lines, right=(1,))
    say(f"people_risk.chosen_{population['chosen']}")


def _line(key: str, *values: str) -> list[str]:
    return [messages.text(f"people_risk.{key}"), *values]


def _share(value: float | None) -> str:
    return "–" if value is None else messages.part(value)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return messages.integer(int(value)) if value == int(value) else messages.decimal(value, 2)


def needs_roles(settings: Settings) -> bool:
    """Whether nothing says which variables an attacker knows."""
    return is_requested(settings) and not (settings["quasi"] or settings["scenario"])


PART = RiskPart(options, figures, show, tuple(_EXPLAINED), is_requested, needs_roles)
