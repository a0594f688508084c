"""`celosia demo`: the main job on data it makes itself."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import click

from celosia import messages
from celosia.cli.shell import PATH, build_command, option
from celosia.cli.show import print_done, say
from celosia.model.paths import ProjectPaths


def command() -> click.Command:
    """The command."""
    params = [
        option("demo", "--into", type=PATH, default=Path("celosia-demo")),
        option("demo", "--rows", type=click.IntRange(1, 100_000_000), default=20_000),
        option("demo", "--seed", type=click.IntRange(min=0), default=2024),
    ]
    return build_command("demo", run, params)


_QUASI = "SEXO,EDAD_AÑOS,COMUNA,PREVISION"
_SENSITIVE = "DIAG1"
_PURPOSE = "Estudio de morbilidad por territorio"


def run(into: Path, rows: int, seed: int, as_json: bool) -> None:
    """Make synthetic discharges and run the whole workflow, showing each command before its output."""
    with contextlib.redirect_stdout(io.StringIO()) if as_json else contextlib.nullcontext():
        commands = _run_commands(into, rows, seed)
    if as_json:
        print_done("demo", path=str(into), rows=rows, seed=seed, commands=commands)


def _run_commands(into: Path, rows: int, seed: int) -> int:
    from celosia.cli.entry import build_cli
    from celosia.demo.synthetic.discharges import write_discharges
    from celosia.storage import AlreadyExists, FolderUnwritable

    if into.exists():
        raise AlreadyExists(path=str(into))
    raw, project = into / "egresos.csv", into / "egresos"
    try:
        into.mkdir(parents=True)
    except OSError:
        raise FolderUnwritable(path=str(into)) from None
    say("cli.demo.making", rows=rows, seed=str(seed), path=raw)
    write_discharges(raw, rows, seed)
    cli = build_cli(messages.language())
    commands = _demo_commands(raw, project)
    for command in commands:
        # As a person would type it: quotes only around words with a blank.
        typed = " ".join(f'"{word}"' if " " in word else word for word in command)
        click.secho(f"\n$ celosia {typed}", bold=True)
        cli.main(args=command, prog_name="celosia", standalone_mode=False)
    say("cli.demo.done", path=into)
    return len(commands)


def _demo_commands(raw: Path, project: Path) -> list[list[str]]:
    folder = str(project)
    published = str(ProjectPaths(project).candidate.data)
    return [
        ["init", str(raw), "--into", folder, "--protocol", "minsal", "--drop", "MES_EGRESO"],
        ["profile", folder],
        ["measure", folder, "--quasi", _QUASI, "--sensitive", _SENSITIVE],
        ["dictionary", "purpose", folder, "--variables", f"{_QUASI},{_SENSITIVE}", "--purpose", _PURPOSE],
        ["plan", folder],
        ["run", folder],
        ["measure", published, "--quasi", _QUASI, "--sensitive", _SENSITIVE],
    ]
