"""The run from PERSONAL to STATS: rules, counts, merges, earlier publications, protection, writing, scan, journal.

Knows the order of the steps. One transaction: what fails at any step leaves STATS as it was, and the journal says so
with counts and names of rules, never a value (YAPÓ 4, Y27). No count reaches STATS before it is protected (Y20), and
none that would disclose somebody together with earlier releases: then the tables of that origin stay as they are.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.reports.stats import StatsRun, TableOutcome
from celosia.pipeline.release.stats_rules import journal_append
from celosia.stats.catalogue import build_entry, differences, link_of
from celosia.stats.counting.linked_breakdowns import MARK
from celosia.stats.declaration.declaration import StatsConfig, StatsTable, stats_name
from celosia.stats.errors import (
    CatalogueDisagrees,
    RoundedSums,
    RoundingBelowK,
    ScanRefuses,
    StatsTableUnknown,
    TitleTellsHidden,
)
from celosia.stats.project import (
    FAILED,
    RUN,
    PathArg,
    journal_path,
    private_folder,
    read_config,
    rounding_key,
    save_run,
)
from celosia.stats.protection.changed_cuts import refuse_changed_cuts, refuse_regrouped_maps, save_maps
from celosia.stats.protection.differencing_check import discloses_by_difference, person_counts, upcoming_cells
from celosia.stats.protection.identity import identity_texts, origin_of, owners_of
from celosia.stats.protection.known_dependencies import follow_categories, known_dependencies, save_dependencies
from celosia.stats.protection.protection import protect_group
from celosia.stats.protection.published_history import PublishedHistory
from celosia.stats.protection.rows import COUNTS, history_of, round_version, stats_rows
from celosia.stats.protection.version import ProtectedVersion, Version
from celosia.stats.rules.maps import file_categories
from celosia.stats.sources.addresses import address, refuse_same_file
from celosia.stats.sources.connections import PersonalSource, open_source
from celosia.stats.store.scan import ScanFinding, scan_persons, scan_table
from celosia.stats.store.target import StatsTarget, open_target
from celosia.stats.versions import count_versions, identifying_labels
from celosia.tables.errors import TableUnprotectable

Progress = Callable[[str, float], None] | None
_NUMBER = re.compile(r"\d+")


def run_stats(
    folder: PathArg,
    *,
    full: bool = True,
    tables: Sequence[str] | None = None,
    budget_seconds: float | None = None,
    now: datetime | None = None,
    report: Progress = None,
) -> StatsRun:
    """Count, protect and write the tables of a project; all of them, or those named with what they are linked to."""
    home, moment = Path(folder), datetime.now(UTC) if now is None else now
    config = read_config(home)
    selected = _select_tables(config, tables)
    _refuse_unsafe_rounding(config, selected)
    private_folder(home)
    kind = "full" if full else "incremental"
    try:
        result, written = _count_protect_write(home, config, selected, kind, budget_seconds, moment, report)
    except CelosiaError as fault:
        journal_append(journal_path(home), FAILED, moment, {"kind": kind, **_failure_facts(fault)})
        raise
    journal_append(journal_path(home), RUN, moment, result.facts())
    save_maps(home, _maps_of(home, config))
    save_dependencies(home, known_dependencies(protected.version for protected in written))
    with contextlib.suppress(CelosiaError):  # the run stands even if its report cannot be saved
        save_run(home, result, written, moment)
    return result


def _failure_facts(fault: CelosiaError) -> dict[str, Any]:
    """A failure for the journal: its code, and how many values of which rule; no paths or messages."""
    values = fault.values
    rule = ".".join(str(values[name]) for name in ("table", "dimension") if name in values)
    count = values.get("values", 1)
    return {"error": fault.code, "errors": {rule or fault.code: count if isinstance(count, int) else 1}}


def _select_tables(config: StatsConfig, names: Sequence[str] | None) -> tuple[StatsTable, ...]:
    """The tables requested and all that are linked with them: those share cells, so none is protected alone."""
    if names is None:
        return config.tables
    known = {table.name: table for table in config.tables}
    for name in names:
        if name not in known:
            raise StatsTableUnknown(table=name, known=", ".join(known))
    links = {link_of(known[name]) for name in names}
    return tuple(table for table in config.tables if link_of(table) in links)


def _refuse_unsafe_rounding(config: StatsConfig, tables: Sequence[StatsTable]) -> None:
    for table in tables:
        if table.method != "round":
            continue
        most = max(config.k_of(audience) for audience in table.audiences)
        if (table.base or 0) < most:
            raise RoundingBelowK(table=table.name, base=table.base or 0, k=most)
        other = next((measure.name for measure in table.measures if measure.kind not in COUNTS), None)
        if other is not None:
            raise RoundedSums(table=table.name, measure=other)


def _count_protect_write(
    home: Path,
    config: StatsConfig,
    tables: Sequence[StatsTable],
    kind: str,
    budget: float | None,
    now: datetime,
    report: Progress,
) -> tuple[StatsRun, list[ProtectedVersion]]:
    refuse_same_file(address(config.source.url, home), address(config.target.url, home))
    with contextlib.ExitStack() as connections:
        source = connections.enter_context(contextlib.closing(open_source(config.source.url, home)))
        target = connections.enter_context(
            contextlib.closing(open_target(config.target.url, home, config.target.schema))
        )
        blocks = {table.source: config.personal[table.source] for table in tables}
        for name, personal in blocks.items():
            config.refuse_columns_without_rule(name, [column for column, _ in source.columns(personal)])
        read = {name: source.rows(personal) for name, personal in blocks.items()}
        refuse_regrouped_maps(home, _maps_of(home, config))
        versions = count_versions(source, config, tables, home, kind == "full", now, report)
        history = PublishedHistory(target.history())
        versions = [replace(version, origin=origin_of(blocks[version.table.source])) for version in versions]
        for origin in dict.fromkeys(version.origin for version in versions):
            own = [version for version in versions if version.origin == origin]
            refuse_changed_cuts(own, history.releases(origin))
        owners = owners_of(versions)
        versions = [replace(version, earlier=history.earlier_publications(version, owners)) for version in versions]
        protected_versions = _protect_versions(versions, home, budget, report)
        unchanged_origins = _unpublishable_origins(versions, protected_versions, history, _declared_names(config))
        written = [
            version
            for version in protected_versions
            if version is not None and version.version.origin not in unchanged_origins
        ]
        _refuse_disclosing_titles(config.title, written)
        catalogue = target.catalogue()
        outcomes = tuple(
            _unchanged_outcome(version, catalogue)
            if protected is None or version.origin in unchanged_origins
            else _outcome(protected)
            for version, protected in zip(versions, protected_versions, strict=True)
        )
        result = StatsRun(now.isoformat(timespec="seconds"), kind, read, outcomes)
        _write(source, target, config, written, result, now, report)
    return result, written


def _maps_of(home: Path, config: StatsConfig) -> dict[str, dict[str, str]]:
    """The maps of the project that tables use, value by value."""
    used = {d.settings.get("map") for table in config.tables for d in table.dimensions}
    return {name: file_categories(config.maps[name], home) for name in sorted(config.maps) if name in used}


def _declared_names(config: StatsConfig) -> set[str]:
    return {stats_name(table.name, who) for table in config.tables for who in table.audiences}


def _unpublishable_origins(
    versions: Sequence[Version],
    protected_versions: Sequence[ProtectedVersion | None],
    history: PublishedHistory,
    declared: set[str],
) -> set[str]:
    """The origins whose tables stay as they are: new ones would disclose by difference with earlier releases."""
    unchanged = {
        version.origin for version, protected in zip(versions, protected_versions, strict=True) if protected is None
    }
    owners = owners_of(versions)
    for origin in dict.fromkeys(version.origin for version in versions if version.origin not in unchanged):
        own = [
            protected
            for protected in protected_versions
            if protected is not None and protected.version.origin == origin
        ]
        names = {_version_name(protected.version) for protected in own}
        new = tuple(
            line for protected in own for line in upcoming_cells(protected, _version_name(protected.version), owners)
        )
        beside = tuple(line for line in history.current_cells(origin) if line.table in declared - names)
        follow = follow_categories(known_dependencies(protected.version for protected in own))
        counted = person_counts(own, owners)
        if discloses_by_difference(history.releases(origin), (*beside, *new), counted, follow):
            unchanged.add(origin)
    return unchanged


def _version_name(version: Version) -> str:
    return stats_name(version.table.name, version.audience)


def _unchanged_outcome(version: Version, there: Mapping[str, Any]) -> TableOutcome:
    """The outcome of a table that was not renewed: unchanged, or left out if it was never published."""
    name = _version_name(version)
    return TableOutcome(name, version.audience, version.k, 0, 0, 0, 0, state="kept" if name in there else "left_out")


def _protect_versions(
    versions: Sequence[Version], home: Path, budget: float | None, report: Progress
) -> list[ProtectedVersion | None]:
    """Every version protected with those it is linked to, in the order given; None where what was published before
    leaves no way to protect it."""
    groups: dict[str, list[int]] = {}
    for position, version in enumerate(versions):
        groups.setdefault(link_of(version.table), []).append(position)
    done: dict[int, ProtectedVersion | None] = {}
    for number, positions in enumerate(groups.values()):
        group = [versions[position] for position in positions]
        protected: Sequence[ProtectedVersion | None]
        try:
            if group[0].table.method == "round":
                protected = [round_version(version, rounding_key(home)) for version in group]
            else:
                protected = protect_group(group, budget_seconds=budget)
        except TableUnprotectable:
            if not any(version.earlier for version in group):
                raise
            protected = [None] * len(group)
        done |= dict(zip(positions, protected, strict=True))
        if report:
            report("protect", (number + 1) / len(groups))
    return [done[position] for position in range(len(versions))]


def _refuse_disclosing_titles(title: str, protected_versions: Sequence[ProtectedVersion]) -> None:
    """A number in the title of a table, or of them all, may not be one that a table hides."""
    for protected in protected_versions:
        numbers = {int(word) for word in _NUMBER.findall(f"{title} {protected.version.table.title}")}
        if numbers & set(protected.version.cells.persons[protected.hidden].tolist()):
            raise TitleTellsHidden(table=protected.version.table.name)


def _write(
    source: PersonalSource,
    target: StatsTarget,
    config: StatsConfig,
    protected_versions: Sequence[ProtectedVersion],
    result: StatsRun,
    now: datetime,
    report: Progress,
) -> None:
    """Everything in one transaction: tables, history, catalogue, the line of the run; then the scan decides."""
    owners = owners_of([protected.version for protected in protected_versions])
    with target.transaction(now):
        declared = _declared_names(config)
        entries = {name: entry for name, entry in target.catalogue().items() if name in declared}
        for name in set(target.catalogue()) - declared:
            target.drop(name)
        for number, protected in enumerate(protected_versions):
            name = _version_name(protected.version)
            target.write(name, stats_rows(protected))
            target.record(name, history_of(protected), identity_texts(protected.version, owners))
            entries[name] = build_entry(config, protected.version, now).as_dict()
            if report:
                report("write", (number + 1) / len(protected_versions))
        target.write_catalogue(entries)
        target.note(result.facts())
        _refuse_disagreement(target)
        _refuse_findings(scan_stats(target, config, source, protected_versions))


def _refuse_disagreement(target: StatsTarget) -> None:
    uncatalogued, absent = differences(target.tables(), target.catalogue())
    if uncatalogued or absent:
        raise CatalogueDisagrees(uncatalogued=", ".join(uncatalogued) or "–", absent=", ".join(absent) or "–")


def scan_stats(
    target: StatsTarget, config: StatsConfig, source: PersonalSource, protected_versions: Sequence[ProtectedVersion]
) -> tuple[ScanFinding, ...]:
    """Personal data in STATS: the scan of what was written, before it is committed."""
    findings: list[ScanFinding] = []
    for protected in protected_versions:
        table = protected.version.table
        name, personal = _version_name(protected.version), config.personal[table.source]
        rows = target.read(name)
        words = {column: rows.column(column).to_pylist() for column in table.dimension_names}
        declared = {d.name: [*words[d.name], *map(str, d.settings.get("values", ()))] for d in table.dimensions}
        findings += scan_table(name, declared, (personal.person,))  # what is declared is in the catalogue too
        findings += _key_findings(name, protected.version)
        labels = {column: sorted({word for word in cells if word is not None}) for column, cells in words.items()}
        findings += [ScanFinding(name, column, "personal") for column in identifying_labels(source, personal, labels)]
    return tuple(dict.fromkeys(findings))


def _key_findings(name: str, version: Version) -> list[ScanFinding]:
    """Dimensions with about one category per person, seen in their own margin or over the inner cells."""
    findings: list[ScanFinding] = []
    codes, persons = version.cells.codes, version.cells.persons
    for at, dimension in enumerate(version.table.dimensions):
        labels = version.cells.dimensions[at].labels
        most = np.zeros(len(labels) + 1, np.int64)
        np.maximum.at(most, codes[:, at], persons)  # code -1, all together, falls in the last place
        own = [code for code, label in enumerate(labels) if not label.startswith(MARK)]
        findings += scan_persons(name, dimension.name, most[own].tolist())
    return findings


def _refuse_findings(findings: Sequence[ScanFinding]) -> None:
    if findings:
        sentences = [messages.text(f"stats.finding.{f.kind}", table=f.table, column=f.column) for f in findings]
        raise ScanRefuses(findings="; ".join(sentences))


def _outcome(protected: ProtectedVersion) -> TableOutcome:
    version, offered = protected.version, protected.version.cells.offered
    status, reasons = protected.status[offered], protected.reasons[offered]
    reason_counts: dict[str, int] = {}
    for reason in reasons[status > 0]:
        reason_counts[str(reason)] = reason_counts.get(str(reason), 0) + 1
    return TableOutcome(
        table=stats_name(version.table.name, version.audience),
        audience=version.audience,
        k=version.k,
        rows=int(offered.sum()),
        published=int((status == 0).sum()),
        primary=int((status == 1).sum()),
        secondary=int((status == 2).sum()),
        reasons=dict(sorted(reason_counts.items())),
        merged=sum(len(members) for _, members in version.others.values()),
    )
