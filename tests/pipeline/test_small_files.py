"""Small files, each from the raw rows to the written candidate, in which a plan once promised what `run` refused, or
published what it should not. Each row of a file matters.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from celosia.model import dictionary
from celosia.model.variables import Role, Scale
from celosia.pipeline.candidate.errors import CandidateFails
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.errors import NoFeasiblePlan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from tests.projects.given_rows import candidate_rows, make_project
from tests.projects.steps import NOW

K2 = '{ criterion = "k", k = 2 }'
QUASI, SENSITIVE, PLAIN = Role.QUASI, Role.SENSITIVE, Role.PLAIN


def l_of(variable: str, least: int = 2, more: str = "") -> str:
    return f'{{ criterion = "distinct_l", variable = "{variable}", l = {least}{more} }}'


def project(
    tmp_path: Path, rows: str, roles: dict[str, Role], *criteria: str, policy: str = "", person: str = ""
) -> Path:
    """A project over rows such as "q,X q,Y"; `person` names the column that tells people apart."""
    names = {**({person: Role.IDENTIFIER} if person else {}), **roles}
    asked = f"criteria = [{', '.join(criteria)}]\n{policy}"
    folder = make_project(tmp_path / "p", ",".join(names), rows.split(), names, asked)
    settings = folder / "celosia.toml"
    text = settings.read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("person =")]
    if person:
        lines.insert(lines.index("[unit]") + 1, f'person = "{person}"')
    settings.write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def published(folder: Path) -> list[tuple[str, ...]]:
    """The rows of the candidate that a plan makes, in its order."""
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    return [tuple(row.values()) for row in candidate_rows(folder)]


@pytest.mark.requirement("X7")
def test_a_region_is_masked_with_its_comuna_where_all_repeated_comunas_lie_in_one_region(tmp_path: Path) -> None:
    rows = "13101,13,y 13102,13,y 13101,13,x 13102,13,x " * 2 + "05302,05,x 08101,08,y"
    folder = project(tmp_path, rows, {"COMUNA": QUASI, "REG": PLAIN, "S": SENSITIVE}, K2, l_of("S"))
    assert {row[:2] for row in published(folder)} == {("13101", "13"), ("13102", "13"), ("*", "*")}


@pytest.mark.requirement("X7")
def test_a_copy_of_a_masked_value_is_masked_however_few_values_there_are(tmp_path: Path) -> None:
    folder = project(
        tmp_path, "a,x,Gx b,y,Gy c,y,Gy d,y,Gy", {"Q": QUASI, "S": SENSITIVE, "COPY": PLAIN}, K2, l_of("S", 3)
    )
    assert set(published(folder)) == {("*", "*", "*")}


@pytest.mark.requirement("X4")
@pytest.mark.parametrize("rows", ["A,q,X B,q,X B,q,Y C,q,*", "A,q,X A,q,Y B,q,*"])
def test_a_person_who_shows_nothing_is_no_company(tmp_path: Path, rows: str) -> None:
    folder = project(tmp_path, rows, {"Q": QUASI, "S": SENSITIVE}, K2, l_of("S"), policy="limit = 0\n", person="ID")
    with pytest.raises(NoFeasiblePlan):
        make_plan(folder, now=NOW)


@pytest.mark.parametrize(
    "asked",
    ['{ criterion = "entropy_l", variable = "S", l = 3 }',
     '{ criterion = "recursive_l", variable = "S", l = 2, c = 1 }',
     '{ criterion = "alpha_k", variable = "S", k = 2, alpha = 0.5 }'],
)  # fmt: skip
def test_a_value_that_everybody_holds_is_found_behind_a_person_of_many_rows(tmp_path: Path, asked: str) -> None:
    rows, roles = "A,q,X B,q,X B,q,Y B,q,Z B,q,W", {"Q": QUASI, "S": SENSITIVE}
    folder = project(tmp_path, rows, roles, K2, asked, policy="limit = 0\n", person="ID")
    with pytest.raises(NoFeasiblePlan):
        make_plan(folder, now=NOW)


def test_everybody_may_have_an_empty_cell_where_it_is_no_value(tmp_path: Path) -> None:
    asked, roles = l_of("S", more=", missing_counts = false"), {"Q": QUASI, "S": SENSITIVE}
    folder = project(tmp_path, "A,q, A,q,X B,q, B,q,Y", roles, asked, policy="limit = 0\n", person="ID")
    assert published(folder) == [("q", ""), ("q", ""), ("q", "X"), ("q", "Y")]


@pytest.mark.parametrize("asked", ['t", t = 0.1', 'beta", beta = 0.1', 'delta", delta = 0.5'])
def test_a_value_that_looks_like_a_formula_is_compared_as_it_is_written(tmp_path: Path, asked: str) -> None:
    folder = project(
        tmp_path, "q,- q,X r,- r,X", {"Q": QUASI, "S": SENSITIVE},
        f'{{ criterion = "{asked}, variable = "S" }}', policy="limit = 0\n",
    )  # fmt: skip
    assert published(folder) == [("q", "'-"), ("q", "X"), ("r", "'-"), ("r", "X")]


def test_a_population_knows_a_value_that_looks_like_a_formula(tmp_path: Path) -> None:
    in_population = '{ criterion = "k_map", k = 2, population = "people.csv" }'
    folder = project(tmp_path, "+x,a +x,b z,a", {"Q": QUASI, "S": SENSITIVE}, in_population)
    (folder / "people.csv").write_text("Q\n+x\n+x\n+x\nz\nz\n", "utf-8")
    assert published(folder) == [("'+x", "a"), ("'+x", "b"), ("z", "a")]


def test_what_comes_masked_takes_along_what_gives_it_away_before_anything_is_counted(tmp_path: Path) -> None:
    rows = "q,*,b q,x,a r,x,a r,y,b r,x,a r,y,b"
    folder = project(tmp_path, rows, {"Q": QUASI, "S": SENSITIVE, "C": SENSITIVE}, K2, l_of("C"))
    found = published(folder)
    assert found.count(("*", "*", "*")) == 2
    assert set(found) == {("*", "*", "*"), ("r", "x", "a"), ("r", "y", "b")}


def test_the_suppressed_group_is_judged_without_what_is_masked_already(tmp_path: Path) -> None:
    policy = 'mask_sensitive = true\n[hierarchies.Q]\nbuilder = "identity"\n'
    folder = project(tmp_path, "*,X *,X q,Y", {"Q": QUASI, "S": SENSITIVE}, K2, l_of("S"), policy=policy)
    assert published(folder) == [("*", "*")] * 3


def test_the_suppressed_group_is_compared_with_the_release_where_that_is_asked(tmp_path: Path) -> None:
    near = '{ criterion = "t", variable = "S", t = 0.5, reference = "release" }'
    identity = '[hierarchies.Q]\nbuilder = "identity"\n'
    folder = project(tmp_path, "q,X q,X r,Y s,Y", {"Q": QUASI, "S": SENSITIVE}, K2, near, policy=identity)
    assert published(folder) == [("*", "*"), ("*", "*"), ("q", "X"), ("q", "X")]


@pytest.mark.requirement("M15")
def test_nobody_need_be_suppressed_whose_sensitive_value_may_be_masked(tmp_path: Path) -> None:
    policy = "limit = 0\nmask_sensitive = true\n"
    folder = project(tmp_path, "q,X q,X r,X r,X", {"Q": QUASI, "S": SENSITIVE}, K2, l_of("S"), policy=policy)
    assert published(folder) == [("q", "*"), ("q", "*"), ("r", "*"), ("r", "*")]


def test_the_size_asked_with_a_share_is_kept_where_its_value_is_masked(tmp_path: Path) -> None:
    asked = '{ criterion = "alpha_k", variable = "S", alpha = 0.5, k = 2 }'
    policy = 'limit = 0\nmask_sensitive = true\n[hierarchies.Q]\nbuilder = "mask"\nsteps = [1, 2]\n'
    folder = project(tmp_path, "a1,X a2,X b1,X b2,X", {"Q": QUASI, "S": SENSITIVE}, asked, policy=policy)
    assert published(folder) == [("a*", "*"), ("a*", "*"), ("b*", "*"), ("b*", "*")]


def test_sizes_that_do_not_hold_within_the_limit_are_still_refused(tmp_path: Path) -> None:
    policy = 'limit = 0\nmask_sensitive = true\n[hierarchies.Q]\nbuilder = "identity"\n'
    folder = project(tmp_path, "q,X q,X r,X", {"Q": QUASI, "S": SENSITIVE}, K2, l_of("S"), policy=policy)
    with pytest.raises(NoFeasiblePlan):
        make_plan(folder, now=NOW)


@pytest.mark.parametrize("reading", ["own", "wildcard"])
def test_a_plan_says_what_the_check_will_refuse_of_it(tmp_path: Path, reading: str) -> None:
    rows = "F,200 X,1 X, F,1000 I,3 X,1 I,3 X,1 I,15 I,3"
    policy = f'method = "cells"\nreading = "{reading}"\n'
    folder = project(tmp_path, rows, {"A": QUASI, "B": QUASI}, '{ criterion = "k", k = 3 }', policy=policy)
    failing = make_plan(folder, now=NOW).plan.notes["failing_as_published"]
    assert (failing > 0) is (reading == "wildcard")
    if failing:
        with pytest.raises(CandidateFails, match=f"\\({failing}\\)"):
            run_plan(folder, now=NOW)
    else:
        assert run_plan(folder, now=NOW).check.holds


@pytest.mark.parametrize("odd", ["Inf", "-inf", "NaN", "1e999"])
def test_a_text_that_python_takes_for_a_number_is_a_text(tmp_path: Path, odd: str) -> None:
    rows = " ".join(f"{1000 + 37 * i % 900},{'xy'[i % 2]}" for i in range(40)) + f" {odd},x"
    folder = project(tmp_path, rows, {"INGRESO": QUASI, "S": SENSITIVE}, K2)
    _with_scale(folder, "INGRESO", Scale.CONTINUOUS)
    assert sum(row[0] == "*" for row in published(folder)) == 1


@pytest.mark.parametrize("mark", [",", "."])
def test_numbers_are_ordered_by_size_whatever_their_decimal_mark(tmp_path: Path, mark: str) -> None:
    near = '{ criterion = "t", variable = "S", t = 0.26, distance = "ordered" }'
    cells = [f'"{whole}{mark}5"' for whole in (1, 10, 2)]
    rows = f"q,{cells[0]} q,{cells[1]} r,{cells[2]} r,{cells[2]}"
    folder = project(tmp_path, rows, {"Q": QUASI, "S": SENSITIVE}, near, policy="limit = 0\n")
    assert make_plan(folder, now=NOW).plan.levels == {"Q": 0}


def _with_scale(folder: Path, name: str, scale: Scale) -> None:
    changed = [replace(v, scale=scale) if v.name == name else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(changed), "utf-8")
