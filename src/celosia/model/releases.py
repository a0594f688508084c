"""What a release says of itself: `manifest.json`, `celosia/manifest/2`. Digests, figures and names; never a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia.model.errors import UnknownFormat
from celosia.model.plain import plain_fields
from celosia.model.plan import digest_of
from celosia.model.verdict import Suppression

MANIFEST_FORMAT = "celosia/manifest/2"
_WITHOUT_FORMS = "celosia/manifest/1"  # releases made before forms were signed stay as they are
_ADDED = ("forms", "otherwise_masked_rows")
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a second official needs to repeat the verdict, and what only the source can answer, attested."""

    project: str
    created: str
    language: str
    protocols: tuple[str, ...]
    version: str  # of celosia
    files: Mapping[str, str]  # path inside the release -> sha256
    rows: int
    suppressed_rows: int  # by the plan; in a release without forms, also those masked otherwise
    policy: Mapping[str, Any]
    plan: str  # digest
    published: tuple[str, ...]
    followers: Mapping[str, Sequence[str]]
    rules: tuple[Mapping[str, Any], ...]  # RuleResult.as_dict() of every rule, attested ones as such
    references: Mapping[str, Any] = field(default_factory=lambda: _NONE)  # marginals for t, delta, beta (DESIGN §3)
    seed: str = "none"  # none, kept, destroyed
    label: str = ""  # "pseudonymous" while a key exists
    overrides: tuple[Mapping[str, Any], ...] = ()
    people: tuple[Mapping[str, Any], ...] | None = None  # in releases older than the roster, which is a file of its own
    approvals: tuple[Mapping[str, Any], ...] = ()  # Approval.as_dict()
    covered: Mapping[str, str] = field(default_factory=lambda: _NONE)  # what was approved -> the digest approvals sign
    journal: str = ""  # digest of the journal's last line
    about: Mapping[str, Any] = field(default_factory=lambda: _NONE)  # title, period, contact, licence, next review
    # Forms that stay in the institution: file -> sha256. None in a release that is older than this.
    forms: Mapping[str, str] | None = field(default_factory=lambda: _NONE)
    otherwise_masked_rows: int | None = 0  # None in a release that is older than this

    def as_dict(self) -> dict[str, Any]:
        """The manifest as its versioned JSON."""
        older = self.forms is None
        content = plain_fields(self)
        absent = _ADDED if older else ("people",)
        content = {name: value for name, value in content.items() if name not in absent}
        return {"format": _WITHOUT_FORMS if older else MANIFEST_FORMAT, **content}

    @property
    def suppression(self) -> Suppression:
        """The records that the release does not show."""
        dropped = self.policy.get("suppressed") == "drop"
        return Suppression(self.rows, self.suppressed_rows, self.otherwise_masked_rows, dropped)

    @property
    def digest(self) -> str:
        """What the release's signatures cover."""
        return digest_of(self.as_dict())


def manifest_from(document: Mapping[str, Any], path: str = "-") -> Manifest:
    """A manifest from its JSON."""
    if document.get("format") not in (MANIFEST_FORMAT, _WITHOUT_FORMS):
        raise UnknownFormat(path=path, found=str(document.get("format")), expected=MANIFEST_FORMAT)
    absent: dict[str, Any] = dict.fromkeys(_ADDED if document["format"] == _WITHOUT_FORMS else ("people",))
    values = {name: document[name] for name in Manifest.__slots__ if name not in absent} | absent
    tuples = ("protocols", "published", "rules", "overrides", "people", "approvals")
    return Manifest(**values | {name: tuple(values[name]) for name in tuples if values[name] is not None})
