"""Targeted record swapping: whole households exchange their areas (Shlomo, Tudor and Groom 2010).

Knows persons as rows, their household, nested areas from coarse to fine, and the variables that must match. Ignores
what the areas are. Two households may exchange their areas when they have the same profile: as many persons, with the
same combinations of the match variables. So every area keeps its households, its persons, and how they are distributed
over the matched variables. A household is at risk at the coarsest level at which one of its members shares the risk
variables with fewer than k persons of its area. All households at risk are visited first, the coarsest level first; the
partner is drawn among those of another area of that level, within the same area one level up if there is any, else
farther away; whoever finds none there looks again one level finer, and is counted. Then households are drawn by chance
until `rate` of all of them have moved. Households of an area that is missing or masked stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.model.parameters import Many, Number, Text, Whole
from celosia.techniques._checks import refuse_not_share, refuse_repeated_names, wrong_setting
from celosia.techniques._columns import encode_values, strata_of
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques.errors import HouseholdMissing, HouseholdsApart

Rows = NDArray[np.int64]
_SILENT = r"^\**$"  # missing or masked


def uses(settings: Settings) -> tuple[str, ...]:
    """The household, its areas, and the variables that match or are at risk."""
    return (settings["household"], *settings["geography"], *settings["match"], *settings["risk"])


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    geography = settings["geography"]
    _check(settings)
    household, many = _households(given, settings["household"])
    first = _first_rows(household, many)
    levels = [strata_of(given, geography[: depth + 1])[0] for depth in range(len(geography))]
    _refuse_split_household(levels[-1], household, first, settings["household"])
    risk = risk_levels(given, settings, household, many, levels)
    areas = [np.zeros(many, np.int64), *(level[first] for level in levels)]
    known = _known_area(given, geography)[first]
    profile = profiles(household, strata_of(given, settings["match"])[0], many)
    target = math.ceil(Fraction(settings["rate"]) * many)
    partner = _partners(profile, areas, risk, known, target, (draws, first, given.lines))
    source = _source(partner, household, first)
    columns = {name: given.columns[name].take(pa.array(source)) for name in geography}
    at_risk = risk < len(geography)
    notes = {
        "households": many,
        "households_moved": int((partner >= 0).sum()),
        "households_at_risk": int(at_risk.sum()),
        "households_at_risk_without_partner": int((at_risk & (partner < 0)).sum()),
        "households_at_risk_moved_within_their_area": _count_moved_within(partner, risk, areas),
        "households_wanted": target,
        "households_without_area": int((~known).sum()),
    }
    return StepOutcome(columns, preserved=("households_per_area", "persons_per_area", "matched_per_area"), notes=notes)


def _check(settings: Settings) -> None:
    if not settings["geography"]:
        raise wrong_setting("swap_households", "geography", "some_column")
    refuse_repeated_names((settings["household"],), settings["geography"], settings["match"])
    refuse_repeated_names((settings["household"],), settings["geography"], settings["risk"])
    refuse_not_share("swap_households", "rate", settings["rate"])


def _households(given: StepInput, name: str) -> tuple[Rows, int]:
    cells = given.columns[name]
    silent = int(pc.sum(pc.match_substring_regex(cells, _SILENT)).as_py() or 0)
    if silent:
        raise HouseholdMissing(technique="swap_households", variable=name, rows=silent)
    return encode_values(cells)


def _first_rows(household: Rows, many: int) -> Rows:
    """The first row of each household, in canonical order."""
    first = np.full(many, len(household), np.int64)
    np.minimum.at(first, household, np.arange(len(household)))
    return first


def _refuse_split_household(area: Rows, household: Rows, first: Rows, name: str) -> None:
    apart = np.unique(household[area != area[first[household]]])
    if len(apart):
        raise HouseholdsApart(technique="swap_households", variable=name, households=len(apart))


def _known_area(given: StepInput, geography: Sequence[str]) -> NDArray[np.bool_]:
    known = np.ones(given.lines, bool)
    for name in geography:
        known &= ~pc.match_substring_regex(given.columns[name], _SILENT).to_numpy(zero_copy_only=False).astype(bool)
    return known


def risk_levels(given: StepInput, settings: Settings, household: Rows, many: int, levels: Sequence[Rows]) -> Rows:
    """The coarsest level at which a member of each household is one of fewer than k; the number of levels for none."""
    risk = np.full(many, len(levels), np.int64)
    if not settings["risk"]:
        return risk
    key, size = strata_of(given, settings["risk"])
    for depth in range(len(levels) - 1, -1, -1):
        label, count = np.unique(levels[depth] * size + key, return_inverse=True, return_counts=True)[1:]
        risk[household[count[label.reshape(-1)] < settings["k"]]] = depth
    return risk


def profiles(household: Rows, member: Rows, many: int) -> Rows:
    """A number per household, equal where size and the multiset of its members' matched values are."""
    order = np.lexsort((member, household))
    sizes = np.bincount(household, minlength=many)
    start = np.cumsum(sizes) - sizes
    label, used = np.zeros(many, np.int64), 0
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        members = member[order[start[alike][:, None] + np.arange(size)]]
        kind = np.unique(members, axis=0, return_inverse=True)[1].reshape(-1)
        label[alike] = used + kind
        used += int(kind.max(initial=-1)) + 1
    return label


def _partners(
    profile: Rows,
    areas: Sequence[Rows],
    risk: Rows,
    known: NDArray[np.bool_],
    target: int,
    chance: tuple[Draws, Rows, int],
) -> Rows:
    """The household each one exchanges its area with, -1 for none; areas[0] is the whole country."""
    draws, first, lines = chance
    partner = np.full(len(profile), -1, np.int64)
    deepest = len(areas) - 1
    turn = np.argsort(draws.raw(lines)[first], kind="stable")
    for depth in range(1, deepest + 1):
        for around in range(depth - 1, -1, -1):
            visit = turn[(risk[turn] < depth) & (partner[turn] < 0)]
            chosen = draws.uniform(lines)[first]
            partner = _pair(partner, known, (profile, areas[around], areas[depth]), visit, chosen, len(profile))
    for around in range(deepest - 1, -1, -1):
        left = target - int((partner >= 0).sum())
        visit = turn[partner[turn] < 0]
        chosen = draws.uniform(lines)[first]
        partner = _pair(partner, known, (profile, areas[around], areas[deepest]), visit, chosen, max(left, 0))
    return partner


def _pair(
    partner: Rows,
    known: NDArray[np.bool_],
    keys: tuple[Rows, Rows, Rows],
    visit: Rows,
    chance: NDArray[np.float64],
    target: int,
) -> Rows:
    """Partners of the same profile, within the same wider area, in another area."""
    from celosia.kernels.pairs import pair_up  # numba is loaded when a step needs it

    profile, wider, area = keys
    order = np.lexsort((area, wider, profile))
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    outer = _runs(profile[order], wider[order])
    inner = _runs(profile[order], wider[order], area[order])
    free = (known & (partner < 0))[order]
    pairs = pair_up(position[visit], free, outer[0], inner[0], inner[1], outer[1], chance[order], target)
    new = np.flatnonzero(pairs >= 0)
    partners = partner.copy()
    partners[order[new]] = order[pairs[new]]
    return partners


def _runs(*keys: Rows) -> tuple[Rows, Rows]:
    """Where the run of equal keys around each position begins and ends."""
    changes = np.ones(len(keys[0]), bool)
    changes[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    start = np.flatnonzero(changes)
    number = np.cumsum(changes) - 1
    return start[number], np.append(start[1:], len(changes))[number]


def _count_moved_within(partner: Rows, risk: Rows, areas: Sequence[Rows]) -> int:
    """Households at risk whose partner lives in the same area of the level at which they are at risk."""
    within = 0
    for depth, area in enumerate(areas[1:]):
        moved = np.flatnonzero((risk == depth) & (partner >= 0))
        within += int((area[moved] == area[partner[moved]]).sum())
    return within


def _source(partner: Rows, household: Rows, first: Rows) -> Rows:
    """The row each row takes its area from: one of the other household, or itself."""
    source = np.arange(len(household))
    moved = partner[household] >= 0
    source[moved] = first[partner[household[moved]]]
    return source


TECHNIQUE = Technique(
    name="swap_households",
    lines=Lines.ROWS,
    params={
        "household": Text(required=True),
        "geography": Many(Text(), required=True),
        "match": Many(Text(), default=()),
        "risk": Many(Text(), default=()),
        "k": Whole(default=3, minimum=2),
        "rate": Number(default=Decimal("0.1")),
    },
    uses=uses,
    apply=_apply,
    random=True,
    refuses=("all_missing",),
    norms=("A21",),
)
