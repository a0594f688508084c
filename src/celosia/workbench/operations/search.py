"""Operations of the search page: policy, treatments, plan, frontier, comparison of methods, and the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.workbench.operation import PREPARE, operation

if TYPE_CHECKING:
    from celosia.pipeline.project.progress import Progress
    from celosia.workbench.views.policy import PolicyView
    from celosia.workbench.views.search import SearchView
    from celosia.workbench.views.treatments import ProposedStep, Step, StepsView


@operation(PREPARE)
def search_view(folder: Path) -> SearchView:
    """All that the page of the search shows, read and not computed: policy, plan, and the saved reports."""
    from celosia.workbench import search

    return search.search_view(folder)


@operation(PREPARE)
def edit_policy(folder: Path, changes: Mapping[str, Any], *, expected: str | None = None, why: str = "") -> PolicyView:
    """Write changes into `[policy]`: a setting of celosia.toml, or `k` and `l`; None takes a setting out.

    `why` is the reason of a choice below a norm; without one such a choice is refused.
    """
    from celosia.workbench import policy

    return policy.edit_policy(folder, changes, expected=expected, why=why)


@operation(PREPARE)
def steps_view(folder: Path) -> StepsView:
    """The declared steps in their order, the columns there are, and a form for each technique that has one."""
    from celosia.workbench import treatments

    return treatments.steps_view(folder)


@operation(PREPARE)
def proposed_steps_view(folder: Path) -> tuple[ProposedStep, ...]:
    """The treatments proposed for each variable, each as a step with its reason and what a person has to add."""
    from celosia.workbench import treatments

    return treatments.proposed_steps_view(folder)


@operation(PREPARE)
def edit_steps(folder: Path, steps: Sequence[Step], *, expected: str | None = None) -> StepsView:
    """Write these steps, all of them and in this order, in place of those that are declared."""
    from celosia.workbench import treatments

    return treatments.edit_steps(folder, steps, expected=expected)


@operation(PREPARE)
def search_plan(folder: Path, *, report: Progress = None) -> None:
    """Make the plan and save its levels in words; when nothing fits, save the nearest miss instead."""
    from celosia.workbench import search

    search.search_plan(folder, report=report)


@operation(PREPARE)
def compare_methods(folder: Path, *, report: Progress = None) -> None:
    """Solve with each method and save the comparison; change nothing else."""
    from celosia.pipeline.planning import method_comparison

    method_comparison.compare_methods(folder, report=report)


@operation(PREPARE)
def frontier_report(folder: Path, *, report: Progress = None) -> None:
    """Find the frontier of loss and suppressed records, for the usual k and the policy's own, and save it."""
    from celosia.workbench import search

    search.frontier_report(folder, report=report)


@operation(PREPARE)
def adopt_point(
    folder: Path, k: int, limit: Fraction, *, expected: str | None = None, why: str = "", report: Progress = None
) -> None:
    """Take a point of the frontier: its k and limit become the policy's, and the plan is made."""
    from celosia.workbench import search

    search.adopt_point(folder, k, limit, expected=expected, why=why, report=report)


@operation(PREPARE)
def explain_report(folder: Path, *, report: Progress = None) -> None:
    """Explain the search of a project and save the explanation, in sentences of both languages."""
    from celosia.workbench import search

    search.explain_report(folder, report=report)


@operation(PREPARE)
def run_plan(folder: Path, *, report: Progress = None) -> None:
    """Apply the project's plan; a candidate is left only if it was read back and every rule holds on it."""
    from celosia.pipeline.candidate import run

    run.run_plan(folder, report=report)
