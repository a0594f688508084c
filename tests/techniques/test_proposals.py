"""Proposed treatments: what the guide names for each kind of variable, as valid steps with their reasons."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from celosia import messages
from celosia.cli import main
from celosia.demo.synthetic.discharges import write_discharges
from celosia.model.requests import PURPOSES, Purpose
from celosia.model.variables import Kind, Role, Scale, Treatment, Variable
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.intake.proposed_treatments import treatments_of_table
from celosia.pipeline.planning.plan import make_plan
from celosia.techniques import NAMES, read_step
from celosia.techniques.proposals import ColumnFacts, propose, steps_toml

INTERVALS = {"builder": "intervals", "width": 10, "end": 100}
CUT = {"builder": "mask", "steps": [2, 3, 5]}


def variable(name="v", role=Role.QUASI, scale=Scale.CATEGORICAL, kind=Kind.THEMATIC, treatment=None):
    return Variable(name, role=role, scale=scale, kind=kind, treatment=treatment)


def techniques(*args, **kwargs):
    return [one.technique for one in propose(*args, **kwargs)]


@pytest.mark.requirement("A32", "A23")
def test_a_document_number_is_removed():
    document = variable("documento", Role.IDENTIFIER, kind=Kind.IDENTIFICATION)
    assert techniques(document) == ["remove_variables"]


@pytest.mark.requirement("A32")
@pytest.mark.parametrize("role", [Role.SENSITIVE, Role.PLAIN])
@pytest.mark.parametrize("scale", [Scale.CONTINUOUS, Scale.DISCRETE])
def test_a_numeric_thematic_variable_is_microaggregated_or_gets_noise(role, scale):
    found = propose(variable("ingreso", role, scale))
    assert [one.technique for one in found] == ["microaggregate", "noise", "round"]
    assert {one.optional for one in found} == {role is Role.PLAIN}


@pytest.mark.requirement("A32")
def test_a_location_is_recoded_or_its_official_code_masked():
    place = variable("comuna", kind=Kind.LOCATION)
    assert techniques(place)[0] == "recode"
    coarse, fine = (
        propose(place, ColumnFacts(hierarchy=CUT), wanted)[0].settings for wanted in ((), (Purpose.TERRITORY,))
    )
    assert (coarse["keep"], fine["keep"], fine["width"]) == (2, 3, 5)


def test_dates_become_periods_and_births_ages():
    when = ColumnFacts(hierarchy={"builder": "dates", "format": "dd/mm/yyyy"})
    event = propose(variable("fecha_egreso", scale=Scale.DATE), when)
    assert [one.settings["unit"] for one in event] == ["quarter", "year"]
    assert event[0].settings["formats"] == ["dd/mm/yyyy"]
    assert propose(variable("fecha", scale=Scale.DATE), when, [Purpose.TIME])[0].settings["unit"] == "month"
    for name in ("FECHA_NACIMIENTO", "fec_nac", "FNac", "birth_date", "fecnac"):
        assert techniques(variable(name, scale=Scale.DATE))[0] == "age", name
    for name in ("fecha_nacional", "fecha_ingreso_denac"):
        assert techniques(variable(name, scale=Scale.DATE))[0] == "period", name


def test_a_numeric_quasi_identifier_is_banded_and_a_sensitive_category_masked():
    assert techniques(variable("edad", scale=Scale.DISCRETE), ColumnFacts(hierarchy=INTERVALS)) == [
        "intervals",
        "top_bottom",
    ]
    diagnosis = variable("diag", Role.SENSITIVE)
    first = propose(diagnosis, ColumnFacts(quasi=("sexo", "edad")))[0]
    assert first.step() == {"technique": "mask_sensitive", "columns": ["sexo", "edad"], "sensitive": ["diag"], "l": 2}
    assert propose(diagnosis)[0].needs == ("columns",)


def test_free_text_is_removed_and_households_are_renumbered():
    assert techniques(variable("observaciones", Role.PLAIN, Scale.FREE_TEXT)) == ["remove_variables"]
    for name in ("LLAVEHOG", "id_hogar", "cod_viv", "household_id", "hhid"):
        assert techniques(variable(name, Role.IDENTIFIER))[0] == "renumber", name
    assert techniques(variable("folio", Role.PLAIN), ColumnFacts(household=True))[0] == "renumber"
    assert techniques(variable("vivienda_propia", Role.PLAIN)) == []


@pytest.mark.requirement("A32", "P21")
def test_following_people_asks_for_pseudonyms_only_where_the_norm_allows_them():
    key = variable("id_persona", Role.IDENTIFIER, kind=Kind.IDENTIFICATION)
    assert techniques(key, ColumnFacts(), [Purpose.FOLLOW_UP])[0] == "pseudonymise"
    assert techniques(key, ColumnFacts(pseudonyms=False), [Purpose.FOLLOW_UP])[0] == "renumber"


@pytest.mark.requirement("A32")
def test_the_purpose_decides_which_treatment_of_a_number_comes_first():
    income = variable("ingreso", Role.SENSITIVE, Scale.CONTINUOUS)
    first = {purpose: techniques(income, ColumnFacts(), [purpose])[0] for purpose in PURPOSES}
    assert (first["totals"], first["distribution"], first["counts"]) == ("microaggregate", "noise", "round")


def test_what_a_person_decided_is_respected():
    assert techniques(variable(treatment=Treatment.REMOVE)) == ["remove_variables"]
    assert techniques(variable(treatment=Treatment.KEEP)) == []


def test_few_categories_are_not_grouped():
    assert "recode" not in techniques(variable("sexo"), ColumnFacts(distinct=2))
    assert techniques(variable("oficio"), ColumnFacts(distinct=300))[0] == "recode"


def all_kinds():
    facts = [ColumnFacts(), ColumnFacts(distinct=2, household=True, quasi=("a",), pseudonyms=False)]
    facts += [ColumnFacts(hierarchy=spec, quasi=("a", "b")) for spec in (INTERVALS, CUT, {"format": "yyyy-mm-dd"})]
    facts += [ColumnFacts(coordinates=("lat", "lon")), ColumnFacts(pseudonyms=False)]
    purposes = [(), tuple(Purpose), *((one,) for one in Purpose)]
    for role in (*Role, None):
        for scale in (*Scale, None):
            for kind in (*Kind, None):
                for treatment in (*Treatment, None):
                    for name in ("fecha_nac", "dato"):
                        line = variable(name, role, scale, kind, treatment)
                        yield from ((line, known, some) for known in facts for some in purposes)


def test_every_proposal_is_a_valid_step_once_what_it_needs_is_filled_in():
    fill = {"map": {"a": "b"}, "at": "2024-01-01", "width": 5, "columns": ["q"]}
    seen = set()
    for line, known, some in all_kinds():
        for one in propose(line, known, some):
            seen.add(json.dumps({**one.step(), **{name: fill[name] for name in one.needs}}))
    for held in seen:
        chosen, settings = read_step(json.loads(held))
        assert chosen.uses(settings)
    assert len({json.loads(held)["technique"] for held in seen}) >= 14


def test_every_reason_is_said_in_every_language_and_every_sentence_is_used():
    reasons = {one.reason for case in all_kinds() for one in propose(*case)}
    for language in messages.LANGUAGES:
        known = {key for key in messages.section(language, "techniques") if key.startswith("proposal.")}
        assert {f"proposal.{reason}" for reason in reasons} == known


def test_accepted_proposals_are_toml_steps_in_an_order_that_works():
    lines = [
        variable("diag", Role.SENSITIVE),
        variable("otra", Role.SENSITIVE),
        variable("edad", scale=Scale.DISCRETE),
        variable("alta", scale=Scale.DATE),
        variable('fecha "con" ñ\x7f\n', scale=Scale.DATE),
        variable("run", Role.IDENTIFIER),
        variable("nombre", Role.IDENTIFIER),
    ]
    known = ColumnFacts(hierarchy=INTERVALS, quasi=("edad",))
    steps = tomllib.loads(steps_toml([propose(line, known)[0] for line in lines]))["steps"]
    assert [step["technique"] for step in steps] == ["remove_variables", "period", "intervals", "mask_sensitive"]
    assert steps[0]["columns"] == ["run", "nombre"]
    assert steps[1]["columns"] == ["alta", 'fecha "con" ñ\x7f\n']
    assert (steps[3]["columns"], steps[3]["sensitive"]) == (["edad"], ["diag", "otra"])
    assert all(read_step(step) for step in steps)
    assert steps_toml([]) == ""


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> Path:
    return write_discharges(tmp_path_factory.mktemp("raw") / "egresos.csv", 300, 7)


@pytest.mark.requirement("A32")
def test_suggest_gives_the_treatments_of_every_variable_as_json(raw, capsys):
    assert main(["suggest", str(raw), "--json", "--purpose", "totals"]) == 0
    report = json.loads(capsys.readouterr().out)
    found = {line["name"]: line["treatments"] for line in report["variables"]}
    assert found["RUN"][0]["step"] == {"technique": "remove_variables", "columns": ["RUN"]}
    assert found["COMUNA"][0]["step"]["technique"] == "mask"
    assert found["DIAG1"][0]["step"]["technique"] == "mask_sensitive"
    assert all(one["sentence"] and one["step"]["technique"] in NAMES for line in found.values() for one in line)


def test_suggest_shows_them_on_request_alone(raw, capsys):
    assert main(["suggest", str(raw)]) == 0
    assert "remove_variables" not in capsys.readouterr().out
    assert main(["suggest", str(raw), "--treatments"]) == 0
    assert "remove_variables" in capsys.readouterr().out
    assert main(["suggest", str(raw), "--purpose", "nada"]) == 2


def test_no_value_of_the_file_reaches_a_proposal(raw):
    people = {cell for line in raw.read_text("latin-1").splitlines()[1:200] for cell in line.split(";")[:4] if cell}
    with open_table(str(raw)) as found:
        told = json.dumps([one.as_dict() for line in treatments_of_table(found).values() for one in line])
    assert not [cell for cell in people if len(cell) > 3 and cell in told]


def accepted(template: str) -> str:
    """The commented steps of a fresh celosia.toml with the comment signs removed."""
    lines = template.splitlines()
    start = next(i for i, line in enumerate(lines) if line == "# [[steps]]")
    return "\n".join([*lines[:start], *(line.removeprefix("# ") for line in lines[start:] if line != "#")]) + "\n"


def test_a_fresh_project_holds_them_as_comments_and_accepting_them_all_is_a_plan(raw, tmp_path):
    folder = init(str(raw), tmp_path / "p", ("atenea",)).project.folder
    config = folder / "celosia.toml"
    template = config.read_text("utf-8")
    assert "steps" not in tomllib.loads(template)
    config.write_text(
        accepted(template).replace('technique = "age"\n', 'technique = "age"\nat = "2024-12-31"\n'), "utf-8"
    )
    steps = tomllib.loads(config.read_text("utf-8"))["steps"]
    assert {"remove_variables", "mask", "mask_sensitive"} <= {step["technique"] for step in steps}
    assert all(read_step(step) for step in steps)


@pytest.mark.slow
def test_the_accepted_template_runs_through_a_plan(raw, tmp_path):
    from celosia.pipeline.intake.dictionary_files import state_purpose

    folder = init(str(raw), tmp_path / "p", ("atenea",)).project.folder
    config = folder / "celosia.toml"
    text = accepted(config.read_text("utf-8")).replace('technique = "age"\n', 'technique = "age"\nat = "2024-12-31"\n')
    config.write_text(text, "utf-8")
    state_purpose(folder, ["SEXO", "COMUNA", "DIAG1"], "estudio")
    planned = make_plan(folder, limit="0.5")
    assert planned.plan
