"""Every attack on one file, in a fixed order, each with a random generator of its own.

Knows which attack needs what. Ignores files: it is given views. What cannot be tried is an estimate with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks.attack_input import View
from celosia.attacks.compatible import compatible
from celosia.attacks.disguise import disguised_identifier
from celosia.attacks.estimates import Trials, estimate, not_measured
from celosia.attacks.inference import inference
from celosia.attacks.linkability import Pseudonyms, rows_together, two_views
from celosia.attacks.linkage import linkage, probable_linkage
from celosia.attacks.over_time import over_time
from celosia.attacks.row_order import ordered_rows
from celosia.attacks.singling_out import singling_out
from celosia.attacks.skew import skewed_classes
from celosia.attacks.traces import traces
from celosia.attacks.unmasking import near_numbers, revealed_recodings, unmask, visible_derivatives
from celosia.hierarchy.official import territories
from celosia.model.reports.attacks import Control, Estimate, Finding
from celosia.model.values import MISSING, is_masked
from celosia.pipeline.intruder.arrays import columns_of, recode_column, records_of, released_records, select_columns
from celosia.pipeline.intruder.target import AttackTarget
from celosia.pipeline.project.progress import ShareProgress, ignore_share

Codes = NDArray[np.int64]
ATTEMPTS = 2_000
# Codes left under a mask below which it hides little.
_FEW = 3
# The share of codes that must be in an official list.
_MOST = 0.9
_AGES = re.compile(r"edad|\bage\b|^age|años|anos", re.IGNORECASE)
_RATE_WITHOUT_RECORD = "majority_rate_without_record"
_TERRITORIES = ("cl-cut", "co-divipola", "py-distritos")


@dataclass(frozen=True, slots=True)
class ExternalList:
    """An outside list under the names of the published columns, and the person key of each row if it has it."""

    view: View
    names: tuple[str, ...]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class IntruderMeans:
    """What the intruder has besides the file."""

    seed: int
    attempts: int = ATTEMPTS  # of each attack that is tried on a random sample of people
    held_out: View | None = None
    external: ExternalList | None = None
    earlier: tuple[View, ...] = ()
    earlier_original: tuple[View, ...] = ()  # the originals of these, where the institution knows them

    @property
    def control(self) -> Control:
        """What the three risks are compared with."""
        return Control.MARGINS if self.held_out is None else Control.HELD_OUT

    def generator(self, number: int) -> np.random.Generator:
        """The random generator of one attack: a stream of its own, so that a new attack changes no other."""
        return np.random.Generator(np.random.Philox(np.random.SeedSequence([self.seed, number])))


@dataclass(frozen=True, slots=True)
class AttackResults:
    """What the attacks gave."""

    estimates: tuple[Estimate, ...]
    findings: tuple[Finding, ...]


# The findings in columns already examined, by name and labels.
Disguises = dict[tuple[str, tuple[str, ...]], Finding | None]


def attack(
    target: AttackTarget,
    means: IntruderMeans,
    progress: ShareProgress = ignore_share,
    disguises: Disguises | None = None,
) -> AttackResults:
    """Try everything; the same file, means and seed give the same answer.

    `disguises` remembers columns: the original of a project has many in common with its candidate.
    """
    steps: Sequence[Iterator[Estimate | Finding]] = (
        _three_risks(target, means),
        chain(_inference(target, means), _skew_findings(target)),
        _unmasking(target),
        _disguise_findings(target, means.seed, {} if disguises is None else disguises),
        _linkage(target, means),
        _over_time(target, means),
    )
    estimates: list[Estimate] = []
    findings: list[Finding] = []
    for number, step in enumerate(steps, start=1):
        for result in step:
            if isinstance(result, Estimate):
                estimates.append(result)
            else:
                findings.append(result)
        progress(number / len(steps))
    return AttackResults(tuple(estimates), tuple(findings))


def _three_risks(target: AttackTarget, means: IntruderMeans) -> Iterator[Estimate]:
    names = target.shared_columns(target.quasi, means.held_out)
    if not names:
        yield not_measured("isolating_combination", "singling_out", "no_quasi", control=means.control)
        yield not_measured("two_views", "linkability", "no_quasi", control=means.control)
        yield not_measured("rows_together", "linkability", "no_quasi", control=means.control)
        return
    yield singling_out(target.attack_input(names, means.held_out, names), means.generator(1), attempts=means.attempts)
    attack_input = target.attack_input(names, means.held_out)
    yield two_views(attack_input, means.generator(2), attempts=means.attempts)
    yield rows_together(attack_input, means.generator(3), _pseudonyms(target), attempts=means.attempts)


def _pseudonyms(target: AttackTarget) -> Pseudonyms | None:
    """A published column that is one and the same on all records of each person."""
    view = target.view
    if view.persons is None:
        return None
    people = np.unique(view.persons).size
    for position, name in enumerate(view.names):
        codes = view.codes[:, position]
        if len(view.labels[position]) >= people and np.unique(codes).size == people:
            # Label and person correspond one to one.
            pairs = np.unique(np.stack([codes, view.persons], axis=1), axis=0)
            if len(pairs) == people:
                return Pseudonyms(name, codes)
    return None


def _inference(target: AttackTarget, means: IntruderMeans) -> Iterator[Estimate]:
    names = target.shared_columns(target.quasi, means.held_out)
    guarded = target.shared_columns(target.sensitive, means.held_out)
    if not names or not guarded:
        reason = "no_sensitive" if names else "no_quasi"
        for attack_name in ("class_majority", "homogeneous_class", "learned_model"):
            yield not_measured(attack_name, "inference", reason, control=means.control)
        return
    for number, sensitive in enumerate(guarded):
        attack_input = target.attack_input((*names, sensitive), means.held_out, (sensitive,))
        for result in inference(attack_input, sensitive, means.generator(100 + number), attempts=means.attempts):
            if result.measured:
                people = len(np.unique(attack_input.original.owners))
                yield against_majority_without_record(result, people)
            else:
                yield replace(result, detail={**result.detail, "sensitive": sensitive})


def _skew_findings(target: AttackTarget) -> Iterator[Finding]:
    known = [name for name in target.quasi if name in target.view.names]
    for sensitive in target.sensitive:
        finding = skewed_classes(target.view, known, sensitive) if sensitive in target.view.names else None
        if finding is not None:
            yield finding


def against_majority_without_record(result: Estimate, people: int = 0) -> Estimate:
    """A guess by majority compared with the same guess without the person's own record, where that is known.

    Compared with the margins, everything that a release is useful for would count as a disclosure: that most births
    are of women, say. Classes where all share a value are another attack with its own control.
    """
    rate = result.detail.get(_RATE_WITHOUT_RECORD)
    if result.attack != "class_majority" or not isinstance(rate, float) or result.control is not Control.MARGINS:
        return result
    if not result.excess or not result.control_attempts:
        return result
    reach = round(result.persons / result.excess) if result.excess > 0 else people
    return estimate(
        result.attack,
        result.risk,
        Trials(result.attempts, result.successes),
        control=Control.WITHOUT_RECORD,
        baseline=Trials(result.control_attempts, round(rate * result.control_attempts)),
        reach=reach,
        variables=result.variables,
        remedy=result.remedy,
        detail={key: value for key, value in result.detail.items() if key != _RATE_WITHOUT_RECORD},
    )


def _unmasking(target: AttackTarget) -> Iterator[Estimate | Finding]:
    view = target.view
    estimates = unmask(view, _truth_codes(target))
    yield from estimates
    if not estimates:
        reason = "masks_hold" if any(cells.any() for cells in view.masked) else "no_masked_cells"
        yield not_measured("dependency", "unmasking", reason, control=Control.MARGINS)
    yield from near_numbers(view, truth=target.truth)
    yield from revealed_recodings(view, _universes(target), _FEW, target.truth)
    sensitive = [name for name in target.sensitive if name in view.names]
    yield from visible_derivatives(view, sensitive, target.truth)
    yield from traces(view)
    yield from ordered_rows(view, target.truth)


def _truth_codes(target: AttackTarget) -> Codes | None:
    """The original in the labels of the file, for columns that the original has; unknown elsewhere."""
    truth, view = target.truth, target.view
    if truth is None:
        return None
    codes = np.full(view.codes.shape, -1, np.int64)
    for position, name in enumerate(view.names):
        if name in truth.names:
            codes[:, position] = recode_column(truth, name, view.labels[position])
    return codes


def _universes(target: AttackTarget) -> dict[str, Sequence[str]]:
    """Every value of the columns with partly masked codes among full ones: the official list and the leaves."""
    universes: dict[str, Sequence[str]] = {}
    for position, name in enumerate(target.view.names):
        labels, unknown = target.view.labels[position], (MISSING, *target.unknown.get(name, ()))
        full_codes = [label for label in labels if "*" not in label and label not in unknown]
        if not full_codes or not any("*" in label and not is_masked(label) for label in labels):
            continue
        leaves = target.hierarchies[name].labels[0] if name in target.hierarchies else ()
        # A former code may be in the data: it counts where the leaves have it, or where nobody can say.
        official = _official_codes([label for label in leaves or full_codes if label not in unknown], former=not leaves)
        universe = dict.fromkeys((*official, *leaves))
        if set(full_codes) & set(universe):
            universes[name] = tuple(universe)
    return universes


def _official_codes(codes: Sequence[str], former: bool) -> Sequence[str]:
    """The list of territories that the codes are from; empty where they are from none."""
    for list_id in _TERRITORIES:
        known = territories(list_id)
        if codes and sum(code in known for code in codes) >= _MOST * len(codes):
            return [code for code, place in known.items() if former or not getattr(place, "former", False)]
    return ()


def _disguise_findings(target: AttackTarget, seed: int, disguises: Disguises) -> Iterator[Finding]:
    view = target.view
    others = list(zip(view.names, view.labels, strict=True))
    for position, name in enumerate(view.names):
        column = (name, view.labels[position])
        if column not in disguises:
            rows = np.bincount(view.codes[:, position], minlength=len(view.labels[position]))
            disguises[column] = disguised_identifier(name, view.labels[position], rows, seed, others=others)
        finding = disguises[column]
        if finding is not None:
            readable = view.readable[position]
            yield replace(finding, cells=int(readable.sum()), persons=view.count_persons(readable))


def _linkage(target: AttackTarget, means: IntruderMeans) -> Iterator[Estimate]:
    if means.external is None:
        for attack_name in ("external_exact", "external_probable"):
            yield not_measured(attack_name, "linkage", "no_external", control=Control.MARGINS)
        return
    names, listed = means.external.names, means.external.view
    truth = _people_behind(target, means.external)
    others, held_out = [select_columns(listed, names)], means.held_out
    if truth is None and held_out is not None and set(names) <= set(held_out.names):
        others.append(select_columns(held_out, names))
    columns, values = columns_of(target.view, others, names, target.hierarchies, blanks=target.unknown)
    released, people = released_records(target.view, names), records_of(listed, names, values)
    outsiders = records_of(others[1], names, values) if len(others) > 1 else None
    yield linkage(columns, released, people, seed=means.seed, truth=truth, outsiders=outsiders)
    near = [_near_ages(target.view, name, own) for name, own in zip(names, values, strict=True)]
    yield probable_linkage(columns, released, people, seed=means.seed, near=near, truth=truth, outsiders=outsiders)


def _near_ages(view: View, name: str, values: Sequence[str]) -> sparse.csr_array | None:
    """Ages one year apart nearly agree: a birthday may lie between the two files."""
    if not _AGES.search(name):
        return None
    return compatible(view.labels[view.column_index(name)], values, tolerance=1, blanks=("",))


def _people_behind(target: AttackTarget, external: ExternalList) -> Codes | None:
    """The person of the file behind each row of the list, where both have the key; negative where there is none."""
    if external.key is None or not target.keys:
        return None
    ordinal_by_key = {key: ordinal for ordinal, key in enumerate(target.keys)}
    position = external.view.column_index(external.key)
    present = set() if target.view.persons is None else set(np.unique(target.view.persons).tolist())
    ordinals = [ordinal_by_key.get(label, -1) for label in external.view.labels[position]]
    known = np.array([ordinal if ordinal in present else -1 for ordinal in ordinals], np.int64)
    return known[external.view.codes[:, position]]


def _over_time(target: AttackTarget, means: IntruderMeans) -> Iterator[Estimate | Finding]:
    if not means.earlier:
        for attack_name in ("followed", "differencing"):
            yield not_measured(attack_name, "over_time", "no_earlier", control=Control.MARGINS)
    for earlier in means.earlier:
        on = [name for name in target.quasi if name in earlier.names]
        sensitive = [name for name in target.sensitive if name in earlier.names]
        shared = {name: hierarchy for name, hierarchy in target.hierarchies.items() if name in earlier.names}
        results = over_time(earlier, target.view, on, seed=means.seed, sensitive=sensitive, hierarchies=shared)
        yield from results.estimates
        yield from results.findings
