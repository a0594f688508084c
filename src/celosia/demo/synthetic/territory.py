"""Where people live and are treated: comunas with weights, regions, invented establishments.

Knows the official code lists and populations in thousands, rounded by hand: good enough for weights, not for use as
figures. Ignores people. The establishments are invented.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.demo.synthetic.draws import Flags, Index, Weighted, below
from celosia.demo.synthetic.words import PLACES
from celosia.hierarchy.official import lookup

UNKNOWN_CODE, ABROAD_CODE = "99999", "88888"
_UNKNOWN_REGION, _ABROAD_REGION = "99", "88"
_CAPITAL_REGION = "13"

_REGIONS_THOUSANDS = {
    entry.split()[0]: int(entry.split()[1])
    for entry in """
    01 330, 02 610, 03 290, 04 760, 05 1820, 06 915, 07 1045, 08 1560, 09 960, 10 830, 11 103,
    12 167, 13 7110, 14 385, 15 226, 16 480
    """.split(",")
}
_LARGE_THOUSANDS = """
01101 190 01107 110 02101 360 02201 165 03101 155 03301 50 04101 220 04102 230 04301 110 05101 295 05109 335 05301 65
05501 90 05601 90 05701 75 05801 150 05804 125 06101 240 06115 60 06301 75 07101 220 07301 150 07401 95 08101 225
08102 115 08103 85 08106 45 08107 45 08108 130 08110 150 08111 55 08112 90 08301 200 09101 280 09112 75 09120 55
09201 55 10101 245 10201 45 10301 160 11101 58 11201 24 12101 130 12401 20 13101 405 13102 80 13103 135 13104 125
13105 160 13106 145 13107 100 13108 100 13109 90 13110 365 13111 115 13112 175 13113 95 13114 295 13115 105 13116 100
13117 95 13118 115 13119 520 13120 210 13121 100 13122 240 13123 140 13124 230 13125 210 13126 110 13127 160 13128 145
13129 95 13130 110 13131 82 13132 85 13201 570 13301 145 13302 100 13401 300 13402 95 13404 75 13501 125 13601 75
13604 65 13605 90 14101 165 14201 38 15101 220 16101 185 16301 55
"""


class Territory:
    """Comunas ready to be drawn, followed by the two that are none: unknown and abroad."""

    def __init__(self) -> None:
        listed = lookup("cl-cut")
        codes = list(listed.codes())
        self.unknown, self.abroad = len(codes), len(codes) + 1
        self.codes = pa.array([*codes, UNKNOWN_CODE, ABROAD_CODE])
        self.names = pa.array([*(listed.name(code) for code in codes), "Ignorada", "Extranjero"])
        regions = [code[:2] for code in codes]
        self.regions = pa.array([*regions, _UNKNOWN_REGION, _ABROAD_REGION])
        self._weighted = Weighted(_weights(codes))
        self.establishments = Establishments(sorted(set(regions)))
        number_of_region = {region: number for number, region in enumerate(sorted(set(regions)))}
        capital = number_of_region[_CAPITAL_REGION]
        self.region_number = np.array([*(number_of_region[r] for r in regions), capital, capital], dtype=np.int64)
        self.capital = capital

    def draw(self, rng: np.random.Generator, count: int) -> Index:
        """Comunas by population."""
        return self._weighted.draw(rng, count)


def _weights(codes: list[str]) -> NDArray[np.int64]:
    """Population of each comuna: ours where known, else a falling part of what its region has left."""
    parts = _LARGE_THOUSANDS.split()
    known = {code: 1000 * int(number) for code, number in zip(parts[::2], parts[1::2], strict=True)}
    weights = dict(known)
    for region, thousands in _REGIONS_THOUSANDS.items():
        small = [c for c in codes if c.startswith(region) and c not in known]
        left = 1000 * thousands - sum(number for code, number in known.items() if code.startswith(region))
        parts_of_left = [1 / (rank + 3) for rank in range(len(small))]
        for code, part in zip(small, parts_of_left, strict=True):
            weights[code] = max(300, int(left * part / sum(parts_of_left)))
    return np.array([weights[code] for code in codes])


class Establishments:
    """Invented hospitals and clinics; whether one is public follows from it."""

    def __init__(self, regions: list[str]) -> None:
        codes: list[str] = []
        names: list[str] = []
        public: list[bool] = []
        start: list[int] = []
        size: list[int] = []
        for number, region in enumerate(regions):
            for private in (False, True):
                count = max(2, _REGIONS_THOUSANDS[region] // (260 if private else 120))
                start.append(len(codes))
                size.append(count)
                codes += [f"{region}{2 if private else 1}{100 + i}" for i in range(count)]
                names += [_establishment_name(region, number, i, private) for i in range(count)]
                public += [not private] * count
        self.codes, self.names = pa.array(codes), pa.array(names)
        self.public = np.array(public)
        self._start, self._size = np.array(start), np.array(size)

    def draw(self, rng: np.random.Generator, region: Index, private: Flags) -> Index:
        """An establishment of each region, the first ones more often."""
        cell = region * 2 + private
        skew = rng.random(len(region))
        return self._start[cell] + below(rng, (self._size[cell] * skew).astype(np.int64) + 1, len(region))


def _establishment_name(region: str, number: int, order: int, private: bool) -> str:
    """`Hospital Los Peumos (R05-3)`: plainly not a real one."""
    place = PLACES.words[(31 * number + order) % len(PLACES.words)]
    return f"{'Clínica' if private else 'Hospital'} Los {place} (R{region}-{order + 1})"


@cache
def territory() -> Territory:
    """Chile, made once."""
    return Territory()
