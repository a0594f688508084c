"""A search part by part: each part is as if it were alone, and the union keeps what was asked."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia import messages
from celosia.cli import main
from celosia.demo.synthetic.discharges import write_discharges
from celosia.dossier.technique import done_by, done_sentences
from celosia.hierarchy.errors import LevelOutsideHierarchy
from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.plan import Policy, policy_from
from celosia.pipeline.candidate.errors import PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.candidate.verifier_check import check_candidate
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning import partitioned_search as _partition
from celosia.pipeline.planning.errors import NoFeasiblePlan, PartitionedSearch, PartitionNotPossible
from celosia.pipeline.planning.explain import explain_plan
from celosia.pipeline.planning.method_comparison import compare_methods
from celosia.pipeline.planning.partition_rules import PROVED_IN_PARTS, refuse_impossible_partition
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.planning.solution import Solution
from celosia.pipeline.planning.solve import UnsolvedParts
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.make_release import public_policy
from celosia.solver.problem import NoSolution
from celosia.workbench.search import frontier_report, search_plan, search_view
from tests.projects.search_tables import (
    K2,
    L2,
    LAW,
    QUASI,
    ZONES,
    Row,
    breaks_criteria,
    classes_of,
    is_suppressed,
    policies,
    publish_rows,
    search_rows,
    tables,
)

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
HIERARCHIES = {name: {"file": f"{name.lower()}.csv"} for name in QUASI}
PLAIN = Policy(QUASI, ("DIAG",), (K2, L2), Fraction(1), hierarchies=HIERARCHIES)


def by_zone(policy: Policy, level: int) -> Policy:
    """The policy with its search divided by the zone at a level."""
    fixed = {"minimum": {**policy.minimum, "ZONE": level}, "maximum": {**policy.maximum, "ZONE": level}}
    return replace(policy, partition="ZONE", **fixed)


def zone_at(zone: str, level: int) -> str:
    """The label of a zone, as the hierarchy files say it; what they do not list is its own until the top."""
    listed = {value: (value, f"{value[0]}_", "*") for value in ZONES[:4]}
    return listed.get(zone, (zone, zone, "*"))[level]


def parts_in(rows: list[Row], level: int) -> list[list[Row]]:
    """The rows of each part, in the order of the parts' labels."""
    labels = sorted({zone_at(row[0], level) for row in rows})
    return [[row for row in rows if zone_at(row[0], level) == label] for label in labels]


@pytest.mark.requirement("M15", "X7")
@pytest.mark.slow
@LAW
@given(data=st.data())
def test_each_part_is_as_if_it_were_alone_and_the_union_keeps_what_was_asked(data, engine, folder) -> None:
    rows = data.draw(tables())
    level = data.draw(st.integers(0, 2))
    policy = by_zone(data.draw(policies(HIERARCHIES)), level)
    person = data.draw(st.sampled_from(["PERSON", None]))
    ground, found = search_rows(engine, rows, policy, folder, person)
    alone = [
        (part, *search_rows(engine, part, replace(policy, partition=""), folder, person))
        for part in parts_in(rows, level)
    ]
    missed = [answer for _, _, answer in alone if isinstance(answer, NoSolution)]
    if missed:
        assert isinstance(found, UnsolvedParts)
        assert (found.parts, found.unsolved) == (len(alone), len(missed))
        assert found.suppressed_rows == sum(answer.suppressed_rows for answer in missed)
        return
    assert isinstance(found, Solution)
    made = publish_rows(engine, rows, ground, found, folder)
    _compare_with_parts(engine, found, alone, made, folder)
    _judge_union(found, made, policy, len(rows), person is not None)
    _judge_follower(ground.dependents.get("FOLLOWS", ()), made)


def _compare_with_parts(engine, found, alone, made, folder) -> None:
    noted = found.notes["partition"]["parts"]
    assert [one["part"] for one in noted] == list(range(1, len(alone) + 1))
    for one, (part, _, answer) in zip(noted, alone, strict=True):
        gone = int(answer.tuples.rows[answer.published.suppressed].sum())
        told = (len(part), answer.levels, answer.loss, gone, answer.optimal)
        assert (one["rows"], one["levels"], one["loss"], one["suppressed_rows"], one["optimal"]) == told
    kept = sorted(
        _without_follower(row)
        for part, ground, answer in alone
        for row in publish_rows(engine, part, ground, answer, folder)
        if not is_suppressed(row)
    )
    assert sorted(_without_follower(row) for row in made if not is_suppressed(row)) == kept
    common = {name for name in QUASI if len({answer.levels[name] for _, _, answer in alone}) == 1}
    assert set(found.levels) == common


def _without_follower(row: Row) -> Row:
    """A dependency is looked for in all rows together, so the column that follows may differ from a part alone."""
    return row[:3] + row[4:]


def _judge_union(found: Solution, made: list[Row], policy: Policy, rows: int, by_person: bool) -> None:
    """Counted in plain Python on what is published."""
    assert len(made) == rows
    gone = int(found.tuples.rows[found.published.suppressed].sum())
    assert gone <= policy.limit * rows
    assert not found.optimal
    for shown, members in classes_of(made).items():
        if is_suppressed(shown):
            telling = any(row[4] == "" or row[4].strip("*") for row in members)
            assert not telling or not breaks_criteria(members, policy.criteria, by_person)
        else:
            assert not breaks_criteria(members, policy.criteria, by_person)


def _judge_follower(leaders: Sequence[str], made: list[Row]) -> None:
    """A column that gives others away tells no more than the class does, nor a value that its own row masks."""
    if set(leaders) & set(QUASI):
        assert all(len({row[3] for row in members}) == 1 for members in classes_of(made).values())
    elif leaders:
        assert all(row[3] == "*" for row in made if row[4] and not row[4].strip("*"))


@pytest.mark.slow
@settings(LAW, max_examples=5)
@given(rows=tables())
def test_how_many_parts_are_fetched_at_once_changes_nothing(rows, engine, folder) -> None:
    policy = replace(by_zone(PLAIN, 1), criteria=(K2,))
    found = search_rows(engine, rows, policy, folder)[1]
    before, _partition._ROWS_AT_ONCE = _partition._ROWS_AT_ONCE, 1
    try:
        again = search_rows(engine, rows, policy, folder)[1]
    finally:
        _partition._ROWS_AT_ONCE = before
    assert isinstance(found, Solution)
    assert isinstance(again, Solution)
    assert (again.outcome, again.notes, again.loss) == (found.outcome, found.notes, found.loss)


def test_a_person_with_rows_in_two_parts_counts_once_in_each_class(engine, folder) -> None:
    rows = [(zone, "11", "H", "same", "AB"[i % 2], f"p{i // 2}") for zone in ("11", "12") for i in range(4)]
    ground, found = search_rows(
        engine, rows, replace(by_zone(PLAIN, 0), criteria=({"criterion": "k", "k": 2},)), folder
    )
    assert found.published.suppressed.sum() == 0
    assert {row[:3] for row in publish_rows(engine, rows, ground, found, folder)} == {
        ("11", "11", "H"),
        ("12", "11", "H"),
    }
    three = replace(by_zone(PLAIN, 0), criteria=({"criterion": "k", "k": 3},))
    assert search_rows(engine, rows, three, folder)[
        1
    ].published.suppressed.all()  # two persons behind four rows of each


def test_the_suppressed_rows_of_all_parts_are_one_group(engine, folder) -> None:
    rows = [("11", "11", "H", "same", "A", "p1"), ("12", "11", "H", "same", "B", "p2")]
    ground, found = search_rows(engine, rows, by_zone(PLAIN, 0), folder)
    made = publish_rows(engine, rows, ground, found, folder)
    assert [row[:3] + row[4:5] for row in made] == [
        ("*", "*", "*", "A"),
        ("*", "*", "*", "B"),
    ]  # two persons, two values
    lonely = [("11", "11", "H", "same", "A", "p1"), ("12", "11", "H", "same", "B", "p1")]
    ground, found = search_rows(engine, lonely, by_zone(PLAIN, 0), folder)
    assert {row[4] for row in publish_rows(engine, lonely, ground, found, folder)} == {
        "*"
    }  # one person behind the group


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"criteria": (K2, {"criterion": "t", "variable": "DIAG", "t": 0.3})}, "t-cercanía"),
        ({"criteria": ({"criterion": "delta", "variable": "DIAG", "delta": 1},)}, "delta"),
        ({"criteria": ({"criterion": "beta", "variable": "DIAG", "beta": 1},)}, "beta"),
        ({"criteria": ({"criterion": "average_risk", "threshold": 0.3},)}, "promedio"),
        ({"criteria": ({"criterion": "k_map", "k": 2, "population": "p.csv"},)}, "población"),
        ({"criteria": ({"criterion": "population_uniqueness", "threshold": 0.1, "fraction": 0.1},)}, "unicidad"),
        ({"method": "local"}, "full-domain"),
        ({"links": ("HOGAR",)}, "HOGAR"),
        ({"maximum": {"ZONE": 2}}, "nivel"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_a_part_proves_nothing_about_is_refused_before_searching(change, said) -> None:
    with pytest.raises(PartitionNotPossible) as refusal:
        refuse_impossible_partition(replace(by_zone(PLAIN, 1), **change))
    assert said in str(refusal.value)
    assert "ZONE" in str(refusal.value)


def test_every_criterion_judged_class_by_class_is_allowed_and_no_other() -> None:
    from celosia.risk.criteria import CRITERIA, Need

    local = {
        kind.name for kind in CRITERIA
        if kind.need is not Need.ALL_CLASSES and "reference" not in kind.parameters and kind.name != "k_map"
    }  # fmt: skip
    assert set(PROVED_IN_PARTS) == local


# --- in a project ---------------------------------------------------------------------------------

SHOWN = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")
REGION = '\n[hierarchies.COMUNA]\nbuilder = "mask"\nsteps = [2, 3, 5]\nuncovered = "suppress"\nminimum = 2\n'


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("parts")
    raw = write_discharges(place / "egresos.csv", 1_500, 11)
    made = init(str(raw), place / "egresos", ("minsal",), now=NOW).project.folder
    stated = [
        replace(v, purpose="estudio" if v.name in (*SHOWN, "DIAG1") else "") for v in open_project(made).variables
    ]
    (made / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")
    toml = made / "celosia.toml"
    toml.write_text(toml.read_text("utf-8") + REGION, "utf-8")
    return Path(made)


@pytest.fixture
def project(described: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "egresos"))


@pytest.mark.slow
def test_a_plan_in_parts_is_run_and_passes_the_check_on_the_written_file(project: Path) -> None:
    plan = make_plan(project, partition="COMUNA", limit=1, now=NOW).plan
    noted = plan.notes["partition"]
    assert (noted["variable"], noted["level"], noted["proved"]) == ("COMUNA", 2, ["k", "distinct_l"])
    assert len(noted["parts"]) > 2
    assert all(part["optimal"] for part in noted["parts"])
    assert not plan.optimal
    assert plan.bound is None
    assert plan.levels["COMUNA"] == 2
    assert plan.suppressed_rows == sum(part["suppressed_rows"] for part in noted["parts"])
    ran = run_plan(project, now=NOW)
    assert ran.check.holds
    first = ran.candidate.read_bytes()
    with ran.candidate.open(encoding="utf-8", newline="") as file:
        assert sum(1 for _ in csv.DictReader(file)) == 1_500
    assert check_candidate(project, now=NOW).check.holds
    assert run_plan(project, now=NOW).candidate.read_bytes() == first
    public = json.dumps(public_policy(plan, ran.check, open_project(project)))
    assert '"partition": "COMUNA"' in public
    assert "parts" not in public
    assert policy_from(plan.policy).partition == "COMUNA"
    told = " ".join(done_sentences(done_by(plan, ran.check, 0)))
    assert "óptimo dentro de cada parte; no se afirma del conjunto" in told
    assert str(len(noted["parts"])) + " partes" not in told


def test_a_line_of_such_a_plan_that_was_changed_stops_the_run(project: Path) -> None:
    make_plan(project, partition="PREVISION", limit=1, now=NOW)
    path = project / "plan.json"
    document = json.loads(path.read_text("utf-8"))
    document["notes"]["partition"]["parts"][0]["suppressed_rows"] += 1
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(PlanStale):
        run_plan(project, now=NOW)


def test_what_looks_at_all_rows_at_once_says_that_the_search_goes_in_parts(project: Path) -> None:
    toml = project / "celosia.toml"
    text = toml.read_text("utf-8").replace(REGION, '\n[policy]\npartition = "PREVISION"\n' + REGION)
    toml.write_text(text, "utf-8")
    for ask in (explain_plan, frontier_report, compare_methods):
        with pytest.raises(PartitionedSearch, match="PREVISION"):
            ask(project)
    found = search_plan(project, now=NOW)
    assert found.feasible
    plan = search_view(project).plan
    assert plan.partition.variable == "PREVISION"
    assert plan.partition.optimal
    assert not plan.stale
    assert set(plan.partition.varied) == set(SHOWN) - set(plan.levels)


def test_parts_without_a_solution_are_counted_in_the_answer(project: Path) -> None:
    with pytest.raises(NoFeasiblePlan) as miss:
        make_plan(project, partition="COMUNA", k=400, limit=0.01, now=NOW)
    assert "partes de «COMUNA» no tienen solución" in str(miss.value)
    assert not (project / "plan.json").exists()


def test_a_partition_that_is_no_quasi_identifier_or_has_no_such_level_is_refused(project: Path) -> None:
    for name in ("DIAG1", "NADA"):
        with pytest.raises(UnknownVariable, match=name):
            make_plan(project, partition=name, now=NOW)
    toml = project / "celosia.toml"
    toml.write_text(toml.read_text("utf-8").replace("minimum = 2", "minimum = 9"), "utf-8")
    with pytest.raises(LevelOutsideHierarchy, match="COMUNA"):
        make_plan(project, partition="COMUNA", now=NOW)


def test_the_command_says_what_was_proved_and_what_was_not(project: Path, capsys) -> None:
    assert main(["plan", str(project), "--partition", "PREVISION", "--limit", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "óptimo dentro de cada parte; no se afirma del conjunto" in said
    assert "Demostrado para el conjunto" in said
    assert main(["plan", str(project), "--partition", "PREVISION", "--method", "local"]) == 2
    assert "full-domain" in capsys.readouterr().err
    with messages.speaking("en"):
        assert main(["--lang", "en", "plan", str(project), "--partition", "PREVISION", "--limit", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"]["partition"]["variable"] == "PREVISION"
