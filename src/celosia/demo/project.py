"""Demonstration projects, one for each norm, from invented people.

Knows how the files of each institution look and what its project would publish. Ignores what the norms ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from celosia import messages
from celosia.data.sheets import write_rows
from celosia.demo.synthetic.discharges import discharges
from celosia.demo.synthetic.files import write_raw_csv
from celosia.demo.synthetic.surveys import education_requests, survey
from celosia.model.paths import DICTIONARY
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.init_project import InitResult, init
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.progress import Progress
from celosia.storage import private_tempdir, remove_folder
from celosia.workbench.projects import project_place, proposed_name

_SEED = 2024


@dataclass(frozen=True, slots=True)
class _Demo:
    """An invented file in the manner of one norm, and the variables its project would publish."""

    name: str
    rows: int
    make: Callable[[int, int], pa.Table]
    published: tuple[str, ...]
    person: str | None = None


_MEL_COLUMNS = """
    DEPARTAMENTO MUNICIPIO SEXO EDAD NIVEL_EDUCATIVO AREA_PREDIO_HA CONFIANZA_ALCALDIA PERCEPCION_SEGURIDAD
    """
_DEMOS = {
    "minsal": _Demo(
        "demo-minsal", 20_000, discharges, ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "DIAG1"), person="RUN"
    ),
    "atenea": _Demo(
        "demo-atenea", 2_000, education_requests, ("Edad", "Departamento", "Nivel de escolaridad", "Ingresos")
    ),
    "mel": _Demo("demo-mel", 3_000, survey, tuple(_MEL_COLUMNS.split())),
}
DEMOS = tuple(_DEMOS)


def demo_project(
    root: PathArg,
    norm: str,
    name: str | None = None,
    *,
    stated: bool = True,
    now: datetime | None = None,
    report: Progress = None,
) -> InitResult:
    """Make a demonstration project of a norm, from invented people, with labels and (where `stated`) purposes."""
    if norm not in _DEMOS:
        raise ValueOutOfRange(parameter="norm", given=norm, allowed=", ".join(DEMOS))
    demo, folder_root = _DEMOS[norm], Path(root)
    folder = project_place(folder_root, name or proposed_name(folder_root, demo.name))
    scratch = private_tempdir(folder_root)
    try:
        raw, dictionary = scratch / f"{demo.name}.csv", scratch / DICTIONARY
        table = demo.make(demo.rows, _SEED)
        write_raw_csv(raw, table.to_batches())
        write_rows(dictionary, _labels(norm, table.column_names))
        initiated = init(raw, folder, (norm,), dictionary, demo.person, now=now, report=report)
    finally:
        remove_folder(scratch)
    if stated:
        state_purpose(folder, demo.published, messages.text("demo.purpose"), now=now)
    return initiated


def _labels(norm: str, columns: Sequence[str]) -> list[list[str]]:
    """The dictionary that comes with an invented file: each column with its label."""
    header = [messages.text(f"dictionary.column.{field}") for field in ("name", "label")]
    labels = messages.section(messages.language(), "demo")
    return [header, *([name, labels.get(f"{norm}.{name}", name)] for name in columns)]
