"""Nothing of a release or of its project changes after the signatures without being noticed: every change, one by one.

A machine makes each change alone. `verify` answers for the release, in its project or alone; `status` for the project.
What they are made of is asked first, which takes milliseconds; of each file one change goes through the whole command.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from celosia.errors import CelosiaError
from celosia.model.paths import ProjectPaths
from celosia.model.verdict import State
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.forms import changed_forms
from celosia.pipeline.release.project_state import changed_since
from celosia.pipeline.release.publication_entry import wrong_parts
from celosia.pipeline.release.signers import (
    approvals_finding,
    dates_finding,
    roster_finding,
    signatures_finding,
    valid_signatures,
)
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from tests.pipeline.release.changes import changes_of
from tests.projects.published import RELEASE, ROLES, publish_survey
from tests.projects.steps import NOW

pytestmark = pytest.mark.slow
CHAINED = ("journal.jsonl", "roster.jsonl", "approvals.jsonl")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return publish_survey(tmp_path_factory.mktemp("changed"))[0]


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "p"))


def unnoticed(root: Path, files: list[Path], notices: Callable[[Path], bool], whole: Callable[[], bool]) -> list[str]:
    """The changes that nobody notices; of each file one is put to the whole command."""
    missed = []
    for path in files:
        content = path.read_bytes()
        for number, (label, changed) in enumerate(changes_of(path)):
            if changed == content:
                continue
            _put(path, changed)
            if not notices(path) or (number == 1 and not whole()):
                missed.append(f"{path.relative_to(root)}: {label}")
            _put(path, content)
    return missed


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def integrity_fails(folder: Path) -> bool:
    """What `verify` asks of a release before it measures the data."""
    try:
        release = read_release(folder)
        valid = valid_signatures(release)
        findings = [roster_finding(release, valid), signatures_finding(release, valid), approvals_finding(release)]
        findings.append(dates_finding(release, valid, NOW))
        entry = release.publication
        wrong = wrong_parts(entry, release) if entry is not None else ()
    except CelosiaError:
        return True
    signed = {signature.role for signature in valid} >= set(ROLES)
    return bool(release.differences or wrong or not signed or any(f.state is State.FAILS for f in findings))


def verify_fails(folder: Path) -> bool:
    try:
        return not verify_release(folder, now=NOW).holds
    except CelosiaError:
        return True


def test_no_change_of_a_release_that_stands_alone_goes_unnoticed(folder, tmp_path):
    alone = Path(shutil.copytree(folder / "releases" / RELEASE, tmp_path / "alone"))
    assert not integrity_fails(alone)
    assert not verify_fails(alone)
    files = [path for path in files_below(alone) if path.name != "publication.json"]
    missed = unnoticed(alone, files, lambda _: integrity_fails(alone), lambda: verify_fails(alone))
    assert missed == []


def test_no_change_of_a_publication_entry_goes_unnoticed_and_inside_its_project_it_is_missed(folder, tmp_path):
    alone = Path(shutil.copytree(folder / "releases" / RELEASE, tmp_path / "alone"))
    entry = alone / "publication.json"
    missed = unnoticed(alone, [entry], lambda _: integrity_fails(alone), lambda: verify_fails(alone))
    assert missed == ["publication.json: taken away"]  # a folder that is not published yet looks the same
    (folder / "releases" / RELEASE / "publication.json").unlink()
    assert not status(folder, now=NOW).done


def test_no_change_of_a_form_goes_unnoticed(folder):
    home, release = ProjectPaths(folder).forms / RELEASE, folder / "releases" / RELEASE
    manifest = read_release(release).manifest
    missed = unnoticed(
        home, files_below(home), lambda _: bool(changed_forms(home, manifest)), lambda: verify_fails(release)
    )
    assert missed == []


def covered(folder: Path) -> Iterator[Path]:
    """The files of a project that its list names."""
    listed = (ProjectPaths(folder).forms / RELEASE / "project.sha256").read_text("utf-8").splitlines()
    yield from (folder / line.partition("  ")[2] for line in listed)


def status_tells(folder: Path) -> bool:
    """Whether `status` says anything but that all is done."""
    report = status(folder, now=NOW)
    return bool(not report.done or report.problems or report.warnings)


def test_no_change_of_a_file_that_the_release_was_made_from_goes_unnoticed(folder):
    paths = ProjectPaths(folder)
    forms = paths.forms / RELEASE
    assert not status_tells(folder)
    assert {"celosia.toml", "request.toml", "dictionary.csv", "plan.json", "claims.csv"} <= {
        path.name for path in covered(folder)
    }
    missed = unnoticed(
        folder,
        [path for path in covered(folder) if path.name not in CHAINED],
        lambda _: bool(changed_since(paths, forms)),
        lambda: status_tells(folder),
    )
    assert missed == []


def test_no_change_of_a_signed_chain_goes_unnoticed(folder):
    """The journal, the roster and the approvals, each of which may only grow."""
    files = [folder / name for name in CHAINED]
    missed = unnoticed(folder, files, lambda _: status_tells(folder), lambda: status_tells(folder))
    assert missed == []


def test_whatever_is_added_to_a_project_is_named_where_a_release_would_be_made_from_it(folder):
    (folder / "hierarchies").mkdir(exist_ok=True)
    (folder / "hierarchies" / "ZONA.csv").write_text("norte;*\nsur;*\n", "utf-8")
    [words] = status(folder, now=NOW).warnings
    assert "hierarchies/ZONA.csv" in words
    assert open_project(folder).config.name == "p"
