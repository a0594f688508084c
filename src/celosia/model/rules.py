"""What the rules of the protocols say of a candidate or a release: asked, measured, holds. `celosia/rules/1`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia.model.errors import UnknownFormat
from celosia.model.plain import plain_fields
from celosia.model.protocols import Needs, Severity
from celosia.model.verdict import State

RULES_FORMAT = "celosia/rules/1"
_NONE: Mapping[str, Any] = MappingProxyType({})
_PASSES = (State.HOLDS, State.ATTESTED)


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule, as it was answered."""

    protocol: str
    rule: str
    section: str
    needs: Needs
    severity: Severity
    state: State
    asked: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    measured: Mapping[str, Any] = field(default_factory=lambda: _NONE)  # figures and column names, never a cell
    overridden: str = ""

    @property
    def passes(self) -> bool:
        """Whether the rule stops nothing: it holds, it is attested, or it is advice."""
        return self.state in _PASSES or self.severity is Severity.SHOULD

    def as_dict(self) -> dict[str, Any]:
        """The result as data."""
        return plain_fields(self, "protocol rule section needs severity state asked measured overridden")


@dataclass(frozen=True, slots=True)
class RuleReport:
    """All rules of all protocols on one file."""

    digest: str  # of the file that was judged
    results: tuple[RuleResult, ...]

    @property
    def holds(self) -> bool:
        """Whether every compulsory rule passes; without any rule nothing was shown."""
        return bool(self.results) and all(result.passes for result in self.results)

    @property
    def failing(self) -> tuple[RuleResult, ...]:
        """The rules that stop a release."""
        return tuple(result for result in self.results if not result.passes)

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        return {"format": RULES_FORMAT, **plain_fields(self, "digest holds results")}


def rule_report_from(document: Mapping[str, Any], path: str = "-") -> RuleReport:
    """A report from its JSON."""
    if document.get("format") != RULES_FORMAT:
        raise UnknownFormat(path=path, found=str(document.get("format")), expected=RULES_FORMAT)
    results = tuple(
        RuleResult(
            **{
                **result,
                "needs": Needs(result["needs"]),
                "severity": Severity(result["severity"]),
                "state": State(result["state"]),
            }
        )
        for result in document["results"]
    )
    return RuleReport(document["digest"], results)
