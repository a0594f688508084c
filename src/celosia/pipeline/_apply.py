"""`apply`: techniques on a single file or frame, for people who need only that.

Rows keep the order of the file. The result is looked at again: columns that still identify, and how many people stay
at risk over the others, since a treatment alone makes nothing safe (ATENEA 4.2.5).
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines import open_engine
from celosia.data.files import SPILL, own_folder, writing_into
from celosia.data.numbers import number_column
from celosia.data.readers import ingest
from celosia.data.suggest import suggest
from celosia.data.table import Table
from celosia.data.writers import write_csv, write_dta, write_parquet, write_sav, write_xlsx
from celosia.errors import AlreadyExists, PseudonymsNeedProject, UnknownExtension
from celosia.model.changes import Change
from celosia.model.variables import Role
from celosia.pipeline._call import Place, refuse_unknown_choices
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._step_text import plain_step
from celosia.pipeline._steps import losses_between
from celosia.pipeline._suggest import column_facts
from celosia.techniques import NAMES, apply_to_frame, meaning, technique

APPLY_FORMAT = "celosia/apply/1"
_RISKY = 3  # RI = 1/f >= 0.3 means f <= 3 (ATENEA 4.2.3)
_WRITERS: dict[str, Any] = {
    ".csv": write_csv, ".parquet": write_parquet, ".xlsx": write_xlsx, ".sav": write_sav, ".dta": write_dta,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a look at the result says: columns that identify by themselves, people at risk over the rest."""

    rows: int
    identifiers: tuple[str, ...]
    quasi: tuple[str, ...]
    at_risk: int


@dataclass(frozen=True, slots=True)
class Applied:
    """A treated file and the report of each step."""

    path: Path
    changes: tuple[Change, ...]
    remaining: Remaining

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        left = self.remaining
        return {
            "format": APPLY_FORMAT,
            "file": self.path.name,
            "changes": [change.as_dict() for change in self.changes],
            "remaining": {"rows": left.rows, "identifiers": list(left.identifiers), "quasi": list(left.quasi),
                          "at_risk": left.at_risk},
        }  # fmt: skip


class Treated(NamedTuple):
    """A treated frame, of the kind that was given, and what was done to it."""

    frame: Any
    change: Change


def apply_steps(
    source: Any,
    steps: Sequence[Mapping[str, Any]],
    out: Place,
    *,
    seed: str | None = None,
    quasi: Sequence[str] = (),
    overwrite: bool = False,
    report: Progress = None,
    **reading: Any,
) -> Applied:
    """Perform steps on a file, write the result, and look at what remains."""
    target = Path(out)
    if target.suffix.lower() not in _WRITERS:
        raise UnknownExtension(path=str(target), known=", ".join(_WRITERS))
    if target.exists() and not overwrite:
        raise AlreadyExists(path=str(target))
    _refuse_keys(steps)
    refuse_unknown_choices(reading)
    with _private() as private:
        table, decimal = _read(source, private, report, reading)
        table, changes = _performed(table, steps, decimal, _seed_bytes(seed), report)
        remaining = _look(table, private, quasi)
        writer = _WRITERS[target.suffix.lower()]
        writer(table.to_batches(100_000), tuple(table.column_names), target)
    return Applied(target, changes, remaining)


def treat(frame: Any, name: str, *, seed: bytes | str | None = None, **settings: Any) -> Treated:
    """One technique on a pandas, Polars or Arrow frame: the same kind of frame, and the report of the change."""
    step = {"technique": name, **settings}
    _refuse_keys([step])
    with _private() as private:
        table, _ = _read(frame, private, None, {})
    done = apply_to_frame(table, step, _seed_bytes(seed))
    change = replace(done.change, loss=losses_between(table, done.table, done.positions, done.change.renamed, step))
    return Treated(_like(frame, done.table, tuple(done.outcome.columns), done.positions), change)


def describe_techniques(name: str | None = None) -> list[dict[str, Any]]:
    """The techniques and their declared parameters, as data."""
    return [
        {
            "name": one.name,
            "lines": one.lines.value,
            "random": one.random,
            "norms": list(one.norms),
            "parameters": {
                key: {"kind": p.kind, "required": p.required, "choices": list(p.choices), "minimum": p.minimum,
                      "default": _shown_default(p.default), "meaning": meaning(one.name, key)}
                for key, p in one.params.items()
            },
        }
        for one in ([technique(name)] if name else map(technique, NAMES))
    ]  # fmt: skip


def _shown_default(value: Any) -> Any:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if value is None or isinstance(value, bool | int) else str(value)


def _refuse_keys(steps: Sequence[Mapping[str, Any]]) -> None:
    """A pseudonym's key must have a home that is guarded: a project's private folder."""
    for step in steps:
        if technique(str(step.get("technique", ""))).name == "pseudonymise":
            raise PseudonymsNeedProject()


def _seed_bytes(seed: bytes | str | None) -> bytes:
    if seed is None:
        return secrets.token_bytes(32)
    return seed if isinstance(seed, bytes) else seed.encode("utf-8")


@contextlib.contextmanager
def _private() -> Iterator[Path]:
    folder = own_folder(Path(tempfile.gettempdir()), SPILL)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(source: Any, private: Path, report: Progress, reading: Mapping[str, Any]) -> tuple[pa.Table, str]:
    """Every cell of a source as text, in its order, and the decimal mark of the file."""
    copy = private / "working.parquet"
    ingested = ingest(source, copy, progress=stage(report, "read"), **reading)
    with writing_into(private):
        table = pq.read_table(copy, memory_map=False).rename_columns(list(ingested.names))
    texts = table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))
    return texts, "," if ingested.source.choices.decimal == "," else "."


def _performed(
    table: pa.Table, steps: Sequence[Mapping[str, Any]], decimal: str, seed: bytes, report: Progress
) -> tuple[pa.Table, tuple[Change, ...]]:
    changes = []
    told = stage(report, "steps")
    for number, step in enumerate(steps, start=1):
        declared = plain_step(step)
        if "decimal" in technique(declared.get("technique", "")).params:
            declared.setdefault("decimal", decimal)
        done = apply_to_frame(table, declared, seed, f"{number}-{declared['technique']}")
        loss = losses_between(table, done.table, done.positions, done.change.renamed, declared)
        changes.append(replace(done.change, loss=loss))
        table = done.table
        if told:
            told(number / len(steps))
    return table, tuple(changes)


def _look(table: pa.Table, private: Path, quasi: Sequence[str]) -> Remaining:
    """The result as a stranger would see it."""
    names = tuple(table.column_names)
    if not names or not table.num_rows:
        return Remaining(table.num_rows, (), (), 0)
    inside = table.rename_columns([f"c{i}" for i in range(len(names))])
    inside = inside.cast(pa.schema([(name, pa.string()) for name in inside.column_names]))
    with writing_into(private):
        pq.write_table(inside, private / "treated.parquet")
    with contextlib.closing(open_engine(None, private)) as engine:
        treated = Table(engine, engine.parquet(private / "treated.parquet"), names)
        proposed = suggest(column_facts(treated, treated.names))
        identifiers = tuple(v.name for v in proposed if v.role == Role.IDENTIFIER)
        chosen = tuple(quasi) or tuple(v.name for v in proposed if v.role == Role.QUASI)
        if not chosen:
            return Remaining(table.num_rows, identifiers, (), 0)
        rows = treated.tuples(chosen).rows
    return Remaining(table.num_rows, identifiers, chosen, int(rows[rows <= _RISKY].sum()))


def _like(frame: Any, table: pa.Table, changed: Sequence[str], positions: Any) -> Any:
    """The treated table as the kind of frame that was given; untouched columns keep their own types."""
    new = {name: _typed(frame, name, table.column(name)) for name in table.column_names if name in changed}
    if isinstance(frame, pa.Table):
        kept = frame.take(pa.array(positions))
        return pa.table({name: new.get(name, kept.column(name) if name in kept.column_names else None)
                         for name in table.column_names})  # fmt: skip
    if hasattr(frame, "iloc"):  # pandas
        made = frame.iloc[positions].copy()
        for name, column in new.items():
            made[name] = _pandas_column(frame, name, column)
        return made[list(table.column_names)]
    made = frame[positions.tolist()].with_columns(**{n: _polars_series(frame, n, c) for n, c in new.items()})
    return made.select(list(table.column_names))


def _pandas_column(frame: Any, name: str, column: pa.ChunkedArray) -> Any:
    """A changed column for pandas; whole numbers stay in their nullable type."""
    kind = str(frame[name].dtype) if name in frame.columns else ""
    if pa.types.is_integer(column.type) and kind.startswith(("Int", "UInt")):
        import pandas

        return pandas.array(column.to_pylist(), "Int64")
    return column.to_pandas().to_numpy()


def _polars_series(frame: Any, name: str, column: pa.ChunkedArray) -> Any:
    import polars

    return polars.Series(name, polars.from_arrow(column))


def _typed(frame: Any, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A changed column as numbers where it was numbers and still is, else as text; missing as null."""
    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    missing = pa.compute.equal(cells, "")
    read = number_column(cells)
    if _was_number(frame, name) and not read.unreadable and bool((read.plain | np.asarray(missing)).all()):
        return pa.chunked_array([_as_before(frame, name, pa.array(read.values, mask=~read.plain))])
    return pa.chunked_array([pa.compute.if_else(missing, None, cells)])


def _as_before(frame: Any, name: str, numbers: pa.Array) -> pa.Array:
    """Numbers of a column of whole numbers as whole numbers, where they still are."""
    kind = str(frame.schema.field(name).type if isinstance(frame, pa.Table) else frame[name].dtype).lower()
    values = numbers.to_numpy(zero_copy_only=False)
    told = values[~np.isnan(values)]
    if kind.startswith("float") or (np.abs(told) > 2.0**53).any() or (told != np.floor(told)).any():
        return numbers
    return numbers.cast(pa.int64())


def _was_number(frame: Any, name: str) -> bool:
    if isinstance(frame, pa.Table):
        kinds = frame.schema
        kind = kinds.field(name).type if name in kinds.names else None
        return kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind))
    if name not in frame.columns:
        return False
    words = str(frame[name].dtype).lower()
    return words.startswith(("int", "uint", "float"))


__all__ = [
    "APPLY_FORMAT", "Applied", "Remaining", "Treated", "apply_steps", "describe_techniques",
    "treat",
]  # fmt: skip
