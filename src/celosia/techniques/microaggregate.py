"""Microaggregation: numbers are replaced by the mean of a group of at least k near records (ATENEA 4.2.4).

Knows the columns and strata it is given. Ignores roles and norms. One column is grouped optimally, several by MDAV on
standard scores; where the column of the persons is given, groups are joined with their nearest until each holds k
different persons, not rows of fewer. No group crosses a stratum, nor joins rows that lack different columns, so that
every published vector that holds a number repeats k times or more in its stratum. Cells without a number stay as they
are. A group has one text per column, written once, so that its rows cannot be distinguished.
Sources: Hansen and Mukherjee (2003); Domingo-Ferrer and Torra (2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia import messages
from celosia.data.numbers import number_texts
from celosia.model.parameters import Flag, Text, Whole
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import columns_of, encode_values, mask_cells, numbers_in, replace_cells, strata_of
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._groups import Grouping, distinct_by, group_records, join_small_groups
from celosia.techniques._identifiers import silent_cells
from celosia.techniques._parameters import COLUMNS, DECIMAL, DECIMALS, STRATA, UNKNOWN
from celosia.techniques.errors import GroupLargerThanTable, PatternsTooSmall, StrataTooSmall

_NAME = "microaggregate"
_SAFE = 3  # groups of two tell each member the other's value (ATENEA 4.2.4 asks for three)
Mask = NDArray[np.bool_]
Longs = NDArray[np.int64]


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    _check_settings(settings)
    names, k = settings["columns"], settings["k"]
    values, plain = _numbers(given, settings)
    numeric = np.logical_or.reduce(list(plain.values()))
    stratum, _ = strata_of(given, settings["strata"])
    person = _persons(given, settings)
    _refuse_small_strata(_count(stratum, None, numeric) > 0, _count(stratum, person, numeric), settings)
    cells = _cells(given, plain, stratum)
    sparse = numeric & (_count(cells, person, numeric)[cells] < k)
    if sparse.any() and settings["sparse"] == "refuse":
        raise PatternsTooSmall(technique=_NAME, rows=int(sparse.sum()), k=k, unit=_unit(settings))
    chosen = numeric & ~sparse
    if not chosen.any():
        return StepOutcome(columns={name: mask_cells(given.columns[name], plain[name] & sparse) for name in names})
    dense = np.unique(cells[chosen], return_inverse=True)[1].reshape(-1).astype(np.int64)
    values = values if chosen.all() else values[chosen]
    grouping = group_records(values, dense, k, settings["block"])
    if person is not None:
        grouping = join_small_groups(values, dense, grouping, person[chosen], k)
    outcome = _replace_by_aggregates(given, values, plain, grouping, chosen, settings)
    if person is None:
        return outcome
    fewest = int(distinct_by(grouping.label, person[chosen], len(grouping.sizes)).min())
    return replace(outcome, notes={**outcome.notes, "fewest_persons_in_a_group": fewest})


def _uses(settings: Settings) -> tuple[str, ...]:
    person = () if settings["person"] is None else (settings["person"],)
    return (*columns_of(settings), *person)


def _persons(given: StepInput, settings: Settings) -> Longs | None:
    """The person of each row as a number, -1 where the cell names nobody."""
    if settings["person"] is None:
        return None
    cells = given.columns[settings["person"]]
    return np.where(silent_cells(cells), -1, encode_values(cells)[0])


def _unit(settings: Settings) -> str:
    return messages.text("techniques.unit.rows" if settings["person"] is None else "techniques.unit.persons")


def _count(label: Longs, person: Longs | None, where: Mask) -> Longs:
    """The rows, or different persons, of each label among some rows."""
    many = int(label.max(initial=-1)) + 1
    if person is None:
        return np.bincount(label[where], minlength=many)
    return distinct_by(label[where], person[where], many)


def _numbers(given: StepInput, settings: Settings) -> tuple[NDArray[np.float64], dict[str, Mask]]:
    """A column of numbers per column, 0 where a cell holds none, and the cells that hold one."""
    values, plain = np.zeros((given.lines, len(settings["columns"]))), {}
    for position, name in enumerate(settings["columns"]):
        column = numbers_in(given, name, settings, _NAME)
        plain[name] = column.plain
        values[column.plain, position] = column.values[column.plain]
    return values, plain


def _check_settings(settings: Settings) -> None:
    """Refuse parameters that do not fit each other."""
    names = (*settings["columns"], *settings["strata"])
    if not settings["columns"] or len(set(names)) < len(names):
        raise wrong_setting(_NAME, "columns", "columns_apart")
    if settings["k"] < _SAFE and not settings["small_groups"]:
        raise wrong_setting(_NAME, "k", "groups_of_two")
    if settings["block"] is not None and settings["block"] < 2 * settings["k"]:
        raise wrong_setting(_NAME, "block", "block_of_two_groups")


def _refuse_small_strata(present: Mask, sizes: Longs, settings: Settings) -> None:
    """Refuse strata that hold numbers in some rows, but in fewer than k (or of fewer than k persons)."""
    k, unit = settings["k"], _unit(settings)
    small = int((present & (sizes < k)).sum())
    if small and settings["strata"]:
        raise StrataTooSmall(technique=_NAME, strata=small, k=k, unit=unit)
    if small:
        raise GroupLargerThanTable(technique=_NAME, rows=int(sizes.sum()), k=k, unit=unit)


def _cells(given: StepInput, plain: Mapping[str, Mask], stratum: Longs) -> Longs:
    """Rows of one stratum that hold numbers in the same columns and the same texts in the others share a cell."""
    cells = stratum
    for name, numbers in plain.items():
        if not numbers.all():
            number = pa.scalar("\x00", pa.large_string())  # stands for any number
            codes, size = encode_values(pc.if_else(pa.array(numbers), number, given.columns[name]))
            cells = np.unique(cells * size + codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return cells


def _replace_by_aggregates(
    given: StepInput,
    values: NDArray[np.float64],
    plain: Mapping[str, Mask],
    grouping: Grouping,
    chosen: Mask,
    settings: Settings,
) -> StepOutcome:
    """Replace the numbers of each group by their aggregate, and mask the numbers of the rows that are in none."""
    columns, lost, weighed = {}, 0.0, 0
    for position, (name, numbers) in enumerate(plain.items()):
        aggregates = _aggregate(values[:, position].copy(), grouping, settings["aggregate"])
        numeric = numbers[chosen]
        label = grouping.label[numeric]
        share = _share_lost(values[numeric, position], aggregates[label])
        if share is not None:
            lost, weighed = lost + share * len(label), weighed + len(label)
        texts = number_texts(aggregates, settings["decimals"], settings["decimal"]).take(pa.array(label))
        columns[name] = mask_cells(replace_cells(given.columns[name], numbers & chosen, texts), numbers & ~chosen)
    masked = int((np.logical_or.reduce(list(plain.values())) & ~chosen).sum())
    whole = settings["aggregate"] == "mean" and settings["decimals"] is None and not masked
    notes = _notes(grouping, lost / weighed if weighed else 0.0, masked)
    return StepOutcome(columns=columns, preserved=("total",) if whole else (), notes=notes)


def _aggregate(values: NDArray[np.float64], grouping: Grouping, kind: str) -> NDArray[np.float64]:
    """The number that stands for each group."""
    from celosia.kernels import groups

    if kind == "mean":
        return np.asarray(groups.group_means(values[np.argsort(grouping.label, kind="stable")], grouping.starts()))
    ascending = values[np.lexsort((values, grouping.label))]
    chosen = groups.group_medians if kind == "median" else groups.group_modes
    return np.asarray(chosen(ascending, grouping.starts()))


def _share_lost(values: NDArray[np.float64], published: NDArray[np.float64]) -> float | None:
    """SSE/SST of a column, or None where there is no variance to lose."""
    from celosia.kernels import mdav

    share = float(mdav.share_lost(values, published)) if len(values) else -1.0
    return share if share >= 0.0 else None


def _notes(grouping: Grouping, lost: float, masked: int) -> dict[str, Any]:
    return {
        "groups": len(grouping.sizes),
        "smallest_group": int(grouping.sizes.min()),
        "largest_group": int(grouping.sizes.max()),
        "information_loss": lost,  # SSE/SST on standard scores, 0 … 1
        "blocks": grouping.blocks,
        "rows_masked": masked,
    }


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.ROWS,
    params={
        "columns": COLUMNS,
        "k": Whole(default=_SAFE, minimum=2),
        "small_groups": Flag(default=False),
        "strata": STRATA,
        "person": Text(),
        "aggregate": Text(default="mean", choices=("mean", "median", "mode")),
        "sparse": Text(default="refuse", choices=("refuse", "mask")),
        "block": Whole(minimum=4),
        "decimals": DECIMALS,
        "decimal": DECIMAL,
        "unknown": UNKNOWN,
    },
    uses=_uses,
    apply=_apply,
    refuses=("no_rows", "one_row"),
    norms=("A19",),
)
