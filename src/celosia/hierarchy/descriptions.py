"""Descriptions of hierarchies as Python functions: what celosia.toml says of one, without a file.

Knows the names and parameters of the builders. Ignores values: they are placed when the data are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Description = dict[str, Any]


def intervals(
    width: float | None = None,
    *,
    start: float | None = None,
    end: float | None = None,
    cuts: Sequence[float] | None = None,
    factor: int = 2,
    label: str | None = None,
    top: bool = True,
) -> Description:
    """Intervals of a width (or between cuts), each next level joining `factor` of them, `*` on top.

    Without `start` and `end` they cover the values of the data; `label` words them, as in "{low}–{high}".
    """
    whole = all(float(number).is_integer() for number in (width, start, end, *(cuts or ())) if number is not None)
    given = {"width": width, "start": start, "end": end, "cuts": None if cuts is None else list(cuts), "label": label}
    stated = {name: value for name, value in given.items() if value is not None}
    return {"builder": "intervals", **stated, "factor": factor, "whole": whole, "top": top, "uncovered": "suppress"}


def mask(
    steps: Sequence[int] | None = None, *, side: Literal["right", "left"] = "right", width: int | None = None
) -> Description:
    """Characters hidden from one side: one more at each level, or as many as `steps` says."""
    given = {"steps": None if steps is None else list(steps), "width": width}
    return {"builder": "mask", "side": side, **{name: value for name, value in given.items() if value is not None}}


def dates(
    levels: Sequence[Literal["month", "quarter", "semester", "year", "span"]] = ("month", "quarter", "year"),
    *,
    format: str = "yyyy-mm-dd",
    span: int = 5,
    top: bool = True,
) -> Description:
    """Months, quarters, years of dates, `*` on top; a text that is no date becomes `*`."""
    return {
        "builder": "dates",
        "format": format,
        "levels": list(levels),
        "span": span,
        "top": top,
        "uncovered": "suppress",
    }


def groups(*levels: Mapping[str, Sequence[str]], top: bool = True) -> Description:
    """Groups named by hand, {label: [values]}, one mapping per level from the finest up, `*` on top."""
    tables = [{label: list(members) for label, members in level.items()} for level in levels]
    return {"builder": "groups", "levels": tables, "top": top}


def official(
    name: Literal["cl-cut", "co-divipola", "py-distritos", "pe-ubigeo", "icd10", "countries"],
    levels: Sequence[str] | None = None,
    *,
    labels: Literal["code", "name", "both"] = "code",
    pad: bool = False,
    top: bool = True,
) -> Description:
    """The levels of an official list of codes; a code that the list lacks becomes `*`."""
    stated = {} if levels is None else {"levels": list(levels)}
    spec = {"builder": "official", "list": name, **stated, "labels": labels, "pad": pad}
    return {**spec, "top": top, "uncovered": "suppress"}
