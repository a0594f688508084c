"""`celosia stats`: from a PERSONAL database to protected STATS tables, and what may be said of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli._protocol import show_rules
from celosia.cli._shell import argument, group, json_option, names_option, option, verb
from celosia.cli._show import print_done, print_json, print_table, say, watching

if TYPE_CHECKING:
    from celosia.model.stats_reports import StatsAttack, StatsCheck, StatsRun

_MOST_SHOWN = 20  # findings on a terminal; --json has all of them


def command() -> click.Group:
    """The group."""
    project = argument("project", type=click.Path(path_type=Path))
    budget = click.FloatRange(min=0)
    return group(
        "stats",
        [
            verb("init", init, [
                project, option("stats_init", "--source", required=True),
                option("stats_init", "--target", default="stats.duckdb"), json_option(),
            ], key="stats_init"),
            verb("run", run, [
                project, names_option("stats_run", "--table"),
                option("stats_run", "--incremental", is_flag=True),
                option("stats_run", "--budget", type=budget, default=None), json_option(),
            ], key="stats_run"),
            verb("check", check, [project, option("stats_check", "--budget", type=budget, default=None), json_option()],
                 key="stats_check"),
            verb("catalogue", catalogue, [
                project, option("stats_catalogue", "--into", type=click.Path(path_type=Path), default=None),
                json_option(),
            ], key="stats_catalogue"),
            verb("attack", attack, [
                project, option("stats_attack", "--budget", type=budget, default=None), json_option(),
            ], key="stats_attack"),
        ],
    )  # fmt: skip


def init(project: Path, source: str, target: str, as_json: bool) -> None:
    """Propose a stats.toml."""
    from celosia.stats import init_stats

    path = init_stats(project, source, target)
    if as_json:
        print_done("stats init", path=str(path))
        return
    say("cli.stats_init.done", path=path, folder=project)


def run(project: Path, table: tuple[str, ...], incremental: bool, budget: float | None, as_json: bool) -> None:
    """Count, protect, write."""
    from celosia.stats import run_stats

    with watching(as_json) as report:
        done = run_stats(project, full=not incremental, tables=table or None, budget_seconds=budget, report=report)
    if as_json:
        print_json(done.as_dict())
        return
    _show_run(done)


def _show_run(done: StatsRun) -> None:
    for name, read in done.rows_read.items():
        say("cli.stats_run.read", rows=read, table=name)
    rows = [
        [one.table, *(messages.integer(n) for n in (one.k, one.rows, one.published, one.primary, one.secondary))]
        for one in done.written
    ]
    header = _header("table", "k", "rows", "published", "primary", "secondary")
    print_table(messages.text("cli.stats_run.title"), header, rows, right=range(1, 6))
    for one in done.tables:
        if one.state != "written":
            say(f"stats.state.{one.state}", table=one.table)
    told = done.facts()
    say(
        "cli.stats_run.done", rows=told["rows_written"], tables=told["tables"], published=told["cells_published"],
        primary=told["suppressed_primary"], secondary=told["suppressed_secondary"],
    )  # fmt: skip


def check(project: Path, budget: float | None, as_json: bool) -> int:
    """Judge STATS by itself."""
    from celosia.stats import check_stats

    with watching(as_json) as report:
        found = check_stats(project, budget_seconds=budget, report=report)
    if as_json:
        print_json(found.as_dict())
    else:
        _show_check(found)
    return 0 if found.holds else 1


def _show_check(found: StatsCheck) -> None:
    columns = ("k", "published", "hidden", "below", "recoverable", "disclosed", "unproven")
    rows = [[one.table, *(messages.integer(getattr(one, name)) for name in columns)] for one in found.tables]
    print_table(messages.text("cli.stats_check.title"), _header("table", *columns), rows, right=range(1, 8))
    for table in found.tables:
        for measure in table.unmeasured:
            click.echo("  " + unmeasured_text(table.table, measure))
    for one in found.findings:
        click.echo("  " + finding_text(one))
    show_rules(found.rules, messages.text("cli.stats_check.rules"))
    failing = len(found.rules.failing)
    if failing:
        say("cli.stats_check.fails", rules=failing)
    else:
        say("cli.stats_check.holds")


def finding_text(finding: Mapping[str, str]) -> str:
    """What a scan found, in words."""
    return messages.text(f"stats.finding.{finding['kind']}", table=finding["table"], column=finding["column"])


def unmeasured_text(table: str, measure: str) -> str:
    """What STATS alone cannot tell of a table, in words."""
    if measure == "*":
        return messages.text("stats.unmeasured.persons", table=table)
    return messages.text("stats.unmeasured.amount", table=table, measure=measure)


def catalogue(project: Path, into: Path | None, as_json: bool) -> None:
    """Write the catalogue."""
    from celosia.stats import write_catalogue

    made, folder = write_catalogue(project, into)
    if as_json:
        print_json(made.as_dict())
        return
    say("cli.stats_catalogue.done", tables=len(made.entries), path=folder)


def attack(project: Path, budget: float | None, as_json: bool) -> int:
    """Play an outsider."""
    from celosia.stats import attack_stats

    with watching(as_json) as report:
        found = attack_stats(project, budget_seconds=budget, report=report)
    if as_json:
        print_json(found.as_dict())
    else:
        _show_attack(found)
    return 0 if found.holds else 1


def _show_attack(found: StatsAttack) -> None:
    say(
        "cli.stats_attack.summary", releases=len(found.releases), cells=found.cells, hidden=found.hidden,
        compared=found.compared, differences=found.differences,
    )  # fmt: skip
    if found.holds:
        say("cli.stats_attack.nothing")
        return
    rows = [
        [one.table, _cell(one.cell), messages.text(f"stats.attack.{one.kind}"), ", ".join(one.releases)]
        for one in found.findings[:_MOST_SHOWN]
    ]
    print_table(messages.text("cli.stats_attack.title"), _header("table", "cell", "finding", "releases"), rows)
    say("cli.stats_attack.learns", cells=len(found.findings))


def _cell(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {label}" for name, label in cell.items()) or messages.text("stats.catalogue.total")


def _header(*names: str) -> list[str]:
    return [messages.text(f"stats.header.{name}") for name in names]
