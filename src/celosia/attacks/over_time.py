"""Two releases of the same data side by side: an update, or a sister file masked differently.

Knows the published labels of both and which of them may stand for the same value. Ignores the original. Tried here:
- *following*: a record of the first release that goes with exactly one of the second, and that one with no other; the
  control is the first release with every column shuffled. Only where chance explains less than half of the pairs is it
  told what they give away: values that changed, masked or generalised cells that the other release shows;
- *differencing*: a class that gained or lost people, all else in it being equal, gives away the sensitive value of
  those who came or went, when they share it. The control is the same with the sensitive column of the second release
  shuffled: classes whose contents do not nest give nothing away.
Sources: Fung et al. (2008) and Xiao and Tao (2007) on anonymised releases over time; Ganta et al. (2008) on releases
side by side; REQUIREMENTS M34 (what was harmless yesterday).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks._compatible import AnyHierarchy, compatible
from celosia.attacks._estimates import Trials, estimate, unmeasured
from celosia.attacks._pairs import MOST_PAIRS, TooManyPairs, covered
from celosia.attacks._scene import Column, Records
from celosia.attacks._view import View
from celosia.attacks.linkage import Claims, exact_claims, shuffled, stopper, trials
from celosia.model.attacks import Control, Estimate, Finding, Severity
from celosia.model.values import is_masked
from celosia.tuples import group_codes

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
_IN_ORDER = 0.95  # rows that must go together for two files to be in the same order
FOLLOWED, DIFFERENCING = "followed", "differencing"


@dataclass(frozen=True, slots=True)
class OverTime:
    """What two releases give away together."""

    estimates: tuple[Estimate, ...]
    findings: tuple[Finding, ...]
    pairs: tuple[Longs, Longs] = field(default_factory=lambda: (np.empty(0, np.int64), np.empty(0, np.int64)))


def over_time(
    first: View,
    second: View,
    on: Sequence[str],
    *,
    seed: int,
    sensitive: Sequence[str] = (),
    hierarchies: Mapping[str, AnyHierarchy] | None = None,
    truth: Longs | None = None,
    most: int = MOST_PAIRS,
) -> OverTime:
    """Follow records on the columns `on`, compare every shared column, and difference the classes of `on`.

    `truth` is, for each row of the first release, the person of the second one (its row without person keys).
    """
    known = hierarchies or {}
    columns = [shared_column(first, second, name, known.get(name)) for name in on]
    followed, pairs = follow(columns, _records(first, on), _records(second, on), seed=seed, truth=truth, most=most)
    findings: tuple[Finding, ...] = ()
    shared = [shared_column(first, second, name, known.get(name)) for name in first.names if name in second.names]
    if _mostly_right(followed):
        findings = tuple(finding for column in shared for finding in compare(first, second, column, pairs))
    findings = _most_told(findings, side_by_side(first, second, shared, seed=seed, most=most))
    differences = tuple(differencing(first, second, on, name, seed=seed) for name in sensitive if name not in on)
    return OverTime((followed, *differences), findings, pairs)


def side_by_side(
    first: View, second: View, shared: Sequence[Column], *, seed: int, most: int = MOST_PAIRS
) -> tuple[Finding, ...]:
    """Cells that one release hides and the other shows, once rows are joined by all that both publish.

    Sister files may keep the order of their rows; else a row goes with another by every shared column together, the
    sensitive ones too. A value that changed would break such a pair: those are left to the followed records.
    """
    names = [column.name for column in shared]
    pairs = _same_order(first, second, shared)
    if pairs is None:
        found, pairs = follow(shared, _records(first, names), _records(second, names), seed=seed, most=most)
        if not _mostly_right(found):
            return ()
    told = [finding for column in shared for finding in compare(first, second, column, pairs)]
    return tuple(finding for finding in told if finding.kind != "value_changed")


def _same_order(first: View, second: View, shared: Sequence[Column]) -> tuple[Longs, Longs] | None:
    """The rows of both one by one, where nearly all go together in this order and not in another."""
    rows = np.arange(len(first.codes))
    if len(rows) != len(second.codes) or len(rows) < 2:
        return None
    together, moved = (_together(first, second, shared, np.roll(rows, by)) for by in (0, len(rows) // 2))
    if together.mean() < _IN_ORDER or moved.mean() > _IN_ORDER / 2:
        return None
    return rows[together], rows[together]


def _together(first: View, second: View, shared: Sequence[Column], later: Longs) -> Flags:
    found = np.ones(len(later), np.bool_)
    for column in shared:
        labels = second.codes[later, second.place(column.name)]
        found &= covered(column, labels, first.codes[:, first.place(column.name)])
    return found


def _most_told(one: Sequence[Finding], other: Sequence[Finding]) -> tuple[Finding, ...]:
    """Of two findings of one kind on the same columns, the one that reaches more people."""
    best: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for finding in (*one, *other):
        kept = best.setdefault((finding.kind, finding.columns), finding)
        if finding.persons > kept.persons:
            best[finding.kind, finding.columns] = finding
    return tuple(best.values())


def _mostly_right(followed: Estimate) -> bool:
    """Whether at least half of the pairs are more than chance: what is told of cells leans on them."""
    if not followed.works or followed.excess is None or followed.rate is None:
        return False
    return 2 * followed.excess >= followed.rate


def shared_column(first: View, second: View, name: str, hierarchy: AnyHierarchy | None = None) -> Column:
    """A column of both releases: labels of the second × labels of the first that may be the same value."""
    labels, values = (view.labels[view.place(name)] for view in (second, first))
    return Column(name, compatible(labels, values, hierarchy))


def _records(view: View, names: Sequence[str]) -> Records:
    """The rows over some columns."""
    places = [view.place(name) for name in names]
    return Records(np.asarray(view.codes[:, places], np.int64), view.persons)


# --- following ------------------------------------------------------------------------------------------


def follow(
    columns: Sequence[Column],
    first: Records,
    second: Records,
    *,
    seed: int,
    truth: Longs | None = None,
    most: int = MOST_PAIRS,
) -> tuple[Estimate, tuple[Longs, Longs]]:
    """How many of the first release can be followed into the second, and the rows of each pair.

    The covers of a column are labels of the second × labels of the first.
    """
    names, none = tuple(column.name for column in columns), np.empty(0, np.int64)
    reason = "no_shared_column" if not columns else "no_records" if not len(first) or not len(second) else None
    if reason is not None:
        return unmeasured(FOLLOWED, "over_time", reason, control=Control.MARGINS, variables=names), (none, none)
    try:
        claims = exact_claims(columns, second, first, most)
        chance = exact_claims(columns, second, shuffled(first, seed), most)
    except TooManyPairs:
        reason = "too_many_pairs"
        return unmeasured(FOLLOWED, "over_time", reason, control=Control.MARGINS, variables=names), (none, none)
    tried = trials(claims, truth)
    remedy = stopper(columns, second, first, truth, most, tried.successes) if tried.successes else None
    found = estimate(
        FOLLOWED, "over_time", tried, control=Control.MARGINS, baseline=trials(chance, truth),
        reach=tried.attempts, variables=names, remedy=remedy, detail=_figures(claims, truth),
    )  # fmt: skip
    return found, _rows(claims, second)


def _figures(claims: Claims, truth: Longs | None) -> dict[str, int | float | str]:
    figures: dict[str, int | float | str] = {"followed": claims.made}
    return figures if truth is None else {**figures, "right": claims.right(truth)}


def _rows(claims: Claims, second: Records) -> tuple[Longs, Longs]:
    """The followed rows of the first release and those of the second."""
    owners, first_row = np.unique(second.owners, return_index=True)
    made = claims.person >= 0
    return claims.row[made], first_row[np.searchsorted(owners, claims.person[made])].astype(np.int64)


# --- what the pairs give away ---------------------------------------------------------------------------


def compare(first: View, second: View, column: Column, pairs: tuple[Longs, Longs]) -> tuple[Finding, ...]:
    """Cells of followed records that changed, or that one release hides or blurs and the other shows."""
    earlier = first.codes[pairs[0], first.place(column.name)].astype(np.int64)
    later = second.codes[pairs[1], second.place(column.name)].astype(np.int64)
    before, after = _blur(first, second, column)
    same = covered(column, later, earlier)
    hidden_before, hidden_after = np.isinf(before)[earlier], np.isinf(after)[later]
    finer_later, finer_earlier = before[earlier] > after[later], after[later] > before[earlier]
    counted: tuple[tuple[str, Flags, Severity], ...] = (
        ("value_changed", ~same, "medium"),
        ("masked_cell_shown_later", hidden_before & ~hidden_after, "high"),
        ("masked_cell_shown_earlier", hidden_after & ~hidden_before, "high"),
        ("coarse_cell_shown_later", same & finer_later & ~hidden_before, "high"),
        ("coarse_cell_shown_earlier", same & finer_earlier & ~hidden_after, "high"),
    )
    return tuple(
        Finding(kind=kind, columns=(column.name,), cells=int(cells.sum()),
                persons=_people(first, pairs[0][cells]), severity=severity, remedy=column.name)
        for kind, cells, severity in counted if cells.any()
    )  # fmt: skip


def _people(view: View, rows: Longs) -> int:
    return len(rows) if view.persons is None else len(np.unique(view.persons[rows]))


def _blur(first: View, second: View, column: Column) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many labels of the other release each label may be: infinite for a mask, which is not counted either."""
    masked_first = _masks(first, column.name)
    masked_second = _masks(second, column.name)
    visible = sparse.csr_array(column.covers.astype(np.int64))
    before = (~masked_second).astype(np.int64) @ visible
    after = visible @ (~masked_first).astype(np.int64)
    return np.where(masked_first, np.inf, before), np.where(masked_second, np.inf, after)


def _masks(view: View, name: str) -> Flags:
    return np.asarray([is_masked(label) for label in view.labels[view.place(name)]], bool)


# --- differencing ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Classes:
    """The same class in both releases: how many people, and whether those who came or went give themselves away."""

    moved: Longs  # people more (fewer: negative) in the second release
    nested: Flags  # the contents of the smaller lie within those of the larger
    alone: Flags  # all who came or went have one sensitive value


def differencing(first: View, second: View, on: Sequence[str], sensitive: str, *, seed: int) -> Estimate:
    """How often a class that gained or lost people gives away the sensitive value of those who came or went."""
    names = (*on, sensitive)
    if not on or not len(first.codes) or not len(second.codes):
        reason = "no_shared_column" if not on else "no_records"
        return unmeasured(DIFFERENCING, "over_time", reason, control=Control.MARGINS, variables=names)
    one, other, sizes = _in_common(first, second, names)
    found = class_changes(one, other, sizes)
    rng = np.random.Generator(np.random.Philox(seed))
    mixed = other.copy()
    mixed[:, -1] = rng.permutation(mixed[:, -1])
    given_away, reach = _given_away(found)
    detail = {
        "grown_by_one": int(np.count_nonzero(found.moved == 1)),
        "shrunk_by_one": int(np.count_nonzero(found.moved == -1)),
        "people_given_away": reach,
    }
    return estimate(
        DIFFERENCING, "over_time", given_away, control=Control.MARGINS, variables=names,
        baseline=_given_away(class_changes(one, mixed, sizes))[0],
        reach=given_away.attempts, remedy=sensitive, reason=None if given_away.attempts else "no_class_moved",
        detail=detail,
    )  # fmt: skip


def _given_away(found: Classes) -> tuple[Trials, int]:
    """Classes that moved and those that give away who came or went; and how many people those are."""
    told = found.nested & found.alone & (found.moved != 0)
    return Trials(int(np.count_nonzero(found.moved)), int(np.count_nonzero(told))), int(np.abs(found.moved[told]).sum())


def _in_common(first: View, second: View, names: Sequence[str]) -> tuple[Longs, Longs, list[int]]:
    """The columns of both releases over common vocabularies; one row of a person and tuple counts once."""
    ones: list[Longs] = []
    others: list[Longs] = []
    sizes = []
    for name in names:
        words: dict[str, int] = {}
        for view, codes in ((first, ones), (second, others)):
            place = view.place(name)
            recode = np.asarray([words.setdefault(w, len(words)) for w in view.labels[place]], np.int64)
            codes.append(recode[view.codes[:, place]])
        sizes.append(len(words))
    made = [np.stack(columns, axis=1) for columns in (ones, others)]
    return _once(made[0], first.persons, sizes), _once(made[1], second.persons, sizes), sizes


def _once(codes: Longs, persons: Longs | None, sizes: Sequence[int]) -> Longs:
    if persons is None:
        return codes
    keyed = np.concatenate([codes, persons[:, None]], axis=1)
    kept, _ = group_codes(keyed, [*sizes, int(persons.max(initial=0)) + 1])
    return np.asarray(codes[kept], np.int64)


def class_changes(first: Longs, second: Longs, sizes: Sequence[int]) -> Classes:
    """What became of every class (all columns but the last) that both releases hold."""
    both = np.concatenate([first, second])
    later = np.arange(len(both)) >= len(first)
    start, cell = group_codes(both, sizes)
    _, of_cell = group_codes(both[start][:, :-1], sizes[:-1])
    before, after = np.bincount(cell[~later], minlength=len(start)), np.bincount(cell[later], minlength=len(start))
    classes = int(of_cell.max(initial=-1)) + 1
    n_before, n_after = _summed(of_cell, before, classes), _summed(of_cell, after, classes)
    gained, lost = np.maximum(after - before, 0), np.maximum(before - after, 0)
    nested = (_summed(of_cell, gained, classes) == 0) | (_summed(of_cell, lost, classes) == 0)
    kinds = _summed(of_cell, (gained + lost > 0).astype(np.int64), classes)
    there = (n_before > 0) & (n_after > 0)
    return Classes((n_after - n_before)[there], nested[there], (kinds == 1)[there])


def _summed(group: Longs, counts: NDArray[np.integer], groups: int) -> Longs:
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, counts)
    return total
