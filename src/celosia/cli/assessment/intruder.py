"""`celosia intruder`: attack a release before somebody else does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli.reading import reading_choices, reading_options
from celosia.cli.shell import PATH, argument, build_command, names_option, option
from celosia.cli.show import announce_first_time, labels, print_report, print_table, say, watching
from celosia.model.errors import RepeatedVariable
from celosia.model.reports.attacks import AttackReport, Estimate
from celosia.model.value_errors import ValueOutOfRange

_REQUEST = "external earlier control original quasi sensitive person household seed".split()
_HEAD = "intruder.head"


def command() -> click.Command:
    """The command."""
    path = messages.text("cli.metavar.path")
    params = [
        argument("target"),
        option("intruder", "--external", default=None, metavar=path),
        names_option("intruder", "--on", shown=messages.text("cli.metavar.pairs")),
        option("intruder", "--earlier", multiple=True, metavar=path),
        option("intruder", "--control", default=None, metavar=path),
        option("intruder", "--original", default=None, metavar=path),
        names_option("intruder", "--quasi"),
        names_option("intruder", "--sensitive"),
        option("intruder", "--person", default=None),
        option("intruder", "--household", default=None),
        option("intruder", "--seed", type=click.IntRange(min=0), default=0),
        option("intruder", "--explain", is_flag=True),
        option("intruder", "--worksheet", type=PATH, multiple=True),
        option("intruder", "--records", type=click.IntRange(min=1), default=20),
        option("intruder", "--html", type=PATH, default=None),
        option("intruder", "--pdf", type=PATH, default=None),
        *reading_options(),
    ]
    return build_command("intruder", run, params)


def run(
    target: str,
    on: tuple[str, ...],
    explain: bool,
    worksheet: tuple[Path, ...],
    records: int,
    html: Path | None,
    pdf: Path | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """Attack, save and show; 1 where an attack works."""
    from celosia.pipeline.intruder.attack import intrude
    from celosia.pipeline.intruder.documents import refuse_unwritable_documents, save_intruder, save_worksheet

    refuse_unwritable_documents(html, pdf, worksheet)
    choices, request = reading_choices(settings), {name: settings[name] for name in _REQUEST}
    announce_first_time(as_json)
    with watching(as_json) as watch:
        report = intrude(target, on=_parse_pairs(on), report=watch, **request, **choices)
    saved = save_intruder(report, [page for page in (html, pdf) if page is not None])
    roles = {name: settings[name] for name in ("quasi", "sensitive", "person", "household")}
    sheets = [save_worksheet(target, sheet, records=records, **roles, **choices) for sheet in worksheet]
    print_report(report, as_json, partial(show_intruder, explain=explain, saved=(*saved, *sheets)))
    return 1 if report.works else 0


def _parse_pairs(on: Sequence[str]) -> dict[str, str]:
    """PUBLISHED=OUTSIDE, or one name for both."""
    pairs = {}
    for pair in on:
        mine, equals, theirs = (part.strip() for part in pair.partition("="))
        if not mine or (equals and not theirs):
            raise ValueOutOfRange(parameter="--on", given=pair, allowed=messages.text("cli.metavar.pairs"))
        if mine in pairs:
            raise RepeatedVariable(variable=mine)
        pairs[mine] = theirs or mine
    return pairs


def show_intruder(report: AttackReport, explain: bool, saved: Sequence[Path]) -> None:
    """The verdict first, then every attack, what is visible and what could not be tried."""
    from celosia.dossier.intruder_words import human_sentence, intruder_sentences, note_sentences

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
    for path in saved:
        say("intruder.saved", path=path)


def _show_attacks(report: AttackReport) -> None:
    from celosia.dossier.intruder_words import attack_name, control_text, excess_text, outcome_text, rate_text

    rows, has_before = [], report.before is not None
    for estimate in report.estimates:
        if estimate.measured:
            row = [attack_name(estimate), messages.integer(estimate.attempts), rate_text(estimate)]
            before = [_persons_before(report, estimate)] if has_before else []
            rows.append([*row, control_text(estimate), excess_text(estimate), *before, outcome_text(estimate)])
    if rows:
        before = ["before"] if has_before else []
        header = labels(_HEAD, "attack", "tries", "rate", "control", "excess", *before, "result")
        print_table(messages.text("intruder.section.attacks"), header, rows, right=(1, 5) if has_before else (1,))


def _persons_before(report: AttackReport, estimate: Estimate) -> str:
    """How many persons the same attack finds in the original."""
    earlier = report.counterpart(estimate)
    return messages.integer(earlier.persons) if isinstance(earlier, Estimate) and earlier.works else "0"


def _show_findings(report: AttackReport) -> None:
    from celosia.dossier.intruder_words import finding_sentence

    rows = []
    for finding in report.findings:
        counts = [messages.integer(finding.cells), messages.integer(finding.persons)]
        rows.append([finding_sentence(finding), *counts, messages.text(f"intruder.severity.{finding.severity}")])
    if rows:
        header = labels(_HEAD, "finding", "cells", "persons", "severity")
        print_table(messages.text("intruder.section.findings"), header, rows, right=(1, 2))


def _show_untried(report: AttackReport) -> None:
    from celosia.dossier.intruder_words import attack_name, reason_sentence, untried_attacks

    rows = [[attack_name(attack), reason_sentence(attack)] for attack in untried_attacks(report)]
    if rows:
        print_table(messages.text("intruder.section.not_tried"), labels(_HEAD, "attack", "reason"), rows)


def _show_explained(report: AttackReport) -> None:
    from celosia.dossier.intruder_words import attack_description, attack_name, detail_text

    rows = [
        [attack_name(estimate), attack_description(estimate), detail_text(estimate)] for estimate in report.estimates
    ]
    header = [messages.text("intruder.head.attack"), "", messages.text("intruder.head.detail")]
    print_table(messages.text("intruder.section.how"), header, rows)
