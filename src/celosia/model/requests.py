"""Who asks for what, why and within which limits: `request.toml`, `celosia/request/1`.

Sources: ATENEA 4.2.1 (six items, two legal questions); MINSAL Planificación 2 and Anexo I; MEL IV (consent, contrast).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from celosia.model.plain import plain_fields

REQUEST_FORMAT = "celosia/request/1"
PROPERTIES = tuple(
    "observations total mean variance minimum maximum median quantiles frequencies trend correlations"
    " significance".split()
)
_NONE: Mapping[str, Any] = MappingProxyType({})
_ADDED = ("official", "received")
# What each protocol demands before anything is published; a dotted key is an item of a section.
DEMANDED: Mapping[str, tuple[str, ...]] = {
    "minsal": (
        "minsal.purpose",
        "minsal.particularly_sensitive",
        *(f"source.{item}" for item in ("name", "period_from", "period_until", "unit", "department", "responsible")),
    ),
    "atenea": (
        *(
            "kind",
            "requester",
            "official",
            "received",
            "variables",
            "aggregation",
            "properties",
            "authorisation",
            "use",
        ),
        *("legal.protected_by_law", "legal.subject_authorisation"),
    ),
    "mel": ("title", "source.name", "mel.consent", "mel.contrast", "publication.contact", "publication.licence"),
}


@dataclass(frozen=True, slots=True)
class Request:
    """The request as it was written down; an item nobody answered is empty."""

    title: str = ""
    kind: str = ""  # internal or external user
    requester: str = ""
    official: str = ""  # designated to analyse the request (ATENEA 4.2.1)
    received: str = ""  # the day on which it was received
    variables: tuple[str, ...] = ()
    aggregation: str = ""
    properties: tuple[Mapping[str, Any], ...] = ()  # {"property": "mean", "variables": […], "tolerance": "0.01"}
    authorisation: str = ""
    use: str = ""
    legal: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    source: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    minsal: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    mel: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    publication: Mapping[str, Any] = field(default_factory=lambda: _NONE)

    @property
    def limited(self) -> tuple[str, ...]:
        """Variables that may not be delivered (A02, A30)."""
        protected = self.legal.get("protected_by_law") is True and self.legal.get("subject_authorisation") is False
        named = tuple(self.legal.get("limited", ()))
        return named if named or not protected else self.variables

    def item(self, key: str) -> Any:
        """An item by its dotted key; None where nobody answered."""
        section, _, inner = key.partition(".")
        value = getattr(self, section)
        return value.get(inner) if inner else value

    def as_dict(self) -> dict[str, Any]:
        """The request as data."""
        items = plain_fields(self)
        # A request that was signed before these items existed keeps its digest.
        return {"format": REQUEST_FORMAT, **{key: items[key] for key in items if key not in _ADDED or items[key]}}


def request_from(document: Mapping[str, Any]) -> Request:
    """A request from its document; the caller has checked the format and the kinds."""
    values = {name: document[name] for name in Request.__slots__ if name in document}
    tuples: dict[str, Any] = {name: tuple(values[name]) for name in ("variables", "properties") if name in values}
    return Request(**values | tuples)


class Purpose(StrEnum):
    """What data are wanted for: it decides which treatment is proposed first (ATENEA guide 4.2.4)."""

    TOTALS = "totals"
    DISTRIBUTION = "distribution"
    COUNTS = "counts"
    TIME = "time"
    TERRITORY = "territory"
    FOLLOW_UP = "follow_up"


PURPOSES = tuple(purpose.value for purpose in Purpose)
