"""`intrude`: attack a file that is about to be published, before somebody else does.

Knows projects and files; the attacks are in the room `attacks`. In a project the same attacks are tried on the
original too, and the report is kept in private/intruder/ with the digest of the candidate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from celosia.attacks import View
from celosia.data.files import PRIVATE_FILE, private_folder, replacing
from celosia.errors import ClaimsUnjudged, NothingShared, PairsWithoutList, UnknownVariable, ValueOutOfRange
from celosia.model.attacks import UNJUDGED, AttackReport, HumanPart
from celosia.pipeline import _journal
from celosia.pipeline._call import moment, refuse_unknown_choices
from celosia.pipeline._intruder_arrays import (
    persons_by_key,
    persons_by_row,
    picked,
    renamed,
    told_once,
    view_of,
    with_persons,
)
from celosia.pipeline._intruder_attacks import ATTEMPTS, Disguises, External, Found, Means, attack
from celosia.pipeline._intruder_claims import human_part
from celosia.pipeline._intruder_project import candidate_of, project_target
from celosia.pipeline._intruder_target import Attacked, file_target
from celosia.pipeline._open import opened
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import is_project, open_project


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
    attacked, folder = attacked_of(
        target, original, quasi=quasi, sensitive=sensitive, person=person, household=household, report=report,
        reading=reading,
    )  # fmt: skip
    means = replace(_means(attacked, external, on, earlier, control, seed), attempts=attempts)
    seen: Disguises = {}
    after = attack(attacked, means, stage(report, "intruder"), seen)
    before = _before(attacked, means, report, seen) if folder is not None else None
    human, waiting = (None, ()) if folder is None else _human(folder, attacked.digest)
    made = AttackReport(
        target=attacked.digest,
        seed=seed,
        rows=attacked.view.rows,
        persons=attacked.persons,
        estimates=after.estimates,
        findings=after.findings,
        notes=(*_notes(attacked, means, folder is not None and before is None), *waiting),
        quasi=attacked.quasi,
        sensitive=attacked.sensitive,
        before=None if before is None else before.estimates,
        findings_before=() if before is None else before.findings,
        human=human,
    )
    if folder is not None:
        _keep(folder, made, moment(now))
    return made


def _human(folder: Path, digest: str) -> tuple[HumanPart | None, tuple[str, ...]]:
    """The test with a person; claims that wait for the house's answer cannot be counted, and a note says so."""
    try:
        return human_part(folder, digest), ()
    except ClaimsUnjudged:
        return None, (UNJUDGED,)


def _notes(attacked: Attacked, means: Means, no_before: bool) -> tuple[str, ...]:
    """How the report is to be read: what the control is, and what was missing."""
    control = "control_margins" if means.held_out is None else "control_held_out"
    return (*attacked.notes, *(["no_before"] if no_before else []), control)


def attacked_of(
    target: Any,
    original: Any = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    report: Progress = None,
    reading: Mapping[str, Any],
) -> tuple[Attacked, Path | None]:
    """What is attacked and, where it is a project, its folder."""
    refuse_unknown_choices(reading)
    if isinstance(target, str | Path) and is_project(Path(target)):
        _refuse_in_project(original=original, person=person, household=household)
        return project_target(Path(target), quasi, sensitive, report), Path(target)
    made = file_target(
        target, original, quasi=quasi, sensitive=sensitive, person=person, household=household, report=report,
        reading=reading,
    )  # fmt: skip
    return made, None


def _refuse_in_project(**given: Any) -> None:
    """A project knows its original, its persons and its households: celosia.toml says them."""
    for name, value in given.items():
        if value is not None:
            raise ValueOutOfRange(parameter=f"--{name}", given=str(value), allowed="celosia.toml")


def _before(attacked: Attacked, means: Means, report: Progress, seen: Disguises) -> Found | None:
    """The same attacks on the original as it was, as if it had been published."""
    if attacked.truth is None:
        return None
    raw = replace(attacked, view=attacked.truth, truth=None, judge=None, notes=())
    means = replace(means, earlier=means.earlier_original)
    return attack(raw, means, stage(report, "intruder_before"), seen)


# --- what the intruder brings ---------------------------------------------------------------------


def _means(
    attacked: Attacked,
    external: Any,
    on: Mapping[str, str] | Sequence[str] | None,
    earlier: Sequence[Any],
    control: Any,
    seed: int,
) -> Means:
    return Means(
        seed=seed,
        held_out=None if control is None else _held_out(attacked, control),
        external=None if external is None else _external(attacked, external, on),
        earlier=tuple(_earlier(attacked, one) for one in earlier),
        earlier_original=tuple(_earlier(attacked, one, published=False) for one in earlier),
    )


def _held_out(attacked: Attacked, control: Any) -> View:
    """People kept apart, numbered after those of the release."""
    with opened(control, described=False) as found:
        names = [name for name in found.table.names if name in attacked.view.names or name == attacked.person]
        if not set(names) & set(attacked.quasi):
            raise NothingShared(file=found.source.name, names=_wanted(attacked))
        view = view_of(found.table, names)
    own = view.codes[:, view.place(attacked.person)] if attacked.person in names else np.arange(view.rows)
    return with_persons(view, own + _after_all(attacked))


def _after_all(attacked: Attacked) -> int:
    """A number above every person ordinal and every row of the release and its original."""
    views = [view for view in (attacked.view, attacked.truth, attacked.judge) if view is not None]
    tops = [view.rows if view.persons is None else max(int(view.persons.max(initial=-1)) + 1, view.rows)
            for view in views]  # fmt: skip
    return max(tops)


def _external(attacked: Attacked, external: Any, on: Mapping[str, str] | Sequence[str] | None) -> External:
    """The outside list under published names; its person key, where it has one, only judges the claims and says which
    rows are one person's."""
    with opened(external, described=False) as found:
        table = found.table
        pairs = _pairs(attacked, table.names, on)
        key = attacked.person if attacked.person in table.names and attacked.keys else None
        links = {mine: theirs for mine, theirs in pairs.items() if mine != attacked.person}
        if not links:
            raise NothingShared(file=found.source.name, names=_wanted(attacked))
        for mine, theirs in pairs.items():
            _published(attacked, mine)
            table.schema.position(theirs)
        if attacked.person in pairs and attacked.keys:
            key = pairs[str(attacked.person)]
        read = view_of(table, [*links.values(), *([key] if key else [])])
        people = persons_by_key(read, key) if key else persons_by_row(view_of(table, table.names), read.names)
    names = (*links, *([_KEY] if key else []))
    return External(told_once(with_persons(renamed(read, names), people)), tuple(links), _KEY if key else None)


_KEY = "\x00person"


def _published(attacked: Attacked, name: str) -> None:
    if name not in attacked.view.names and name != attacked.person:
        raise UnknownVariable(variable=name, known=", ".join(attacked.view.names))


def _pairs(
    attacked: Attacked, theirs: Sequence[str], on: Mapping[str, str] | Sequence[str] | None
) -> dict[str, str]:  # fmt: skip
    """Published column → column of the list: as asked, else quasi-identifiers of the same name, else all such."""
    if on:
        return dict(on) if isinstance(on, Mapping) else {name: name for name in on}
    shared = [name for name in attacked.view.names if name in theirs and name != attacked.person]
    known = [name for name in shared if name in attacked.quasi]
    return {name: name for name in (known or [one for one in shared if one not in attacked.sensitive])}


def _earlier(attacked: Attacked, source: Any, *, published: bool = True) -> View:
    """Another release: a file, or the candidate of a project; or else the source of that project."""
    project = published and isinstance(source, str | Path) and is_project(Path(source))
    path = candidate_of(Path(source)) if project else source
    with opened(path, described=False) as found:
        if not set(found.table.names) & set(attacked.quasi):
            raise NothingShared(file=found.source.name, names=_wanted(attacked))
        names = [name for name in found.table.names if name in attacked.view.names]
        return picked(view_of(found.table, names), names)


def _wanted(attacked: Attacked) -> str:
    return ", ".join(attacked.quasi or attacked.view.names)


def _keep(folder: Path, made: AttackReport, now: datetime) -> None:
    """The report beside the candidate, and a line in the journal."""
    path = private_folder(folder / "private" / "intruder") / "report.json"
    with replacing(path, PRIVATE_FILE) as draft:
        draft.write_text(json.dumps(made.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    strongest = made.strongest
    facts = {"candidate": made.target, "seed": made.seed, "works": strongest is not None,
             "persons": 0 if strongest is None else strongest.persons}  # fmt: skip
    _journal.append(open_project(folder).journal_path, "intruder", now, facts)
