"""The present candidate as a person looks at it: its verdict, what it gave up, rows beside what became of them.

Knows figures, names of variables and, in `Sides` alone, cells that were veiled where they are private; `Sides` is
shown on a screen and never kept. Sources: MINSAL Anexo II.1 (suppressed records); ATENEA 4.2.5; DESIGN §5 (verdicts).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from celosia.model.reports.closing import ClosingReport
from celosia.model.reports.evaluation import ContrastLine, EvaluationReport
from celosia.model.rules import RuleResult
from celosia.model.verdict import State, Suppression, Verdict


@dataclass(frozen=True, slots=True)
class LaterRule:
    """A rule of the project's protocols that is judged when there is a release or a publication."""

    protocol: str
    rule: str
    section: str
    stage: str  # "release" | "publish"


@dataclass(frozen=True, slots=True)
class LastCheck:
    """The last look of somebody at this very candidate, from the journal."""

    when: str
    who: str
    agrees: bool
    holds: bool


@dataclass(frozen=True, slots=True)
class Result:
    """A candidate, read from what `run` left; nothing is measured again."""

    candidate: bool  # False: there is none, and the other fields say nothing
    refused: str = ""  # when a later run wrote a file that broke a rule and was thrown away
    stale: tuple[str, ...] = ()  # what changed since: source, dictionary, steps, policy, plan, file
    digest: str = ""
    when: str = ""
    method: str = ""
    source_rows: int = 0
    rows: int = 0
    classes: int = 0
    k: int | None = None
    k_persons: int | None = None
    suppression: Suppression = field(default_factory=lambda: Suppression(0, 0, 0))
    masked: Mapping[str, int] = field(default_factory=dict)  # rows whose sensitive value became `*`
    loss: float = 0.0
    loss_definition: str = ""
    published: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()  # variables of the source of which nothing is published
    verdicts: tuple[Verdict, ...] = ()
    rules: tuple[RuleResult, ...] = ()
    later: tuple[LaterRule, ...] = ()
    check: LastCheck | None = None

    @property
    def state(self) -> str:
        """`none`, `stale`, `fails`, `holds`: one word for the top of the page."""
        if not self.candidate:
            return "none"
        if self.stale:
            return "stale"
        return "holds" if self.holds else "fails"

    @property
    def holds(self) -> bool:
        """Whether every criterion and every compulsory rule passes; without any criterion nothing was shown."""
        passing = (State.HOLDS, State.ATTESTED)
        judged = bool(self.verdicts) and all(verdict.state in passing for verdict in self.verdicts)
        return judged and all(rule.passes for rule in self.rules)

    @property
    def failing(self) -> tuple[RuleResult, ...]:
        """The rules that stop a release."""
        return tuple(rule for rule in self.rules if not rule.passes)


@dataclass(frozen=True, slots=True)
class SideColumn:
    """A variable on both sides; `before` is empty where it is new, `after` where it does not leave."""

    before: str
    after: str
    veiled: bool  # its original cells are not shown


@dataclass(frozen=True, slots=True)
class SideRow:
    """One row of the source and what is published of it."""

    row: int  # in the source, from 1
    before: tuple[str, ...]  # veiled where private; one for each column
    after: tuple[str, ...] | None  # None: the row left
    changed: tuple[bool, ...]  # of the columns that are published
    suppressed: bool  # every quasi-identifier is masked


@dataclass(frozen=True, slots=True)
class Sides:
    """Some of the rows that `run` saved beside what became of them."""

    columns: tuple[SideColumn, ...]
    rows: tuple[SideRow, ...]
    offset: int
    saved: int  # rows that can be looked at
    of: int  # rows of the source


@dataclass(frozen=True, slots=True)
class ContrastView:
    """MEL's contrast of both bases, or why it could not be made."""

    refused: str = ""
    holds: bool = False
    lines: tuple[ContrastLine, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """A saved evaluation: losses, distributions, risk, and what the request and the norms ask to preserve."""

    candidate: str  # digest of the file that was evaluated
    evaluation: EvaluationReport
    closing: ClosingReport | None
    contrast: ContrastView | None
    residual: str  # the risk that is left, in words
