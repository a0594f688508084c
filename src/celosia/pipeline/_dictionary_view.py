"""The dictionary as a page shows it, without reading a cell: what is counted is counted once and kept.

Knows projects, kept figures and what each of them was counted from. Ignores how anything is counted. A figure is kept
with the digest of its own ground, so that a purpose written since does not make a million rows be counted again.
Source: ATENEA guide 4.2.3 (distinguishability is measured); MEL protocol IV.2.b (units of each area).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from celosia.data.suggest import ColumnFacts, distinctness, entropy, separation
from celosia.dossier import fault_sentence
from celosia.errors import ValueOutOfRange
from celosia.model.dictionary_view import (
    ColumnFigures,
    DictionaryLine,
    DictionaryView,
    MadeException,
    excluded,
    is_unique_alone,
)
from celosia.model.exceptions import reason_for
from celosia.model.geography import MINIMUM, GeographyLevel, GeographyReport, UnitKind
from celosia.model.mel import AnnotatedLine
from celosia.model.plan import digest_of
from celosia.model.protocols import Rule
from celosia.model.values import MISSING, is_masked
from celosia.model.variables import MelLabel, Role, Scale, Variable, classify_identifier
from celosia.pipeline._call import Place
from celosia.pipeline._edit_dictionary import edited, excepting_rules, standing_approvals
from celosia.pipeline._kept import digest_of_file, keep_report, kept_report
from celosia.pipeline._mel import PROTOCOL, annotated_lines, asked_of
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._risk_special import geography_rule_of
from celosia.pipeline._suggest import column_facts
from celosia.protocols import combined

NAME = "dictionary"
FIGURES_FORMAT = "celosia/column-figures/1"


@dataclass(frozen=True, slots=True)
class _Figures:
    """What is kept of the columns: a figure and the digest of what it was counted from."""

    columns: Mapping[str, Mapping[str, Any]]
    areas: Mapping[str, Mapping[str, Any]]
    persons: Mapping[str, Any]


# --- the view -------------------------------------------------------------------------------------


def dictionary_view(folder: Place) -> DictionaryView:
    """Every line of the dictionary with what was measured of its column and what follows; nothing is counted here."""
    project = open_project(folder)
    digest, settings = digest_of_file(project.dictionary_path), digest_of_file(project.folder / "celosia.toml")
    variables = project.variables()
    lines = _lines_of(project, variables)
    return DictionaryView(
        protocols=project.config.protocols,
        rows=project.config.source.rows,
        person=project.config.person,
        household=project.config.household,
        digest=digest,
        settings_digest=settings,
        counted=lines.counted,
        minimum=lines.minimum,
        covering=standing_approvals(project),
        lines=lines.of(variables),
    )


def tried_lines(folder: Place, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, DictionaryLine]:
    """The lines that some changes would give, by variable; nothing is written."""
    project = open_project(folder)
    variables = project.variables()
    after = [edited(v, changes[v.name]) for v in variables if v.name in changes]
    return {line.variable.name: line for line in _lines_of(project, variables).of(after)}


def _lines_of(project: Project, variables: Sequence[Variable]) -> _Lines:
    document = read_toml(project.folder / "celosia.toml")
    grounds, kept = _grounds(project, variables, document), _kept(project)
    return _Lines(
        project=project,
        document=document,
        figures={v.name: _figures_of(kept, v.name, grounds) for v in variables},
        reports=_reports(kept, grounds),
        units=kept.persons.get("count") if kept.persons.get("key") == grounds.persons else None,
        counted=_is_counted(kept, grounds),
    )


@dataclass(frozen=True, slots=True)
class _Lines:
    """What makes a line of a view from a line of the dictionary."""

    project: Project
    document: Mapping[str, Any]
    figures: Mapping[str, ColumnFigures | None]
    reports: Mapping[str, GeographyReport]
    units: int | None
    counted: bool

    @property
    def minimum(self) -> int:
        """The units that each area of a MEL project must exceed."""
        return asked_of(self.project, self.document)[0]

    def of(self, variables: Sequence[Variable]) -> tuple[DictionaryLine, ...]:
        """The lines of some variables."""
        protocols = self.project.config.protocols
        mel: Mapping[str, AnnotatedLine] = {}
        if PROTOCOL in protocols:
            judged = annotated_lines(variables, self.reports, self.document, asked_of(self.project, self.document)[1])
            mel = {line.variable: line for line in judged}
        rules = combined(protocols, self.document.get("overrides", {}))
        return tuple(self._line(variable, mel.get(variable.name), rules) for variable in variables)

    def _line(self, variable: Variable, mel: AnnotatedLine | None, rules: Sequence[Rule]) -> DictionaryLine:
        figures = self.figures.get(variable.name)
        person = variable.name == self.project.config.person
        alone = person or (figures is not None and is_unique_alone(figures, self.units))
        made = [rule for rule in rules if variable.name in rule.asked.get("allowed", ())]
        return DictionaryLine(
            variable=variable,
            figures=figures,
            unique_alone=alone,
            identifier_class=classify_identifier(variable.traits, alone),
            excluded=excluded(variable),
            rules=_rules_for(variable, self.project.config.protocols),
            exceptions=tuple(
                MadeException(f"{rule.protocol}.{rule.id}", reason_for(rule.overridden, variable.name)) for rule in made
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


def count_columns(folder: Place, report: Progress = None, *, now: datetime | None = None) -> int:
    """Count what the dictionary's page shows and is not yet known, and keep it; how many columns were counted."""
    project = open_project(folder)
    document, kept = read_toml(project.folder / "celosia.toml"), _kept(project)
    with opened(project.folder) as found:
        grounds = _grounds(project, found.variables, document)
        lacking = [name for name, ground in grounds.columns.items() if kept.columns.get(name, {}).get("key") != ground]
        columns = {name: held for name, held in kept.columns.items() if held.get("key") == grounds.columns.get(name)}
        for facts in column_facts(found.table, lacking, stage(report, "profile")):
            columns[facts.name] = {"key": grounds.columns[facts.name], "figures": asdict(figures_from(facts))}
        held = {
            "format": FIGURES_FORMAT,
            "columns": columns,
            "areas": _counted_areas(found, kept, grounds, document, project),
            "persons": _counted_persons(found, kept, grounds),
        }
    keep_report(project.folder, NAME, held, now=now)
    return len(lacking)


def keep_figures(folder: Place, facts: Sequence[ColumnFacts], *, now: datetime | None = None) -> None:
    """Keep what is already known of the columns of a fresh project, so that its page has nothing to count."""
    project = open_project(folder)
    source, person = project.config.source.digest, project.config.person
    counts = {one.name: one.distinct for one in facts}
    held = {
        "format": FIGURES_FORMAT,
        "columns": {
            one.name: {"key": digest_of({"source": source, "missing": []}), "figures": asdict(figures_from(one))}
            for one in facts
        },
        "areas": {},
        "persons": {"key": digest_of({"source": source, "person": person}), "count": counts[person]} if person else {},
    }
    keep_report(project.folder, NAME, held, now=now)


def figures_from(facts: ColumnFacts) -> ColumnFigures:
    """How far a column tells people apart, from its vocabulary."""
    hidden = [place for place, value in enumerate(facts.values) if value == MISSING or is_masked(value)]
    return ColumnFigures(
        distinct=facts.distinct,
        plain_distinct=facts.distinct - len(hidden),
        plain_rows=facts.rows - int(sum(facts.counts[place] for place in hidden)),
        share=distinctness(facts),
        entropy=entropy(facts),
        separation=separation(facts),
    )


def _counted_areas(
    found: Opened, kept: _Figures, grounds: _Grounds, document: Mapping[str, Any], project: Project
) -> dict[str, Any]:
    minimum = asked_of(project, document)[0] if grounds.areas else MINIMUM
    made = {}
    for name, ground in grounds.areas.items():
        held = kept.areas.get(name, {})
        fresh = held.get("key") == ground
        made[name] = held if fresh else {"key": ground, "report": geography_rule_of(found, name, minimum).as_dict()}
    return made


def _counted_persons(found: Opened, kept: _Figures, grounds: _Grounds) -> Mapping[str, Any]:
    if found.person is None:
        return {}
    if kept.persons.get("key") == grounds.persons:
        return kept.persons
    if found.person not in found.table.names:
        raise ValueOutOfRange(parameter="unit.person", given=found.person, allowed=", ".join(found.table.names))
    return {"key": grounds.persons, "count": found.table.distinct_counts([found.person])[found.person]}


# --- what a kept figure rests on ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grounds:
    """The digest of what each figure would be counted from now."""

    columns: Mapping[str, str]
    areas: Mapping[str, str]  # geographic variables of a MEL project
    persons: str


def _grounds(project: Project, variables: Sequence[Variable], document: Mapping[str, Any]) -> _Grounds:
    source, person = project.config.source.digest, project.config.person
    held = {v.name: v for v in variables}
    areas = {}
    if PROTOCOL in project.config.protocols:
        minimum = asked_of(project, document)[0]
        marks = list(held[person].missing) if person in held else []
        for v in variables:
            if v.mel_label == MelLabel.GEOGRAPHIC:
                described = _hierarchy_ground(project, document.get("hierarchies", {}).get(v.name, {}))
                known = {"missing": list(v.missing), "unknown": list(v.unknown), "person": person, "marks": marks}
                areas[v.name] = digest_of({"source": source, "minimum": minimum, "hierarchy": described, **known})
    return _Grounds(
        columns={v.name: digest_of({"source": source, "missing": list(v.missing)}) for v in variables},
        areas=areas,
        persons=digest_of({"source": source, "person": person}),
    )


def _hierarchy_ground(project: Project, described: Mapping[str, Any]) -> dict[str, str]:
    """The hierarchy of a variable as it is written, and the bytes of its file."""
    written = hashlib.sha256(repr(sorted(described.items())).encode()).hexdigest()
    file = described.get("file")
    return {"written": written, "file": digest_of_file(project.folder / str(file)) if file else ""}


def _kept(project: Project) -> _Figures:
    held = kept_report(project.folder, NAME)
    document = held.document if held is not None else {}
    if document.get("format") != FIGURES_FORMAT:
        return _Figures({}, {}, {})
    return _Figures(document["columns"], document["areas"], document["persons"])


def _is_counted(kept: _Figures, grounds: _Grounds) -> bool:
    columns = all(kept.columns.get(name, {}).get("key") == ground for name, ground in grounds.columns.items())
    return columns and all(kept.areas.get(name, {}).get("key") == ground for name, ground in grounds.areas.items())


def _figures_of(kept: _Figures, name: str, grounds: _Grounds) -> ColumnFigures | None:
    held = kept.columns.get(name, {})
    return ColumnFigures(**held["figures"]) if held.get("key") == grounds.columns[name] else None


def _reports(kept: _Figures, grounds: _Grounds) -> dict[str, GeographyReport]:
    """The rule over each geographic variable whose areas are counted."""
    fresh = {
        name: kept.areas[name] for name, key in grounds.areas.items() if kept.areas.get(name, {}).get("key") == key
    }
    return {name: _report(held["report"]) for name, held in fresh.items()}


def _report(held: Mapping[str, Any]) -> GeographyReport:
    levels = tuple(GeographyLevel(**{**level, "floors": ()}) for level in held["levels"])
    return GeographyReport(
        held["variable"], UnitKind(held["unit"]), held["unit_variable"], held["minimum"], held["units"], levels
    )
