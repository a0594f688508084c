"""Demonstration projects, one for each norm, from invented people.

Knows how the files of each institution look and what its project would publish. Ignores what the norms ask.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from celosia import messages
from celosia.data.files import own_folder
from celosia.data.sheets import write_rows
from celosia.data.synthetic import discharges, education_requests, survey, write_raw_csv
from celosia.errors import ValueOutOfRange
from celosia.pipeline._call import Place
from celosia.pipeline._dictionary import state_purpose
from celosia.pipeline._prepare import Initiated, init
from celosia.pipeline._progress import Progress
from celosia.pipeline._projects import project_place, proposed_name

_SEED = 2024


@dataclass(frozen=True, slots=True)
class _Demo:
    """An invented file in the manner of one norm, and the variables its project would publish."""

    name: str
    rows: int
    make: Callable[[int, int], pa.Table]
    published: tuple[str, ...]
    person: str | None = None


_DEMOS = {
    "minsal": _Demo(
        "demo-minsal", 20_000, discharges, ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "DIAG1"), person="RUN"
    ),
    "atenea": _Demo(
        "demo-atenea", 2_000, education_requests, ("Edad", "Departamento", "Nivel de escolaridad", "Ingresos")
    ),
    "mel": _Demo(
        "demo-mel", 3_000, survey,
        ("DEPARTAMENTO", "MUNICIPIO", "SEXO", "EDAD", "NIVEL_EDUCATIVO", "AREA_PREDIO_HA", "CONFIANZA_ALCALDIA",
         "PERCEPCION_SEGURIDAD"),
    ),
}  # fmt: skip
DEMOS = tuple(_DEMOS)


def demo_project(
    root: Place,
    norm: str,
    name: str | None = None,
    *,
    stated: bool = True,
    now: datetime | None = None,
    report: Progress = None,
) -> Initiated:
    """Make a demonstration project of a norm, from invented people, with labels and (where `stated`) purposes."""
    if norm not in _DEMOS:
        raise ValueOutOfRange(parameter="norm", given=norm, allowed=", ".join(DEMOS))
    demo, place = _DEMOS[norm], Path(root)
    folder = project_place(place, name or proposed_name(place, demo.name))
    scratch = own_folder(place)
    try:
        raw, given = scratch / f"{demo.name}.csv", scratch / "dictionary.csv"
        made = demo.make(demo.rows, _SEED)
        write_raw_csv(raw, made.to_batches())
        write_rows(given, _labels(norm, made.column_names))
        initiated = init(raw, folder, (norm,), given, demo.person, now=now, report=report)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if stated:
        state_purpose(folder, demo.published, messages.text("demo.purpose"), now=now)
    return initiated


def _labels(norm: str, columns: Sequence[str]) -> list[list[str]]:
    """The dictionary that comes with an invented file: each column with its label."""
    header = [messages.text(f"dictionary.column.{one}") for one in ("name", "label")]
    known = messages.section(messages.language(), "demo")
    return [header, *([name, known.get(f"{norm}.{name}", name)] for name in columns)]
