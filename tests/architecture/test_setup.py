"""The two commands: what the set-up says when it cannot go on, and what a skipped test does to a run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_files import REPOSITORY

SKIPPING = "import pytest\n\ndef test_a():\n    pytest.skip('no such engine here')\n\ndef test_b():\n    pass\n"


def _run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def _script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_a_missing_python_is_named_in_both_languages(tmp_path: Path) -> None:
    done = _run("scripts/environment", "python-of-nobody", tmp_path / "env")
    assert done.returncode == 2
    assert "Instale Python 3.11" in done.stderr
    assert "Install Python 3.11" in done.stderr
    assert not (tmp_path / "env").exists()


def test_an_old_python_is_refused_with_its_version(tmp_path: Path) -> None:
    old = _script(tmp_path / "python3", 'case "$2" in *version_info*) exit 1;; *) echo 3.9.2;; esac')
    done = _run("scripts/environment", old, tmp_path / "env")
    assert done.returncode == 2
    assert "3.9.2" in done.stderr
    assert not (tmp_path / "env").exists()


def test_a_package_that_cannot_be_installed_is_said_and_does_not_stop(tmp_path: Path) -> None:
    for name in ("bash", "env"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    done = _run(tmp_path / "bash", "scripts/debian-package", "command-of-nobody", "x", PATH=str(tmp_path))
    assert done.returncode == 0
    assert "se omiten las pruebas" in done.stderr
    assert "the tests that use it are skipped" in done.stderr


def test_where_wine_cannot_be_had_that_is_said_aloud_and_nothing_is_tried(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "env", "dirname", "sha256sum", "rm"):
        (tools / name).symlink_to(str(shutil.which(name)))
    left = tmp_path / "windows" / "python"
    left.parent.mkdir()
    left.write_text("made when Wine was here")
    done = _run(tools / "bash", "scripts/windows-python", "python3", left.parent, PATH=str(tools))
    assert done.returncode == 0
    assert "NOT CHECKED: Windows" in done.stderr
    assert "NO COMPROBADO: Windows" in done.stderr
    assert not left.exists()


def test_the_quick_part_under_windows_leaves_out_what_is_long() -> None:
    quick = _run("make", "--dry-run", "test-windows").stdout
    assert 'tests/windows -m "windows and not long and not downloads"' in quick
    assert "scripts/windows-python" in quick


def test_make_test_runs_lint_types_and_tests_in_this_order() -> None:
    planned = _run("make", "--dry-run", "test").stdout
    places = [planned.index(word) for word in ("ruff check", "ruff format --check", "mypy", "-m pytest")]
    assert places == sorted(places)


CI_STEPS = ("test", "test-slow", "windows", "test-windows")


def test_ci_runs_every_suite_and_stops_at_the_first_fault(tmp_path: Path) -> None:
    called = tmp_path / "called"
    _script(tmp_path / "make", f'echo "$1 CI=$CI" >> {called}; exit "${{FAULT:-0}}"')
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert _run(".ci/run", PATH=path, CI="").returncode == 0
    assert called.read_text().splitlines() == [f"{step} CI=true" for step in CI_STEPS]
    called.unlink()
    assert _run(".ci/run", PATH=path, FAULT="1").returncode != 0
    assert len(called.read_text().splitlines()) == 1


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("false", 0), ("true", 1)])
def test_a_skip_is_loud_and_under_ci_a_failure(tmp_path: Path, ci: str, code: int) -> None:
    shutil.copy(REPOSITORY / "tests" / "conftest.py", tmp_path / "conftest.py")
    (tmp_path / "test_skipping.py").write_text(SKIPPING)
    alone = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, "-c", os.devnull, tmp_path)
    done = _run(sys.executable, *alone, CI=ci)
    assert done.returncode == code, done.stdout
    assert "1 TESTS SKIPPED" in done.stdout
    assert "no such engine here" in done.stdout


GROUPED = """import os, pathlib, pytest

@pytest.mark.spark
@pytest.mark.parametrize("number", range(6))
def test_grouped(number):
    pathlib.Path(__file__).with_name(f"{number}.worker").write_text(os.environ["PYTEST_XDIST_WORKER"])

@pytest.mark.parametrize("number", range(6))
def test_free(number):
    pass
"""


def test_the_tests_of_one_engine_share_one_worker(tmp_path: Path) -> None:
    # pytest 9.2 with pytest-xdist 3.8 ignores the groups without a word: each worker would start its own Spark.
    shutil.copy(REPOSITORY / "tests" / "conftest.py", tmp_path / "conftest.py")
    (tmp_path / "test_grouping.py").write_text(GROUPED)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    spark\n    postgres\n")
    spread = ("-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path)
    done = _run(sys.executable, "-m", "pytest", "-q", "-c", tmp_path / "pytest.ini", *spread, CI="")
    assert done.returncode == 0, done.stdout
    assert len({path.read_text() for path in tmp_path.glob("*.worker")}) == 1


def test_the_python_that_the_makefile_runs_can_be_imported() -> None:
    """A function that was renamed breaks the first command of a newcomer, and nothing else."""
    statements = re.findall(r'python -c "(from celosia[^;"]*)', (REPOSITORY / "Makefile").read_text("utf-8"))
    assert statements
    for statement in statements:
        exec(statement, {})
