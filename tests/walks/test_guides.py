"""The guides of the norms hold to reality: their commands are those of the walks, and their output what these print."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import duckdb
import pytest

from celosia.cli.entry import build_cli
from examples.guides.__main__ import LANGUAGES, NORMS, answers_of
from examples.walker import Answer, Step, commands, undated
from examples.yapo.make_data import make_data
from examples.yapo.walk import complete_map, reviewed
from examples.yapo.week import a_week_passes

PAGES = [(norm, language) for norm in NORMS for language in LANGUAGES]
_CHANGING = (
    (re.compile(r"sha256:[0-9a-f]{64}"), "DIGEST"),
    (re.compile(r"[0-9a-f]{16}…"), "KEY"),
    (re.compile(r"(?:[^\W\d_]+ ){15}[^\W\d_]+ \((?:[0-9a-f]{4} ){15}[0-9a-f]{4}\)"), "FINGERPRINT"),
    (re.compile(r"\d{4}-\d{2}-\d{2}T[\d:+]+"), "WHEN"),
)


def steps_of(norm: str) -> tuple[Step, ...]:
    return tuple(importlib.import_module(f"examples.{norm}.walk").STEPS)


def page_of(repository: Path, norm: str, language: str) -> list[str]:
    return (repository / "docs" / language / f"guide-{norm}.md").read_text("utf-8").splitlines()


def typed(lines: list[str]) -> list[str]:
    """The commands of a page, in its order."""
    return [line.removeprefix("$ ") for line in lines if line.startswith(("$ celosia ", "$ export "))]


def steady(line: str) -> str:
    """A line in which what changes from day to day reads the same."""
    for pattern, word in _CHANGING:
        line = pattern.sub(word, line)
    return undated(line).rstrip()


@pytest.mark.parametrize(("norm", "language"), PAGES)
def test_the_commands_of_a_guide_are_those_of_the_walk_in_the_same_order(
    repository: Path, norm: str, language: str
) -> None:
    walked = commands(steps_of(norm))
    shown = [undated(line) for line in typed(page_of(repository, norm, language))]
    places = iter(walked)
    assert len(shown) > (8 if norm == "yapo" else 15)  # the statistics have no keys and signatures
    assert [line for line in shown if line not in places] == []  # `in` moves the iterator on: order counts
    assert set(walked) - set(shown) <= {f"celosia status {_project(norm)}"}


@pytest.mark.parametrize(("norm", "language"), PAGES)
def test_a_guide_is_its_template_around_what_the_commands_print(repository: Path, norm: str, language: str) -> None:
    template = (repository / "examples" / "guides" / f"{norm}.{language}.md").read_text("utf-8").splitlines()
    page = re.sub(
        r"^```text\n\$ celosia .*?^```\n", "", "\n".join(page_of(repository, norm, language)), flags=re.M | re.S
    )
    prose = [line for line in template if line and not line.startswith(("@@ ", "+ "))]
    assert [line for line in page.splitlines() if line] == prose


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_yapo_guide_types_besides_celosia_does_what_the_walk_does_by_hand(
    repository: Path, tmp_path: Path, language: str
) -> None:
    lines = "\n".join(page_of(repository, "yapo", language))
    typed_lines = re.findall(r"^\$ ((?:cp|echo|\(cd) .*)$", lines, flags=re.M)
    assert len(typed_lines) == 3
    practice, walked_folder = tmp_path / "practica", tmp_path / "walked"
    for folder in (practice, walked_folder):
        (folder / "censo").mkdir(parents=True)
        make_data(folder, users=40)
    (tmp_path / "examples").symlink_to(repository / "examples")
    for line in typed_lines:
        subprocess.run(["bash", "-c", line], cwd=practice, check=True, env=_with_this_python())
    for edit in (reviewed, complete_map, a_week_passes):
        edit(walked_folder)
    assert _texts(practice / "censo") == _texts(walked_folder / "censo")
    assert _counts(practice) == _counts(walked_folder)


def _with_this_python() -> dict[str, str]:
    """The environment in which `python` is the one that runs the tests."""
    return {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


def _texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def _counts(folder: Path) -> list[tuple[object, ...]]:
    with contextlib.closing(duckdb.connect(folder / "personal.duckdb", read_only=True)) as database:
        return database.execute(
            "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM users WHERE city = 'Asunción')"
        ).fetchall()


@pytest.mark.parametrize("norm", NORMS)
def test_the_commands_of_an_examples_readme_are_those_of_its_walk(repository: Path, norm: str) -> None:
    lines = (repository / "examples" / norm / "README.md").read_text("utf-8").splitlines()
    places = iter(commands(steps_of(norm)))
    assert len(typed(lines)) > 5
    assert [line for line in typed(lines) if undated(line) not in places] == []


@pytest.mark.parametrize("norm", NORMS)
def test_every_command_of_a_walk_is_understood_by_the_command_line(norm: str) -> None:
    from examples.walker import _parts

    group = build_cli("es")
    for step in steps_of(norm):
        if step.line.startswith("celosia "):
            _understood(group, _parts(step.line)[1])


def _understood(group: click.Command, words: list[str]) -> None:
    """Raises a usage error where a verb, an option or an argument does not exist."""
    context = click.Context(group)
    while isinstance(group, click.Group):
        group, words = group.commands[words[0]], words[1:]
    group.make_context(group.name, list(words), parent=context)


@pytest.mark.parametrize(("norm", "language"), PAGES)
def test_the_pictures_of_a_guide_exist_and_are_small(repository: Path, norm: str, language: str) -> None:
    named = re.findall(r"\]\((pictures/[^)]+\.png)\)", "\n".join(page_of(repository, norm, language)))
    pictures = [repository / "docs" / language / name for name in named]
    assert pictures
    assert [picture.name for picture in pictures if not 2_000 < picture.stat().st_size <= 200_000] == []


@pytest.mark.slow
@pytest.mark.parametrize(("norm", "language"), PAGES)
def test_a_guide_shows_what_the_walk_prints(
    repository: Path, norm: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELOSIA_LANG", language)
    printed = _printed(answers_of(norm, language))
    blocks = re.findall(r"^```text\n(\$ celosia .*?)^```", "\n".join(page_of(repository, norm, language)), re.M | re.S)
    lines = [steady(line) for block in blocks for line in block.splitlines() if line != "…"]
    assert len(lines) > 60
    assert [line for line in lines if line not in printed] == []


def _printed(answers: list[Answer]) -> set[str]:
    lines = {steady(line) for answer in answers for line in answer.printed.splitlines()}
    return lines | {steady(f"$ {answer.line}") for answer in answers}


def _project(norm: str) -> str:
    return str(importlib.import_module(f"examples.{norm}.walk").PROJECT)
