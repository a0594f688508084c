"""Singling out: predicates read off the release that exactly one person of the original satisfies.

Knows published labels, what they cover, and the original that judges. Ignores sensitive values and files.
- A predicate is the label of a released record in a few columns, the fewest in which nobody else has the same
  (columns are added one at a time, the most isolating first). It holds for whoever has a value under each label.
- It succeeds when one person, and no other, of the original satisfies it.
- The control makes predicates of people who are not in the release, in the same manner: of people held out, published
  as the release publishes their values; in a full register of invented people, who replace half of the released
  ones with each column shuffled, while the other half is attacked. Both are chosen alike, so that
  where the release tells nothing about the original both succeed equally often. What the margins alone give away, like
  the only person with a label, is no excess.
Source: WP29 opinion 05/2014, section 2.2.1; Cohen, Nissim 2020 (predicates that isolate, against a baseline).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks.attack_input import (
    AttackInput,
    Codes,
    Flags,
    PublishedColumn,
    Records,
    equivalence_classes,
    inverted_index,
    most_protective_column,
    one_record_per_person,
    persons_per_class,
    random_subset,
    single_person_records,
)
from celosia.attacks.estimates import Trials, estimate, not_measured
from celosia.model.reports.attacks import Estimate, Risk

_NAME = "isolating_combination"
_RISK: Risk = "singling_out"
_OPEN = -1
_ENOUGH = 100_000  # records that choose the columns; all of them are then judged by those columns


@dataclass(frozen=True, slots=True)
class _Pool:
    """Labels of everybody among whom isolation is judged; the last column is 0, or 1 for a second release."""

    codes: Codes
    owners: Codes
    attacked: Flags  # records of the people attacked
    control: Flags  # records of the control


def singling_out(
    data: AttackInput, rng: np.random.Generator, *, attempts: int = 2_000, most_columns: int = 4
) -> Estimate:
    """How often a combination that is alone in the release is one person's alone in the original."""
    if not len(data.released) or not len(data.original) or not data.columns:
        return not_measured(_NAME, _RISK, "empty_release", control=data.control, variables=data.names)
    covers = [_covering_everything(column) for column in data.columns]
    pool = _add_invented_people(data.released, rng) if data.held_out is None else _add_outsiders(data, covers, rng)
    chain = _most_isolating(pool, most_columns, rng)
    queries, chosen = _predicates(pool, chain, rng)
    plausible = _plausible_predicates(queries, covers, data.released)
    attacked, controls = (np.flatnonzero(flags[chosen] & plausible) for flags in (pool.attacked, pool.control))
    samples = [random_subset(predicates, attempts, rng) for predicates in (attacked, controls)]
    tried, baseline = _judge_predicates(data, covers, queries, samples)
    names, released = tuple(data.names[column] for column in chain[-1]), data.released
    # People of the release itself among those with a predicate.
    isolated = chosen[plausible]
    alone = int(((pool.codes[isolated, -1] == 0) & ~pool.control[isolated]).sum())
    remedy = most_protective_column(
        names, chain[-1], lambda columns: _isolation(released.codes[:, columns], released.owners)[0]
    )
    return estimate(
        _NAME,
        _RISK,
        tried,
        control=data.control,
        baseline=baseline,
        reach=alone,
        variables=names,
        remedy=remedy,
        reason=None if len(attacked) else "nobody_alone",
        detail={"columns": len(names), "alone": alone},
    )


def _covering_everything(column: PublishedColumn) -> sparse.csr_array:
    """The labels of a column, and after them each value that no label covers, as a label of its own."""
    covered = np.asarray(column.covers.sum(axis=0)).reshape(-1) > 0
    if covered.all():
        return column.covers
    alone = sparse.csr_array(sparse.eye_array(column.covers.shape[1], dtype=np.bool_))[np.flatnonzero(~covered)]
    return sparse.csr_array(sparse.vstack([column.covers, alone]))


def _add_invented_people(released: Records, rng: np.random.Generator) -> _Pool:
    """The release and a second one where half of the people are invented: each of their columns is shuffled.

    The other half of the people is attacked in the first, the invented half is the control in the second; so both are
    isolated among the same people.
    """
    _, owners = np.unique(released.owners, return_inverse=True)
    invented = rng.permutation(owners.max() + 1) % 2 == 1
    fake = np.flatnonzero(invented[owners])
    second = released.codes.copy()
    second[fake] = np.stack([rng.permutation(column) for column in released.codes[fake].T], axis=1)
    codes = np.column_stack([np.concatenate([released.codes, second]), np.repeat([0, 1], len(released))])
    nobody = np.zeros(len(released), np.bool_)
    return _Pool(
        codes,
        np.concatenate([owners, owners + owners.max() + 1]),
        np.concatenate([~invented[owners], nobody]),
        np.concatenate([nobody, invented[owners]]),
    )


def _add_outsiders(data: AttackInput, covers: Sequence[sparse.csr_array], rng: np.random.Generator) -> _Pool:
    """The release and the people held out, under labels that the release gives to such values."""
    assert data.held_out is not None
    labels = [
        draw_labels(table, data.released.codes[:, c], data.original.codes[:, c], data.held_out.codes[:, c], rng)
        for c, table in enumerate(covers)
    ]
    codes = np.concatenate([data.released.codes, np.stack(labels, axis=1)])
    _, ours = np.unique(data.released.owners, return_inverse=True)
    _, theirs = np.unique(data.held_out.owners, return_inverse=True)
    mine = np.arange(len(codes)) < len(data.released)
    owners = np.concatenate([ours, theirs + ours.max() + 1])
    return _Pool(np.column_stack([codes, np.zeros(len(codes), np.int64)]), owners, mine, ~mine)


def draw_labels(
    covers: sparse.csr_array, released: Codes, original: Codes, values: Codes, rng: np.random.Generator
) -> Codes:
    """A label over each value, as often as the release uses it for the originals that it covers."""
    used = np.bincount(released, minlength=covers.shape[0]).astype(np.float64)
    behind = covers.astype(np.float64) @ np.bincount(original, minlength=covers.shape[1]).astype(np.float64)
    chance = (used + 1e-9) / np.maximum(behind, 1.0)  # a label never used is drawn only where there is no other
    over = sparse.csr_array(covers.T)
    weight = np.cumsum(np.append(0.0, chance[over.indices]))
    low, high = weight[over.indptr[values]], weight[over.indptr[values + 1]]
    place = np.searchsorted(weight, low + rng.random(len(values)) * (high - low), side="right") - 1
    return over.indices[np.clip(place, over.indptr[values], over.indptr[values + 1] - 1)].astype(np.int64)


def _most_isolating(pool: _Pool, most: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Growing combinations of columns: each adds the column that leaves most people alone, then most classes."""
    seen = random_subset(np.arange(len(pool.codes)), _ENOUGH, rng)
    codes, owners, side = pool.codes[seen], pool.owners[seen], pool.codes.shape[1] - 1
    chain: list[tuple[int, ...]] = [()]
    for _ in range(min(most, side)):
        grown = [(*chain[-1], c) for c in range(side) if c not in chain[-1]]
        chain.append(max(grown, key=lambda columns: _isolation(codes[:, [*columns, side]], owners)))
    return chain[1:]


def _isolation(codes: Codes, owners: Codes) -> tuple[int, int]:
    """People alone in a combination of columns, and classes."""
    classes, label = equivalence_classes(codes)
    return int((persons_per_class(label, owners, classes) == 1).sum()), classes


def _predicates(pool: _Pool, chain: Sequence[tuple[int, ...]], rng: np.random.Generator) -> tuple[Codes, Codes]:
    """A predicate of the fewest columns for each person who is alone in the chain, and the record it is read from."""
    queries, rows = [], []
    side = pool.codes.shape[1] - 1
    waiting = np.ones(len(pool.codes), bool)
    for columns in chain:
        alone = np.flatnonzero(waiting & single_person_records(pool.codes[:, [*columns, side]], pool.owners))
        chosen = alone[one_record_per_person(pool.owners[alone], rng)]
        predicates = np.full((len(chosen), side), _OPEN, np.int64)
        predicates[:, list(columns)] = pool.codes[chosen][:, list(columns)]
        queries.append(predicates)
        rows.append(chosen)
        waiting &= ~np.isin(pool.owners, pool.owners[chosen])
    return np.concatenate(queries), np.concatenate(rows)


def _plausible_predicates(queries: Codes, covers: Sequence[sparse.csr_array], released: Records) -> Flags:
    """Predicates that at most one person is expected to satisfy, columns taken apart; all, when there is none.

    Only where labels overlap: local recoding makes combinations that are alone because of how they are masked, and
    those isolate nobody. Where labels are apart, whoever is alone in the release is alone.
    """
    if not any(_overlap(table, released.codes[:, c]) for c, table in enumerate(covers)):
        return np.ones(len(queries), np.bool_)
    expected = np.full(len(queries), float(len(np.unique(released.owners))))
    for c, table in enumerate(covers):
        share = np.append(_label_shares(table, released.codes[:, c]), 1.0)  # the last for an open column
        expected *= share[queries[:, c]]
    at_most_one = expected <= 1
    return at_most_one if at_most_one.any() else ~at_most_one


def _overlap(covers: sparse.csr_array, released: Codes) -> bool:
    """Whether a value is under two labels that the release uses."""
    return bool((covers[np.unique(released)].astype(np.int64).sum(axis=0) > 1).any())


def _label_shares(covers: sparse.csr_array, released: Codes) -> NDArray[np.float64]:
    """Share of the released records expected under each label, values under a label being equally likely."""
    used = np.bincount(released, minlength=covers.shape[0])
    width = np.maximum(np.diff(covers.indptr), 1)
    by_value = covers.astype(np.float64).T @ (used / width)
    return np.asarray(covers.astype(np.float64) @ by_value / len(released), np.float64)


def _judge_predicates(
    data: AttackInput, covers: Sequence[sparse.csr_array], queries: Codes, groups: Sequence[Codes]
) -> list[Trials]:
    """How many predicates of each group one person of the original satisfies, and no other."""
    from celosia.kernels.queries import sole_persons

    index = inverted_index(data.original.codes, covers)
    owners = data.original.owners.astype(np.int64)
    return [Trials(len(group), int((sole_persons(index, queries[group], owners) >= 0).sum())) for group in groups]
