"""`measure`, `suggest`, `attack` and `apply` of files, projects and frames, with arguments that are checked by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from celosia.model.reports.attacks import AttackReport
from celosia.model.reports.measures import MeasureReport
from celosia.model.reports.suggested_roles import SuggestedRoles
from celosia.pipeline.assessment import on_files
from celosia.pipeline.assessment.apply_techniques import ApplyResult, apply_steps
from celosia.pipeline.assessment.frame_kinds import remember_frame_kind
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.intruder.attack import intrude
from celosia.pipeline.intruder.battery import ATTEMPTS
from celosia.pipeline.project.arguments import Names, PathArg, check_arguments, column_names, whole_number
from celosia.pipeline.project.progress import Progress


@check_arguments
@remember_frame_kind
def measure(
    source: Any,
    quasi: Names,
    sensitive: Names = (),
    person: str | None = None,
    missing: Literal["own", "wildcard"] = "own",
    **reading: Any,
) -> MeasureReport:
    """Every criterion's measure over the quasi-identifiers of a file, database, project or frame."""
    return on_files.measure(source, quasi, sensitive, person, missing, **reading)


@check_arguments
@remember_frame_kind
def suggest(source: Any, **reading: Any) -> SuggestedRoles:
    """What each column seems to be, with the evidence; `quasi`, `sensitive` and `identifiers` are its names by role."""
    with open_table(source, **reading) as data:
        return SuggestedRoles(tuple(data.variables), data.person)


@check_arguments
def attack(
    target: Any,
    *,
    external: Any = None,
    on: Mapping[str, str] | Names | None = None,
    earlier: Sequence[Any] = (),
    control: Any = None,
    original: Any = None,
    quasi: Names = (),
    sensitive: Names = (),
    person: str | None = None,
    household: str | None = None,
    seed: int = 0,
    attempts: int = ATTEMPTS,
    report: Progress = None,
    **reading: Any,
) -> AttackReport:
    """Try every attack on a published file or frame, or on a project's candidate.

    `original` is what it was made from, `control` records kept apart before it was made, `external` an outside list
    and `on` its columns, `earlier` other releases of the same data.
    """
    return intrude(
        target,
        external=external,
        on=on if on is None or isinstance(on, Mapping) else column_names("on", on),
        earlier=earlier,
        control=control,
        original=original,
        quasi=quasi,
        sensitive=sensitive,
        person=person,
        household=household,
        seed=whole_number("seed", seed, 0),
        attempts=whole_number("attempts", attempts, 1),
        report=report,
        **reading,
    )


@check_arguments
def apply(
    source: Any,
    steps: Sequence[Mapping[str, Any]],
    out: PathArg,
    *,
    seed: str | int | None = None,
    quasi: Names = (),
    overwrite: bool = False,
    report: Progress = None,
    **reading: Any,
) -> ApplyResult:
    """Perform techniques on a file, write the result, and measure the risk that remains."""
    text = None if seed is None else str(seed)
    return apply_steps(source, steps, out, seed=text, quasi=quasi, overwrite=overwrite, report=report, **reading)
