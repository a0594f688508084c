"""The command line: languages, exit codes, JSON alone on stdout, one clear sentence for a mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celosia.cli import build_cli, main

TABLE_1 = """Sexo;Edad;País de origen;Comuna;Previsión;Diagnóstico 1;Días de estada;Intervención principal
Hombre;30 a 39;Chileno;Puerto Montt;FONASA;G402;2;
Hombre;30 a 39;Chileno;Puerto Montt;FONASA;I213;8;
Hombre;30 a 39;Chileno;Puerto Montt;FONASA;K810;7;Colecistectomía por videolaparoscopía, proc. completo
Hombre;30 a 39;Chileno;Puerto Montt;FONASA;K810;2;Colecistectomía por videolaparoscopía, proc. completo
Hombre;30 a 39;Chileno;Puerto Montt;FONASA;S128;9;"Estenosis laringotraqueales y/o faríngeas, trat. quir."
"""
QUASI = "Sexo,Edad,País de origen,Comuna,Previsión"


@pytest.fixture
def table_1(tmp_path: Path) -> Path:
    path = tmp_path / "tabla1.csv"
    path.write_bytes(TABLE_1.encode("windows-1252"))
    return path


@pytest.mark.requirement("M09", "M10", "M11")
def test_measure_gives_the_norms_own_figures_for_its_table_1(table_1, capsys):
    code = main(["measure", str(table_1), "--quasi", QUASI, "--sensitive", "Diagnóstico 1", "--sensitive",
                 "Intervención principal", "--json"])  # fmt: skip
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["format"] == "celosia/measure/1"
    assert report["k"] == 5
    assert report["sensitive"]["Diagnóstico 1"]["l"] == 4
    assert report["sensitive"]["Intervención principal"]["l"] == 3
    assert report["sensitive"]["Intervención principal"]["l_without_empty"] == 2


def test_the_measure_report_has_exactly_the_promised_figures(table_1, capsys):
    main(["measure", str(table_1), "--quasi", QUASI, "--sensitive", "Diagnóstico 1", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert {"rows", "persons", "classes", "k", "k_persons", "unique_rows", "rows_below", "sensitive"} <= set(report)
    assert set(report["rows_below"]) == {"2", "3", "5", "10"}
    assert {
        "l", "l_without_empty", "entropy_l", "recursive_c", "t_equal", "t_ordered", "alpha", "beta_basic",
        "beta_enhanced", "delta",
    } <= set(report["sensitive"]["Diagnóstico 1"])  # fmt: skip


@pytest.mark.parametrize(
    "arguments", [["--help"], [], ["init", "--help"], ["plan", "--help"], ["dictionary", "--help"]]
)
def test_help_reads_in_spanish_and_in_english(arguments, capsys):
    assert main(["--lang", "es", *arguments] if arguments else []) == 0
    spanish = capsys.readouterr().out
    assert main(["--lang", "en", *arguments]) == 0
    english = capsys.readouterr().out
    assert "Uso:" in spanish
    assert "Opciones" in spanish
    assert "Usage:" in english
    assert spanish != english


def test_spanish_speaks_when_the_language_is_unknown(monkeypatch, capsys):
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    main(["--help"])
    assert "Comandos" in capsys.readouterr().out


def test_every_command_and_option_has_help_in_both_languages():
    for language in ("es", "en"):
        for command in _all_commands(build_cli(language)):
            assert command.help
            for param in command.params:
                if param.param_type_name == "option":
                    assert param.help, (command.name, param.name)


def _all_commands(group):
    for command in group.commands.values():
        yield command
        if hasattr(command, "commands"):
            yield from _all_commands(command)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nada"], 2),
        (["measure"], 2),
        (["measure", "FILE", "--nada"], 2),
        (["measure", "FILE", "--quasi", "Inexistente"], 2),
        (["measure", "FILE", "--quasi", "Sexo,Sexo"], 2),
        (["measure", "FILE"], 2),
        (["measure", "FILE", "--quasi", "Sexo", "--sensitive", "Sexo"], 2),
        (["measure", "FILE", "--quasi", "Sexo", "--missing", "quizás"], 2),
        (["measure", "FILE", "--quasi", "Sexo", "--person", "Nadie"], 2),
        (["measure", "no-existe.csv", "--quasi", "a"], 2),
        (["plan", "no-existe"], 2),
        (["init", "FILE", "--protocol", "otro"], 2),
        (["init", "FILE", "--protocol", "mel"], 2),
        (["profile", "FILE", "--rare", "0"], 2),
        (["profile", "FILE", "--encoding", "utf-16"], 2),
        (["profile", "FILE", "--encoding", "idna"], 2),
        (["profile", "FILE", "--quote", "ab"], 2),
        (["init", "/usr"], 2),
    ],
)
@pytest.mark.parametrize("language", ["es", "en"])
def test_a_mistake_is_one_sentence_without_traceback(arguments, code, language, table_1, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    given = [str(table_1) if word == "FILE" else word for word in arguments]
    assert main(["--lang", language, *given]) == code
    out, err = capsys.readouterr()
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert "Colecistectomía" not in out + err


def test_with_json_a_mistake_is_a_json_error_on_stdout(capsys):
    assert main(["measure", "no-existe.csv", "--quasi", "a", "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    assert report["format"] == "celosia/error/1"
    assert report["code"] == "file_missing"


def test_our_own_fault_says_where_and_never_what(monkeypatch, table_1, capsys):
    def fails(*_: object, **__: object) -> None:
        raise KeyError("Nombre Plantado Peralta")

    monkeypatch.setattr("celosia.pipeline.assessment.on_files.measure_table", fails)
    assert main(["measure", str(table_1), "--quasi", "Sexo"]) == 3
    out, err = capsys.readouterr()
    assert "KeyError" in err
    assert "Peralta" not in out + err


def test_no_progress_bar_where_nobody_watches(table_1, capsys):
    assert main(["suggest", str(table_1)]) == 0
    assert capsys.readouterr().err == ""


def test_repeated_headers_are_renamed_when_asked_and_a_tabulator_is_typed_in_words(tmp_path, capsys):
    path = tmp_path / "repetidas.tsv"
    path.write_text("sexo\tedad\tsexo\n" + "F\t30\tM\n" * 9)
    assert main(["profile", str(path), "--delimiter", "\\t"]) == 2
    assert "--rename-duplicates" in capsys.readouterr().err
    assert main(["profile", str(path), "--delimiter", "\\t", "--rename-duplicates", "--json"]) == 0
    assert [v["name"] for v in json.loads(capsys.readouterr().out)["variables"]] == ["sexo", "edad", "sexo_2"]


def test_a_value_that_few_rows_hold_is_counted_and_never_shown(tmp_path, capsys):
    path = tmp_path / "personas.csv"
    path.write_text("sexo,comuna\n" + "F,Lota\nM,Lebu\n" * 9 + "F,Plantada\n" * 3)
    for shown in ([], ["--json"]):
        assert main(["profile", str(path), "--into", str(tmp_path / "out"), *shown]) == 0
        out = capsys.readouterr().out
        assert "Plantada" not in out
        assert shown or "Lota" in out
    assert not any("Plantada" in saved.read_text("utf-8") for saved in (tmp_path / "out").iterdir())
    comuna = json.loads((tmp_path / "out" / "profile.json").read_text("utf-8"))["variables"][1]
    assert comuna["other_rows"] == 3
    assert {category["value"] for category in comuna["categories"]} == {"Lota", "Lebu"}


@pytest.fixture
def project(table_1, tmp_path, capsys) -> Path:
    folder = tmp_path / "proyecto"
    assert main(["init", str(table_1), "--into", str(folder), "--protocol", "minsal"]) == 0
    said = capsys.readouterr().out
    assert "celosia dictionary purpose" in said
    assert "celosia plan" in said
    return folder


def done(arguments: list[str], capsys) -> dict:
    assert main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (report.pop("format"), err) == ("celosia/done/1", "")
    return report


def test_verbs_without_a_report_of_their_own_say_what_they_did_in_json(project, tmp_path, capsys):
    book, levels = str(tmp_path / "diccionario.csv"), str(tmp_path / "sexo.csv")
    assert done(["dictionary", "export", str(project), book], capsys) == {
        "what": "dictionary-export", "file": book, "variables": 8,
    }  # fmt: skip
    assert done(["dictionary", "import", str(project), book], capsys) == {"what": "dictionary-import", "changed": 0}
    purpose = ["dictionary", "purpose", str(project), "--variables", "Sexo,Edad", "--purpose", "estudio"]
    assert done(purpose, capsys) == {"what": "dictionary-purpose", "changed": 2}
    assert done(["hierarchy", "export", str(project), "Sexo", levels], capsys) == {
        "what": "hierarchy-export", "variable": "Sexo", "file": levels, "values": 1,
    }  # fmt: skip
    assert done(["hierarchy", "import", str(project), "Sexo", levels, "--list-gaps"], capsys) == {
        "what": "hierarchy-gaps", "variable": "Sexo", "values": [],
    }  # fmt: skip
    assert done(["hierarchy", "import", str(project), "Sexo", levels], capsys)["what"] == "hierarchy-import"


def test_a_dictionary_of_other_columns_than_the_base_does_not_pass_its_check(project, capsys):
    assert main(["dictionary", "check", str(project)]) == 0
    path = project / "dictionary.csv"
    kept = [line for line in path.read_text("utf-8").splitlines(keepends=True) if not line.startswith("Edad,")]
    path.write_text("".join(kept).replace("\nSexo,", "\nSexos,"), "utf-8")
    capsys.readouterr()
    assert main(["dictionary", "check", str(project), "--lang", "es"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Faltan en el diccionario: Sexo, Edad. Sobran en el diccionario: Sexos." in err
    assert main(["dictionary", "check", str(project), "--json"]) == 2
    assert "dictionary_disagrees" in capsys.readouterr().out


def test_the_demonstration_can_be_told_in_json_alone(tmp_path, capsys):
    main(["demo", "--into", str(tmp_path / "demo"), "--rows", "400", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert (report["format"], report["what"], report["rows"]) == ("celosia/done/1", "demo", 400)


def test_a_proposed_hierarchy_is_called_so(project, capsys):
    assert main(["hierarchy", "show", str(project), "Sexo", "--lang", "es"]) == 0
    assert "(propuesta)" in capsys.readouterr().out


def test_a_mask_that_hides_short_numbers_whole_says_so_with_the_way_out(tmp_path, capsys):
    path, folder = tmp_path / "edades.csv", tmp_path / "p"
    path.write_text("SEXO,EDAD\n" + "".join(f"F,{age}\n" for age in range(30)), "utf-8")
    assert main(["init", str(path), "--into", str(folder), "--header"]) == 0
    config = folder / "celosia.toml"
    plain = config.read_text("utf-8") + '\n[hierarchies.EDAD]\nbuilder = "mask"\n'
    for more, told in (("", True), ("width = 2\n", False)):
        config.write_text(plain + more, "utf-8")
        capsys.readouterr()
        assert main(["hierarchy", "show", str(folder), "EDAD", "--lang", "es"]) == 0
        assert ("width = 2" in capsys.readouterr().out) is told
        assert main(["hierarchy", "show", str(folder), "EDAD", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["short_values"], found["short_width"]) == ((10, 2) if told else (0, 0))


def test_no_help_mixes_languages():
    import click

    english = ("INTEGER RANGE", "FLOAT", "PATH", "[x", "<=", "default:")
    for command in _all_commands(build_cli("es")):
        told = command.get_help(click.Context(command, info_name=command.name))
        assert not [word for word in english if word in told], command.name


def test_an_option_that_may_not_be_left_out_says_so_in_the_language_of_the_help(capsys):
    for language, word in (("es", "[obligatoria]"), ("en", "[required]")):
        assert main(["--lang", language, "apply", "--help"]) == 0
        assert word in capsys.readouterr().out


def test_a_number_outside_its_range_is_answered_in_words(project, capsys):
    assert main(["plan", str(project), "--k", "0", "--lang", "es"]) == 2
    assert "1 o más" in capsys.readouterr().err


def test_a_k_below_the_protocol_is_refused_with_its_name(project, capsys):
    main(["dictionary", "purpose", str(project), "--variables", "Sexo,Edad,Diagnóstico 1", "--purpose", "estudio"])
    capsys.readouterr()
    assert main(["plan", str(project), "--k", "1", "--lang", "es"]) == 1
    said = capsys.readouterr().err
    assert "MINSAL" in said
    assert "k = 2" in said


def test_the_loss_is_named_in_words(project, capsys):
    main(["dictionary", "purpose", str(project), "--variables", "Sexo,Edad,Diagnóstico 1", "--purpose", "estudio"])
    assert main(["plan", str(project), "--lang", "es"]) == 0
    said = capsys.readouterr().out
    assert "media geométrica" in said
    assert "geometric)" not in said


def test_a_demonstration_below_a_file_is_refused_in_one_sentence(table_1, capsys):
    assert main(["demo", "--into", str(table_1 / "demo")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
