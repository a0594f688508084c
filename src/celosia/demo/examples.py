"""The example projects that come with the program, one for each norm: copied with their data, or walked.

Knows where they stand and how they are imported. Ignores what their steps do.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.carried import carried_path
from celosia.storage import AlreadyExists, translate_write_errors

EXAMPLES = ("minsal", "atenea", "mel", "yapo")
_SOURCES = "demo/sources/examples"
_COMMANDS = "ORDENES.txt"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")
# In the repository a guide stands beside the examples; in a copy its name is enough.
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]+\)")


@dataclass(frozen=True, slots=True)
class ExampleSummary:
    """An example and how many commands a person types in it."""

    name: str
    commands: int


def list_examples() -> list[ExampleSummary]:
    """Every example."""
    return [ExampleSummary(name, len(_commands(name))) for name in EXAMPLES]


def copy_example(name: str, folder: Path) -> None:
    """Write the example into a new folder: its data, its commands and its code."""
    with _new_folder(folder):
        target = folder / "examples"
        shutil.copytree(carried_path(f"{_SOURCES}/{name}"), target / name, ignore=_LEFT_OUT)
        shutil.copy(carried_path(f"{_SOURCES}/walker.py"), target)
        readme = (target / name / "README.md").read_text("utf-8")
        (folder / "README.md").write_text(_LINK.sub(r"\1", readme), "utf-8", newline="\n")
        (target / name / "README.md").unlink()
        (folder / _COMMANDS).write_text("\n".join(_commands(name)) + "\n", "utf-8", newline="\n")
        _prepare(name, folder)


def walk_example(name: str, folder: Path, show: Callable[[str], None]) -> None:
    """Take every step of an example in a new folder."""
    with _new_folder(folder):
        _prepare(name, folder)
        with _importable():
            _module("walker").walk(_module(f"{name}.walk").STEPS, folder, show)


def _prepare(name: str, folder: Path) -> None:
    """The raw data with its dictionary, and a passphrase for practice."""
    with _importable():
        _module(f"{name}.make_data").make_data(folder)
        _module("walker").passphrase_file(folder)


def _commands(name: str) -> list[str]:
    """What a person types, and what they do between the commands."""
    with _importable():
        steps = _module(f"{name}.walk").STEPS
    return [step.line if step.edit is None else f"# {step.line}" for step in steps]


@contextlib.contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    if folder.exists():
        raise AlreadyExists(path=str(folder))
    with translate_write_errors(folder):
        folder.mkdir(parents=True)
        yield


@contextlib.contextmanager
def _importable() -> Iterator[None]:
    """The examples import each other as `examples.…`, and write no byte code where they stand."""
    place = str(carried_path(f"{_SOURCES}/walker.py").parents[1])
    before = sys.dont_write_bytecode
    sys.path.insert(0, place)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path.remove(place)
        sys.dont_write_bytecode = before


def _module(name: str) -> Any:
    return importlib.import_module(f"examples.{name}")
