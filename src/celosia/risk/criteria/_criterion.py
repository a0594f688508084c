"""What every criterion is: parameters as data, what it needs, how it behaves when classes merge.

Merging decides what a search may conclude from one node about others:
- ABSORBING: a class that passes still passes whatever joins it (k). Suppressed rows never grow upwards.
- CLOSED: two classes that pass, pass together (t, entropy-l). Without suppression, feasibility is inherited upwards.
- FREE: nothing may be concluded.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Any, ClassVar

import numpy as np

from celosia.model.parameters import NotAccepted, Parameter, as_plain
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.errors import CriterionIncomplete


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
            if name not in given and parameter.required:
                raise CriterionIncomplete(criterion=self.name, parameter=name, known=", ".join(self.parameters))
            value = given.get(name, parameter.default)
            try:
                read[name] = parameter.read(value)
            except NotAccepted:
                where = f"{self.name}.{name}"
                raise ValueOutOfRange(parameter=where, given=value, allowed=parameter.limits) from None
        object.__setattr__(self, "_given", read)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._given:
            raise AttributeError(name)
        return self._given[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self.name} is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._given), ()

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
        """What it demands of class sizes, whatever the sensitive values are; None where it demands nothing."""
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
        """Classes where each value is lacked by at least `fewest` of the persons who show one, or without any value.

        All classes where persons are not known or not asked for.
        """
        persons = classes.commonest(self.variable, countable) if self.by_person else None
        if persons is None:
            return np.ones(len(classes), bool)
        most, holders = persons
        return ~classes.counts(self.variable).visible | (holders - most >= fewest)

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
