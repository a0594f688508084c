"""A topic: one thing a column may be about, how it is recognised, and what that means for the dictionary.

Knows the shape of the declaration. The topics themselves stand in `topics/`, a file per family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from celosia.model.variables import Kind, MelLabel, Role, Scale, Treatment
from celosia.proposals.shape import Shape


@dataclass(frozen=True, slots=True)
class ValueTest:
    """How values speak for a topic.

    `chance` is the share of unrelated values of the same look that pass: random digits pass the RUN's check
    digit once in eleven. `alone` is the share of passing values that convinces without help from the name
    (None: values never convince alone), `fewest` the distinct values needed for that. `column` is a further
    condition on the whole column. `hard` tests (check digits, e-mail) overrule a name that says otherwise.
    """

    passes: Callable[[str], bool]
    chance: float
    alone: float | None = 0.9
    fewest: int = 6
    column: Callable[[Shape], bool] | None = None
    hard: bool = False
    in_words: bool = False  # words of a closed list: needs letters, and "otro", "no sabe" stay out of the rate


@dataclass(frozen=True, slots=True)
class Topic:
    """A thing a column may be about."""

    name: str
    role: Role
    headers: tuple[str, ...] = ()
    weak_headers: tuple[str, ...] = ()  # say something only if the values agree or nothing else is known
    kind: Kind = Kind.THEMATIC
    scale: Scale | None = None  # None: read from the values
    mel: MelLabel = MelLabel.OTHER
    strong: bool = False
    strong_if_rare: bool = False  # a rare post or disease names its holder (P18)
    special: bool = False
    replicable: bool = True
    knowable: bool = True
    treatment: Treatment | None = None  # None: what the role asks for
    test: ValueTest | None = None
    needs_many_values: bool = False  # a name with two values only is a yes/no about the thing
    needs_topic: str = ""  # values convince alone only if another column is about this


def headers(*patterns: str) -> tuple[str, ...]:
    """Patterns written in a few comma-separated lines."""
    return tuple(" ".join(part.split()) for text in patterns for part in text.split(",") if part.strip())
