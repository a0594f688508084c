"""`celosia plan` and `celosia run`: find the release, write it, check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli._protocol import show_rules
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import announce_first_time, print_json, print_table, say, watching


def plan_command() -> click.Command:
    """The verb `plan`."""
    from celosia.model.plan import MEANS, METHODS, METRICS

    return verb(
        "plan",
        plan,
        [
            argument("project", type=click.Path(path_type=Path)),
            option("plan", "--method", type=click.Choice(METHODS)),
            option("plan", "--k", type=click.IntRange(min=1)),
            option("plan", "--l", type=click.IntRange(min=1)),
            option("plan", "--limit", metavar="0–1"),
            names_option("plan", "--order"),
            option("plan", "--metric", type=click.Choice(METRICS)),
            option("plan", "--mean", type=click.Choice(MEANS)),
            option("plan", "--time-limit", type=click.FloatRange(min=0, min_open=True)),
            json_option(),
        ],
    )


def run_command() -> click.Command:
    """The verb `run`."""
    return verb("run", run, [argument("project", type=click.Path(path_type=Path)), json_option()])


def plan(project: Path, as_json: bool, order: tuple[str, ...], **asked: Any) -> None:
    """Plan and show."""
    from celosia.pipeline import make_plan

    announce_first_time(as_json)
    with watching(as_json) as report:
        made = make_plan(project, report=report, order=order or None, **asked)
    if as_json:
        print_json(made.plan.as_dict())
        return
    show_plan(made.plan)
    say("plan.written", path=made.path, folder=project)


def show_plan(made: Any) -> None:
    """A plan's figures."""
    from celosia.dossier import metric_text

    rows = [[messages.text("plan.level", variable=name), str(level)] for name, level in made.levels.items()]
    rows.append(
        [messages.text("plan.loss", definition=metric_text(made.loss_definition)), messages.decimal(made.loss, 6)]
    )
    share = messages.percent(made.suppressed_share)
    rows.append([messages.text("plan.suppressed"), f"{messages.integer(made.suppressed_rows)} ({share})"])
    for name, count in made.masked_sensitive.items():
        rows.append([messages.text("plan.masked", variable=name), messages.integer(count)])
    rows.append([messages.text("plan.classes"), messages.integer(made.classes)])
    checked = f"{messages.integer(made.nodes_checked)} / {messages.integer(made.nodes)}"
    rows.append([messages.text("plan.nodes"), checked])
    rows.append([messages.text("plan.optimal"), messages.text(f"dictionary.answer.{'yes' if made.optimal else 'no'}")])
    header = [messages.text("cli.measure.measure"), messages.text("cli.measure.value")]
    print_table(messages.text("plan.title", method=made.method), header, rows, right=(1,))
    if "printed_recipe" in made.notes:
        printed = made.notes["printed_recipe"]
        say("plan.printed", rows=printed["violating_rows"], unique=printed["unique_rows"])
    added = made.notes.get("households", {}).get("rows_added", 0)
    if added:
        say("plan.households", rows=added)
    if made.followers:
        listed = ", ".join(f"{name} ({', '.join(leaders)})" for name, leaders in made.followers.items())
        say("plan.followers", names=listed)


def run(project: Path, as_json: bool) -> None:
    """Run and show the verdict."""
    from celosia.pipeline import run_plan

    announce_first_time(as_json)
    with watching(as_json) as report:
        ran = run_plan(project, report=report)
    if as_json:
        print_json({"candidate": str(ran.candidate), **ran.check.as_dict(), "rules": ran.rules.as_dict()})
        return
    show_check(ran.check)
    show_rules(ran.rules) if ran.rules.results else say("protocols.none")
    say("plan.candidate", path=ran.candidate)


def show_check(check: Any) -> None:
    """The verdict, rule by rule."""
    header = [messages.text(f"plan.{key}") for key in ("rule", "asked", "measured", "state")]
    rows = [
        [
            messages.text(f"plan.criterion.{verdict.rule}"),
            messages.text(f"plan.asked_words.{verdict.rule}", **verdict.asked),
            f"{messages.integer(verdict.failing_classes)} / {messages.integer(verdict.failing_rows)}",
            messages.text(f"plan.state_words.{verdict.state}"),
        ]
        for verdict in check.verdicts
    ]
    print_table(messages.text("plan.verdict_title"), header, rows, right=(2,))
    share = messages.percent(check.suppressed_rows / check.rows if check.rows else 0.0)
    say("plan.kept", classes=check.classes, k=check.k, suppressed=check.suppressed_rows, share=share)
    if check.k_persons is not None:
        say("plan.kept_persons", k=check.k_persons)
