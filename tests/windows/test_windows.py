"""celosia under a CPython for Windows: the demonstration, a whole walk, the page, and the releases of both systems.

`make test-windows` sets it up under Wine and makes the walks; what is marked `long`, the demonstration and the page, is
left to `make test-windows-long`. What Wine cannot show is listed in docs/*/install.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from examples.minsal.walk import PEOPLE, PROJECT
from tests.folder_listing import files_under
from tests.servers import skip_loudly
from tests.windows.windows_python import PYTHON, REPOSITORY, on_windows, windows_path

# Two walks are the set-up of the first test, and one of them is under Wine.
pytestmark = [pytest.mark.windows, pytest.mark.slow, pytest.mark.timeout(1800)]

# A folder as people name them: a space, an accent and a sign that no code page of Windows has.
FOLDER = "Egresos año 2024 ≥ mínimo"
# Tests of what the systems do differently; here they were given Linux's answers, there Windows gives its own.
ON_BOTH = ("tests/test_system.py", "tests/test_storage.py", "tests/test_paths.py", "tests/windows/windows_cases.py")
# Logarithms and powers differ between C libraries in the last digit of a double; no release holds it.
ATTACKS = "private/intruder/report.json"
# New in every walk: keys, who signed with which, and when.
EVERY_TIME_ANEW = (
    "*.key", "*.pub.json", "people.toml", "*.jsonl", "signatures/*", "publication.json", "manifest.json",
    ATTACKS, "private/dossier/*", "private/forms/*/*", "private/approved/*", "private/reports/*",
)  # fmt: skip


@dataclass(frozen=True)
class Walks:
    """The folder of the MINSAL walk on each system."""

    linux: Path
    windows: Path


@pytest.fixture(scope="module", autouse=True)
def _windows_is_there() -> None:
    if not PYTHON.exists():
        skip_loudly("needs Wine: `make test-windows` installs it where apt and root are there")


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Walks:
    """The same walk on both systems."""
    home = tmp_path_factory.mktemp("walks")
    linux, windows = home / "linux" / FOLDER, home / "windows" / FOLDER
    # The descriptions of a dictionary are in the language of whoever makes the project.
    environment = {**os.environ, "CELOSIA_LANG": "es"}
    words = [sys.executable, "-m", "examples.minsal.walk", str(linux)]
    here = subprocess.run(words, cwd=REPOSITORY, env=environment, capture_output=True, check=False)
    assert here.returncode == 0, here.stdout.decode()[-3000:] + here.stderr.decode()[-3000:]
    there = on_windows("-m", "examples.minsal.walk", windows_path(windows), folder=home, CELOSIA_LANG="es")
    assert there.returncode == 0, there.stdout[-3000:]
    return Walks(linux, windows)


def _release(walk: Path) -> Path:
    (release,) = (walk / PROJECT / "releases").iterdir()
    return release


def _cards(walk: Path) -> list[Path]:
    return [walk / "llaves" / f"{key}.pub.json" for key, *_ in PEOPLE]


def test_what_the_systems_do_differently_is_right_on_windows(tmp_path: Path) -> None:
    words = ("-o", "timeout_method=thread", "-p", "no:cacheprovider", "-q", "-rs")
    tests = [windows_path(REPOSITORY / path) for path in ON_BOTH]
    done = on_windows("-m", "pytest", *words, *tests, folder=tmp_path)
    assert done.returncode == 0, done.stdout[-5000:]
    assert " skipped" not in done.stdout


@pytest.mark.long
def test_the_demonstration_reaches_its_end_on_windows(tmp_path: Path) -> None:
    words = ("-m", "celosia", "demo", "--rows", "5000", "--into", windows_path(tmp_path / FOLDER))
    done = on_windows(*words, folder=tmp_path, CELOSIA_LANG="es")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Listo." in done.stdout.splitlines()[-1]
    assert list(tmp_path.rglob("candidate/data.csv"))
    assert not list(tmp_path.rglob(".celosia-*"))


def test_both_systems_write_the_same_bytes(walks: Walks) -> None:
    names = {path.relative_to(walks.linux) for path in files_under(walks.linux)}
    assert {path.relative_to(walks.windows) for path in files_under(walks.windows)} == names
    same = [name for name in names if not any(name.match(pattern) for pattern in EVERY_TIME_ANEW)]
    differing = [str(name) for name in same if (walks.linux / name).read_bytes() != (walks.windows / name).read_bytes()]
    assert differing == []
    assert {"data.csv", "plan.json", "dictionary.csv", "working.parquet"} <= {name.name for name in same}


def test_the_attacks_find_the_same_to_the_last_digits(walks: Walks) -> None:
    linux, windows = (_figures((walk / PROJECT / ATTACKS).read_text("utf-8")) for walk in (walks.linux, walks.windows))
    assert linux.keys() == windows.keys()
    assert linux == pytest.approx(windows, rel=1e-12)


def _figures(text: str) -> dict[str, object]:
    """Each leaf of a JSON file by its place in it."""

    def leaves(value: Any, place: str) -> Iterator[tuple[str, object]]:
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
        if inside is None:
            yield place, value
        for key, part in inside or ():
            yield from leaves(part, f"{place}/{key}")

    return dict(leaves(json.loads(text), ""))


def test_no_line_of_a_release_ends_as_windows_ends_them(walks: Walks) -> None:
    texts = [path for path in files_under(_release(walks.windows)) if path.suffix in (".json", ".csv", ".html")]
    assert texts
    assert [path.name for path in texts if b"\r\n" in path.read_bytes()] == []


def test_each_system_verifies_the_release_of_the_other(walks: Walks) -> None:
    cards = [word for card in _cards(walks.windows) for word in ("--card", str(card))]
    words = [sys.executable, "-m", "celosia", "verify", str(_release(walks.windows)), *cards]
    here = subprocess.run(words, capture_output=True, check=False)
    assert here.returncode == 0, here.stdout.decode()
    cards = [word for card in _cards(walks.linux) for word in ("--card", windows_path(card))]
    there = on_windows("-m", "celosia", "verify", windows_path(_release(walks.linux)), *cards, folder=walks.linux)
    assert there.returncode == 0, there.stdout


def test_a_changed_release_is_refused_on_windows(walks: Walks) -> None:
    data = _release(walks.windows) / "data.csv"
    whole = data.read_bytes()
    try:
        data.write_bytes(whole.replace(b"\n", b"\r\n"))
        words = ("-m", "celosia", "verify", windows_path(_release(walks.windows)))
        assert on_windows(*words, folder=walks.windows).returncode == 1
    finally:
        data.write_bytes(whole)


@pytest.mark.long
def test_the_page_answers_on_windows(walks: Walks) -> None:
    script = windows_path(REPOSITORY / "tests" / "windows" / "serve_once.py")
    done = on_windows(script, windows_path(walks.windows), PROJECT, folder=walks.windows, CELOSIA_LANG="es")
    assert done.returncode == 0, done.stdout[-3000:]
    statuses = [line.split(" ", 1) for line in done.stdout.splitlines() if line[:3].isdigit()]
    assert [status for status, _ in statuses] == ["200"] * 3
    assert [PROJECT in title for _, title in statuses] == [False, True, True]
