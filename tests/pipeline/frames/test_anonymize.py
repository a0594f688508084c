"""`anonymize` gives what the project walk gives, on every kind of frame, and refuses what it cannot answer for."""

from __future__ import annotations

import csv
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import celosia as ce
from celosia.errors import CelosiaError
from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.frames import recount
from celosia.pipeline.frames.errors import (
    ColumnsWithoutRole,
    FrameChanged,
    FrameFails,
    FrameUnavailable,
    IdentifierLeftIn,
    NoCriterion,
    SensitiveNeeded,
)
from celosia.pipeline.planning.errors import HierarchyNotUnderstood, NoFeasiblePlan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import UnknownArgument, WrongArgument
from tests.pipeline.frames.made_people import KINDS, ZIP_LEVELS, as_kind, as_rows, made_people

ASKED: dict[str, Any] = {
    "quasi": ["age", "sex", "zip"],
    "sensitive": ["diagnosis"],
    "person": "run",
    "keep": ["pay", "visits", "seen"],
    "k": 5,
    "l": 2,
    "max_suppression": 0.05,
    "hierarchies": {"age": ce.intervals(10), "zip": ZIP_LEVELS},
}


def data_rows(path: Path) -> list[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(file)][1:]


@pytest.mark.parametrize("change", [{}, {"suppressed": "drop"}, {"method": "local", "l": None}, {"person": None}])
def test_the_frame_is_what_the_project_walk_writes(tmp_path: Path, change: dict[str, Any]) -> None:
    asked = {**ASKED, "k": 12, **change}
    if asked["person"] is None:
        asked["identifiers"] = "run"
    result = ce.anonymize(made_people(), **asked)
    folder = result.save_project(tmp_path / "project")
    planned = (folder / "plan.json").read_bytes()
    assert make_plan(folder).plan.digest == result.plan.digest
    assert (folder / "plan.json").read_bytes() == planned
    walked = run_plan(folder)
    assert as_rows(result.frame) == data_rows(walked.candidate)
    assert (walked.check.k, walked.check.k_persons) == (result.check.k, result.check.k_persons)
    assert result.suppressed > 0 or "method" in change


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same_rows_and_its_own_kind(kind: str) -> None:
    people = made_people()
    frame = as_kind(people, kind)
    result = ce.anonymize(frame, **ASKED)
    assert type(result.frame) is type(frame)
    assert as_rows(result.frame) == as_rows(ce.anonymize(people, **ASKED).frame)


def test_pandas_types_stay_where_cells_do_and_the_index_is_fresh() -> None:
    people = made_people()
    people.attrs["who"] = "somebody"
    people["diagnosis"] = people["diagnosis"].cat.add_categories("Juana Soto")
    frame = ce.anonymize(people, **ASKED).frame
    assert list(frame.columns) == ["age", "sex", "zip", "diagnosis", "pay", "visits", "seen"]
    for name in ("pay", "visits", "seen"):
        assert frame[name].dtype == people[name].dtype
    assert isinstance(frame["diagnosis"].dtype, pd.CategoricalDtype)
    assert "Juana Soto" not in frame["diagnosis"].cat.categories
    assert frame.index.equals(pd.RangeIndex(len(people)))
    assert frame.attrs == {}


def test_polars_and_arrow_types_stay_where_cells_do() -> None:
    people = made_people()
    for kind in ("polars", "arrow"):
        frame = as_kind(people, kind)
        made = ce.anonymize(frame, **ASKED).frame
        for name in ("pay", "visits", "seen"):
            before, after = (f.schema[name] if kind == "polars" else f.schema.field(name).type for f in (frame, made))
            assert before == after
    assert made.schema.metadata is None


def test_an_enumeration_keeps_only_what_rows_show() -> None:
    people = as_kind(made_people(), "polars").with_columns(
        pl.col("diagnosis").cast(pl.Enum(["flu", "cold", "asthma", "burn", "Juana Soto"]))
    )
    made = ce.anonymize(people, **ASKED).frame
    assert "Juana Soto" not in made["diagnosis"].dtype.categories.to_list()


def test_the_order_of_the_rows_says_nothing_of_theirs() -> None:
    people = made_people()
    shuffled = people.sample(frac=1, random_state=3)
    assert as_rows(ce.anonymize(people, **ASKED).frame) == as_rows(ce.anonymize(shuffled, **ASKED).frame)


def test_named_indexes_and_numbered_columns_are_columns() -> None:
    people = made_people().set_index(["run", "seen"])
    frame = ce.anonymize(people, **ASKED).frame
    assert list(frame.columns) == ["age", "sex", "zip", "diagnosis", "pay", "visits", "seen"]
    numbered = made_people()[["age", "sex"]].set_axis([0, 1], axis=1)
    assert list(ce.anonymize(numbered, quasi=["0", "1"], k=5).frame.columns) == [0, 1]


def test_nothing_is_asked_that_the_caller_did_not_ask() -> None:
    result = ce.anonymize(made_people()[["age", "sex", "diagnosis"]], quasi="age", keep=["sex", "diagnosis"], k=3)
    assert [dict(data) for data in result.plan.policy["criteria"]] == [{"criterion": "k", "k": 3}]
    assert result.plan.policy["limit"] == "0"
    assert set(result.proposed_hierarchies) == {"age"}


@pytest.mark.parametrize(
    "zips",
    [
        ZIP_LEVELS,
        pl.from_pandas(ZIP_LEVELS),
        pa.Table.from_pandas(ZIP_LEVELS),
        dict(enumerate(ZIP_LEVELS.to_numpy().T)),
        {row[0]: list(row[1:]) for row in ZIP_LEVELS.to_numpy().tolist()},
        ce.mask([1, 4]),
        {"builder": "mask", "steps": [1, 4]},
    ],
)
def test_a_hierarchy_may_be_a_table_a_dictionary_or_a_description(zips: Any) -> None:
    hierarchies = {"age": ce.intervals(10, label="{low}–{high}"), "zip": zips, "sex": {"F": "*", "M": "*"}}
    result = ce.anonymize(made_people(), **{**ASKED, "hierarchies": hierarchies})
    assert result.proposed_hierarchies == {}
    assert result.check.holds


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"k": None, "l": None}, NoCriterion),
        ({"k": "5"}, WrongArgument),
        ({"k": True}, WrongArgument),
        ({"k": 0}, WrongArgument),
        ({"quasi": 7}, WrongArgument),
        ({"quasi": []}, NothingChosen),
        ({"quasi": ["edad"]}, UnknownVariable),
        ({"quasi": ["age", "run"]}, RepeatedVariable),
        ({"sensitive": [], "keep": ["pay", "visits", "seen", "diagnosis"]}, SensitiveNeeded),
        ({"person": None}, IdentifierLeftIn),
        ({"max_suppression": 5}, ValueOutOfRange),
        ({"max_suppression": True}, ValueOutOfRange),
        ({"method": "best"}, ValueOutOfRange),
        ({"hierarchies": {"zip": "cl"}}, HierarchyNotUnderstood),
        ({"hierarchies": {"zip": 7}}, HierarchyNotUnderstood),
        ({"hierarchies": {"comuna": ce.mask()}}, UnknownVariable),
        ({"k": 601, "max_suppression": 0}, NoFeasiblePlan),
        ({"sensitve": ["diagnosis"]}, UnknownArgument),
    ],
)
@pytest.mark.parametrize("language", ["es", "en"])
def test_what_cannot_be_answered_is_refused_by_name(
    change: dict[str, Any], error: type[CelosiaError], language: str
) -> None:
    from celosia import messages

    messages.use(language)
    with pytest.raises(error) as caught:
        ce.anonymize(made_people(), **{**ASKED, **change})
    assert str(caught.value)


def test_a_misspelt_argument_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(UnknownArgument, match=r"«sensitve».*sensitive"):
        ce.anonymize(made_people(), **{**ASKED, "sensitve": ["diagnosis"]})
    with pytest.raises(WrongArgument, match="«quasi»"):
        ce.anonymize(made_people(), k=5)  # type: ignore[call-arg]


def test_a_column_that_describes_people_leaves_with_a_warning() -> None:
    asked = {**ASKED, "quasi": ["age", "zip"], "keep": ["pay", "visits", "seen"]}
    with pytest.warns(ColumnsWithoutRole, match="sex"):
        result = ce.anonymize(made_people(), **asked)
    assert "sex" in result.frame.columns


def test_a_frame_that_fails_when_measured_again_is_not_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check sees the cells of the frame, not what was meant to be in it."""
    true_check = recount.check_frame
    from celosia.pipeline.frames import anonymize

    def check_spoilt(frame: Any, *rest: Any) -> Any:
        spoilt = frame.copy()
        spoilt.loc[0, "sex"] = "X"
        return true_check(spoilt, *rest)

    monkeypatch.setattr(
        sys.modules[anonymize.__module__] if callable(anonymize) else anonymize, "check_frame", check_spoilt
    )
    with pytest.raises(FrameFails):
        ce.anonymize(made_people(), **ASKED)


def test_a_result_never_takes_the_rows_that_came_in_along(tmp_path: Path) -> None:
    result = ce.anonymize(made_people(), **ASKED)
    content = pickle.dumps(result)
    assert b"p0000001" not in content
    with pytest.raises(FrameUnavailable):
        pickle.loads(content).save_project(tmp_path / "p")
    assert "p00000" not in repr(result) + result._repr_html_() + str(result.to_dict())


def test_a_frame_that_changed_since_is_not_saved(tmp_path: Path) -> None:
    people = made_people()
    result = ce.anonymize(people, **ASKED)
    people.loc[people.index[0], "age"] = 3
    with pytest.raises(FrameChanged):
        result.save_project(tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


WATCHED = """
    import sys, tempfile
    from tests.pipeline.frames.made_people import as_kind, made_people
    import celosia as ce
    asked = dict(quasi=["age", "sex", "zip"], sensitive="diagnosis", person="run", keep=["pay", "visits", "seen"])
    asked |= dict(k=5, l=2, max_suppression=0.2)
    written = []
    def watch(event, arguments):
        mode = arguments[1] if event == "open" else None
        if event in ("os.mkdir", "os.rename", "shutil.copyfile") or (mode and set(str(mode)) & set("wax+")):
            written.append(str(arguments[0]))
    sys.addaudithook(watch)
    for kind in ("pandas", "polars", "lazy", "arrow"):
        frame = as_kind(made_people(), kind)
        ce.measure(frame, quasi=["age", "sex"], sensitive=["diagnosis"], person="run")
        ce.suggest(frame)
        ce.cross_table(frame, "sex", "diagnosis")
        result = ce.anonymize(frame, **asked)
        result.evaluate(frame)
    print(sorted({path for path in written if "numba" not in path and "__pycache__" not in path}))
"""


def test_nothing_of_a_frame_is_written_anywhere(tmp_path: Path, repository: Path) -> None:
    code = textwrap.dedent(WATCHED)
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=repository, timeout=400)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_million_rows_are_what_the_project_walk_writes(tmp_path: Path) -> None:
    people = made_people(1_000_000)
    people["zip"] = np.random.default_rng(2).choice(ZIP_LEVELS.zip, len(people))
    result = ce.anonymize(people, **ASKED)
    walked = run_plan(result.save_project(tmp_path / "project"))
    assert as_rows(result.frame) == data_rows(walked.candidate)
