"""Every attack on one file, in a fixed order, each with chance of its own.

Knows which attack needs what. Ignores files: it is given views. What cannot be tried is an estimate with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks import AnyHierarchy, Scene, Trials, View, compatible, estimate, unmeasured
from celosia.attacks.disguise import disguised_identifier
from celosia.attacks.inference import inference
from celosia.attacks.linkability import Pseudonyms, rows_together, two_views
from celosia.attacks.linkage import linkage, probable_linkage
from celosia.attacks.over_time import over_time
from celosia.attacks.row_order import ordered_rows
from celosia.attacks.singling_out import singling_out
from celosia.attacks.skew import skewed_classes
from celosia.attacks.traces import traces
from celosia.attacks.unmasking import derived_shown, near_numbers, recoding_betrayed, unmask
from celosia.hierarchy.official import chile_comunas, colombia_municipalities, paraguay_districts
from celosia.model.attacks import Control, Estimate, Finding
from celosia.model.values import MISSING, is_masked
from celosia.pipeline._intruder_arrays import (
    columns_of,
    picked,
    recoded,
    records_of,
    released_records,
)
from celosia.pipeline._intruder_target import Attacked

Codes = NDArray[np.int64]
Told = Callable[[float], None] | None
ATTEMPTS = 2_000
_FEW = 3  # codes left under a mask below which it hides little
_MOST = 0.9  # share of codes that must be in an official list
_AGES = re.compile(r"edad|\bage\b|^age|años|anos", re.IGNORECASE)
_HABIT = "majority_rate_without_record"
_TERRITORIES = (chile_comunas, colombia_municipalities, paraguay_districts)


@dataclass(frozen=True, slots=True)
class External:
    """An outside list under the names of the published columns, and the person key of each row if it has it."""

    view: View
    names: tuple[str, ...]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """What the intruder has besides the file."""

    seed: int
    attempts: int = ATTEMPTS  # of each attack that is tried on some people by chance
    held_out: View | None = None
    external: External | None = None
    earlier: tuple[View, ...] = ()
    earlier_original: tuple[View, ...] = ()  # what stood behind them, where the house knows it

    def chance(self, place: int) -> np.random.Generator:
        """The chance of one attack: a stream of its own, so that an attack more changes no other."""
        return np.random.Generator(np.random.Philox(np.random.SeedSequence([self.seed, place])))


@dataclass(frozen=True, slots=True)
class Found:
    """What the attacks gave."""

    estimates: tuple[Estimate, ...]
    findings: tuple[Finding, ...]


Disguises = dict[tuple[str, tuple[str, ...]], Finding | None]  # of columns already looked at


def attack(attacked: Attacked, means: Means, told: Told = None, seen: Disguises | None = None) -> Found:
    """Try everything; the same file, means and seed give the same answer.

    `seen` remembers columns: the original of a project has many in common with its candidate.
    """
    estimates: list[Estimate] = []
    findings: list[Finding] = []
    steps: Sequence[Callable[[], Found]] = (
        lambda: Found(tuple(_three_risks(attacked, means)), ()),
        lambda: Found(tuple(_inference(attacked, means)), tuple(_skewed(attacked))),
        lambda: _undone(attacked),
        lambda: Found((), tuple(_disguised(attacked, means.seed, {} if seen is None else seen))),
        lambda: Found(tuple(_linkage(attacked, means)), ()),
        lambda: _over_time(attacked, means),
    )
    for number, step in enumerate(steps, start=1):
        made = step()
        estimates += made.estimates
        findings += made.findings
        if told:
            told(number / len(steps))
    return Found(tuple(estimates), tuple(findings))


# --- the three risks ------------------------------------------------------------------------------


def _three_risks(attacked: Attacked, means: Means) -> Iterator[Estimate]:
    names = attacked.known(attacked.quasi, means.held_out)
    if not names:
        control = Control.MARGINS if means.held_out is None else Control.HELD_OUT
        yield unmeasured("isolating_combination", "singling_out", "no_quasi", control=control)
        yield unmeasured("two_views", "linkability", "no_quasi", control=control)
        yield unmeasured("rows_together", "linkability", "no_quasi", control=control)
        return
    yield singling_out(attacked.scene(names, means.held_out, names), means.chance(1), attempts=means.attempts)
    scene = attacked.scene(names, means.held_out)
    yield two_views(scene, means.chance(2), attempts=means.attempts)
    yield rows_together(scene, means.chance(3), _pseudonyms(attacked), attempts=means.attempts)


def _pseudonyms(attacked: Attacked) -> Pseudonyms | None:
    """A published column that is one and the same on all records of each person."""
    view = attacked.view
    if view.persons is None:
        return None
    people = np.unique(view.persons).size
    for place, name in enumerate(view.names):
        codes = view.codes[:, place]
        if len(view.labels[place]) >= people and np.unique(codes).size == people and _one_each(codes, view.persons):
            return Pseudonyms(name, codes)
    return None


def _one_each(codes: Codes, persons: Codes) -> bool:
    """Whether label and person go together one to one."""
    together = np.unique(np.stack([codes, persons], axis=1), axis=0)
    return len(together) == np.unique(codes).size


def _inference(attacked: Attacked, means: Means) -> Iterator[Estimate]:
    names = attacked.known(attacked.quasi, means.held_out)
    guarded = attacked.known(attacked.sensitive, means.held_out)
    control = Control.MARGINS if means.held_out is None else Control.HELD_OUT
    if not names or not guarded:
        reason = "no_sensitive" if names else "no_quasi"
        for one in ("class_majority", "homogeneous_class", "learned_model"):
            yield unmeasured(one, "inference", reason, control=control)
        return
    for number, sensitive in enumerate(guarded):
        scene = attacked.scene((*names, sensitive), means.held_out, (sensitive,))
        for found in inference(scene, sensitive, means.chance(100 + number), attempts=means.attempts):
            aimed = {**found.detail, "sensitive": sensitive}
            yield beyond_habits(found, _people(scene)) if found.measured else replace(found, detail=aimed)


def _skewed(attacked: Attacked) -> Iterator[Finding]:
    known = [name for name in attacked.quasi if name in attacked.view.names]
    for sensitive in attacked.sensitive:
        found = skewed_classes(attacked.view, known, sensitive) if sensitive in attacked.view.names else None
        if found is not None:
            yield found


def _people(scene: Scene) -> int:
    return len(np.unique(scene.original.owners))


def beyond_habits(found: Estimate, people: int = 0) -> Estimate:
    """A guess by majority held against the same guess without the person's own record, where that is known.

    Against the margins everything that a release is good for would count as a disclosure: that most births are of
    women, say. Groups where all share a value are another attack, and keep their own control.
    """
    habit = found.detail.get(_HABIT)
    if found.attack != "class_majority" or not isinstance(habit, float) or found.control is not Control.MARGINS:
        return found
    if not found.excess or not found.control_attempts:
        return found
    reach = round(found.persons / found.excess) if found.excess > 0 else people
    return estimate(
        found.attack,
        found.risk,
        Trials(found.attempts, found.successes),
        control=Control.WITHOUT_RECORD,
        baseline=Trials(found.control_attempts, round(habit * found.control_attempts)),
        reach=reach,
        variables=found.variables,
        remedy=found.remedy,
        detail={key: value for key, value in found.detail.items() if key != _HABIT},
    )


# --- masks, traces and disguises ------------------------------------------------------------------


def _undone(attacked: Attacked) -> Found:
    view = attacked.view
    estimates = unmask(view, _truth_codes(attacked))
    if not estimates:
        reason = "masks_hold" if any(cells.any() for cells in view.masked) else "no_masked_cells"
        estimates = (unmeasured("dependency", "unmasking", reason, control=Control.MARGINS),)
    return Found(
        estimates,
        (
            *near_numbers(view),
            *recoding_betrayed(view, _universes(attacked), _FEW),
            *derived_shown(view, [name for name in attacked.sensitive if name in view.names]),
            *traces(view),
            *ordered_rows(view, attacked.truth),
        ),
    )


def _truth_codes(attacked: Attacked) -> Codes | None:
    """The original in the labels of the file, for columns that the original has; unknown elsewhere."""
    truth, view = attacked.truth, attacked.view
    if truth is None:
        return None
    codes = np.full(view.codes.shape, -1, np.int64)
    for place, name in enumerate(view.names):
        if name in truth.names:
            codes[:, place] = recoded(truth, name, view.labels[place])
    return codes


def _universes(attacked: Attacked) -> dict[str, Sequence[str]]:
    """Every value of the columns with partly masked codes among full ones: the official list, else the leaves."""
    found: dict[str, Sequence[str]] = {}
    for place, name in enumerate(attacked.view.names):
        labels, apart = attacked.view.labels[place], (MISSING, *attacked.unknown.get(name, ()))
        whole = [label for label in labels if "*" not in label and label not in apart]
        if not whole or not any("*" in label and not is_masked(label) for label in labels):
            continue
        leaves = attacked.hierarchies[name].labels[0] if name in attacked.hierarchies else ()
        universe = _official([label for label in leaves or whole if label not in apart]) or leaves
        if set(whole) & set(universe):
            found[name] = universe
    return found


def _official(codes: Sequence[str]) -> Sequence[str]:
    """The list of territories that the codes are from; empty where they are from none."""
    for places in _TERRITORIES:
        known = places()
        if codes and sum(code in known for code in codes) >= _MOST * len(codes):
            return [code for code, place in known.items() if not getattr(place, "former", False)]
    return ()


def _disguised(attacked: Attacked, seed: int, seen: Disguises) -> Iterator[Finding]:
    view = attacked.view
    others = list(zip(view.names, view.labels, strict=True))
    for place, name in enumerate(view.names):
        column = (name, view.labels[place])
        if column not in seen:
            rows = np.bincount(view.codes[:, place], minlength=len(view.labels[place]))
            seen[column] = disguised_identifier(name, view.labels[place], rows, seed, others=others)
        found = seen[column]
        if found is not None:
            shown = view.telling[place]
            yield replace(found, cells=int(shown.sum()), persons=view.people(shown))


# --- outside files --------------------------------------------------------------------------------


def _linkage(attacked: Attacked, means: Means) -> Iterator[Estimate]:
    if means.external is None:
        for one in ("external_exact", "external_probable"):
            yield unmeasured(one, "linkage", "no_external", control=Control.MARGINS)
        return
    names, listed = means.external.names, means.external.view
    truth = _people_behind(attacked, means.external)
    apart = means.held_out if truth is None and _has(means.held_out, names) else None
    others = [picked(listed, names), *([picked(apart, names)] if apart is not None else [])]
    columns, values = columns_of(attacked.view, others, names, attacked.hierarchies, blanks=attacked.unknown)
    released, people = released_records(attacked.view, names), records_of(listed, names, values)
    outsiders = None if apart is None else records_of(picked(apart, names), names, values)
    yield linkage(columns, released, people, seed=means.seed, truth=truth, outsiders=outsiders)
    near = [_nearly(attacked.view, name, own) for name, own in zip(names, values, strict=True)]
    yield probable_linkage(columns, released, people, seed=means.seed, near=near, truth=truth, outsiders=outsiders)


def _has(view: View | None, names: Sequence[str]) -> bool:
    return view is not None and set(names) <= set(view.names)


def _nearly(view: View, name: str, values: Sequence[str]) -> sparse.csr_array | None:
    """Ages one year apart nearly agree: a birthday may lie between the two files."""
    if not _AGES.search(name):
        return None
    return compatible(view.labels[view.place(name)], values, tolerance=1, blanks=("",))


def _people_behind(attacked: Attacked, external: External) -> Codes | None:
    """The person of the file behind each row of the list, where both have the key; negative where there is none."""
    if external.key is None or not attacked.keys:
        return None
    place = {key: ordinal for ordinal, key in enumerate(attacked.keys)}
    own = external.view.place(external.key)
    there = set() if attacked.view.persons is None else set(np.unique(attacked.view.persons).tolist())
    moved = [place.get(label, -1) for label in external.view.labels[own]]
    return np.array([one if one in there else -1 for one in moved], np.int64)[external.view.codes[:, own]]


def _over_time(attacked: Attacked, means: Means) -> Found:
    if not means.earlier:
        reason = "no_earlier"
        return Found(
            (unmeasured("followed", "over_time", reason, control=Control.MARGINS),
             unmeasured("differencing", "over_time", reason, control=Control.MARGINS)), (),
        )  # fmt: skip
    estimates: list[Estimate] = []
    findings: list[Finding] = []
    for earlier in means.earlier:
        on = [name for name in attacked.quasi if name in earlier.names]
        sensitive = [name for name in attacked.sensitive if name in earlier.names]
        made = over_time(
            earlier, attacked.view, on, seed=means.seed, sensitive=sensitive, hierarchies=_shared(attacked, earlier)
        )
        estimates += made.estimates
        findings += made.findings
    return Found(tuple(estimates), tuple(findings))


def _shared(attacked: Attacked, earlier: View) -> Mapping[str, AnyHierarchy]:
    return {name: hierarchy for name, hierarchy in attacked.hierarchies.items() if name in earlier.names}
