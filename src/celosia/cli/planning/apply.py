"""`celosia apply` and `celosia techniques`: one treatment, or a list of them, on a single file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celosia import messages
from celosia.cli.reading import reading_choices, reading_options
from celosia.cli.shell import PATH, argument, build_command, names_option, option
from celosia.cli.show import labels, print_json, print_report, print_table, say, watching

if TYPE_CHECKING:
    from celosia.pipeline.assessment.apply_techniques import ApplyResult


def apply_command() -> click.Command:
    """The command `apply`; a technique's own parameters are read as options: --columns A,B --k 3."""
    params = [
        argument("technique"),
        argument("file", type=PATH),
        option("apply", "--out", required=True, type=PATH),
        option("apply", "--seed", default=None),
        names_option("apply", "--quasi"),
        option("apply", "--overwrite", is_flag=True),
        *reading_options(),
        click.Argument(["words"], nargs=-1, type=click.UNPROCESSED, metavar=""),
    ]
    command = build_command("apply", apply, params)
    command.context_settings = {"ignore_unknown_options": True}
    return command


def techniques_command() -> click.Command:
    """The command `techniques`."""
    return build_command("techniques", show, [argument("technique", required=False)])


def apply(technique: str, file: Path, out: Path, as_json: bool, words: tuple[str, ...], **settings: Any) -> None:
    """Apply and show."""
    from celosia.pipeline.assessment.apply_techniques import apply_steps
    from celosia.pipeline.planning.step_syntax import read_steps, step_from

    steps = read_steps(technique) if technique.endswith(".toml") else [step_from(technique, _parse_parameters(words))]
    choices = reading_choices(settings) | {name: settings[name] for name in ("seed", "quasi", "overwrite")}
    with watching(as_json) as watch:
        result = apply_steps(file, steps, out, report=watch, **choices)
    print_report(result, as_json, _show_result)


def _show_result(result: ApplyResult) -> None:
    show_changes([change.as_dict() for change in result.changes])
    remaining = result.remaining
    if remaining.identifiers:
        say("cli.apply.identifiers", names=", ".join(remaining.identifiers))
    if remaining.at_risk:
        say("cli.apply.at_risk", at_risk=remaining.at_risk, rows=remaining.rows, names=", ".join(remaining.quasi))
    say("cli.apply.alone")
    say("cli.apply.written", path=result.path)


def _parse_parameters(words: Sequence[str]) -> list[tuple[str, str]]:
    """`--name value` and `--name=value`; a name alone is a flag that is on."""
    pairs: list[tuple[str, str | None]] = []
    for word in words:
        if word.startswith("--"):
            name, mark, value = word.removeprefix("--").partition("=")
            pairs.append((name, value if mark else None))
        elif pairs and pairs[-1][1] is None:
            pairs[-1] = (pairs[-1][0], word)
        else:
            raise click.UsageError("", click.get_current_context())
    return [(name, "true" if value is None else value) for name, value in pairs]


def show_changes(changes: Sequence[dict[str, Any]]) -> None:
    """What each step did, one line per step."""
    rows = []
    for change in changes:
        columns = ", ".join([*change["columns"], *(f"- {name}" for name in change["removed"])])
        preserved = ", ".join(messages.text(f"techniques.preserved.{key}") for key in change["preserved"])
        touched = f"{messages.integer(change['rows_touched'])} ({messages.percent(change['share'])})"
        if change["rows_dropped"]:
            touched += f", - {messages.integer(change['rows_dropped'])}"
        losses = [value for value in change["loss"].values() if value is not None]
        loss = messages.percent(max(losses)) if losses else "–"
        rows.append([messages.text(f"techniques.name.{change['technique']}"), columns, touched, loss, preserved or "–"])
    header = labels("cli.apply", "technique", "columns", "touched", "loss", "preserved")
    print_table(messages.text("cli.apply.title"), header, rows, right=(2, 3))


def show(technique: str | None, as_json: bool) -> None:
    """The techniques there are, or one with its parameters."""
    from celosia.pipeline.assessment.apply_techniques import describe_techniques

    techniques = describe_techniques(technique)
    if as_json:
        print_json({"format": "celosia/techniques/1", "techniques": techniques})
        return
    if technique is None:
        norms_by_name = [(each["name"], each["norms"]) for each in techniques]
        rows = [[name, messages.text(f"techniques.name.{name}"), ", ".join(norms)] for name, norms in norms_by_name]
        header = labels("cli.techniques", "name", "what", "norms")
        print_table(messages.text("cli.techniques.title"), header, rows)
        return
    [described] = techniques
    say(f"techniques.summary.{described['name']}")
    rows = [[key, _kind(param), param["meaning"]] for key, param in described["parameters"].items()]
    header = labels("cli.techniques", "parameter", "kind", "meaning")
    print_table(messages.text(f"techniques.name.{described['name']}"), header, rows)


def _kind(param: dict[str, Any]) -> str:
    text = ", ".join(param["choices"]) or messages.text(f"parameters.kind.{param['kind']}")
    if param["required"]:
        return f"{text} ({messages.text('cli.techniques.required')})"
    return text if param["default"] in (None, [], "") else f"{text} [{param['default']}]"
