"""Inference: a person's sensitive value guessed through the release from what is known of that person.

Knows labels, what they cover, persons and the truth. Ignores what the values mean, and files. Three guesses:
- *class_majority*: the most frequent sensitive label among the records that may be the target's; where there is none,
  the most frequent one of the release.
- *homogeneous_class*: only where all those records agree (l = 1), so that the intruder is sure.
- *learned_model*: a model of the release that also remembers who is alone (`_guesses`).
A guess is right when the label covers the person's own value; labels that cover every value are never guessed.
The control separates disclosure from habits that people share: people held out, guessed through the same release. A
full register has no outsiders. There, half of the targets serve as control: the guesses made for them are dealt out
among them at random (margins; the sure ones within classes of about the same size), and the learned model guesses them
from the release without their own records (cross-fitting in ten folds of persons), so that a habit which others have
too counts for nothing. Against the margins a habit counts: the detail says how often the class is right without the
person's own record, and how often the commonest label of the release is.
Source: WP29 opinion 05/2014, section 2.2.3; Machanavajjhala et al. 2007 (l-diversity); Chernozhukov et al. 2018
(cross-fitting).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from celosia.attacks._estimates import Trials, estimate, unmeasured
from celosia.attacks._guesses import NOBODY, Guesses, Learnt, guess, learn
from celosia.attacks._scene import (
    Codes,
    Flags,
    Records,
    Scene,
    a_few,
    class_of,
    one_record_each,
    stops_most,
)
from celosia.model.attacks import Control, Estimate, Risk

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
    scene: Scene, sensitive: str, rng: np.random.Generator, *, known: Sequence[str] | None = None, attempts: int = 2_000
) -> tuple[Estimate, ...]:
    """The three guesses at a sensitive variable, each held against its control."""
    names = tuple(known) if known is not None else tuple(name for name in scene.names if name != sensitive)
    field, view = scene.names.index(sensitive), scene.pick(names)
    values = _speaking(scene, field)
    if not names or not len(scene.original) or not (values >= 0).any():
        return _not_tried(scene, names, "no_sensitive_value" if names else "nothing_known")
    folds = rng.integers(0, _FOLDS, _ordinals(scene))
    covers = scene.columns[field].covers
    learnt = learn(view.columns, view.released, values, folds[view.released.owners], covers.shape[0])
    ours, theirs = _targets(scene, view, field, folds, attempts, rng)
    right = _right(covers, guess(learnt, ours.known, np.full(len(ours.truth), NOBODY)), ours.truth)
    baseline, controls, habits = _baseline(scene, learnt, covers, theirs, rng)
    exposed = people_of_one_mind(view.released, values)
    people = len(np.unique(scene.original.owners))
    rest: dict[str, Any] = {"variables": names, "remedy": _remedy(view, values),
            "detail": {"sensitive": sensitive, "persons_in_homogeneous_classes": exposed,
                       "commonest_rate": _commonest_rate(covers, values, ours.truth)} | habits}  # fmt: skip
    return tuple(
        estimate(
            name, _RISK, _trials(right[name]), control=controls[name], baseline=_trials(baseline[name]),
            reach=exposed if name == HOMOGENEOUS_CLASS else people,
            reason=None if len(right[name]) else "no_homogeneous_class", **rest,
        )
        for name in ATTACKS
    )  # fmt: skip


def _speaking(scene: Scene, field: int) -> Codes:
    """The sensitive label of each released record; NOBODY where it covers every value and so says nothing."""
    mute = scene.columns[field].open_labels
    return np.where(mute, NOBODY, np.arange(len(mute)))[scene.released.codes[:, field]]


def _not_tried(scene: Scene, names: tuple[str, ...], reason: str) -> tuple[Estimate, ...]:
    control = Control.MARGINS if scene.held_out is None else Control.HELD_OUT
    return tuple(unmeasured(name, _RISK, reason, control=control, variables=names) for name in ATTACKS)


def _ordinals(scene: Scene) -> int:
    """One more than the largest person ordinal."""
    groups = (scene.released, scene.original, scene.held_out)
    return max(int(group.owners.max(initial=-1)) + 1 for group in groups if group is not None)


def _targets(
    scene: Scene, view: Scene, field: int, folds: Codes, attempts: int, rng: np.random.Generator
) -> tuple[_Targets, _Targets]:
    """People to guess and people for the control, a record of each; nobody is in both."""

    def of(places: Codes, all_columns: Records, known: Records) -> _Targets:
        return _Targets(known.codes[places], all_columns.codes[places, field], folds[known.owners[places]])

    wanted = attempts if scene.held_out is not None else 2 * attempts
    chosen = rng.permutation(a_few(one_record_each(scene.original.owners, rng), wanted, rng))
    if scene.held_out is not None and view.held_out is not None:
        others = a_few(one_record_each(scene.held_out.owners, rng), attempts, rng)
        return of(chosen, scene.original, view.original), of(others, scene.held_out, view.held_out)
    half = (len(chosen) + 1) // 2
    return (
        of(chosen[:half], scene.original, view.original),
        of(chosen[half:], scene.original, view.original),
    )


def _right(covers: sparse.csr_array, guesses: Guesses, truth: Codes) -> dict[str, Flags]:
    """Which guesses of each attack are right."""
    sure = guesses.sure
    return {
        CLASS_MAJORITY: _covered(covers, guesses.majority, truth),
        HOMOGENEOUS_CLASS: _covered(covers, guesses.majority[sure], truth[sure]),
        LEARNED_MODEL: _covered(covers, guesses.model, truth),
    }


def _covered(covers: sparse.csr_array, labels: Codes, values: Codes) -> Flags:
    """Whether each label covers the value beside it."""
    width = covers.shape[1]
    pairs = np.sort(np.repeat(np.arange(covers.shape[0]), np.diff(covers.indptr)) * width + covers.indices)
    return np.isin(labels * width + values, pairs)


def _baseline(
    scene: Scene, learnt: Learnt, covers: sparse.csr_array, theirs: _Targets, rng: np.random.Generator
) -> tuple[dict[str, Flags], dict[str, Control], dict[str, float]]:
    """Which guesses of the control are right, what the control of each attack is, and what habits alone explain."""
    guesses = guess(learnt, theirs.known, np.full(len(theirs.truth), NOBODY))
    if scene.held_out is not None:
        return _right(covers, guesses, theirs.truth), dict.fromkeys(ATTACKS, Control.HELD_OUT), {}
    right, controls = _dealt(covers, guesses, theirs.truth, rng), dict.fromkeys(ATTACKS, Control.MARGINS)
    if scene.released.persons is None or scene.original.persons is None or not len(theirs.truth):
        return right, controls, {}
    without = _right(covers, guess(learnt, theirs.known, theirs.folds), theirs.truth)
    right[LEARNED_MODEL] = without[LEARNED_MODEL]
    habits = {"majority_rate_without_record": float(without[CLASS_MAJORITY].mean())}
    return right, controls | {LEARNED_MODEL: Control.WITHOUT_RECORD}, habits


def _dealt(covers: sparse.csr_array, guesses: Guesses, truth: Codes, rng: np.random.Generator) -> dict[str, Flags]:
    """Which guesses are right after they were dealt out at random among the same people."""
    sure, receiver = _receivers(guesses, rng)
    return {
        CLASS_MAJORITY: _covered(covers, rng.permutation(guesses.majority), truth),
        HOMOGENEOUS_CLASS: _covered(covers, guesses.majority[sure], truth[receiver]),
        LEARNED_MODEL: _covered(covers, rng.permutation(guesses.model), truth),
    }


def _receivers(guesses: Guesses, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """For each sure guess somebody in a class of about the same size, of one mind or not, nobody twice.

    Small classes hold unusual people, who would be guessed less often than others even by luck.
    """
    size = np.searchsorted(_CLASS_SIZES, guesses.people, side="right")
    sure, receiver = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for stratum in np.unique(size):
        everybody = rng.permutation(np.flatnonzero(size == stratum))
        sure.append(np.flatnonzero(guesses.sure & (size == stratum)))
        receiver.append(everybody[: len(sure[-1])])
    return np.concatenate(sure), np.concatenate(receiver)


def _commonest_rate(covers: sparse.csr_array, values: Codes, truth: Codes) -> float:
    """How often the most frequent label of the release is right for everybody."""
    commonest = int(np.argmax(np.bincount(values[values >= 0])))
    return float(_covered(covers, np.full(len(truth), commonest), truth).mean())


def _trials(right: Flags) -> Trials:
    return Trials(len(right), int(right.sum()))


def people_of_one_mind(released: Records, values: Codes) -> int:
    """People in classes of the release where all show the same sensitive label."""
    shown = values >= 0
    classes, label = class_of(released.codes[shown])
    low, high = np.full(classes, np.iinfo(np.int64).max), np.full(classes, -1)
    np.minimum.at(low, label, values[shown])
    np.maximum.at(high, label, values[shown])
    lone = (low == high)[label]
    return len(np.unique(released.owners[shown][lone]))


def _remedy(view: Scene, values: Codes) -> str | None:
    """The column without which fewest people are in classes of one mind."""
    places = range(len(view.columns))
    left = [[c for c in places if c != column] for column in places]
    return stops_most([people_of_one_mind(view.released.pick(rest), values) for rest in left], view.names)
