"""A project of each norm with something on every page, made by the operations that the page calls."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from celosia.demo.synthetic.discharges import discharges
from celosia.demo.synthetic.files import write_raw_csv
from celosia.demo.synthetic.surveys import education_requests, survey
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.profile import profile_report
from celosia.workbench.result import check_result, evaluation_report
from celosia.workbench.risk import risk_geography, risk_overview, risk_scenarios, risk_special
from celosia.workbench.search import explain_report, frontier_report, search_plan
from tests.folder_listing import files_under

QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")
SEED = 2024
SEARCH_AND_RUN = (search_plan, run_plan, explain_report, frontier_report, check_result, evaluation_report)


def _init_project(
    root: Path, name: str, norm: str, table: pa.Table, published: Sequence[str], person: str | None = None
) -> Path:
    scratch = root.parent / f"crudo-{name}"
    scratch.mkdir()
    raw = scratch / f"{name}.csv"
    write_raw_csv(raw, table.to_batches())
    dictionary = scratch / "diccionario.csv"
    labels = [f"{column},{column.replace('_', ' ').capitalize()}" for column in table.column_names]
    dictionary.write_text("\n".join(["variable,etiqueta", *labels]), "utf-8")
    init(str(raw), root / name, (norm,), dictionary, person)
    state_purpose(root / name, published, "Estudio")
    shutil.rmtree(scratch)
    return root / name


def run_operations(folder: Path, operations: Iterable[Callable[[Path], Any]]) -> None:
    """Run operations on a project, one after the other."""
    for operation in operations:
        operation(folder)


def minsal(root: Path, name: str = "egresos", rows: int = 1_500, run: bool = True) -> Path:
    """Hospital discharges; with `run`, planned, run and evaluated."""
    folder = _init_project(root, name, "minsal", discharges(rows, SEED), (*QUASI, "DIAG1"), "RUN")
    if run:
        run_operations(folder, (profile_report, risk_overview, risk_scenarios, *SEARCH_AND_RUN))
    return folder


def atenea(root: Path, name: str = "solicitudes") -> Path:
    """Requests for grants, with their risk reports."""
    published = ("Edad", "Departamento", "Nivel de escolaridad", "Ingresos")
    folder = _init_project(root, name, "atenea", education_requests(600, SEED), published)
    run_operations(folder, (profile_report, risk_overview, risk_scenarios, risk_special))
    return folder


def mel(root: Path, name: str = "encuesta") -> Path:
    """A household survey with its geography."""
    published = ("DEPARTAMENTO", "MUNICIPIO", "SEXO", "EDAD", "NIVEL_EDUCATIVO", "CONFIANZA_ALCALDIA")
    folder = _init_project(root, name, "mel", survey(600, SEED), published)
    run_operations(folder, (risk_overview, risk_geography))
    return folder


NORMS: dict[str, Callable[[Path], Path]] = {"egresos": minsal, "solicitudes": atenea, "encuesta": mel}


def file_digests(folder: Path) -> dict[str, str]:
    """Every file of a project that is not scratch, and its digest."""
    files = [path for path in files_under(folder) if not _is_scratch(path.relative_to(folder))]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _is_scratch(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def journal_words(folder: Path) -> list[str]:
    """What the journal says was done, in order."""
    lines = (folder / "journal.jsonl").read_text("utf-8").splitlines()
    return [str(json.loads(line).get("what") or json.loads(line).get("verb")) for line in lines]
