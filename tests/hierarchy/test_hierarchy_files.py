"""Hierarchy files in ARX's layout: read, checked, written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from celosia import messages
from celosia.errors import CelosiaError
from celosia.hierarchy.compile import gaps
from celosia.hierarchy.csv import read_csv, write_csv
from celosia.hierarchy.errors import (
    BinaryFile,
    EmptyFile,
    HierarchyConflict,
    HierarchyRagged,
    HierarchySplit,
    WrongEncoding,
)
from celosia.hierarchy.registry import build
from celosia.hierarchy.rows import from_rows, to_rows
from celosia.storage import FileMissing, FolderUnwritable

PLANTED = "Juana Pérez Soto"


def write_file(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "comuna.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("variable", "leaves", "height"),
    [
        ("age", 99, 4),
        ("education", 16, 3),
        ("marital-status", 7, 2),
        ("native-country", 41, 2),
        ("occupation", 14, 2),
        ("race", 5, 1),
        ("salary-class", 2, 1),
        ("sex", 2, 1),
        ("workclass", 8, 2),
    ],
)
def test_the_adult_hierarchies_are_read_and_written_again_alike(shared, tmp_path, variable, leaves, height):
    path = shared / "reference" / "arx" / "adult" / f"adult_hierarchy_{variable}.csv"
    hierarchy, choices = read_csv(path, variable)
    assert (hierarchy.height, hierarchy.labels[-1]) == (height, ("*",))
    assert len(hierarchy.leaves) >= leaves
    assert (choices.delimiter, choices.encoding, choices.header) == (";", "utf-8", False)
    copy = tmp_path / path.name
    write_csv(hierarchy, copy)
    assert copy.read_text("utf-8").split() == path.read_text("utf-8").split()


def test_commas_are_detected_and_the_choice_is_reported(tmp_path):
    hierarchy, choices = read_csv(write_file(tmp_path, "a,X,*\nb,X,*\n"), "v")
    assert to_rows(hierarchy) == [("a", "X", "*"), ("b", "X", "*")]
    assert choices.delimiter == ","
    assert choices.guessed == ("delimiter", "encoding")


def test_semicolons_win_over_commas_inside_labels(tmp_path):
    hierarchy, choices = read_csv(write_file(tmp_path, "1;[0, 10[;*\n11;[10, 20[;*\n"), "v")
    assert choices.delimiter == ";"
    assert hierarchy.labels[1] == ("[0, 10[", "[10, 20[")


def test_a_declared_delimiter_and_encoding_are_obeyed_and_not_reported_as_guesses(tmp_path):
    path = write_file(tmp_path, "Ñuñoa|RM\n", "latin-1")
    hierarchy, choices = read_csv(path, "v", delimiter="|", encoding="latin-1")
    assert to_rows(hierarchy) == [("Ñuñoa", "RM")]
    assert choices.guessed == ()


@pytest.mark.parametrize(
    ("encoding", "detected"), [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("windows-1252", "windows-1252")]
)
def test_old_encodings_are_read_and_named(tmp_path, encoding, detected):
    hierarchy, choices = read_csv(write_file(tmp_path, "Ñuñoa;“RM”\n", encoding), "v")
    assert hierarchy.leaves == ("Ñuñoa",)
    assert choices.encoding == detected


def test_a_single_column_is_the_identity(tmp_path):
    assert read_csv(write_file(tmp_path, "a\nb\n"), "v")[0].height == 0


def test_missing_and_masked_values_may_be_listed_like_any_other(tmp_path):
    hierarchy, _ = read_csv(write_file(tmp_path, ";Sin dato;*\n*;*;*\n99999;Ignorada;*\n"), "v")
    assert hierarchy.leaves == ("", "*", "99999")


def test_an_exact_repetition_is_harmless(tmp_path):
    assert len(read_csv(write_file(tmp_path, "a;X\nb;X\na;X\n"), "v")[0].leaves) == 2


@pytest.mark.parametrize(
    ("text", "error", "fields"),
    [
        ("", EmptyFile, {"path": "comuna.csv"}),
        ("\n\n", EmptyFile, {"path": "comuna.csv"}),
        ("a\0b;X\n", BinaryFile, {"path": "comuna.csv"}),
        (f"a;X;*\n{PLANTED};X\nc;X;*\nd\n", HierarchyRagged, {"file": "comuna.csv", "rows": 2, "levels": 3}),
        (f"{PLANTED};X;*\n{PLANTED};Y;*\nb;Y;*\n", HierarchyConflict, {"file": "comuna.csv", "values": 1}),
        (
            f"{PLANTED};X;P;*\nb;X;Q;*\nc;Y;P;*\n",
            HierarchySplit,
            {"file": "comuna.csv", "level": 2, "groups": 1},
        ),
    ],
    ids=["empty", "blank", "binary", "ragged", "conflict", "split"],
)
def test_a_faulty_file_is_refused_by_count_level_and_file_without_a_value(tmp_path, text, error, fields):
    with pytest.raises(error) as caught:
        read_csv(write_file(tmp_path, text), "comuna")
    assert caught.value.values == fields
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            assert "Juana" not in str(caught.value)
            assert "comuna.csv" in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_wrong_declared_encoding_names_the_line(tmp_path):
    with pytest.raises(WrongEncoding) as caught:
        read_csv(write_file(tmp_path, "a;b\nÑuñoa;c\n", "latin-1"), "v", encoding="utf-8")
    assert caught.value.values["line"] == 2
    with pytest.raises(WrongEncoding):
        read_csv(write_file(tmp_path, "a;b\n"), "v", encoding="klingon")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileMissing):
        read_csv(tmp_path / "no.csv", "v")


def test_gaps_are_given_on_request_only(tmp_path):
    hierarchy, _ = read_csv(write_file(tmp_path, "a;X\nb;X\n"), "v")
    assert gaps(hierarchy, ["a", "c", "", "*", "99999", "d"], unknown=["99999"]) == ("c", "d")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = write_file(tmp_path, "old\n")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(CelosiaError) as caught:
        write_csv(from_rows("v", [("a", "*")]), path)
    assert caught.value.code == "disk_full"
    assert path.read_text() == "old\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["comuna.csv"]


def test_writing_into_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FolderUnwritable):
        write_csv(from_rows("v", [("a", "*")]), tmp_path / "no" / "v.csv")


def test_a_built_hierarchy_survives_the_file(tmp_path):
    spec = {"builder": "mask", "width": 5, "steps": [2, 3, 5], "unknown": ["99999"]}
    hierarchy = build(spec, ["05302", "13101", "99999", "", "*"], variable="Codcom")
    write_csv(hierarchy, tmp_path / "Codcom.csv")
    assert to_rows(read_csv(tmp_path / "Codcom.csv", "Codcom")[0]) == to_rows(hierarchy)
