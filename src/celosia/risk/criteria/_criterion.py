"""What every criterion is: parameters as data, what it needs, how it behaves when classes merge, its judgement.

Merging decides what a search may conclude from one node about others:
- ABSORBING: a class that passes still passes whatever joins it (k). Suppressed rows never grow upwards.
- CLOSED: two classes that pass, pass together (t, entropy-l). Without suppression, feasibility is inherited upwards.
- FREE: nothing may be concluded.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from celosia.errors import CriterionIncomplete, ValueOutOfRange
from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.criteria._parameters import REQUIRED, Parameter, as_plain


class Merging(StrEnum):
    """What happens to passing classes when classes merge."""

    ABSORBING = "absorbing"
    CLOSED = "closed"
    FREE = "free"


class Need(StrEnum):
    """What a criterion needs to know of a class."""

    SIZES = "sizes"
    DISTINCT = "distinct"  # which values occur
    COUNTS = "counts"  # how often each value occurs
    PERSONS_BY_VALUE = "persons_by_value"
    ALL_CLASSES = "all_classes"  # not judged class by class


class Criterion:
    """Base of the criteria: equality, text and file form follow from the declared parameters."""

    name: ClassVar[str]
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    need: ClassVar[Need] = Need.SIZES
    __slots__ = ("_given",)
    _given: dict[str, Any]

    def __init__(self, **given: object) -> None:
        for name in given:
            if name not in self.parameters:
                raise ValueOutOfRange(parameter=name, given=given[name], allowed=", ".join(self.parameters))
        read: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            value = given.get(name, parameter.default)
            if value is REQUIRED:
                raise CriterionIncomplete(criterion=self.name, parameter=name, known=", ".join(self.parameters))
            read[name] = parameter.read(f"{self.name}.{name}", value)
        object.__setattr__(self, "_given", read)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._given:
            raise AttributeError(name)
        return self._given[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self.name} is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return criterion_again, (type(self), self._given)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash((self.name, tuple(self._given.items())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._given.items())})"

    def as_dict(self) -> dict[str, object]:
        """The criterion as data; `criterion_from` reads it back."""
        return {"criterion": self.name} | {name: as_plain(value) for name, value in self._given.items()}

    @property
    def variable(self) -> str:
        """The sensitive variable it protects; empty when it looks at sizes alone."""
        return str(self._given.get("variable", ""))

    @property
    def size_alone(self) -> Criterion | None:
        """What it asks of sizes, whatever the sensitive values are; None where it asks nothing of them."""
        return None if self.variable else self

    @property
    def by_person(self) -> bool:
        """Whether it looks at persons where they are known."""
        return self._given.get("unit") == "persons"

    @property
    def on_release(self) -> bool:
        """Whether its reference distribution is taken over the kept records."""
        return self._given.get("reference") == "release"

    @property
    def smallest_class(self) -> int:
        """Rows that every passing class has at least."""
        return 1

    def persons_lack(self, classes: Classes, countable: Mask, fewest: int) -> Mask:
        """Classes without a visible value, or where at least so many persons who show one lack each of them.

        All classes where persons are not known or not asked for.
        """
        found = classes.commonest(self.variable, countable) if self.by_person else None
        if found is None:
            return np.ones(len(classes), bool)
        most, holders = found
        return (np.diff(classes.counts(self.variable).offsets) == 0) | (holders - most >= fewest)

    def merging(self, domain: Domain | None) -> Merging:
        """What may be concluded when classes merge."""
        raise NotImplementedError

    def judge(self, classes: Classes) -> Mask:
        """Which classes pass, in plain NumPy."""
        raise NotImplementedError

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Which of the `alive` classes pass, and rows of each that no finer node can keep."""
        passes = self.judge(classes)
        return passes, np.where(passes, 0, classes.rows)


def criterion_again(kind: type[Criterion], given: dict[str, Any]) -> Criterion:
    """A criterion from its checked parameters (for copying between processes)."""
    return kind(**given)
