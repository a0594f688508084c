"""The dictionary as a page shows it, without reading a cell: what is counted is counted once and saved.

Knows projects, saved figures and what each of them was counted from. Ignores how anything is counted. A figure is saved
with the digest of what it was counted from: a purpose written since does not make a million rows be counted again.
Source: ATENEA guide 4.2.3 (distinguishability is measured); MEL protocol IV.2.b (units of each area).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from celosia.dossier.mel import fault_sentence
from celosia.model.exceptions import reason_for
from celosia.model.plan import digest_of
from celosia.model.protocols import Rule
from celosia.model.reports.column_figures import FIGURES_FORMAT, ColumnFigures
from celosia.model.reports.geography import MINIMUM, GeographyLevel, GeographyReport, UnitKind
from celosia.model.reports.mel import AnnotatedLine
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import MelLabel, Role, Scale, Variable, classify_identifier
from celosia.pipeline.assessment.special_uniques import geography_rule
from celosia.pipeline.candidate.mel import PROTOCOL, annotated_lines, mel_demands
from celosia.pipeline.intake.column_figures import FIGURES_REPORT, column_figures
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.intake.proposed_dictionary import column_facts
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.pipeline.project.saved_reports import save_report, saved_report
from celosia.protocols.load import combined_rules
from celosia.workbench.dictionary_edit import current_approvals, edit_variable, excepting_rules
from celosia.workbench.views.dictionary import (
    DictionaryLine,
    DictionaryView,
    MadeException,
    exclusions,
    is_unique_alone,
)


@dataclass(frozen=True, slots=True)
class _Figures:
    """What is saved of the columns: a figure and the digest of what it was counted from."""

    columns: Mapping[str, Mapping[str, Any]]
    areas: Mapping[str, Mapping[str, Any]]
    persons: Mapping[str, Any]


# --- the view -------------------------------------------------------------------------------------


def dictionary_view(source: ProjectArg) -> DictionaryView:
    """Every line of the dictionary with what was measured of its column and what follows; nothing is counted here."""
    project = open_project(source)
    variables = project.variables
    lines = _lines_of(project, variables)
    return DictionaryView(
        protocols=project.config.protocols,
        rows=project.config.source.rows,
        person=project.config.person,
        household=project.config.household,
        digest=project.dictionary_digest,
        settings_digest=project.settings_digest,
        counted=lines.counted,
        minimum=lines.minimum,
        covering=current_approvals(project),
        lines=lines.of(variables),
    )


def tried_lines(source: ProjectArg, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, DictionaryLine]:
    """The lines that some changes would give, by variable; nothing is written."""
    project = open_project(source)
    variables = project.variables
    after = [edit_variable(v, changes[v.name]) for v in variables if v.name in changes]
    return {line.variable.name: line for line in _lines_of(project, variables).of(after)}


def _lines_of(project: Project, variables: Sequence[Variable]) -> _LineBuilder:
    document = project.settings
    bases, saved = _bases_of(project, variables, document), _saved_figures(project)
    columns, areas = _still_valid(saved.columns, bases.columns), _still_valid(saved.areas, bases.areas)
    return _LineBuilder(
        project=project,
        document=document,
        figures={name: ColumnFigures(**column["figures"]) for name, column in columns.items()},
        reports={name: _geography_report(area["report"]) for name, area in areas.items()},
        units=saved.persons.get("count") if saved.persons.get("key") == bases.persons else None,
        counted=len(columns) == len(bases.columns) and len(areas) == len(bases.areas),
    )


@dataclass(frozen=True, slots=True)
class _LineBuilder:
    """What makes a line of a view from a line of the dictionary."""

    project: Project
    document: Mapping[str, Any]
    figures: Mapping[str, ColumnFigures]
    reports: Mapping[str, GeographyReport]
    units: int | None
    counted: bool

    @property
    def minimum(self) -> int:
        """The units that each area of a MEL project must exceed."""
        return mel_demands(self.project)[0]

    def of(self, variables: Sequence[Variable]) -> tuple[DictionaryLine, ...]:
        """The lines of some variables."""
        protocols = self.project.config.protocols
        mel: Mapping[str, AnnotatedLine] = {}
        if PROTOCOL in protocols:
            annotated = annotated_lines(variables, self.reports, self.document, mel_demands(self.project)[1])
            mel = {line.variable: line for line in annotated}
        rules = combined_rules(protocols, self.document.get("overrides", {}))
        return tuple(self._line(variable, mel.get(variable.name), rules) for variable in variables)

    def _line(self, variable: Variable, mel: AnnotatedLine | None, rules: Sequence[Rule]) -> DictionaryLine:
        figures = self.figures.get(variable.name)
        person = variable.name == self.project.config.person
        alone = person or (figures is not None and is_unique_alone(figures, self.units))
        excepting = [rule for rule in rules if variable.name in rule.asked.get("allowed", ())]
        return DictionaryLine(
            variable=variable,
            figures=figures,
            unique_alone=alone,
            identifier_class=classify_identifier(variable.traits, alone),
            excluded=exclusions(variable),
            rules=_rules_for(variable, self.project.config.protocols),
            exceptions=tuple(
                MadeException(f"{rule.protocol}.{rule.id}", reason_for(rule.overridden, variable.name))
                for rule in excepting
            ),
            mel=mel,
            faults=tuple(fault_sentence(mel, fault) for fault in mel.faults) if mel else (),
        )


def _rules_for(variable: Variable, protocols: Sequence[str]) -> tuple[str, ...]:
    """The rules that speak of a variable as it is described, and from which it may be excepted with a reason."""
    speaks = {
        "labels": variable.mel_label == MelLabel.OTHER,
        "geography": variable.mel_label == MelLabel.GEOGRAPHIC,
        "free_text": variable.scale == Scale.FREE_TEXT,
        "identifiers": variable.role not in (None, Role.IDENTIFIER) and variable.strong,
    }
    return tuple(name for name, rule in excepting_rules(protocols).items() if speaks.get(rule.id, False))


# --- counting -------------------------------------------------------------------------------------


def count_columns(project_or_folder: ProjectArg, report: Progress = None, *, now: datetime | None = None) -> int:
    """Count what the dictionary's page shows and is not yet known, and save it; how many columns were counted."""
    project = open_project(project_or_folder)
    document, saved = project.settings, _saved_figures(project)
    with open_table(project) as source:
        bases = _bases_of(project, source.variables, document)
        lacking = [name for name, basis in bases.columns.items() if saved.columns.get(name, {}).get("key") != basis]
        columns = {name: column for name, column in saved.columns.items() if column["key"] == bases.columns.get(name)}
        for facts in column_facts(source.table, lacking, stage_progress(report, "profile")):
            columns[facts.name] = {"key": bases.columns[facts.name], "figures": asdict(column_figures(facts))}
        figures = {
            "format": FIGURES_FORMAT,
            "columns": columns,
            "areas": _count_areas(source, saved, bases, project),
            "persons": _count_persons(source, saved, bases),
        }
    save_report(project, FIGURES_REPORT, figures, now=now)
    return len(lacking)


def _count_areas(source: OpenTable, saved: _Figures, bases: _Bases, project: Project) -> dict[str, Any]:
    minimum = mel_demands(project)[0] if bases.areas else MINIMUM
    valid = _still_valid(saved.areas, bases.areas)
    return {
        name: valid.get(name) or {"key": basis, "report": geography_rule(source, name, minimum).as_dict()}
        for name, basis in bases.areas.items()
    }


def _count_persons(source: OpenTable, saved: _Figures, bases: _Bases) -> Mapping[str, Any]:
    if source.person is None:
        return {}
    if saved.persons.get("key") == bases.persons:
        return saved.persons
    if source.person not in source.table.names:
        raise ValueOutOfRange(parameter="unit.person", given=source.person, allowed=", ".join(source.table.names))
    return {"key": bases.persons, "count": source.table.distinct_counts([source.person])[source.person]}


# --- what a figure was counted from ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bases:
    """The digest of what each figure would be counted from now."""

    columns: Mapping[str, str]
    areas: Mapping[str, str]  # geographic variables of a MEL project
    persons: str


def _bases_of(project: Project, variables: Sequence[Variable], document: Mapping[str, Any]) -> _Bases:
    source, person = project.config.source.digest, project.config.person
    known_variables = {v.name: v for v in variables}
    areas = {}
    if PROTOCOL in project.config.protocols:
        minimum = mel_demands(project)[0]
        marks = list(known_variables[person].missing) if person in known_variables else []
        for v in variables:
            if v.mel_label == MelLabel.GEOGRAPHIC:
                described = _hierarchy_basis(project, document.get("hierarchies", {}).get(v.name, {}))
                known = {"missing": list(v.missing), "unknown": list(v.unknown), "person": person, "marks": marks}
                areas[v.name] = digest_of({"source": source, "minimum": minimum, "hierarchy": described, **known})
    return _Bases(
        columns={v.name: digest_of({"source": source, "missing": list(v.missing)}) for v in variables},
        areas=areas,
        persons=digest_of({"source": source, "person": person}),
    )


def _hierarchy_basis(project: Project, described: Mapping[str, Any]) -> dict[str, str]:
    """The hierarchy of a variable as it is written, and the bytes of its file."""
    written = hashlib.sha256(repr(sorted(described.items())).encode()).hexdigest()
    file = described.get("file")
    return {"written": written, "file": digest_of_file(project.folder / str(file)) if file else ""}


def _saved_figures(project: Project) -> _Figures:
    saved = saved_report(project, FIGURES_REPORT)
    document = saved.document if saved is not None else {}
    if document.get("format") != FIGURES_FORMAT:
        return _Figures({}, {}, {})
    return _Figures(document["columns"], document["areas"], document["persons"])


def _still_valid(saved: Mapping[str, Mapping[str, Any]], bases: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """The saved figures that were counted from what is there now."""
    return {name: saved[name] for name, basis in bases.items() if saved.get(name, {}).get("key") == basis}


def _geography_report(document: Mapping[str, Any]) -> GeographyReport:
    levels = tuple(GeographyLevel(**{**level, "floors": ()}) for level in document["levels"])
    variable, unit_variable, minimum, units = (
        document[key] for key in ("variable", "unit_variable", "minimum", "units")
    )
    return GeographyReport(variable, UnitKind(document["unit"]), unit_variable, minimum, units, levels)
