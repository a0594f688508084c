"""A variable as the annotated dictionary describes it.

Sources: MINSAL, Definiciones and Implementación 3 (roles); ATENEA guide 4.2.2–4.2.3 (scale, kind, traits);
MEL protocol IV.2 (labels), III.2 (strong indirect identifiers).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Scale(StrEnum):
    """How the values of a variable are to be read (A05)."""

    CONTINUOUS = "continuous"
    DISCRETE = "discrete"
    CATEGORICAL = "categorical"
    DATE = "date"
    FREE_TEXT = "free_text"


class Kind(StrEnum):
    """What a variable informs about (A06)."""

    IDENTIFICATION = "identification"
    LOCATION = "location"
    THEMATIC = "thematic"


class Role(StrEnum):
    """Explicit identifier, quasi-identifier, sensitive attribute, non-sensitive attribute (M01)."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    PLAIN = "plain"


class MelLabel(StrEnum):
    """MEL's three labels (P02)."""

    GEOGRAPHIC = "geographic"
    DIRECT = "direct"
    OTHER = "other"


class Treatment(StrEnum):
    """What is proposed for a variable before any plan exists."""

    KEEP = "keep"
    REMOVE = "remove"
    GENERALISE = "generalise"
    MASK_IF_NEEDED = "mask_if_needed"


@dataclass(frozen=True, slots=True)
class Traits:
    """The three conditions of an identifier (AGN 2020, in ATENEA 4.2.3); None while nobody answered."""

    replicable: bool | None = None
    distinguishable: bool | None = None
    knowable: bool | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """One line of the annotated dictionary."""

    name: str
    label: str = ""
    scale: Scale | None = None
    kind: Kind | None = None
    role: Role | None = None
    strong: bool = False  # strong indirect identifier (P18)
    traits: Traits = field(default_factory=Traits)
    mel_label: MelLabel | None = None
    special: bool = False  # special category: health, ethnic origin, politics… (A12)
    purpose: str = ""  # empty: not published (M06)
    treatment: Treatment | None = None
    missing: tuple[str, ...] = ()  # declared markers of missing, beside empty
    unknown: tuple[str, ...] = ()  # declared codes of unknown: 99999, 88888…
    evidence: str = ""  # one sentence: why this is proposed
    value_labels: tuple[tuple[str, str], ...] = ()


class IdentifierClass(StrEnum):
    """ATENEA's three classes (A09)."""

    DIRECT = "direct"
    INDIRECT = "indirect"
    NOT_CONFIDENTIAL = "not_confidential"


def classify_identifier(traits: Traits, unique_alone: bool) -> IdentifierClass | None:
    """ATENEA's decision flow: all three conditions make an identifier; None while one is unanswered (A10)."""
    answers = (traits.replicable, traits.distinguishable, traits.knowable)
    if False in answers:
        return IdentifierClass.NOT_CONFIDENTIAL
    if None in answers:
        return None
    return IdentifierClass.DIRECT if unique_alone else IdentifierClass.INDIRECT
