"""Linkage with an outside file: whom the intruder finds when he lays his own list beside the release.

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

from celosia.attacks import _fellegi_sunter as probable
from celosia.attacks._estimates import Trials, estimate, unmeasured
from celosia.attacks._pairs import MOST_PAIRS, NOBODY, SEVERAL, Join, TooManyPairs, join, pieces
from celosia.attacks._scene import Column, Records
from celosia.model.attacks import Control, Estimate

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

    def only(self, kept: Flags) -> Claims:
        """Some of the people."""
        return Claims(self.row[kept], self.outcome[kept], self.person[kept])

    @property
    def made(self) -> int:
        """How many claims there are."""
        return int(np.count_nonzero(self.person >= 0))

    def right(self, truth: Longs) -> int:
        """How many claims name the right person."""
        return int(np.count_nonzero((self.person >= 0) & (self.person == truth[self.row])))


def match(made: Join, most: int = MOST_PAIRS) -> tuple[NDArray[np.int8], Longs]:
    """How every outside tuple matches, and the only released person it goes with (NOBODY, SEVERAL)."""
    from celosia.kernels.joining import meet, spread

    released, external = made.shape
    rival, claim = np.full(released, NOBODY, np.int64), np.full(external, NOBODY, np.int64)
    for one, other in pieces(made, most=most):
        meet(one, other, made.released.who, made.external.who, rival, claim)
    crowd = np.zeros(external, bool)
    for one, other in pieces(made, most=most):
        spread(one, other, rival == SEVERAL, crowd)
    sole = np.where(crowd, MANY_TO_ONE, ONE_TO_ONE)
    several = np.where(crowd, MANY_TO_MANY, ONE_TO_MANY)
    outcome = np.select([claim == NOBODY, claim == SEVERAL], [UNMATCHED, several], sole).astype(np.int8)
    return outcome, claim


def exact_claims(columns: Sequence[Column], released: Records, external: Records, most: int = MOST_PAIRS) -> Claims:
    """The verdict on every outside person; of several records of one, the one that says most.

    Records without masks are matched first: one masked row goes with everybody and would hide them all. Whoever then
    has no match is tried against everything that is left.
    """
    released, external = _owned(released), _owned(external)
    here, there = _telling(columns, released, 0), _telling(columns, external, 1)
    outcome, claim = _verdicts(columns, released, external, (here, there), most)
    if not (here.all() and there.all()):
        taken = np.unique(claim[outcome == ONE_TO_ONE])
        rest = (~np.isin(released.owners, taken), outcome == UNMATCHED)
        late, later = _verdicts(columns, released, external, rest, most)
        outcome, claim = np.where(rest[1], late, outcome), np.where(rest[1], later, claim)
    order = np.argsort(_DANGER[outcome], kind="stable")
    _, first = np.unique(external.owners[order], return_index=True)
    row = order[first]
    claimed = np.where(outcome[row] == ONE_TO_ONE, claim[row], NOBODY)
    return Claims(row.astype(np.int64), outcome[row], claimed)


def _owned(records: Records) -> Records:
    """The records with their owners spelt out, so that a part of them keeps its numbers."""
    return Records(records.codes, records.owners)


def _telling(columns: Sequence[Column], records: Records, axis: int) -> Flags:
    """Records of which no cell goes with everything of the other file: labels (0) or values (1) of the covers."""
    tells = np.ones(len(records), bool)
    for place, column in enumerate(columns):
        met = np.asarray(column.covers.astype(np.int64).sum(axis=1 - axis)).reshape(-1)
        others = column.covers.shape[1 - axis]
        tells &= ~((met == others) & (others > 1))[records.codes[:, place]]
    return tells


def _verdicts(
    columns: Sequence[Column], released: Records, external: Records, some: tuple[Flags, Flags], most: int
) -> tuple[NDArray[np.int8], Longs]:
    """Outcome and claim of each outside record, when a part of each file is matched."""
    outcome, claim = np.full(len(external), UNMATCHED, np.int8), np.full(len(external), NOBODY, np.int64)
    rows = np.flatnonzero(some[1])
    made = join(columns, released.at(np.flatnonzero(some[0])), external.at(rows))
    of_tuple, sole = match(made, most)
    outcome[rows], claim[rows] = of_tuple[made.external.of_row], sole[made.external.of_row]
    return outcome, claim


def linkage(
    columns: Sequence[Column],
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
    return _measured(attack, external, outsiders, seed, remedy)


def probable_linkage(
    columns: Sequence[Column],
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
    return _measured(attack, external, outsiders, seed, remedy=False)


# --- one attack, its control and its remedy -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Attack:
    """Everything but the list it is tried with."""

    name: str
    columns: tuple[Column, ...]
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
        found = probable.posterior(self.columns, self.released, external, self.near, seed, self.most)
        claims = _likely(found, external, self.threshold)
        return claims, {**found.figures, "threshold": self.threshold, "expected_right": _expected(found, claims)}


def _measured(attack: _Attack, external: Records, outsiders: Records | None, seed: int, remedy: bool) -> Estimate:
    control = Control.MARGINS if outsiders is None else Control.HELD_OUT
    asked: dict[str, Any] = {"control": control, "variables": attack.variables}
    reason, detail = _hindrance(attack, external)
    if reason is not None:
        return unmeasured(attack.name, "linkage", reason, detail=detail, **asked)
    try:
        if outsiders is None:
            claims, figures = attack.claims(external, seed)
            chance, _ = attack.claims(shuffled(external, seed), seed)
            truth = attack.truth
        else:
            claims, chance, figures = _beside(attack, external, outsiders, seed)
            truth = None  # outsiders have no right claims: claims are held against claims
    except TooManyPairs:
        return unmeasured(attack.name, "linkage", "too_many_pairs", **asked)
    tried = trials(claims, truth)
    detail = {**_counted(attack, external, claims), **figures}
    stops = None
    if remedy and tried.successes:
        stops = stopper(attack.columns, attack.released, external, truth, attack.most, tried.successes)
    return estimate(
        attack.name, "linkage", tried,
        baseline=trials(chance, truth), reach=tried.attempts, remedy=stops, detail=detail, **asked,
    )  # fmt: skip


def _hindrance(attack: _Attack, external: Records) -> tuple[str | None, Mapping[str, int | float | str]]:
    """Why nothing can be tried, if so."""
    if not attack.columns:
        return "no_shared_column", {}
    if not len(external) or not len(attack.released):
        return "no_records", {}
    strange = [column.name for column in attack.columns if column.covers.nnz == 0]
    return ("no_common_values", {"variable": strange[0]}) if strange else (None, {})


def shuffled(records: Records, seed: int) -> Records:
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
    for one in range(codes.shape[1]):
        for other in range(one):
            if block[one] != block[other] and _follows(sample[:, one], sample[:, other]):
                block = [block[other] if home == block[one] else home for home in block]
    return [[place for place, home in enumerate(block) if home == name] for name in dict.fromkeys(block)]


def _follows(one: NDArray[np.integer], other: NDArray[np.integer]) -> bool:
    """Whether the finer column settles the coarser one; nearly distinct values settle everything and do not count."""
    kinds = max(len(np.unique(one)), len(np.unique(other)))
    coarse = min(len(np.unique(one)), len(np.unique(other)))
    if coarse < 2 or kinds * _OFTEN > len(one):
        return False
    pairs = np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other)
    return bool(len(pairs) <= kinds + kinds // 50)


def _beside(
    attack: _Attack, external: Records, outsiders: Records, seed: int
) -> tuple[Claims, Claims, dict[str, int | float | str]]:
    """The list and the outsiders tried together, so that both meet the same rivals."""
    owners = external.owners
    strangers = outsiders.owners + int(owners.max(initial=-1)) + 1
    together = Records(np.concatenate([external.codes, outsiders.codes]), np.concatenate([owners, strangers]))
    claims, figures = attack.claims(together, seed)
    listed = claims.row < len(external)
    return claims.only(listed), claims.only(~listed), figures


def trials(claims: Claims, truth: Longs | None) -> Trials:
    """One attempt per person; right claims succeed, or any claim where the truth is unknown."""
    return Trials(len(claims.row), claims.made if truth is None else claims.right(truth))


def _counted(attack: _Attack, external: Records, claims: Claims) -> dict[str, int | float | str]:
    """Claims, those that are right where the truth is known, and people of the list who look alike."""
    whole = join(attack.columns, attack.released, external).external
    figures: dict[str, int | float | str] = {
        "claims": claims.made,
        "alike_in_list": int(whole.rows[whole.who == SEVERAL].sum()),
    }
    if attack.truth is not None:
        figures["right"] = claims.right(attack.truth)
        figures["in_release"] = int(np.count_nonzero(attack.truth[claims.row] >= 0))
    return figures


def stopper(
    columns: Sequence[Column], released: Records, external: Records, truth: Longs | None, most: int, successes: int
) -> str | None:
    """The column without which the fewest exact claims succeed; None where none makes a difference."""
    if len(columns) == 1:
        return columns[0].name
    left = {}
    for place, column in enumerate(columns):
        kept = [other for other in range(len(columns)) if other != place]
        fewer = [columns[other] for other in kept]
        try:
            left[column.name] = trials(
                exact_claims(fewer, released.pick(kept), external.pick(kept), most), truth
            ).successes
        except TooManyPairs:
            continue
    best = min(left, key=lambda name: left[name], default=None)
    return best if best is not None and left[best] < successes else None


# --- from probabilities to claims -----------------------------------------------------------------------


def _likely(found: probable.Posterior, external: Records, threshold: float) -> Claims:
    """One claim per outside person and per released person, the likeliest; equals cancel each other."""
    probability = found.probability[found.of_row]
    order = np.argsort(-probability, kind="stable")
    _, first = np.unique(external.owners[order], return_index=True)
    row = order[first].astype(np.int64)
    person = np.where(probability[row] >= threshold, found.person[found.of_row[row]], NOBODY)
    person = np.where(person == SEVERAL, NOBODY, person)
    kept = np.where(_stands_alone(person, probability[row]), person, NOBODY)
    return Claims(row, np.where(kept >= 0, ONE_TO_ONE, UNMATCHED).astype(np.int8), kept)


def _stands_alone(person: Longs, probability: NDArray[np.float64]) -> Flags:
    """Whether a claim is the likeliest one of its person, and alone in that."""
    if not len(person):
        return np.zeros(0, bool)
    shifted, size = person - SEVERAL, int(person.max(initial=0)) - SEVERAL + 1
    best = np.zeros(size)
    np.maximum.at(best, shifted, probability)
    top = probability == best[shifted]
    return np.asarray(top & (np.bincount(shifted[top], minlength=size)[shifted] == 1), bool)


def _expected(found: probable.Posterior, claims: Claims) -> float:
    """Right claims that the probabilities promise."""
    made = claims.row[claims.person >= 0]
    return round(float(found.probability[found.of_row[made]].sum()), 3)
