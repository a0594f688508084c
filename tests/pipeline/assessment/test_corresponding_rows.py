"""Two frames are compared cell by cell where they show that their rows stand in the same order, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import celosia as ce
from celosia import messages
from celosia.dossier.evaluation import evaluation_sentences
from tests.pipeline.frames.made_people import KINDS, as_kind


def made_rows(rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame({"age": rng.integers(18, 90, rows), "sex": rng.choice(["F", "M"], rows), "one": "x"})


def changed_cells(before: Any, after: Any) -> dict[str, int | None]:
    loss = ce.evaluate(before, after, quasi=["age", "sex"]).loss
    return {line.variable: line.changed_cells for line in loss.variables}


@pytest.mark.parametrize("kind", KINDS)
def test_a_treated_frame_is_compared_cell_by_cell(kind: str) -> None:
    before = made_rows()
    after = before.assign(age=before["age"].where(before["age"] < 60, 60))
    changed = int((before["age"] > 60).sum())
    assert changed_cells(as_kind(before, kind), as_kind(after, kind)) == {"age": changed, "sex": 0, "one": 0}


@pytest.mark.parametrize(
    "after",
    [
        made_rows().sample(frac=1, random_state=1),
        made_rows().iloc[:-1],
        made_rows().assign(age=range(200), sex=list("MF") * 100),
    ],
)
def test_rows_that_may_be_others_are_compared_as_distributions(after: pd.DataFrame) -> None:
    """In another order, one fewer, or with nothing but a constant in common."""
    assert set(changed_cells(made_rows(), after).values()) == {None}


def test_a_common_order_that_sorting_gives_shows_nothing() -> None:
    before = made_rows().sort_values("sex", ignore_index=True)
    after = before.assign(age=before.groupby("sex")["age"].transform("mean").round().astype(int))
    assert set(changed_cells(before, after).values()) == {None}


def test_an_anonymous_frame_is_never_taken_for_rows_in_the_same_order() -> None:
    people = made_rows()
    result = ce.anonymize(people, quasi="age", keep=["sex", "one"], k=3, hierarchies={"age": ce.intervals(10)})
    assert result.evaluate(people).loss.level == "distributions"


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_report_says_how_rows_were_matched(language: str) -> None:
    messages.use(language)
    before = made_rows()
    report = ce.evaluate(before, before.assign(age=before["age"] + 1), quasi=["age"])
    assert messages.text("evaluation.level.position", rows=200) in evaluation_sentences(report)
    assert report.numeric is not None
