"""`celosia plan`, `run` and `explain`: search the solution, write and check the candidate, say what would help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.project.protocol import show_rules
from celosia.cli.reading import counting_options
from celosia.cli.shell import PATH, build_command, names_option, option, project_argument
from celosia.cli.show import (
    announce_first_time,
    labels,
    print_json,
    print_next_act,
    print_report,
    print_table,
    say,
    watching,
    yes_or_no,
)

if TYPE_CHECKING:
    from celosia.model.plan import Plan
    from celosia.model.verdict import CheckReport
    from celosia.pipeline.planning.stated_inputs import StatedInputs


def plan_command() -> click.Command:
    """The command `plan`."""
    from celosia.model.plan import MEANS, METHODS, METRICS

    params = [
        project_argument(),
        names_option("plan", "--quasi"),
        names_option("plan", "--sensitive"),
        names_option("plan", "--identifiers"),
        option("plan", "--purpose"),
        option("plan", "--hierarchy", "hierarchies", multiple=True, metavar="A=…"),
        option("plan", "--level", "levels", multiple=True, metavar="A=1"),
        option("plan", "--method", type=click.Choice(METHODS)),
        option("plan", "--compare", is_flag=True),
        option("plan", "--k", type=click.IntRange(min=1)),
        option("plan", "--l", type=click.IntRange(min=1)),
        option("plan", "--limit", "--max-suppression", metavar="0–1"),
        option("plan", "--criterion", "criteria", multiple=True, metavar="{…}"),
        option("plan", "--suppressed", type=click.Choice(["keep", "drop"])),
        option("plan", "--mask-sensitive/--no-mask-sensitive", default=None),
        option("plan", "--missing-reading", "reading", type=click.Choice(["own", "wildcard"])),
        names_option("plan", "--order"),
        names_option("plan", "--keep"),
        option("plan", "--weight", "weights", multiple=True, metavar="A=2"),
        option("plan", "--metric", type=click.Choice(METRICS)),
        option("plan", "--mean", type=click.Choice(MEANS)),
        option("plan", "--partition", metavar="VARIABLE"),
        option("plan", "--time-limit", type=click.FloatRange(min=0, min_open=True)),
        *counting_options(),
    ]
    return build_command("plan", plan, params)


def run_command() -> click.Command:
    """The command `run`."""
    return build_command("run", run, [project_argument(), *counting_options()])


def plan(
    project: Path,
    as_json: bool,
    order: tuple[str, ...],
    keep: tuple[str, ...],
    criteria: tuple[str, ...],
    weights: tuple[str, ...],
    compare: bool = False,
    **choices: Any,
) -> None:
    """Plan and show; where asked, compare the methods first and take the best, or the one that was named."""
    from celosia.cli.planning.compare import choose_method
    from celosia.pipeline.planning.option_syntax import read_criteria, read_weights
    from celosia.pipeline.planning.plan import make_plan
    from celosia.pipeline.planning.stated_inputs import write_stated_inputs

    stated, overrides = _stated_inputs(choices)
    announce_first_time(as_json)
    write_stated_inputs(project, stated)
    asked: dict[str, Any] = {**overrides, "order": order or None, "keep": keep or None}
    asked |= {"criteria": read_criteria(criteria) or None, "weights": read_weights(weights) or None}
    if compare:
        asked |= choose_method(project, as_json, asked)
    with watching(as_json) as report:
        result = make_plan(project, report=report, **asked)
    print_report(result.plan, as_json, show_plan)
    if not as_json:
        say("plan.written", path=result.path)
        # Without a protocol nothing is published, but a plan may still be applied.
        if not print_next_act(project):
            say("plan.alone", folder=project)


def _stated_inputs(choices: dict[str, Any]) -> tuple[StatedInputs, dict[str, Any]]:
    """The roles, hierarchies and levels among the options, and the options that are left."""
    from celosia.pipeline.planning.option_syntax import read_hierarchies, read_levels
    from celosia.pipeline.planning.stated_inputs import StatedInputs

    rest = dict(choices)
    stated = StatedInputs(
        quasi=rest.pop("quasi"),
        sensitive=rest.pop("sensitive"),
        identifiers=rest.pop("identifiers"),
        purpose=rest.pop("purpose") or "",
        hierarchies=read_hierarchies(rest.pop("hierarchies")),
        levels=read_levels(rest.pop("levels")),
    )
    return stated, rest


def show_plan(plan: Plan) -> None:
    """A plan's figures."""
    from celosia.dossier.figures import count_text, metric_text

    rows = [[messages.text("plan.level", variable=name), _level(plan, name)] for name in plan.levels]
    definition = metric_text(plan.loss_definition)
    rows.append([messages.text("plan.loss", definition=definition), messages.decimal(plan.loss, 6)])
    records, otherwise = plan.suppression.records, plan.suppression.otherwise
    if plan.bound is not None and not plan.optimal:
        rows.append([messages.text("plan.bound"), messages.decimal(plan.bound, 6)])
    rows.append([messages.text("plan.suppressed"), count_text(plan.suppressed_rows, records)])
    if otherwise:
        rows.append([messages.text("plan.otherwise_masked"), count_text(otherwise, records)])
    for name, count in plan.masked_sensitive.items():
        rows.append([messages.text("plan.masked", variable=name), messages.integer(count)])
    rows.append([messages.text("plan.classes"), messages.integer(plan.classes)])
    checked = f"{messages.integer(plan.nodes_checked)} / {messages.integer(plan.nodes)}"
    rows.append([messages.text("plan.nodes"), checked])
    rows.append([messages.text("plan.optimal"), yes_or_no(plan.optimal)])
    header = labels("cli.measure", "measure", "value")
    print_table(messages.text("plan.title", method=plan.method), header, rows, right=(1,))
    _show_notes(plan)


def _show_notes(plan: Plan) -> None:
    """What a person should know besides the figures."""
    if "printed_recipe" in plan.notes:
        printed = plan.notes["printed_recipe"]
        say("plan.printed", rows=printed["violating_rows"], unique=printed["unique_rows"])
    if "partition" in plan.notes:
        _show_parts(plan)
    added = plan.notes.get("households", {}).get("rows_added", 0)
    if added:
        say("plan.households", rows=added)
    failing = plan.notes.get("failing_as_published", 0)
    if failing:
        say("plan.wildcard_fails", rows=failing)
    if plan.followers:
        dependents = ", ".join(f"{name} ({', '.join(determinants)})" for name, determinants in plan.followers.items())
        say("plan.followers", names=dependents)


def _level(plan: Plan, name: str) -> str:
    """A level and what it shows."""
    from celosia.dossier.technique import level_words

    level, detail = plan.levels[name], plan.notes.get("detail", {}).get(name)
    if detail is None:
        return str(level)
    return messages.text("plan.level_shown", level=level, height=detail["height"], shown=level_words(detail))


def _show_parts(plan: Plan) -> None:
    """The parts of a search by number, and what was proved of each and of all."""
    partition = plan.notes["partition"]
    varying = [name for name in plan.policy["quasi"] if name not in plan.levels]
    header = [*labels("scale", "part", "part_rows"), messages.text("plan.suppressed")]
    header += [messages.text("plan.level", variable=name) for name in varying]
    rows = []
    for part in partition["parts"]:
        counts = [messages.integer(part["rows"]), messages.integer(part["suppressed_rows"])]
        rows.append([str(part["part"]), *counts, *[str(part["levels"][name]) for name in varying]])
    title = messages.text("scale.parts_title", variable=partition["variable"])
    print_table(title, header, rows, right=tuple(range(len(header))))
    is_optimal = all(part["optimal"] for part in partition["parts"])
    optimal = messages.text("scale.partition_optimal" if is_optimal else "scale.partition_not_optimal")
    say("scale.partition_plan", variable=partition["variable"], parts=len(partition["parts"]), optimal=optimal)
    if varying:
        say("scale.partition_varied", names=", ".join(varying))
    criteria = ", ".join(messages.text(f"plan.criterion.{name}") for name in partition["proved"])
    if criteria:
        say("scale.partition_proved", criteria=criteria)


def run(project: Path, as_json: bool, engine: str | None = None, memory: str | None = None) -> None:
    """Run and show the verdict."""
    from celosia.pipeline.candidate.run import run_plan
    from celosia.pipeline.project.folder import open_project

    announce_first_time(as_json)
    if not as_json and open_project(project).in_place is not None:
        say("scale.no_sample")
    with watching(as_json) as report:
        result = run_plan(project, report=report, engine=engine, memory=memory)
    if as_json:
        print_json({"candidate": str(result.candidate), **result.check.as_dict(), "rules": result.rules.as_dict()})
        return
    show_check(result.check)
    show_rules(result.rules) if result.rules.results else say("protocols.none")
    say("plan.candidate", path=result.candidate)
    print_next_act(project)


def show_check(check: CheckReport) -> None:
    """The verdict, rule by rule."""
    from celosia.dossier.figures import suppression_sentences

    header = labels("plan", "rule", "asked", "measured", "state")
    rows = []
    for verdict in check.verdicts:
        criterion = messages.text(f"plan.criterion.{verdict.rule}")
        asked = messages.text(f"plan.asked_words.{verdict.rule}", **verdict.asked)
        failing = f"{messages.integer(verdict.failing_classes)} / {messages.integer(verdict.failing_rows)}"
        rows.append([criterion, asked, failing, messages.text(f"plan.state_words.{verdict.state}")])
    print_table(messages.text("plan.verdict_title"), header, rows, right=(2,))
    say("plan.kept", classes=check.classes, k="–" if check.k is None else check.k)
    for sentence in suppression_sentences(check.suppression):
        click.echo(sentence)
    if check.k_persons is not None:
        say("plan.kept_persons", k=check.k_persons)


def explain_command() -> click.Command:
    """The command `explain`."""
    params = [
        project_argument(),
        option("explain", "--frontier", is_flag=True),
        option("plan", "--k", type=click.IntRange(min=1)),
        option("plan", "--l", type=click.IntRange(min=1)),
        option("plan", "--limit", metavar="0–1"),
        option("explain", "--time-limit", type=click.FloatRange(min=0, min_open=True)),
        option("explain", "--into", type=PATH),
        *counting_options(),
    ]
    return build_command("explain", explain, params)


def explain(
    project: Path, frontier: bool, into: Path | None, time_limit: float | None, as_json: bool, **overrides: Any
) -> None:
    """Explain and show."""
    from celosia.dossier.explain import explanation_sentences
    from celosia.pipeline.planning.explain import explain_plan

    announce_first_time(as_json)
    with watching(as_json) as report:
        result = explain_plan(project, frontier, into, time_limit, report, **overrides)
    if as_json:
        frontier_data = {"frontier": result.frontier.as_dict()} if result.frontier is not None else {}
        print_json(result.explanation.as_dict() | frontier_data)
        return
    for sentence in explanation_sentences(result.explanation):
        click.echo(sentence)
    for path in result.saved:
        say("cli.explain.saved", path=path)
