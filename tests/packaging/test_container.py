"""The Containerfile, without a container engine: the lines of its first stage are run in a folder.

What they install walks the demonstration. What an engine adds (base image, user, volume) is not tried here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_files import REPOSITORY, repository_files
from tests.packaging.conftest import run

LINES = (REPOSITORY / "Containerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
INSTRUCTIONS = [line.split(" ", 1) for line in LINES if line and not line.startswith("#")]
_START = [number for number, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM"]
BUILD = INSTRUCTIONS[_START[0] : _START[1]]
SERVE = INSTRUCTIONS[_START[1] :]


def test_it_copies_only_what_is_there() -> None:
    places = [words.split()[:-1] for word, words in BUILD if word == "COPY"]
    assert [place for names in places for place in names if not (REPOSITORY / place).exists()] == []


def test_everything_it_installs_is_compared_with_a_digest() -> None:
    installs = [words for word, words in BUILD if word == "RUN" and " install " in words]
    assert len(installs) == 3
    assert all("--require-hashes" in words or "--no-deps --no-index" in words for words in installs)


def test_it_serves_a_volume_and_is_nobody_of_importance() -> None:
    said = dict(map(tuple, SERVE))
    assert said["USER"] != "root"
    assert said["VOLUME"] == said["WORKDIR"] == "/projects"
    assert '"/projects", "--shared", "--host", "0.0.0.0"' in said["CMD"]
    assert said["EXPOSE"] in said["CMD"]


@pytest.mark.slow
@pytest.mark.downloads
@pytest.mark.xdist_group("packaging")
def test_its_lines_install_a_program_that_works(tmp_path: Path) -> None:
    source = tmp_path / "src"
    for path in repository_files():
        target = source / path.relative_to(REPOSITORY)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    for word, words in BUILD:
        if word == "RUN":
            _run_line(words.replace("/opt/", f"{tmp_path}/opt/"), source)
    celosia = tmp_path / "opt" / "celosia" / "bin" / "celosia"
    [warm] = [match[1] for word, words in SERVE if word == "RUN" and (match := re.search(r'python -c "(.*)"', words))]
    run(celosia.with_name("python"), "-c", warm)
    run(celosia, "demo", "--rows", "2000", "--into", tmp_path / "demo")
    (tmp_path / "projects").mkdir()
    refusal = subprocess.run(
        [str(celosia), "serve", str(tmp_path / "projects"), "--shared", "--host", "0.0.0.0", "--no-browser"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    without_accounts = (refusal.returncode, "celosia account add" in refusal.stderr)
    assert without_accounts == (1, True), "without an account it does not serve beyond the machine"


def _run_line(words: str, folder: Path) -> None:
    """A line of the shell, where `python` is the running one."""
    names = folder.parent / "names"
    names.mkdir(exist_ok=True)
    python = names / "python"
    if not python.exists():
        python.symlink_to(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PATH"] = f"{names}:{environment['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
