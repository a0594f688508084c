"""Declared steps run before the search, on the working copy, and the plan stands or falls with them."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from celosia.demo.synthetic.discharges import write_discharges
from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.value_errors import WrongParameter
from celosia.pipeline.candidate.errors import PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.planning import steps as _steps
from celosia.pipeline.planning.errors import StepTooLarge, UnmappedListed
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.planning.steps import apply_project_steps, refuse_small_groups, refuse_too_large
from celosia.pipeline.project.errors import PseudonymsRefused, SeedMissing
from celosia.pipeline.project.folder import open_project
from celosia.techniques.errors import UnknownTechnique

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
PUBLISHED = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "DIAG1", "DIAS_ESTADA")


@pytest.fixture(scope="module")
def described(tmp_path_factory) -> Path:
    raw = write_discharges(tmp_path_factory.mktemp("raw") / "egresos.csv", 2_000, 5)
    folder = init(str(raw), tmp_path_factory.mktemp("projects") / "egresos", ("minsal",), now=NOW).project.folder
    stated = [replace(v, purpose="estudio" if v.name in PUBLISHED else "") for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")
    return folder


@pytest.fixture
def folder(described, tmp_path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "egresos"))


def declare(folder: Path, text: str) -> None:
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8") + "\n" + text, "utf-8")


def candidate(folder: Path) -> list[dict[str, str]]:
    with (folder / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


STEPS = """
[[steps]]
technique = "select"
keep = {SEXO = ["HOMBRE", "MUJER"]}

[[steps]]
technique = "recode"
columns = ["SEXO"]
into = "GENERO"
map = {HOMBRE = "M", MUJER = "F"}

[[steps]]
technique = "microaggregate"
columns = ["DIAS_ESTADA"]
k = 3

[[steps]]
technique = "swap"
columns = ["PREVISION"]
"""


def test_the_release_holds_what_the_steps_made_and_is_judged_on_it(folder):
    declare(folder, STEPS)
    made = make_plan(folder, now=NOW).plan
    ran = run_plan(folder, now=NOW)
    rows = candidate(folder)
    assert ran.check.holds
    assert "GENERO" in rows[0]
    assert "SEXO" not in rows[0]
    assert {row["GENERO"] for row in rows} <= {"M", "F", "*"}
    published = Counter(row["DIAS_ESTADA"] for row in rows if row["DIAS_ESTADA"] not in ("", "*"))
    assert min(published.values()) >= 3
    assert [change["technique"] for change in made.changes] == ["select", "recode", "microaggregate", "swap"]
    assert made.seed == "kept"
    assert len(rows) == made.changes[0]["rows"] - made.changes[0]["rows_dropped"]


def test_the_same_seed_gives_the_same_candidate_and_no_seed_leaves_the_private_folder(folder):
    declare(folder, STEPS)
    make_plan(folder, now=NOW)
    first = run_plan(folder, now=NOW).check.digest
    assert run_plan(folder, now=NOW).check.digest == first
    seed = (folder / "private" / "seed").read_bytes()
    outside = [p for p in folder.rglob("*") if p.is_file() and p.name != "seed"]
    assert all(seed not in p.read_bytes() and seed.hex().encode() not in p.read_bytes() for p in outside)
    assert oct((folder / "private" / "seed").stat().st_mode & 0o777) == "0o600"


def test_without_its_seed_a_plan_that_draws_cannot_run_again(folder):
    declare(folder, STEPS)
    make_plan(folder, now=NOW)
    (folder / "private" / "seed").unlink()
    with pytest.raises(SeedMissing):
        run_plan(folder, now=NOW)


def test_a_step_changed_after_the_plan_makes_it_stale(folder):
    declare(folder, STEPS)
    make_plan(folder, now=NOW)
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8").replace("k = 3", "k = 4"), "utf-8")
    with pytest.raises(PlanStale):
        run_plan(folder, now=NOW)


def test_removing_the_person_key_does_not_stop_persons_from_being_counted(folder):
    person = open_project(folder).config.person
    assert person is not None
    declare(folder, f'[[steps]]\ntechnique = "remove_variables"\ncolumns = ["{person}"]\n')
    make_plan(folder, now=NOW)
    assert run_plan(folder, now=NOW).check.k_persons is not None


@pytest.mark.requirement("P21")
def test_pseudonyms_are_refused_under_minsal(folder):
    person = open_project(folder).config.person
    declare(folder, f'[[steps]]\ntechnique = "pseudonymise"\ncolumns = ["{person}"]\n')
    with pytest.raises(PseudonymsRefused):
        make_plan(folder, now=NOW)
    assert not (folder / "private" / "keys").exists()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('[[steps]]\ntechnique = "nada"\n', UnknownTechnique),
        ('[[steps]]\ntechnique = "mask"\ncolumns = ["NADIE"]\nkeep = 2\n', UnknownVariable),
    ],
)
def test_a_wrong_step_is_named(folder, text, error):
    declare(folder, text)
    with pytest.raises(error):
        make_plan(folder, now=NOW)


def test_a_plan_without_steps_says_so(folder):
    made = make_plan(folder, now=NOW).plan
    assert (made.steps, made.changes, made.seed) == ((), (), "none")
    assert json.loads((folder / "plan.json").read_text("utf-8"))["steps"] == []


def test_k_of_a_microaggregation_counts_persons_where_they_can_be_told_apart(folder):
    person = open_project(folder).config.person
    declare(folder, '[[steps]]\ntechnique = "microaggregate"\ncolumns = ["DIAS_ESTADA"]\nk = 5\n')
    change = make_plan(folder, now=NOW).plan.changes[0]
    assert person is not None
    assert change["notes"]["fewest_persons_in_a_group"] >= 5


def test_rows_touched_by_columns_treated_apart_are_counted_once_each(folder):
    names = ("SEXO", "PREVISION")
    with open_table(folder) as found:
        tuples = found.table.tuples(names)
    words = [sorted(set(vocabulary) - {"", "*"}) for vocabulary in tuples.vocabularies]
    changed = {"HOMBRE", words[1][0]}
    kept = [word for column in words for word in column if word not in changed]
    declare(folder, f'[[steps]]\ntechnique = "mask"\ncolumns = {json.dumps(names)}\nkeep = 0\n'
                    f"unknown = {json.dumps(kept, ensure_ascii=False)}\n")  # fmt: skip
    expected = sum(
        int(rows)
        for codes, rows in zip(tuples.codes.tolist(), tuples.rows, strict=True)
        if changed & {vocabulary[code] for code, vocabulary in zip(codes, tuples.vocabularies, strict=True)}
    )
    change = make_plan(folder, now=NOW).plan.changes[0]
    assert change["rows_touched"] == expected
    assert max(change["cells_touched"].values()) < expected < sum(change["cells_touched"].values())


def test_an_unknown_code_of_one_column_is_a_value_of_another(folder):
    variables = open_project(folder).variables
    stated = [replace(v, unknown=("4", "9")) if v.name == "EDAD_AÑOS" else v for v in variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")
    declare(folder, '[[steps]]\ntechnique = "round"\ncolumns = ["DIAS_ESTADA", "EDAD_AÑOS"]\nbase = 5\n')
    with open_table(folder) as found:
        days = found.table.frequencies("DIAS_ESTADA")
    told = dict(zip(days.values.to_pylist(), days.counts.tolist(), strict=True))
    others = sum(rows for day, rows in told.items() if day.isdigit() and int(day) % 5)
    assert told.get("4", 0) + told.get("9", 0) > 0
    assert make_plan(folder, now=NOW).plan.changes[0]["cells_touched"]["DIAS_ESTADA"] == others


def test_groups_of_two_are_refused_under_atenea():
    step = {"technique": "microaggregate", "columns": ["a"], "k": 2, "small_groups": True}
    with pytest.raises(WrongParameter, match="ATENEA"):
        refuse_small_groups(["ATENEA-2"], [step])
    refuse_small_groups(["minsal"], [step])


@pytest.mark.requirement("A25", "Y12")
def test_values_without_a_counterpart_stop_the_run_and_are_listed_in_private(folder):
    declare(folder, '[[steps]]\ntechnique = "recode"\ncolumns = ["SEXO"]\nmap = {HOMBRE = "M"}\n')
    with pytest.raises(UnmappedListed) as refused:
        make_plan(folder, now=NOW)
    listed = folder / "private" / "unmapped" / "1.csv"
    assert str(listed) in str(refused.value)
    assert "MUJER" not in str(refused.value)
    assert "MUJER," in listed.read_text("utf-8")
    assert oct(listed.stat().st_mode & 0o777) == "0o600"


MASKED = 'columns = ["COMUNA"]\nkeep = 2\nwidth = 5'
FEWER = """
[[steps]]
technique = "select"
keep = {COMUNA = ["13101"]}

[[steps]]
technique = "noise"
columns = ["DIAS_ESTADA"]
"""


def test_a_step_by_row_that_does_not_fit_in_memory_is_refused_before_any_step_runs(folder, monkeypatch):
    monkeypatch.setattr(_steps, "apply_step", lambda *_: pytest.fail("a step was run"))
    declare(folder, STEPS.replace("select", "mask").replace('keep = {SEXO = ["HOMBRE", "MUJER"]}', MASKED))
    with open_table(folder) as source:
        source.table.engine.memory = 100_000
        with pytest.raises(StepTooLarge) as refused, apply_project_steps(open_project(folder), source, fresh=True):
            pass
    assert refused.value.values["technique"] == "microaggregate"
    assert refused.value.values["rows"] == source.source.rows


def test_the_memory_that_a_refused_step_names_is_enough_for_it():
    steps = [{"technique": "rank_swap", "columns": ["DIAS_ESTADA"], "percent": "5"}]
    table = SimpleNamespace(count_rows=lambda: 1_234_567)
    with pytest.raises(StepTooLarge) as refused:
        refuse_too_large(table, steps, 400 * 10**6)
    # Rank swapping of one column took 460 bytes a row of the process, the engine's among them.
    assert refused.value.values["need"] * 10**9 >= 460 * 1_234_567
    refuse_too_large(table, steps, int(refused.value.values["need"] * 10**9))


@pytest.mark.parametrize(("memory", "fits"), [(100_000, True), (1_000, False)])
def test_rows_that_an_earlier_step_takes_away_do_not_count(folder, memory, fits):
    declare(folder, FEWER)
    with open_table(folder) as source:
        source.table.engine.memory = memory
        expected = contextlib.nullcontext() if fits else pytest.raises(StepTooLarge)
        with expected, apply_project_steps(open_project(folder), source, fresh=True) as after:
            assert 10 < after.source.table.count_rows() < 1_000
