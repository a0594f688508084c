"""After warming up, no search compiles anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from celosia import kernels
from celosia.kernels import _signatures, _warm
from celosia.kernels._jit import compilations
from celosia.kernels._warm import MODULES
from celosia.solver.optimal import search
from tests.solver.random_problems import problems

REPOSITORY = Path(__file__).parents[2]


def run(code: str, *words: str, **environment: str) -> str:
    """What some lines print in a fresh process."""
    command = [sys.executable, *(["-c", code] if code else []), *words]
    done = subprocess.run(
        command, env=os.environ | environment, cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_progress_is_reported_to_the_end() -> None:
    progress: list[tuple[int, int]] = []
    kernels.warm_up(lambda done, total: progress.append((done, total)))
    assert progress[-1][0] == progress[-1][1]
    assert progress == sorted(progress)
    assert kernels.is_warm()


def test_every_module_of_kernels_that_others_call_is_compiled_at_set_up() -> None:
    sources = (REPOSITORY / "src" / "celosia" / "kernels").glob("*.py")
    declared = {path.stem for path in sources if "@kernel" in path.read_text("utf-8")}
    called = set(MODULES)
    internal = {"elimination"}  # called by other kernels alone
    assert called | internal == declared
    assert all(_signatures.signatures(module) for module in MODULES)


def test_no_search_compiles_anything_after_warming_up() -> None:
    kernels.warm_up()
    before = compilations()

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(problems())
    def searches(problem: object) -> None:
        search(problem)  # type: ignore[arg-type]

    searches()
    assert compilations() == before


@pytest.mark.slow
def test_no_common_path_compiles_anything_after_warming_up(tmp_path: Path) -> None:
    outcomes = json.loads(run("", "-m", "tests.kernels.common_paths", str(tmp_path)).splitlines()[-1])
    assert {name: ended for name, (ended, _) in outcomes.items() if ended not in (0, 1)} == {}
    assert {name: compiled for name, (_, compiled) in outcomes.items() if compiled} == {}
    assert len(outcomes) > 35


def test_two_processes_claim_each_module_once(tmp_path: Path) -> None:
    assert [_warm._claim(tmp_path / "mdav") for _ in range(2)] == [True, False]


def test_without_a_folder_nothing_is_compiled_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_warm, "cache_folder", lambda: None)
    monkeypatch.setattr(_warm, "compile_unclaimed", lambda *_: pytest.fail("compiled what nobody keeps"))
    kernels.warm_up()
    assert kernels.is_warm()
