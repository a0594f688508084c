"""What MEL's walk leaves behind: the annotated dictionary as it was judged, the contrast, the delivery.

Knows names, labels and counts. Ignores how they are counted. Source: MEL protocol IV.1 to IV.4; readings X16 to X21.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from celosia.model.plain import plain_fields
from celosia.model.reports.evaluation import ContrastLine
from celosia.model.reports.geography import UnitKind

ANNOTATED_FORMAT = "celosia/annotated-dictionary/1"
CONTRAST_FORMAT = "celosia/contrast/1"
DELIVERY_FORMAT = "celosia/delivery/1"
_NONE: Mapping[str, Any] = MappingProxyType({})


class Fault(StrEnum):
    """Why a line of the annotated dictionary cannot be approved as it stands; said by `mel.fault.<id>`."""

    NO_LABEL = "no_label"
    NO_TREATMENT = "no_treatment"
    DIRECT_STAYS = "direct_stays"
    OTHER_GOES = "other_goes"  # without a written reason
    AREA_STAYS = "area_stays"  # a category of 50 units or fewer, without a written reason
    AREA_GOES = "area_goes"  # every category has more than 50, without a written reason
    GROUP_NUMBER = "group_number"  # ties rows together and would keep its original numbers
    NO_PURPOSE = "no_purpose"  # stays, but nothing without a purpose is published
    IDENTIFIER = "identifier"  # stays, but no explicit identifier is published


@dataclass(frozen=True, slots=True)
class AreaCounts:
    """The units of a geographic variable at the level that would be published; what names no area is apart."""

    level: int
    areas: int
    smallest: int | None
    small_areas: int  # of no more units than the minimum
    small_units: int
    missing: int
    passes: bool
    finest: int | None  # the finest level that passes, where there is one


@dataclass(frozen=True, slots=True)
class AnnotatedLine:
    """One variable: MEL's two added columns, what the rule says of it, and what is wrong."""

    variable: str
    description: str
    label: str  # geographic, direct, other; empty while nobody said
    treatment: str  # keep, recode, remove; empty while nobody said
    options: tuple[str, ...]  # what the rule leaves to choose
    areas: AreaCounts | None = None
    exception: str = ""  # the written reason for departing from the rule
    faults: tuple[Fault, ...] = ()

    @property
    def stays(self) -> bool:
        """Whether the variable is to be in the anonymised base."""
        return self.treatment in ("keep", "recode")


@dataclass(frozen=True, slots=True)
class AnnotatedDictionary:
    """Every variable of the base, in its order."""

    unit: UnitKind
    unit_variable: str | None
    minimum: int
    lines: tuple[AnnotatedLine, ...]

    @property
    def complete(self) -> bool:
        """Whether nothing stands against its approval."""
        return not any(line.faults for line in self.lines)

    @property
    def kept_variables(self) -> tuple[str, ...]:
        """The variables that stay."""
        return tuple(line.variable for line in self.lines if line.stays)

    @property
    def exceptions(self) -> dict[str, str]:
        """The variables treated otherwise than the rule says, each with its reason."""
        return {line.variable: line.exception for line in self.lines if line.exception}

    def as_dict(self) -> dict[str, Any]:
        """The judged dictionary as its versioned JSON."""
        names = "unit unit_variable minimum complete exceptions lines"
        return {"format": ANNOTATED_FORMAT, **plain_fields(self, names)}


@dataclass(frozen=True, slots=True)
class FrequencyPair:
    """A category and its observations in both bases; an empty value stands for all the rare ones together."""

    value: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class ContrastReport:
    """Both bases side by side: observations, the chosen variables, the columns that left or changed."""

    rows_before: int
    rows_after: int
    lines: tuple[ContrastLine, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...] = ()  # published otherwise than in the full base
    frequencies: Mapping[str, tuple[FrequencyPair, ...]] = field(default_factory=lambda: _NONE)

    @property
    def holds(self) -> bool:
        """Whether both bases have the same observations and say the same of every chosen variable."""
        return self.rows_before == self.rows_after and bool(self.lines) and all(line.equal for line in self.lines)

    def as_dict(self) -> dict[str, Any]:
        """The contrast as its versioned JSON; frequencies are shown in the document of the house alone."""
        lines = [
            {**asdict(line), "statistics": {k: list(v) for k, v in line.statistics.items()}} for line in self.lines
        ]
        return {
            "format": CONTRAST_FORMAT,
            "rows": {"before": self.rows_before, "after": self.rows_after},
            "holds": self.holds,
            "lines": lines,
            "removed": list(self.removed),
            "changed": list(self.changed),
        }


@dataclass(frozen=True, slots=True)
class DeliveredFile:
    """One of the four data files."""

    path: str  # inside the delivery
    sha256: str
    columns: int
    rows: int
    publish: bool  # False: not for publication


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a delivery says of itself: `delivery/manifest.json`."""

    project: str
    created: str
    release: str  # the release whose base and dictionary are delivered
    manifest: str  # digest of that release's manifest
    files: tuple[DeliveredFile, ...]
    about: Mapping[str, Any] = field(default_factory=lambda: _NONE)  # title, period, contact, licence

    def as_dict(self) -> dict[str, Any]:
        """The delivery as its versioned JSON."""
        return {"format": DELIVERY_FORMAT, **plain_fields(self, "project created release manifest files about")}
