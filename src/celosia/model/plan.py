"""Policy and plan: what must hold, and what will be done. Both are data.

A plan holds no cell: it names a method and its parameters, so that running it on the same source gives the same
release, and the figures it is expected to give, so that a run that differs is found out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from celosia.model.plain import plain_fields
from celosia.model.verdict import Suppression

POLICY_FORMAT = "celosia/policy/1"
PLAN_FORMAT = "celosia/plan/1"
METHODS = ("full-domain", "recipe", "local", "cells")
METRICS = ("loss", "discernibility", "average_class_size", "precision", "non_uniform_entropy")
MEANS = ("geometric", "arithmetic")
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Policy:
    """What must hold on the published file, and how much may be given up for it."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    criteria: tuple[Mapping[str, Any], ...]
    limit: Fraction = Fraction(0)  # share of rows that may be suppressed
    method: str = "full-domain"
    order: tuple[str, ...] = ()  # recipe: which variable gives way first
    metric: str = "loss"
    mean: str = "geometric"
    weights: Mapping[str, float] = field(default_factory=lambda: _NONE)
    hierarchies: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: _NONE)
    minimum: Mapping[str, int] = field(default_factory=lambda: _NONE)
    maximum: Mapping[str, int] = field(default_factory=lambda: _NONE)
    mask_sensitive: bool = False  # a class that cannot reach l keeps its rows and loses the value (M15)
    suppressed: str = "keep"  # suppressed rows stay as `*`, or are dropped
    reading: str = "own"  # cells: a masked cell is a category of its own, or matches everything
    time_limit: float | None = None
    links: tuple[str, ...] = ()  # published columns that tie rows of one household or person together
    partition: str = ""  # the quasi-identifier whose groups are searched one by one; empty: all rows together

    def as_dict(self) -> dict[str, Any]:
        """The policy as its versioned JSON; the limit as an exact fraction."""
        return {
            "format": POLICY_FORMAT,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "criteria": [dict(criterion) for criterion in self.criteria],
            "limit": str(self.limit),
            "method": self.method,
            "order": list(self.order),
            "metric": self.metric,
            "mean": self.mean,
            "weights": dict(self.weights),
            "hierarchies": {name: dict(spec) for name, spec in self.hierarchies.items()},
            "minimum": dict(self.minimum),
            "maximum": dict(self.maximum),
            "mask_sensitive": self.mask_sensitive,
            "suppressed": self.suppressed,
            "reading": self.reading,
            "time_limit": self.time_limit,
            "links": list(self.links),
            **({"partition": self.partition} if self.partition else {}),  # policies written before it stay as they are
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to satisfy a policy on a source, with the figures it must give again when run."""

    method: str
    policy: Mapping[str, Any]
    source: str  # digest of the source
    dictionary: str  # digest of the dictionary it was made under
    published: tuple[str, ...]  # columns that leave, in order
    followers: Mapping[str, Sequence[str]]  # published columns that give others away: masked with them
    levels: Mapping[str, int]  # full-domain: level of each variable
    loss: float
    loss_definition: str
    suppressed_rows: int
    suppressed_share: float
    masked_sensitive: Mapping[str, int]  # rows whose sensitive value becomes `*`
    classes: int
    nodes: int
    nodes_checked: int
    optimal: bool
    bound: float | None
    asked: Mapping[str, Any] = field(default_factory=lambda: _NONE)  # what the command added to the policy
    steps: tuple[Mapping[str, Any], ...] = ()  # techniques performed before the search, as declared
    changes: tuple[Mapping[str, Any], ...] = ()  # what each of them did
    seed: str = "none"  # none, kept (in private/) or destroyed: the seed itself is never here
    notes: Mapping[str, Any] = field(default_factory=lambda: _NONE)

    def as_dict(self) -> dict[str, Any]:
        """The plan as its versioned JSON."""
        return {"format": PLAN_FORMAT, **plain_fields(self)}

    @property
    def drops_suppressed(self) -> bool:
        """Whether the suppressed records leave the file."""
        return str(self.policy.get("suppressed", "keep")) == "drop"

    @property
    def suppression(self) -> Suppression:
        """The records that it will not show; an older plan counted neither all records nor those masked otherwise."""
        dropped, share = self.drops_suppressed, self.suppressed_share
        records = self.notes.get("rows", round(self.suppressed_rows / share) if share else 0)
        rows = records - (self.suppressed_rows if dropped else 0)
        return Suppression(rows, self.suppressed_rows, self.notes.get("otherwise_masked_rows"), dropped)

    @property
    def digest(self) -> str:
        """What an approval signs."""
        return digest_of(self.as_dict())


def plan_from(document: Mapping[str, Any]) -> Plan:
    """A plan from its JSON; the caller has checked the format."""
    values = {name: document[name] for name in Plan.__slots__ if name in document}
    tuples = {name: tuple(document.get(name, ())) for name in ("published", "steps", "changes")}
    return Plan(**values | tuples)


def policy_from(document: Mapping[str, Any]) -> Policy:
    """A policy from its JSON."""
    values = {name: document[name] for name in Policy.__slots__ if name != "partition" or name in document}
    tuples = {name: tuple(values[name]) for name in ("quasi", "sensitive", "criteria", "order", "links")}
    return Policy(**values | tuples | {"limit": Fraction(values["limit"])})


def digest_of(document: Mapping[str, Any]) -> str:
    """Digest of a document in its canonical JSON."""
    canonical = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode("utf-8")).hexdigest()
