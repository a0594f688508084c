"""`celosia demo`: the main job on data it makes itself."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import click

from celosia import messages
from celosia.cli._shell import json_option, option, verb
from celosia.cli._show import print_done, say


def command() -> click.Command:
    """The verb."""
    return verb(
        "demo",
        run,
        [
            option("demo", "--into", type=click.Path(path_type=Path), default=Path("celosia-demo")),
            option("demo", "--rows", type=click.IntRange(1, 100_000_000), default=20_000),
            option("demo", "--seed", type=click.IntRange(min=0), default=2024),
            json_option(),
        ],
    )


_QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")
_SENSITIVE = ("DIAG1",)
_PURPOSE = "Estudio de morbilidad por territorio"


def run(into: Path, rows: int, seed: int, as_json: bool) -> None:
    """Make synthetic discharges and walk the whole way, showing each command before its answer."""
    with contextlib.redirect_stdout(io.StringIO()) if as_json else contextlib.nullcontext():
        commands = _walked(into, rows, seed)
    if as_json:
        print_done("demo", path=str(into), rows=rows, seed=seed, commands=commands)


def _walked(into: Path, rows: int, seed: int) -> int:
    from celosia.cli import _main
    from celosia.errors import AlreadyExists, FolderUnwritable
    from celosia.pipeline import write_discharges

    if into.exists():
        raise AlreadyExists(path=str(into))
    raw, project = into / "egresos.csv", into / "egresos"
    try:
        into.mkdir(parents=True)
    except OSError:
        raise FolderUnwritable(path=str(into)) from None
    say("cli.demo.making", rows=rows, seed=str(seed), path=raw)
    write_discharges(raw, rows, seed)
    cli = _main.build_cli(messages.language())
    commands = _walk(raw, project)
    for command in commands:
        click.secho(f"\n$ celosia {_typed(command)}", bold=True)
        cli.main(args=command, prog_name="celosia", standalone_mode=False)
    say("cli.demo.done", path=into)
    return len(commands)


def _typed(words: list[str]) -> str:
    """The words as a person would type them: quotes only where a blank asks for them."""
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def _walk(raw: Path, project: Path) -> list[list[str]]:
    folder, quasi, sensitive = str(project), ",".join(_QUASI), ",".join(_SENSITIVE)
    published = str(project / "private" / "candidate" / "data.csv")
    return [
        ["init", str(raw), "--into", folder, "--protocol", "minsal", "--drop", "MES_EGRESO"],
        ["profile", folder],
        ["measure", folder, "--quasi", quasi, "--sensitive", sensitive],
        ["dictionary", "purpose", folder, "--variables", f"{quasi},{sensitive}", "--purpose", _PURPOSE],
        ["plan", folder],
        ["run", folder],
        ["measure", published, "--quasi", quasi, "--sensitive", sensitive],
    ]
