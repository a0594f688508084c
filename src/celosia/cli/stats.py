"""`celosia stats`: from a PERSONAL database to protected STATS tables, their check and their catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.project.protocol import show_rules
from celosia.cli.shell import PATH, build_command, build_group, names_option, option, project_argument
from celosia.cli.show import labels, print_done, print_report, print_table, say, watching

if TYPE_CHECKING:
    from celosia.model.reports.stats import StatsAttack, StatsCheck, StatsRun

# Findings listed on a terminal; --json has all of them.
_MOST_SHOWN = 20


def command() -> click.Group:
    """The group."""
    project = project_argument()

    def budget(section: str) -> click.Option:
        return option(section, "--budget", type=click.FloatRange(min=0), default=None)

    source = option("stats_init", "--source", required=True)
    target = option("stats_init", "--target", default="stats.duckdb")
    incremental = option("stats_run", "--incremental", is_flag=True)
    run_params = [project, names_option("stats_run", "--table"), incremental, budget("stats_run")]
    into = option("stats_catalogue", "--into", type=PATH, default=None)
    commands = [
        build_command("init", init, [project, source, target], "stats_init"),
        build_command("run", run, run_params, "stats_run"),
        build_command("check", check, [project, budget("stats_check")], "stats_check"),
        build_command("catalogue", catalogue, [project, into], "stats_catalogue"),
        build_command("attack", attack, [project, budget("stats_attack")], "stats_attack"),
    ]
    return build_group("stats", commands)


def init(project: Path, source: str, target: str, as_json: bool) -> None:
    """Propose a stats.toml."""
    from celosia.stats.init import init_stats

    path = init_stats(project, source, target)
    if as_json:
        print_done("stats init", path=str(path))
    else:
        say("cli.stats_init.done", path=path, folder=project)


def run(project: Path, table: tuple[str, ...], incremental: bool, budget: float | None, as_json: bool) -> None:
    """Count, protect and write the tables."""
    from celosia.stats.run import run_stats

    with watching(as_json) as report:
        result = run_stats(project, full=not incremental, tables=table or None, budget_seconds=budget, report=report)
    print_report(result, as_json, _show_run)


def _show_run(result: StatsRun) -> None:
    for name, count in result.rows_read.items():
        say("cli.stats_run.read", rows=count, table=name)
    columns = ("k", "rows", "published", "primary", "secondary")
    _print_counts("cli.stats_run.title", columns, result.written)
    for table in result.tables:
        if table.state != "written":
            say(f"stats.state.{table.state}", table=table.table)
    facts = result.facts()
    say(
        "cli.stats_run.done",
        rows=facts["rows_written"],
        tables=facts["tables"],
        published=facts["cells_published"],
        primary=facts["suppressed_primary"],
        secondary=facts["suppressed_secondary"],
    )


def _print_counts(title: str, columns: Sequence[str], tables: Sequence[Any]) -> None:
    """A line of counts for each table."""
    rows = [[table.table, *(messages.integer(getattr(table, name)) for name in columns)] for table in tables]
    header = labels("stats.header", "table", *columns)
    print_table(messages.text(title), header, rows, right=range(1, len(header)))


def check(project: Path, budget: float | None, as_json: bool) -> int:
    """Check STATS by itself; 1 where a rule fails."""
    from celosia.stats.check import check_stats

    with watching(as_json) as report:
        result = check_stats(project, budget_seconds=budget, report=report)
    print_report(result, as_json, _show_check)
    return 0 if result.holds else 1


def _show_check(result: StatsCheck) -> None:
    from celosia.dossier.stats import failing_cell_lines

    columns = ("k", "published", "hidden", "below", "recoverable", "disclosed", "unproven")
    _print_counts("cli.stats_check.title", columns, result.tables)
    for table in result.tables:
        for measure in table.unmeasured:
            click.echo("  " + _unmeasured_text(table.table, measure))
    for line in failing_cell_lines(result.tables, _MOST_SHOWN):
        click.echo("  " + line)
    for finding in result.findings:
        kind = f"stats.finding.{finding['kind']}"
        click.echo("  " + messages.text(kind, table=finding["table"], column=finding["column"]))
    show_rules(result.rules, messages.text("cli.stats_check.rules"))
    failing = len(result.rules.failing)
    if failing:
        say("cli.stats_check.fails", rules=failing)
    else:
        say("cli.stats_check.holds")


def _unmeasured_text(table: str, measure: str) -> str:
    """What STATS alone cannot show of a table, in words."""
    if measure == "*":
        return messages.text("stats.unmeasured.persons", table=table)
    return messages.text("stats.unmeasured.amount", table=table, measure=measure)


def catalogue(project: Path, into: Path | None, as_json: bool) -> None:
    """Write the catalogue."""
    from celosia.stats.catalogue import write_catalogue

    written, folder = write_catalogue(project, into)
    print_report(
        written, as_json, lambda report: say("cli.stats_catalogue.done", tables=len(report.entries), path=folder)
    )


def attack(project: Path, budget: float | None, as_json: bool) -> int:
    """Attack STATS as an outsider would; 1 where something is learnt."""
    from celosia.stats.attack import attack_stats

    with watching(as_json) as report:
        result = attack_stats(project, budget_seconds=budget, report=report)
    print_report(result, as_json, _show_attack)
    return 0 if result.holds else 1


def _show_attack(result: StatsAttack) -> None:
    from celosia.dossier.stats import cell_text

    say(
        "cli.stats_attack.summary",
        releases=len(result.releases),
        cells=result.cells,
        hidden=result.hidden,
        compared=result.compared,
        differences=result.differences,
    )
    if result.holds:
        say("cli.stats_attack.nothing")
        return
    rows = [
        [
            finding.table,
            cell_text(finding.cell),
            messages.text(f"stats.attack.{finding.kind}"),
            ", ".join(finding.releases),
        ]
        for finding in result.findings[:_MOST_SHOWN]
    ]
    header = labels("stats.header", "table", "cell", "finding", "releases")
    print_table(messages.text("cli.stats_attack.title"), header, rows)
    say("cli.stats_attack.learns", cells=len(result.findings))
