"""What the only person of a cell computes of the other cells, with everything that the public knows besides.

Knows the audit of the public, which cells have one person, and how to audit again with some cells known. Ignores how
cells are chosen. Somebody who is alone in a cell knows its figure; with it the bounds of all others may become tighter
than for the public, although nothing follows by elimination alone. A cell is out of danger from a single person when
one of the fillings that prove it safe leaves that person's cell as it is; the few pairs left over are audited, first
with half of the single persons known at once, which settles most, and at the end one by one.
Source: Jewett 1993 (singletons); Hundepool et al. 2012, section 4.3 (audit for the best informed contributor).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from celosia.tables.audit import Audit
from celosia.tables.grid import Cells, Flags, Reals

AuditKnowing = Callable[[Flags, Flags], Audit]  # hidden cells that are known, and the cells to audit
Suspects = dict[int, set[int]]  # per cell: the cells of one person with which it may be narrowed too far

_FEW = 4  # cells of one person that are examined one by one from the start


def find_exposures(
    result: Audit, singles: Flags, people: Cells, width: Reals, whole: bool, audit_knowing: AuditKnowing
) -> dict[int, Flags]:
    """Per cell of one person, the safe cells which that person narrows too far; `people` labels cells of the same."""
    suspects = _suspects(result, singles, people, (width <= 1) & whole)
    for known in _halves(suspects, len(singles)):
        asked = np.zeros(len(singles), np.bool_)
        asked[[cell for cell, near in suspects.items() if not known[cell] and known[list(near)].any()]] = True
        if asked.any():
            safe = asked & ~audit_knowing(known, asked).disclosed
            for cell in np.flatnonzero(safe).tolist():
                suspects[cell] = {single for single in suspects[cell] if not known[single]}
    return dict(_confirm(suspects, len(singles), audit_knowing))


def _suspects(result: Audit, singles: Flags, people: Cells, by_one_filling: Flags) -> Suspects:
    """The cells of one person that take part in every filling that proves a cell safe, or in any of several."""
    suspects: Suspects = {}
    for cell, moves in result.rests_on.items():
        near = [set(moved[singles[moved]].tolist()) for moved in moves]
        risky = set.intersection(*near) if by_one_filling[cell] else set().union(*near)
        risky = {single for single in risky if people[single] != people[cell]}
        if risky and not result.disclosed[cell]:
            suspects[cell] = risky
    return suspects


def _halves(suspects: Suspects, size: int) -> Iterator[Flags]:
    """Half of the cells of one person at a time, so that any two of them are at some time apart."""
    singles = np.array(sorted(set().union(*suspects.values())), np.int64)
    for bit in range(len(singles).bit_length() if len(singles) > _FEW else 0):
        for side in (0, 1):
            known = np.zeros(size, np.bool_)
            known[singles[(np.arange(len(singles)) >> bit) & 1 == side]] = True
            yield known


def _confirm(suspects: Suspects, size: int, audit_knowing: AuditKnowing) -> Iterator[tuple[int, Flags]]:
    """What each single person left over does narrow too far."""
    for single in sorted(set().union(*suspects.values())):
        known, asked = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        known[single] = True
        asked[[cell for cell, near in suspects.items() if single in near]] = True
        exposed = asked & audit_knowing(known, asked).disclosed
        if exposed.any():
            yield single, exposed
