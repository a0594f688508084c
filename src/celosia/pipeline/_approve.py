"""Approvals: a person's signature over the digest of one thing; it dies when one byte of that thing changes.

`approvals.jsonl` holds one approval a line. Which of them count is asked anew each time, from the files as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.data.files import writing_into
from celosia.errors import (
    ApprovalFileDamaged,
    NothingToApprove,
    RoleNotHeld,
    SamePerson,
    ValueOutOfRange,
)
from celosia.model.people import APPROVAL_FORMAT, ROLES, SUBJECTS, Approval, approval_from
from celosia.model.plan import digest_of
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._identity import Identity, is_signed
from celosia.pipeline._people import person_with, read_people
from celosia.pipeline._plan import dictionary_digest, read_plan
from celosia.pipeline._project import open_project

_NOTHING: Mapping[str, Any] = {}


def approve(
    folder: Place,
    what: str,
    identity: Identity,
    role: str,
    note: str = "",
    *,
    figures: Mapping[str, Any] = _NOTHING,
    now: datetime | None = None,
) -> Approval:
    """Sign the present digest of something in one's own role."""
    project = open_project(folder)
    if what not in SUBJECTS or what == "release":
        raise ValueOutOfRange(parameter="what", given=what, allowed=", ".join(s for s in SUBJECTS if s != "release"))
    digest = digest_for(project.folder, what, figures)
    made = _signed(project.folder, what, digest, identity, role, note, figures, moment(now))
    _refuse_own_work(project.folder, made)
    with writing_into(project.folder), (project.folder / "approvals.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(made.as_dict(), ensure_ascii=False, sort_keys=True) + "\n")
        file.flush()
        os.fsync(file.fileno())
    facts = {"what": what, "digest": digest, "role": role}
    _journal.append(project.journal_path, "approve", moment(now), facts, who=made.name, why=note)
    return made


def signature_over(folder: Place, digest: str, identity: Identity, role: str, note: str, now: datetime) -> Approval:
    """A signature over a release's manifest, by a person of the project that made it."""
    return _signed(Path(folder), "release", digest, identity, role, note, _NOTHING, now)


def digest_for(folder: Place, what: str, figures: Mapping[str, Any] = _NOTHING) -> str:
    """The digest of what an approval would cover now."""
    project = open_project(folder)
    if what == "dictionary":
        return dictionary_digest(project)
    if what == "plan":
        return read_plan(project.folder).digest
    if what == "residual":
        return digest_of({"dictionary": dictionary_digest(project), "figures": dict(figures)})
    verdict = project.folder / "private" / "candidate" / "verdict.json"
    try:
        return str(json.loads(verdict.read_text("utf-8"))["digest"])
    except (OSError, ValueError, KeyError):
        raise NothingToApprove(what=what) from None


def all_approvals(folder: Place) -> tuple[Approval, ...]:
    """Every line of approvals.jsonl, valid or not."""
    path = Path(folder) / "approvals.jsonl"
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines() if path.is_file() else (), start=1):
        try:
            document = json.loads(line)
            if document["format"] != APPROVAL_FORMAT:
                raise KeyError
            found.append(approval_from(document))
        except (ValueError, KeyError, TypeError):
            raise ApprovalFileDamaged(path=str(path), line=number) from None
    return tuple(found)


def valid_approvals(folder: Place, what: str) -> tuple[Approval, ...]:
    """The approvals that count now: rightly signed, by somebody who holds the role, over what stands there."""
    people = {person.key: person for person in read_people(folder)}
    return tuple(
        one
        for one in all_approvals(folder)
        if one.what == what
        and is_signed(one.signed_part(), one.signature, one.key)
        and one.key in people
        and people[one.key].name == one.name
        and one.role in people[one.key].roles
        and one.digest == _present_digest(folder, one)
    )


def _present_digest(folder: Place, one: Approval) -> str | None:
    try:
        return digest_for(folder, one.what, one.figures)
    except NothingToApprove:
        return None


def _signed(
    folder: Path, what: str, digest: str, identity: Identity, role: str, note: str, figures: Mapping[str, Any],
    now: datetime,
) -> Approval:  # fmt: skip
    if role not in ROLES:
        raise ValueOutOfRange(parameter="role", given=role, allowed=", ".join(ROLES))
    person = person_with(folder, identity.key)
    if role not in person.roles:
        raise RoleNotHeld(name=person.name, role=role)
    when = now.isoformat(timespec="seconds")
    draft = Approval(what, digest, role, person.name, person.key, when, note, dict(figures))
    return Approval(
        **{**{n: getattr(draft, n) for n in Approval.__slots__}, "signature": identity.sign(draft.signed_part())}
    )


def _refuse_own_work(folder: Path, made: Approval) -> None:
    """Who executed does not verify, whatever roles were written since (M31)."""
    other = {"verifier": "executor", "executor": "verifier"}.get(made.role)
    for one in all_approvals(folder):
        if one.role == other and (one.key == made.key or one.name.casefold() == made.name.casefold()):
            raise SamePerson(name=made.name)
