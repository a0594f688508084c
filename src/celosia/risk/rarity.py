"""Rare values, and the variables they make a strong indirect identifier.

Knows the values of one column and how many units hold each. Ignores files. Missing, masked and unknown cells are no
values. A proposal, with its reason: a person decides.
Source: MEL protocol III.2 (three levels of identifiers; rare diseases and unusual posts are strong).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.model.reports.rarity import StrongReason, VariableRarity
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Kind, Role, Scale, Variable

Counts = NDArray[np.int64]
_NEARLY = 9, 10  # nine values in ten of one unit alone make a variable nearly unique
_FEW = 20  # in fewer units than these nothing is said about being nearly unique


def rare_flags(
    vocabulary: Sequence[str], units: Counts, threshold: int, unknown: Collection[str] = ()
) -> NDArray[np.bool_]:
    """Which values at least one and at most `threshold` units hold."""
    return plain_flags(vocabulary, unknown) & (units > 0) & (units <= threshold)


def plain_flags(vocabulary: Sequence[str], unknown: Collection[str] = ()) -> NDArray[np.bool_]:
    """Which texts of a vocabulary are values: neither missing, masked nor unknown."""
    return np.array([kind_of(value, unknown) is CellKind.PLAIN for value in vocabulary], bool)


def rare_values(vocabulary: Sequence[str], units: Counts, threshold: int, variable: Variable) -> VariableRarity:
    """Counts of the rare values of a variable, and why it would be a strong identifier."""
    plain = plain_flags(vocabulary, variable.unknown) & (units > 0)
    rare = plain & (units <= threshold)
    single = int((plain & (units == 1)).sum())
    rarity = VariableRarity(variable.name, int(plain.sum()), int(rare.sum()), int(units[rare].sum()), single)
    return replace(rarity, strong=strong_reason(variable, rarity))


def strong_reason(variable: Variable, rarity: VariableRarity) -> StrongReason | None:
    """Why a variable points at people nearly by itself; None where it does not."""
    if variable.role is Role.IDENTIFIER:
        return StrongReason.NATURE if variable.strong else None
    part, whole = _NEARLY
    nearly = rarity.values >= _FEW and rarity.single_values * whole >= part * rarity.values
    category = variable.scale is Scale.CATEGORICAL
    if category and not nearly and rarity.rare_values and _known_to_others(variable):
        return StrongReason.RARE
    if variable.strong:
        return StrongReason.NATURE
    return StrongReason.NEARLY_UNIQUE if category and nearly else None


def _known_to_others(variable: Variable) -> bool:
    """Whether a rare category is what people say of somebody, like an illness or a post; a rare place is not."""
    special = variable.strong or variable.special or variable.role is Role.SENSITIVE
    return special and variable.kind is not Kind.LOCATION


def list_values(vocabulary: Sequence[str], units: Counts, flags: NDArray[np.bool_]) -> tuple[tuple[str, int], ...]:
    """The flagged values with their units, fewest first: shown on request only."""
    values = [(vocabulary[code], int(units[code])) for code in np.flatnonzero(flags).tolist()]
    return tuple(sorted(values, key=lambda value: (value[1], value[0])))
