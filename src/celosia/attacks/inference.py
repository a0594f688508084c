"""Inference: a person's sensitive value guessed through the release from what is known of that person.

Knows labels, what they cover, persons and the truth. Ignores what the values mean, and files. Three guesses:
- *class_majority*: the most frequent sensitive label among the records that may be the target's; where there is none,
  the most frequent one of the release.
- *homogeneous_class*: only where all those records agree (l = 1), so that the intruder is sure.
- *learned_model*: a model of the release that also remembers who is alone (`_guesses`).
A guess is right when the label covers the person's own value; labels that cover every value are never guessed.
The control separates disclosure from habits that people share: people held out, guessed through the same release. In a
full register nobody is held out. There, half of the targets serve as control: the guesses made for them are shuffled
among them (margins; the sure ones within classes of about the same size), and the learned model guesses them from the
release without their own records (cross-fitting in ten folds of persons), so that a habit which others have too counts
for nothing. Against the margins a habit counts: the detail says how often the class is right without the
person's own record, and how often the commonest label of the release is.
Source: WP29 opinion 05/2014, section 2.2.3; Machanavajjhala et al. 2007 (l-diversity); Chernozhukov et al. 2018
(cross-fitting).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.attacks.attack_input import (
    AttackInput,
    Codes,
    Flags,
    PublishedColumn,
    Records,
    equivalence_classes,
    is_covered,
    most_protective_column,
    one_record_per_person,
    random_subset,
)
from celosia.attacks.estimates import Trials, estimate, not_measured
from celosia.attacks.guesses import NOBODY, Guesses, TrainingData, guess, training_data
from celosia.model.reports.attacks import Control, Estimate, Risk

CLASS_MAJORITY, HOMOGENEOUS_CLASS, LEARNED_MODEL = "class_majority", "homogeneous_class", "learned_model"
ATTACKS = (CLASS_MAJORITY, HOMOGENEOUS_CLASS, LEARNED_MODEL)
_RISK: Risk = "inference"
_FOLDS = 10
_CLASS_SIZES = (1, 2, 3, 5)  # where classes of about the same size begin


@dataclass(frozen=True, slots=True)
class _Targets:
    """People whose sensitive value is guessed: what is known of each, the truth, and the fold of the person."""

    known: Codes
    truth: Codes
    folds: Codes


def inference(
    data: AttackInput,
    sensitive: str,
    rng: np.random.Generator,
    *,
    known: Sequence[str] | None = None,
    attempts: int = 2_000,
) -> tuple[Estimate, ...]:
    """The three guesses at a sensitive variable, each held against its control."""
    names = tuple(known) if known is not None else tuple(name for name in data.names if name != sensitive)
    field, view = data.names.index(sensitive), data.select_columns(names)
    values = _informative_labels(data, field)
    if not names or not len(data.original) or not (values >= 0).any():
        reason = "no_sensitive_value" if names else "nothing_known"
        return tuple(not_measured(name, _RISK, reason, control=data.control, variables=names) for name in ATTACKS)
    groups = [group for group in (data.released, data.original, data.held_out) if group is not None]
    folds = rng.integers(0, _FOLDS, max(int(group.owners.max(initial=-1)) + 1 for group in groups))
    column = data.columns[field]
    n_labels = column.covers.shape[0]
    training = training_data(view.columns, view.released, values, folds[view.released.owners], n_labels)
    targets, control_targets = _targets(data, view, field, folds, attempts, rng)
    guesses = guess(training, targets.known, np.full(len(targets.truth), NOBODY))
    correct = _correct_guesses(column, guesses, targets.truth)
    baseline, controls, habits = _baseline(data, training, column, control_targets, rng)
    exposed = persons_in_homogeneous_classes(view.released, values)
    people = len(np.unique(data.original.owners))
    commonest_rate = _commonest_rate(column, values, targets.truth)
    detail: dict[str, int | float | str] = {"sensitive": sensitive, "persons_in_homogeneous_classes": exposed}
    detail |= {"commonest_rate": commonest_rate, **habits}
    remedies = _remedies(names, view.released, values)
    return tuple(
        estimate(
            name,
            _RISK,
            _trials(correct[name]),
            control=controls[name],
            baseline=_trials(baseline[name]),
            reach=exposed if name == HOMOGENEOUS_CLASS else people,
            reason=None if len(correct[name]) else "no_homogeneous_class",
            variables=names,
            remedy=remedies[name],
            detail=detail,
        )
        for name in ATTACKS
    )


def _informative_labels(data: AttackInput, field: int) -> Codes:
    """The sensitive label of each released record; NOBODY where it covers every value and so says nothing."""
    mute = data.columns[field].open_labels
    return np.where(mute, NOBODY, np.arange(len(mute)))[data.released.codes[:, field]]


def _targets(
    data: AttackInput, view: AttackInput, field: int, folds: Codes, attempts: int, rng: np.random.Generator
) -> tuple[_Targets, _Targets]:
    """People to guess and people for the control, a record of each; nobody is in both."""

    def of(rows: Codes, all_columns: Records, known: Records) -> _Targets:
        return _Targets(known.codes[rows], all_columns.codes[rows, field], folds[known.owners[rows]])

    n_targets = attempts if data.held_out is not None else 2 * attempts
    chosen = rng.permutation(random_subset(one_record_per_person(data.original.owners, rng), n_targets, rng))
    if data.held_out is not None and view.held_out is not None:
        others = random_subset(one_record_per_person(data.held_out.owners, rng), attempts, rng)
        return of(chosen, data.original, view.original), of(others, data.held_out, view.held_out)
    half = (len(chosen) + 1) // 2
    return of(chosen[:half], data.original, view.original), of(chosen[half:], data.original, view.original)


def _correct_guesses(column: PublishedColumn, guesses: Guesses, truth: Codes) -> dict[str, Flags]:
    """Which guesses of each attack are right."""
    sure = guesses.sure
    return {
        CLASS_MAJORITY: is_covered(column, guesses.majority, truth),
        HOMOGENEOUS_CLASS: is_covered(column, guesses.majority[sure], truth[sure]),
        LEARNED_MODEL: is_covered(column, guesses.model, truth),
    }


def _baseline(
    data: AttackInput, training: TrainingData, column: PublishedColumn, targets: _Targets, rng: np.random.Generator
) -> tuple[dict[str, Flags], dict[str, Control], dict[str, float]]:
    """Which guesses of the control are right, what the control of each attack is, and what habits alone explain."""
    guesses = guess(training, targets.known, np.full(len(targets.truth), NOBODY))
    if data.held_out is not None:
        return _correct_guesses(column, guesses, targets.truth), dict.fromkeys(ATTACKS, Control.HELD_OUT), {}
    right = _correct_shuffled_guesses(column, guesses, targets.truth, rng)
    controls = dict.fromkeys(ATTACKS, Control.MARGINS)
    if data.released.persons is None or data.original.persons is None or not len(targets.truth):
        return right, controls, {}
    without_record = _correct_guesses(column, guess(training, targets.known, targets.folds), targets.truth)
    right[LEARNED_MODEL] = without_record[LEARNED_MODEL]
    habits = {"majority_rate_without_record": float(without_record[CLASS_MAJORITY].mean())}
    return right, controls | {LEARNED_MODEL: Control.WITHOUT_RECORD}, habits


def _correct_shuffled_guesses(
    column: PublishedColumn, guesses: Guesses, truth: Codes, rng: np.random.Generator
) -> dict[str, Flags]:
    """Which guesses are right after they were shuffled among the same people."""
    sure, receiver = _receivers(guesses, rng)
    return {
        CLASS_MAJORITY: is_covered(column, rng.permutation(guesses.majority), truth),
        HOMOGENEOUS_CLASS: is_covered(column, guesses.majority[sure], truth[receiver]),
        LEARNED_MODEL: is_covered(column, rng.permutation(guesses.model), truth),
    }


def _receivers(guesses: Guesses, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """For each sure guess somebody in a class of about the same size, homogeneous or not, nobody twice.

    Small classes hold unusual people, who would be guessed less often than others even by luck.
    """
    size = np.searchsorted(_CLASS_SIZES, guesses.people, side="right")
    sure, receiver = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for stratum in np.unique(size):
        everybody = rng.permutation(np.flatnonzero(size == stratum))
        sure.append(np.flatnonzero(guesses.sure & (size == stratum)))
        receiver.append(everybody[: len(sure[-1])])
    return np.concatenate(sure), np.concatenate(receiver)


def _commonest_rate(column: PublishedColumn, values: Codes, truth: Codes) -> float:
    """How often the most frequent label of the release is right for everybody."""
    commonest = int(np.argmax(np.bincount(values[values >= 0])))
    return float(is_covered(column, np.full(len(truth), commonest), truth).mean())


def _trials(right: Flags) -> Trials:
    return Trials(len(right), int(right.sum()))


def _remedies(names: Sequence[str], released: Records, values: Codes) -> dict[str, str | None]:
    """For each guess, the known column without which the release helps it least."""

    def without(exposed: Callable[[Records, Codes], int]) -> str | None:
        return most_protective_column(
            names, range(len(names)), lambda columns: exposed(released.select_columns(columns), values)
        )

    majority = without(records_of_the_majority)
    return {
        CLASS_MAJORITY: majority,
        HOMOGENEOUS_CLASS: without(persons_in_homogeneous_classes),
        LEARNED_MODEL: majority,
    }


def records_of_the_majority(released: Records, values: Codes) -> int:
    """Records of the release whose sensitive label is the most frequent one of their class."""
    informative = values >= 0
    classes, label = equivalence_classes(released.codes[informative])
    pairs, rows = np.unique(np.column_stack([label, values[informative]]), axis=0, return_counts=True)
    most = np.zeros(classes, np.int64)
    np.maximum.at(most, pairs[:, 0], rows)
    return int(most.sum())


def persons_in_homogeneous_classes(released: Records, values: Codes) -> int:
    """People in classes of the release where all show the same sensitive label."""
    informative = values >= 0
    classes, label = equivalence_classes(released.codes[informative])
    low, high = np.full(classes, np.iinfo(np.int64).max), np.full(classes, -1)
    np.minimum.at(low, label, values[informative])
    np.maximum.at(high, label, values[informative])
    lone = (low == high)[label]
    return len(np.unique(released.owners[informative][lone]))
