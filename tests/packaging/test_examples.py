"""The examples that come with the program: listed, copied with their data, and walked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.cli import main
from celosia.cli.project import examples as command
from celosia.demo.examples import EXAMPLES, copy_example
from tests.architecture.source_files import REPOSITORY

RAW = {"minsal": "egresos.csv", "atenea": "solicitudes.csv", "mel": "encuesta.csv", "yapo": "personal.duckdb"}


def test_the_list_names_every_example_of_the_repository(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples", "list", "--json"]) == 0
    listed = {line["example"]: line["commands"] for line in json.loads(capsys.readouterr().out)["examples"]}
    assert set(listed) == set(EXAMPLES) == {path.parent.name for path in (REPOSITORY / "examples").glob("*/walk.py")}
    assert min(listed.values()) > 5


def test_the_command_takes_the_examples_there_are() -> None:
    copy = command.command().commands["copy"]  # type: ignore[attr-defined]
    assert tuple(copy.params[0].type.choices) == EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_copy_holds_the_data_the_commands_and_the_code(example: str, tmp_path: Path) -> None:
    folder = tmp_path / "copia de práctica"
    copy_example(example, folder)
    assert (folder / RAW[example]).stat().st_size > 1000
    typed = (folder / "ORDENES.txt").read_text("utf-8").splitlines()
    assert sum(line.startswith("celosia ") for line in typed) > 5
    assert "](.." not in (folder / "README.md").read_text("utf-8")
    code = "import importlib, sys; print(importlib.import_module(sys.argv[1]).__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code, f"examples.{example}.walk"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).is_relative_to(folder)


def test_a_folder_that_exists_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples", "copy", "minsal", "--into", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_example_is_walked_to_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples", "walk", "yapo", "--into", str(tmp_path / "censo")]) == 0
    assert "$ celosia stats attack censo" in capsys.readouterr().out
    assert (tmp_path / "censo" / "censo" / "stats.duckdb").is_file()
