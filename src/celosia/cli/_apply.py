"""`celosia apply` and `celosia techniques`: one treatment, or a list of them, on a single file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli._reading import reading_choices, reading_options
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import print_json, print_table, say, watching


def apply_command() -> click.Command:
    """The verb `apply`; a technique's own parameters are read as options: --columns A,B --k 3."""
    made = verb(
        "apply",
        apply,
        [
            argument("technique"),
            argument("file", type=click.Path(path_type=Path)),
            option("apply", "--out", required=True, type=click.Path(path_type=Path)),
            option("apply", "--seed", default=None),
            names_option("apply", "--quasi"),
            option("apply", "--overwrite", is_flag=True),
            *reading_options(),
            json_option(),
            click.Argument(["words"], nargs=-1, type=click.UNPROCESSED, metavar=""),
        ],
    )
    made.context_settings = {"ignore_unknown_options": True}
    return made


def techniques_command() -> click.Command:
    """The verb `techniques`."""
    return verb("techniques", show, [argument("technique", required=False), json_option()])


def apply(
    technique: str, file: Path, out: Path, seed: str | None, quasi: tuple[str, ...], overwrite: bool, as_json: bool,
    words: tuple[str, ...], **reading: Any,
) -> None:  # fmt: skip
    """Apply and show."""
    from celosia.pipeline import apply_steps, read_steps, step_from

    steps = read_steps(technique) if technique.endswith(".toml") else [step_from(technique, _pairs(words))]
    with watching(as_json) as report:
        done = apply_steps(
            file, steps, out, seed=seed, quasi=quasi, overwrite=overwrite, report=report, **reading_choices(reading)
        )
    if as_json:
        print_json(done.as_dict())
        return
    show_changes([change.as_dict() for change in done.changes])
    _show_remaining(done.remaining)
    say("cli.apply.written", path=done.path)


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
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
    """What each step did, a line each."""
    rows = []
    for change in changes:
        columns = ", ".join([*change["columns"], *(f"- {name}" for name in change["removed"])])
        kept = ", ".join(messages.text(f"techniques.preserved.{key}") for key in change["preserved"])
        touched = f"{messages.integer(change['rows_touched'])} ({messages.percent(change['share'])})"
        if change["rows_dropped"]:
            touched += f", - {messages.integer(change['rows_dropped'])}"
        losses = [value for value in change["loss"].values() if value is not None]
        lost = messages.percent(max(losses)) if losses else "–"
        rows.append([messages.text(f"techniques.name.{change['technique']}"), columns, touched, lost, kept or "–"])
    header = [messages.text(f"cli.apply.{key}") for key in ("technique", "columns", "touched", "loss", "preserved")]
    print_table(messages.text("cli.apply.title"), header, rows, right=(2, 3))


def _show_remaining(left: Any) -> None:
    if left.identifiers:
        say("cli.apply.identifiers", names=", ".join(left.identifiers))
    if left.at_risk:
        say("cli.apply.at_risk", at_risk=left.at_risk, rows=left.rows, names=", ".join(left.quasi))
    say("cli.apply.alone")


def show(technique: str | None, as_json: bool) -> None:
    """The techniques there are, or one with its parameters."""
    from celosia.pipeline import describe_techniques

    found = describe_techniques(technique)
    if as_json:
        print_json({"format": "celosia/techniques/1", "techniques": found})
        return
    if technique is None:
        rows = [
            [one["name"], messages.text(f"techniques.name.{one['name']}"), ", ".join(one["norms"])] for one in found
        ]
        header = [messages.text(f"cli.techniques.{key}") for key in ("name", "what", "norms")]
        print_table(messages.text("cli.techniques.title"), header, rows)
        return
    one = found[0]
    say(f"techniques.summary.{one['name']}")
    rows = [[key, _kind(param), param["meaning"]] for key, param in one["parameters"].items()]
    header = [messages.text(f"cli.techniques.{key}") for key in ("parameter", "kind", "meaning")]
    print_table(messages.text(f"techniques.name.{one['name']}"), header, rows)


def _kind(param: dict[str, Any]) -> str:
    words = ", ".join(param["choices"]) or messages.text(f"parameters.kind.{param['kind']}")
    if param["required"]:
        return f"{words} ({messages.text('cli.techniques.required')})"
    return words if param["default"] in (None, [], "") else f"{words} [{param['default']}]"
