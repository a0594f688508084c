"""What an intruder achieves on a release, and the file format `celosia/intruder/1`.

Knows counts, shares, intervals and the names of columns. Ignores how an attack works (room `attacks`), and cells:
no value of a record is ever in a report; a record is named by its published row number.
- An *estimate* is an attack that was tried so many times: a success rate with its 95 % interval, the same rate of a
  control where the release cannot have helped, and the excess of one over the other. Only the excess is a disclosure.
- A *finding* is something that is simply there, like the hash of an identity number.
Source: WP29 opinion 05/2014 (singling out, linkability, inference); MINSAL, Verificación 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from celosia import messages
from celosia.drawing.charts import Series, horizontal_bars
from celosia.drawing.picture import Drawing
from celosia.model.plain import plain_fields
from celosia.model.reports.report import Drawings, Records, Report

INTRUDER_FORMAT = "celosia/intruder/1"

Risk = Literal["singling_out", "linkability", "inference", "linkage", "unmasking", "over_time"]
Severity = Literal["high", "medium", "low"]
GUESSES = ("two_views", "class_majority", "learned_model")
GUESS_MARGIN = 0.05
UNJUDGED = "claims_unjudged"  # the note of a report made while claims waited for the house's answer
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")


class Control(StrEnum):
    """Against what the success of an attack is held."""

    HELD_OUT = "held_out"  # records kept apart before the release was made
    MARGINS = "margins"  # a full register has no outsiders: the best guess from the margins
    WITHOUT_RECORD = "without_record"  # the same model, trained without the records of the person
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How often one attack succeeds, how often it succeeds where the release cannot help, and the difference.

    Rates are None when nothing could be attempted; `reason` is then the key of the sentence that says why.
    """

    attack: str
    risk: Risk
    attempts: int
    successes: int
    rate: float | None
    low: float | None
    high: float | None
    control: Control
    control_attempts: int = 0
    control_successes: int = 0
    control_rate: float | None = None
    excess: float | None = None
    excess_low: float | None = None
    excess_high: float | None = None
    persons: int = 0  # people of the whole file reached beyond the control; rows where no person key exists
    variables: tuple[str, ...] = ()
    remedy: str | None = None  # the variable without which it reaches fewest
    reason: str | None = None
    detail: Mapping[str, int | float | str] = field(default_factory=dict)

    @property
    def measured(self) -> bool:
        """Whether anything could be attempted."""
        return self.rate is not None

    @property
    def works(self) -> bool:
        """Whether the attack beats its control by more than chance; without a control, whether it succeeds.

        A mere guess (one that names nobody and is not sure of itself) must be better by a margin: any table worth
        publishing moves a guess a little (WP29: "with significant probability").
        """
        if self.control is Control.NONE:
            return self.successes > 0
        least = GUESS_MARGIN if self.attack in GUESSES else 0.0
        return self.excess_low is not None and self.excess_low > least

    def as_dict(self) -> dict[str, Any]:
        """The estimate as data."""
        return plain_fields(self) | {"works": self.works}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something in the file that needs no trial: where, how many cells and people, and what stops it."""

    kind: str
    columns: tuple[str, ...]
    cells: int
    persons: int  # rows where no person key exists
    severity: Severity
    remedy: str | None = None
    rows_shown: int = 0  # always 0: a finding shows no record
    detail: Mapping[str, int | float | str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The finding as data."""
        return plain_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanPart:
    """What the motivated intruder, a person, claimed: right claims among attempts, with a 95 % interval."""

    candidate: str  # digest of the file that was tried
    attempts: int
    claims: int
    correct: int
    minutes: int
    current: bool  # whether the attempts were on this very file
    rate: float | None = None
    low: float | None = None
    high: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The counts as data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttackReport(Report):
    """Everything the intruder tried on one file; in a project also what the same attacks give on the original."""

    target: str  # digest of the file attacked
    seed: int
    rows: int
    persons: int | None
    estimates: tuple[Estimate, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()  # keys of sentences in the catalogue
    quasi: tuple[str, ...] = ()  # what the intruder was supposed to know
    sensitive: tuple[str, ...] = ()  # what he wants to know
    before: tuple[Estimate, ...] | None = None  # the same attacks on the original; None where it is not at hand
    findings_before: tuple[Finding, ...] = ()
    human: HumanPart | None = None

    @property
    def works(self) -> bool:
        """Whether anything that was tried gives people away."""
        return self.strongest is not None

    def counterpart(self, result: Estimate | Finding) -> Estimate | Finding | None:
        """What the same attack gave before; for a finding, one of its kind on the same columns."""
        if isinstance(result, Finding):
            alike = [
                finding
                for finding in self.findings_before
                if (finding.kind, finding.columns) == (result.kind, result.columns)
            ]
            return alike[0] if alike else None
        tried = [estimate for estimate in self.before or () if _question(estimate) == _question(result)]
        return tried[0] if tried else None

    @property
    def strongest(self) -> Estimate | Finding | None:
        """What reaches most people: a finding that is not low or an estimate that works; None when nothing does.

        Of equals the finding comes first: it needs no luck.
        """
        candidates: list[Estimate | Finding] = [finding for finding in self.findings if finding.severity != "low"]
        candidates += [estimate for estimate in self.estimates if estimate.works]
        return max(candidates, key=lambda reach: reach.persons, default=None)

    @property
    def summary(self) -> str:
        """How many attacks were tried, how many work, and what reaches most people."""
        tried = [estimate for estimate in self.estimates if estimate.measured]
        said = messages.text(
            "reports.summary.attack",
            tried=len(tried),
            works=sum(estimate.works for estimate in tried),
            findings=len(self.findings),
        )
        if self.strongest is None:
            return said
        return f"{said} {messages.text('reports.summary.attack_reach', count=self.strongest.persons)}"

    def records(self) -> Records:
        """One line per attack, then one per finding."""
        rates = "rate low high control_rate excess excess_low excess_high"
        names = f"attack aim risk attempts successes {rates} persons works"
        lines = [{**each.as_dict(), "aim": each.detail.get("sensitive")} for each in self.estimates]
        findings = [
            {"attack": finding.kind, "risk": "finding", "persons": finding.persons, "works": finding.severity != "low"}
            for finding in self.findings
        ]
        return [{name: line[name] for name in names.split()} for line in lines] + findings

    def words(self) -> Records:
        """The lines that say most, with the names of the attacks in words."""
        names = "attempts rate control_rate excess_low persons works".split()
        return [
            {"attack": _attack_words(line["attack"], line.get("aim"))} | {name: line.get(name) for name in names}
            for line in self.records()
        ]

    def drawings(self) -> Drawings:
        """The success of each attack against its control."""
        return {"attacks": self._chart} if any(estimate.measured for estimate in self.estimates) else {}

    def _chart(self) -> Drawing:
        tried = [estimate for estimate in self.estimates if estimate.rate is not None]
        series = [
            Series(messages.text("reports.chart.control"), tuple(each.control_rate or 0.0 for each in tried)),
            Series(messages.text("reports.chart.attack"), tuple(each.rate or 0.0 for each in tried)),
        ]
        names = [_attack_words(estimate.attack, estimate.detail.get("sensitive")) for estimate in tried]
        return horizontal_bars("attacks", messages.text("reports.chart.attacks"), names, series)

    def as_dict(self) -> dict[str, Any]:
        """The report as it is printed with --json and kept in files."""
        names = "target seed rows persons estimates findings notes quasi sensitive before findings_before human works"
        return {"format": INTRUDER_FORMAT, **plain_fields(self, names)}


def _attack_words(attack: str, aim: object = None) -> str:
    """The name of an attack or of a kind of finding in words, and at which variable it aims."""
    known = (key for key in (f"intruder.attack.{attack}", f"intruder.kind.{attack}") if messages.has(key))
    words = next(map(messages.text, known), attack)
    return f"{words}: {aim}" if aim else words


def _question(estimate: Estimate) -> tuple[object, ...]:
    """What tells two estimates of one report apart: the attack, and at which variable it aims."""
    aimed = estimate.variables[:1] if estimate.risk == "unmasking" else (estimate.detail.get("sensitive"),)
    last = estimate.variables[-1:] if estimate.attack == "differencing" else ()
    return (estimate.attack, aimed, last)


def attack_report_from(document: Mapping[str, Any]) -> AttackReport:
    """The report behind its own document; ValueError, KeyError or TypeError where it is none."""
    if document["format"] != INTRUDER_FORMAT:
        raise ValueError(INTRUDER_FORMAT)
    before, human = document["before"], document["human"]
    plain: dict[str, Any] = {key: document[key] for key in ("target", "seed", "rows", "persons")}
    named: dict[str, Any] = {key: tuple(document[key]) for key in ("notes", "quasi", "sensitive")}
    return AttackReport(
        **plain,
        **named,
        estimates=tuple(_estimate_from(part) for part in document["estimates"]),
        findings=tuple(_finding_from(part) for part in document["findings"]),
        before=None if before is None else tuple(_estimate_from(part) for part in before),
        findings_before=tuple(_finding_from(part) for part in document["findings_before"]),
        human=None if human is None else HumanPart(**human),
    )


def _estimate_from(document: Mapping[str, Any]) -> Estimate:
    rest = {key: value for key, value in document.items() if key != "works"}  # follows from the others
    return Estimate(**rest | {"control": Control(document["control"]), "variables": tuple(document["variables"])})


def _finding_from(document: Mapping[str, Any]) -> Finding:
    return Finding(**{**document, "columns": tuple(document["columns"])})
