"""How an example is walked: typed commands, run by the real command line, and what a person does between them.

Knows commands, edits and folders. Ignores norms. A command is written as one types it in a terminal, with the settings
of that one command before it (`CELOSIA_IDENTITY=keys/ana.key celosia sign …`); the guides show the very same lines.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

Edit = Callable[[Path], None]
PASS = "--passphrase-file llaves/frase.txt"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAYS = {"--consultation": -14, "--date": 4}  # how far from the day of the release


@dataclass(frozen=True, slots=True)
class Step:
    """One thing somebody does: a command, or an edit of a file with a sentence that says what it is."""

    line: str
    edit: Edit | None = None
    code: int = 0  # how the command must end


@dataclass(frozen=True, slots=True)
class Answer:
    """What a step printed and how it ended."""

    line: str
    code: int
    printed: str


def type_in(line: str) -> Answer:
    """Run one typed line in this process, through the door of the command line."""
    from celosia.cli import main

    settings, words = _parts(line)
    out = io.StringIO()
    with _environment(settings), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(words)
    return Answer(line, code, out.getvalue())


def walk(steps: Iterable[Step], folder: Path, show: Callable[[str], None] = lambda _: None) -> list[Answer]:
    """Take the steps in a folder; stop with an error at the first that does not end as it must."""
    answers = []
    with contextlib.chdir(folder), _environment({}):
        for step in steps:
            show(f"\n$ {_dated(step.line)}" if step.edit is None else f"\n# {step.line}")
            answer = _taken(step)
            show(answer.printed.rstrip())
            if answer.code != step.code:
                raise RuntimeError(f"{step.line}\n{answer.printed}")
            answers.append(answer)
    return answers


def commands(steps: Iterable[Step]) -> list[str]:
    """The typed lines of a walk, without the dates."""
    return [undated(step.line) for step in steps if step.edit is None]


def undated(line: str) -> str:
    """A line in which any date reads the same."""
    return _DATE.sub("DATE", line)


def with_days(line: str, release: str) -> str:
    """A publication with the days of one that is made when the walk is: a consultation before, the date after it."""
    made = date.fromisoformat(release[:10])
    for option, days in _DAYS.items():
        line = re.sub(rf"({option}) {_DATE.pattern}", rf"\1 {made + timedelta(days=days)}", line)
    return line


def sign_with(key: str) -> str:
    """The options of whoever signs with one of the practice keys."""
    return f"--identity llaves/{key}.key {PASS}"


def cards(people: Iterable[tuple[str, str, str]]) -> str:
    """The cards of the people whom the reader of a release knows."""
    return " ".join(f"--card llaves/{key}.pub.json" for key, *_ in people)


def identities(people: Iterable[tuple[str, str, str]]) -> list[Step]:
    """One key for each person: its file, their name, their role."""
    return [Step(f'celosia identity new --name "{name}" --file llaves/{key}.key {PASS}') for key, name, _ in people]


def introduction(project: str, people: Sequence[tuple[str, str, str]]) -> Step:
    """Everybody entered in the project, in their role; the first of them heads it and signs the roster."""
    given = " ".join(f"--card llaves/{key}.pub.json --role {role}" for key, _, role in people)
    return Step(f"celosia people add {project} {given} {sign_with(people[0][0])}")


def append(path: Path, words: str) -> None:
    """Words added at the end of a file, as one does in an editor."""
    path.write_text(path.read_text("utf-8") + words, "utf-8", newline="\n")


def replace(path: Path, old: str, new: str) -> None:
    """Words of a file replaced by others, as one does in an editor."""
    text = path.read_text("utf-8")
    if text.count(old) != 1:
        raise RuntimeError(f"{path}: {old}")
    path.write_text(text.replace(old, new), "utf-8", newline="\n")


def passphrase_file(folder: Path) -> None:
    """A passphrase for practice, in a file that only its owner may read."""
    keys = folder / "llaves"
    keys.mkdir(mode=0o700, exist_ok=True)
    (keys / "frase.txt").write_text("frase de paso para practicar\n", "utf-8", newline="\n")
    (keys / "frase.txt").chmod(0o600)


def run_as_maker(prepare: Edit) -> None:
    """`python -m examples.X.make_data FOLDER`: a new folder with the raw file, its dictionary and a passphrase."""
    folder = _new_folder()
    prepare(folder)
    passphrase_file(folder)


def run_as_script(steps: Sequence[Step], prepare: Edit) -> None:
    """`python -m examples.X.walk FOLDER`: make the data in a new folder and take every step in it."""
    folder = _new_folder()
    prepare(folder)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a code page of Windows lacks some signs
    walk(steps, folder, show=print)


def _new_folder() -> Path:
    if len(sys.argv) != 2:
        raise SystemExit("Uso: python -m examples.NORMA.walk CARPETA")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    return folder


def _taken(step: Step) -> Answer:
    if step.edit is not None:
        step.edit(Path("."))
        return Answer(step.line, 0, "")
    if step.line.startswith("export "):
        os.environ.update(dict([step.line.removeprefix("export ").split("=", 1)]))
        return Answer(step.line, 0, "")
    return type_in(_dated(step.line))


def _dated(line: str) -> str:
    """The line with the folder of the one release where it says `releases/DATE`, and days that suit it."""
    if "releases/" not in line:
        return line
    project = re.search(r"(\S+)/releases/", line)
    made = sorted(Path(project[1], "releases").glob("*")) if project else []
    if not made:
        return line
    return with_days(re.sub(r"releases/\d{4}-\d{2}-\d{2}", f"releases/{made[-1].name}", line), made[-1].name)


def _parts(line: str) -> tuple[dict[str, str], list[str]]:
    """Settings before the command, and its words after `celosia`."""
    words = shlex.split(line)
    start = words.index("celosia")
    return dict(word.split("=", 1) for word in words[:start]), words[start + 1 :]


@contextlib.contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
