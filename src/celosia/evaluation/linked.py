"""Records of two files matched by a key: which cells changed and by how much.

Knows the key's column in both samples. A key must name one row each; keys that stand in one file only are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from celosia.evaluation import numeric
from celosia.evaluation.errors import KeyRepeats, NoCommonRecord
from celosia.evaluation.sample import Flags, Floats, Integers, Sample, SampleColumn, both_numeric
from celosia.model.reports.evaluation import NumericLoss


@dataclass(frozen=True, slots=True)
class Links:
    """Positions of the same record in both samples."""

    before: Integers
    after: Integers

    def __len__(self) -> int:
        return len(self.before)


@dataclass(frozen=True, slots=True)
class CellChange:
    """Changed cells of one variable over the matched records, and what it did to its numbers."""

    cells: int
    il1s: float | None
    squared_error_share: float | None


def link_records(before: Sample, after: Sample, key: str, files: tuple[str, str]) -> Links:
    """The records that both files have; a key that is missing or repeated is refused."""
    for sample, file in zip((before, after), files, strict=True):
        rows = sample.tally_rows(key)
        column = sample.columns[key]
        unusable = int(rows[(rows > 1) | column.missing | column.masked].sum())
        if unusable:
            raise KeyRepeats(variable=key, file=file, rows=unusable)
    position = _positions(after.columns[key])
    pairs = [(i, position[text]) for text, i in _positions(before.columns[key]).items() if text in position]
    if not pairs:
        raise NoCommonRecord(variable=key)
    both = np.array(pairs, np.int64)
    return Links(both[:, 0], both[:, 1])


def cell_change(before: Sample, after: Sample, name: str, links: Links) -> CellChange:
    """What happened to a variable's cells."""
    a, b = before.columns[name], after.columns[name]
    changed = int((~_same_cells(a, b, links)).sum())
    if a.numbers is None or b.numbers is None:
        return CellChange(changed, None, None)
    x, y = a.values[links.before][:, None], b.values[links.after][:, None]
    return CellChange(changed, numeric.il1s(x, y), numeric.squared_error_share(x, y))


def numeric_loss(before: Sample, after: Sample, names: Sequence[str], links: Links) -> NumericLoss | None:
    """IL1s and its kin over the variables that are numbers in both files; None where there are none."""
    chosen = tuple(name for name in names if both_numeric(before, after, name))
    if not chosen:
        return None
    x, y = _matrix(before, chosen, links.before), _matrix(after, chosen, links.after)
    spectrum = numeric.eigenvalues(x, y)
    return NumericLoss(
        variables=chosen,
        records=len(links),
        il1s=numeric.il1s(x, y),
        il1s_per_cell=numeric.il1s_per_cell(x, y),
        squared_error_share=numeric.squared_error_share(x, y),
        eigenvalues=spectrum.difference,
        eigenvalues_used=spectrum.used,
        eigenvalues_zero=spectrum.zero,
        within_reach=numeric.within_reach(x, y),
    )


def _same_cells(a: SampleColumn, b: SampleColumn, links: Links) -> Flags:
    """Matched cells that say the same: the same number, or the same text."""
    texts = _texts(a)[links.before] == _texts(b)[links.after]
    if a.numbers is None or b.numbers is None:
        return np.asarray(texts, bool)
    return np.asarray(texts, bool) | (a.values[links.before] == b.values[links.after])


def _texts(column: SampleColumn) -> np.ndarray:
    return np.array(column.vocabulary, dtype=object)[column.codes]


def _positions(column: SampleColumn) -> dict[str, int]:
    return {column.vocabulary[code]: i for i, code in enumerate(column.codes.tolist())}


def _matrix(sample: Sample, names: Sequence[str], positions: Integers) -> Floats:
    return np.stack([sample.columns[name].values[positions] for name in names], axis=1)
