"""«Otros» of a table of one variable: its count and the rule leave every member more than one possible count.

The attack knows what is published: the categories left, those joined and their sum; that each joined one is no larger
than any left; and that joining began because some were below k and ended when k was reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest

from celosia import cross_table

K = 5
TABLES: Sequence[Mapping[str, int]] = (
    {"a": 20, "b": 5, "c": 4, "d": 4},
    {"a": 20, "b": 6, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1},
    {"a": 30, "b": 12, "c": 4, "d": 4, "e": 4},
    {"a": 20, "b": 7, "c": 3, "d": 2},
    {"a": 11, "b": 8, "c": 2, "d": 9},
)


def possible(shown: Mapping[str, int], members: Sequence[str], total: int) -> list[tuple[int, ...]]:
    """Every way to share a total among the members that the rule would have joined so."""
    most = min(shown.values(), default=total)
    ways = product(range(1, min(most, total) + 1), repeat=len(members))
    return [way for way in ways if sum(way) == total and min(way) < K and _ends_here(way)]


def _ends_here(way: Sequence[int]) -> bool:
    """Without the largest member the rule would have gone on: it was below k itself, or the rest did not reach k."""
    return max(way) < K or sum(way) - max(way) < K


@pytest.mark.requirement("Y17")
@pytest.mark.parametrize("action", ["merge", "both"])
@pytest.mark.parametrize("counts", TABLES, ids=lambda counts: "-".join(map(str, counts.values())))
def test_no_member_of_others_has_a_single_possible_count(
    tmp_path: Path, counts: Mapping[str, int], action: str
) -> None:
    lines = [name for name, count in counts.items() for _ in range(count)]
    (tmp_path / "one.csv").write_text("kind\n" + "\n".join(lines) + "\n", "utf-8")
    report = cross_table(tmp_path / "one.csv", "kind", k=K, action=action).as_dict()
    shown = {cell["row"]: cell["value"] for cell in report["cells"] if cell["value"] is not None}
    members = [name for name in counts if name not in shown]
    (others,) = [value for name, value in shown.items() if name not in counts and name is not None]
    left = {name: value for name, value in shown.items() if name in counts}
    ways = possible(left, members, others)
    small = [at for at, name in enumerate(members) if counts[name] < K]
    assert all(len({way[at] for way in ways}) > 1 for at in small)
