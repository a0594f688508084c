"""The YAPÓ walk, from a PERSONAL database to protected STATS tables and a week later: `python -m examples.yapo.walk`.

The commands are those of docs/*/guide-yapo.md, in the same order; a test holds both together.
"""

from __future__ import annotations

from pathlib import Path

from examples.walker import Step, append, run_as_script
from examples.yapo.make_data import declare, make_data
from examples.yapo.week import a_week_passes

PROJECT = "censo"
MISSING = "Instituto Técnico Los Lapachos,terciaria\n"


def reviewed(folder: Path) -> None:
    """The proposal, finished by somebody who knows the data: the stats.toml of this example and its map."""
    declare(folder / PROJECT)


def complete_map(folder: Path) -> None:
    """The institution that the private list named gets its level."""
    append(folder / PROJECT / "mapas" / "instituciones.csv", MISSING)


STEPS = (
    Step("export PERSONAL_URL=../personal.duckdb"),
    Step("export STATS_URL=stats.duckdb"),
    Step(f"celosia stats init {PROJECT} --source env:PERSONAL_URL --target env:STATS_URL"),
    Step("Una persona que conoce la base revisa la propuesta y escribe las listas", reviewed),
    Step(f"celosia stats run {PROJECT}", code=2),
    Step("Se agrega la institución que la lista privada nombra", complete_map),
    Step(f"celosia stats run {PROJECT}"),
    Step(f"celosia stats check {PROJECT}"),
    Step(f"celosia stats catalogue {PROJECT}"),
    Step("Pasa una semana: llegan eventos atrasados, se corrige y se borra", a_week_passes),
    Step(f"celosia stats run {PROJECT} --incremental"),
    Step(f"celosia stats attack {PROJECT}"),
    Step("celosia protocol show yapo"),
)


if __name__ == "__main__":
    run_as_script(STEPS, make_data)
