"""`apply`: techniques on a single file or frame, for people who need only that.

Rows keep the order of the file. The result is measured again: columns that still identify, and how many people remain
at risk over the others, since a treatment alone makes nothing safe (ATENEA 4.2.5).
"""

from __future__ import annotations

import contextlib
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celosia import messages
from celosia.data.engines.open import open_engine
from celosia.data.readers.ingest import ingest
from celosia.data.table import Table
from celosia.data.writers.csv import write_csv
from celosia.data.writers.parquet import write_parquet
from celosia.data.writers.statistical import write_dta, write_sav
from celosia.data.writers.xlsx import write_xlsx
from celosia.model.changes import StepChange
from celosia.model.paths import WORKING_COPY
from celosia.model.reports.report import Records, Report
from celosia.model.variables import Role
from celosia.pipeline.assessment.errors import PseudonymsNeedProject, UnknownExtension
from celosia.pipeline.assessment.treat_frames import TreatedFrame, change_lines, treat_frame
from celosia.pipeline.intake.proposed_dictionary import column_facts
from celosia.pipeline.planning.step_syntax import plain_step
from celosia.pipeline.planning.steps import losses_between
from celosia.pipeline.project.arguments import PathArg, refuse_unknown_choices
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.proposals.propose import suggest
from celosia.storage import SPILL_PREFIX, AlreadyExists, private_tempdir, remove_folder, translate_write_errors
from celosia.techniques import NAMES, apply_to_frame, meaning, technique

APPLY_FORMAT = "celosia/apply/1"
# RI = 1/f >= 0.3 means f <= 3 (ATENEA 4.2.3).
_RISKY = 3
_WRITERS: dict[str, Any] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".xlsx": write_xlsx,
    ".sav": write_sav,
    ".dta": write_dta,
}


@dataclass(frozen=True, slots=True)
class RemainingRisk:
    """What remains in the result: columns that identify by themselves, people at risk over the rest."""

    rows: int
    identifiers: tuple[str, ...]
    quasi: tuple[str, ...]
    at_risk: int


@dataclass(frozen=True, slots=True, repr=False)
class ApplyResult(Report):
    """A treated file and the report of each step."""

    path: Path
    changes: tuple[StepChange, ...]
    remaining: RemainingRisk

    @property
    def summary(self) -> str:
        """How many treatments there were, and how many rows remain at risk."""
        return messages.text(
            "reports.summary.apply",
            steps=len(self.changes),
            rows=self.remaining.rows,
            at_risk=self.remaining.at_risk,
        )

    def records(self) -> Records:
        """One line per step and column."""
        return [line for change in self.changes for line in change_lines(change)]

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        remaining = asdict(self.remaining)
        return {
            "format": APPLY_FORMAT,
            "file": self.path.name,
            "changes": [change.as_dict() for change in self.changes],
            "remaining": {key: list(value) if isinstance(value, tuple) else value for key, value in remaining.items()},
        }


def apply_steps(
    source: Any,
    steps: Sequence[Mapping[str, Any]],
    out: PathArg,
    *,
    seed: str | None = None,
    quasi: Sequence[str] = (),
    overwrite: bool = False,
    report: Progress = None,
    **reading: Any,
) -> ApplyResult:
    """Perform steps on a file, write the result, and measure the risk that remains."""
    target = Path(out)
    if target.suffix.lower() not in _WRITERS:
        raise UnknownExtension(path=str(target), known=", ".join(_WRITERS))
    if target.exists() and not overwrite:
        raise AlreadyExists(path=str(target))
    _refuse_pseudonyms(steps)
    refuse_unknown_choices(reading)
    with _private_folder() as private:
        table, decimal = _read_texts(source, private, report, reading)
        table, changes = _perform_steps(table, steps, decimal, _seed_bytes(seed), report)
        remaining = _measure_remaining(table, private, quasi)
        writer = _WRITERS[target.suffix.lower()]
        writer(table.to_batches(100_000), tuple(table.column_names), target)
    return ApplyResult(target, changes, remaining)


def treat(frame: Any, name: str, *, seed: bytes | str | int | None = None, **settings: Any) -> TreatedFrame:
    """One technique on a pandas, Polars or Arrow frame: the same kind of frame, and the report of the change.

    A parameter called as a keyword of Python is written with `_` behind it (`as_`), and one column may be a text.
    """
    stated = {key.removesuffix("_"): value for key, value in settings.items()}
    if isinstance(stated.get("columns"), str):
        stated["columns"] = [stated["columns"]]
    step = {"technique": name, **stated}
    _refuse_pseudonyms([step])
    return treat_frame(frame, step, _seed_bytes(seed))


def describe_techniques(name: str | None = None) -> list[dict[str, Any]]:
    """The techniques and their declared parameters, as data."""
    return [
        {
            "name": each_technique.name,
            "lines": each_technique.lines.value,
            "random": each_technique.random,
            "norms": list(each_technique.norms),
            "parameters": {
                key: {**param.as_dict(), "meaning": meaning(each_technique.name, key)}
                for key, param in each_technique.params.items()
            },
        }
        for each_technique in ([technique(name)] if name else map(technique, NAMES))
    ]


def _refuse_pseudonyms(steps: Sequence[Mapping[str, Any]]) -> None:
    """Refuse pseudonyms: their key must be stored in the private folder of a project."""
    for step in steps:
        if technique(str(step.get("technique", ""))).name == "pseudonymise":
            raise PseudonymsNeedProject()


def _seed_bytes(seed: bytes | str | int | None) -> bytes:
    if seed is None:
        return secrets.token_bytes(32)
    return seed if isinstance(seed, bytes) else str(seed).encode("utf-8")


@contextlib.contextmanager
def _private_folder() -> Iterator[Path]:
    folder = private_tempdir(Path(tempfile.gettempdir()), SPILL_PREFIX)
    try:
        yield folder
    finally:
        remove_folder(folder)


def _read_texts(source: Any, private: Path, report: Progress, reading: Mapping[str, Any]) -> tuple[pa.Table, str]:
    """Every cell of a source as text, in its order, and the decimal mark of the file."""
    copy = private / WORKING_COPY
    ingested = ingest(source, copy, progress=stage_progress(report, "read"), **reading)
    with translate_write_errors(private):
        table = pq.read_table(copy, memory_map=False).rename_columns(list(ingested.names))
    texts = table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))
    return texts, "," if ingested.source.choices.decimal == "," else "."


def _perform_steps(
    table: pa.Table, steps: Sequence[Mapping[str, Any]], decimal: str, seed: bytes, report: Progress
) -> tuple[pa.Table, tuple[StepChange, ...]]:
    changes = []
    progress = stage_progress(report, "steps")
    for number, step in enumerate(steps, start=1):
        declared = plain_step(step)
        if "decimal" in technique(declared.get("technique", "")).params:
            declared.setdefault("decimal", decimal)
        result = apply_to_frame(table, declared, seed, f"{number}-{declared['technique']}")
        loss = losses_between(table, result.table, result.positions, result.change, declared)
        changes.append(replace(result.change, loss=loss))
        table = result.table
        progress(number / len(steps))
    return table, tuple(changes)


def _measure_remaining(table: pa.Table, private: Path, quasi: Sequence[str]) -> RemainingRisk:
    """The identifiers and the people at risk in the result, as an outsider would see it."""
    names = tuple(table.column_names)
    if not names or not table.num_rows:
        return RemainingRisk(table.num_rows, (), (), 0)
    inside = table.rename_columns([f"c{i}" for i in range(len(names))])
    inside = inside.cast(pa.schema([(name, pa.string()) for name in inside.column_names]))
    with translate_write_errors(private):
        pq.write_table(inside, private / "treated.parquet")
    with contextlib.closing(open_engine(None, private)) as engine:
        treated = Table(engine, engine.parquet(private / "treated.parquet"), names)
        proposed = suggest(column_facts(treated, treated.names))
        identifiers = tuple(v.name for v in proposed if v.role == Role.IDENTIFIER)
        quasi_names = tuple(quasi) or tuple(v.name for v in proposed if v.role == Role.QUASI)
        if not quasi_names:
            return RemainingRisk(table.num_rows, identifiers, (), 0)
        rows = treated.tuples(quasi_names).rows
    return RemainingRisk(table.num_rows, identifiers, quasi_names, int(rows[rows <= _RISKY].sum()))
