"""Linkability: two partial views of people put together through the release.

Knows labels, what they cover, published pseudonyms, persons. Ignores what columns mean, and files. Two attacks:
- *two_views*: somebody holds some columns of a person and, nameless, other columns of several people, one of whom is
  the same person (a line-up). He points to the one that the release joins best to the first view: the most people of
  the release who fit both views among those who fit the second, by chance among equals.
- *rows_together*: the same with two records of one person, where the release repeats a pseudonym on all records of a
  person: records under one pseudonym are read together.
He succeeds when he points to the right person; by luck alone, one in the size of the line-up.
The control: people held out, in line-ups from the same pool. In a full register nobody is held out. There, half of the
people serve as control: their second views are shuffled among them (margins); for rows_together the pseudonyms of the
release are shuffled among its records, since two records of one person look alike anyway.
Source: WP29 opinion 05/2014, section 2.2.2; the line-up is the forced choice of signal detection (Green, Swets 1966).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from celosia.attacks.attack_input import (
    AttackInput,
    Codes,
    Flags,
    Records,
    equivalence_classes,
    inverted_index,
    most_protective_column,
    persons_per_class,
    random_subset,
    single_person_records,
)
from celosia.attacks.estimates import Trials, estimate, not_measured
from celosia.model.reports.attacks import Control, Estimate, Risk

TWO_VIEWS, ROWS_TOGETHER = "two_views", "rows_together"
_RISK: Risk = "linkability"
_OPEN = -1
_LONGEST = 62  # people in a line-up: the bits of a word


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """A published column whose values stand for persons: its name, and the code on each released record."""

    name: str
    codes: Codes

    @property
    def repeats(self) -> bool:
        """Whether any pseudonym is on more than one record."""
        return len(np.unique(self.codes)) < len(self.codes)

    def shuffle(self, rng: np.random.Generator) -> Pseudonyms:
        """The same pseudonyms shuffled among the records."""
        return Pseudonyms(self.name, rng.permutation(self.codes))


@dataclass(frozen=True, slots=True)
class _Groups:
    """What of the release is read together: equal records, or the records under one pseudonym."""

    codes: Codes
    group: Codes  # of each record
    begins: Codes  # where the records of each group begin in `members`
    members: Codes
    weight: Codes  # people of each group


@dataclass(frozen=True, slots=True)
class _Views:
    """The two views of each person, as value codes with the columns of the other view open."""

    left: Codes
    right: Codes

    def __len__(self) -> int:
        return len(self.left)


def halves(data: AttackInput) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns in two views of about equal strength: by number of labels in use, taken in turns."""
    used = [len(np.unique(column)) for column in data.released.codes.T]
    order = sorted(range(len(used)), key=lambda column: (-used[column], column))
    left = {column for turn, column in enumerate(order) if turn % 4 in (0, 3)}
    return (
        tuple(name for column, name in enumerate(data.names) if column in left),
        tuple(name for column, name in enumerate(data.names) if column not in left),
    )


def two_views(
    data: AttackInput,
    rng: np.random.Generator,
    *,
    left: Sequence[str] = (),
    right: Sequence[str] = (),
    pseudonyms: Pseudonyms | None = None,
    attempts: int = 2_000,
    lineup: int = 10,
) -> Estimate:
    """How often two partial views of a person are joined rightly through the release."""
    sides = (tuple(left), tuple(right)) if left or right else halves(data)
    names, control = sides[0] + sides[1], data.control
    if not sides[0] or not sides[1] or not len(data.released):
        return not_measured(TWO_VIEWS, _RISK, "one_view_only", control=control, variables=names)
    ours, theirs = _draw_people(data, attempts, rng)
    views = [_split(records, data, sides) for records in (ours, theirs)]
    if control is Control.MARGINS:
        views[1] = replace(views[1], right=rng.permutation(views[1].right, axis=0))
    correct = _correct_picks(data, _groups(data.released, pseudonyms), views, lineup, rng)
    released = data.select_columns(names).released
    people = len(np.unique(data.original.owners))
    remedy = most_protective_column(
        names,
        range(len(names)),
        lambda columns: int(single_person_records(released.codes[:, columns], released.owners).sum()),
    )
    return _estimate(TWO_VIEWS, correct, control, lineup, reach=people, variables=names, remedy=remedy)


def rows_together(
    data: AttackInput,
    rng: np.random.Generator,
    pseudonyms: Pseudonyms | None,
    *,
    attempts: int = 2_000,
    lineup: int = 10,
) -> Estimate:
    """How often two records of one person are joined rightly through a pseudonym that the release repeats."""
    control = data.control
    ours, theirs = _draw_people(data, attempts, rng, records=2)
    if pseudonyms is None or not pseudonyms.repeats or not len(ours):
        reason = "one_record_each" if not len(ours) else "no_repeated_pseudonym"
        return not_measured(ROWS_TOGETHER, _RISK, reason, control=control, variables=data.names)
    views = [_Views(records.codes[0::2], records.codes[1::2]) for records in (ours, theirs)]
    groups = _groups(data.released, pseudonyms)
    other = groups if control is Control.HELD_OUT else _groups(data.released, pseudonyms.shuffle(rng))
    correct = [_correct_picks(data, read, views, lineup, rng)[side] for side, read in enumerate((groups, other))]
    several = np.unique(data.original.owners, return_counts=True)[1] > 1
    names, reach = (pseudonyms.name, *data.names), int(several.sum())
    return _estimate(ROWS_TOGETHER, correct, control, lineup, reach=reach, variables=names, remedy=pseudonyms.name)


def _estimate(attack: str, correct: Sequence[Flags], control: Control, lineup: int, **rest: Any) -> Estimate:
    tried, baseline = (Trials(len(right), int(right.sum())) for right in correct)
    detail = {"lineup": min(lineup, _LONGEST)}
    reason = None if tried.attempts else "too_few_people"
    return estimate(attack, _RISK, tried, control=control, baseline=baseline, detail=detail, reason=reason, **rest)


def _draw_people(
    data: AttackInput, attempts: int, rng: np.random.Generator, records: int = 1
) -> tuple[Records, Records]:
    """People to attack and people for the control, nobody in both; so many records of each, one after the other."""
    if data.held_out is not None:
        attacked = _draw_records(data.original, attempts, records, rng)
        controls = _draw_records(data.held_out, attempts, records, rng)
        return data.original.select_rows(attacked), data.held_out.select_rows(controls)
    chosen = _draw_records(data.original, 2 * attempts, records, rng)
    half = (len(chosen) // records + 1) // 2 * records
    return data.original.select_rows(chosen[:half]), data.original.select_rows(chosen[half:])


def _draw_records(people: Records, most: int, records: int, rng: np.random.Generator) -> Codes:
    """So many records, by chance, of at most so many people who have them; people in random order."""
    shuffled = rng.permutation(len(people))
    order = shuffled[np.argsort(people.owners[shuffled], kind="stable")]
    _, first, count = np.unique(people.owners[order], return_index=True, return_counts=True)
    begins = rng.permutation(random_subset(first[count >= records], most, rng))
    return order[(begins[:, None] + np.arange(records)).reshape(-1)]


def _split(people: Records, data: AttackInput, sides: tuple[tuple[str, ...], tuple[str, ...]]) -> _Views:
    """The two views: in each, the columns that it does not show are open."""
    return _Views(*(np.where(np.isin(data.names, side), people.codes, _OPEN) for side in sides))


def _groups(released: Records, pseudonyms: Pseudonyms | None) -> _Groups:
    """The records that are read together."""
    if pseudonyms is None:
        classes, label = equivalence_classes(released.codes)
        first = np.empty(classes, np.int64)
        first[label[::-1]] = np.arange(len(label))[::-1]
        people = persons_per_class(label, released.owners, classes)
        each = np.arange(classes)
        return _Groups(released.codes[first], each, np.arange(classes + 1), each, people.astype(np.int64))
    names, group = np.unique(pseudonyms.codes, return_inverse=True)
    members = np.argsort(group, kind="stable")
    begins = np.searchsorted(group[members], np.arange(len(names) + 1))
    return _Groups(released.codes, group.astype(np.int64), begins, members, np.ones(len(names), np.int64))


def _correct_picks(
    data: AttackInput, groups: _Groups, views: Sequence[_Views], lineup: int, rng: np.random.Generator
) -> list[Flags]:
    """Whether the right person is picked from the line-up, for the people attacked and for the control."""
    from celosia.kernels.queries import group_weight, lineup_weight

    left, right = (np.concatenate([getattr(view, side) for view in views]) for side in ("left", "right"))
    if len(left) < 2:
        return [np.zeros(0, np.bool_), np.zeros(0, np.bool_)]
    index = inverted_index(groups.codes, [sparse.csr_array(column.covers.T) for column in data.columns])
    lined, truth = _lineups(len(left), lineup, rng)
    both = lineup_weight(index, left, lined, right, groups.group, groups.begins, groups.members, groups.weight)
    alone = group_weight(index, right, groups.group, groups.weight)[lined]
    pull = both / np.maximum(alone, 1)
    tied = pull >= pull.max(axis=1, keepdims=True)
    pick = np.argmax(np.where(tied, rng.random(tied.shape), -1.0), axis=1)
    return np.split(pick == truth, [len(views[0])])


def _lineups(people: int, size: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """For each person a line-up of other people with that person among them, and the position of that person."""
    others = rng.integers(1, people, (people, min(size, people, _LONGEST)))
    lined = (np.arange(people)[:, None] + others) % people
    truth = rng.integers(0, lined.shape[1], people)
    lined[np.arange(people), truth] = np.arange(people)
    return lined, truth
