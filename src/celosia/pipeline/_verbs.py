"""The verbs as Python functions: the same names and figures as the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.model.measures import MeasureReport
from celosia.model.profile import ProfileReport
from celosia.model.variables import Variable
from celosia.pipeline._measure import measure_table
from celosia.pipeline._open import opened
from celosia.pipeline._profile import profile_table


def measure(
    source: Any,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    missing: str = "own",
    **reading: Any,
) -> MeasureReport:
    """Every criterion's measure over the quasi-identifiers of a file, database, project or frame."""
    with opened(source, described=False, naming=(*quasi, *sensitive, person), **reading) as found:
        return measure_table(found, quasi, sensitive, person, missing)


def suggest(source: Any, **reading: Any) -> tuple[Variable, ...]:
    """What each column seems to be, with the evidence."""
    with opened(source, **reading) as found:
        return found.variables


def profile(source: Any, rare: int = 3, **reading: Any) -> ProfileReport:
    """What a table holds and how exposed it is."""
    with opened(source, **reading) as found:
        return profile_table(found, rare=rare)
