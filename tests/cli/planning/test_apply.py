"""One technique, or a list of them, on a single file; and the same names as functions on a frame."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from celosia import treatments
from celosia.cli import main
from celosia.errors import CelosiaError
from celosia.pipeline.assessment.apply_techniques import treat
from celosia.pipeline.assessment.errors import PseudonymsNeedProject
from celosia.pipeline.planning.step_syntax import step_from
from celosia.techniques import NAMES

EXAMPLE = """ID,Documento,Edad,Departamento,Religión
1,123456,25,Cundinamarca,Católico
2,234567,27,Bogotá,Cristiano
3,345678,32,Bogotá,Católico
4,456789,36,Valle,Católico
5,567891,45,Sucre,Cristiano
"""
STEPS = """[[steps]]
technique = "remove_variables"
columns = ["Documento", "Religión"]

[[steps]]
technique = "intervals"
columns = ["Edad"]
start = 0
width = 10
end = 120
label = "{low}-{high}"

[[steps]]
technique = "recode"
columns = ["Departamento"]
into = "Región"
map = {Cundinamarca = "Andina", "Bogotá" = "Andina", Valle = "Pacifico", Sucre = "Caribe"}
"""
TREATED = """ID,Edad,Región
1,20-29,Andina
2,20-29,Andina
3,30-39,Andina
4,30-39,Pacifico
5,40-49,Caribe
"""


@pytest.fixture
def example(tmp_path: Path) -> tuple[Path, Path, Path]:
    data, steps = tmp_path / "solicitud.csv", tmp_path / "pasos.toml"
    data.write_text(EXAMPLE, "utf-8")
    steps.write_text(STEPS, "utf-8")
    return data, steps, tmp_path / "tratado.csv"


@pytest.mark.requirement("A27", "A28")
def test_ateneas_worked_example_comes_out_byte_for_byte_and_all_five_people_stay_at_risk(example, capsys):
    data, steps, out = example
    assert main(["apply", str(steps), str(data), "--out", str(out), "--lang", "es"]) == 0
    assert out.read_bytes() == TREATED.encode("utf-8")
    told = capsys.readouterr().out
    assert "5 de 5 personas siguen en riesgo (RI ≥ 0,3) según Edad, Región" in told
    assert "todavía pueden identificar por sí solas: ID" in told  # X12: the guide keeps it


def test_the_report_says_what_each_step_did(example, capsys):
    data, steps, out = example
    assert main(["apply", str(steps), str(data), "--out", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["format"] == "celosia/apply/1"
    removed, bands, places = report["changes"]
    assert removed["removed"] == ["Documento", "Religión"]
    assert (bands["cells_touched"], bands["share"]) == ({"Edad": 5}, 1.0)
    assert places["renamed"] == {"Región": "Departamento"}
    assert report["remaining"] == {"rows": 5, "identifiers": ["ID"], "quasi": ["Edad", "Región"], "at_risk": 5}


def test_parameters_are_options_of_the_command(tmp_path, capsys):
    data, out = tmp_path / "ingresos.csv", tmp_path / "tratado.csv"
    data.write_text("persona,ingreso\n" + "".join(f"{i},{i * i}\n" for i in range(1, 31)), "utf-8")
    code = main(["apply", "microaggregate", str(data), "--columns", "ingreso", "--k", "3", "--out", str(out), "--json"])
    assert (code, json.loads(capsys.readouterr().out)["changes"][0]["technique"]) == (0, "microaggregate")
    published = [line.split(",")[1] for line in out.read_text("utf-8").splitlines()[1:]]
    assert min(published.count(value) for value in published) >= 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nada", "{data}", "--out", "{out}"], "No hay una técnica «nada»"),
        (["mask", "{data}", "--columns", "Edad", "--colour", "3", "--out", "{out}"], "no tiene el parámetro «colour»"),
        (["microaggregate", "{data}", "--columns", "Religión", "--k", "3", "--out", "{out}"], "5 filas con otro texto"),
        (["mask", "{data}", "--columns", "Nombre", "--keep", "1", "--out", "{out}"], "Nombre"),
        (["mask", "{data}", "--columns", "Edad", "--keep", "uno", "--out", "{out}"], "un número entero"),
        (["shuffle", "{data}", "--out", "{out}.doc"], ".csv, .parquet"),
        (["shuffle", "{data}", "--out", "{data}"], "ya existe"),
        (["pseudonymise", "{data}", "--columns", "ID", "--out", "{out}"], "lugar privado para su clave"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_no_file(example, capsys, words, sentence):
    data, _, out = example
    told = main(["apply", *[word.format(data=data, out=out) for word in words], "--lang", "es"])
    error = capsys.readouterr().err
    assert told in (1, 2)
    assert sentence in error
    assert not out.exists()
    assert data.read_text("utf-8") == EXAMPLE


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    data = tmp_path / "ingresos.csv"
    data.write_text("ingreso\n" + "".join(f"{i}\n" for i in range(1, 101)), "utf-8")
    made = {}
    for name, seed in (("a", "uno"), ("b", "uno"), ("c", "dos")):
        made[name] = tmp_path / f"{name}.csv"
        assert main(["apply", "swap", str(data), "--columns", "ingreso", "--seed", seed, "--out", str(made[name])]) == 0
    assert made["a"].read_bytes() == made["b"].read_bytes() != made["c"].read_bytes()


def test_techniques_lists_them_all_with_their_parameters(capsys):
    assert main(["techniques", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["techniques"]
    assert [one["name"] for one in listed] == list(NAMES)
    for name in NAMES:
        assert main(["techniques", name, "--lang", "es"]) == 0
        assert capsys.readouterr().out.strip()


def test_every_technique_but_the_keyed_one_is_a_function_on_a_frame():
    assert set(treatments.NAMES) == set(NAMES) - {"pseudonymise"}
    with pytest.raises(PseudonymsNeedProject):
        treat(pa.table({"a": ["1"]}), "pseudonymise", columns=["a"])


def frames() -> list[object]:
    import pandas
    import polars

    columns = {"edad": [31, 32, 45, 47, 50, 51], "comuna": ["05302", "05302", "05301", "05301", "05301", None]}
    return [pandas.DataFrame(columns), polars.DataFrame(columns), pa.table(columns)]


@pytest.mark.parametrize("frame", frames(), ids=["pandas", "polars", "arrow"])
def test_a_frame_comes_back_as_its_own_kind_and_is_not_touched(frame):
    before = str(frame)
    treated, change = treatments.microaggregate(frame, columns=["edad"], k=3)
    assert type(treated) is type(frame)
    assert str(frame) == before
    ages = treated["edad"].to_pylist() if isinstance(treated, pa.Table) else list(treated["edad"])
    assert ages == [36, 36, 36, pytest.approx(148 / 3), pytest.approx(148 / 3), pytest.approx(148 / 3)]
    assert change.rows_touched == 6
    masked, _ = treatments.mask(frame, columns=["comuna"], keep=3)
    cells = masked["comuna"].to_pylist() if isinstance(masked, pa.Table) else list(masked["comuna"])
    assert cells[:5] == ["053**"] * 5
    assert cells[5] is None or cells[5] != cells[5]


def test_rows_that_leave_leave_the_frame():
    import pandas

    frame = pandas.DataFrame({"año": [2023, 2024, 2024], "n": [1.5, 2.5, 3.5]}, index=["x", "y", "z"])
    kept, change = treatments.select(frame, keep={"año": ["2024"]})
    assert list(kept.index) == ["y", "z"]
    assert list(kept["n"]) == [2.5, 3.5]
    assert change.rows_dropped == 1


def test_a_wrong_setting_is_our_own_error():
    with pytest.raises(CelosiaError):
        treatments.microaggregate(pa.table({"a": ["1", "2"]}), columns=["a"], k="tres")


def test_a_decimal_comma_file_loses_variance_not_cells_and_keeps_its_mark(tmp_path, capsys):
    data, out = tmp_path / "ingresos.csv", tmp_path / "out.csv"
    data.write_bytes("año;ingreso\n".encode("latin-1") + b"".join(b"2024;%d,5\n" % (i * 10) for i in range(1, 13)))
    words = ["--columns", "ingreso", "--top", "100.25", "--out", str(out), "--json"]
    assert main(["apply", "top_bottom", str(data), *words]) == 0
    change = json.loads(capsys.readouterr().out)["changes"][0]
    assert change["rows_touched"] == 3
    assert change["loss"]["ingreso"] == pytest.approx((0.25**2 + 10.25**2 + 20.25**2) / 14300)
    assert out.read_text("utf-8").splitlines()[-1] == '2024,"100,25"'


@pytest.mark.parametrize(("word", "value"), [("sí", True), ("SI", True), ("verdadero", True), ("falso", False)])
def test_flags_are_read_in_spanish_too(word, value):
    assert step_from("noise", [("columns", "a"), ("restore", word)])["restore"] is value


def test_a_list_may_be_given_in_pieces_and_an_empty_value_is_empty(example):
    data, _, out = example
    words = ["--columns", "Edad", "--columns=Religión", "--others=", "--map", str(data.with_name("m.csv"))]
    data.with_name("m.csv").write_text("old,new\nCatólico,c\n", "utf-8")
    assert main(["apply", "recode", str(data), *words, "--out", str(out)]) == 0
    assert [line.split(",")[2::2] for line in out.read_text("utf-8").splitlines()[1:3]] == [["", "c"], ["", ""]]


def test_files_that_steps_name_are_found_beside_them(tmp_path, monkeypatch):
    folder = tmp_path / "pasos"
    folder.mkdir()
    (tmp_path / "a.csv").write_text("lugar,n\nx,1\ny,2\n", "utf-8")
    (folder / "m.csv").write_text("x,Norte\ny,Sur\n", "utf-8")
    (folder / "p.toml").write_text('[[steps]]\ntechnique = "region"\nplace = "lugar"\nmapping = "m.csv"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["apply", "pasos/p.toml", "a.csv", "--out", "o.csv"]) == 0
    assert (tmp_path / "o.csv").read_text("utf-8").splitlines()[1:] == ["Norte,1", "Sur,2"]


def test_whole_numbers_stay_whole_in_every_kind_of_frame():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    whole = [3, 7, None, 22]
    nullable = pandas.DataFrame({"n": pandas.array(whole, "Int64")}, index=list("abcd"))
    after = treat(nullable, "round", columns=["n"], base=5, seed="1").frame
    assert (str(after["n"].dtype), list(after.index), int(after["n"].isna().sum())) == ("Int64", list("abcd"), 1)
    assert (
        str(treat(polars.DataFrame({"n": whole}), "round", columns=["n"], base=5, seed="1").frame["n"].dtype) == "Int64"
    )
    arrow = treat(pa.table({"n": whole}), "round", columns=["n"], base=5, seed="1").frame
    assert pa.types.is_int64(arrow.schema.field("n").type)


def test_polars_categories_are_read():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"c": polars.Series(["a", None, "b", "a"], dtype=polars.Categorical), "n": [1, 2, 3, 4]})
    after = treat(frame, "swap", columns=["n"], seed="1").frame
    assert after["c"].to_list() == ["a", None, "b", "a"]
    assert treat(frame, "mask", columns=["c"], keep=0).frame["c"].to_list() == ["*", None, "*", "*"]
