"""The declared steps of a project, performed on its working copy before the search looks at it.

A technique by value is one join; one by row gets only its columns, in the canonical order of the rows, and what it
makes of them is joined to the others inside the engine, which keeps that table as long as the run lasts. Removed
columns stay available, so that persons can still be counted, and are no longer published. Every technique runs on every
engine; one by row works in this process on the columns it uses, so a step that memory cannot hold is refused before any
step runs.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from celosia.data.numbers import NumberColumn, number_column
from celosia.data.table import Table
from celosia.data.writers.csv import write_csv
from celosia.model.changes import StepChange
from celosia.model.parameters import conflict
from celosia.model.paths import ProjectPaths
from celosia.model.values import MISSING
from celosia.model.variables import Scale, Treatment, Variable
from celosia.pipeline.intake.open_table import OpenTable
from celosia.pipeline.planning.errors import StepTooLarge, UnmappedListed
from celosia.pipeline.planning.step_syntax import plain_step, with_paths
from celosia.pipeline.project.errors import SeedMissing
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.pipeline.project.pseudonym_keys import key_for, refuse_pseudonyms, save_codebook
from celosia.storage import (
    PRIVATE_FILE,
    atomic_write,
    make_private_folder,
    temporary_folder_beside,
    translate_write_errors,
)
from celosia.techniques import (
    Draws,
    Lines,
    StepInput,
    StepOutcome,
    Technique,
    names_after,
    perform,
    read_step,
    refuse_repeated,
    unknown_in,
)
from celosia.techniques import technique as find_technique
from celosia.techniques.errors import UnmappedValues

_NUMBERS = (Scale.CONTINUOUS, Scale.DISCRETE)
_SAFE_GROUP = 3  # ATENEA 4.2.4
_FEWER_ROWS = ("select", "remove_records")  # after one of these, the rows are counted again
# Bytes outside the engine, as measured of rank swapping, noise and microaggregation: a row, and each of its columns.
# They are still there while the engine joins what the step made, and the engine has half of the memory.
_ROW_BYTES, _CELL_BYTES, _WITH_ENGINE = 150, 160, 2
_TENTH_GIGABYTE = 10**8
Numbers = Callable[[pa.Array], NumberColumn]


@dataclass(frozen=True, slots=True)
class AfterSteps:
    """A source after the steps of its project."""

    source: OpenTable
    steps: tuple[Mapping[str, Any], ...]
    changes: tuple[StepChange, ...]
    seed: str  # "none" where no step draws, else "kept"


@dataclass(frozen=True, slots=True)
class StepContext:
    """Where a step happens: its project's files, a private folder for its tables, its label, its seed."""

    paths: ProjectPaths
    scratch: Path
    label: str
    seed: bytes
    fresh: bool  # whether a key may be drawn where none is kept


@contextlib.contextmanager
def apply_project_steps(
    project: Project, source: OpenTable, *, fresh: bool = False, report: Progress = None
) -> Iterator[AfterSteps]:
    """The source after the project's steps; `fresh` may draw a new seed where none is kept."""
    steps = tuple(plain_step(step) for step in project.settings.get("steps", ()))
    if not steps:
        yield AfterSteps(source, (), (), "none")
        return
    refuse_pseudonyms(project.config.protocols, steps)
    refuse_small_groups(project.config.protocols, steps)
    random = any(read_step(step)[0].random for step in steps)
    seed = read_seed(project, fresh) if random else b""
    progress = stage_progress(report, "steps")
    with temporary_folder_beside(project.paths.working_copy) as scratch:
        changes = []
        for number, step in enumerate(steps):
            if number == 0 or read_step(steps[number - 1])[0].name in _FEWER_ROWS:
                refuse_too_large(source.table, steps[number:], source.table.engine.memory)
            label = f"{number + 1}-{step['technique']}"
            source, change = apply_step(source, step, StepContext(project.paths, scratch, label, seed, fresh))
            changes.append(change)
            progress((number + 1) / len(steps))
        yield AfterSteps(source, steps, tuple(changes), "kept" if random else "none")


def refuse_too_large(table: Table, steps: Sequence[Mapping[str, Any]], memory: int) -> None:
    """Stop the first step by row that `memory` does not hold, as far as the number of rows is known."""
    rows = -1
    for step in steps:
        technique, settings = read_step(step)
        if technique.lines is Lines.ROWS:
            rows = table.count_rows() if rows < 0 else rows
            columns = len(set(technique.uses(settings)))
            need = rows * (_ROW_BYTES + _CELL_BYTES * columns) * _WITH_ENGINE
            if need > memory:
                # Rounded so that the amount named is one that suffices.
                figures = {"need": -(-need // _TENTH_GIGABYTE) / 10, "memory": memory // _TENTH_GIGABYTE / 10}
                raise StepTooLarge(technique=technique.name, columns=columns, rows=rows, **figures)
        if technique.name in _FEWER_ROWS:
            return


def refuse_small_groups(protocols: Sequence[str], steps: Sequence[Mapping[str, Any]]) -> None:
    """Stop groups of two under ATENEA, which asks for three, whatever a step says of other norms."""
    if any(protocol.lower().split("-")[0] == "atenea" for protocol in protocols):
        for step in steps:
            chosen, settings = read_step(step)
            if chosen.name == "microaggregate" and settings["k"] < _SAFE_GROUP:
                raise conflict(chosen.name, "k", "groups_of_three", "techniques")


def read_seed(project: Project, fresh: bool) -> bytes:
    """The project's random seed; it stays in private/ and never enters a release."""
    path = project.paths.seed
    if path.is_file():
        return path.read_bytes()
    if not fresh:
        raise SeedMissing(path=str(path))
    make_private_folder(path.parent)
    with atomic_write(path, PRIVATE_FILE) as draft:
        draft.write_bytes(secrets.token_bytes(32))
    return path.read_bytes()


def destroy_seed(project: Project) -> bool:
    """Overwrite and remove the seed; True where there was one."""
    path = project.paths.seed
    if not path.is_file():
        return False
    with translate_write_errors(path.parent):
        path.write_bytes(secrets.token_bytes(32))
        path.unlink()
    return True


def with_defaults(step: Mapping[str, Any], source: OpenTable) -> dict[str, Any]:
    """A step with what the project already says: the person key and the decimal mark."""
    technique, _ = read_step(step)
    filled = dict(step)
    if "person" in technique.params and "person" not in step and source.person is not None:
        filled["person"] = source.person  # k counts persons where they can be distinguished
    if "decimal" in technique.params and "decimal" not in step and source.source.choices.decimal in (".", ","):
        filled["decimal"] = source.source.choices.decimal
    return filled


def apply_step(source: OpenTable, step: Mapping[str, Any], at: StepContext) -> tuple[OpenTable, StepChange]:
    """The source after one step, and what the step did; columns treated apart are treated one by one."""
    technique, settings = read_step(with_defaults(with_paths(step, at.paths.folder), source))
    if "unknown" in technique.params and "unknown" not in step:
        settings["unknown"] = {v.name: v.unknown for v in source.variables if v.unknown}  # each column has its own
    columns = settings.get("columns", ())
    if not technique.apart or len(columns) < 2:
        source, change, _ = _perform(source, technique, settings, at)
        return source, change
    before, changes, touched = source.table, [], {}
    for column in columns:
        inner = replace(at, label=f"{at.label}-{column}")
        source, change, differs = _perform(source, technique, {**settings, "columns": (column,)}, inner)
        changes.append(change)
        touched[column] = differs
    return source, combine_changes(changes, rows_touched(before, touched))


def rows_touched(table: Table, touched: Mapping[str, tuple[pa.Array, Any]]) -> int:
    """The rows of a table in which one column at least changes; per column, its values and which of them do."""
    some = {name: pair for name, pair in touched.items() if pair[1].any()}
    if not some:
        return 0
    origins = {name: name for name in some}
    for name, (values, differs) in some.items():
        flags_of_values = pa.array(np.where(differs, "1", "0"), pa.large_string())
        table = table.with_values({name: values}, {name: flags_of_values}, origins)
    flags = table.tuples(tuple(some))
    return int(flags.rows[(flags.codes == [words.index("1") for words in flags.vocabularies]).any(axis=1)].sum())


def _perform(
    source: OpenTable, technique: Technique, settings: dict[str, Any], at: StepContext
) -> tuple[OpenTable, StepChange, tuple[pa.Array, Any]]:
    """The source after a step, the report, and for a step on one column its values and which of them change."""
    if technique.name == "pseudonymise":
        settings["key"] = key_for(at.paths.keys, at.label, at.fresh).hex()
    used = tuple(dict.fromkeys(technique.uses(settings)))
    if used:
        source.table.schema.checked_names(used, technique.name)
    with _lines_of(source.table, used, technique.lines, at.scratch) as (lines, given):
        try:
            outcome, change = perform(technique, settings, given, Draws(at.seed, at.label))
        except UnmappedValues as stop:
            raise _unmapped_list(stop, technique, settings, given, at) from None
        change = replace(change, rows=int(given.rows.sum()), loss=column_losses(given, outcome, settings, technique))
        for name, (old, new) in outcome.codebook.items():
            save_codebook(at.paths.keys, f"{at.label}-{name}", old, new)
        table = _table_after(source.table, lines, given, outcome, at.scratch)
    after = replace(
        source,
        table=table,
        variables=_variables_after(source.variables, outcome, settings),
        person=_person_after(source.person, outcome),
    )
    return after, change, _values_that_change(given, outcome)


def _unmapped_list(
    stop: UnmappedValues, technique: Technique, settings: Mapping[str, Any], given: StepInput, at: StepContext
) -> UnmappedListed:
    """The refusal that says where the private list of what to map was left."""
    values = technique.uncovered(given, settings) if technique.uncovered else []
    path = make_private_folder(at.paths.unmapped) / f"{at.label.split('-')[0]}.csv"
    empty = pa.array([MISSING] * len(values), pa.large_string())
    write_csv([pa.record_batch([pa.array(values, pa.large_string()), empty], ["old", "new"])], ("old", "new"), path)
    facts = {key: stop.values[key] for key in ("technique", "variable", "distinct", "rows")}
    return UnmappedListed(**facts, path=str(path))


def _values_that_change(given: StepInput, outcome: StepOutcome) -> tuple[pa.Array, Any]:
    """The values of the first column a step treats, and which of them it changes."""
    for name, new in outcome.columns.items():
        old = given.columns.get(outcome.stands_for.get(name, name))
        if old is not None:
            return old, np.asarray(pc.not_equal(old, new).to_numpy(zero_copy_only=False), bool)
    return pa.array([], pa.large_string()), np.zeros(0, bool)


def combine_changes(changes: Sequence[StepChange], rows_touched: int) -> StepChange:
    """One report for a step whose columns were treated one by one."""
    first = changes[0]
    notes = {name: dict(change.notes) for change in changes for name in change.columns}
    return replace(
        first,
        columns=tuple(name for change in changes for name in change.columns),
        rows_touched=rows_touched,
        cells_touched={name: count for change in changes for name, count in change.cells_touched.items()},
        removed=tuple(name for change in changes for name in change.removed),
        renamed={new: old for change in changes for new, old in change.renamed.items()},
        notes=notes if any(change.notes for change in changes) else first.notes,
        loss={name: lost for change in changes for name, lost in change.loss.items()},
    )


@contextlib.contextmanager
def _lines_of(
    table: Table, used: Sequence[str], lines: Lines, scratch: Path
) -> Iterator[tuple[Table | None, StepInput]]:
    """What a technique is given of a table; for one by row, also the table kept in the order of its rows."""
    if lines is Lines.VALUES:
        yield None, replace(_values_of(table, used), names=table.names)
    elif not used:
        yield None, StepInput({}, np.ones(table.count_rows(), np.int64), table.names)  # an order of rows needs no cell
    else:
        with table.keep_ranked(scratch) as ranked:
            columns = ranked.ranked_columns(used)
            yield ranked, StepInput(columns, np.ones(len(columns[used[0]]), np.int64), table.names)


def _values_of(table: Table, used: Sequence[str]) -> StepInput:
    """The distinct combinations of the columns a technique uses."""
    if not used:
        return StepInput({}, np.array([table.count_rows()], np.int64))
    if len(used) == 1:
        frequencies = table.frequencies(used[0])
        return StepInput({used[0]: frequencies.values.cast(pa.large_string())}, frequencies.counts)
    tuples = table.tuples(used)
    texts = [pa.array(vocabulary, pa.large_string()) for vocabulary in tuples.vocabularies]
    columns = {name: texts[i].take(pa.array(tuples.codes[:, i])) for i, name in enumerate(used)}
    return StepInput(columns, tuples.rows)


def column_losses(
    given: StepInput, outcome: StepOutcome, settings: Mapping[str, Any], technique: Technique
) -> dict[str, float | None]:
    """What each column lost."""
    losses = {}
    for name, new in outcome.columns.items():
        old = outcome.stands_for.get(name, name)
        if old in given.columns:
            numbers = None if technique.categories else _numbers_of(settings, old)
            losses[name] = _lost_share(given.columns[old], new, given.rows, numbers)
    return losses


def _numbers_of(settings: Mapping[str, Any], name: str) -> Numbers:
    """How a step reads the numbers of a column."""
    return partial(number_column, decimal=settings.get("decimal") or ".", unknown=unknown_in(settings, name))


def losses_between(
    before: pa.Table, after: pa.Table, positions: Any, change: StepChange, settings: Mapping[str, Any]
) -> dict[str, float | None]:
    """What each column of a table held in memory lost, over the rows that stay."""
    rows = np.ones(after.num_rows, np.int64)
    rows_before = before.take(pa.array(positions))
    losses: dict[str, float | None] = {}
    for name in after.column_names:
        old = change.renamed.get(name, name)
        if old in rows_before.column_names:
            old_values, other = rows_before.column(old).combine_chunks(), after.column(name).combine_chunks()
            if not old_values.equals(other):
                numbers = None if find_technique(change.technique).categories else _numbers_of(settings, old)
                losses[name] = _lost_share(old_values, other, rows, numbers)
    return losses


def _lost_share(before: pa.Array, after: pa.Array, rows: Any, numbers: Numbers | None) -> float | None:
    """The share of variance for numbers, the share of changed cells for the rest, also for categories in figures."""
    if numbers is not None:
        old, new = numbers(before), numbers(after)
        if old.plain.any() and not old.unreadable and not new.unreadable and (old.plain == new.plain).all():
            return _variance_lost(old.values[old.plain], new.values[new.plain], rows[old.plain])
    differs = np.asarray(pc.not_equal(before, after).to_numpy(zero_copy_only=False), bool)
    total = float(rows.sum())
    return float(rows[differs].sum()) / total if total else None


def _variance_lost(old: Any, new: Any, rows: Any) -> float | None:
    scale = float(np.abs(old).max(initial=0.0)) or 1.0  # so that squares of very large numbers stay finite
    old, new = old / scale, new / scale
    mean = float((old * rows).sum() / rows.sum())
    spread = float((rows * (old - mean) ** 2).sum())
    return float((rows * (old - new) ** 2).sum()) / spread if spread > 0 else None


def _table_after(table: Table, ranked: Table | None, given: StepInput, outcome: StepOutcome, scratch: Path) -> Table:
    # A column that is only removed stays in the table and is no longer published.
    names = names_after(table.names, replace(outcome, removed=tuple(outcome.stands_for.values())))
    origins = {name: outcome.stands_for.get(name, name) for name in names}
    refuse_repeated(table.names, outcome)
    by_row = ranked is not None or outcome.order is not None
    if by_row and not outcome.columns and outcome.dropped is None:
        return table  # an order of rows: the release has its own, by published values
    if ranked is None:
        return table.with_values(given.columns, outcome.columns, origins, outcome.dropped)
    return ranked.with_ranked_values(outcome.columns, origins, outcome.dropped, scratch)


def _variables_after(
    variables: Sequence[Variable], outcome: StepOutcome, settings: Mapping[str, Any]
) -> tuple[Variable, ...]:
    """The dictionary after a step: new names, what numbers became labels, what is no longer published."""
    new_names = {old: new for new, old in outcome.stands_for.items()}
    lines = []
    for variable in variables:
        name = new_names.get(variable.name, variable.name)
        if name in outcome.columns:
            lines.append(replace(variable, name=name, scale=_scale_after(variable, name, outcome, settings)))
        elif variable.name in outcome.removed:
            lines.append(replace(variable, purpose="", treatment=Treatment.REMOVE))
        else:
            lines.append(variable)
    known = {variable.name for variable in lines}
    return (*lines, *(Variable(name) for name in outcome.columns if name not in known))


def _scale_after(variable: Variable, name: str, outcome: StepOutcome, settings: Mapping[str, Any]) -> Scale | None:
    numbers = _numbers_of(settings, variable.name)
    if variable.scale in _NUMBERS and not numbers(outcome.columns[name]).unreadable:
        return variable.scale
    dates = variable.scale == Scale.DATE and "multiset" in outcome.preserved  # swapped dates are dates
    return variable.scale if variable.scale is None or dates else Scale.CATEGORICAL


def _person_after(person: str | None, outcome: StepOutcome) -> str | None:
    return next((new for new, old in outcome.stands_for.items() if old == person), person)
