"""Grouping by the least levels inside the engine changes how much is fetched, and nothing of what is found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.demo.synthetic.discharges import write_discharges
from celosia.hierarchy.errors import LevelOutsideHierarchy
from celosia.model import dictionary
from celosia.model.plan import Policy
from celosia.pipeline.candidate.errors import PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning import pre_generalisation as _coarse
from celosia.pipeline.planning.errors import SearchTooLarge
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.planning.pre_generalisation import allows_pre_generalisation, representative_codes
from celosia.pipeline.planning.search_input import build_search_input
from celosia.pipeline.planning.solution import Solution
from celosia.pipeline.planning.solve import search_problem
from celosia.pipeline.project.folder import open_project
from celosia.solver.explain import explain
from celosia.solver.frontier import frontier
from celosia.solver.optimal import search
from celosia.solver.problem import NoSolution
from celosia.tuples.errors import TooManyTuples
from tests.projects.search_tables import (
    DAYS,
    K2,
    L2,
    LAW,
    QUASI,
    VARIABLES,
    policies,
    publish_rows,
    search_rows,
    table_of,
    tables,
)

REGION = '\n[hierarchies.COMUNA]\nbuilder = "mask"\nsteps = [2, 3, 5]\nuncovered = "suppress"\nminimum = 2\n'
HIERARCHIES = {name: {"file": f"{name.lower()}.csv"} for name in QUASI}
COARSE = Policy(QUASI, ("DIAG",), (K2, L2), Fraction(1), hierarchies=HIERARCHIES, minimum={"ZONE": 1, "DAY": 1})


def raw() -> mock._patch[object]:
    """The private switch: every value is grouped by itself."""
    return mock.patch.object(_coarse, "allows_pre_generalisation", return_value=False)


@pytest.mark.slow
@LAW
@given(data=st.data())
def test_what_is_found_and_published_does_not_depend_on_it(data, engine, folder) -> None:
    rows = data.draw(tables())
    policy = data.draw(policies(HIERARCHIES))
    person = data.draw(st.sampled_from(["PERSON", None]))
    ground, coarse = search_rows(engine, rows, policy, folder, person)
    with raw():
        whole, fine = search_rows(engine, rows, policy, folder, person)
    assert len(ground.quasi.rows) <= len(whole.quasi.rows)
    if isinstance(fine, NoSolution):
        assert coarse == fine
        return
    assert isinstance(coarse, Solution)
    for figure in ("levels", "loss", "metric", "classes", "nodes", "nodes_checked", "optimal", "bound", "notes"):
        assert getattr(coarse, figure) == getattr(fine, figure), figure
    assert coarse.published.vocabularies == fine.published.vocabularies
    assert _masked(coarse) == _masked(fine)
    assert publish_rows(engine, rows, ground, coarse, folder) == publish_rows(engine, rows, whole, fine, folder)


def _masked(solution: Solution) -> dict[str, int]:
    return {name: int(solution.tuples.rows[mask].sum()) for name, mask in solution.masks.items()}


@pytest.mark.slow
@settings(LAW, max_examples=8)
@given(rows=tables())
def test_explanation_and_frontier_are_the_same(rows, engine, folder) -> None:
    policy = replace(COARSE, limit=Fraction(1, 3))
    told = []
    for switch in (raw(), mock.patch.object(_coarse, "_NOTHING", {})):
        with switch:
            problem = search_problem(build_search_input(table_of(engine, rows), VARIABLES, "PERSON", policy, folder))
        told.append((_rounded(explain(problem, search(problem)).as_dict()), frontier(problem, (2, 3)).as_dict()))
    assert told[0] == told[1]


def _rounded(value):
    """Figures of variables are sums of floats over tuples: fewer tuples, another last digit."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, 12) if isinstance(value, float) else value


def test_the_tuple_table_is_as_small_as_the_least_levels_allow(engine, folder) -> None:
    rows = [("11", day, "H", "same", "AB"[i % 2], f"p{i}") for i, day in enumerate(DAYS[:6] * 4)]
    with raw():
        assert len(search_rows(engine, rows, COARSE, folder)[0].quasi.rows) == 6
    ground = search_rows(engine, rows, COARSE, folder)[0]
    assert len(ground.quasi.rows) == 3  # three months
    assert ground.quasi.vocabularies[1] == tuple(sorted(DAYS[:6]))  # the vocabulary stays whole
    assert int(ground.rows_at("DAY", 1).sum()) == len(rows)


def test_missing_masked_and_unknown_values_stay_by_themselves(engine, folder) -> None:
    rows = [("11", day, "H", "same", "A", "p") for day in DAYS]
    tree = build_search_input(table_of(engine, rows), VARIABLES, "PERSON", COARSE, folder).hierarchies["DAY"]
    for level in (1, 2, 3):
        stand_ins = representative_codes(tree, level, ("99",))
        apart = [tree.labels[0].index(value) for value in ("99", "", "**")]
        assert stand_ins[apart].tolist() == apart
        assert set(stand_ins.tolist()) >= set(apart)
    assert np.array_equal(representative_codes(tree, 0, ()), np.arange(len(DAYS)))


@pytest.mark.parametrize(
    "change",
    [
        {"method": "local"},
        {"method": "recipe"},
        {"method": "cells"},
        {"metric": "non_uniform_entropy"},
        {"links": ("HOGAR",)},
        {"criteria": ({"criterion": "k_map", "k": 2, "population": "p.csv"},)},
    ],
    ids=str,
)
def test_what_looks_below_the_least_levels_is_given_every_value(change) -> None:
    assert allows_pre_generalisation(COARSE)
    assert not allows_pre_generalisation(replace(COARSE, **change))


def test_a_least_level_that_does_not_exist_is_refused_by_name(engine, folder) -> None:
    with pytest.raises(LevelOutsideHierarchy, match="DAY"):
        search_rows(engine, [("11", "11", "H", "same", "A", "p")], replace(COARSE, minimum={"DAY": 7}), folder)


@pytest.mark.parametrize(
    ("change", "said", "not_said"),
    [
        ({}, ["nivel mínimo", "SEX", "partition, con una de estas"], ["no reducen"]),
        ({"metric": "non_uniform_entropy"}, ["no reducen", "partition, con una de estas"], ["nivel mínimo"]),
        ({"criteria": ({"criterion": "t", "variable": "DIAG", "t": 0.2},)}, ["nivel mínimo", "t-cercanía"], ["una de"]),
        ({"partition": "ZONE"}, ["nivel mínimo", "más valores que «ZONE»"], ["una de estas"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_table_that_does_not_fit_is_told_with_what_this_policy_can_do(
    change, said, not_said, engine, folder, monkeypatch
) -> None:
    from celosia.data import table

    policy = replace(COARSE, minimum={"ZONE": 0, "DAY": 0}, **change)
    if policy.partition:
        policy = replace(policy, maximum={"ZONE": 0})
    rows = [(zone, day, "H", "same", "A", "p") for zone in ("11", "12") for day in DAYS]
    monkeypatch.setattr(table, "most_tuples", lambda memory, columns: 8 if columns > 2 else 10**6)
    with pytest.raises(SearchTooLarge) as refusal:
        search_rows(engine, rows, policy, folder)
    assert isinstance(refusal.value, TooManyTuples)
    sentence = str(refusal.value)
    assert "DAY" in sentence
    assert all(text in sentence for text in said)
    assert not any(text in sentence for text in not_said)
    assert not any(f"«{value}»" in sentence for value in DAYS if value)


@pytest.mark.slow
def test_a_project_writes_the_same_bytes_either_way(tmp_path: Path) -> None:
    raw_file = write_discharges(tmp_path / "egresos.csv", 500, 11)
    project = init(str(raw_file), tmp_path / "egresos", ("minsal",)).project.folder
    shown = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "DIAG1")
    stated = [replace(v, purpose="estudio" if v.name in shown else "") for v in open_project(project).variables]
    (project / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")
    toml = project / "celosia.toml"
    toml.write_text(toml.read_text("utf-8") + REGION, "utf-8")
    coarse = make_plan(project, limit=0.4).plan
    written = run_plan(project).candidate.read_bytes()
    with raw():
        fine = make_plan(project, limit=0.4).plan
        assert run_plan(project).candidate.read_bytes() == written
    differing = {name for name in coarse.as_dict() if coarse.as_dict()[name] != fine.as_dict()[name]}
    assert differing == {"notes"}  # the digest over the tuples, which are fewer
    with pytest.raises(PlanStale):  # so a plan made otherwise does not run by mistake
        run_plan(project)
