"""A protocol as data: rules with their section, gates in order, roles, documents.

Knows the shape of a norm made executable. Ignores how anything is measured: a rule names a measure by its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from celosia.model.plain import plain_fields

_NONE: Mapping[str, Any] = MappingProxyType({})


class Severity(StrEnum):
    """Whether a rule stops a release, or is advice that every document shows."""

    MUST = "must"
    SHOULD = "should"


class Needs(StrEnum):
    """What a rule is answered from; what the published file cannot answer is attested by signature (DESIGN §5)."""

    FILE = "file"  # the release folder alone
    SOURCE = "source"  # the private source or the order of persons: attested in a release
    PROJECT = "project"  # request, dictionary, claims, dates
    PEOPLE = "people"  # approvals and signatures


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a norm; its sentence is `protocols.rule.<protocol>.<id>`."""

    id: str
    protocol: str
    section: str
    measure: str
    needs: Needs
    asked: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    severity: Severity = Severity.MUST
    requirement: tuple[str, ...] = ()
    overridden: str = ""  # the written reason, where a project asks for something else than the norm


@dataclass(frozen=True, slots=True)
class Gate:
    """A step that people must have done, in order; its sentence is `protocols.gate.<id>`."""

    id: str  # request, dictionary, plan, run, check, intruder, release, signatures, consultation, publication
    section: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FormDocument:
    """A document the norm asks for; its title is `protocols.document.<id>`."""

    id: str
    section: str
    audience: str  # public or internal
    formats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protocol:
    """A norm made executable."""

    id: str
    source: str  # the text it was read from
    rules: tuple[Rule, ...]
    gates: tuple[Gate, ...]
    roles: tuple[str, ...]
    documents: tuple[FormDocument, ...]
    base: str | None = None  # the protocol a profile tightens

    def rule(self, identifier: str) -> Rule:
        """A rule by its id."""
        return next(rule for rule in self.rules if rule.id == identifier)

    def as_dict(self) -> dict[str, Any]:
        """The protocol as data, without its sentences."""
        return {
            **plain_fields(self, "id source base roles"),
            "gates": [plain_fields(gate, "id section roles") for gate in self.gates],
            "rules": [
                plain_fields(rule, "id section measure asked needs severity requirement overridden")
                for rule in self.rules
            ],
            "documents": [plain_fields(document, "id section audience formats") for document in self.documents],
        }
