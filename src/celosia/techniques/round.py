"""Random rounding to a base, without bias, in exact arithmetic (ATENEA 4.2.4, «redondeo»).

Knows numbers as they are written and one base. Ignores what they measure. A magnitude q·b + r, 0 ≤ r < b, goes up to
(q + 1)·b with probability r/b and else down to q·b, and keeps its sign; its expectation stays, and a multiple of the
base stays. Digits are split as text and counted in whole numbers of the base's last decimal, never in binary fractions:
base 0.1 gives 0.3. The draw has 53 bits, which is the precision of the probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.model.parameters import Number
from celosia.techniques._checks import check_columns, refuse_not_positive, wrong_setting
from celosia.techniques._columns import numbers_in, replace_cells
from celosia.techniques._contract import Settings, StepInput, StepOutcome
from celosia.techniques._draws import Draws
from celosia.techniques._families import perturbation
from celosia.techniques.errors import TooManyDigits

_DIGITS = 18  # a whole number of so many digits fits in 64 bits, and so does the next multiple of the base
_PARTS = r"^(?P<sign>[+-]?)0*(?P<whole>[0-9]*)\.?(?P<decimals>[0-9]*)$"


@dataclass(frozen=True, slots=True)
class SplitNumbers:
    """Numbers against a base: the multiple below the magnitude, the chance of the one above, and the sign."""

    below: NDArray[np.int64]  # q·b in units of the base's last decimal
    chance: NDArray[np.float64]  # r/b
    negative: NDArray[np.bool_]


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    check_columns("round", settings)
    refuse_not_positive("round", "base", settings["base"])
    base, places = scaled_base(settings["base"])
    columns, multiples = {}, {}
    for name in settings["columns"]:
        plain = numbers_in(given, name, settings, "round").plain
        chance = draws.uniform(given.lines)[plain]
        cells = given.columns[name].filter(pa.array(plain))
        split = split_by_base(cells, base, places, settings["decimal"], name)
        rounded = split.below + np.where(chance < split.chance, base, 0)
        texts = number_texts(rounded, split.negative, places, settings["decimal"])
        columns[name] = replace_cells(given.columns[name], plain, texts)
        multiples[name] = int((split.chance == 0).sum())
    return StepOutcome(columns, preserved=("expectation", "missing"), notes={"cells_already_multiples": multiples})


def scaled_base(base: Decimal) -> tuple[int, int]:
    """The base in units of its last decimal, and how many decimals it has."""
    plain = base.normalize()
    places = max(-int(plain.as_tuple().exponent), 0)
    scaled = int(plain.scaleb(places))
    if scaled >= 10**_DIGITS or places > _DIGITS:
        raise wrong_setting("round", "base", "base_digits")
    return scaled, places


def split_by_base(cells: pa.Array, base: int, places: int, decimal: str = ".", variable: str = "") -> SplitNumbers:
    """Cells that are numbers, against a base."""
    parts = pc.extract_regex(_plain_texts(cells, decimal), _PARTS)
    whole, decimals = parts.field("whole"), parts.field("decimals")
    near = pc.utf8_slice_codeunits(pc.utf8_rpad(decimals, places, "0"), 0, places)
    units = pc.utf8_ltrim(_join(whole, near), "0")
    too_long = int(pc.sum(pc.greater(pc.utf8_length(units), _DIGITS)).as_py() or 0)
    if too_long:
        raise TooManyDigits(technique="round", variable=variable, rows=too_long, digits=_DIGITS)
    counted = _cast(_join("0", units), pa.int64())
    beyond = _join("0", pc.utf8_slice_codeunits(decimals, places), ".")
    rest = counted % base
    chance = (rest + _cast(beyond, pa.float64())) / base
    negative = pc.equal(parts.field("sign"), "-").to_numpy(zero_copy_only=False)
    return SplitNumbers(counted - rest, np.asarray(chance, np.float64), np.asarray(negative, bool))


def _join(first: pa.Array | str, second: pa.Array, mark: str = "") -> pa.Array:
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


def number_texts(
    magnitude: NDArray[np.int64], negative: NDArray[np.bool_], places: int, decimal: str = "."
) -> pa.Array:
    """Whole numbers of the last decimal as text, without zeros at the end nor a negative zero."""
    digits = pc.utf8_lpad(pa.array(magnitude).cast(pa.large_string()), places + 1, "0")
    if places:
        whole = pc.utf8_slice_codeunits(digits, 0, -places)
        fraction = pc.utf8_rtrim(pc.utf8_slice_codeunits(digits, -places), "0")
        joined = _join(whole, fraction, decimal)
        digits = pc.if_else(pc.equal(fraction, ""), whole, joined)
    signed = _join("-", digits)
    return pc.if_else(pa.array(negative & (magnitude != 0)), signed, digits)


TECHNIQUE = perturbation("round", {"base": Number(required=True)}, _apply, shared="decimal unknown", norms=("A22",))
