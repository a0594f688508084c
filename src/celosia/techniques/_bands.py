"""Half-open bands [low, high) for a technique, made by the hierarchies' builder of intervals.

Knows how a technique's settings become that builder's. Ignores how bands are cut and named
(`celosia.hierarchy`), so that a step and a hierarchy publish the same text for the same number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from celosia.hierarchy.registry import BUILDERS, build
from celosia.hierarchy.rows import to_rows
from celosia.model.parameters import Parameter, conflict
from celosia.model.values import SUPPRESSED

PARAMS: Mapping[str, Parameter] = next(builder for builder in BUILDERS if builder.name == "intervals").params
_MOST_BANDS = 100_000


def band_labels(values: Sequence[str], spec: Mapping[str, Any]) -> list[str | None]:
    """The band of each number written as text; None for what lies in no band."""
    given = {name: value for name, value in spec.items() if value is not None}
    hierarchy = build({"builder": "intervals", "height": 1, "uncovered": "suppress", **given}, values)
    label = {leaf: band for leaf, band, *_ in to_rows(hierarchy)}
    return [None if label[value] == SUPPRESSED else label[value] for value in values]


def covering(spec: Mapping[str, Any], low: Decimal, high: Decimal) -> dict[str, Any]:
    """Bands of one width up to the greatest number, and from the smallest where no start was declared.

    A band depends on start and width alone, so the ends found in the data add no information to a label.
    """
    width = spec["width"]
    if width is None or width <= 0 or spec["open_high"] or spec["end"] is not None:
        return dict(spec)
    start = spec["start"]
    if start is None:
        if -low / width > _MOST_BANDS:
            raise conflict("intervals", "start, end, width", "range")
        start = min(low, Decimal(0)) // width * width
        start -= width if start > low else 0  # the quotient of Decimals is cut towards zero
    return {**spec, "start": start, "end": max(high, start + width)}


def borders(spec: Mapping[str, Any]) -> list[Decimal]:
    """Every limit of the bands, in order; some of them may bound no band, which does no harm."""
    if spec["cuts"] is not None:
        return list(spec["cuts"])
    start, width = spec["start"] or Decimal(0), spec["width"]
    count = int((spec["end"] - start) // width) + 2
    return sorted({*(start + width * step for step in range(count + 1)), spec["end"]})
