"""Edits of the dictionary: fields by their ids, many lines at once, exceptions with a reason, who is a person."""

from __future__ import annotations

import json
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import messages
from celosia.data.copied_table import CopiedTable
from celosia.data.engines.duckdb import DuckDBEngine
from celosia.errors import CelosiaError
from celosia.model import dictionary
from celosia.model.errors import NothingChosen, UnknownVariable
from celosia.model.exceptions import reason_for, with_reason, without_reason
from celosia.model.reports.column_figures import ColumnFigures
from celosia.model.reports.mel import Fault
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import IdentifierClass, Kind, MelLabel, Role, Scale, Treatment, Variable
from celosia.pipeline.candidate.approvals import approve, valid_approvals
from celosia.pipeline.candidate.mel import annotated_dictionary
from celosia.pipeline.intake.dictionary_files import import_dictionary
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.stats_rules import journal_entries
from celosia.workbench.dictionary_edit import choose_unit, edit_dictionary, except_variable, withdraw_exception
from celosia.workbench.dictionary_view import count_columns, dictionary_view, tried_lines
from celosia.workbench.errors import NotExcepted, ReasonNeeded
from celosia.workbench.views.dictionary import Excluded, is_unique_alone
from tests.projects import household_survey, survey
from tests.projects.steps import NOW, add_settings


@pytest.fixture(scope="module")
def shared_project(tmp_path_factory) -> Path:
    return survey.make_project(tmp_path_factory.mktemp("dictionary") / "p")


@pytest.fixture
def folder(shared_project, tmp_path) -> Path:
    return Path(shutil.copytree(shared_project, tmp_path / "p"))


@pytest.fixture(scope="module")
def made_mel(tmp_path_factory) -> Path:
    return household_survey.make_project(
        tmp_path_factory.mktemp("mel") / "evaluacion", areas=(("Meta", "Granada", 80), ("Meta", "Mesetas", 30))
    )


@pytest.fixture
def mel(made_mel, tmp_path) -> Path:
    return Path(shutil.copytree(made_mel, tmp_path / "m"))


def line(folder: Path, name: str) -> Variable:
    return next(v for v in open_project(folder).variables if v.name == name)


def entry_of(folder: Path, name: str) -> Any:
    return next(entry for entry in dictionary_view(folder).lines if entry.variable.name == name)


def settings(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "celosia.toml").read_text("utf-8"))


def last_entry(folder: Path) -> dict[str, Any]:
    return journal_entries(folder / "journal.jsonl")[-1]


# --- fields ---------------------------------------------------------------------------------------


@pytest.mark.requirement("M01", "A05", "A06", "A12", "P02", "P18")
def test_every_field_takes_its_value_and_survives_reading_again(folder):
    changes = {
        "role": "sensitive",
        "strong": True,
        "scale": "discrete",
        "kind": "location",
        "replicable": True,
        "distinguishable": False,
        "knowable": None,
        "mel_label": "geographic",
        "special": True,
        "purpose": "  medir  la brecha ",
        "treatment": "generalise",
        "label": "Ingreso\nmensual",
        "missing": ["S/I", "", "S/I"],
        "unknown": ("99999", "8|8"),
    }
    edit_dictionary(folder, {"INGRESO": changes}, now=NOW)
    after = line(folder, "INGRESO")
    assert (after.role, after.scale, after.kind) == (Role.SENSITIVE, Scale.DISCRETE, Kind.LOCATION)
    assert (after.mel_label, after.treatment) == (MelLabel.GEOGRAPHIC, Treatment.GENERALISE)
    assert (after.traits.replicable, after.traits.distinguishable, after.traits.knowable) == (True, False, None)
    assert after.strong
    assert after.special
    assert (after.purpose, after.label) == ("medir la brecha", "Ingreso mensual")
    assert (after.missing, after.unknown) == (("S/I",), ("99999", "8|8"))


def test_lines_that_are_not_named_stay_as_they_were(folder):
    before = open_project(folder).variables
    edit_dictionary(folder, {"ZONA": {"role": "plain"}}, now=NOW)
    after = open_project(folder).variables
    assert after == tuple(replace(v, role=Role.PLAIN) if v.name == "ZONA" else v for v in before)


@pytest.mark.requirement("M06")
def test_many_lines_are_edited_at_once_and_told_in_one_entry_without_values(folder):
    changes = {name: {"purpose": "estudio secreto", "treatment": "keep"} for name in ("RUT", "SEXO", "ZONA")}
    edit = edit_dictionary(folder, changes, why="acuerdo 12", now=NOW)
    assert (edit.variables, edit.fields) == (3, ("treatment", "purpose"))
    entry = last_entry(folder)
    assert (entry["what"], entry["why"]) == ("dictionary", "acuerdo 12")
    assert entry["facts"] == {"changed": 3, "fields": ["treatment", "purpose"]}
    assert "estudio secreto" not in json.dumps(entry, ensure_ascii=False)


def test_an_empty_word_takes_a_role_away(folder):
    edit_dictionary(folder, {"ZONA": {"role": ""}, "SEXO": {"role": None}}, now=NOW)
    assert dictionary.without_role(open_project(folder).variables) == ("SEXO", "ZONA")


def test_an_edit_that_changes_nothing_writes_nothing(folder):
    before, entries = digest_of_file(folder / "dictionary.csv"), len(journal_entries(folder / "journal.jsonl"))
    edit = edit_dictionary(folder, {"ZONA": {"role": line(folder, "ZONA").role}}, now=NOW)
    assert (edit.variables, edit.fields, edit.digest) == (0, (), before)
    assert len(journal_entries(folder / "journal.jsonl")) == entries


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"NADIE": {"role": "quasi"}}, UnknownVariable),
        ({"ZONA": {"name": "OTRA"}}, ValueOutOfRange),
        ({"ZONA": {"evidence": "porque sí"}}, ValueOutOfRange),
        ({"ZONA": {"role": "cuasi-identificador"}}, ValueOutOfRange),
        ({"ZONA": {"role": 3}}, ValueOutOfRange),
        ({"ZONA": {"strong": None}}, ValueOutOfRange),
        ({"ZONA": {"replicable": "yes"}}, ValueOutOfRange),
        ({"ZONA": {"replicable": 1}}, ValueOutOfRange),
        ({"ZONA": {"missing": "S/I"}}, ValueOutOfRange),
        ({"ZONA": {"purpose": 7}}, ValueOutOfRange),
        ({"ZONA": {"purpose": "x" * 2001}}, ValueOutOfRange),
        ({"ZONA": {"purpose": "\ud800"}}, ValueOutOfRange),
        ({}, NothingChosen),
    ],
)
def test_what_is_not_a_field_or_a_value_is_refused_and_nothing_is_written(folder, changes, error):
    before = (folder / "dictionary.csv").read_bytes(), (folder / "journal.jsonl").read_bytes()
    with pytest.raises(error):
        edit_dictionary(folder, {"SEXO": {"role": "plain"}} | changes if changes else {}, now=NOW)
    assert before == ((folder / "dictionary.csv").read_bytes(), (folder / "journal.jsonl").read_bytes())


def test_an_edit_made_on_another_state_of_the_file_is_refused(folder):
    shown = dictionary_view(folder).digest
    edit = edit_dictionary(folder, {"ZONA": {"role": "plain"}}, expected=shown, now=NOW)
    assert edit.digest == dictionary_view(folder).digest != shown
    with pytest.raises(EditedMeanwhile):
        edit_dictionary(folder, {"SEXO": {"role": "plain"}}, expected=shown, now=NOW)
    assert line(folder, "SEXO").role == Role.QUASI


def test_an_imported_dictionary_does_not_run_over_an_edit(folder, tmp_path):
    shown = dictionary_view(folder).digest
    taken = Path(shutil.copy(folder / "dictionary.csv", tmp_path / "editado.csv"))
    edit_dictionary(folder, {"ZONA": {"role": "plain"}}, now=NOW)
    with pytest.raises(EditedMeanwhile):
        import_dictionary(folder, taken, expected=shown, now=NOW)
    assert line(folder, "ZONA").role == Role.PLAIN


def test_the_file_keeps_the_language_of_its_project(folder):
    with messages.speaking("en"):
        edit_dictionary(folder, {"ZONA": {"role": "plain"}}, now=NOW)
    assert "atributo no sensible" in (folder / "dictionary.csv").read_text("utf-8")


def test_an_edit_tells_which_approval_it_cancelled(mel, tmp_path):
    edit_dictionary(mel, {"MUNICIPIO": {"treatment": "remove"}}, now=NOW)
    signers = household_survey.add_people(mel, tmp_path / "keys")
    approve(mel, "dictionary", signers["lead"], "lead", now=NOW)
    assert dictionary_view(mel).covering == ("dictionary",)
    edit = edit_dictionary(mel, {"OPINION": {"label": "Opinión"}}, now=NOW)
    assert edit.cancelled == ("dictionary",)
    assert valid_approvals(open_project(mel), "dictionary") == ()
    assert dictionary_view(mel).covering == ()


_NAMES = st.sampled_from(["RUT", "NOMBRE", "SEXO", "ZONA", "INGRESO", "DIAG"])
_FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from([*Role, "", None]),
        "purpose": st.text(max_size=20).filter(lambda text: "\0" not in text),
        "label": st.text(max_size=20).filter(lambda text: "\0" not in text),
        "unknown": st.lists(st.text(alphabet="9-|=\\ x", max_size=4), max_size=3),
        "knowable": st.sampled_from([True, False, None]),
        "special": st.booleans(),
    },
)


@given(st.dictionaries(_NAMES, _FIELDS, min_size=1, max_size=4))
def test_what_was_asked_is_what_is_read_back_whatever_the_words(tmp_path_factory, shared_project, changes):
    folder = Path(shutil.copytree(shared_project, tmp_path_factory.mktemp("h") / "p"))
    tried = tried_lines(folder, changes)
    edit_dictionary(folder, changes, now=NOW)
    assert {name: line(folder, name) for name in changes} == {name: change.variable for name, change in tried.items()}


# --- the view -------------------------------------------------------------------------------------


@pytest.mark.requirement("A11")
def test_a_fresh_project_has_nothing_left_to_count(folder):
    assert dictionary_view(folder).counted
    assert count_columns(folder, now=NOW) == 0
    by_variable = {entry.variable.name: entry.figures for entry in dictionary_view(folder).lines}
    (folder / "private" / "reports" / "dictionary.json").unlink()
    count_columns(folder, now=NOW)
    assert {entry.variable.name: entry.figures for entry in dictionary_view(folder).lines} == by_variable


@pytest.mark.requirement("A11")
def test_the_view_counts_nothing_until_it_is_asked_and_then_keeps_it(folder):
    (folder / "private" / "reports" / "dictionary.json").unlink()
    assert not dictionary_view(folder).counted
    assert entry_of(folder, "SEXO").figures is None
    assert count_columns(folder, now=NOW) == 6
    assert dictionary_view(folder).counted
    figures = entry_of(folder, "SEXO").figures
    assert (figures.distinct, figures.plain_rows, figures.share) == (2, 120, 2 / 120)
    assert figures.entropy == pytest.approx(1.0)
    assert count_columns(folder, now=NOW) == 0


@pytest.mark.requirement("A11")
def test_only_a_column_whose_missing_marks_changed_is_counted_again(folder):
    count_columns(folder, now=NOW)
    edit_dictionary(folder, {"SEXO": {"purpose": "otro", "role": "plain"}}, now=NOW)
    assert dictionary_view(folder).counted
    edit_dictionary(folder, {"ZONA": {"missing": ["sur"]}}, now=NOW)
    assert not dictionary_view(folder).counted
    assert entry_of(folder, "ZONA").figures is None
    assert count_columns(folder, now=NOW) == 1
    assert (entry_of(folder, "ZONA").figures.plain_distinct, entry_of(folder, "ZONA").figures.plain_rows) == (1, 80)


@pytest.mark.requirement("A09", "A10")
def test_the_three_answers_and_the_measured_uniqueness_give_the_class(folder):
    count_columns(folder, now=NOW)
    yes = {"replicable": True, "distinguishable": True, "knowable": True}
    edit_dictionary(folder, {"RUT": yes, "SEXO": yes, "ZONA": {**yes, "knowable": False}}, now=NOW)
    edit_dictionary(folder, {"DIAG": {**yes, "knowable": None}}, now=NOW)
    by_variable = {entry.variable.name: entry.identifier_class for entry in dictionary_view(folder).lines}
    assert by_variable["RUT"] is IdentifierClass.DIRECT
    assert by_variable["SEXO"] is IdentifierClass.INDIRECT
    assert by_variable["ZONA"] is IdentifierClass.NOT_CONFIDENTIAL
    assert by_variable["DIAG"] is None


@pytest.mark.requirement("A10")
def test_a_try_shows_what_an_edit_would_give_and_writes_nothing(folder):
    count_columns(folder, now=NOW)
    before = digest_of_file(folder / "dictionary.csv")
    yes = {"replicable": True, "distinguishable": True, "knowable": True, "purpose": ""}
    tried = tried_lines(folder, {"SEXO": yes})["SEXO"]
    assert (tried.identifier_class, tried.excluded) == (IdentifierClass.INDIRECT, (Excluded.NO_PURPOSE,))
    assert digest_of_file(folder / "dictionary.csv") == before


def test_a_person_with_many_rows_is_still_told_apart_by_a_document():
    repeated = ColumnFigures(distinct=100, plain_distinct=100, plain_rows=1000, share=0.1, entropy=6.6, separation=0.99)
    assert not is_unique_alone(repeated)
    assert is_unique_alone(repeated, units=100)
    assert not is_unique_alone(replace(repeated, plain_rows=0, plain_distinct=0))


@pytest.mark.requirement("M01", "M06")
def test_the_view_says_why_a_variable_is_not_published(folder):
    edit_dictionary(folder, {"ZONA": {"purpose": ""}, "DIAG": {"role": None}, "SEXO": {"treatment": "remove"}}, now=NOW)
    by_variable = {entry.variable.name: entry.excluded for entry in dictionary_view(folder).lines}
    assert by_variable["INGRESO"] == ()
    assert by_variable["ZONA"] == (Excluded.NO_PURPOSE,)
    assert by_variable["DIAG"] == (Excluded.NO_ROLE,)
    assert by_variable["SEXO"] == (Excluded.REMOVED,)
    assert Excluded.IDENTIFIER in by_variable["RUT"]
    published = {v.name for v in dictionary.publishable_variables(open_project(folder).variables)}
    assert {name for name, why in by_variable.items() if not why} == published - {"DIAG"}


def test_no_cell_is_in_what_the_page_is_given_or_what_is_kept(folder):
    count_columns(folder, now=NOW)
    content = repr(dictionary_view(folder))
    saved_text = (folder / "private" / "reports" / "dictionary.json").read_text("utf-8")
    assert survey.PLANTED not in content + saved_text


# --- MEL ------------------------------------------------------------------------------------------


@pytest.mark.requirement("P07", "P08")
def test_the_units_of_each_area_are_shown_once_counted_as_the_protocol_judges_them(mel):
    assert entry_of(mel, "MUNICIPIO").mel.areas is None
    count_columns(mel, now=NOW)
    edit_dictionary(mel, {"MUNICIPIO": {"treatment": "keep", "purpose": "evaluación"}}, now=NOW)
    assert [entry.mel for entry in dictionary_view(mel).lines] == list(annotated_dictionary(open_project(mel)).lines)
    town = entry_of(mel, "MUNICIPIO")
    assert (town.mel.areas.areas, town.mel.areas.smallest) == (2, 30)
    assert town.mel.faults == (Fault.AREA_STAYS,)
    assert "30" in town.faults[0]


@pytest.mark.requirement("P07")
def test_areas_are_counted_again_when_a_variable_becomes_geographic_or_its_hierarchy_changes(mel):
    count_columns(mel, now=NOW)
    edit_dictionary(mel, {"SEXO": {"mel_label": "geographic"}}, now=NOW)
    assert not dictionary_view(mel).counted
    count_columns(mel, now=NOW)
    assert entry_of(mel, "SEXO").mel.areas.smallest == 55
    add_settings(mel, '[hierarchies.MUNICIPIO]\nbuilder = "order"\n')
    assert not dictionary_view(mel).counted


@pytest.mark.requirement("P09")
def test_an_exception_needs_its_reason_and_clears_the_fault(mel):
    count_columns(mel, now=NOW)
    edit_dictionary(mel, {"MUNICIPIO": {"treatment": "keep", "purpose": "evaluación"}}, now=NOW)
    with pytest.raises(ReasonNeeded):
        except_variable(mel, "MUNICIPIO", "mel.geography", "  ", now=NOW)
    assert "overrides" not in settings(mel)
    except_variable(mel, "MUNICIPIO", "mel.geography", "Lo pide el contrato", now=NOW)
    after = entry_of(mel, "MUNICIPIO")
    assert after.mel.faults == ()
    assert (after.mel.exception, after.exceptions[0].reason) == ("Lo pide el contrato", "Lo pide el contrato")
    assert annotated_dictionary(open_project(mel)).exceptions == {"MUNICIPIO": "Lo pide el contrato"}
    assert (last_entry(mel)["what"], last_entry(mel)["why"]) == ("exception", "Lo pide el contrato")


@pytest.mark.requirement("P09")
def test_two_exceptions_of_one_rule_keep_each_its_own_reason_and_the_comments_of_the_file(mel):
    add_settings(
        mel,
        '# lo que sigue es nuestro\n[overrides.mel.geography]\nreason = "por ley"  # art. 4\nasked = { units = 40 }',
    )
    except_variable(mel, "OPINION", "mel.labels", "Pregunta retirada", now=NOW)
    except_variable(mel, "EDUCACION", "mel.labels", "Mal codificada", now=NOW)
    except_variable(mel, "MUNICIPIO", "mel.geography", "Lo pide el contrato", now=NOW)
    assert [exception.reason for exception in entry_of(mel, "OPINION").exceptions] == ["Pregunta retirada"]
    assert [exception.reason for exception in entry_of(mel, "EDUCACION").exceptions] == ["Mal codificada"]
    assert settings(mel)["overrides"]["mel"]["geography"]["asked"] == {"units": 40, "allowed": ["MUNICIPIO"]}
    assert "# lo que sigue es nuestro" in (mel / "celosia.toml").read_text("utf-8")
    withdraw_exception(mel, "OPINION", "mel.labels", now=NOW)
    withdraw_exception(mel, "MUNICIPIO", "mel.geography", now=NOW)
    spec = settings(mel)["overrides"]["mel"]
    assert spec["labels"] == {"asked": {"allowed": ["EDUCACION"]}, "reason": "EDUCACION: Mal codificada"}
    assert spec["geography"] == {"reason": "por ley", "asked": {"units": 40, "allowed": []}}
    withdraw_exception(mel, "EDUCACION", "mel.labels", now=NOW)
    assert "labels" not in settings(mel)["overrides"]["mel"]
    assert open_project(mel).config.protocols == ("mel",)


@pytest.mark.requirement("M05")
def test_free_text_is_kept_by_the_norm_that_allows_it_with_a_reason(folder):
    edit_dictionary(folder, {"DIAG": {"scale": "free_text"}}, now=NOW)
    assert entry_of(folder, "DIAG").rules == ("minsal.free_text",)
    except_variable(folder, "DIAG", "minsal.free_text", "Revisado registro a registro", now=NOW)
    assert entry_of(folder, "DIAG").exceptions[0].rule == "minsal.free_text"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda f: except_variable(f, "NADIE", "mel.labels", "motivo"), UnknownVariable),
        (lambda f: except_variable(f, "OPINION", "mel.direct", "motivo"), ValueOutOfRange),
        (lambda f: except_variable(f, "OPINION", "minsal.k", "motivo"), ValueOutOfRange),
        (lambda f: withdraw_exception(f, "OPINION", "mel.labels"), NotExcepted),
        (lambda f: except_variable(f, "OPINION", "mel.labels", "motivo", expected="sha256:0"), EditedMeanwhile),
        (lambda f: withdraw_exception(f, "OPINION", "mel.labels", expected="sha256:0"), EditedMeanwhile),
        (lambda f: choose_unit(f, person="NADIE"), UnknownVariable),
        (lambda f: choose_unit(f, household="HOGAR", expected="sha256:0"), EditedMeanwhile),
    ],
)
def test_wrong_exceptions_and_units_are_refused_and_the_file_stays(mel, call, error):
    before = (mel / "celosia.toml").read_bytes(), (mel / "journal.jsonl").read_bytes()
    with pytest.raises(error) as refused:
        call(mel)
    assert str(refused.value)
    assert before == ((mel / "celosia.toml").read_bytes(), (mel / "journal.jsonl").read_bytes())


_WORDS = st.text(alphabet="abc :.\n", min_size=1, max_size=15).filter(lambda text: text.strip())


@given(
    st.text(alphabet="ab :", max_size=12), st.lists(st.tuples(st.sampled_from(["X", "Y Z", "W"]), _WORDS), max_size=5)
)
def test_a_reason_written_for_a_variable_is_the_one_read_for_it(general, written):
    reason, last = general, {}
    for name, why in written:
        reason, last[name] = with_reason(reason, name, why), " ".join(why.split())
    assert {name: reason_for(reason, name) for name in last} == last
    for name in list(last):
        del last[name]
        reason = without_reason(reason, name, list(last))
        assert {other: reason_for(reason, other) for other in last} == last


# --- persons and households -----------------------------------------------------------------------


@pytest.mark.requirement("P08")
def test_the_person_and_the_household_are_chosen_and_taken_back_and_comments_stay(folder):
    written = (folder / "celosia.toml").read_text("utf-8")
    comments = [text for text in written.splitlines() if text.startswith("#")]
    choose_unit(folder, person="RUT", household="ZONA", now=NOW)
    config = open_project(folder).config
    assert (config.person, config.household) == ("RUT", "ZONA")
    after = (folder / "celosia.toml").read_text("utf-8")
    assert [text for text in after.splitlines() if text.startswith("#")] == comments
    assert after.index("[unit]") < after.index('household = "ZONA"') < after.index("# household")
    assert last_entry(folder)["facts"] == {"person": "RUT", "household": "ZONA"}
    choose_unit(folder, household="", now=NOW)
    assert open_project(folder).config.household is None
    assert open_project(folder).config.person == "RUT"
    assert dictionary_view(folder).person == "RUT"


# --- size -----------------------------------------------------------------------------------------


def test_a_dictionary_that_was_counted_is_shown_without_asking_the_rows_again(tmp_path, monkeypatch):
    (tmp_path / "ancho.csv").write_text("A,B\n1,2\n3,4\n", "utf-8")
    folder = init(str(tmp_path / "ancho.csv"), tmp_path / "p", ("minsal",), now=NOW).project.folder
    count_columns(folder, now=NOW)

    def refuse_rows(*_):
        raise AssertionError("the rows were asked")

    monkeypatch.setattr(DuckDBEngine, "fetch", refuse_rows)
    for question in ("distinct_counts", "frequencies"):
        monkeypatch.setattr(CopiedTable, question, refuse_rows)
    assert dictionary_view(folder).counted
    shutil.rmtree(folder / "private" / "reports")  # without the figures the rows are asked
    with pytest.raises(AssertionError, match="the rows were asked"):
        count_columns(folder, now=NOW)


def test_a_hostile_name_is_only_a_name(tmp_path):
    (tmp_path / "x.csv").write_text('"<script>alert(1)</script>","=1+1"\na,1\nb,2\n', "utf-8")
    folder = init(str(tmp_path / "x.csv"), tmp_path / "p", now=NOW).project.folder
    edit_dictionary(folder, {"<script>alert(1)</script>": {"purpose": "=cmd()"}}, now=NOW)
    assert line(folder, "<script>alert(1)</script>").purpose == "=cmd()"
    choose_unit(folder, person="=1+1", now=NOW)
    assert open_project(folder).config.person == "=1+1"
    with pytest.raises(CelosiaError):
        choose_unit(folder, person="=1", now=NOW)
