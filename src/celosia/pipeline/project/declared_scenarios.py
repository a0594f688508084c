"""Risk scenarios of a project: declared in celosia.toml, and the analyses of them that are on record.

Knows celosia.toml, the journal and names of variables. Ignores how a scenario is counted.
Source: ATENEA G3_DE 4.2.2 (exploratory analysis) and 4.2.3 (risk scenarios).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import tomlkit

from celosia.model.reports.scenarios import Scenario
from celosia.model.schema import Schema
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.edits import edit_settings
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.protocols.load import load

EXPLORED, ANALYSED = "profile", "risk"  # what the journal calls them
_GATES = {EXPLORED: "exploration", ANALYSED: "risk"}


def declare_scenarios(
    folder: ProjectArg,
    scenarios: Iterable[Sequence[str]],
    threshold: str | None = None,
    *,
    expected: str | None = None,
    now: datetime | None = None,
) -> int:
    """Add scenarios to celosia.toml, each once; give how many are declared now."""
    project = open_project(folder)
    known = Schema(tuple(variable.name for variable in project.variables))
    criterion = {} if threshold is None else {"threshold": threshold}
    added = [{"variables": list(known.checked_names(variables, "--scenario")), **criterion} for variables in scenarios]
    with edit_settings(project, expected) as document:
        listed: Any = document.get("scenarios")
        if listed is None:
            document.append("scenarios", tomlkit.aot())
            listed = document["scenarios"]
        present = [_mark(scenario) for scenario in listed]
        for scenario in added:
            if _mark(scenario) not in present:
                # Written the way the file writes them: tables of their own, or a list.
                table: Any = tomlkit.inline_table() if isinstance(listed, tomlkit.items.Array) else tomlkit.table()
                table.update(scenario)
                listed.append(table)
                present.append(_mark(scenario))
        count = len(listed)
    _journal.append_entry(project.paths.journal, "scenarios", utc_now(now), {"scenarios": count})
    return count


def _mark(scenario: Mapping[str, Any]) -> tuple[frozenset[str], str, str]:
    return frozenset(scenario["variables"]), str(scenario.get("threshold", "")), repr(scenario.get("levels", {}))


def note_exploration(project: Project | None, now: datetime | None = None) -> None:
    """Put on record that the present source was explored, where a protocol has that step."""
    if project is not None:
        _note(project, EXPLORED, {"source": project.config.source.digest}, now)


def note_risk(project: Project | None, scenarios: Iterable[Scenario], now: datetime | None = None) -> None:
    """Put on record which scenarios were analysed on the present source, where a protocol has that step."""
    if project is not None:
        listed = [list(scenario.variables) for scenario in scenarios]
        _note(project, ANALYSED, {"source": project.config.source.digest, "scenarios": listed}, now)


def _note(project: Project, what: str, facts: Mapping[str, Any], now: datetime | None) -> None:
    asked = any(gate.id == _GATES[what] for name in project.config.protocols for gate in load(name).gates)
    noted = _journal.read_journal(project.paths.journal).facts(what) if asked else [facts]
    if facts not in noted[-1:]:
        _journal.append_entry(project.paths.journal, what, utc_now(now), facts)


def is_explored(project: Project, journal: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the present source was explored."""
    return any(facts.get("source") == project.config.source.digest for facts in _facts(journal, EXPLORED))


def unanalysed_scenarios(project: Project, journal: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """The declared scenarios that no analysis of the present source holds; None where there is no analysis at all."""
    analyses = [facts for facts in _facts(journal, ANALYSED) if facts.get("source") == project.config.source.digest]
    if not analyses:
        return None
    analysed = {frozenset(names) for facts in analyses for names in facts.get("scenarios", ())}
    declared = [list(scenario["variables"]) for scenario in project.settings.get("scenarios", ())]
    return [" × ".join(names) for names in declared if frozenset(names) not in analysed]


def _facts(journal: Sequence[Mapping[str, Any]], what: str) -> list[Mapping[str, Any]]:
    return [entry.get("facts") or {} for entry in journal if entry.get("what") == what]
