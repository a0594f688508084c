"""From a policy to a checked candidate: the written file is what is judged."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from celosia.demo.synthetic.discharges import write_discharges
from celosia.hierarchy.errors import LevelOutsideHierarchy
from celosia.model import dictionary
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Treatment
from celosia.pipeline.candidate.check_file import SourceReference, check_file
from celosia.pipeline.candidate.errors import CandidateFails, PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.planning.errors import (
    NoFeasiblePlan,
    NothingLeft,
    NothingToPublish,
    OrderIncomplete,
    QuasiRemoved,
    RoleMissing,
)
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import NoPlan
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.journal import read_journal
from tests.projects.given_rows import candidate_rows, make_project
from tests.projects.steps import NOW

QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")


def publish(folder: Path, *names: str, roles: dict[str, Role] | None = None) -> None:
    """State a purpose for some variables, as a person would in the dictionary."""
    variables = open_project(folder).variables
    stated = [
        replace(v, purpose="estudio", role=(roles or {}).get(v.name, v.role), treatment=None)
        if v.name in names
        else replace(v, purpose="")
        for v in variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> Path:
    return write_discharges(tmp_path_factory.mktemp("raw") / "egresos.csv", 3_000, 11)


@pytest.fixture(scope="module")
def described(raw, tmp_path_factory) -> Path:
    made = init(str(raw), tmp_path_factory.mktemp("projects") / "egresos", ("minsal",), now=NOW).project.folder
    publish(made, *QUASI, "DIAG1")
    return made


@pytest.fixture
def folder(described, tmp_path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "egresos"))


def classes_of(rows: list[dict[str, str]], names: tuple[str, ...] = QUASI) -> dict[tuple[str, ...], list[int]]:
    """The classes of a written file, counted in plain Python; fully masked rows form none."""
    classes = defaultdict(list)
    for number, row in enumerate(rows):
        key = tuple(row[name] for name in names)
        if any(cell.strip("*") for cell in key):
            classes[key].append(number)
    return classes


METHODS = (
    {"method": "full-domain"},
    {"method": "full-domain", "limit": "0.05"},
    {"method": "recipe", "order": ("COMUNA", "PREVISION", "SEXO", "EDAD_AÑOS")},
    {"method": "local"},
)


@pytest.mark.requirement("M12", "M19", "M20", "M21", "M23")
@pytest.mark.parametrize("asked", METHODS, ids=str)
@pytest.mark.parametrize("k", [2, 5])
def test_every_class_of_the_written_file_holds_k_persons_and_two_diagnoses(folder, asked, k):
    make_plan(folder, now=NOW, k=k, **asked)
    ran = run_plan(folder, now=NOW)
    rows = candidate_rows(folder)
    persons = pq.read_table(folder / "private" / "candidate" / "order.parquet").column(0).to_pylist()
    assert list(rows[0]) == list(ran.plan.published)
    assert len(rows) == len(persons) == 3_000
    for members in classes_of(rows).values():
        assert len({persons[i] for i in members}) >= k
        shown = {rows[i]["DIAG1"] for i in members} - {"*"}
        assert len(shown) != 1


BOUNDED = """
[hierarchies."EDAD_AÑOS"]
builder = "intervals"
width = 10
end = 120
top = true
minimum = 1
maximum = 1

[hierarchies.PREVISION]
builder = "suppress"
minimum = 0
maximum = 0
"""


@pytest.mark.requirement("M12", "M20", "M24", "M25")
@pytest.mark.parametrize("mask_sensitive", [True, False])
@pytest.mark.parametrize("method", ["full-domain", "recipe", "cells"])
def test_levels_that_a_person_fixed_hold_in_every_method(folder, method, mask_sensitive):
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(BOUNDED)
    order = ("COMUNA", "PREVISION", "SEXO", "EDAD_AÑOS")
    planned = make_plan(folder, now=NOW, k=5, method=method, order=order, mask_sensitive=mask_sensitive)
    run_plan(folder, now=NOW)
    rows = candidate_rows(folder)
    persons = pq.read_table(folder / "private" / "candidate" / "order.parquet").column(0).to_pylist()
    classes = classes_of(rows)
    assert min(len({persons[i] for i in members}) for members in classes.values()) >= 5
    assert all(len({rows[i]["DIAG1"] for i in members} - {"*"}) != 1 for members in classes.values())
    assert planned.plan.suppressed_rows <= len(rows) - sum(map(len, classes.values()))  # some came fully masked
    ages = {rows[i]["EDAD_AÑOS"] for members in classes.values() for i in members}
    assert {age for age in ages if age.isdigit()} <= {"999", "99"}  # only codes of the unknown stay as they are


@pytest.mark.requirement("M36")
def test_rows_come_in_the_order_of_their_published_values_and_no_key_leaves(folder):
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    rows = candidate_rows(folder)
    keys = [tuple(row[name] for name in ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "DIAG1")) for row in rows]
    assert keys == sorted(keys)
    assert not {"RUN", "NOMBRE", "K", "L"} & set(rows[0])


def test_the_same_plan_on_the_same_source_gives_the_same_bytes(folder):
    make_plan(folder, now=NOW)
    first = run_plan(folder, now=NOW).check.digest
    again = run_plan(folder, now=NOW).check.digest
    assert first == again


@pytest.mark.requirement("M26")
def test_suppressed_rows_are_reported_and_counted_on_the_file(folder):
    plan = make_plan(folder, now=NOW, k=5, limit="0.2").plan
    run_plan(folder, now=NOW)
    starred = [row for row in candidate_rows(folder) if all(row[name] == "*" for name in QUASI)]
    assert len(starred) == plan.suppressed_rows > 0
    assert plan.suppressed_share == plan.suppressed_rows / 3_000 <= 0.2


def test_suppressed_rows_can_be_dropped(folder):
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[policy]\nsuppressed = "drop"\n')
    plan = make_plan(folder, now=NOW, k=5, limit="0.2").plan
    run_plan(folder, now=NOW)
    assert len(candidate_rows(folder)) == 3_000 - plan.suppressed_rows < 3_000


@pytest.mark.requirement("M15")
def test_a_value_that_cannot_reach_two_is_masked_and_counted(folder):
    plan = make_plan(folder, now=NOW).plan
    run_plan(folder, now=NOW)
    already = sum(v == "*" for v in _source_column(folder, "DIAG1"))
    masked = Counter(row["DIAG1"] for row in candidate_rows(folder))["*"]
    assert plan.masked_sensitive["DIAG1"] > 0
    assert already < masked <= already + plan.masked_sensitive["DIAG1"]


def _source_column(folder: Path, name: str) -> list[str]:
    names = [v.name for v in open_project(folder).variables]
    return pq.read_table(folder / "private" / "working.parquet").column(f"c{names.index(name)}").to_pylist()


@pytest.mark.requirement("X7")
def test_a_column_that_gives_a_masked_one_away_is_masked_with_it(folder):
    publish(folder, *QUASI, "DIAG1", "GLOSA_COMUNA", "REGION", "CAPITULO_DIAG1",
            roles={"GLOSA_COMUNA": Role.PLAIN, "REGION": Role.PLAIN, "CAPITULO_DIAG1": Role.PLAIN})  # fmt: skip
    plan = make_plan(folder, now=NOW, k=3).plan
    assert plan.followers == {"GLOSA_COMUNA": ["COMUNA"], "REGION": ["COMUNA"], "CAPITULO_DIAG1": ["DIAG1"]}
    run_plan(folder, now=NOW)
    rows = candidate_rows(folder)
    for key, members in classes_of(rows).items():
        for name in ("GLOSA_COMUNA", "REGION"):
            assert len({rows[i][name] for i in members}) == 1, (key, name)
    assert all(row["CAPITULO_DIAG1"] == "*" for row in rows if row["DIAG1"] == "*" and row["CAPITULO_DIAG1"] != "")


def test_the_plan_names_its_proof_and_holds_no_value_of_the_data(folder):
    make_plan(folder, now=NOW)
    document = json.loads((folder / "plan.json").read_text("utf-8"))
    assert document["format"] == "celosia/plan/1"
    assert document["optimal"] is True
    assert document["nodes_checked"] <= document["nodes"]
    assert document["bound"] == pytest.approx(document["loss"])
    assert set(document["levels"]) == set(QUASI)
    text = (folder / "plan.json").read_text("utf-8")
    assert not [code for code in set(_source_column(folder, "DIAG1")) if len(code) > 2 and f'"{code}"' in text]


def test_the_plan_tells_what_its_levels_show(folder):
    fixed = {"COMUNA": 2, "EDAD_AÑOS": 1, "PREVISION": 0}
    with (folder / "celosia.toml").open("a", encoding="utf-8") as settings:
        settings.writelines(f'\n[hierarchies."{n}"]\nminimum = {at}\nmaximum = {at}\n' for n, at in fixed.items())
    told = make_plan(folder, now=NOW).plan.notes["detail"]
    assert told["EDAD_AÑOS"] == {"builder": "intervals", "size": "10", "height": "6"}
    assert told["COMUNA"] == {"builder": "mask", "unit": "right", "size": "3", "height": "3"}
    assert "PREVISION" not in told


def test_an_edited_dictionary_makes_the_plan_stale(folder):
    make_plan(folder, now=NOW)
    publish(folder, *QUASI)
    with pytest.raises(PlanStale, match="diccionario"):
        run_plan(folder, now=NOW)


def test_an_edited_plan_is_found_out(folder):
    make_plan(folder, now=NOW)
    path = folder / "plan.json"
    document = json.loads(path.read_text("utf-8"))
    document["policy"]["criteria"][0]["k"] = 1
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(PlanStale):
        run_plan(folder, now=NOW)
    assert not (folder / "private" / "candidate").exists()


def test_a_file_that_does_not_hold_leaves_no_candidate(folder, monkeypatch):
    from celosia.data import candidate

    make_plan(folder, now=NOW)

    def leaking(rows, names, path, **_):
        path.write_text(",".join(names) + "\n" + "1,2,05302,4,A00\n", "utf-8")
        list(rows)

    monkeypatch.setattr(candidate, "write_lines", leaking)
    with pytest.raises((CandidateFails, ValueError)):
        run_plan(folder, now=NOW)
    assert not (folder / "private" / "candidate").exists()
    assert not list((folder / "private").glob("**/data.csv"))


def test_without_a_plan_nothing_runs(folder):
    with pytest.raises(NoPlan):
        run_plan(folder, now=NOW)


def test_quasi_identifiers_that_are_all_removed_are_named(folder):
    publish(folder, *QUASI)
    removed = [replace(v, treatment=Treatment.REMOVE) if v.purpose else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(removed), "utf-8")
    with pytest.raises(QuasiRemoved, match="COMUNA"):
        make_plan(folder, now=NOW)


@pytest.mark.requirement("M06")
def test_without_a_purpose_nothing_is_planned(folder):
    publish(folder)
    with pytest.raises(NothingToPublish):
        make_plan(folder, now=NOW)


@pytest.mark.requirement("M01")
def test_a_column_without_a_role_stops_the_plan(folder):
    variables = [replace(v, role=None) if v.name == "SEXO" else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(variables), "utf-8")
    with pytest.raises(RoleMissing, match="SEXO"):
        make_plan(folder, now=NOW)


def test_no_solution_is_an_answer_that_says_the_nearest_miss(folder):
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("".join(f'\n[hierarchies."{name}"]\nbuilder = "identity"\n' for name in QUASI))
    with pytest.raises(NoFeasiblePlan) as error:
        make_plan(folder, now=NOW, k=5, limit="0.01")
    assert error.value.exit_code == 1
    assert error.value.values["suppressed"] > error.value.values["allowed"] == 30


@pytest.mark.parametrize("limit", ["-0.1", "1.5", "mucho"])
def test_a_limit_out_of_range_is_refused(folder, limit):
    with pytest.raises(ValueOutOfRange):
        make_plan(folder, now=NOW, limit=limit)


def test_a_level_outside_the_hierarchy_is_refused(folder):
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[hierarchies.SEXO]\nbuilder = "suppress"\nminimum = 4\n')
    with pytest.raises(LevelOutsideHierarchy):
        make_plan(folder, now=NOW)


def test_the_recipe_asks_for_the_whole_order(folder):
    with pytest.raises(OrderIncomplete, match="SEXO"):
        make_plan(folder, now=NOW, method="recipe", order=("COMUNA",))


@pytest.mark.requirement("M24")
def test_a_fixed_level_leaves_a_column_untouched(folder):
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[hierarchies.SEXO]\nbuilder = "suppress"\nmaximum = 0\n')
    plan = make_plan(folder, now=NOW, k=5).plan
    assert plan.levels["SEXO"] == 0
    run_plan(folder, now=NOW)
    kept = [row for row in candidate_rows(folder) if any(row[name] != "*" for name in QUASI)]
    assert {row["SEXO"] for row in kept} <= set(_source_column(folder, "SEXO"))


def _drop_every_record(folder):
    """A policy under which any k above the commonest combination suppresses, and so drops, every record."""
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[policy]\nsuppressed = "drop"\n')
        file.write("".join(f'\n[hierarchies."{name}"]\nbuilder = "identity"\n' for name in QUASI))


def test_a_plan_that_drops_everybody_is_refused(folder):
    _drop_every_record(folder)
    (folder / "plan.json").write_text("{}", "utf-8")  # an older plan, which answers another question
    with pytest.raises(NothingLeft):
        make_plan(folder, now=NOW, k=2_999)
    assert not (folder / "plan.json").exists()
    assert read_journal(folder / "journal.jsonl").entries[-1]["what"] == "plan-refused"
    with pytest.raises(NoPlan):
        run_plan(folder, now=NOW)


def test_a_run_that_would_drop_everybody_leaves_no_candidate(folder, monkeypatch):
    _drop_every_record(folder)
    with monkeypatch.context() as patch:  # a plan kept from before plans were refused
        patch.setattr("celosia.pipeline.planning.plan.drops_everybody", lambda policy, solution: False)
        make_plan(folder, now=NOW, k=2_999)
    with pytest.raises(NothingLeft):
        run_plan(folder, now=NOW)
    assert not (folder / "private" / "candidate").exists()


def test_an_edited_figure_of_the_plan_is_found_out(folder):
    make_plan(folder, now=NOW)
    path = folder / "plan.json"
    document = json.loads(path.read_text("utf-8"))
    document["suppressed_rows"] = 0
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(PlanStale):
        run_plan(folder, now=NOW)


def test_a_policy_edited_after_the_plan_makes_it_stale(folder):
    make_plan(folder, now=NOW)
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[policy]\nmean = "arithmetic"\n')
    with pytest.raises(PlanStale, match="política"):
        run_plan(folder, now=NOW)


def test_what_the_command_asked_is_run_again_as_asked(folder):
    plan = make_plan(folder, now=NOW, k=7, limit="0.3").plan
    assert plan.asked == {"k": 7, "limit": "0.3"}
    assert run_plan(folder, now=NOW).check.k_persons >= 7


def test_a_plan_that_fails_leaves_no_older_plan_behind(folder):
    make_plan(folder, now=NOW)
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("".join(f'\n[hierarchies."{name}"]\nbuilder = "identity"\n' for name in QUASI))
    with pytest.raises(NoFeasiblePlan):
        make_plan(folder, now=NOW, k=50, limit="0")
    with pytest.raises(NoPlan):
        run_plan(folder, now=NOW)


@pytest.mark.parametrize("asked", METHODS[2:], ids=str)
def test_the_limit_binds_whatever_the_method(folder, asked):
    with pytest.raises(NoFeasiblePlan):
        make_plan(folder, now=NOW, k=2_999, limit="0", **asked)


K_AND_L = """mask_sensitive = true
criteria = [{ criterion = "k", k = 2 }, { criterion = "distinct_l", variable = "DIAG", l = 2 }]
"""


@pytest.mark.requirement("X7")
def test_one_dirty_row_does_not_undo_the_mask_of_what_follows(tmp_path):
    rows = ["H,A,B20,B"] * 200 + ["H,B,E11,E"] * 150 + ["H,B,I10,I"] * 150 + ["M,A,E11,E"] * 150
    rows += ["M,A,J18,J"] * 149 + ["M,A,J18,K"]
    roles = {"SEXO": Role.QUASI, "ZONA": Role.QUASI, "DIAG": Role.SENSITIVE, "CAP": Role.PLAIN}
    folder = make_project(tmp_path / "p", "SEXO,ZONA,DIAG,CAP", rows, roles, K_AND_L)
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("".join(f'\n[hierarchies.{name}]\nbuilder = "identity"\n' for name in ("SEXO", "ZONA")))
    plan = make_plan(folder, now=NOW).plan
    assert plan.followers == {"CAP": ["DIAG"]}
    run_plan(folder, now=NOW)
    masked = [row for row in candidate_rows(folder) if row["DIAG"] == "*"]
    assert len(masked) == 200
    assert {row["CAP"] for row in masked} == {"*"}


@pytest.mark.requirement("X7")
def test_a_column_that_gives_two_others_away_is_masked_with_either(tmp_path):
    rows = ["H,A,B20,H-B20"] * 15 + ["H,B,E11,H-E11"] * 15 + ["H,B,I10,H-I10"] * 15 + ["M,A,E11,M-E11"] * 15
    rows += ["M,A,J18,M-J18"] * 15
    roles = {"SEXO": Role.QUASI, "ZONA": Role.QUASI, "DIAG": Role.SENSITIVE, "X": Role.PLAIN}
    folder = make_project(tmp_path / "p", "SEXO,ZONA,DIAG,X", rows, roles, K_AND_L)
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("".join(f'\n[hierarchies.{name}]\nbuilder = "identity"\n' for name in ("SEXO", "ZONA")))
    plan = make_plan(folder, now=NOW).plan
    assert {"SEXO", "DIAG"} <= set(plan.followers["X"])
    run_plan(folder, now=NOW)
    assert {row["X"] for row in candidate_rows(folder) if row["DIAG"] == "*"} == {"*"}
    for members in classes_of(candidate_rows(folder), ("SEXO", "ZONA", "X")).values():
        assert len(members) >= 2


@pytest.mark.requirement("X7")
def test_a_value_that_came_masked_is_not_told_by_its_follower(tmp_path):
    rows = ["H,A,B20,B", "H,A,E11,E", "H,A,*,B", "H,A,I10,I"] * 20
    roles = {"SEXO": Role.QUASI, "ZONA": Role.QUASI, "DIAG": Role.SENSITIVE, "CAP": Role.PLAIN}
    folder = make_project(tmp_path / "p", "SEXO,ZONA,DIAG,CAP", rows, roles, K_AND_L)
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    masked = [row for row in candidate_rows(folder) if row["DIAG"] == "*"]
    assert len(masked) == 20
    assert {row["CAP"] for row in masked} == {"*"}


def test_a_size_asked_together_with_a_value_is_suppressed_when_masking_does_not_help(tmp_path):
    rows = ["H,A,B20"] * 30 + ["H,B,E11"] * 2 + ["H,B,I10"] + ["M,A,E11"] * 15 + ["M,A,J18"] * 15
    roles = {"SEXO": Role.QUASI, "ZONA": Role.QUASI, "DIAG": Role.SENSITIVE}
    policy = """mask_sensitive = true
criteria = [{ criterion = "alpha_k", variable = "DIAG", alpha = 0.6, k = 5 }]
"""
    folder = make_project(tmp_path / "p", "SEXO,ZONA,DIAG", rows, roles, policy)
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("".join(f'\n[hierarchies.{name}]\nbuilder = "identity"\n' for name in ("SEXO", "ZONA")))
    plan = make_plan(folder, now=NOW).plan
    assert plan.suppressed_rows == 3
    assert run_plan(folder, now=NOW).check.holds


@pytest.mark.parametrize(("shown", "state"), [("*,7", "fails"), ("E11,*", "fails"), ("*,*", "holds")])
def test_the_group_of_masked_rows_is_judged_by_every_sensitive_value_it_shows(tmp_path, shown, state):
    rows = ["H,E11,1", "H,I10,2", "H,E11,3", "M,E11,4", "M,I10,5", "X,E11,7"]
    roles = {"SEXO": Role.QUASI, "DIAG": Role.SENSITIVE, "MONTO": Role.SENSITIVE}
    folder = make_project(tmp_path / "p", "SEXO,DIAG,MONTO", rows, roles, f"limit = 0.5\n{K_AND_L}")
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[hierarchies.SEXO]\nbuilder = "identity"\n')
    plan = make_plan(folder, now=NOW).plan
    run_plan(folder, now=NOW)
    data = folder / "private" / "candidate" / "data.csv"
    assert "*,*,*" in data.read_text("utf-8")
    data.write_text(data.read_text("utf-8").replace("*,*,*", f"*,{shown}"), "utf-8")
    with open_table(folder) as found:
        sensitive = {name: found.table.tuples(("SEXO", name)) for name in ("DIAG", "MONTO")}
    report = check_file(data, plan, tmp_path, None, SourceReference(6, sensitive))
    assert {v.rule: v.state.value for v in report.verdicts}["suppressed_group"] == state
