"""A process killed at any moment of `run` or `release` leaves the old state or the new one; nobody has to clean up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.journal import read_journal
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.make_release import make_release, refuse_foreign_release
from celosia.pipeline.release.verify import verify_release
from tests.pipeline.killed_process import KILLED
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a killed process is told by its exit code")
SCRIPT = Path(__file__).with_name("killed_process.py")


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A project with an old release, ready for the next one."""
    people = make_keys(tmp_path_factory.mktemp("keys"))
    folder = run_to_approved_candidate(
        make_project(tmp_path_factory.mktemp("walk") / "egresos", people, rows=300), people
    )
    make_release(folder, now=NOW)
    return folder


def killed(verb: str, project: Path, scratch: Path, first: int, step: int) -> Iterator[dict]:
    command = [sys.executable, str(SCRIPT), verb, str(project), str(scratch), str(first), str(step)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert lines[-1]["code"] == 0, ended.stderr
    assert all(line["code"] == KILLED for line in lines[:-1])
    yield from lines


def releases(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "releases").iterdir() if not path.name.startswith("."))


def assert_whole(folder: Path) -> None:
    """Every release that can be seen is complete, file by file."""
    for one in releases(folder):
        held = read_release(one)
        assert (held.changed, held.added, held.removed) == ((), (), ())
        refuse_foreign_release(open_project(folder), held)  # the journal knows it: it can be signed
    read_journal(folder / "journal.jsonl")


def check_release(line: dict) -> None:
    left, after = Path(line["left"]), Path(line["folder"])
    assert_whole(left)
    assert len(releases(left)) in (1, 2)
    assert line["again"] == 0  # the next one goes on without any help
    assert_whole(after)
    assert len(releases(after)) == len(releases(left)) + 1
    assert not [path for path in (after / "releases").iterdir() if path.name.startswith(".")]
    shutil.rmtree(left)
    shutil.rmtree(after)


def check_run(line: dict, digest: str) -> None:
    left, after = Path(line["left"]), Path(line["folder"])
    assert_whole(left)
    candidate = left / "private" / "candidate"
    if candidate.exists():
        assert {path.name for path in candidate.iterdir()} >= {"data.csv", "verdict.json", "order.parquet"}
        assert json.loads((candidate / "verdict.json").read_text("utf-8"))["digest"] == digest
    assert line["again"] == 0
    assert json.loads((after / "private/candidate/verdict.json").read_text("utf-8"))["digest"] == digest
    left_over = (".", "celosia-")  # drafts, and what an engine spilled
    assert not [path for path in (after / "private").iterdir() if path.name.startswith(left_over) and path.is_dir()]
    assert not {"again.parquet", "persons.parquet", "spill"} & {path.name for path in (after / "private").rglob("*")}
    shutil.rmtree(left)
    shutil.rmtree(after)


def test_a_release_killed_here_and_there_is_there_whole_or_not_at_all(project, tmp_path):
    lines = list(killed("release", project, tmp_path, 20, 60))
    assert len(lines) > 2
    for line in lines:
        check_release(line)


@pytest.mark.slow
def test_a_release_killed_at_many_points_is_there_whole_or_not_at_all(project, tmp_path):
    for line in killed("release", project, tmp_path, 1, 4):
        check_release(line)


@pytest.mark.slow
def test_a_run_killed_at_many_points_leaves_a_whole_candidate_or_none(project, tmp_path):
    digest = json.loads((project / "private/candidate/verdict.json").read_text("utf-8"))["digest"]
    for line in killed("run", project, tmp_path, 1, 4):
        check_run(line, digest)


def test_the_old_release_is_never_touched_by_the_next_one(project, tmp_path):
    folder = Path(shutil.copytree(project, tmp_path / "egresos"))
    old = folder / "releases" / "2026-11-15"
    before = {path: (path.read_bytes(), path.stat().st_mtime) for path in old.rglob("*") if path.is_file()}
    make_release(folder, now=NOW)
    assert {path: (path.read_bytes(), path.stat().st_mtime) for path in old.rglob("*") if path.is_file()} == before
    assert not verify_release(old).holds  # nobody signed it
