"""What `anonymize` gives back: the frame, its plan, and the check that was made of it.

Knows the figures of a plan and of a check. Ignores how they were made. The frame it came from stays with the result,
for `evaluate` and `save_project`, as long as the session lasts; a pickled result does not hold it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from celosia import messages
from celosia.hierarchy.model import Hierarchy
from celosia.model.plan import Plan
from celosia.model.reports.evaluation import EvaluationReport
from celosia.model.reports.report import Records, Report, html_table
from celosia.model.verdict import CheckReport
from celosia.pipeline.frames.roles import NamedColumns

F = TypeVar("F")


@dataclass(frozen=True)
class ProjectMaterial:
    """What a project of the frame would hold besides its plan."""

    source: Any = field(repr=False)  # the frame as it came in
    dictionary_text: str = field(repr=False)
    document: Mapping[str, Any]
    tables: Mapping[str, Hierarchy] = field(repr=False)
    columns: NamedColumns


@dataclass(frozen=True, repr=False)
class AnonymizedFrame(Report, Generic[F]):
    """An anonymous frame with the plan that made it and the check that it passed."""

    frame: F
    plan: Plan = field(repr=False)
    check: CheckReport = field(repr=False)
    proposed_hierarchies: Mapping[str, Mapping[str, Any]]  # of the quasi-identifiers whose hierarchy nobody gave
    material: ProjectMaterial = field(repr=False, compare=False)

    @property
    def levels(self) -> Mapping[str, int]:
        """The level of each quasi-identifier: 0 is as it was."""
        return self.plan.levels

    @property
    def suppressed(self) -> int:
        """Rows suppressed."""
        return self.plan.suppressed_rows

    @property
    def suppressed_share(self) -> float:
        """Share of the rows suppressed."""
        return self.plan.suppressed_share

    @property
    def proved_optimal(self) -> bool:
        """Whether nothing that loses less meets what was asked."""
        return self.plan.optimal

    @property
    def loss(self) -> float:
        """The information lost, 0..1, under the metric asked for."""
        return self.plan.loss

    @property
    def k(self) -> int | None:
        """The smallest class as it was counted on the frame, in persons where they are known."""
        return self.check.k_persons if self.check.k_persons is not None else self.check.k

    @property
    def followers(self) -> Mapping[str, Sequence[str]]:
        """Columns that give others away, and are masked with them."""
        return self.plan.followers

    def evaluate(self, original: Any, **choices: Any) -> EvaluationReport:
        """What the frame lost, keeps and still exposes, compared with the original."""
        from celosia.pipeline.assessment.evaluate import evaluate

        choices.setdefault("quasi", list(self.plan.policy["quasi"]))
        return evaluate(original, self.frame, **choices)

    def save_project(self, folder: str | Path, *, now: datetime | None = None) -> Path:
        """A project folder with this plan, for approval and release on the command line."""
        from celosia.pipeline.frames.save_project import save_project

        return save_project(self.plan, self.material, Path(folder), now)

    @property
    def summary(self) -> str:
        """What was lost and suppressed, and the smallest class."""
        return "; ".join(f"{name}: {value}" for name, value in self._figures())

    def records(self) -> Records:
        """The level of each quasi-identifier, and what it shows where it is not as it was."""
        details = self.plan.notes.get("detail", {})
        return [
            {"variable": name, "level": self.levels.get(name), "shown": details.get(name, {}).get("builder")}
            for name in self.plan.policy["quasi"]
        ]

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain data, without a row."""
        return {
            "format": "celosia/anonymized/1",
            "levels": dict(self.levels),
            "suppressed": self.suppressed,
            "suppressed_share": self.suppressed_share,
            "proved_optimal": self.proved_optimal,
            "loss": self.loss,
            "k": self.check.k,
            "k_persons": self.check.k_persons,
            "followers": {name: list(columns) for name, columns in self.followers.items()},
            "proposed_hierarchies": {name: dict(spec) for name, spec in self.proposed_hierarchies.items()},
            "plan": self.plan.as_dict(),
            "check": self.check.as_dict(),
        }

    def _figures(self) -> list[tuple[str, str]]:
        text = messages.text
        figures = [(text("library.level", variable=name), str(level)) for name, level in self.levels.items()]
        figures.append((text("library.rows"), messages.integer(self.check.rows)))
        figures.append((text("library.k"), "–" if self.check.k is None else messages.integer(self.check.k)))
        if self.check.k_persons is not None:
            figures.append((text("library.k_persons"), messages.integer(self.check.k_persons)))
        share = f"{messages.integer(self.suppressed)} ({messages.percent(self.suppressed_share)})"
        figures.append((text("library.suppressed"), share))
        figures.append((text("library.loss"), messages.decimal(self.loss, 4)))
        figures.append((text("library.proved_optimal"), text(f"library.{'yes' if self.proved_optimal else 'no'}")))
        for name, spec in self.proposed_hierarchies.items():
            figures.append((f"{text('library.proposed')}: {name}", str(spec["builder"])))
        return figures

    def __repr__(self) -> str:
        lines = [messages.text("library.title"), *(f"  {name}: {value}" for name, value in self._figures())]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_table(
            messages.text("library.title"), [{"figure": name, "value": value} for name, value in self._figures()]
        )

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: never the rows that came in."""
        return {**self.__dict__, "material": replace(self.material, source=None)}
