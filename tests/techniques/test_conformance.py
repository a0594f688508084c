"""One suite that judges every technique: what it declares, leaves alone, repeats, and never says."""

from __future__ import annotations

import importlib.util
import json
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.errors import UnknownVariable
from celosia.model.value_errors import UnknownParameter
from celosia.techniques import (
    NAMES,
    Draws,
    StepInput,
    StepOutcome,
    TreatedTable,
    apply_to_frame,
    meaning,
    read_step,
    technique,
)
from celosia.techniques import __path__ as room
from celosia.techniques.errors import TechniqueRefuses
from tests.techniques.every_technique import EXAMPLES, ROWS, people

SEED = b"una semilla"
STATES = ("no_rows", "one_row", "all_missing")
PLANTED = "Plantada Peralta"
NOT_TECHNIQUES = {"errors", "proposals"}


every_technique = pytest.mark.parametrize("name", NAMES)


def step_of(name: str) -> dict[str, Any]:
    return {"technique": name, **EXAMPLES[name]}


def used_by(name: str) -> tuple[str, ...]:
    chosen, settings = read_step(step_of(name))
    return tuple(dict.fromkeys(chosen.uses(settings)))


def written(table: pa.Table) -> bytes:
    """The very bytes of a table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


def rows_of(table: pa.Table) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def attempted(table: pa.Table, name: str) -> TreatedTable | CelosiaError:
    """The treated table, or the refusal in our own words; any other error is a failure of the test."""
    try:
        return apply_to_frame(table, step_of(name), SEED)
    except CelosiaError as refused:
        return refused


def all_it_says(found: TreatedTable | CelosiaError) -> str:
    """Every word of a report, or of an error with its traceback and fields."""
    if isinstance(found, CelosiaError):
        return "".join(traceback.format_exception(found)) + str(found) + str(found.values)
    return json.dumps(found.change.as_dict(), ensure_ascii=False)


def in_every_language() -> Iterator[str]:
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            yield language


def test_every_technique_of_the_room_is_named_and_has_its_example():
    files = {path.stem for path in Path(room[0]).glob("*.py") if not path.stem.startswith("_")}
    assert files - NOT_TECHNIQUES == set(NAMES) == set(EXAMPLES)
    assert all(importlib.util.find_spec(f"celosia.techniques.{name}") for name in NAMES)


@every_technique
def test_its_name_purpose_and_parameters_are_told_in_every_language(name):
    chosen = technique(name)
    assert chosen.name == name
    for _ in in_every_language():
        assert messages.text(f"techniques.name.{name}")
        assert messages.text(f"techniques.summary.{name}").endswith(".")
        for parameter in chosen.params:
            assert meaning(name, parameter).endswith("."), parameter
        for reason in chosen.refuses:
            assert messages.text(f"techniques.reason.{reason}")


@every_technique
def test_what_it_says_it_preserves_has_a_sentence_in_every_language(name):
    done = apply_to_frame(people(), step_of(name), SEED)
    for _ in in_every_language():
        assert all(messages.text(f"techniques.preserved.{key}") for key in done.change.preserved)


@every_technique
def test_its_input_is_left_untouched(name):
    table = people()
    before = written(table)
    apply_to_frame(table, step_of(name), SEED)
    assert written(table) == before


@every_technique
def test_it_changes_something_and_reports_it(name):
    table = people()
    done = apply_to_frame(table, step_of(name), SEED)
    change = done.change
    assert not done.table.equals(table)
    assert change.technique == name
    assert change.rows == ROWS
    assert change.rows_touched or change.removed
    assert done.table.num_rows == ROWS - change.rows_dropped
    assert set(change.columns) <= set(done.table.column_names)
    assert not set(change.removed) & set(done.table.column_names)


@every_technique
def test_columns_it_does_not_name_stay_as_they_are(name):
    table = people()
    done = apply_to_frame(table, step_of(name), SEED)
    kept = table.take(pa.array(done.positions))
    others = [column for column in table.column_names if column not in used_by(name)]
    assert done.table.select(others).equals(kept.select(others))


@every_technique
@pytest.mark.parametrize("state", STATES)
def test_no_rows_one_row_and_all_missing_are_accepted_or_refused_as_declared(name, state):
    table = people()
    if state == "all_missing":
        blank = pa.array([""] * ROWS, pa.large_string())
        table = pa.table({c: blank if c in used_by(name) else table.column(c) for c in table.column_names})
    else:
        table = table.slice(0, {"no_rows": 0, "one_row": 1}[state])
    if state in technique(name).refuses:
        with pytest.raises(TechniqueRefuses) as refused:
            apply_to_frame(table, step_of(name), SEED)
        assert refused.value.values["reason"] == messages.text(f"techniques.reason.{state}")
    else:
        done = apply_to_frame(table, step_of(name), SEED)
        assert done.table.num_rows == table.num_rows - done.change.rows_dropped
        assert all(column.type == pa.large_string() and not column.null_count for column in done.table.columns)


@every_technique
def test_an_unknown_parameter_is_refused_by_its_name(name):
    with pytest.raises(UnknownParameter) as refused:
        apply_to_frame(people(), {**step_of(name), "inventado": 1}, SEED)
    assert refused.value.values["parameter"] == "inventado"


@every_technique
def test_an_unknown_column_is_refused_by_its_name(name):
    for absent in used_by(name):
        with pytest.raises(UnknownVariable) as refused:
            apply_to_frame(people().drop_columns([absent]), step_of(name), SEED)
        assert refused.value.values["variable"] == absent


@every_technique
def test_the_same_seed_gives_the_same_bytes(name):
    once, twice = (apply_to_frame(people(), step_of(name), SEED).table for _ in range(2))
    assert written(once) == written(twice)


@every_technique
def test_the_seed_matters_to_random_techniques_alone(name):
    once, other = (apply_to_frame(people(), step_of(name), seed).table for seed in (SEED, b"otra"))
    assert once.equals(other) is not technique(name).random


@every_technique
def test_the_order_of_the_rows_does_not_change_what_they_become(name):
    table = people()
    orders = (np.arange(ROWS)[::-1], np.random.default_rng(7).permutation(ROWS))
    expected = rows_of(apply_to_frame(table, step_of(name), SEED).table)
    for order in orders:
        assert rows_of(apply_to_frame(table.take(pa.array(order)), step_of(name), SEED).table) == expected


@every_technique
def test_its_columns_are_text_without_null(name):
    done = apply_to_frame(people(), step_of(name), SEED)
    for column in done.outcome.columns.values():
        assert column.type == pa.large_string()
        assert column.null_count == 0


def leaves(data: Any) -> Iterator[Any]:
    """Every key and value of a JSON document."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from leaves(value)
    elif isinstance(data, list):
        for value in data:
            yield from leaves(value)
    else:
        yield data


@every_technique
def test_its_report_is_json_of_figures_without_any_cell(name):
    table = people()
    done = apply_to_frame(table, step_of(name), SEED)
    report = done.change.as_dict()
    assert json.loads(json.dumps(report)) == report
    told = {leaf for leaf in leaves(report["notes"]) if isinstance(leaf, str)}
    cells = {cell for frame in (table, done.table) for column in frame.columns for cell in column.to_pylist()}
    assert not told & cells
    assert all(isinstance(leaf, str | int | float | bool | None) for leaf in leaves(report["notes"]))


@every_technique
@pytest.mark.parametrize("where", ["one cell", "every cell"])
def test_no_error_ever_quotes_a_planted_cell(name, where):
    table = people()
    for column in used_by(name) or ("extra",):
        cells = table.column(column).to_pylist()
        cells = [PLANTED] * ROWS if where == "every cell" else [*cells[:20], PLANTED, *cells[21:]]
        place = table.column_names.index(column)
        planted = table.set_column(place, column, pa.array(cells, pa.large_string()))
        found = attempted(planted, name)
        for _ in in_every_language():
            assert PLANTED not in all_it_says(found)


@every_technique
def test_cells_that_say_nothing_never_break_it(name):
    table = people()
    for odd in ("*", "*****", "", "99999"):
        columns = {
            column: [odd if column in used_by(name) and i % 5 == 0 else cell for i, cell in enumerate(c.to_pylist())]
            for column, c in zip(table.column_names, table.columns, strict=True)
        }
        changed = pa.table({column: pa.array(cells, pa.large_string()) for column, cells in columns.items()})
        found = attempted(changed, name)
        if isinstance(found, CelosiaError):
            assert found.exit_code in (1, 2)  # a refusal in its own words, never our own fault
        else:
            assert all(not column.null_count for column in found.table.columns)


@every_technique
def test_its_step_survives_being_written_down(name):
    held = json.loads(json.dumps(step_of(name)))
    assert read_step(held)[1] == read_step(step_of(name))[1]


def test_a_technique_that_quotes_a_cell_would_be_seen(monkeypatch):
    chosen = technique("recode")

    def quotes(given: StepInput, settings: Any, draws: Draws) -> StepOutcome:
        raise UnknownVariable(variable=given.columns["diag"][0].as_py(), known="")

    monkeypatch.setattr(
        importlib.import_module("celosia.techniques.recode"), "TECHNIQUE", replace(chosen, apply=quotes)
    )
    with pytest.raises(AssertionError):
        test_no_error_ever_quotes_a_planted_cell("recode", "every cell")
