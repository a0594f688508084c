"""Operations of the risk page: what is known, the declared scenarios, and the reports that take long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.workbench.operation import LOOK, PREPARE, operation

if TYPE_CHECKING:
    from celosia.pipeline.project.progress import Progress
    from celosia.workbench.views.risk import RiskView


@operation(LOOK)
def risk_state(folder: Path) -> RiskView:
    """What is known of a project's risk without counting anything: roles, declared scenarios, saved reports."""
    from celosia.workbench import risk

    return risk.risk_state(folder)


@operation(PREPARE)
def add_scenario(
    folder: Path, variables: Sequence[str], at_most: float | None = None, *, expected: str | None = None
) -> int:
    """Declare a scenario in celosia.toml with its criterion in whole numbers; give how many there are."""
    from celosia.workbench import risk

    return risk.add_scenario(folder, variables, at_most, expected=expected)


@operation(PREPARE)
def remove_scenario(folder: Path, number: int, *, expected: str | None = None) -> int:
    """Take a declared scenario out of celosia.toml, by its number from 1; give how many are left."""
    from celosia.workbench import risk

    return risk.remove_scenario(folder, number, expected=expected)


@operation(PREPARE)
def risk_overview(folder: Path, *, report: Progress = None) -> None:
    """Save class sizes, k, l and the three kinds of risk over the roles of the dictionary."""
    from celosia.workbench import risk

    risk.risk_overview(folder, report=report)


@operation(PREPARE)
def risk_scenarios(
    folder: Path,
    scenarios: Sequence[str | Sequence[str] | Mapping[str, Any]] = (),
    all_combinations: int | None = None,
    at_most: float | None = None,
    variables: Sequence[str] = (),
    identifiers: bool = False,
    *,
    report: Progress = None,
) -> None:
    """Save the ordered scenarios of a project: declared, named here, or all combinations."""
    from celosia.workbench import risk

    risk.risk_scenarios(folder, scenarios, all_combinations, at_most, variables, identifiers, report=report)


@operation(PREPARE)
def risk_table(
    folder: Path, variables: Sequence[str], at_most: float | None = None, *, report: Progress = None
) -> None:
    """Save the frequency and RI of every combination of a scenario's categories, in ATENEA's layout."""
    from celosia.workbench import risk

    risk.risk_table(folder, variables, at_most, report=report)


@operation(PREPARE)
def risk_people(
    folder: Path,
    variables: Sequence[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    fraction: float | None = None,
    *,
    report: Progress = None,
) -> None:
    """Save individual and global risk, and the three attackers."""
    from celosia.workbench import risk

    risk.risk_people(folder, variables, weight, household, fraction, report=report)


@operation(PREPARE)
def risk_special(folder: Path, *, report: Progress = None, **asked: Any) -> None:
    """Save the rows that few variables single out, as counts and scores by variable."""
    from celosia.workbench import risk

    risk.risk_special(folder, report=report, **asked)


@operation(PREPARE)
def risk_geography(folder: Path, *, report: Progress = None, **asked: Any) -> None:
    """Save the rule of a minimum of units on each place of the dictionary, or on those named."""
    from celosia.workbench import risk

    risk.risk_geography(folder, report=report, **asked)


@operation(PREPARE)
def risk_after(folder: Path, *, report: Progress = None) -> None:
    """Save the first risk analysis beside the same on the present candidate (ATENEA 4.2.5)."""
    from celosia.workbench import risk

    risk.risk_after(folder, report=report)


@operation(PREPARE)
def write_risk_document(folder: Path, form: str = "pdf") -> Path:
    """Write the risk report in ATENEA's layout; give its path."""
    from celosia.workbench import risk

    return risk.write_risk_document(folder, form)
