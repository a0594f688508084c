"""Made people for the attacks: populations with habits, releases that tell nothing, and labels over values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks.attack_input import AttackInput, PublishedColumn, Records, unchanged_column

SIZES = (12, 9, 8, 6)
NAMES = ("edad", "comuna", "ocupacion", "causa")
Codes = NDArray[np.int64]


def chance(seed: int) -> np.random.Generator:
    """The generator of a seed."""
    return np.random.Generator(np.random.Philox(seed))


def people(size: int, rng: np.random.Generator) -> Codes:
    """People with habits: a hidden kind of person skews all columns at once."""
    kind = rng.integers(0, 3, size)
    return np.stack([(rng.random(size) ** (1.5 + kind / 2) * width).astype(np.int64) for width in SIZES], axis=1)


def plain_columns() -> tuple[PublishedColumn, ...]:
    """Columns published as they are."""
    return tuple(unchanged_column(name, size) for name, size in zip(NAMES, SIZES, strict=True))


def banded(name: str, size: int, width: int) -> PublishedColumn:
    """A column published as itself, in bands or masked: labels are the values, then the bands, then `*`."""
    values = np.arange(size)
    bands = -(-size // width)
    rows = np.concatenate([values, size + values // width, np.full(size, size + bands)])
    shape = (size + bands + 1, size)
    table = sparse.coo_array((np.ones(3 * size, np.bool_), (rows, np.tile(values, 3))), shape=shape)
    return PublishedColumn(name, sparse.csr_array(table))


def banded_columns(width: int = 3) -> tuple[PublishedColumn, ...]:
    """Columns that may be recoded locally."""
    return tuple(banded(name, size, width) for name, size in zip(NAMES, SIZES, strict=True))


def recoded(values: Codes, rng: np.random.Generator, width: int = 3) -> Codes:
    """Labels of `banded_columns`: one cell in two in a band, one in ten masked."""
    draw = rng.random(values.shape)
    bands = np.array([-(-size // width) for size in SIZES])
    labels = np.where(draw < 0.5, np.array(SIZES) + values // width, values)
    return np.where(draw > 0.9, np.array(SIZES) + bands, labels)


def unrelated(seed: int, controls: int, rows: int = 400, *, local: bool = False) -> AttackInput:
    """A release about other people of the same population, and people held out."""
    rng = chance(seed)
    original, others, outside = (people(size, rng) for size in (rows, rows, controls))
    if local:
        return AttackInput(banded_columns(), Records(recoded(others, rng)), Records(original), Records(outside))
    return AttackInput(plain_columns(), Records(others), Records(original), Records(outside))


def _shuffled(codes: Codes, rng: np.random.Generator) -> Codes:
    """Each column permuted apart from the others."""
    return np.stack([rng.permutation(column) for column in codes.T], axis=1)


def permuted(seed: int, rows: int = 400, *, known_persons: bool = False) -> AttackInput:
    """A register and a release of it whose columns were permuted one by one: the same margins and no record."""
    rng = chance(seed)
    original = people(rows, rng)
    persons = np.arange(rows) if known_persons else None
    return AttackInput(plain_columns(), Records(_shuffled(original, rng), persons), Records(original, persons))


def permuted_with_outsiders(seed: int, controls: int, rows: int = 400) -> AttackInput:
    """The same with people held out.

    Everybody's columns are permuted: next to people with habits, a release of impossible people does worse than its
    control. And the release still tells the margins of its own original, which outsiders do not share: in a small
    original that is a little to know, so it must not be small beside many controls.
    """
    rng = chance(seed)
    everybody = _shuffled(people(rows + controls, rng), rng)
    original = everybody[:rows]
    return AttackInput(plain_columns(), Records(_shuffled(original, rng)), Records(original), Records(everybody[rows:]))


def untreated(seed: int, controls: int = 0, rows: int = 400) -> AttackInput:
    """The original published as it is."""
    rng = chance(seed)
    original = Records(people(rows, rng), np.arange(rows))
    return AttackInput(plain_columns(), original, original, Records(people(controls, rng)) if controls else None)
