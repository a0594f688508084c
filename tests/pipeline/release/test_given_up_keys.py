"""A key that was given up signs nothing more, whatever moment its holder writes into a signature."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from celosia.model.people import Approval
from celosia.model.verdict import State
from celosia.pipeline.candidate.approvals import approval_states
from celosia.pipeline.project.files import approval_line
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.journal import read_journal
from celosia.pipeline.project.roster_edits import revoke_person
from celosia.pipeline.release.errors import ReleaseDamaged
from celosia.pipeline.release.folder import added_text, read_release
from celosia.pipeline.release.journal_recovery import recover_journal
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.published import DATES
from tests.projects.steps import NOW

HOUR = timedelta(hours=1)
LATER = NOW + 2 * HOUR


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def ready(people, tmp_path_factory) -> Path:
    return run_to_approved_candidate(make_project(tmp_path_factory.mktemp("given") / "egresos", people), people)


@pytest.fixture
def folder(ready, tmp_path) -> Path:
    return Path(shutil.copytree(ready, tmp_path / "egresos"))


def signed_again(approval: Approval, signer) -> Approval:
    return replace(approval, signature=signer.sign(approval.signed_part()))


def write_signature(release: Path, folder: Path, signer, role: str, when: datetime) -> None:
    """A signature as its holder can write it with any program: over the true manifest, of a moment of their choice."""
    digest, heads = read_release(release).manifest.digest, open_project(folder).journal.digests
    draft = Approval("release", digest, role, signer.name, signer.key, when.isoformat(), journal=heads[0])
    text = added_text(signed_again(draft, signer).as_dict())
    (release / "signatures" / f"{role}-1.json").write_text(text, "utf-8", newline="\n")


def sign_others(release: Path, folder: Path, people, now: datetime) -> None:
    for role in ("head", "executor"):
        sign_release(release, folder, people[role], role, now=now)


def signatures(release: Path) -> State:
    return next(one for one in verify_release(release, now=LATER).findings if one.id == "signatures").state


def test_a_release_that_carries_a_revocation_takes_no_signature_of_that_person_however_old(folder, people, tmp_path):
    revoke_person(folder, people["verifier"].name, people["head"], now=NOW + HOUR)
    release = make_release(folder, now=LATER).folder
    sign_others(release, folder, people, LATER)
    write_signature(release, folder, people["verifier"], "verifier", NOW)
    alone = Path(shutil.copytree(release, tmp_path / "alone"))
    assert (signatures(release), signatures(alone)) == (State.FAILS, State.FAILS)
    assert not verify_release(alone, now=LATER).holds


def test_a_signature_under_an_older_release_counts_only_if_the_journal_tells_of_it_before(folder, people):
    release = make_release(folder, now=NOW).folder
    sign_others(release, folder, people, NOW)
    revoke_person(folder, people["verifier"].name, people["head"], now=NOW + HOUR)
    write_signature(release, folder, people["verifier"], "verifier", NOW)
    assert recover_journal(folder, now=LATER) == 0  # nothing that should have been there before
    assert signatures(release) is State.FAILS
    with pytest.raises(ReleaseDamaged, match="clave"):
        publish(folder, release, people["head"], **DATES, now=LATER)
    assert not status(folder, now=LATER).done


def test_cutting_the_journal_before_the_revocation_does_not_help(folder, people):
    release = make_release(folder, now=NOW).folder
    sign_others(release, folder, people, NOW)
    revoke_person(folder, people["verifier"].name, people["head"], now=NOW + HOUR)
    write_signature(release, folder, people["verifier"], "verifier", NOW)
    journal = folder / "journal.jsonl"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    assert json.loads(lines[-1])["what"] == "roster"
    journal.write_text("".join(lines[:-1]), "utf-8", newline="\n")
    recover_journal(folder, now=LATER)
    assert signatures(release) is State.FAILS


def test_who_signed_before_their_key_was_given_up_signed(folder, people):
    release = make_release(folder, now=NOW).folder
    for role in ("head", "executor", "verifier"):
        sign_release(release, folder, people[role], role, now=NOW)
    revoke_person(folder, people["verifier"].name, people["head"], now=NOW + HOUR)
    assert verify_release(release, now=LATER).holds


def test_an_approval_that_the_journal_does_not_tell_of_before_the_revocation_does_not_count(folder, people):
    given = next(approval for approval in open_project(folder).approvals if approval.role == "verifier")
    revoke_person(folder, people["verifier"].name, people["head"], now=NOW + HOUR)
    assert {state for _, state in approval_states(open_project(folder))} == {"valid"}
    late = signed_again(replace(given, digest="sha256:" + "0" * 64), people["verifier"])
    path = folder / "approvals.jsonl"
    path.write_bytes(path.read_bytes() + approval_line(late) + b"\n")
    before = len(read_journal(folder / "journal.jsonl").entries)
    recover_journal(folder, now=LATER)
    assert len(read_journal(folder / "journal.jsonl").entries) == before
    *_, (_, state) = approval_states(open_project(folder))
    assert state == "date"
