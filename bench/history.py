"""Runs that were recorded, and what became worse since.

A record is a small file in bench/history: date, commit, machine, and the ratio of each figure with its spread. A
figure is compared with the last record that has it, of a comparable machine and the same scale. Only ratios are
compared; more than a quarter worse is a regression.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.frame import Measured
from bench.machine import comparable

FORMAT = "celosia/bench-record/1"
FOLDER = Path(__file__).resolve().parent / "history"
WORSE = 1.25


@dataclass(frozen=True, slots=True)
class Past:
    """The ratios of one figure in the records that count, oldest first."""

    ratios: tuple[float, ...] = ()
    when: str = ""  # date of the last

    @property
    def last(self) -> float | None:
        """What a new ratio is compared with."""
        return self.ratios[-1] if self.ratios else None


@dataclass(frozen=True, slots=True)
class History:
    """The past of every figure, for one machine and scale."""

    figures: Mapping[str, Past]

    def of(self, figure: Measured) -> Past:
        """What is known of a figure."""
        return self.figures.get(figure.id, Past()) if figure.figure.compared else Past()

    def change(self, figure: Measured) -> float | None:
        """The new ratio over the last one, or None where there is nothing to compare."""
        last = self.of(figure).last
        return figure.median / last if figure.ratios and not figure.bound and last else None

    def worse(self, figure: Measured) -> bool:
        """Whether the ratio grew by more than a quarter."""
        return (self.change(figure) or 0.0) > WORSE


def read_records(folder: Path = FOLDER) -> tuple[dict[str, Any], ...]:
    """All records, oldest first; a file of another format is refused by name."""
    found = []
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text("utf-8"))
        if record.get("format") != FORMAT:
            raise ValueError(f"{path.name} is not {FORMAT}")
        found.append(record)
    return tuple(sorted(found, key=lambda record: record["started"]))


def history_for(records: Iterable[Mapping[str, Any]], machine: Mapping[str, Any], small: bool) -> History:
    """The past that a run on this machine and scale is compared with."""
    figures: dict[str, Past] = {}
    for record in records:
        if record["small"] == small and comparable(record["machine"], machine):
            for name, figure in record["figures"].items():
                earlier = figures.get(name, Past())
                figures[name] = Past((*earlier.ratios, figure["ratio"]), record["started"][:10])
    return History(figures)


def record_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a report: the ratios that were measured to the end."""
    figures = {
        figure["id"]: {key: figure[key] for key in ("ratio", "least", "most", "ours", "peak")}
        for bench in report["benches"]
        for figure in bench["figures"]
        if figure["ratio"] is not None and not figure["bound"]
    }
    kept = {key: report[key] for key in ("started", "commit", "small", "busy", "machine")}
    return {"format": FORMAT, **kept, "figures": figures}


def write_record(report: Mapping[str, Any], folder: Path = FOLDER) -> Path:
    """Keep a report in the history: one file, named by its day and a short digest."""
    text = json.dumps(record_of(report), indent=1, ensure_ascii=False) + "\n"
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / f"{report['started'][:10]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    path.write_text(text, "utf-8")
    return path


def regressions(figures: Sequence[Measured], history: History) -> tuple[Measured, ...]:
    """Figures whose ratio became worse."""
    return tuple(figure for figure in figures if history.worse(figure))
