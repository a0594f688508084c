"""Random rounding to a base, without bias, in exact arithmetic (ATENEA 4.2.4, «redondeo»).

Knows numbers as they are written and one base. Ignores what they measure. A magnitude q·b + r, 0 ≤ r < b, goes up to
(q + 1)·b with probability r/b and else down to q·b, and keeps its sign; its expectation stays, and a multiple of the
base stays. Digits are split as text and counted in whole numbers of the base's last decimal, never in binary fractions:
base 0.1 gives 0.3. The draw has 53 bits, which is the precision of the probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.errors import TooManyDigits
from celosia.model.parameters import Param
from celosia.techniques._contract import (
    COLUMNS,
    DECIMAL,
    UNKNOWN,
    Given,
    Lines,
    Outcome,
    Settings,
    Technique,
    columns_of,
    numbers_in,
    placed,
)
from celosia.techniques._draws import Draws
from celosia.techniques._settings import above_zero, named_once, some_column, wrong

_DIGITS = 18  # a whole number of so many digits fits in 64 bits, and so does the next multiple of the base
_PARTS = r"^(?P<sign>[+-]?)0*(?P<whole>[0-9]*)\.?(?P<decimals>[0-9]*)$"


def two_choices(value: Decimal, base: Decimal) -> tuple[Fraction, Fraction, Fraction]:
    """The multiples of the base below and above a number, and the probability of the one above."""
    exact, step = Fraction(value), Fraction(base)
    low = exact // step * step
    return (low, low, Fraction(0)) if low == exact else (low, low + step, (exact - low) / step)


@dataclass(frozen=True, slots=True)
class Split:
    """Numbers against a base: the multiple below the magnitude, the chance of the one above, and the sign."""

    below: NDArray[np.int64]  # q·b in units of the base's last decimal
    chance: NDArray[np.float64]  # r/b
    negative: NDArray[np.bool_]


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    some_column("round", settings["columns"])
    named_once(settings["columns"])
    above_zero("round", "base", settings["base"])
    base, places = scaled_base(settings["base"])
    made, kept = {}, {}
    for name in settings["columns"]:
        plain = numbers_in(given, name, settings, "round").plain
        chance = draws.uniform(given.lines)[plain]
        cells = given.columns[name].filter(pa.array(plain))
        split = split_by_base(cells, base, places, settings["decimal"], name)
        rounded = split.below + np.where(chance < split.chance, base, 0)
        texts = written(rounded, split.negative, places, settings["decimal"])
        made[name] = placed(given.columns[name], plain, texts)
        kept[name] = int((split.chance == 0).sum())
    return Outcome(made, preserved=("expectation", "missing"), notes={"cells_already_multiples": kept})


def scaled_base(base: Decimal) -> tuple[int, int]:
    """The base in units of its last decimal, and how many decimals it has."""
    plain = base.normalize()
    places = max(-int(plain.as_tuple().exponent), 0)
    scaled = int(plain.scaleb(places))
    if scaled >= 10**_DIGITS or places > _DIGITS:
        raise wrong("round", "base", "base_digits")
    return scaled, places


def split_by_base(cells: pa.Array, base: int, places: int, decimal: str = ".", variable: str = "") -> Split:
    """Cells that are numbers, against a base."""
    parts = pc.extract_regex(_plain_texts(cells, decimal), _PARTS)
    whole, decimals = parts.field("whole"), parts.field("decimals")
    near = pc.utf8_slice_codeunits(pc.utf8_rpad(decimals, places, "0"), 0, places)
    units = pc.utf8_ltrim(_joined(whole, near), "0")
    too_long = int(pc.sum(pc.greater(pc.utf8_length(units), _DIGITS)).as_py() or 0)
    if too_long:
        raise TooManyDigits(technique="round", variable=variable, rows=too_long, digits=_DIGITS)
    counted = _cast(_joined("0", units), pa.int64())
    beyond = _joined("0", pc.utf8_slice_codeunits(decimals, places), ".")
    rest = counted % base
    chance = (rest + _cast(beyond, pa.float64())) / base
    negative = pc.equal(parts.field("sign"), "-").to_numpy(zero_copy_only=False)
    return Split(counted - rest, np.asarray(chance, np.float64), np.asarray(negative, bool))


def _joined(first: pa.Array | str, second: pa.Array, mark: str = "") -> pa.Array:
    """Texts put together, with a mark between."""
    start = pa.scalar(first, pa.large_string()) if isinstance(first, str) else first
    return pc.binary_join_element_wise(start, second, pa.scalar(mark, pa.large_string()))


def _cast(texts: pa.Array, kind: pa.DataType) -> NDArray[Any]:
    return np.asarray(texts.cast(kind).to_numpy(zero_copy_only=False))


def _plain_texts(cells: pa.Array, decimal: str) -> pa.Array:
    """Cells with a point and without an exponent; the few that have one are written out."""
    pointed = pc.replace_substring(pc.utf8_trim_whitespace(cells), decimal, ".")
    exponent = pc.match_substring(pointed, "e", ignore_case=True)
    if not pc.any(exponent).as_py():
        return pointed
    long = [f"{Decimal(text):f}" for text in pointed.filter(exponent).to_pylist()]
    return pc.replace_with_mask(pointed, exponent, pa.array(long, pointed.type))


def written(magnitude: NDArray[np.int64], negative: NDArray[np.bool_], places: int, decimal: str = ".") -> pa.Array:
    """Whole numbers of the last decimal as text, without zeros at the end nor a negative zero."""
    digits = pc.utf8_lpad(pa.array(magnitude).cast(pa.large_string()), places + 1, "0")
    if places:
        whole = pc.utf8_slice_codeunits(digits, 0, -places)
        fraction = pc.utf8_rtrim(pc.utf8_slice_codeunits(digits, -places), "0")
        joined = _joined(whole, fraction, decimal)
        digits = pc.if_else(pc.equal(fraction, ""), whole, joined)
    signed = _joined("-", digits)
    return pc.if_else(pa.array(negative & (magnitude != 0)), signed, digits)


TECHNIQUE = Technique(
    name="round",
    lines=Lines.ROWS,
    params={"columns": COLUMNS, "base": Param("number", required=True), "decimal": DECIMAL, "unknown": UNKNOWN},
    uses=columns_of,
    apply=_apply,
    random=True,
    norms=("A22",),
)
