"""The benches that use the pipeline still run: small, once, without peers from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["apply", "growth", "outofcore", "start", "stats", "tables", "tuples"])
def test_a_bench_runs_small_and_measures_every_figure(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", name, "--small", "--repeats", "1", "--into", str(tmp_path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    (bench,) = json.loads((tmp_path / "report.json").read_text("utf-8"))["benches"]
    assert bench["failures"] == [], process.stdout
    assert all(figure["ratio"] is not None for figure in bench["figures"])
    assert (tmp_path / "report.html").stat().st_size > 0
