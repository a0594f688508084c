"""`celosia plan --compare`: the methods side by side, which one is taken by which rule, and how to take another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.show import labels, path_from_here, print_table, say, watching, yes_or_no

if TYPE_CHECKING:
    from celosia.model.reports.methods import KeepingCost, MethodComparison, MethodResult


def choose_method(project: Path, as_json: bool, asked: dict[str, Any]) -> dict[str, Any]:
    """Compare the methods under what was asked, say what was found, and answer with the method and order to plan by."""
    from celosia.pipeline.planning.method_comparison import compare_methods

    others = {key: value for key, value in asked.items() if key not in ("method", "order") and value is not None}
    with watching(as_json) as report:
        comparison = compare_methods(project, report=report, **others)
    named = asked.get("method")
    chosen = next((r for r in comparison.methods if r.method == (named or comparison.best)), None)
    if not as_json:
        _show(comparison, named, project)
    if chosen is None:  # nothing holds: the plan itself says how near the optimum comes
        return {}
    return {"method": chosen.method, "order": asked.get("order") or list(chosen.order) or None}


def _show(comparison: MethodComparison, named: str | None, project: Path) -> None:
    from celosia.dossier.figures import metric_text

    header = labels("plan.compare", "method", "holds", "loss", "suppressed", "masked", "classes", "optimal")
    rows = [_row(result) for result in comparison.methods]
    print_table(messages.text("plan.compare.title"), header, rows, right=(2, 3, 4, 5))
    click.echo(messages.text("plan.compare.loss_is", definition=metric_text(comparison.metric)))
    for result in comparison.methods:
        if result.refused:
            why = messages.text(f"errors.{result.refused}", **(result.fields or {}))
            say("plan.compare.refused", method=result.method, why=why)
    if not comparison.ranking:
        say("plan.compare.none")
        return
    _show_variables(comparison)
    for cost in comparison.keeping:
        click.echo(_cost_sentence(cost, comparison.ranking[0]))
    others = [result.method for result in comparison.ranking if result.method != (named or comparison.best)]
    if named:
        say("plan.compare.named", method=named, best=comparison.best)
    else:
        say("plan.compare.rule", method=comparison.best)
    for method in others:
        say("plan.compare.another", command=f"celosia plan {path_from_here(project)} --method {method}")
    _save_picture(comparison, project)


def _row(result: MethodResult) -> list[str]:
    counts = (result.suppressed_rows, result.masked_sensitive, result.classes)
    return [
        result.method,
        yes_or_no(result.feasible),
        "–" if result.loss is None else messages.decimal(result.loss, 4),
        *("–" if count is None else messages.integer(count) for count in counts),
        yes_or_no(result.optimal),
    ]


def _show_variables(comparison: MethodComparison) -> None:
    """What each method keeps of each variable: how many values or groups it publishes, and its loss."""
    shown = comparison.ranking
    header = [*labels("plan.compare", "variable", "values"), *(result.method for result in shown)]
    rows = []
    for v, variable in enumerate(shown[0].variables):
        cells = [_kept_text(result, v) for result in shown]
        rows.append([variable.variable, messages.integer(variable.values), *cells])
    print_table(messages.text("plan.compare.variables"), header, rows, right=tuple(range(1, len(header))))


def _kept_text(result: MethodResult, v: int) -> str:
    variable = result.variables[v]
    loss = "–" if variable.loss is None else messages.decimal(variable.loss, 3)
    if variable.is_one_group:
        return messages.text("plan.compare.one_group", loss=loss)
    return messages.text("plan.compare.groups", groups=variable.groups, loss=loss)


def _cost_sentence(cost: KeepingCost, best: MethodResult) -> str:
    if not cost.feasible or cost.loss is None:
        return messages.text("plan.compare.cannot_keep", variable=cost.variable)
    return messages.text(
        "plan.compare.keeping",
        variable=cost.variable,
        loss=messages.decimal(cost.loss, 4),
        now=messages.decimal(best.loss or 0.0, 4),
        rows=messages.integer(cost.suppressed_rows or 0),
        rows_now=messages.integer(best.suppressed_rows or 0),
    )


def _save_picture(comparison: MethodComparison, project: Path) -> None:
    from celosia.model.paths import ProjectPaths
    from celosia.storage import atomic_write

    chart, path = comparison.chart(), ProjectPaths(project).methods_picture
    if chart is not None:
        with atomic_write(path) as draft:
            draft.write_text(chart.svg(), "utf-8", newline="\n")
        say("plan.compare.saved", path=path_from_here(path))
