"""The annotated dictionary as a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import messages
from celosia.model import dictionary
from celosia.model.errors import (
    DictionaryColumnMissing,
    DictionaryDisagrees,
    DictionaryRepeats,
    DictionaryWordUnknown,
    UnknownFormat,
)
from celosia.model.variables import Kind, MelLabel, Role, Scale, Traits, Treatment, Variable

RUN = Variable(
    "RUN",
    label="Rol único nacional",
    role=Role.IDENTIFIER,
    scale=Scale.CATEGORICAL,
    kind=Kind.IDENTIFICATION,
    traits=Traits(True, True, False),
    mel_label=MelLabel.DIRECT,
    treatment=Treatment.REMOVE,
    missing=("NA", "s/i"),
    unknown=("99999",),
    value_labels=(("1", "Hombre"), ("2", "Mujer")),
    evidence="El 99 % de los valores son RUN válidos.",
)

cells = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12).map(str.strip)
variables = st.builds(
    Variable,
    name=cells.filter(bool),
    label=cells,
    role=st.sampled_from(Role) | st.none(),
    scale=st.sampled_from(Scale) | st.none(),
    kind=st.sampled_from(Kind) | st.none(),
    strong=st.booleans(),
    special=st.booleans(),
    traits=st.builds(Traits, *[st.sampled_from([True, False, None])] * 3),
    mel_label=st.sampled_from(MelLabel) | st.none(),
    treatment=st.sampled_from(Treatment) | st.none(),
    missing=st.lists(cells.filter(bool), max_size=3).map(tuple),
    unknown=st.lists(cells.filter(bool), max_size=3).map(tuple),
    value_labels=st.lists(st.tuples(cells.filter(bool), cells), max_size=3).map(tuple),
)


@pytest.mark.requirement("M01")
@given(st.lists(variables, max_size=5, unique_by=lambda v: v.name), st.sampled_from(messages.LANGUAGES))
def test_roles_and_all_else_survive_save_and_load_in_either_language(described, language):
    with messages.speaking(language):
        content = dictionary.dump(described)
    with messages.speaking("es"):
        assert dictionary.load(content, "d.csv") == tuple(described)


def test_a_dictionary_saved_by_a_spreadsheet_with_semicolons_is_read():
    content = dictionary.dump([RUN]).replace("NA|s/i", "NA|s/i")
    rows = [";".join(row) for row in dictionary.rows_of([RUN])]
    assert dictionary.load("\ufeff" + "\n".join(rows) + "\n", "d.csv") == dictionary.load(content, "d.csv")


def test_the_file_begins_with_its_format():
    assert dictionary.dump([RUN]).splitlines()[0] == "celosia/dictionary/1"


def test_an_unknown_format_is_refused_by_name():
    with pytest.raises(UnknownFormat) as error:
        dictionary.load("celosia/dictionary/9\nvariable\n", "d.csv")
    assert error.value.values["found"] == "celosia/dictionary/9"


def test_a_word_that_is_not_accepted_names_line_column_and_what_is():
    content = dictionary.dump([RUN]).replace("identificador explícito", "Juan Pérez")
    with pytest.raises(DictionaryWordUnknown) as error:
        dictionary.load(content, "d.csv")
    assert error.value.values["line"] == 3
    assert "cuasi-identificador" in str(error.value)
    assert "Juan" not in str(error.value)


def test_a_dictionary_without_role_column_is_refused():
    with pytest.raises(DictionaryColumnMissing):
        dictionary.load("celosia/dictionary/1\nvariable,etiqueta\nRUN,x\n", "d.csv")


def test_a_variable_described_twice_is_refused_by_name():
    with pytest.raises(DictionaryRepeats, match="RUN"):
        dictionary.load(dictionary.dump([RUN, RUN]), "d.csv")


@pytest.mark.requirement("M08", "P01")
def test_a_dictionary_that_misses_one_of_twenty_columns_reports_exactly_that_one():
    columns = [f"v{i}" for i in range(20)]
    described = [Variable(name) for name in columns if name != "v7"]
    with pytest.raises(DictionaryDisagrees) as error:
        dictionary.refuse_disagreement(described, columns, "d.csv")
    assert error.value.values["absent"] == "v7"


@pytest.mark.requirement("P01")
def test_a_dictionary_that_names_an_unknown_column_is_refused():
    with pytest.raises(DictionaryDisagrees) as error:
        dictionary.refuse_disagreement([Variable("a"), Variable("b")], ["a"], "d.csv")
    assert error.value.values["unknown"] == "b"


@pytest.mark.requirement("M06")
def test_without_a_stated_purpose_nothing_is_published():
    described = [
        Variable("SEXO", role=Role.QUASI, purpose="análisis por sexo"),
        Variable("EDAD", role=Role.QUASI),
        Variable("RUN", role=Role.IDENTIFIER, purpose="ninguno bueno"),
    ]
    assert [variable.name for variable in dictionary.publishable_variables(described)] == ["SEXO"]


@pytest.mark.requirement("M01")
def test_a_variable_without_a_role_is_named():
    assert dictionary.without_role([RUN, Variable("x")]) == ("x",)


def test_anybodys_dictionary_with_name_and_description_gives_labels():
    rows = [["Variable", "Descripción"], ["P1", "Edad en años"], ["", ""], ["P2", "Sexo"]]
    assert dictionary.labels_of(rows, "d.xlsx") == {"P1": "Edad en años", "P2": "Sexo"}
