"""What is said of a candidate or a release when somebody looks again: in-house check, verification, review, new source.

Knows findings, figures, names of columns and files. Never a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from celosia.model.people import Approval, approval_from
from celosia.model.plain import plain_fields
from celosia.model.plan import digest_of
from celosia.model.reports.closing import ClosingReport
from celosia.model.rules import RuleReport, RuleResult
from celosia.model.verdict import CheckReport, State

IN_HOUSE_FORMAT = "celosia/in-house/1"
VERIFY_FORMAT = "celosia/verify/1"
RECHECK_FORMAT = "celosia/recheck/1"
DIFFERENCE_FORMAT = "celosia/difference/1"
PUBLICATION_FORMAT = "celosia/publication/2"
UNSIGNED_PUBLICATION_FORMAT = "celosia/publication/1"  # entries of releases made before forms were signed
_NONE: Mapping[str, Any] = MappingProxyType({})
_PASSES = (State.HOLDS, State.ATTESTED)


@dataclass(frozen=True, slots=True)
class InHouseReport:
    """The verifier's own run: the candidate read back and judged against the private order of persons (M31)."""

    check: CheckReport
    rules: RuleReport
    recorded: str  # the digest that the verdict of the run speaks of; empty where there is none
    closing: ClosingReport | None = None  # where a protocol asks for the properties to be kept (ATENEA 4.2.5)

    @property
    def agrees(self) -> bool:
        """Whether the file is the one that the run judged."""
        return self.recorded == self.check.digest

    @property
    def holds(self) -> bool:
        """Whether the verifier may approve this candidate."""
        keeps = self.closing is None or self.closing.passes
        return self.agrees and self.check.holds and self.rules.holds and keeps

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        closing = {"closing": self.closing.as_dict()} if self.closing is not None else {}
        return {"format": IN_HOUSE_FORMAT, "digest": self.check.digest, **closing} | plain_fields(
            self, "recorded agrees holds check rules"
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """One question about a release folder; its sentence is `release.finding.<id>`."""

    id: str
    state: State
    detail: tuple[str, ...] = ()  # names of files, rules, roles and columns

    def as_dict(self) -> dict[str, Any]:
        """The finding as data."""
        return plain_fields(self, "id state detail")


class Answer(StrEnum):
    """What `verify` answers in one word; who signed is known by the cards that the reader brings."""

    KNOWN = "known"  # intact, and signed by people whose cards the reader has
    UNKNOWN = "unknown"  # intact; the reader must compare the fingerprints
    NOT_INTACT = "not_intact"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What the release folder alone shows: its integrity, its data measured again, and what is attested."""

    release: str
    manifest: str  # digest
    findings: tuple[Finding, ...]
    check: CheckReport | None  # None where the data could not be read
    rules: tuple[RuleResult, ...]
    signatures: tuple[Mapping[str, Any], ...] = ()  # role, name, key, when: to be compared with the cards of the people
    label: str = ""

    @property
    def answer(self) -> Answer:
        """The plain answer: whether the release is intact, and whether the reader knows who signed it."""
        if not self.holds:
            return Answer.NOT_INTACT
        certain = {finding.id for finding in self.findings if finding.state is State.HOLDS}
        return Answer.KNOWN if {"trust", "roster"} <= certain else Answer.UNKNOWN

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts the release; what could not be measured has failed."""
        sound = bool(self.findings) and all(finding.state in _PASSES for finding in self.findings)
        measured = self.check is not None and self.check.holds
        return sound and measured and bool(self.rules) and all(rule.passes for rule in self.rules)

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        names = "release manifest answer holds label findings check rules signatures"
        return {"format": VERIFY_FORMAT, **plain_fields(self, names)}


@dataclass(frozen=True, slots=True)
class ExternalMatch:
    """How far another file singles out the rows of a release over the columns they share (M30, A33)."""

    file: str
    columns: tuple[str, ...]
    rows: int
    matched: int  # rows of the release whose combination occurs in the other file at all
    one_to_one: int  # rows whose combination occurs once in each

    def as_dict(self) -> dict[str, Any]:
        """The match as data."""
        return plain_fields(self, "file columns rows matched one_to_one")


@dataclass(frozen=True, slots=True)
class RecheckReport:
    """An old release under new assumptions (M34)."""

    release: str
    quasi: tuple[str, ...]
    new_quasi: tuple[str, ...]
    asked_k: int
    check: CheckReport
    unique_rows: int
    rows_below: int
    external: ExternalMatch | None = None
    due: str = ""  # the date of the next review, where one was set
    overdue: bool = False

    @property
    def holds(self) -> bool:
        """Whether the release stands under the new assumptions: its criteria hold and nobody matches one to one."""
        return self.check.holds and (self.external is None or self.external.one_to_one == 0)

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        return {
            "format": RECHECK_FORMAT,
            "release": self.release,
            "holds": self.holds,
            "quasi": list(self.quasi),
            "new_quasi": list(self.new_quasi),
            "asked_k": self.asked_k,
            "k": self.check.k,
            "unique_rows": self.unique_rows,
            "rows_below": self.rows_below,
            "check": self.check.as_dict(),
            "external": None if self.external is None else self.external.as_dict(),
            "due": self.due,
            "overdue": self.overdue,
        }


@dataclass(frozen=True, slots=True)
class SourceDifference:
    """Last year's project on this year's file, before anything is written (M34)."""

    file: str
    rows_before: int
    rows_now: int
    came: tuple[str, ...]  # columns only the new file has
    went: tuple[str, ...]  # columns only the project knows
    new_values: Mapping[str, int] = field(default_factory=lambda: _NONE)  # quasi-identifier: values never seen before
    uncovered: Mapping[str, int] = field(default_factory=lambda: _NONE)  # of them, those without a place in a hierarchy
    asked_k: int = 0
    fallen: int | None = None  # classes that had k and no longer have it; None where the plan has no levels
    small: int | None = None  # classes below k in the new file under the old plan
    small_rows: int | None = None

    @property
    def needs_work(self) -> bool:
        """Whether the project cannot be run on the new file as it stands."""
        return bool(self.came or self.went or any(self.uncovered.values()) or self.fallen)

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        names = "file rows_before rows_now came went new_values uncovered asked_k fallen small small_rows needs_work"
        return {"format": DIFFERENCE_FORMAT, **plain_fields(self, names)}


@dataclass(frozen=True, slots=True)
class Publication:
    """When a release was consulted about and published, and when it is looked at again (M32, M34)."""

    release: str
    manifest: str  # digest of what was published
    consultation: str
    publication_date: str
    update_period: str
    next_review: str
    signed: Approval | None = None  # by whoever answers for the project, over everything above; None in earlier entries

    @property
    def facts(self) -> dict[str, Any]:
        """What is entered: everything but the signature."""
        return plain_fields(self, "release manifest consultation publication_date update_period next_review")

    @property
    def digest(self) -> str:
        """The digest that the signature covers."""
        return digest_of(self.facts)

    def as_dict(self) -> dict[str, Any]:
        """The publication entry as its versioned JSON."""
        if self.signed is None:
            return {"format": UNSIGNED_PUBLICATION_FORMAT, **self.facts}
        return {"format": PUBLICATION_FORMAT, **self.facts, "signed": self.signed.as_dict()}


def publication_from(document: Mapping[str, Any]) -> Publication:
    """A publication entry from its JSON; another format or a part that is missing is a KeyError."""
    if document["format"] not in (PUBLICATION_FORMAT, UNSIGNED_PUBLICATION_FORMAT):
        raise KeyError
    stated = {name: str(document[name]) for name in Publication.__slots__ if name != "signed"}
    signed = approval_from(document["signed"]) if document["format"] == PUBLICATION_FORMAT else None
    return Publication(**stated, signed=signed)
