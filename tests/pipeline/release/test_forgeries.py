"""What somebody with write access to the project folder tries: nothing of it may be released, signed or verified."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from celosia.model.verdict import State
from celosia.pipeline.candidate.approvals import digest_for, signature_over
from celosia.pipeline.candidate.errors import CandidateChanged
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.errors import ReleaseDamaged, RulesFail
from celosia.pipeline.release.folder import added_text, listed_files, manifest_text, read_release
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.verify import verify_release
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW

DATES = {"consultation": date(2026, 11, 2), "publication_date": date(2026, 11, 20), "update_period": "anual"}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def ready(people, tmp_path_factory) -> Path:
    return run_to_approved_candidate(make_project(tmp_path_factory.mktemp("ready") / "egresos", people), people)


@pytest.fixture
def folder(ready, tmp_path) -> Path:
    return Path(shutil.copytree(ready, tmp_path / "egresos"))


def forged(folder: Path, signers, **changes) -> Path:
    """A release whose manifest was written by hand and signed with the right keys."""
    release = make_release(folder, formats=("csv", "parquet"), now=NOW).folder
    for add in changes.pop("adding", ()):
        add(release)
    for name in changes.pop("removing", ()):
        (release / name).unlink()
    made = replace(read_release(release).manifest, files=listed_files(release), **changes)
    (release / "manifest.json").write_text(manifest_text(made), "utf-8")
    for role, person in signers.items():
        signature = signature_over(open_project(folder), made.digest, person, role, "", NOW)
        (release / "signatures" / f"{role}-1.json").write_text(added_text(signature.as_dict()), "utf-8")
    return release


def findings(release: Path) -> dict[str, State]:
    return {one.id: one.state for one in verify_release(release).findings}


def test_a_release_that_nobody_made_here_is_neither_signed_nor_published(folder, people):
    release = forged(folder, people, about={"title": "otro"})
    with pytest.raises(ReleaseDamaged, match="celosia release"):
        sign_release(release, folder, people["head"], "head", now=NOW)
    with pytest.raises(ReleaseDamaged):
        publish(folder, release, people["head"], **DATES, now=NOW)


def test_a_file_that_no_release_holds_is_found_even_where_the_manifest_lists_it(folder, people):
    hide = [lambda release: shutil.copy(folder / "private" / "working.parquet", release / "dossier" / "original.csv")]
    release = forged(folder, people, adding=hide)
    assert findings(release)["files"] is State.FAILS


def test_another_format_must_hold_the_very_table_that_was_measured(folder, people):
    release = make_release(folder, formats=("csv", "parquet"), now=NOW).folder
    assert findings(release)["formats"] is State.HOLDS
    swap = [lambda target: shutil.copy(folder / "private" / "working.parquet", target / "data.parquet")]
    assert findings(forged(folder, people, adding=swap))["formats"] is not State.HOLDS


def test_another_format_that_was_damaged_is_told_and_not_opened(folder):
    release = make_release(folder, formats=("csv", "parquet"), now=NOW).folder
    body = bytearray((release / "data.parquet").read_bytes())
    body[len(body) // 2] ^= 64  # a reader may end in a fault of its own, or take the whole process along
    (release / "data.parquet").write_bytes(bytes(body))
    told = {one.id: (one.state, one.detail) for one in verify_release(release).findings}
    assert told["formats"] == (State.FAILS, ("data.parquet",))
    assert told["files"][0] is State.FAILS


def test_the_roles_that_were_judged_are_those_of_the_public_dictionary(folder, people):
    policy = {**read_release(make_release(folder, now=NOW).folder).manifest.policy, "quasi": ["SEXO"]}
    assert findings(forged(folder, people, policy=policy))["dictionary"] is State.FAILS


def test_in_a_release_older_than_the_roster_one_key_under_two_names_is_nobodys(folder, people):
    known = tuple({"name": p.name, "roles": [role], "key": p.key} for role, p in people.items())
    release = forged(folder, people, people=known, forms=None, removing=("roster.jsonl",))
    assert verify_release(release).answer == "unknown"  # never known: it says by itself who its people are
    assert verify_release(release, {p.key: p.name for p in people.values()}).answer == "unknown"
    twice = tuple(
        {**person, "key": people["executor"].key} if "head" in person["roles"] else person for person in known
    )
    assert findings(forged(folder, people, people=twice, forms=None))["signatures"] is State.FAILS


def test_an_approval_that_is_gone_is_missed(folder, people):
    held = read_release(make_release(folder, now=NOW).folder).manifest.approvals
    release = forged(folder, people, approvals=tuple(one for one in held if one["what"] != "plan"))
    assert not verify_release(release).holds


@pytest.mark.parametrize("figure", ["k", "k_persons", "rows"])
def test_a_verdict_touched_by_hand_stops_the_release(folder, figure):
    path = folder / "private" / "candidate" / "verdict.json"
    verdict = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**verdict, figure: 77}), "utf-8")
    with pytest.raises(CandidateChanged):
        make_release(folder, now=NOW)


def test_an_order_of_persons_that_the_run_did_not_leave_stops_the_release(folder):
    path = folder / "private" / "candidate" / "order.parquet"
    order = pq.read_table(path)
    pq.write_table(order.take(list(range(order.num_rows))[::-1]), path)
    with pytest.raises(CandidateChanged):
        make_release(folder, now=NOW)


@pytest.mark.requirement("M31")
def test_who_ran_the_plan_after_verifying_it_is_no_second_person(folder, people):
    runs = [one for one in _journal.read_journal(folder / "journal.jsonl").entries if one["what"] == "run"]
    _journal.append_entry(folder / "journal.jsonl", "run", NOW, runs[-1]["facts"], who=people["verifier"].name)
    with pytest.raises(RulesFail):
        make_release(folder, now=NOW)


def test_a_dictionary_is_approved_for_one_source(folder):
    before = digest_for(open_project(folder), "dictionary")
    path = folder / "celosia.toml"
    digest = next(line for line in path.read_text("utf-8").splitlines() if line.startswith("digest = "))
    path.write_text(path.read_text("utf-8").replace(digest, f'digest = "sha256:{"0" * 64}"'), "utf-8")
    assert digest_for(open_project(folder), "dictionary") != before


def test_nothing_hides_in_a_publication_entry(folder, people):
    release = make_release(folder, now=NOW).folder
    for role, person in people.items():
        sign_release(release, folder, person, role, now=NOW)
    publish(folder, release, people["head"], **DATES, now=NOW)
    path = release / "publication.json"
    written = path.read_text("utf-8")
    for hidden in ('{\n  "note": "x",', '{\n  "release": "x",', " {"):
        text = written.replace("{", hidden, 1)
        path.write_text(text, "utf-8")
        with pytest.raises(ReleaseDamaged):
            verify_release(release)
    path.write_bytes(written.encode("utf-8").replace(b"\n", b"\r\n"))
    with pytest.raises(ReleaseDamaged):
        verify_release(release)
