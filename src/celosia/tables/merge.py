"""Merge the small categories of one dimension until the merged one reaches k persons.

Knows the persons of each category, and counts anew after each merge: 3 and 4 people may be 4. Ignores where they are
counted. The count may be of the persons of the category, or of those of its smallest cell where every cell of a cross
table must reach k. Source: YAPÓ guide 3 (Y16, Y17).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

Recount = Callable[[Sequence[str]], int]


@dataclass(frozen=True, slots=True)
class Merge:
    """The categories joined into one; or, where only one would be left, those that must all be hidden instead."""

    label: str
    joined: tuple[str, ...] = ()
    persons: int = 0
    suppressed: tuple[str, ...] = ()


def free_label(wanted: str, taken: Collection[str]) -> str:
    """A label for merged categories that the data do not use yet."""
    label, number = wanted, 2
    while label in taken:
        label, number = f"{wanted} ({number})", number + 1
    return label


def merge_small(
    counts: Mapping[str, int], k: int, recount: Recount, others: str, *, of_categories: bool = True
) -> Merge:
    """Merge the categories of fewer than k persons, and then the next smallest until the merged one reaches k.

    More are joined while the merged count would disclose those of its members to whoever knows this rule: five
    categories that make 5 have one person each. Where `counts` are not `of_categories` (but of their smallest
    cells) no such thing follows from them. Empty categories stay as they are. `others` is the preferred label;
    see `free_label`.
    """
    label = free_label(others, counts)
    order = sorted((label for label, count in counts.items() if count > 0), key=lambda name: (counts[name], name))
    small = sum(counts[name] < k for name in order)
    if small == 0:
        return Merge(label)
    for size in range(max(small, 2), len(order)):
        persons = recount(order[:size])
        if persons >= k and not (of_categories and _discloses_members(size, persons, k, counts[order[size]])):
            return Merge(label, tuple(order[:size]), persons)
    return Merge(label, suppressed=tuple(order))


def _discloses_members(members: int, persons: int, k: int, following: int) -> bool:
    """Whether a merged count can be divided among its members in one way only, given this same rule.

    Either all members are below k, with room for one to have more and another fewer; or all but one are, with fewer
    than k together, and that one, which may be any of them, is smaller than every category left alone.
    """
    all_small = members < persons < members * (k - 1)
    fewest, most = max(members - 1, persons - following + 1), min(k - 1, persons - k)
    return not (all_small or fewest <= most)
