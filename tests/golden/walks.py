"""The four examples walked and recorded: what each step prints, and every file that stands at the end.

Knows examples, steps and folders. Ignores what the commands do.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from examples.walker import Answer, Step, walk
from tests.golden.items import Items, read_files

if TYPE_CHECKING:
    from tests.golden.chance import Stream

ROWS = {"minsal": 800, "atenea": 400, "mel": 3_000, "yapo": 3_000}  # as few as the walks allow
VOICES = ("es", "en", "json")  # printed in Spanish, printed in English, and as JSON


def record_walk(norm: str, voice: str, folder: Path, items: Items, stream: Stream) -> None:
    """Walk an example in a new folder; its files are recorded in both languages."""
    folder.mkdir(parents=True)
    stream.restart(norm)
    importlib.import_module(f"examples.{norm}.make_data").make_data(folder, ROWS[norm])
    os.environ["CELOSIA_LANG"] = "en" if voice == "en" else "es"
    for number, step in enumerate(steps_of(norm), 1):
        stream.restart(f"{norm} {number}")
        answer = take_step(step if voice != "json" else as_json(step), folder)
        items.add(f"walks/{norm}/{voice}/steps/{number:02}-{words_of(step)}.txt", _text(answer))
    if voice != "json":
        items.add_files(f"walks/{norm}/{voice}/files", read_files(folder))


def steps_of(norm: str) -> Sequence[Step]:
    """The steps of an example."""
    return tuple(importlib.import_module(f"examples.{norm}.walk").STEPS)


def take_step(step: Step, folder: Path) -> Answer:
    """Take one step; what it exports stays for the steps after it, and one that fails is recorded as any other."""
    if step.line.startswith("export "):
        name, value = step.line.removeprefix("export ").split("=", 1)
        os.environ[name] = value
    try:
        return walk([step], folder)[0]
    except (RuntimeError, OSError, StopIteration) as failure:
        return Answer(step.line, -1, str(failure))


def as_json(step: Step) -> Step:
    """The same command, asked to answer in JSON."""
    return replace(step, line=f"{step.line} --json") if step.line.startswith("celosia ") else step


def words_of(step: Step) -> str:
    """The verb of a command, or what stands for an edit."""
    first, *others = step.line.split()
    return others[0] if first == "celosia" else "export" if first == "export" else "edit"


def _text(answer: Answer) -> bytes:
    return f"$ {answer.line}\n{answer.printed}\n[{answer.code}]\n".encode()
