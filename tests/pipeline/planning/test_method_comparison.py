"""The methods side by side give what each would plan by itself, and leave the plan alone."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from celosia.cli import build_cli
from celosia.demo.synthetic.discharges import write_discharges
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.method_comparison import compare_methods
from celosia.pipeline.planning.plan import make_plan
from celosia.workbench.policy import edit_policy
from celosia.workbench.search import search_plan, search_view
from tests.projects.steps import NOW

QUASI = ("SEXO", "EDAD_AÑOS", "PREVISION")
METHODS = ("full-domain", "local", "recipe", "cells")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    raw = write_discharges(tmp_path / "egresos.csv", 400, 5)
    made = init(str(raw), tmp_path / "p", ("minsal",), now=NOW).project.folder
    state_purpose(made, (*QUASI, "DIAG1"), "estudio", now=NOW)
    edit_policy(made, {"k": 4, "limit": 0.6}, now=NOW)
    return Path(made)


@pytest.mark.requirement("M20", "M26")
def test_each_method_gives_what_its_own_plan_gives(folder: Path) -> None:
    compared = compare_methods(folder, now=NOW)
    assert [one.method for one in compared.methods] == list(METHODS)
    for one in compared.methods:
        assert one.feasible, one
        plan = make_plan(folder, method=one.method, order=list(one.order) or None, now=NOW).plan
        assert one.loss == pytest.approx(plan.loss)
        assert (one.suppressed_rows, one.suppressed_share) == (plan.suppressed_rows, plan.suppressed_share)
        assert (one.classes, one.optimal) == (plan.classes, plan.optimal)
        assert one.smallest_class is None or one.smallest_class >= 4
    assert compared.best in METHODS


def test_the_plan_is_left_alone_and_the_comparison_is_kept(folder: Path) -> None:
    search_plan(folder, now=NOW)
    before = (folder / "plan.json").read_bytes()
    compared = compare_methods(folder, now=NOW)
    assert (folder / "plan.json").read_bytes() == before
    saved = search_view(folder).methods
    assert saved is not None
    assert saved.report.methods[0].loss == compared.methods[0].loss
    assert not saved.stale


def test_choosing_a_method_leaves_the_comparison_fresh_and_another_k_does_not(folder: Path) -> None:
    compare_methods(folder, ("full-domain",), now=NOW)
    edit_policy(folder, {"method": "local"}, now=NOW)
    assert not search_view(folder).methods.stale
    edit_policy(folder, {"k": 5}, now=NOW)
    assert search_view(folder).methods.stale


def test_one_scale_holds_whatever_the_search_minimises(folder: Path) -> None:
    edit_policy(folder, {"metric": "discernibility"}, now=NOW)
    compared = compare_methods(folder, ("full-domain", "local"), now=NOW)
    assert "loss" in compared.metric
    assert all(0 <= one.loss <= 1 for one in compared.methods)


def test_a_method_that_cannot_be_used_says_why_and_the_others_are_compared(folder: Path) -> None:
    criteria = [{"criterion": "t", "variable": "DIAG1", "t": 0.9, "reference": "release"}]
    edit_policy(folder, {"criteria": criteria}, now=NOW)
    first, second = compare_methods(folder, ("full-domain", "local"), now=NOW).methods
    assert not first.refused
    assert (second.refused, second.feasible) == ("value_out_of_range", False)


def test_more_rows_than_the_limit_is_not_feasible(folder: Path) -> None:
    edit_policy(folder, {"k": 60, "limit": 0}, now=NOW)
    for one in compare_methods(folder, now=NOW).methods:
        assert one.feasible == (one.suppressed_rows == 0)


def test_a_method_that_does_not_exist_is_refused(folder: Path) -> None:
    with pytest.raises(ValueOutOfRange):
        compare_methods(folder, ("magic",), now=NOW)


def test_the_losses_of_the_variables_make_the_loss_of_the_method(folder: Path) -> None:
    for result in compare_methods(folder, now=NOW).methods:
        losses = [variable.loss for variable in result.variables]
        together = math.prod(1 + loss for loss in losses) ** (1 / len(losses)) - 1
        assert [variable.variable for variable in result.variables] == list(QUASI)
        if result.method == "cells":  # its loss is that of the cells that it masks, whatever is lost with them
            assert result.loss <= together <= result.loss + 0.02
        elif not result.masked_sensitive:
            assert result.loss == pytest.approx(together, abs=1e-9), result.method


def test_the_picture_shows_the_best_method_beside_full_domain(folder: Path) -> None:
    compared = compare_methods(folder, now=NOW)
    other = compared.ranking[1].method if compared.best == "full-domain" else "full-domain"
    chart = compared.chart()
    assert chart is not None
    assert [method for method in METHODS if f">{method}<" in chart.svg()] == sorted(
        (compared.best, other), key=METHODS.index
    )
    losses = [variable.loss for result in compared.ranking for variable in result.variables]
    assert not [loss for loss in losses if loss is not None and math.copysign(1, loss) < 0]


def test_a_variable_that_ends_as_one_group_is_pointed_out_with_what_keeping_it_costs(folder: Path) -> None:
    edit_policy(folder, {"k": 60, "limit": 0.3}, now=NOW)
    compared = compare_methods(folder, ("full-domain",), now=NOW)
    [result] = compared.methods
    alone = [variable.variable for variable in result.variables if variable.is_one_group]
    assert alone
    assert [cost.variable for cost in compared.keeping] == alone
    for cost in compared.keeping:
        assert not cost.feasible or cost.loss >= result.loss


def test_what_a_command_adds_holds_for_all_methods_and_is_not_saved_as_the_projects(folder: Path) -> None:
    compared = compare_methods(folder, k=7, now=NOW)
    assert all(result.smallest_class >= 7 for result in compared.methods if result.feasible and result.smallest_class)
    assert search_view(folder).methods is None


def test_plan_compare_says_what_each_keeps_and_takes_the_best_or_the_one_named(folder: Path) -> None:
    for more, method in (([], compare_methods(folder, now=NOW).best), (["--method", "full-domain"], "full-domain")):
        answer = CliRunner().invoke(build_cli("es"), ["plan", str(folder), "--compare", *more])
        assert answer.exit_code == 0, answer.output
        assert all(name in answer.output for name in (*QUASI, *METHODS))
        assert f"Se toma «{method}»" in answer.output
        assert json.loads((folder / "plan.json").read_text("utf-8"))["method"] == method
        assert (folder / "private" / "methods.svg").read_text("utf-8").startswith("<svg")
