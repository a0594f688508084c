"""The check of a frame that was made: its own columns, counted again by an engine that did not make it.

Knows the frame, the plan and the person of each row. What could not be measured has failed.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia import messages
from celosia.data.candidate import PERSON, ReadBack
from celosia.data.counting.coded_columns import CodedColumn
from celosia.data.engines.lazy import LazyEngine
from celosia.data.frame_table import code_frame
from celosia.data.table import Table
from celosia.model.plan import Plan
from celosia.model.verdict import CheckReport, State
from celosia.pipeline.candidate.check_file import SourceReference, checked_columns, judge_read_back
from celosia.pipeline.frames.errors import FrameFails

_NAME = "frame"


def check_frame(
    frame: Any, plan: Plan, reference: SourceReference, person: CodedColumn | None, rows: NDArray[np.int64]
) -> CheckReport:
    """Measure a frame against its policy; one that fails is not given back to anybody."""
    with contextlib.closing(LazyEngine()) as lazy_engine:
        coded = code_frame(frame, lazy_engine)
        names = [name for name in checked_columns(plan, reference) if name in coded.table.names]
        texts = [coded.table.column(name).row_texts() for name in names]
        if person is not None:
            # Whose row each one is was never part of the frame.
            texts.append(pa.array(person.codes[rows].astype(str), pa.string()))
            names.append(PERSON)
        engine = lazy_engine.open()
        table = Table(engine, engine.upload(pa.table({f"c{i}": text for i, text in enumerate(texts)})), names)
        again = ReadBack(
            table,
            coded.ingested.names,
            coded.ingested.source.rows,
            coded.ingested.source.digest,
            None if person is None else PERSON,
        )
        report = judge_read_back(again, _NAME, plan, reference)
    if not report.holds:
        raise FrameFails(failing=_failing(report))
    return report


def _failing(report: CheckReport) -> str:
    failed = [v for v in report.verdicts if v.state not in (State.HOLDS, State.ATTESTED)]
    return ", ".join(f"{messages.text(f'plan.criterion.{v.rule}')} ({v.failing_rows})" for v in failed)
