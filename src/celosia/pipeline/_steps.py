"""The declared steps of a project, performed on its working copy before the search looks at it.

A technique by value is one join; one by row gets just its columns, in the canonical order of the rows, and what it
makes of them is joined to the others inside the engine, which keeps that table as long as the run lasts. Removed
columns stay within reach, so that persons can still be counted, and are published no more.
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

from celosia.data.files import PRIVATE_FILE, private_folder, replacing, scratch_beside, writing_into
from celosia.data.numbers import NumberColumn, number_column
from celosia.data.table import Table
from celosia.data.writers import write_csv
from celosia.errors import SeedMissing, UnmappedListed, UnmappedValues
from celosia.model.changes import Change
from celosia.model.parameters import conflict
from celosia.model.schema import Schema
from celosia.model.values import MISSING
from celosia.model.variables import Scale, Treatment, Variable
from celosia.pipeline._keys import key_for, refuse_pseudonyms, save_codebook
from celosia.pipeline._open import Opened
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import Project, read_toml
from celosia.pipeline._step_size import leaves_fewer_rows, refuse_too_large
from celosia.pipeline._step_text import plain_step, with_paths
from celosia.techniques import (
    Draws,
    Given,
    Lines,
    Outcome,
    Technique,
    names_after,
    perform,
    refuse_repeated,
    understood,
    unknown_in,
)

_NUMBERS = (Scale.CONTINUOUS, Scale.DISCRETE)
_SAFE_GROUP = 3  # ATENEA 4.2.4
Numbers = Callable[[pa.Array], NumberColumn]


@dataclass(frozen=True, slots=True)
class Stepped:
    """A source after the steps of its project."""

    found: Opened
    steps: tuple[Mapping[str, Any], ...]
    changes: tuple[Change, ...]
    seed: str  # "none" where no step draws, else "kept"


@dataclass(frozen=True, slots=True)
class StepPlace:
    """Where a step happens: its project, a private folder for its tables, its name, its chance."""

    folder: Path
    scratch: Path
    label: str
    seed: bytes
    fresh: bool  # whether a key may be drawn where none is kept


@contextlib.contextmanager
def stepped(project: Project, found: Opened, *, fresh: bool = False, report: Progress = None) -> Iterator[Stepped]:
    """The source after the project's steps; `fresh` may draw a new seed where none is kept."""
    declared = read_toml(project.folder / "celosia.toml").get("steps", ())
    steps = tuple(plain_step(step) for step in declared)
    if not steps:
        yield Stepped(found, (), (), "none")
        return
    refuse_pseudonyms(project.config.protocols, steps)
    refuse_small_groups(project.config.protocols, steps)
    random = any(understood(step)[0].random for step in steps)
    seed = seed_of(project.folder, fresh) if random else b""
    told = stage(report, "steps")
    with scratch_beside(project.folder / "private" / "steps") as scratch:
        changes = []
        for number, step in enumerate(steps):
            if number == 0 or leaves_fewer_rows(steps[number - 1]):
                refuse_too_large(found.table, steps[number:], found.table.engine.memory)
            label = f"{number + 1}-{step['technique']}"
            found, change = one_step(found, step, StepPlace(project.folder, scratch, label, seed, fresh))
            changes.append(change)
            if told:
                told((number + 1) / len(steps))
        yield Stepped(found, steps, tuple(changes), "kept" if random else "none")


def refuse_small_groups(protocols: Sequence[str], steps: Sequence[Mapping[str, Any]]) -> None:
    """Stop groups of two under ATENEA, which asks for three, whatever a step says of other norms."""
    if any(protocol.lower().split("-")[0] == "atenea" for protocol in protocols):
        for step in steps:
            chosen, settings = understood(step)
            if chosen.name == "microaggregate" and settings["k"] < _SAFE_GROUP:
                raise conflict(chosen.name, "k", "groups_of_three", "techniques")


def seed_of(folder: Path, fresh: bool) -> bytes:
    """The project's seed of chance; kept in private/ alone, it never enters a release."""
    path = folder / "private" / "seed"
    if path.is_file():
        return path.read_bytes()
    if not fresh:
        raise SeedMissing(path=str(path))
    private_folder(path.parent)
    with replacing(path, PRIVATE_FILE) as draft:
        draft.write_bytes(secrets.token_bytes(32))
    return path.read_bytes()


def destroy_seed(folder: Path) -> bool:
    """Overwrite and remove the seed; True where there was one."""
    path = folder / "private" / "seed"
    if not path.is_file():
        return False
    with writing_into(path.parent):
        path.write_bytes(secrets.token_bytes(32))
        path.unlink()
    return True


def with_defaults(step: Mapping[str, Any], found: Opened) -> dict[str, Any]:
    """A step with what the project already says: the person key and the decimal mark."""
    technique, _ = understood(step)
    filled = dict(step)
    if "person" in technique.params and "person" not in step and found.person is not None:
        filled["person"] = found.person  # k counts persons where they can be told apart
    if "decimal" in technique.params and "decimal" not in step and found.source.choices.decimal in (".", ","):
        filled["decimal"] = found.source.choices.decimal
    return filled


def one_step(found: Opened, step: Mapping[str, Any], at: StepPlace) -> tuple[Opened, Change]:
    """The source after one step, and what the step did; columns treated apart are walked one by one."""
    technique, settings = understood(with_defaults(with_paths(step, at.folder), found))
    if "unknown" in technique.params and "unknown" not in step:
        settings["unknown"] = {v.name: v.unknown for v in found.variables if v.unknown}  # each column has its own
    columns = settings.get("columns", ())
    if not technique.apart or len(columns) < 2:
        found, change, _ = _performed(found, technique, settings, at)
        return found, change
    before, changes, touched = found.table, [], {}
    for column in columns:
        inner = replace(at, label=f"{at.label}-{column}")
        found, change, differs = _performed(found, technique, {**settings, "columns": (column,)}, inner)
        changes.append(change)
        touched[column] = differs
    return found, together(changes, rows_touched(before, touched))


def rows_touched(table: Table, touched: Mapping[str, tuple[pa.Array, Any]]) -> int:
    """The rows of a table in which one column at least changes; per column, its values and which of them do."""
    some = {name: pair for name, pair in touched.items() if pair[1].any()}
    if not some:
        return 0
    origins = {name: name for name in some}
    for name, (values, differs) in some.items():
        table = table.with_values({name: values}, {name: _yes_or_no(differs)}, origins)
    flags = table.tuples(tuple(some))
    return int(flags.rows[(flags.codes == [words.index("1") for words in flags.vocabularies]).any(axis=1)].sum())


def _yes_or_no(differs: Any) -> pa.Array:
    return pa.array(np.where(differs, "1", "0"), pa.large_string())


def _performed(
    found: Opened, technique: Technique, settings: dict[str, Any], at: StepPlace
) -> tuple[Opened, Change, tuple[pa.Array, Any]]:
    """The source after a step, the report, and for a step on one column its values and which of them change."""
    if technique.name == "pseudonymise":
        settings["key"] = key_for(at.folder, at.label, at.fresh).hex()
    used = tuple(dict.fromkeys(technique.uses(settings)))
    if used:
        found.table.schema.chosen(used, technique.name)
    with _lines_of(found.table, used, technique.lines, at.scratch) as (lines, given):
        try:
            outcome, change = perform(technique, settings, given, Draws(at.seed, at.label))
        except UnmappedValues as stop:
            raise _listed(stop, technique, settings, given, at) from None
        change = replace(change, rows=int(given.rows.sum()), loss=losses(given, outcome, settings))
        for name, (old, new) in outcome.codebook.items():
            save_codebook(at.folder, f"{at.label}-{name}", old, new)
        table = _table_after(found.table, lines, given, outcome, at.scratch)
    after = replace(found, table=table, variables=_variables_after(found.variables, outcome, settings),
                    person=_renamed(found.person, outcome))  # fmt: skip
    return after, change, _values_that_change(given, outcome)


def _listed(
    stop: UnmappedValues, technique: Technique, settings: Mapping[str, Any], given: Given, at: StepPlace
) -> UnmappedListed:
    """The refusal that says where the private list of what to map was left."""
    values = technique.uncovered(given, settings) if technique.uncovered else []
    path = private_folder(at.folder / "private" / "unmapped") / f"{at.label.split('-')[0]}.csv"
    empty = pa.array([MISSING] * len(values), pa.large_string())
    write_csv([pa.record_batch([pa.array(values, pa.large_string()), empty], ["old", "new"])], ("old", "new"), path)
    facts = {key: stop.values[key] for key in ("technique", "variable", "distinct", "rows")}
    return UnmappedListed(**facts, path=str(path))


def _values_that_change(given: Given, outcome: Outcome) -> tuple[pa.Array, Any]:
    """The values of the first column a step treats, and which of them it changes."""
    for name, new in outcome.columns.items():
        old = given.columns.get(outcome.stands_for.get(name, name))
        if old is not None:
            return old, np.asarray(pc.not_equal(old, new).to_numpy(zero_copy_only=False), bool)
    return pa.array([], pa.large_string()), np.zeros(0, bool)


def together(changes: Sequence[Change], rows_touched: int) -> Change:
    """One report for a step whose columns were treated one by one."""
    first = changes[0]
    return replace(
        first,
        columns=tuple(name for one in changes for name in one.columns),
        rows_touched=rows_touched,
        cells_touched={name: count for one in changes for name, count in one.cells_touched.items()},
        removed=tuple(name for one in changes for name in one.removed),
        renamed={new: old for one in changes for new, old in one.renamed.items()},
        notes=first.notes if all(not one.notes for one in changes) else _notes(changes),
        loss={name: lost for one in changes for name, lost in one.loss.items()},
    )


def _notes(changes: Sequence[Change]) -> dict[str, Any]:
    """Notes by column where there are several."""
    return {name: dict(one.notes) for one in changes for name in one.columns}


@contextlib.contextmanager
def _lines_of(table: Table, used: Sequence[str], lines: Lines, scratch: Path) -> Iterator[tuple[Table | None, Given]]:
    """What a technique is given of a table; for one by row, also the table kept in the order of its rows."""
    if lines is Lines.VALUES:
        yield None, replace(_values_of(table, used), names=table.names)
    elif not used:
        yield None, Given({}, np.ones(table.count_rows(), np.int64), table.names)  # an order of rows needs no cell
    else:
        with table.ranked(scratch) as ranked:
            columns = ranked.ranked_columns(used)
            yield ranked, Given(columns, np.ones(len(columns[used[0]]), np.int64), table.names)


def _values_of(table: Table, used: Sequence[str]) -> Given:
    """The distinct combinations of the columns a technique uses."""
    if not used:
        return Given({}, np.array([table.count_rows()], np.int64))
    if len(used) == 1:
        found = table.frequencies(used[0])
        return Given({used[0]: found.values.cast(pa.large_string())}, found.counts)
    tuples = table.tuples(used)
    texts = [pa.array(vocabulary, pa.large_string()) for vocabulary in tuples.vocabularies]
    return Given({n: t.take(pa.array(tuples.codes[:, i])) for i, (n, t) in enumerate(zip(used, texts, strict=True))},
                 tuples.rows)  # fmt: skip


def losses(given: Given, outcome: Outcome, settings: Mapping[str, Any]) -> dict[str, float | None]:
    """What each column lost."""
    found = {}
    for name, new in outcome.columns.items():
        old = outcome.stands_for.get(name, name)
        if old in given.columns:
            found[name] = _lost(given.columns[old], new, given.rows, _numbers_of(settings, old))
    return found


def _numbers_of(settings: Mapping[str, Any], name: str) -> Numbers:
    """How a step reads the numbers of a column."""
    return partial(number_column, decimal=settings.get("decimal") or ".", unknown=unknown_in(settings, name))


def losses_between(
    before: pa.Table, after: pa.Table, positions: Any, renamed: Mapping[str, str], settings: Mapping[str, Any]
) -> dict[str, float | None]:
    """What each column of a table held in memory lost, over the rows that stay."""
    rows = np.ones(after.num_rows, np.int64)
    kept = before.take(pa.array(positions))
    found: dict[str, float | None] = {}
    for name in after.column_names:
        old = renamed.get(name, name)
        if old in kept.column_names:
            one, other = kept.column(old).combine_chunks(), after.column(name).combine_chunks()
            if not one.equals(other):
                found[name] = _lost(one, other, rows, _numbers_of(settings, old))
    return found


def _lost(before: pa.Array, after: pa.Array, rows: Any, numbers: Numbers) -> float | None:
    """The share of variance for numbers, the share of changed cells for the rest."""
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


def _table_after(table: Table, ranked: Table | None, given: Given, outcome: Outcome, scratch: Path) -> Table:
    kept = replace(outcome, removed=tuple(outcome.stands_for.values()))  # what only leaves is no longer published
    names = names_after(table.names, kept)
    origins = {name: outcome.stands_for.get(name, name) for name in names}
    refuse_repeated(table.names, outcome)
    by_row = ranked is not None or outcome.order is not None
    if by_row and not outcome.columns and outcome.dropped is None:
        return table  # an order of rows: the release has its own, by published values
    if ranked is None:
        return table.with_values(given.columns, outcome.columns, origins, outcome.dropped)
    return ranked.with_ranked_values(outcome.columns, origins, outcome.dropped, scratch)


def _variables_after(
    variables: Sequence[Variable], outcome: Outcome, settings: Mapping[str, Any]
) -> tuple[Variable, ...]:
    """The dictionary after a step: new names, what numbers became labels, what is published no more."""
    place = {old: new for new, old in outcome.stands_for.items()}
    made = []
    for variable in variables:
        name = place.get(variable.name, variable.name)
        if name in outcome.columns:
            made.append(replace(variable, name=name, scale=_scale_after(variable, name, outcome, settings)))
        elif variable.name in outcome.removed:
            made.append(replace(variable, purpose="", treatment=Treatment.REMOVE))
        else:
            made.append(variable)
    known = Schema(tuple(variable.name for variable in made))
    return (*made, *(Variable(name) for name in outcome.columns if name not in known.names))


def _scale_after(variable: Variable, name: str, outcome: Outcome, settings: Mapping[str, Any]) -> Scale | None:
    numbers = _numbers_of(settings, variable.name)
    if variable.scale in _NUMBERS and not numbers(outcome.columns[name]).unreadable:
        return variable.scale
    dates = variable.scale == Scale.DATE and "multiset" in outcome.preserved  # swapped dates are dates
    return variable.scale if variable.scale is None or dates else Scale.CATEGORICAL


def _renamed(person: str | None, outcome: Outcome) -> str | None:
    place = {old: new for new, old in outcome.stands_for.items()}
    return place.get(person, person) if person is not None else None
