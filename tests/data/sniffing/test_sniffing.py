"""How a file is to be read is guessed from its bytes, said, and can be overruled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from celosia import messages
from celosia.data.sniffing import sniff
from celosia.model.value_errors import ValueOutOfRange

Make = Callable[..., Path]
TABLE = "run;nombre;comuna;monto\n11111111-1;José Núñez;05302;1,5\n22222222-2;María Ibáñez;13101;2,25\n"


@pytest.mark.requirement("M22")
@pytest.mark.parametrize(
    ("encoding", "found"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("utf-16", "utf-16"), ("latin-1", "latin-1")],
)
def test_encodings_are_told_apart_and_reported(make: Make, encoding: str, found: str) -> None:
    choices = sniff(make(TABLE.encode(encoding)))
    assert choices.encoding == found
    assert "encoding" in choices.guessed
    assert [note.key for note in choices.notes] == ([] if found == "utf-8" else ["encoding"])


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("nombre,nota\nJosé,“entre comillas” – 5 €\n", "windows-1252"),
        ("nombre,edad\nMARÍA NÚÑEZ PEÑA,50\nJosé Ibáñez,7\n", "cp850"),
        ("nombre,edad\nMaría Núñez Peña,50\nJosé Ibáñez,7\n", "mac-roman"),
    ],
)
def test_bytes_that_latin_1_would_turn_into_rubbish_mean_another_encoding(make: Make, text: str, encoding: str) -> None:
    assert sniff(make(text.encode(encoding))).encoding == encoding


def test_a_byte_far_from_the_start_decides_the_encoding(make: Make) -> None:
    rows = b"1,x\n" * 400_000
    assert sniff(make(b"id,nombre\n" + rows + "2,Ñuñoa\n".encode("latin-1") * 200_000)).encoding == "latin-1"


@pytest.mark.parametrize("broken", ["Mar\ufffda", "MarÃ\u00ada", "PeÃ±a"])
def test_accents_destroyed_before_us_are_noticed(make: Make, broken: str) -> None:
    assert "destroyed_accents" in [note.key for note in sniff(make(f"nombre,edad\n{broken},5\n")).notes]


@pytest.mark.requirement("M22")
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiters_are_found(make: Make, mark: str) -> None:
    assert sniff(make(f"a_1{mark}b_2{mark}c_3\n1{mark}2{mark}3\n4{mark}5{mark}6\n")).delimiter == mark


def test_a_decimal_comma_is_not_a_delimiter(make: Make) -> None:
    choices = sniff(make("peso;talla\n1,5;2,25\n3,75;4,5\n"))
    assert (choices.delimiter, choices.decimal) == (";", ",")


def test_a_delimiter_inside_quotes_does_not_count(make: Make) -> None:
    text = 'nombre,glosa\nana,"a;b;c"\nluz,"d;e;f"\n'
    assert sniff(make(text)).delimiter == ","


@pytest.mark.parametrize(
    "first",
    [
        "11.111.111-1;Ana Soto;F",
        "ana@correo.cl;Ana Soto;F",
        "Ana Soto;1990-05-02;F",
        "Ana Soto;02/05/1990;F",
        "Ana Soto;+56 9 8765 4321;F",
        "Ana Soto;42;F",
    ],
)
def test_a_first_line_that_looks_like_data_is_no_header(make: Make, first: str) -> None:
    choices = sniff(make(f"{first}\n22.222.222-2;Luz Rojas;M\n"))
    assert not choices.header
    assert "header" in choices.guessed
    assert "no_header" in [note.key for note in choices.notes]


def test_a_first_line_whose_values_return_below_is_no_header(make: Make) -> None:
    assert not sniff(make("Ana Soto;Mujer\nLuz Rojas;Mujer\nJuan Paz;Hombre\n")).header


def test_names_alone_are_never_taken_for_a_header(make: Make) -> None:
    choices = sniff(make("Ana Soto;Quilpué\nLuz Rojas;Limache\n"))
    assert not choices.header
    assert "header_uncertain" in [note.key for note in choices.notes]


@pytest.mark.parametrize(
    "text", ["x1;x2\n11.111.111-1;F\n22.222.222-2;M\n", "nombre;sexo\nAna;F\nLuz;M\n", "id_caso,glosa\nA,b\nC,d\n"]
)
def test_a_header_is_known_by_what_stands_below_or_by_its_words(make: Make, text: str) -> None:
    assert sniff(make(text)).header


def keys(path: Path) -> list[str]:
    return [note.key for note in sniff(path).notes]


@pytest.mark.parametrize(
    "text",
    [
        "Nombre Plantado Peralta\nAna Soto\nLuz Rojas\n",
        "Nombre Plantado Peralta,Nombre Plantado Peralta\nAna Soto,Luz Rojas\n",
        "Nombre Plantado Peralta,Secretaria de Estado\nAna Soto,Médica\n",
        "Plantado Zzyzx,Médico\nAna Soto,Abogada\n",
        "Quispe,Médico\nSoto,Abogada\n",
        "ANA SOTO,ABOGADA\nLUIS PAZ,MÉDICO\n",
        "Ana Soto,S/I\nLuz Rojas,42\nEva Paz,43\n",
    ],
)
def test_people_and_their_jobs_are_records_and_the_doubt_names_the_option(make: Make, text: str) -> None:
    choices = sniff(make(text))
    assert not choices.header
    assert [note.key for note in choices.notes] == ["header_uncertain"]
    assert "--header" in choices.notes[0].text()


CODES = "".join(
    f"{'HM'[i % 2]},{('Urbana', 'Rural')[i % 3 % 2]},{'ABC'[i % 3]},{'xyz'[i // 7 % 3]}\n" for i in range(60)
)


def test_headers_the_suggester_knows_are_headers_over_text_alone(make: Make) -> None:
    choices = sniff(make("SEXO,ZONA,DIAG,X\n" + CODES))
    assert choices.header
    assert choices.notes == ()


def test_capitals_over_values_that_all_return_are_a_header_with_a_doubt(make: Make) -> None:
    assert sniff(make("AAA,BBB,CCC,DDD\n" + CODES)).header
    assert keys(make("AAA,BBB,CCC,DDD\n" + CODES)) == ["header_likely"]
    assert not sniff(make(CODES)).header
    assert not sniff(make("AAA,BBB\nCCC,DDD\nEEE,FFF\n")).header


def test_a_word_of_headers_over_one_column_is_its_header(make: Make) -> None:
    assert sniff(make("NOMBRE\nAna Soto\nLuz Rojas\n")).header


def test_words_over_numbers_are_a_header_even_if_people_bear_them(make: Make) -> None:
    assert sniff(make("Rosa,Luz,Mar\n1,2,3\n4,5,6\n")).header


@pytest.mark.parametrize("written", ["\\t", "tab", "TAB", "\t"])
def test_a_tabulator_can_be_typed_in_words(make: Make, written: str) -> None:
    assert sniff(make("sexo\tedad\nF\t5\n"), delimiter=written).delimiter == "\t"


@pytest.mark.parametrize(("option", "words"), [("quote", "o nada"), ("delimiter", "tab")])
def test_a_wrong_quote_or_delimiter_says_what_it_may_be(make: Make, option: str, words: str) -> None:
    with pytest.raises(ValueOutOfRange) as caught, messages.speaking("es"):
        sniff(make(TABLE), **{option: "ab"})  # type: ignore[arg-type]
    assert "un solo carácter" in str(caught.value)
    assert words in str(caught.value)


def test_what_the_user_chooses_is_not_guessed(make: Make) -> None:
    choices = sniff(
        make(TABLE), delimiter=",", encoding="cp1252", header=False, decimal=".", quote="", drop=["x"], format="csv"
    )
    assert (choices.delimiter, choices.encoding, choices.header) == (",", "windows-1252", False)
    assert choices.quote == ""
    assert choices.dropped == ("x",)
    assert choices.guessed == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"delimiter": ";;"},
        {"delimiter": ""},
        {"encoding": "klingon"},
        {"encoding": "idna"},
        {"encoding": "punycode"},
        {"encoding": "rot13"},
        {"decimal": "'"},
        {"format": "doc"},
    ],
)
def test_a_choice_that_cannot_be_is_refused_by_name(make: Make, wrong: dict[str, str]) -> None:
    with pytest.raises(ValueOutOfRange) as caught:
        sniff(make(TABLE), **wrong)  # type: ignore[arg-type]
    assert caught.value.values["parameter"] == next(iter(wrong))


def test_every_notice_has_its_sentence_in_both_languages(make: Make) -> None:
    choices = sniff(make("Ana Soto;Quilpué\nLuz Rojas;Limache\n".encode("latin-1")))
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            assert all(note.text() for note in choices.notes)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("cl_deis_deaths_2024_release2.csv", 15),
        ("cl_deis_covid_deaths_2020-07-30.csv", 11),
        ("co_ins_covid_2020-06-11.csv", 13),
        ("co_dane_ecv_households.csv", 100),
    ],
)
def test_real_files_are_recognised(shared: Path, name: str, columns: int) -> None:
    path = shared / "data" / name
    choices = sniff(path)
    assert (choices.format, choices.encoding, choices.delimiter, choices.header) == ("csv", "utf-8", ",", True)
    assert choices.notes == ()
    with path.open(encoding="utf-8") as stream:
        assert stream.readline().count(choices.delimiter) + 1 == columns
