"""`profile`: what is in a table and how exposed it is.

Identifiers, keys and free text are counted, never shown: their values are people. So are rare values of the others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from celosia.data import descriptives
from celosia.data.preview import is_veiled
from celosia.data.table import Frequencies, Table
from celosia.dossier.profile import profile_page
from celosia.model import dictionary
from celosia.model.paths import PROFILE, ProjectPaths
from celosia.model.reports.profile import Exposure, ProfileReport, VariableProfile
from celosia.model.variables import Role, Scale, Variable
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.project.declared_scenarios import note_exploration
from celosia.pipeline.project.folder import ProjectArg, is_project, open_project
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.pipeline.project.saved_reports import save_report
from celosia.proposals.dependencies import contradiction_test, dependencies
from celosia.risk.measures import measure
from celosia.storage import atomic_write, make_private_folder

REPORT = "profile"
RARE = 3  # a value held by at most this many rows is rare: ATENEA's RI ≥ 0.3
LISTED = 20
_MOST_LINKED = 30  # pairs are counted one by one: 435 at most
_GLANCE = 20_000  # rows that show at once that most of those pairs are not worth counting
_LINKED_SCALES = (Scale.CATEGORICAL, Scale.DISCRETE, Scale.DATE)
_NUMERIC = (Scale.CONTINUOUS, Scale.DISCRETE)


def profile_table(opened: OpenTable, report: Progress = None, rare: int = RARE) -> ProfileReport:
    """Dimensions, variables and exposure of an opened table."""
    table, rows = opened.table, opened.table.count_rows()
    progress = stage_progress(report, "profile")
    profiles, keys = [], _keys(opened)
    for number, variable in enumerate(opened.variables, start=1):
        frequencies = table.frequencies(variable.name)
        veiled = is_veiled(variable) or variable.name in keys
        profiles.append(_variable_profile(variable, frequencies, rows, opened.source.choices.decimal, rare, veiled))
        progress(number / len(opened.variables))
    return ProfileReport(
        source=opened.source.name,
        rows=rows,
        columns=len(table.names),
        variables=tuple(profiles),
        exposure=exposure(table, opened.variables, opened.person),
        dependencies=_dependencies(table, opened.variables, rows),
    )


def _keys(opened: OpenTable) -> frozenset[str]:
    """The columns that tell persons and households apart, whatever the dictionary says of them."""
    household = opened.project.config.household if opened.project is not None else None
    return frozenset(name for name in (opened.person, household) if name)


def exposure(table: Table, variables: Sequence[Variable], person: str | None) -> Exposure | None:
    """How the quasi-identifiers single people out; None where there are none."""
    quasi = dictionary.combined_quasi(variables)
    if not quasi:
        return None
    measured = measure(table.tuples(quasi, person), {})
    return Exposure(
        quasi=quasi,
        person=person,
        persons=measured.persons,
        classes=measured.classes,
        k=measured.k,
        k_persons=measured.k_persons,
        unique_rows=measured.unique_rows,
        rows_below={str(k): below for k, below in measured.rows_below.items()},
    )


def _variable_profile(
    variable: Variable, frequencies: Frequencies, rows: int, decimal: str, rare: int, veiled: bool
) -> VariableProfile:
    listed = () if veiled else descriptives.categories(frequencies, rows, LISTED, above=rare)
    missing = descriptives.missing_rows(frequencies)
    numeric = variable.scale in _NUMERIC and not veiled
    return VariableProfile(
        name=variable.name,
        label=variable.label,
        role=variable.role or "",
        scale=variable.scale or "",
        kind=variable.kind or "",
        distinct=len(frequencies),
        missing=missing,
        masked=descriptives.masked_rows(frequencies),
        unknown=descriptives.unknown_rows(frequencies, variable.unknown),
        rare=descriptives.rare_values(frequencies, rare),
        numbers=descriptives.summarise_numbers(frequencies, decimal, variable.unknown) if numeric else None,
        categories=listed,
        other_rows=0 if veiled else rows - missing - sum(category.rows for category in listed),
        veiled=veiled,
    )


def _dependencies(table: Table, variables: Sequence[Variable], rows: int) -> tuple[tuple[str, str], ...]:
    """Pairs (determinant, dependent) among the columns that may be published, when they are few enough to try."""
    names = [v.name for v in variables if v.role != Role.IDENTIFIER and v.scale in _LINKED_SCALES][:_MOST_LINKED]
    distinct = table.distinct_counts(names) if names else {}

    def pairs(a: int, b: int) -> int:
        return table.distinct_together([names[a], names[b]])

    hopeless = contradiction_test(table.first_rows(_GLANCE).tuples(names).codes) if names else None
    counts = [distinct[name] for name in names]
    pairs_found = dependencies(names, counts, rows, pairs, least=1.0, hopeless=hopeless)
    return tuple((dependency.determinant, dependency.dependent) for dependency in pairs_found)


def profile_report(folder: ProjectArg, *, report: Progress = None, now: datetime | None = None) -> ProfileReport:
    """The profile of a project, saved in it."""
    project = open_project(folder)
    with open_table(project) as table:
        made = profile_table(table, report)
    save_report(project, REPORT, made.as_dict(), now=now)
    note_exploration(project, now)
    return made


def save_profile(report: ProfileReport, target: Path, into: Path | None) -> tuple[Path, ...]:
    """Save the report as JSON and as a page: in the project's private folder, or where asked; else nowhere."""
    folder = into if into is not None else ProjectPaths(target).private if is_project(target) else None
    if folder is None:
        return ()
    saved = tuple(folder / name for name in PROFILE)
    content = json.dumps(report.as_dict(), ensure_ascii=False, indent=2) + "\n"
    make_private_folder(folder)
    for path, text in zip(saved, (content, profile_page(report)), strict=True):
        with atomic_write(path) as draft:
            draft.write_text(text, "utf-8", newline="\n")
    return saved
