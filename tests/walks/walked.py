"""A walked example, the stages it went through, and what a dishonest or careless hand may do to it afterwards."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from examples.walker import Answer, Step, type_in, walk

_NUMBERS = count(1)


@dataclass(frozen=True)
class Stage:
    """A folder in which an example was walked up to some step; somebody may go on from there."""

    folder: Path

    @property
    def project(self) -> Path:
        return next(path.parent for path in self.folder.glob("*/celosia.toml"))

    @property
    def release(self) -> Path:
        (release,) = (self.project / "releases").iterdir()
        return release

    def types(self, line: str) -> Answer:
        """Somebody types one line there."""
        with contextlib.chdir(self.folder):
            return type_in(line)

    def goes_on(self, steps: Sequence[Step]) -> list[Answer]:
        """Somebody takes these steps there."""
        return walk(steps, self.folder)


@dataclass(frozen=True)
class Walked:
    """An example walked to its end, and copies of the stages asked for."""

    end: Stage
    answers: tuple[Answer, ...]
    stages: Mapping[str, Path]

    def copied(self, stage: str = "") -> Stage:
        """A copy of a stage, or of the end, to be changed freely: nothing in it knows where it was made."""
        source = self.stages[stage] if stage else self.end.folder
        target = source.with_name(f"copy-{next(_NUMBERS)}")
        shutil.copytree(source, target)
        return Stage(target)


def walked(
    steps: Sequence[Step], make_data: Callable[[Path, int], None], home: Path, rows: int, stages: Mapping[str, str]
) -> Walked:
    """Take all steps in a new folder, keeping a copy from before the first step that holds the words of a stage."""
    folder, kept = home / "end", {}
    folder.mkdir()
    make_data(folder, rows)
    answers: list[Answer] = []
    for step in steps:
        for name, words in stages.items():
            if name not in kept and words in step.line:
                kept[name] = shutil.copytree(folder, home / name)
        with _as_executor(steps):
            answers += walk([step], folder)
    assert set(kept) == set(stages)
    return Walked(Stage(folder), tuple(answers), kept)


@contextlib.contextmanager
def _as_executor(steps: Sequence[Step]) -> Iterator[None]:
    """The setting that the walk exports, for every step of it."""
    import pytest

    name, value = next(step.line for step in steps if step.line.startswith("export ")).split(" ", 1)[1].split("=")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, value)
        yield


def before(steps: Sequence[Step], words: str) -> list[Step]:
    """The steps before the first that holds these words."""
    return list(steps[: _place(steps, words)])


def since(steps: Sequence[Step], words: str) -> list[Step]:
    """The steps from the first that holds these words on."""
    return list(steps[_place(steps, words) :])


def _place(steps: Sequence[Step], words: str) -> int:
    return next(i for i, step in enumerate(steps) if words in step.line)


# --- changes by a careless or dishonest hand: each takes the release folder ------------------------


def one_byte_of_data(release: Path) -> None:
    """The last character of the last row is another one."""
    data = release / "data.csv"
    body = bytearray(data.read_bytes())
    body[-2] = ord("1") if body[-2] != ord("1") else ord("2")
    data.write_bytes(bytes(body))


def one_rule(release: Path) -> None:
    """A rule of the manifest asks for something else."""

    def change(manifest: dict[str, Any]) -> None:
        rule = next(one for one in manifest["rules"] if one["asked"])
        rule["asked"] = {key: _other(value) for key, value in rule["asked"].items()}

    _rewritten(release / "manifest.json", change)


def one_approval(release: Path) -> None:
    """An approval of the manifest says something more."""

    def change(manifest: dict[str, Any]) -> None:
        manifest["approvals"][0]["note"] += " "

    _rewritten(release / "manifest.json", change)


def one_signature(release: Path) -> None:
    """A signature is a hundred years older."""

    def change(signature: dict[str, Any]) -> None:
        signature["when"] = signature["when"].replace("20", "19", 1)

    _rewritten(sorted((release / "signatures").iterdir())[0], change)


TAMPERINGS = (one_byte_of_data, one_rule, one_approval, one_signature)


def one_journal_line(project: Path) -> None:
    """The journal says that somebody else did the second thing."""
    journal = project / "journal.jsonl"
    lines = journal.read_text("utf-8").split("\n")
    lines[1] = json.dumps({**json.loads(lines[1]), "who": "Otra Persona"}, ensure_ascii=False, sort_keys=True)
    journal.write_text("\n".join(lines), "utf-8", newline="\n")


def approval_line(project: Path) -> None:
    """The first approval of the project has another note."""
    path = project / "approvals.jsonl"
    lines = path.read_text("utf-8").split("\n")
    lines[0] = json.dumps({**json.loads(lines[0]), "note": "x"}, ensure_ascii=False, sort_keys=True)
    path.write_text("\n".join(lines), "utf-8", newline="\n")


def _other(value: Any) -> Any:
    if isinstance(value, int):
        return value + 1
    return [*value, "X"] if isinstance(value, list) else f"{value}1"


def _rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n", "utf-8")
