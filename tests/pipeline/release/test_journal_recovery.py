"""A signature whose process was killed before the journal named it: the next who looks writes the line, once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.author import act_as
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release import make_release as releasing
from celosia.pipeline.release import publish as publishing
from celosia.pipeline.release.errors import AlreadyPublished
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.journal_recovery import recover_journals
from celosia.pipeline.release.make_release import make_release
from celosia.pipeline.release.publish import publish
from celosia.workbench.dossier import dossier_view
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW

DATES = {"consultation": date(2026, 11, 2), "publication_date": date(2026, 11, 20), "update_period": "anual"}
RELEASE = "2026-11-15"


class Killed(BaseException):
    """What stands for a kill: nothing after it is done."""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def made(people, tmp_path_factory) -> Path:
    folder = run_to_approved_candidate(make_project(tmp_path_factory.mktemp("settled") / "egresos", people), people)
    make_release(folder, now=NOW)
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "egresos"))


@pytest.fixture
def killed(monkeypatch) -> Callable[[Callable[[], object]], None]:
    """Do something whose process dies just before it writes into the journal."""

    def die(*_: object, **__: object) -> str:
        raise Killed

    def do(work: Callable[[], object]) -> None:
        with monkeypatch.context() as dead:
            dead.setattr(_journal, "append_entry", die)
            with pytest.raises(Killed):
                work()

    return do


def told(folder: Path, what: str) -> list[tuple[object, object]]:
    found = [one for one in _journal.read_journal(folder / "journal.jsonl").entries if one["what"] == what]
    return [(one["who"], one["facts"]["role"] if what in ("sign", "approve") else "") for one in found]


def sign_all(folder, people) -> None:
    for role, person in people.items():
        releasing.sign_release(folder / "releases" / RELEASE, folder, person, role, now=NOW)


def test_a_release_that_the_journal_does_not_know_never_stands(folder, killed):
    before = sorted(path.name for path in (folder / "releases").iterdir())
    killed(lambda: releasing.make_release(folder, now=NOW))
    assert sorted(path.name for path in (folder / "releases").iterdir() if path.name[0] != ".") == before
    made = releasing.make_release(folder, now=NOW)
    releasing.refuse_foreign_release(open_project(folder), read_release(made.folder))


def test_an_approval_without_its_line_is_told_when_the_server_starts(folder, people, killed):
    before = told(folder, "approve")
    killed(lambda: approve(folder, "plan", people["head"], "head", "otra vez", now=NOW))
    assert told(folder, "approve") == before
    assert recover_journals(folder.parent) == 1
    assert told(folder, "approve") == [*before, ("Ana Rojas", "head")]  # the same thing, approved twice, is told twice
    assert len(told(folder, "approve")) == len(open_project(folder).approvals)
    assert recover_journals(folder.parent) == 0


def test_a_signature_without_its_line_is_told_when_the_dossier_is_opened(folder, people, killed):
    place = folder / "releases" / RELEASE
    killed(lambda: releasing.sign_release(place, folder, people["verifier"], "verifier", now=NOW))
    assert told(folder, "sign") == []
    act_as("Omar Rey", "omar")
    try:
        dossier_view(folder)
    finally:
        act_as("")
    assert told(folder, "sign") == [("Carla Díaz", "verifier")]
    last = _journal.read_journal(folder / "journal.jsonl").entries[-1]
    assert "account" not in last  # whoever looked did not sign
    assert last["when"] == NOW.isoformat(timespec="seconds")


def test_the_last_signature_is_in_the_journal_before_the_release_is_published(folder, people, killed):
    place, (*first, last) = folder / "releases" / RELEASE, people.items()
    for role, person in first:
        releasing.sign_release(place, folder, person, role, now=NOW)
    killed(lambda: releasing.sign_release(place, folder, last[1], last[0], now=NOW))
    publish(folder, RELEASE, people["head"], **DATES, now=NOW)
    assert len(told(folder, "sign")) == 3
    assert _journal.read_journal(folder / "journal.jsonl").entries[-1]["what"] == "publish"


def test_an_approval_that_a_release_carries_is_in_the_journal(folder, people, killed):
    killed(lambda: approve(folder, "plan", people["head"], "head", "otra vez", now=NOW))
    make_release(folder, now=NOW)
    assert len(told(folder, "approve")) == len(open_project(folder).approvals)


def test_a_publication_without_its_line_is_told_once_and_names_who_signed_it(folder, people, killed):
    sign_all(folder, people)
    killed(lambda: publish(folder, RELEASE, people["head"], **DATES, now=NOW))
    assert recover_journals(folder.parent) == 1
    assert recover_journals(folder.parent) == 0
    assert told(folder, "publish") == [("Ana Rojas", "")]


def test_who_tries_to_publish_again_is_not_told_to_have_published(folder, people):
    sign_all(folder, people)
    for name in ("Ana Rojas", "Beto Soto"):
        act_as(name)
        try:
            publish(folder, RELEASE, people["head"], **DATES, now=NOW)
        except AlreadyPublished:
            assert name == "Beto Soto"
        finally:
            act_as("")
    assert told(folder, "publish") == [("Ana Rojas", "")]


def test_a_release_that_came_from_elsewhere_and_a_broken_project_are_left_alone(folder, people, tmp_path):
    sign_all(folder, people)
    strange = tmp_path / "strange"
    shutil.copytree(folder, strange)
    lines = (strange / "journal.jsonl").read_text("utf-8").splitlines()
    kept = next(number for number, line in enumerate(lines) if '"what": "release"' in line)
    (strange / "journal.jsonl").write_text("\n".join(lines[:kept]) + "\n", "utf-8")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "celosia.toml").write_text("[", "utf-8")
    assert recover_journals(tmp_path) == 0
    assert told(strange, "sign") == []
    release = releasing.read_release(folder / "releases" / RELEASE)
    assert publishing.publication_acts(open_project(folder), release, NOW) == []
