"""Linkage with an outside file: whom an intruder finds by comparing a list of known people with the release.

Knows coded records of both files and which label covers which value. Ignores names and files. A person of the outside
list and a released record go together when no shared column contradicts it (`05302, 37` and `053**, 30 a 39`).
- *Exact*: a claim is a pair that goes together with nothing else on either side (1:1), masked records last. Counted
  too: n:1 (one record, several people of the list), 1:n and n:m.
- *Probable* (`probable_linkage`): the record that is most likely the person, if it is likelier than a threshold, also
  where one column errs (Fellegi and Sunter 1969; see `_fellegi_sunter`).
The control is the same list with every column shuffled (its margins, and no person in it), or people known not to be
in the release. With the truth, a success is a right claim; without it, a claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks import fellegi_sunter as probable
from celosia.attacks.attack_input import PublishedColumn, Records
from celosia.attacks.estimates import Trials, estimate, not_measured
from celosia.attacks.pairs import MOST_PAIRS, NOBODY, SEVERAL, Join, TooManyPairs, join, pair_pieces
from celosia.model.reports.attacks import Control, Estimate

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]

UNMATCHED, ONE_TO_ONE, MANY_TO_ONE, ONE_TO_MANY, MANY_TO_MANY = range(5)
OUTCOMES = ("unmatched", "one_to_one", "many_to_one", "one_to_many", "many_to_many")
_DANGER = np.array([4, 0, 1, 2, 3])  # which outcome says most about a person who has several
THRESHOLD = 0.9
_SAMPLE, _OFTEN = 50_000, 5  # rows that decide a dependency, and how often its values must occur


@dataclass(frozen=True, slots=True)
class Claims:
    """One verdict per outside person: how they match and, if claimed, as whom."""

    row: Longs  # a record of the person
    outcome: NDArray[np.int8]
    person: Longs  # the released person claimed, NOBODY without a claim

    def select(self, selection: Flags) -> Claims:
        """Some of the people."""
        return Claims(self.row[selection], self.outcome[selection], self.person[selection])

    @property
    def count(self) -> int:
        """How many claims there are."""
        return int(np.count_nonzero(self.person >= 0))

    def count_right(self, truth: Longs) -> int:
        """How many claims name the right person."""
        return int(np.count_nonzero((self.person >= 0) & (self.person == truth[self.row])))


def match(tuple_join: Join, most: int = MOST_PAIRS) -> tuple[NDArray[np.int8], Longs]:
    """How every outside tuple matches, and the only released person it goes with (NOBODY, SEVERAL)."""
    from celosia.kernels.joining import mark_crowded, record_sole_persons

    released, external = tuple_join.shape
    rival, claim = np.full(released, NOBODY, np.int64), np.full(external, NOBODY, np.int64)
    for released_tuples, external_tuples in pair_pieces(tuple_join, most=most):
        record_sole_persons(
            released_tuples, external_tuples, tuple_join.released.who, tuple_join.external.who, rival, claim
        )
    crowd = np.zeros(external, bool)
    for released_tuples, external_tuples in pair_pieces(tuple_join, most=most):
        mark_crowded(released_tuples, external_tuples, rival == SEVERAL, crowd)
    sole = np.where(crowd, MANY_TO_ONE, ONE_TO_ONE)
    several = np.where(crowd, MANY_TO_MANY, ONE_TO_MANY)
    outcome = np.select([claim == NOBODY, claim == SEVERAL], [UNMATCHED, several], sole).astype(np.int8)
    return outcome, claim


def exact_claims(
    columns: Sequence[PublishedColumn], released: Records, external: Records, most: int = MOST_PAIRS
) -> Claims:
    """The verdict on every outside person; of several records of one, the one that says most.

    Records without masks are matched first: one masked row goes with everybody and would hide them all. Whoever then
    has no match is tried against everything that is left.
    """
    released, external = _spell_out_owners(released), _spell_out_owners(external)
    here, there = _unmasked_records(columns, released, 0), _unmasked_records(columns, external, 1)
    outcome, claim = _match_part(columns, released, external, (here, there), most)
    if not (here.all() and there.all()):
        taken = np.unique(claim[outcome == ONE_TO_ONE])
        rest = (~np.isin(released.owners, taken), outcome == UNMATCHED)
        late, later = _match_part(columns, released, external, rest, most)
        outcome, claim = np.where(rest[1], late, outcome), np.where(rest[1], later, claim)
    order = np.argsort(_DANGER[outcome], kind="stable")
    _, first = np.unique(external.owners[order], return_index=True)
    row = order[first]
    claimed = np.where(outcome[row] == ONE_TO_ONE, claim[row], NOBODY)
    return Claims(row.astype(np.int64), outcome[row], claimed)


def _spell_out_owners(records: Records) -> Records:
    """The records with their owners spelt out, so that a part of them keeps its numbers."""
    return Records(records.codes, records.owners)


def _unmasked_records(columns: Sequence[PublishedColumn], records: Records, axis: int) -> Flags:
    """Records of which no cell goes with everything of the other file: labels (0) or values (1) of the covers."""
    tells = np.ones(len(records), bool)
    for place, column in enumerate(columns):
        met = np.asarray(column.covers.astype(np.int64).sum(axis=1 - axis)).reshape(-1)
        others = column.covers.shape[1 - axis]
        tells &= ~((met == others) & (others > 1))[records.codes[:, place]]
    return tells


def _match_part(
    columns: Sequence[PublishedColumn], released: Records, external: Records, some: tuple[Flags, Flags], most: int
) -> tuple[NDArray[np.int8], Longs]:
    """Outcome and claim of each outside record, when a part of each file is matched."""
    outcome, claim = np.full(len(external), UNMATCHED, np.int8), np.full(len(external), NOBODY, np.int64)
    rows = np.flatnonzero(some[1])
    tuple_join = join(columns, released.select_rows(np.flatnonzero(some[0])), external.select_rows(rows))
    of_tuple, sole = match(tuple_join, most)
    outcome[rows], claim[rows] = of_tuple[tuple_join.external.of_row], sole[tuple_join.external.of_row]
    return outcome, claim


def linkage(
    columns: Sequence[PublishedColumn],
    released: Records,
    external: Records,
    *,
    seed: int,
    truth: Longs | None = None,
    outsiders: Records | None = None,
    remedy: bool = True,
    most: int = MOST_PAIRS,
) -> Estimate:
    """Exact linkage with an outside list.

    `truth` is the released person behind each outside record (its ordinal, or its row without person keys), negative
    where there is none; `outsiders` are records of people known not to be in the release.
    """
    attack = _Attack("external_exact", tuple(columns), released, truth, most)
    return _measure(attack, external, outsiders, seed, remedy)


def probable_linkage(
    columns: Sequence[PublishedColumn],
    released: Records,
    external: Records,
    *,
    seed: int,
    near: Sequence[sparse.csr_array | None] = (),
    truth: Longs | None = None,
    outsiders: Records | None = None,
    threshold: float = THRESHOLD,
    most: int = probable.MOST_KEPT,
) -> Estimate:
    """Probabilistic linkage with an outside list, where one column of a pair may err.

    `near` holds, per column, the labels × values that nearly agree (one year apart); claims need a probability of at
    least `threshold`.
    """
    attack = _Attack("external_probable", tuple(columns), released, truth, most, tuple(near), threshold)
    return _measure(attack, external, outsiders, seed, remedy=False)


# --- one attack, its control and its remedy -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Attack:
    """Everything but the list it is tried with."""

    name: str
    columns: tuple[PublishedColumn, ...]
    released: Records
    truth: Longs | None
    most: int
    near: tuple[sparse.csr_array | None, ...] = ()
    threshold: float | None = None  # None: exact

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def claims(self, external: Records, seed: int) -> tuple[Claims, dict[str, int | float | str]]:
        """The claims made with a list, and figures about them."""
        if self.threshold is None:
            claims = exact_claims(self.columns, self.released, external, self.most)
            counts = np.bincount(claims.outcome, minlength=len(OUTCOMES))
            return claims, dict(zip(OUTCOMES, counts.tolist(), strict=True))
        posterior = probable.posterior(self.columns, self.released, external, self.near, seed, self.most)
        claims = _likely_claims(posterior, external, self.threshold)
        expected = _expected_correct(posterior, claims)
        return claims, {**posterior.figures, "threshold": self.threshold, "expected_right": expected}


def _measure(attack: _Attack, external: Records, outsiders: Records | None, seed: int, remedy: bool) -> Estimate:
    control = Control.MARGINS if outsiders is None else Control.HELD_OUT
    common: dict[str, Any] = {"control": control, "variables": attack.variables}
    reason, detail = _reason_not_measured(attack, external)
    if reason is not None:
        return not_measured(attack.name, "linkage", reason, detail=detail, **common)
    try:
        if outsiders is None:
            claims, figures = attack.claims(external, seed)
            chance, _ = attack.claims(shuffle_columns(external, seed), seed)
            truth = attack.truth
        else:
            claims, chance, figures = _claims_with_outsiders(attack, external, outsiders, seed)
            truth = None  # outsiders have no right claims: claims are held against claims
    except TooManyPairs:
        return not_measured(attack.name, "linkage", "too_many_pairs", **common)
    tried = trials(claims, truth)
    detail = {**_claim_figures(attack, external, claims), **figures}
    remedy_column = None
    if remedy and tried.successes:
        remedy_column = best_remedy(attack.columns, attack.released, external, truth, attack.most, tried.successes)
    return estimate(
        attack.name,
        "linkage",
        tried,
        baseline=trials(chance, truth),
        reach=tried.attempts,
        remedy=remedy_column,
        detail=detail,
        **common,
    )


def _reason_not_measured(attack: _Attack, external: Records) -> tuple[str | None, Mapping[str, int | float | str]]:
    """Why nothing can be tried, if so."""
    if not attack.columns:
        return "no_shared_column", {}
    if not len(external) or not len(attack.released):
        return "no_records", {}
    strange = [column.name for column in attack.columns if column.covers.nnz == 0]
    return ("no_common_values", {"variable": strange[0]}) if strange else (None, {})


def shuffle_columns(records: Records, seed: int) -> Records:
    """The records with every column shuffled on its own: the margins stay, and nobody is left.

    Columns of which one follows from another (region from comuna) are shuffled together: breaking what always goes
    together would make a control that nothing matches, and an attack of mere habits.
    """
    rng = np.random.Generator(np.random.Philox(seed))
    codes = records.codes.copy()
    for block in _blocks(records.codes, rng):
        codes[:, block] = records.codes[rng.permutation(len(codes))][:, block]
    return Records(codes, records.persons)


def _blocks(codes: NDArray[np.integer], rng: np.random.Generator) -> list[list[int]]:
    """Columns in groups: those that follow from one another together, judged on a sample."""
    sample = codes if len(codes) <= _SAMPLE else codes[np.sort(rng.choice(len(codes), _SAMPLE, replace=False))]
    block = list(range(codes.shape[1]))
    for column in range(codes.shape[1]):
        for earlier in range(column):
            if block[column] != block[earlier] and _determines(sample[:, column], sample[:, earlier]):
                block = [block[earlier] if block_ == block[column] else block_ for block_ in block]
    return [[position for position, block_ in enumerate(block) if block_ == name] for name in dict.fromkeys(block)]


def _determines(first: NDArray[np.integer], second: NDArray[np.integer]) -> bool:
    """Whether the finer column settles the coarser one; nearly distinct values settle everything and do not count."""
    kinds = max(len(np.unique(first)), len(np.unique(second)))
    coarse = min(len(np.unique(first)), len(np.unique(second)))
    if coarse < 2 or kinds * _OFTEN > len(first):
        return False
    pairs = np.unique(first.astype(np.int64) * (int(second.max()) + 1) + second)
    return bool(len(pairs) <= kinds + kinds // 50)


def _claims_with_outsiders(
    attack: _Attack, external: Records, outsiders: Records, seed: int
) -> tuple[Claims, Claims, dict[str, int | float | str]]:
    """The list and the outsiders tried together, so that both meet the same rivals."""
    owners = external.owners
    strangers = outsiders.owners + int(owners.max(initial=-1)) + 1
    together = Records(np.concatenate([external.codes, outsiders.codes]), np.concatenate([owners, strangers]))
    claims, figures = attack.claims(together, seed)
    listed = claims.row < len(external)
    return claims.select(listed), claims.select(~listed), figures


def trials(claims: Claims, truth: Longs | None) -> Trials:
    """One attempt per person; right claims succeed, or any claim where the truth is unknown."""
    return Trials(len(claims.row), claims.count if truth is None else claims.count_right(truth))


def _claim_figures(attack: _Attack, external: Records, claims: Claims) -> dict[str, int | float | str]:
    """Claims, those that are right where the truth is known, and people of the list who look alike."""
    whole = join(attack.columns, attack.released, external).external
    figures: dict[str, int | float | str] = {
        "claims": claims.count,
        "alike_in_list": int(whole.rows[whole.who == SEVERAL].sum()),
    }
    if attack.truth is not None:
        figures["right"] = claims.count_right(attack.truth)
        figures["in_release"] = int(np.count_nonzero(attack.truth[claims.row] >= 0))
    return figures


def best_remedy(
    columns: Sequence[PublishedColumn],
    released: Records,
    external: Records,
    truth: Longs | None,
    most: int,
    successes: int,
) -> str | None:
    """The column without which the fewest exact claims succeed; None where none makes a difference."""
    if len(columns) == 1:
        return columns[0].name
    left = {}
    for position, column in enumerate(columns):
        others = [other for other in range(len(columns)) if other != position]
        fewer = [columns[other] for other in others]
        try:
            left[column.name] = trials(
                exact_claims(fewer, released.select_columns(others), external.select_columns(others), most), truth
            ).successes
        except TooManyPairs:
            continue
    best = min(left, key=lambda name: left[name], default=None)
    return best if best is not None and left[best] < successes else None


# --- from probabilities to claims -----------------------------------------------------------------------


def _likely_claims(posterior: probable.Posterior, external: Records, threshold: float) -> Claims:
    """One claim per outside person and per released person, the likeliest; equals cancel each other."""
    probability = posterior.probability[posterior.of_row]
    order = np.argsort(-probability, kind="stable")
    _, first = np.unique(external.owners[order], return_index=True)
    row = order[first].astype(np.int64)
    person = np.where(probability[row] >= threshold, posterior.person[posterior.of_row[row]], NOBODY)
    person = np.where(person == SEVERAL, NOBODY, person)
    claimed = np.where(_is_unrivalled(person, probability[row]), person, NOBODY)
    return Claims(row, np.where(claimed >= 0, ONE_TO_ONE, UNMATCHED).astype(np.int8), claimed)


def _is_unrivalled(person: Longs, probability: NDArray[np.float64]) -> Flags:
    """Whether a claim is the likeliest one of its person, and alone in that."""
    if not len(person):
        return np.zeros(0, bool)
    shifted, size = person - SEVERAL, int(person.max(initial=0)) - SEVERAL + 1
    best = np.zeros(size)
    np.maximum.at(best, shifted, probability)
    top = probability == best[shifted]
    return np.asarray(top & (np.bincount(shifted[top], minlength=size)[shifted] == 1), bool)


def _expected_correct(posterior: probable.Posterior, claims: Claims) -> float:
    """Right claims that the probabilities promise."""
    claimed_rows = claims.row[claims.person >= 0]
    return round(float(posterior.probability[posterior.of_row[claimed_rows]].sum()), 3)
