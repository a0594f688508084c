"""Projects of the three norms with something on every page, made by the same verbs the page calls."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pyarrow as pa
from tests.moving import files_under

from celosia import pipeline
from celosia.data.synthetic import discharges, education_requests, survey, write_raw_csv

QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")
SEED = 2024


def _begun(
    root: Path, name: str, norm: str, table: pa.Table, published: Sequence[str], person: str | None = None
) -> Path:
    scratch = root.parent / f"crudo-{name}"
    scratch.mkdir()
    raw = scratch / f"{name}.csv"
    write_raw_csv(raw, table.to_batches())
    described = scratch / "diccionario.csv"
    labels = [f"{column},{column.replace('_', ' ').capitalize()}" for column in table.column_names]
    described.write_text("\n".join(["variable,etiqueta", *labels]), "utf-8")
    pipeline.init(str(raw), root / name, (norm,), described, person)
    pipeline.state_purpose(root / name, published, "Estudio")
    shutil.rmtree(scratch)
    return root / name


def _kept(folder: Path, verbs: Iterable[str]) -> None:
    for verb in verbs:
        getattr(pipeline, verb)(folder)


def minsal(root: Path, name: str = "egresos", rows: int = 1_500, walked: bool = True) -> Path:
    """Hospital discharges, planned and run."""
    folder = _begun(root, name, "minsal", discharges(rows, SEED), (*QUASI, "DIAG1"), "RUN")
    if walked:
        _kept(folder, ("profile_report", "risk_overview", "risk_scenarios", "search_plan", "run_plan"))
        _kept(folder, ("explain_report", "frontier_report", "check_result", "evaluation_report"))
    return folder


def atenea(root: Path, name: str = "solicitudes") -> Path:
    """Requests for grants, with their risk reports."""
    published = ("Edad", "Departamento", "Nivel de escolaridad", "Ingresos")
    folder = _begun(root, name, "atenea", education_requests(600, SEED), published)
    _kept(folder, ("profile_report", "risk_overview", "risk_scenarios", "risk_special"))
    return folder


def mel(root: Path, name: str = "encuesta") -> Path:
    """A household survey with its geography."""
    published = ("DEPARTAMENTO", "MUNICIPIO", "SEXO", "EDAD", "NIVEL_EDUCATIVO", "CONFIANZA_ALCALDIA")
    folder = _begun(root, name, "mel", survey(600, SEED), published)
    _kept(folder, ("risk_overview", "risk_geography"))
    return folder


NORMS: dict[str, Callable[[Path], Path]] = {"egresos": minsal, "solicitudes": atenea, "encuesta": mel}


def state_of(folder: Path) -> dict[str, str]:
    """Every file of a project that is not scratch, and its digest."""
    files = [path for path in files_under(folder) if not _scratch(path.relative_to(folder))]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _scratch(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def journal_of(folder: Path) -> list[str]:
    """What the journal says was done, in order."""
    lines = (folder / "journal.jsonl").read_text("utf-8").splitlines()
    return [str(json.loads(line).get("what") or json.loads(line).get("verb")) for line in lines]
