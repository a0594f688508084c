"""What may and may not lie in the repository: locks with hashes, no index address, nothing that is not ours."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from pathlib import Path

import pytest

import celosia
from tests.architecture.source_files import REPOSITORY, repository_files

LOCKS = sorted((REPOSITORY / "requirements").glob("*.lock"))
# Put together here, so that this file does not hold what it looks for.
ADDRESSES = re.compile(
    "|".join(
        [
            r"--(extra-)?index" + "-url",
            r"--find" + "-links",
            "pypi" + r"\.org",
            "python" + "hosted",
            "npm" + r"js\.(org|com)",
            "deb" + r"\.debian",
            "file://" + "/opt",
            r"//[\w.-]+/(simple|repository/pypi)\b",
        ]
    )
)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def test_no_file_names_a_registry_host_or_index_address() -> None:
    assert [str(path.relative_to(REPOSITORY)) for path in repository_files() if ADDRESSES.search(_text(path))] == []


@pytest.mark.parametrize("address", ["--index" + "-url x", "https://pypi" + ".org/p", "https://a.b/" + "simple"])
def test_a_planted_index_address_is_found(address: str) -> None:
    assert ADDRESSES.search(address)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_pin_of_a_lock_is_exact_and_hashed(lock: Path) -> None:
    pins = re.split(r"\n(?=[A-Za-z0-9])", "\n" + _text(lock).strip())
    pins = [pin for pin in pins if pin.strip() and not pin.lstrip().startswith("#")]
    assert pins
    assert [pin.split()[0] for pin in pins if "==" not in pin.split("\n")[0] or "--hash=sha256:" not in pin] == []


def _pinned_names(name: str) -> set[str]:
    text = _text(REPOSITORY / "requirements" / name)
    return {_canonical(name) for name in re.findall(r"^([A-Za-z0-9._-]+)==", text, flags=re.M)}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _required_names(requirements: list[str]) -> set[str]:
    return {_canonical(re.split(r"[\[<>=!~; ]", line)[0]) for line in requirements}


def _project() -> dict[str, object]:
    return tomllib.loads(_text(REPOSITORY / "pyproject.toml"))["project"]


def test_the_core_lock_holds_every_dependency_and_no_extra() -> None:
    project = _project()
    pinned = _pinned_names("core.lock")
    assert _required_names(project["dependencies"]) <= pinned
    assert pinned & {"pyspark", "fastexcel", "pyreadstat", "pytest"} == set()


def test_the_test_lock_holds_core_and_extras() -> None:
    extras = [line for lines in _project()["optional-dependencies"].values() for line in lines]
    # A part that joins others names celosia itself.
    assert _required_names(extras) - {"celosia"} | _pinned_names("core.lock") <= _pinned_names("test.lock")


def test_locks_agree_with_each_other() -> None:
    pattern = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", flags=re.M)
    core = set(pattern.findall(_text(REPOSITORY / "requirements" / "core.lock")))
    test = set(pattern.findall(_text(REPOSITORY / "requirements" / "test.lock")))
    assert core <= test


def test_no_file_of_the_shared_folder_is_kept_here(shared: Path) -> None:
    theirs = {_digest(Path(root) / name) for root, _, names in os.walk(shared) for name in names}
    ours = {path: _digest(path) for path in repository_files() if path.stat().st_size > 0}
    assert [str(path) for path, digest in ours.items() if digest in theirs] == []


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_no_large_file_is_kept() -> None:
    assert [str(path) for path in repository_files() if path.stat().st_size > 2_000_000] == []


def test_the_changelog_opens_with_the_version_being_made() -> None:
    version = celosia.__version__
    top = re.search(r"^## \[?(\d+\.\d+\.\d+)\]? [-–—] (.+)$", _text(REPOSITORY / "CHANGELOG.md"), flags=re.M)
    assert top, "the changelog has no entry of the form «## 0.1.0 - unreleased»"
    assert top[1] == re.sub(r"\.?(dev|a|b|rc)\d+$", "", version)
    assert (top[2] == "unreleased") == (top[1] != version)


def test_the_changelog_flags_figures_that_move() -> None:
    sections = set(re.findall(r"^### (.+)$", _text(REPOSITORY / "CHANGELOG.md"), flags=re.M))
    assert sections <= {"Added", "Changed", "Results change", "Fixed", "Removed", "Security", "Deprecated"}


@pytest.mark.parametrize("name", ["README.md", "README.es.md"])
def test_the_readme_gives_the_two_commands_and_the_licence(name: str) -> None:
    text = _text(REPOSITORY / name)
    assert "make demo" in text
    assert "make test" in text
    assert "Apache" in text


def test_every_make_target_the_readme_names_exists() -> None:
    makefile = _text(REPOSITORY / "Makefile")
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    spoken = re.compile(r"(?:`|\$ )make (?:[A-Z]+=\S+ )?([a-z][a-z-]*)")
    named = {target for page in pages for target in spoken.findall(_text(page))}
    assert {"demo", "test"} <= named
    assert [target for target in named if not re.search(rf"^{target}:", makefile, flags=re.M)] == []
