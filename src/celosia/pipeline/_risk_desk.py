"""What a page needs to show and steer a project's risk: kept reports, declared scenarios, the printed report.

Knows the project's files. Computes no figure: what is slow is kept by `_risk_reports`. Levels and categories of a
scenario that somebody wrote by hand stay as they are.
Source: ATENEA G3_DE 4.2.3 (scenarios, informe de riesgos).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import tomlkit

from celosia.data.files import PRIVATE_FILE, private_folder, replacing
from celosia.errors import ValueOutOfRange
from celosia.model.scenarios import (
    THRESHOLD,
    ScenarioReport,
    largest_at_risk,
    scenario_report_from,
    threshold_of,
    threshold_text,
)
from celosia.model.schema import Schema
from celosia.model.variables import Role
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._documents import FORMATS, _rendered
from celosia.pipeline._edit_settings import settings_edited
from celosia.pipeline._kept import digest_of_file, kept_report
from celosia.pipeline._norm_documents import project_scenarios
from celosia.pipeline._project import open_project, read_toml
from celosia.pipeline._risk_reports import FORMAT, REPORTS, basis, places, threshold_for

STATE_FORMAT = "celosia/risk-state/1"
DOCUMENT = "atenea_risk"
SHOWN = 60  # scenarios, and lines of a table, that a page is given


def risk_state(folder: Place) -> dict[str, Any]:
    """What is known of a project's risk without counting anything: roles, declared scenarios, kept reports."""
    project = open_project(folder)
    variables = project.variables()
    direct = {variable.name for variable in variables if variable.role == Role.IDENTIFIER}
    config = project.folder / "celosia.toml"
    return {
        "format": STATE_FORMAT,
        "digest": digest_of_file(config),
        "person": project.config.person,
        "household": project.config.household,
        "protocols": list(project.config.protocols),
        "rows": project.config.source.rows,
        "variables": [{"name": v.name, "role": str(v.role) if v.role else None} for v in variables],
        "quasi": [v.name for v in variables if v.role == Role.QUASI],
        "sensitive": [v.name for v in variables if v.role == Role.SENSITIVE],
        "places": places(variables),
        "identifiers": sorted(direct),
        "scenarios": [_stated(one) for one in read_toml(config).get("scenarios", [])],
        "candidate": (project.folder / "private" / "candidate" / "data.csv").is_file(),
        "request": (project.folder / "request.toml").is_file(),
        "reports": {name: _held(folder, name) for name in REPORTS},
    }


def _stated(declared: Mapping[str, Any]) -> dict[str, Any]:
    """A declared scenario without its categories: those may be values of the file."""
    threshold = threshold_of(declared["threshold"]) if "threshold" in declared else THRESHOLD
    return {
        "variables": list(declared["variables"]),
        "levels": dict(declared.get("levels", {})),
        "criterion": {"exact": str(threshold), "text": threshold_text(threshold)},
        "at_most": largest_at_risk(threshold),
    }


def _held(folder: Place, name: str) -> dict[str, Any] | None:
    """A kept report, when it was made, and whether something it rests on changed since."""
    kept = kept_report(folder, name)
    if kept is None or kept.document.get("format") != FORMAT:
        return None
    return {
        "asked": kept.document["asked"],
        "found": _shortened(kept.document["found"]),
        "when": kept.when,
        "stale": kept.document["basis"] != basis(folder, name),
    }


def _shortened(found: Mapping[str, Any]) -> dict[str, Any]:
    """The first scenarios, and the first lines of their tables; `listed` says how many there are."""
    if "scenarios" not in found:
        return dict(found)
    shown = [one if "table" not in one else one | {"table": _cut(one["table"])} for one in found["scenarios"][:SHOWN]]
    return dict(found) | {"scenarios": shown, "listed": len(found["scenarios"])}


def _cut(table: Mapping[str, Any]) -> dict[str, Any]:
    return dict(table) | {"lines": table["lines"][:SHOWN], "listed": len(table["lines"])}


def add_scenario(
    folder: Place,
    variables: Sequence[str],
    at_most: int | None = None,
    levels: Mapping[str, int] | None = None,
    *,
    expected: str | None = None,
    now: datetime | None = None,
) -> int:
    """Declare a scenario in celosia.toml with its criterion in whole numbers; give how many there are."""
    project = open_project(folder)
    known = Schema(tuple(variable.name for variable in project.variables()))
    made: dict[str, Any] = {"variables": list(known.chosen(variables, "--scenario"))}
    if at_most is not None:
        made["threshold"] = threshold_for(at_most)
    if levels:
        made["levels"] = {name: int(level) for name, level in levels.items() if level}
    return _edited(folder, [made], None, expected, now)


def remove_scenario(folder: Place, number: int, *, expected: str | None = None, now: datetime | None = None) -> int:
    """Take a declared scenario out of celosia.toml, by its number from 1; give how many are left."""
    return _edited(folder, [], number, expected, now)


def _edited(
    folder: Place,
    added: Sequence[Mapping[str, Any]],
    removed: int | None,
    expected: str | None,
    now: datetime | None,
) -> int:
    project = open_project(folder)
    with settings_edited(project, expected) as document:
        listed: Any = document.get("scenarios")
        count = 0 if listed is None else len(listed)
        if removed is not None:
            if not 1 <= removed <= count:
                raise ValueOutOfRange(parameter="number", given=removed, allowed=f"1–{count}")
            del listed[removed - 1]
        for one in added:
            listed = _appended(document, listed, one)
        count += len(added) - (removed is not None)
        if not count:
            document.remove("scenarios")
    _journal.append(project.journal_path, "scenarios", moment(now), {"scenarios": count})
    return count


def _appended(document: Any, listed: Any, one: Mapping[str, Any]) -> Any:
    """One more scenario, written the way the file writes them: tables of their own, or a list."""
    inline = isinstance(listed, tomlkit.items.Array)
    table: Any = tomlkit.inline_table() if inline else tomlkit.table()
    table.update(one)
    if listed is None:
        listed = tomlkit.aot()
        document.append("scenarios", listed)
        listed = document["scenarios"]
    listed.append(table)
    return listed


def write_risk_document(folder: Place, form: str = "pdf", *, now: datetime | None = None) -> Path:
    """The risk report in ATENEA's layout, from the kept scenarios while they hold, else counted anew; give its path."""
    if form not in FORMATS:
        raise ValueOutOfRange(parameter="format", given=form, allowed=", ".join(FORMATS))
    from celosia.dossier import risk_document

    project = open_project(folder)
    document = risk_document(_scenarios(folder), project.config.language)
    path = private_folder(project.folder / "private" / "dossier") / f"{DOCUMENT}.{form}"
    with replacing(path, PRIVATE_FILE) as draft:
        draft.write_bytes(_rendered(document, form, moment(now)))
    return path


def _scenarios(folder: Place) -> ScenarioReport:
    held = _held(folder, "risk_scenarios")
    if held is None or held["stale"]:
        return project_scenarios(folder)
    kept = kept_report(folder, "risk_scenarios")
    return project_scenarios(folder) if kept is None else scenario_report_from(kept.document["found"])
