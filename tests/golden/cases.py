"""Commands recorded on the walked examples, each in a fresh copy: printed in two languages, as JSON, and what it wrote.

Knows the files of lines and how one is run. Ignores what the commands do. A file of lines holds cases: `[name]`, then
lines run one after the other; what does not start with `celosia` is done by the shell and prepares the next line.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tests.golden.items import Items, read_changes
from tests.golden.walks import VOICES

if TYPE_CHECKING:
    from tests.golden.chance import Stream

LINES = Path(__file__).with_name("lines")


@dataclass(frozen=True, slots=True)
class Case:
    """Lines that are typed one after the other in the folder of an example."""

    norm: str
    name: str
    lines: tuple[str, ...]


def all_cases() -> list[Case]:
    """The cases of all files of lines."""
    return [case for path in sorted(LINES.glob("*.txt")) for case in read_cases(path)]


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a file, named after the example in whose folder they run (`minsal-refused.txt`: minsal)."""
    for block in path.read_text("utf-8").split("\n[")[1:]:
        name, *lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        yield Case(path.stem.split("-")[0], name.removesuffix("]"), tuple(lines))


def record_case(case: Case, source: Path, work: Path, items: Items, stream: Stream) -> None:
    """Run a case in each voice, in a copy of the walked example; files are recorded where something is printed."""
    for voice in VOICES:
        shutil.copytree(source, work)
        name = f"cases/{case.norm}/{case.name}/{voice}"
        os.environ["CELOSIA_LANG"] = "en" if voice == "en" else "es"
        stream.restart(name)
        with contextlib.chdir(work):
            items.add(f"{name}.txt", "".join(run_line(line, voice == "json") for line in case.lines).encode())
        if voice != "json":
            items.add_files(name, read_changes(source, work))
        shutil.rmtree(work)


def run_line(line: str, as_json: bool) -> str:
    """Run one line and tell what it printed and how it ended."""
    if line.split()[0] != "celosia":
        return f"$ {line}\n[{subprocess.run(['bash', '-c', line], check=False).returncode}]\n"
    code, out, err = run_command([*shlex.split(line)[1:], *["--json"] * as_json])
    return f"$ {line}\n{out}\n[stderr]\n{err}\n[{code}]\n"


def run_command(words: list[str]) -> tuple[int, str, str]:
    """Exit code and both streams of a command, run in this process."""
    from celosia.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def record_help(items: Items) -> None:
    """Record the help of every group and command in both languages."""
    from celosia.cli import build_cli

    for words, _ in commands_below(build_cli("es")):
        for language in ("es", "en"):
            code, out, err = run_command([*words, "--help", "--lang", language])
            items.add(f"help/{'-'.join(words) or 'celosia'}.{language}.txt", f"{out}{err}[{code}]\n".encode())


def commands_below(
    command: click.Command, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and all that are below it, each with the words that name it."""
    yield words, command
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from commands_below(command.commands[name], (*words, name))
