"""`celosia intruder`: attack a release before somebody else does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli._reading import reading_choices, reading_options
from celosia.cli._shell import argument, json_option, names_option, option, verb
from celosia.cli._show import announce_first_time, print_json, print_table, say, watching
from celosia.errors import RepeatedVariable, ValueOutOfRange
from celosia.model.attacks import AttackReport, Estimate


def command() -> click.Command:
    """The verb."""
    path = click.Path(path_type=Path)
    return verb(
        "intruder",
        run,
        [
            argument("target"),
            option("intruder", "--external", default=None, metavar=messages.text("cli.metavar.path")),
            names_option("intruder", "--on", shown=messages.text("cli.metavar.pairs")),
            option("intruder", "--earlier", multiple=True, metavar=messages.text("cli.metavar.path")),
            option("intruder", "--control", default=None, metavar=messages.text("cli.metavar.path")),
            option("intruder", "--original", default=None, metavar=messages.text("cli.metavar.path")),
            names_option("intruder", "--quasi"),
            names_option("intruder", "--sensitive"),
            option("intruder", "--person", default=None),
            option("intruder", "--household", default=None),
            option("intruder", "--seed", type=click.IntRange(min=0), default=0),
            option("intruder", "--explain", is_flag=True),
            option("intruder", "--worksheet", type=path, multiple=True),
            option("intruder", "--records", type=click.IntRange(min=1), default=20),
            option("intruder", "--html", type=path, default=None),
            option("intruder", "--pdf", type=path, default=None),
            *reading_options(),
            json_option(),
        ],
    )


_ASKED = ("external", "earlier", "control", "original", "quasi", "sensitive", "person", "household", "seed")


def run(
    target: str,
    on: tuple[str, ...],
    explain: bool,
    worksheet: tuple[Path, ...],
    records: int,
    html: Path | None,
    pdf: Path | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Attack, save and show; 1 where an attack works."""
    from celosia.pipeline import check_papers, intrude, save_intruder, save_worksheet

    check_papers(html, pdf, worksheet)
    choices, wanted = reading_choices(asked), {name: asked[name] for name in _ASKED}
    announce_first_time(as_json)
    with watching(as_json) as watch:
        report = intrude(target, on=_pairs(on), report=watch, **wanted, **choices)
    saved = save_intruder(report, [page for page in (html, pdf) if page is not None])
    roles = {name: asked[name] for name in ("quasi", "sensitive", "person", "household")}
    sheets = [save_worksheet(target, sheet, records=records, **roles, **choices) for sheet in worksheet]
    if as_json:
        print_json(report.as_dict())
    else:
        show_intruder(report, explain)
        for path in (*saved, *sheets):
            say("intruder.saved", path=path)
    return 1 if report.works else 0


def _pairs(on: Sequence[str]) -> dict[str, str]:
    """PUBLISHED=OUTSIDE, or one name for both."""
    pairs = {}
    for words in on:
        mine, equals, theirs = (part.strip() for part in words.partition("="))
        if not mine or (equals and not theirs):
            raise ValueOutOfRange(parameter="--on", given=words, allowed=messages.text("cli.metavar.pairs"))
        if mine in pairs:
            raise RepeatedVariable(variable=mine)
        pairs[mine] = theirs or mine
    return pairs


def show_intruder(report: AttackReport, explain: bool = False) -> None:
    """The verdict first, then every attack, what is in sight and what could not be tried."""
    from celosia.dossier import human_sentence, intruder_sentences, note_sentences

    for sentence in intruder_sentences(report):
        click.echo(sentence)
    _show_attacks(report)
    _show_findings(report)
    _show_untried(report)
    if explain:
        _show_explained(report)
    if report.before is not None or report.human is not None:
        click.echo(human_sentence(report.human, report.notes))
    for note in note_sentences(report):
        click.echo(note)


def _show_attacks(report: AttackReport) -> None:
    from celosia.dossier import attack_name, control_text, excess_text, outcome_text, rate_text

    rows, compared = [], report.before is not None
    for one in [one for one in report.estimates if one.measured]:
        row = [attack_name(one), messages.integer(one.attempts), rate_text(one), control_text(one), excess_text(one)]
        rows.append([*row, *([_before(report, one)] if compared else []), outcome_text(one)])
    if rows:
        keys = ("attack", "tries", "rate", "control", "excess", *(("before",) if compared else ()), "result")
        header = [messages.text(f"intruder.head.{key}") for key in keys]
        print_table(messages.text("intruder.section.attacks"), header, rows, right=(1, 5) if compared else (1,))


def _before(report: AttackReport, one: Estimate) -> str:
    earlier = report.counterpart(one)
    return messages.integer(earlier.persons) if isinstance(earlier, Estimate) and earlier.works else "0"


def _show_findings(report: AttackReport) -> None:
    from celosia.dossier import finding_sentence

    rows = [
        [finding_sentence(one), messages.integer(one.cells), messages.integer(one.persons),
         messages.text(f"intruder.severity.{one.severity}")]
        for one in report.findings
    ]  # fmt: skip
    if rows:
        header = [messages.text(f"intruder.head.{key}") for key in ("finding", "cells", "persons", "severity")]
        print_table(messages.text("intruder.section.findings"), header, rows, right=(1, 2))


def _show_untried(report: AttackReport) -> None:
    from celosia.dossier import attack_name, reason_sentence, untried_attacks

    rows = [[attack_name(one), reason_sentence(one)] for one in untried_attacks(report)]
    if rows:
        header = [messages.text("intruder.head.attack"), messages.text("intruder.head.reason")]
        print_table(messages.text("intruder.section.not_tried"), header, rows)


def _show_explained(report: AttackReport) -> None:
    from celosia.dossier import about, attack_name, detail_text

    rows = [[attack_name(one), about(one), detail_text(one)] for one in report.estimates]
    header = [messages.text("intruder.head.attack"), "", messages.text("intruder.head.detail")]
    print_table(messages.text("intruder.section.how"), header, rows)
