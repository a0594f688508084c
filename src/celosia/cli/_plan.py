"""`celosia plan` and `celosia run`: find the release, write it, check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli._protocol import show_rules
from celosia.cli._reading import counting_options
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
            option("plan", "--partition", metavar="VARIABLE"),
            option("plan", "--time-limit", type=click.FloatRange(min=0, min_open=True)),
            *counting_options(),
            json_option(),
        ],
    )


def run_command() -> click.Command:
    """The verb `run`."""
    return verb("run", run, [argument("project", type=click.Path(path_type=Path)), *counting_options(), json_option()])


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

    rows = [[messages.text("plan.level", variable=name), _level(made, name)] for name in made.levels]
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
    if "partition" in made.notes:
        _show_parts(made)
    added = made.notes.get("households", {}).get("rows_added", 0)
    if added:
        say("plan.households", rows=added)
    failing = made.notes.get("failing_as_published", 0)
    if failing:
        say("plan.wildcard_fails", rows=failing)
    if made.followers:
        listed = ", ".join(f"{name} ({', '.join(leaders)})" for name, leaders in made.followers.items())
        say("plan.followers", names=listed)


def _level(made: Any, name: str) -> str:
    """A level and what it shows."""
    from celosia.dossier import level_words

    level, told = made.levels[name], made.notes.get("detail", {}).get(name)
    if told is None:
        return str(level)
    return messages.text("plan.level_shown", level=level, height=told["height"], shown=level_words(told))


def _show_parts(made: Any) -> None:
    """The parts of a search by number, and what was proved of each and of all."""
    noted = made.notes["partition"]
    varied = [name for name in made.policy["quasi"] if name not in made.levels]
    header = [messages.text(key) for key in ("scale.part", "scale.part_rows", "plan.suppressed")]
    rows = [
        [str(one["part"]), messages.integer(one["rows"]), messages.integer(one["suppressed_rows"]),
         *[str(one["levels"][name]) for name in varied]]
        for one in noted["parts"]
    ]  # fmt: skip
    heads = [*header, *[messages.text("plan.level", variable=name) for name in varied]]
    numbers = tuple(range(len(heads)))
    print_table(messages.text("scale.parts_title", variable=noted["variable"]), heads, rows, right=numbers)
    optimal = "partition_optimal" if all(one["optimal"] for one in noted["parts"]) else "partition_not_optimal"
    say("scale.partition_plan", variable=noted["variable"], parts=len(noted["parts"]),
        optimal=messages.text(f"scale.{optimal}"))  # fmt: skip
    if varied:
        say("scale.partition_varied", names=", ".join(varied))
    criteria = ", ".join(messages.text(f"plan.criterion.{name}") for name in noted["proved"])
    if criteria:
        say("scale.partition_proved", criteria=criteria)


def run(project: Path, as_json: bool, engine: str | None = None, memory: str | None = None) -> None:
    """Run and show the verdict."""
    from celosia.pipeline import open_project, run_plan

    announce_first_time(as_json)
    if not as_json and open_project(project).in_place is not None:
        say("scale.no_sample")
    with watching(as_json) as report:
        ran = run_plan(project, report=report, engine=engine, memory=memory)
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
    say(
        "plan.kept",
        classes=check.classes,
        k="–" if check.k is None else check.k,
        suppressed=check.suppressed_rows,
        share=share,
    )
    if check.k_persons is not None:
        say("plan.kept_persons", k=check.k_persons)
