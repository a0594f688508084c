"""`celosia table`: a cross table that may be shown, as JSON and in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celosia.cli import main
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.assessment.cross_table import cross_table
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.errors import WrongArgument

Cells = dict[tuple[str | None, str | None], tuple[int | float | None, str, str | None]]


def write(path: Path, header: str, lines: list[str]) -> Path:
    numbered = [f"{number},{line}" for number, line in enumerate(lines)]  # a column of numbers tells the header apart
    path.write_text("\n".join([f"n,{header}", *numbered]) + "\n", "utf-8")
    return path


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    return write(tmp_path / "letters.csv", "id,letter", [f"{n},{w}" for n, w in enumerate("A" * 12 + "B" * 3)])


@pytest.fixture
def crossed(tmp_path: Path) -> Path:
    counts = {"xp": 20, "xq": 3, "yp": 15, "yq": 9, "zp": 7}
    lines = [f"{place},{kind}" for (place, kind), count in counts.items() for _ in range(count)]
    return write(tmp_path / "crossed.csv", "place,kind", lines)


def report_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["table", *words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    report: dict[str, Any] = json.loads(out)
    assert report["format"] == "celosia/table/1"
    return report


def cells_of(report: dict[str, Any]) -> Cells:
    return {(c["row"], c["column"]): (c["value"], c["status"], c["reason"]) for c in report["cells"]}


@pytest.mark.requirement("Y16", "Y21")
def test_b_alone_is_hidden_without_a_total_and_with_it_a_too(letters, capsys):
    assert cells_of(report_of(capsys, str(letters), "--rows", "letter")) == {
        ("A", None): (12, "published", None),
        ("B", None): (None, "primary", "threshold"),
    }
    report = report_of(capsys, str(letters), "--rows", "letter", "--margins")
    assert cells_of(report) == {
        ("A", None): (None, "secondary", "complement"),
        ("B", None): (None, "primary", "threshold"),
        (None, None): (15, "published", None),
    }
    assert (report["cells_primary"], report["cells_secondary"], report["recoverable_without"]) == (1, 1, 1)


@pytest.mark.requirement("A26")
def test_the_document_has_exactly_the_promised_keys(crossed, capsys):
    report = report_of(capsys, str(crossed), "--rows", "place", "--columns", "kind", "--margins", "--k", "5")
    assert {"format", "rows", "columns", "k", "unit", "cells"} <= set(report)
    assert all(set(cell) == {"row", "column", "value", "status", "reason"} for cell in report["cells"])
    assert (report["rows"], report["columns"], report["k"], report["unit"]) == ("place", "kind", 5, "rows")
    assert len(report["cells"]) == 4 * 3
    cells = cells_of(report)
    assert cells["z", "q"] == (0, "published", None)  # nobody: a zero of the full cross product
    assert cells["x", "q"] == (None, "primary", "threshold")
    assert cells[None, None][0] == 54
    hidden = {key for key, (value, _, _) in cells.items() if value is None}
    assert len(hidden) == 4
    assert hidden == {("x", "p"), ("x", "q"), ("y", "p"), ("y", "q")}


@pytest.mark.requirement("Y15")
def test_twenty_events_of_two_users_are_hidden(tmp_path, capsys):
    events = write(tmp_path / "e.csv", "user,screen", [f"u{n % 2},home" for n in range(20)] + ["u7,help"] * 9)
    assert cells_of(report_of(capsys, str(events), "--rows", "screen"))["home", None] == (20, "published", None)
    report = report_of(capsys, str(events), "--rows", "screen", "--person", "user")
    assert report["unit"] == "persons"
    assert cells_of(report)["home", None] == (None, "primary", "threshold")


def test_persons_in_several_cells_are_not_added(tmp_path, capsys):
    lines = [f"u{n},{screen}" for n in range(6) for screen in ("home", "help")]
    events = write(tmp_path / "e.csv", "user,screen", lines)
    cells = cells_of(report_of(capsys, str(events), "--rows", "screen", "--person", "user", "--margins"))
    assert cells[None, None][0] == 6


@pytest.mark.requirement("Y17")
@pytest.mark.parametrize("action", ["merge", "both"])
def test_small_categories_become_others(tmp_path, capsys, action):
    path = write(tmp_path / "l.csv", "letter", list("A" * 12 + "B" * 3 + "C" * 4))
    report = report_of(capsys, str(path), "--rows", "letter", "--margins", "--action", action)
    assert cells_of(report) == {
        ("A", None): (12, "published", None),
        ("Otros", None): (7, "published", None),
        (None, None): (19, "published", None),
    }
    assert report["merged"] == {"variable": "letter", "label": "Otros", "categories": ["B", "C"]}


@pytest.mark.requirement("Y17")
def test_where_only_others_would_be_left_both_are_hidden(letters, capsys):
    cells = cells_of(report_of(capsys, str(letters), "--rows", "letter", "--action", "merge"))
    assert {key: value for key, (value, _, _) in cells.items()} == {("A", None): None, ("B", None): None}


@pytest.mark.requirement("Y17")
def test_merging_recounts_persons(tmp_path, capsys):
    lines = [f"a{n},A" for n in range(12)] + [f"p{n},B" for n in range(3)] + [f"p{n},C" for n in range(4)]
    lines += [f"d{n},D" for n in range(30)]
    path = write(tmp_path / "l.csv", "id,letter", lines)
    report = report_of(capsys, str(path), "--rows", "letter", "--person", "id", "--action", "merge")
    assert cells_of(report) == {("D", None): (30, "published", None), ("Otros", None): (16, "published", None)}


def test_every_cell_of_a_merged_table_reaches_k(tmp_path, capsys):
    counts = {"xp": 20, "xq": 30, "yp": 9, "yq": 2, "zp": 8, "zq": 4}
    lines = [f"{place},{kind}" for (place, kind), count in counts.items() for _ in range(count)]
    path = write(tmp_path / "c.csv", "place,kind", lines)
    words = (str(path), "--rows", "place", "--columns", "kind")
    assert cells_of(report_of(capsys, *words, "--action", "merge")) == {
        ("x", "p"): (20, "published", None), ("x", "q"): (30, "published", None),
        ("Otros", "p"): (17, "published", None), ("Otros", "q"): (6, "published", None),
    }  # fmt: skip
    assert report_of(capsys, *words, "--action", "both")["merged"] is None  # y and z are large enough as a whole


def test_missing_and_masked_are_categories_in_words_no_value_uses(tmp_path, capsys):
    lines = ["a,1"] * 6 + [",1"] * 7 + ["*,1"] * 3 + ["***,1"] * 5 + ["(sin dato),1"] * 9
    path = write(tmp_path / "m.csv", "x,y", lines)
    cells = cells_of(report_of(capsys, str(path), "--rows", "x"))
    assert {row: value for (row, _), (value, _, _) in cells.items()} == {
        "a": 6, "(sin dato) (2)": 7, "(enmascarado)": 8, "(sin dato)": 9,
    }  # fmt: skip


def test_hidden_zeros_cannot_be_told_from_the_small(crossed, capsys):
    cells = cells_of(
        report_of(capsys, str(crossed), "--rows", "place", "--columns", "kind", "--margins", "--zeros", "hide")
    )
    assert cells["z", "q"] == cells["x", "q"] == (None, "primary", "threshold")  # «zero» would tell the value
    assert cells["z", "p"] == (None, "secondary", "complement")  # so would «full»
    assert 0 not in [value for value, _, _ in cells.values()]


def test_a_small_total_with_one_person_in_each_part_takes_its_zeros_along(tmp_path, capsys):
    """At most 4 in all and at least 1 in each of four: without the zeros everybody would be known."""
    lines = [f"x,{kind}" for kind in "pqrs"] + [f"y,{kind}" for kind in "pqrst" for _ in range(30)]
    path = write(tmp_path / "c.csv", "place,kind", lines + [f"z,{kind}" for kind in "pqrst" for _ in range(20)])
    cells = cells_of(report_of(capsys, str(path), "--rows", "place", "--columns", "kind", "--margins"))
    assert [cells["x", kind] for kind in (*"pqrst", None)] == [(None, "primary", "threshold")] * 6
    assert cells["y", None][0] == 150


@pytest.mark.requirement("A26")
def counted(path: Path, counts: dict[str, int]) -> Path:
    return write(path, "place,kind", [",".join(key) for key, count in counts.items() for _ in range(count)])


@pytest.mark.requirement("A26")
def test_a_row_of_two_single_persons_is_protected_when_zeros_may_be_hidden(tmp_path, capsys):
    path = counted(tmp_path / "ones.csv", {"xp": 9, "xq": 9, "yp": 8, "yq": 7, "zp": 1, "zq": 1})
    words = ["table", str(path), "--rows", "place", "--columns", "kind", "--margins", "--k", "3"]
    assert main(words) == 1
    assert "--zeros hide" in capsys.readouterr().err  # 1 in each part and at most 2 in all: the marks tell it
    cells = cells_of(report_of(capsys, *words[1:], "--zeros", "hide"))
    assert [cells["z", kind][1] for kind in ("p", "q", None)] == ["primary"] * 3
    assert cells[None, None][0] == 35


@pytest.mark.requirement("A26")
def test_a_category_that_is_listed_is_known_to_have_somebody(tmp_path):
    """Hidden zeros make [0, 2] of a small cell, never of a row total: r of 1 to 2 must keep both values."""
    rows = {"ap": 9, "aq": 1, "bp": 9, "bq": 1, "cp": 1, "dp": 1, "dq": 9, "eq": 1, "fp": 1, "fq": 9, "gp": 1}
    path = counted(tmp_path / "rows.csv", rows | {"hp": 9, "hq": 1})
    made = cross_table(path, "place", "kind", k=3, margins=True, zeros="hide")
    shown = {cell.categories: cell.value for cell in made.cells}
    hidden = [row for row in "abcdefgh" if shown[row, None] is None]
    assert set("ceg") < set(hidden)  # three totals of at least 1 that make 3 would be 1 each


@pytest.mark.requirement("A26", "Y18")
def test_one_person_in_two_places_does_not_undo_the_sums_of_the_others(tmp_path):
    """Nearly every margin is a sum; a reader who takes them all for sums must not compute the 3."""
    lines = [
        f"{place}{n},{place},{kind}" for place, kind, count in (("x", "p", 12), ("y", "p", 20)) for n in range(count)
    ]
    lines += [f"xq{n},x,q" for n in range(3)] + [f"yq{n},y,q" for n in range(9)] + ["y0,y,q"]
    path = write(tmp_path / "people.csv", "person,place,kind", lines)
    made = cross_table(path, "place", "kind", k=5, margins=True, person="person")
    shown = {cell.categories: cell.value for cell in made.cells}
    assert shown["x", "q"] is None
    assert shown["x", "p"] is None or shown["x", None] is None


def test_k_must_leave_the_values_that_are_to_stay_possible(crossed, capsys):
    words = ["table", str(crossed), "--rows", "place", "--columns", "kind", "--width", "4"]
    assert main(words) == 2
    assert "≥ 6 (width = 4; --zeros hide: ≥ 5)" in capsys.readouterr().err
    assert main([*words[:-2], "--k", "2"]) == 0  # nothing is below 2


def test_figures_speak_of_what_is_shown_as_primary(tmp_path):
    """A full cell looks like a helper: no figure may count it among the primary ones."""
    path = counted(tmp_path / "full.csv", {"xp": 9, "yp": 8, "yq": 7, "zp": 6, "zq": 9})
    made = cross_table(path, "place", "kind", k=5, margins=True, zeros="hide").as_dict()
    assert made["recoverable_without"] <= made["cells_primary"] == 1


def test_a_wide_table_without_totals_takes_no_search(tmp_path):
    lines = [f"r{n % 211},c{n % 197}" for n in range(30_000)]
    path = write(tmp_path / "wide.csv", "place,kind", lines)
    made = cross_table(path, "place", "kind", k=5)
    assert made.figures["cells_primary"] == 30_000


def test_percentages_come_from_published_cells_only(crossed, capsys):
    words = (str(crossed), "--rows", "place", "--columns", "kind")
    cells = cells_of(report_of(capsys, *words, "--percent", "rows"))
    assert cells["x", "q"] == (None, "primary", "threshold")
    assert cells["x", None][0] == 100
    assert cells["z", "p"][0] == 100
    total = cells_of(report_of(capsys, *words, "--percent", "all"))
    assert total["z", "p"][0] == round(100 * 7 / 54, 2)


@pytest.mark.requirement("A26")
def test_a_percentage_of_a_hidden_base_is_hidden(tmp_path, capsys):
    counts = {"xp": 2, "xq": 1, "yp": 30, "yq": 40, "zp": 50, "zq": 60}
    lines = [f"{place},{kind}" for (place, kind), count in counts.items() for _ in range(count)]
    path = write(tmp_path / "c.csv", "place,kind", lines)
    words = (str(path), "--rows", "place", "--columns", "kind", "--margins")
    plain = cells_of(report_of(capsys, *words))
    percent = cells_of(report_of(capsys, *words, "--percent", "rows"))
    derived = {key for key, (_, _, reason) in percent.items() if reason == "derived"}
    assert derived == {key for key, (v, _, _) in plain.items() if v is not None and plain[key[0], None][0] is None}
    assert plain["x", None] == (None, "primary", "threshold")


def test_rounding_hides_nothing_and_stays_near(crossed, tmp_path, capsys):
    report = report_of(capsys, str(crossed), "--rows", "place", "--columns", "kind", "--margins", "--round", "5")
    cells = cells_of(report)
    assert all(value is not None and value % 5 == 0 for value, _, _ in cells.values())
    assert abs(cells["x", "q"][0] - 3) < 5
    assert cells["z", "q"][0] == 0
    assert report["repeatable"] is False


def test_a_project_rounds_the_same_cell_alike(crossed, tmp_path, capsys):
    init(crossed, into=tmp_path / "project")
    words = (str(tmp_path / "project"), "--rows", "place", "--columns", "kind", "--round", "7")
    one, other = report_of(capsys, *words), report_of(capsys, *words)
    assert one == other
    assert one["repeatable"] is True
    key = tmp_path / "project/private/rounding.key"
    assert key.stat().st_mode & 0o077 == 0


def test_the_page_says_why_each_cell_is_hidden(crossed, capsys):
    assert main(["table", str(crossed), "--rows", "place", "--columns", "kind", "--margins"]) == 0
    out = capsys.readouterr().out
    assert "place por kind (registros)" in out
    assert "Motivo: menos de 5 registros (celdas: 1).\n  · x: q\n" in out
    assert "  · y: p, q\n" in out
    assert "permitiría calcular otra celda oculta por diferencia" in out
    assert "Celdas ocultas: 1 con" in out
    assert "Total" in out


def test_the_page_in_english_and_of_one_variable(letters, capsys):
    assert main(["table", str(letters), "--rows", "letter", "--lang", "en"]) == 0
    out = capsys.readouterr().out
    assert "Reason: fewer than 5 records (cells: 1).\n  · B\n" in out
    assert "Without the latter, 0 of the former" in out


def test_the_function_gives_what_the_command_gives(letters, capsys):
    report = report_of(capsys, str(letters), "--rows", "letter", "--margins", "--k", "4", "--delimiter", ",")
    assert cross_table(letters, "letter", margins=True, k=4, delimiter=",").as_dict() == report


def test_nothing_to_hide_is_said(letters, capsys):
    assert main(["table", str(letters), "--rows", "letter", "--k", "3"]) == 0
    assert "No hay celdas ocultas" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rows", "nada"], "nada"),
        (["--rows", "letter", "--columns", "letter"], "letter"),
        (["--rows", "letter", "--person", "nadie"], "nadie"),
        (["--rows", "id", "--columns", "letter", "--person", "id"], "«id» aparece dos veces"),
        (["--rows", "letter", "--k", "1"], "--k"),
        (["--rows", "letter", "--k", "5", "--round", "3"], "«round» no puede ser 3"),
        (["--rows", "letter", "--others", "id"], "«others» no puede ser id"),
        ([], "--rows"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_2(letters, capsys, words, sentence):
    assert main(["table", str(letters), *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_table_nobody_can_read_is_refused(tmp_path, capsys):
    path = write(tmp_path / "w.csv", "a,b", [f"{n},{n}" for n in range(1100)])
    assert main(["table", str(path), "--rows", "a", "--columns", "b"]) == 2
    assert "1.212.201 celdas" in capsys.readouterr().err


def test_an_empty_file_has_no_table(tmp_path, capsys):
    path = write(tmp_path / "e.csv", "a,b", [])
    assert main(["table", str(path), "--rows", "a"]) == 2


@pytest.mark.parametrize(("header", "first"), [("A,B", "r"), ("row,column", "r"), ("x,y", "x")])
def test_columns_that_are_named_tell_the_header(tmp_path, capsys, header, first):
    """Words over words could be a record too; who asks for them by name knows better."""
    path = tmp_path / "words.csv"
    path.write_text(f"{header}\n" + "".join(f"{row},c\n" for row in first * 6 + "stu"), "utf-8")
    rows, columns = header.split(",")
    cells = cells_of(report_of(capsys, str(path), "--rows", rows, "--columns", columns))
    assert cells[first, "c"] == (6, "published", None)
    assert len(cells) == 4
    assert 6 in [cell.value for cell in cross_table(path, rows, columns).cells]
    assert main(["measure", str(path), "--quasi", header]) == 0
    assert main(["risk", str(path), "--quasi", header]) == 0


def test_a_record_stays_a_record_where_only_some_names_are_in_it(tmp_path, capsys):
    path = tmp_path / "words.csv"
    path.write_text("Inés,norte\nJuan,sur\nInés,sur\n", "utf-8")
    assert main(["table", str(path), "--rows", "Inés", "--columns", "zona"]) == 2
    assert "norte" not in capsys.readouterr().err
    assert main(["table", str(path), "--rows", "norte", "--no-header"]) == 2


@pytest.mark.parametrize(
    "choice",
    [{"k": "5"}, {"k": None}, {"k": 5.5}, {"k": True}, {"width": 0}, {"width": "1"}, {"base": "5"}, {"action": "hide"},
     {"zeros": "no"}, {"percent": "total"}],
)  # fmt: skip
def test_the_function_refuses_what_the_command_would(letters, choice):
    with pytest.raises((ValueOutOfRange, WrongArgument)):
        cross_table(letters, "letter", margins=True, **choice)


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    lines = [f"Zoraida Plantada {n},{'MH'[n % 2]}" for n in range(40)]
    return write(tmp_path / "patients.csv", "NOMBRE,SEXO", lines)


@pytest.mark.parametrize("crossed_with", [["--rows", "NOMBRE"], ["--rows", "SEXO", "--columns", "NOMBRE"]])
def test_a_table_of_an_identifier_is_refused_for_its_categories_name_people(patients, capsys, crossed_with):
    assert main(["table", str(patients), *crossed_with]) == 1
    out, err = capsys.readouterr()
    assert "Plantada" not in out + err
    assert "NOMBRE" in err
    assert main(["table", str(patients), "--rows", "SEXO"]) == 0


def test_the_dictionary_of_a_project_says_which_columns_identify(patients, tmp_path, capsys):
    init(patients, tmp_path / "p")
    assert main(["table", str(tmp_path / "p"), "--rows", "NOMBRE"]) == 1
    path = tmp_path / "p" / "dictionary.csv"
    path.write_text(path.read_text("utf-8").replace("identificador explícito", "cuasi-identificador"), "utf-8")
    assert main(["table", str(tmp_path / "p"), "--rows", "NOMBRE"]) == 0
    assert "Plantada" not in capsys.readouterr().err


def test_a_table_is_kept_in_a_file_with_its_hidden_cells_marked(crossed, tmp_path, capsys):
    out = tmp_path / "tabla.csv"
    words = ["table", str(crossed), "--rows", "place", "--columns", "kind", "--margins", "--out", str(out)]
    assert main(words) == 0
    assert str(out) in capsys.readouterr().out
    assert out.read_text("utf-8").splitlines() == [
        "place,p,q,Total", "x,·,·,23", "y,·,·,24", "z,7,0,7", "Total,42,12,54"
    ]  # fmt: skip
    assert main(words) != 0
    assert main([*words, "--overwrite"]) == 0
    (tmp_path / "carpeta.csv").mkdir()
    assert main([*words[:-1], str(tmp_path / "carpeta.csv"), "--overwrite"]) != 0
    assert "carpeta.csv» ya existe" in capsys.readouterr().err
    assert main([*words[:-1], str(tmp_path / "tabla.xls")]) != 0
    assert main(["table", str(crossed), "--rows", "place", "--out", str(tmp_path / "uno.csv")]) == 0
    assert (tmp_path / "uno.csv").read_text("utf-8") == "place,registros\nx,23\ny,24\nz,7\n"


def test_what_a_spreadsheet_would_run_is_harmless_in_the_file(tmp_path, capsys):
    source = write(tmp_path / "f.csv", "place,kind", ["=1+1,@x"] * 9)
    assert main(["table", str(source), "--rows", "place", "--columns", "kind", "--out", str(tmp_path / "t.csv")]) == 0
    assert (tmp_path / "t.csv").read_text("utf-8") == "place,'@x\n'=1+1,9\n"


def test_a_table_that_nobody_could_read_on_a_terminal_is_told_and_not_drawn(tmp_path, capsys):
    lines = [f"p{place},k{kind}" for place in range(101) for kind in range(100)]
    source = write(tmp_path / "wide.csv", "place,kind", lines)
    assert main(["table", str(source), "--rows", "place", "--columns", "kind", "--out", str(tmp_path / "t.csv")]) == 0
    shown = capsys.readouterr().out
    assert "--out" in shown
    assert "p7" not in shown.replace(str(tmp_path), "")
    assert len((tmp_path / "t.csv").read_text("utf-8").splitlines()) == 102
