"""`celosia demo`: the main job on data it makes itself."""

from __future__ import annotations

from pathlib import Path

import click

from celosia.cli._shell import option, verb
from celosia.cli._show import say


def command() -> click.Command:
    """The verb."""
    return verb(
        "demo",
        run,
        [
            option("demo", "--into", type=click.Path(path_type=Path), default=Path("celosia-demo")),
            option("demo", "--rows", type=click.IntRange(1, 100_000_000), default=20_000),
            option("demo", "--seed", type=click.IntRange(min=0), default=2024),
        ],
    )


def run(into: Path, rows: int, seed: int) -> None:
    """Make synthetic discharges, then init, profile and measure them."""
    from celosia.cli import _init, _measure, _profile
    from celosia.errors import AlreadyExists
    from celosia.pipeline import write_discharges

    if into.exists():
        raise AlreadyExists(path=str(into))
    raw, project = into / "egresos.csv", into / "egresos"
    into.mkdir(parents=True)
    say("cli.demo.making", rows=rows, seed=seed, path=raw)
    write_discharges(raw, rows, seed)
    quasi = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")
    _step(f"celosia init {raw} --into {project} --protocol minsal --drop MES_EGRESO")
    _init.run(str(raw), project, ("minsal",), None, None, False, drop=("MES_EGRESO",))
    _step(f"celosia profile {project}")
    _profile.run(str(project), None, 3, False)
    _step(f"celosia measure {project} --quasi {','.join(quasi)} --sensitive DIAG1")
    _measure.run(str(project), quasi, ("DIAG1",), None, "own", False)
    say("cli.demo.done", path=into)


def _step(command: str) -> None:
    click.secho(f"\n$ {command}", bold=True)
