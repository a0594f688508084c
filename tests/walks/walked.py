"""A walked example, and what a dishonest or careless hand may do to it afterwards."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.walker import Answer, Edit, Step, type_in, walk


@dataclass(frozen=True)
class Walked:
    """The folder where an example was walked, its project, its one release, and what every command printed."""

    folder: Path
    project: Path
    answers: tuple[Answer, ...]

    @property
    def release(self) -> Path:
        (release,) = sorted((self.project / "releases").iterdir())
        return release

    def types(self, line: str) -> Answer:
        """Somebody types one more line where the example was walked."""
        with contextlib.chdir(self.folder):
            return type_in(line)

    def copied_to(self, folder: Path) -> Walked:
        """The whole example as a copy elsewhere, to be changed freely."""
        shutil.copytree(self.folder, folder)
        return Walked(folder, folder / self.project.name, self.answers)


def walked(steps: Sequence[Step], make_data: Callable[[Path, int], None], folder: Path, rows: int) -> Walked:
    """Take all steps of an example in a folder."""
    make_data(folder, rows)
    answers = walk(steps, folder)
    project = next(path.parent for path in folder.glob("*/celosia.toml"))
    return Walked(folder, project, tuple(answers))


def until(steps: Sequence[Step], line: str) -> list[Step]:
    """The steps before the first that holds these words."""
    place = next(i for i, step in enumerate(steps) if line in step.line)
    return list(steps[:place])


def without(steps: Sequence[Step], *lines: str) -> list[Step]:
    """The steps without those that hold these words."""
    return [step for step in steps if not any(line in step.line for line in lines)]


def verified(release: Path) -> int:
    """How `celosia verify` ends, typed by somebody who has the release folder and nothing else."""
    return type_in(f"celosia verify {release}").code


# --- changes by a careless or dishonest hand: each takes the release folder ------------------------


def one_byte_of_data(release: Path) -> None:
    data = release / "data.csv"
    body = bytearray(data.read_bytes())
    last = len(body) - 2  # the last character before the line feed
    body[last] = ord("1") if body[last] != ord("1") else ord("2")
    data.write_bytes(bytes(body))


def one_rule(release: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        rule = next(one for one in manifest["rules"] if one["asked"])
        rule["asked"] = {key: _other(value) for key, value in rule["asked"].items()}

    _rewritten(release / "manifest.json", change)


def one_approval(release: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["approvals"][0]["note"] += " "

    _rewritten(release / "manifest.json", change)


def one_signature(release: Path) -> None:
    first = sorted((release / "signatures").iterdir())[0]

    def change(signature: dict[str, Any]) -> None:
        signature["when"] = signature["when"].replace("20", "19", 1)

    _rewritten(first, change)


TAMPERINGS: tuple[Edit, ...] = (one_byte_of_data, one_rule, one_approval, one_signature)


def one_journal_line(project: Path) -> None:
    """Somebody rewrites in the journal who did the second thing."""
    journal = project / "journal.jsonl"
    lines = journal.read_text("utf-8").split("\n")
    entry = json.loads(lines[1])
    lines[1] = json.dumps({**entry, "who": "Otra Persona"}, ensure_ascii=False, sort_keys=True)
    journal.write_text("\n".join(lines), "utf-8", newline="\n")


def _other(value: Any) -> Any:
    if isinstance(value, int):
        return value + 1
    return [*value, "X"] if isinstance(value, list) else f"{value}1"


def _rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n", "utf-8")
