"""Skewed classes: groups where nearly all share a sensitive value that few have elsewhere.

Knows published labels. Ignores the original. A group of one value (l = 1) is another attack; here a group of enough
people of whom nine in ten share a value, more by half of all people than the whole file would lead one to expect, and
more than chance would give in any of the groups. A habit of the whole file is therefore never called a disclosure.
Source: Machanavajjhala et al. 2007 and Li et al. 2007 (skewness attack).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from celosia.attacks.attack_input import View, equivalence_classes
from celosia.model.reports.attacks import Finding

LEAST = 10  # people in a group below which nine in ten says little
NEARLY_ALL = 0.9
FAR = 0.5  # how much more than in the whole file
_LUCK = 1e-3


def skewed_classes(view: View, known: Sequence[str], sensitive: str) -> Finding | None:
    """People in groups (over the known columns) where nearly all, but not all, show one rare sensitive value."""
    from scipy.stats import binom  # a second of imports, for this attack alone

    target = view.column_index(sensitive)
    readable_rows = np.flatnonzero(view.readable[target])
    if not known or not len(readable_rows):
        return None
    values, width = view.codes[readable_rows, target], len(view.labels[target])
    classes, label = equivalence_classes(
        np.ascontiguousarray(view.codes[readable_rows][:, [view.column_index(name) for name in known]])
    )
    cells, counts = np.unique(label * width + values, return_counts=True)
    sizes, usual = np.bincount(label, minlength=classes), np.bincount(values, minlength=width) / len(readable_rows)
    of, share = sizes[cells // width], usual[cells % width]
    luck = binom.sf(counts - 1, of, share) * len(cells)
    skewed = (of >= LEAST) & (counts < of) & (counts >= NEARLY_ALL * of) & (counts / of - share >= FAR) & (luck < _LUCK)
    if not skewed.any():
        return None
    rows = np.zeros(view.rows, np.bool_)
    rows[readable_rows[np.isin(label * width + values, cells[skewed])]] = True
    return view.finding("skewed_class", (sensitive,), rows, "medium", sensitive, {"groups": int(skewed.sum())})
