"""`intrude`: attack a file that is about to be published, before somebody else does.

Knows projects and files. Ignores how an attack works (package `attacks`). In a project the same attacks are tried on
the original too, and the report is saved in private/intruder/ with the digest of the candidate.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from celosia.attacks.attack_input import View
from celosia.model.errors import UnknownVariable
from celosia.model.paths import SETTINGS
from celosia.model.reports.attacks import UNJUDGED, AttackReport, HumanPart
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.assessment.evaluate import candidate_of
from celosia.pipeline.assessment.frame_kinds import remember_frame_kind
from celosia.pipeline.candidate.approvals import digest_for
from celosia.pipeline.candidate.errors import ClaimsUnjudged
from celosia.pipeline.candidate.intruder_evidence import ATTACKED, asks_attacks, count_findings, recorded_attacks
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.intruder.arrays import (
    drop_repeated_rows,
    persons_by_key,
    persons_by_row,
    rename_columns,
    view_of,
    with_persons,
)
from celosia.pipeline.intruder.battery import ATTEMPTS, AttackResults, Disguises, ExternalList, IntruderMeans, attack
from celosia.pipeline.intruder.candidate_target import project_target
from celosia.pipeline.intruder.claims import human_part
from celosia.pipeline.intruder.errors import NothingShared, PairsWithoutList
from celosia.pipeline.intruder.target import AttackTarget, NamedRoles, file_target
from celosia.pipeline.project.arguments import refuse_unknown_choices, utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, is_project, names_project, open_project
from celosia.pipeline.project.journal import append_entry
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.storage import PRIVATE_FILE, atomic_write, content_digest, make_private_folder

# The column of an outside list that holds the person, under a name that no published column has.
_KEY = "\x00person"


@remember_frame_kind
def intrude(
    target: Any,
    *,
    external: Any = None,
    on: Mapping[str, str] | Sequence[str] | None = None,
    earlier: Sequence[Any] = (),
    control: Any = None,
    original: Any = None,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    seed: int = 0,
    attempts: int = ATTEMPTS,
    report: Progress = None,
    now: datetime | None = None,
    **reading: Any,
) -> AttackReport:
    """Try every attack on a project's candidate or on a file.

    `external` is an outside list and `on` its columns, as {published name: name in the list}; `earlier` are other
    releases of the same data; `control` holds records kept apart before the release was made; `original` is the raw
    file behind a published one; `attempts` is how many people each attack is tried on at most.
    """
    if on and external is None:
        raise PairsWithoutList()
    roles = NamedRoles(quasi, sensitive, person, household)
    attack_target, project = open_target(target, original, roles, report, reading)
    means = IntruderMeans(
        seed=seed,
        attempts=attempts,
        held_out=None if control is None else _held_out_view(attack_target, control),
        external=None if external is None else _external(attack_target, external, on),
        earlier=tuple(_earlier(attack_target, source) for source in earlier),
        earlier_original=tuple(_earlier(attack_target, source, published=False) for source in earlier),
    )
    disguises: Disguises = {}
    after = attack(attack_target, means, stage_progress(report, "intruder"), disguises)
    before = _attack_original(attack_target, means, report, disguises) if project is not None else None
    human, waiting = (None, ()) if project is None else _human(project, attack_target.digest)
    result = AttackReport(
        target=attack_target.digest,
        seed=seed,
        rows=attack_target.view.rows,
        persons=attack_target.persons,
        estimates=after.estimates,
        findings=after.findings,
        notes=(*_notes(attack_target, means, project is not None and before is None), *waiting),
        quasi=attack_target.quasi,
        sensitive=attack_target.sensitive,
        before=None if before is None else before.estimates,
        findings_before=() if before is None else before.findings,
        human=human,
    )
    if project is not None:
        _save(project, result, utc_now(now))
    return result


def attack_where_asked(
    folder: ProjectArg, *, report: Progress = None, now: datetime | None = None
) -> AttackReport | None:
    """The attacks on the present candidate, where a protocol asks for them: those on record, else made now."""
    project = open_project(folder)
    if not asks_attacks(project) or not project.paths.candidate.verdict.is_file():
        return None
    record = recorded_attacks(project, digest_for(project, "candidate"))
    return record.report or intrude(str(project.folder), report=report, now=now)


def _human(project: Project, digest: str) -> tuple[HumanPart | None, tuple[str, ...]]:
    """The test with a person; claims that the institution has not judged yet cannot be counted, as a note says."""
    try:
        return human_part(project, digest), ()
    except ClaimsUnjudged:
        return None, (UNJUDGED,)


def _notes(target: AttackTarget, means: IntruderMeans, no_before: bool) -> tuple[str, ...]:
    """How the report is to be read: what the control is, and what was missing."""
    control = "control_margins" if means.held_out is None else "control_held_out"
    return (*target.notes, *(["no_before"] if no_before else []), control)


def open_target(
    target: Any, original: Any, roles: NamedRoles, report: Progress, reading: Mapping[str, Any]
) -> tuple[AttackTarget, Project | None]:
    """What is attacked and, where it is one, the project."""
    refuse_unknown_choices(reading)
    if not names_project(target):
        return file_target(target, original, roles, report, reading), None
    # A project states its original, its persons and its households in celosia.toml.
    for name, value in {"original": original, "person": roles.person, "household": roles.household}.items():
        if value is not None:
            raise ValueOutOfRange(parameter=f"--{name}", given=str(value), allowed=SETTINGS)
    project = open_project(target)
    return project_target(project, roles.quasi, roles.sensitive, report), project


def _attack_original(
    target: AttackTarget, means: IntruderMeans, report: Progress, disguises: Disguises
) -> AttackResults | None:
    """The same attacks on the original as it was, as if it had been published."""
    if target.truth is None:
        return None
    raw = replace(target, view=target.truth, truth=None, judge=None, notes=())
    means = replace(means, earlier=means.earlier_original)
    return attack(raw, means, stage_progress(report, "intruder_before"), disguises)


def _held_out_view(target: AttackTarget, control: Any) -> View:
    """People held out, numbered after those of the release."""
    with open_table(control, described=False) as data:
        names = [name for name in data.table.names if name in target.view.names or name == target.person]
        _refuse_unrelated(target, data, set(names) & set(target.quasi))
        view = view_of(data.table, names)
    persons = view.codes[:, view.column_index(target.person)] if target.person in names else np.arange(view.rows)
    # Above every person ordinal and every row of the release and its original.
    first = 0
    for each in (target.view, target.truth, target.judge):
        if each is not None:
            first = max(first, each.rows, -1 if each.persons is None else int(each.persons.max(initial=-1)) + 1)
    return with_persons(view, persons + first)


def _refuse_unrelated(target: AttackTarget, data: OpenTable, shared: Collection[str]) -> None:
    if not shared:
        raise NothingShared(file=data.source.name, names=", ".join(target.quasi or target.view.names))


def _external(target: AttackTarget, external: Any, on: Mapping[str, str] | Sequence[str] | None) -> ExternalList:
    """The outside list under published names.

    Its person key, where it has one, only judges the claims and says which rows belong to one person.
    """
    with open_table(external, described=False) as data:
        table = data.table
        pairs = _pairs(target, table.names, on)
        links = {published: listed for published, listed in pairs.items() if published != target.person}
        _refuse_unrelated(target, data, links)
        for published, listed in pairs.items():
            if published not in target.view.names and published != target.person:
                raise UnknownVariable(variable=published, known=", ".join(target.view.names))
            table.schema.position(listed)
        key = None
        if target.person is not None and target.keys:
            key = pairs.get(target.person, target.person if target.person in table.names else None)
        view = view_of(table, [*links.values(), *([key] if key else [])])
        persons = persons_by_key(view, key) if key else persons_by_row(view_of(table, table.names), view.names)
    names = (*links, *([_KEY] if key else []))
    view = drop_repeated_rows(with_persons(rename_columns(view, names), persons))
    return ExternalList(view, tuple(links), _KEY if key else None)


def _pairs(target: AttackTarget, listed: Sequence[str], on: Mapping[str, str] | Sequence[str] | None) -> dict[str, str]:
    """Published column → column of the list: as asked, else quasi-identifiers of the same name, else all such."""
    if on:
        return dict(on) if isinstance(on, Mapping) else {name: name for name in on}
    shared = [name for name in target.view.names if name in listed and name != target.person]
    quasi = [name for name in shared if name in target.quasi]
    return {name: name for name in quasi or shared if quasi or name not in target.sensitive}


def _earlier(target: AttackTarget, source: Any, *, published: bool = True) -> View:
    """Another release: a file, or the candidate of a project; or else the source of that project."""
    is_folder = published and isinstance(source, str | Path) and is_project(Path(source))
    with open_table(candidate_of(open_project(source)) if is_folder else source, described=False) as data:
        _refuse_unrelated(target, data, set(data.table.names) & set(target.quasi))
        return view_of(data.table, [name for name in data.table.names if name in target.view.names])


def _save(project: Project, report: AttackReport, now: datetime) -> None:
    """The report beside the candidate, and a line in the journal."""
    make_private_folder(project.paths.intruder)
    with atomic_write(project.paths.intruder_report, PRIVATE_FILE) as draft:
        draft.write_text(json.dumps(report.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")
    strongest = report.strongest
    persons = 0 if strongest is None else strongest.persons
    facts = {"candidate": report.target, "seed": report.seed, "works": strongest is not None, "persons": persons}
    facts |= {"findings": count_findings(report), "report": content_digest(project.paths.intruder_report)}
    append_entry(project.paths.journal, ATTACKED, now, facts)
