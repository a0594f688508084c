"""Frames as people have them: named indexes, numbers for labels, categories, gaps, zones, lazy queries, odd columns."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import celosia
from celosia import treatments
from celosia.data.errors import DuplicateHeader, UnsupportedColumn
from celosia.errors import WrongUse

AGES = [31, 32, 45, 47, 50, 51]


def people(**more: object) -> pd.DataFrame:
    return pd.DataFrame({"edad": AGES, "comuna": ["Lota", "Lota", "Arica", "Arica", "Arica", None], **more})


def test_a_named_index_stays_with_its_rows() -> None:
    frame = people().set_index(pd.Index([10, 11, 12, 13, 14, 15], name="folio"))
    treated, _ = treatments.microaggregate(frame, columns=["edad"], k=3)
    assert treated.index.name == "folio"
    assert list(treated.index) == [10, 11, 12, 13, 14, 15]
    assert list(treated["edad"][:3]) == [36, 36, 36]


def test_a_level_of_an_index_can_be_treated_by_its_name() -> None:
    frame = people().set_index(["comuna", "edad"], append=False).assign(n=1)
    treated, _ = treatments.mask(frame, columns=["comuna"], keep=1)
    assert treated.index.names == ["comuna", "edad"]
    assert list(treated.index.get_level_values("comuna"))[:2] == ["L***", "L***"]


@pytest.mark.parametrize("name", [None, "folio"])
def test_the_order_that_a_shuffle_hides_cannot_be_had_back_from_the_index(name: str | None) -> None:
    frame = people(n=range(6)).set_index(pd.Index([5, 3, 9, 1, 7, 2], name=name))
    for seed in "abc":
        treated, _ = treatments.shuffle(frame.loc[:, ["edad", "n"]].reset_index(drop=True), seed=seed)
        assert list(treated.index) == list(range(6))
        assert sorted(treated["n"]) == list(range(6))
    shuffled, _ = treatments.shuffle(frame, seed="a")
    assert list(shuffled.index) == list(range(6))
    assert ("folio" in shuffled.columns) is (name == "folio")


def test_columns_with_numbers_for_labels_keep_them() -> None:
    frame = pd.DataFrame({0: AGES, 1: list("aabbcc")})
    treated, _ = treatments.microaggregate(frame, columns=[0], k=3)
    assert list(treated.columns) == [0, 1]
    assert list(treated[0][:3]) == [36, 36, 36]


def test_labels_that_are_the_same_text_or_have_levels_are_refused_by_name() -> None:
    with pytest.raises(DuplicateHeader):
        treatments.mask(pd.DataFrame([["a", "b"]], columns=[1, "1"]), columns=["1"])
    with pytest.raises(UnsupportedColumn, match="a / b"):
        treatments.mask(pd.DataFrame([["x"]], columns=pd.MultiIndex.from_tuples([("a", "b")])), columns=["a"])


def test_a_lazy_frame_is_answered_with_a_lazy_frame() -> None:
    lazy = pl.from_pandas(people()).lazy()
    treated, _ = treatments.mask(lazy, columns=["comuna"], keep=1)
    assert isinstance(treated, pl.LazyFrame)
    assert treated.collect()["comuna"].to_list()[:3] == ["L***", "L***", "A****"]
    assert celosia.measure(lazy, quasi=["comuna"]).rows == 6


def test_categories_that_no_row_holds_any_more_are_gone() -> None:
    frame = people(cargo=pd.Categorical(["jefa", *["otro"] * 5]))
    kept, _ = treatments.select(frame, keep={"comuna": ["Arica"]})
    assert list(kept["cargo"].cat.categories) == ["otro"]
    masked, _ = treatments.mask(frame, columns=["cargo"], keep=0)
    assert list(masked["cargo"].cat.categories) == ["****"]
    table = pa.table({"comuna": frame["comuna"], "cargo": pa.array(frame["cargo"])})
    dictionary = treatments.select(table, keep={"comuna": ["Arica"]}).frame["cargo"].combine_chunks().dictionary
    assert dictionary.to_pylist() == ["otro"]
    enum = pl.DataFrame({"comuna": ["Lota", "Arica"], "cargo": ["jefa", "otro"]}).cast(
        {"cargo": pl.Enum(["jefa", "otro"])}
    )
    left = treatments.select(enum, keep={"comuna": ["Arica"]}).frame
    assert left.schema["cargo"].categories.to_list() == ["otro"]


def test_gaps_texts_and_zones_keep_their_types() -> None:
    frame = people(
        hijos=pd.array([1, None, 2, 3, 4, 5], "Int64"),
        nota=pd.array(["a", None, "b", "c", "d", "e"], "string"),
        ingreso=pd.date_range("2024-01-01 23:00", periods=6, tz="America/Santiago"),
    )
    treated, _ = treatments.top_bottom(frame, columns=["hijos"], top=3)
    assert str(treated["hijos"].dtype) == "Int64"
    assert list(treated["hijos"].dropna()) == [1, 2, 3, 3, 3]
    assert treated["ingreso"].equals(frame["ingreso"])
    masked, _ = treatments.mask(frame, columns=["nota"], keep=0)
    assert masked["nota"].dtype == frame["nota"].dtype


def test_an_odd_column_that_is_not_used_travels_along_and_one_that_is_used_is_refused() -> None:
    frame = people(odd=[[1], {2}, "x", 3, None, object()])
    treated, _ = treatments.mask(frame, columns=["comuna"], keep=1)
    assert list(treated.columns) == ["edad", "comuna", "odd"]
    assert treated["odd"][0] == [1]
    with pytest.raises(UnsupportedColumn, match="odd"):
        treatments.mask(frame, columns=["odd"], keep=1)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(WrongUse):
        treatments.mask([["a"]], columns=["a"])


def test_a_treated_frame_says_what_was_done_and_shows_no_cell() -> None:
    result = treatments.mask(people(), columns=["comuna"], keep=1)
    assert "Lota" not in repr(result) + result._repr_html_()
    assert list(result.to_frame()["cells"]) == [5]
    assert result.to_dict()["technique"] == "mask"


def test_the_loss_of_categories_written_in_figures_is_the_share_of_changed_cells() -> None:
    frame = pd.DataFrame({"codigo": [1, 2, 900] * 100})
    treated, change = treatments.pram(frame, columns=["codigo"], seed="a")
    changed = float((treated["codigo"] != frame["codigo"]).mean())
    assert 0 < changed < 1
    assert change.loss["codigo"] == pytest.approx(changed)
