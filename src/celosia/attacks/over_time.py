"""Two releases of the same data side by side: an update, or another file masked differently.

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

from celosia.attacks.attack_input import PublishedColumn, Records, View, is_covered
from celosia.attacks.compatible import AnyHierarchy, compatible
from celosia.attacks.estimates import Trials, estimate, not_measured
from celosia.attacks.linkage import Claims, best_remedy, exact_claims, shuffle_columns, trials
from celosia.attacks.pairs import MOST_PAIRS, TooManyPairs
from celosia.model.reports.attacks import Control, Estimate, Finding, Severity
from celosia.model.values import is_masked
from celosia.tuples.table import group_codes

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
    if _mostly_beyond_chance(followed):
        findings = tuple(finding for column in shared for finding in compare(first, second, column, pairs))
    findings = _widest_findings(findings, side_by_side(first, second, shared, seed=seed, most=most))
    differences = tuple(differencing(first, second, on, name, seed=seed) for name in sensitive if name not in on)
    return OverTime((followed, *differences), findings, pairs)


def side_by_side(
    first: View, second: View, shared: Sequence[PublishedColumn], *, seed: int, most: int = MOST_PAIRS
) -> tuple[Finding, ...]:
    """Cells that one release hides and the other shows, once rows are joined by all that both publish.

    Sister files may keep the order of their rows; else a row goes with another by every shared column together, the
    sensitive ones too. A value that changed would break such a pair: those are left to the followed records.
    """
    names = [column.name for column in shared]
    pairs = _same_order(first, second, shared)
    if pairs is None:
        followed, pairs = follow(shared, _records(first, names), _records(second, names), seed=seed, most=most)
        if not _mostly_beyond_chance(followed):
            return ()
    findings = [finding for column in shared for finding in compare(first, second, column, pairs)]
    return tuple(finding for finding in findings if finding.kind != "value_changed")


def _same_order(first: View, second: View, shared: Sequence[PublishedColumn]) -> tuple[Longs, Longs] | None:
    """The rows of both one by one, where nearly all go together in this order and not in another."""
    rows = np.arange(len(first.codes))
    if len(rows) != len(second.codes) or len(rows) < 2:
        return None
    together, moved = (_rows_compatible(first, second, shared, np.roll(rows, by)) for by in (0, len(rows) // 2))
    if together.mean() < _IN_ORDER or moved.mean() > _IN_ORDER / 2:
        return None
    return rows[together], rows[together]


def _rows_compatible(first: View, second: View, shared: Sequence[PublishedColumn], later: Longs) -> Flags:
    compatible_rows = np.ones(len(later), np.bool_)
    for column in shared:
        labels = second.codes[later, second.column_index(column.name)]
        compatible_rows &= is_covered(column, labels, first.codes[:, first.column_index(column.name)])
    return compatible_rows


def _widest_findings(first: Sequence[Finding], second: Sequence[Finding]) -> tuple[Finding, ...]:
    """Of two findings of one kind on the same columns, the one that reaches more people."""
    best: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for finding in (*first, *second):
        widest = best.setdefault((finding.kind, finding.columns), finding)
        if finding.persons > widest.persons:
            best[finding.kind, finding.columns] = finding
    return tuple(best.values())


def _mostly_beyond_chance(followed: Estimate) -> bool:
    """Whether at least half of the pairs exceed chance: the findings about cells depend on them."""
    if not followed.works or followed.excess is None or followed.rate is None:
        return False
    return 2 * followed.excess >= followed.rate


def shared_column(first: View, second: View, name: str, hierarchy: AnyHierarchy | None = None) -> PublishedColumn:
    """A column of both releases: labels of the second × labels of the first that may be the same value."""
    labels, values = (view.labels[view.column_index(name)] for view in (second, first))
    return PublishedColumn(name, compatible(labels, values, hierarchy))


def _records(view: View, names: Sequence[str]) -> Records:
    """The rows over some columns."""
    places = [view.column_index(name) for name in names]
    return Records(np.asarray(view.codes[:, places], np.int64), view.persons)


# --- following ------------------------------------------------------------------------------------------


def follow(
    columns: Sequence[PublishedColumn],
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
        return not_measured(FOLLOWED, "over_time", reason, control=Control.MARGINS, variables=names), (none, none)
    try:
        claims = exact_claims(columns, second, first, most)
        chance = exact_claims(columns, second, shuffle_columns(first, seed), most)
    except TooManyPairs:
        return not_measured(FOLLOWED, "over_time", "too_many_pairs", control=Control.MARGINS, variables=names), (
            none,
            none,
        )
    tried = trials(claims, truth)
    remedy = best_remedy(columns, second, first, truth, most, tried.successes) if tried.successes else None
    followed = estimate(
        FOLLOWED,
        "over_time",
        tried,
        control=Control.MARGINS,
        baseline=trials(chance, truth),
        reach=tried.attempts,
        variables=names,
        remedy=remedy,
        detail={"followed": claims.count} | ({} if truth is None else {"right": claims.count_right(truth)}),
    )
    return followed, _rows(claims, second)


def _rows(claims: Claims, second: Records) -> tuple[Longs, Longs]:
    """The followed rows of the first release and those of the second."""
    owners, first_row = np.unique(second.owners, return_index=True)
    claimed = claims.person >= 0
    return claims.row[claimed], first_row[np.searchsorted(owners, claims.person[claimed])].astype(np.int64)


# --- what the pairs give away ---------------------------------------------------------------------------


def compare(first: View, second: View, column: PublishedColumn, pairs: tuple[Longs, Longs]) -> tuple[Finding, ...]:
    """Cells of followed records that changed, or that one release hides or blurs and the other shows."""
    earlier = first.codes[pairs[0], first.column_index(column.name)].astype(np.int64)
    later = second.codes[pairs[1], second.column_index(column.name)].astype(np.int64)
    before, after = _blur(first, second, column)
    same = is_covered(column, later, earlier)
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
        Finding(
            kind=kind,
            columns=(column.name,),
            cells=int(cells.sum()),
            persons=_people(first, pairs[0][cells]),
            severity=severity,
            remedy=column.name,
        )
        for kind, cells, severity in counted
        if cells.any()
    )


def _people(view: View, rows: Longs) -> int:
    return len(rows) if view.persons is None else len(np.unique(view.persons[rows]))


def _blur(first: View, second: View, column: PublishedColumn) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many labels of the other release each label may be: infinite for a mask, which is not counted either."""
    masked_first = _masks(first, column.name)
    masked_second = _masks(second, column.name)
    visible = sparse.csr_array(column.covers.astype(np.int64))
    before = (~masked_second).astype(np.int64) @ visible
    after = visible @ (~masked_first).astype(np.int64)
    return np.where(masked_first, np.inf, before), np.where(masked_second, np.inf, after)


def _masks(view: View, name: str) -> Flags:
    return np.asarray([is_masked(label) for label in view.labels[view.column_index(name)]], bool)


# --- differencing ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassChanges:
    """The same class in both releases: how many people, and whether those who came or went give themselves away."""

    moved: Longs  # people more (fewer: negative) in the second release
    nested: Flags  # the contents of the smaller lie within those of the larger
    one_value: Flags  # all who came or went have one sensitive value


def differencing(first: View, second: View, on: Sequence[str], sensitive: str, *, seed: int) -> Estimate:
    """How often a class that gained or lost people gives away the sensitive value of those who came or went."""
    names = (*on, sensitive)
    if not on or not len(first.codes) or not len(second.codes):
        reason = "no_shared_column" if not on else "no_records"
        return not_measured(DIFFERENCING, "over_time", reason, control=Control.MARGINS, variables=names)
    earlier, later, sizes = _common_codes(first, second, names)
    changes = class_changes(earlier, later, sizes)
    rng = np.random.Generator(np.random.Philox(seed))
    shuffled = later.copy()
    shuffled[:, -1] = rng.permutation(shuffled[:, -1])
    trials, reach = _disclosing_classes(changes)
    detail = {
        "grown_by_one": int(np.count_nonzero(changes.moved == 1)),
        "shrunk_by_one": int(np.count_nonzero(changes.moved == -1)),
        "people_given_away": reach,
    }
    return estimate(
        DIFFERENCING,
        "over_time",
        trials,
        control=Control.MARGINS,
        variables=names,
        baseline=_disclosing_classes(class_changes(earlier, shuffled, sizes))[0],
        reach=trials.attempts,
        remedy=sensitive,
        reason=None if trials.attempts else "no_class_moved",
        detail=detail,
    )


def _disclosing_classes(changes: ClassChanges) -> tuple[Trials, int]:
    """Classes that moved and those that give away who came or went; and how many people those are."""
    disclosed = changes.nested & changes.one_value & (changes.moved != 0)
    trials = Trials(int(np.count_nonzero(changes.moved)), int(np.count_nonzero(disclosed)))
    return trials, int(np.abs(changes.moved[disclosed]).sum())


def _common_codes(first: View, second: View, names: Sequence[str]) -> tuple[Longs, Longs, list[int]]:
    """The columns of both releases over common vocabularies; one row of a person and tuple counts once."""
    earlier: list[Longs] = []
    later: list[Longs] = []
    sizes = []
    for name in names:
        words: dict[str, int] = {}
        for view, codes in ((first, earlier), (second, later)):
            column = view.column_index(name)
            recode = np.asarray([words.setdefault(w, len(words)) for w in view.labels[column]], np.int64)
            codes.append(recode[view.codes[:, column]])
        sizes.append(len(words))
    stacked = [np.stack(columns, axis=1) for columns in (earlier, later)]
    return (
        _count_persons_once(stacked[0], first.persons, sizes),
        _count_persons_once(stacked[1], second.persons, sizes),
        sizes,
    )


def _count_persons_once(codes: Longs, persons: Longs | None, sizes: Sequence[int]) -> Longs:
    if persons is None:
        return codes
    keyed = np.concatenate([codes, persons[:, None]], axis=1)
    first, _ = group_codes(keyed, [*sizes, int(persons.max(initial=0)) + 1])
    return np.asarray(codes[first], np.int64)


def class_changes(first: Longs, second: Longs, sizes: Sequence[int]) -> ClassChanges:
    """What became of every class (all columns but the last) that both releases hold."""
    both = np.concatenate([first, second])
    later = np.arange(len(both)) >= len(first)
    start, cell = group_codes(both, sizes)
    _, of_cell = group_codes(both[start][:, :-1], sizes[:-1])
    before, after = np.bincount(cell[~later], minlength=len(start)), np.bincount(cell[later], minlength=len(start))
    classes = int(of_cell.max(initial=-1)) + 1
    n_before, n_after = _sum_by_class(of_cell, before, classes), _sum_by_class(of_cell, after, classes)
    gained, lost = np.maximum(after - before, 0), np.maximum(before - after, 0)
    nested = (_sum_by_class(of_cell, gained, classes) == 0) | (_sum_by_class(of_cell, lost, classes) == 0)
    kinds = _sum_by_class(of_cell, (gained + lost > 0).astype(np.int64), classes)
    there = (n_before > 0) & (n_after > 0)
    return ClassChanges((n_after - n_before)[there], nested[there], (kinds == 1)[there])


def _sum_by_class(group: Longs, counts: NDArray[np.integer], groups: int) -> Longs:
    return np.bincount(group, counts, groups).astype(np.int64)
