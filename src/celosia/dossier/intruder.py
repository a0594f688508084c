"""The intruder's papers: one page with the verdict, and the worksheet of the motivated intruder.

Knows reports and worksheets. Ignores files. A head of office reads the verdict first; the tables are for whoever
repeats it. Source: MINSAL, Verificación 4; WP29 opinion 05/2014.
"""

from __future__ import annotations

from celosia import messages
from celosia.dossier.document import Block, Document, Fields, Heading, Items, Note, Paragraph, table_of
from celosia.dossier.intruder_words import (
    attack_name,
    control_text,
    excess_text,
    finding_sentence,
    human_sentence,
    intruder_sentences,
    note_sentences,
    outcome_text,
    rate_text,
    reason_sentence,
    untried_attacks,
)
from celosia.dossier.page import render
from celosia.model.reports.attacks import AttackReport, Estimate
from celosia.model.reports.worksheet import ExposedRecord, Worksheet

_FIELDS = ("source_used", "claim", "confidence", "minutes", "correct", "note")


def intruder_document(report: AttackReport, language: str) -> Document:
    """The verdict page: the strongest attack, its reach, what reduces it most, before and after; then the rest."""
    with messages.speaking(language):
        blocks: list[Block] = [Heading(messages.text("intruder.section.verdict"))]
        said = intruder_sentences(report)
        blocks += [Note(said[0]), *(Paragraph(sentence) for sentence in said[1:])]
        blocks += _comparison_blocks(report)
        blocks += _attacks(report)
        blocks += _findings(report)
        blocks += _untried_blocks(report)
        blocks += [
            Heading(messages.text("intruder.section.human")),
            Paragraph(human_sentence(report.human, report.notes)),
        ]
        blocks += [Heading(messages.text("intruder.section.notes")), Items(tuple(note_sentences(report)))]
        blocks += _attack_descriptions(report)
        return Document(
            messages.text("intruder.title"),
            _subtitle(report),
            language,
            tuple(blocks),
            mark=messages.text("intruder.mark"),
        )


def _subtitle(report: AttackReport) -> str:
    given: dict[str, object] = {"rows": report.rows, "seed": str(report.seed), "digest": report.target[:19] + "…"}
    if report.persons is None:
        return messages.text("intruder.subtitle", **given)
    return messages.text("intruder.subtitle_persons", persons=report.persons, **given)


def _head(*keys: str) -> list[str]:
    return [messages.text(f"intruder.head.{key}") for key in keys]


def _comparison_blocks(report: AttackReport) -> list[Block]:
    """How many each attack reaches on the original and on the file; only where something works on either."""
    if report.before is None:
        return []
    rows = []
    for estimate in report.estimates:
        earlier = report.counterpart(estimate)
        reached = _persons_reached(earlier) if isinstance(earlier, Estimate) else 0
        if reached or _persons_reached(estimate):
            rows.append(
                [attack_name(estimate), messages.integer(reached), messages.integer(_persons_reached(estimate))]
            )
    if not rows:
        return []
    title = Heading(messages.text("intruder.section.before_after"))
    return [title, table_of(_head("attack", "before", "after"), rows, (3, 1, 1), (1, 2))]


def _persons_reached(estimate: Estimate) -> int:
    return estimate.persons if estimate.works else 0


def _attacks(report: AttackReport) -> list[Block]:
    tried = [estimate for estimate in report.estimates if estimate.measured]
    if not tried:
        return []
    rows = [
        [
            attack_name(estimate),
            messages.text("intruder.of", part=estimate.successes, whole=estimate.attempts, rate=rate_text(estimate)),
            control_text(estimate),
            excess_text(estimate),
            outcome_text(estimate),
        ]
        for estimate in tried
    ]
    table = table_of(_head("attack", "rate", "control", "excess", "result"), rows, (2.2, 2, 1.5, 1.6, 2))
    return [Heading(messages.text("intruder.section.attacks")), table]


def _findings(report: AttackReport) -> list[Block]:
    if not report.findings:
        return []
    rows = [
        [
            finding_sentence(finding),
            messages.integer(finding.cells),
            messages.integer(finding.persons),
            messages.text(f"intruder.severity.{finding.severity}"),
        ]
        for finding in report.findings
    ]
    table = table_of(_head("finding", "cells", "persons", "severity"), rows, (5, 1, 1, 1), (1, 2))
    return [Heading(messages.text("intruder.section.findings")), table]


def _untried_blocks(report: AttackReport) -> list[Block]:
    rows = [[attack_name(estimate), reason_sentence(estimate)] for estimate in untried_attacks(report)]
    if not rows:
        return []
    return [Heading(messages.text("intruder.section.not_tried")), table_of(_head("attack", "reason"), rows, (2, 3))]


def _attack_descriptions(report: AttackReport) -> list[Block]:
    """What each attack that was tried consists of, once."""
    tried = dict.fromkeys(estimate.attack for estimate in report.estimates if estimate.measured)
    descriptions = [
        f"{messages.text(f'intruder.attack.{name}')}: {messages.text(f'intruder.about.{name}')}" for name in tried
    ]
    return [Heading(messages.text("intruder.section.how")), Items(tuple(descriptions))] if descriptions else []


# --- the worksheet --------------------------------------------------------------------------------


def worksheet_document(sheet: Worksheet, language: str) -> Document:
    """The worksheet to be printed: instructions, and a box for each record."""
    with messages.speaking(language):
        blocks: list[Block] = [Paragraph(text) for text in _instructions()]
        blocks.append(Note(messages.text("intruder.worksheet.do_not")))
        blocks.append(Fields(tuple((messages.text(f"intruder.worksheet.{key}"), "") for key in ("who", "when"))))
        blocks.append(
            Paragraph(messages.text("intruder.worksheet.order" if sheet.records else "intruder.worksheet.none"))
        )
        for record in sheet.records:
            blocks.append(Heading(messages.text("intruder.worksheet.fill", row=record.row), 2))
            blocks.append(
                Fields(
                    (*_published_pairs(record), *((messages.text(f"intruder.worksheet.{key}"), "") for key in _FIELDS))
                )
            )
        return Document(
            messages.text("intruder.worksheet.title"),
            _candidate_digest_text(sheet),
            language,
            tuple(blocks),
            mark=messages.text("intruder.mark"),
        )


def worksheet_form(sheet: Worksheet, language: str) -> str:
    """The same as a page whose boxes can be filled on the screen and printed."""
    with messages.speaking(language):
        return render(
            "intruder_form.html.j2",
            sheet=sheet,
            subtitle=_candidate_digest_text(sheet),
            instructions=_instructions(),
            fields=_FIELDS,
            shown=_published_pairs,
        )


def _candidate_digest_text(sheet: Worksheet) -> str:
    return messages.text("intruder.worksheet.subtitle", digest=sheet.candidate)


def _instructions() -> list[str]:
    sentences = [messages.text(f"intruder.worksheet.{key}") for key in ("intro", "how_long", "write_down")]
    return [*sentences, messages.text("intruder.statement")]


def _published_pairs(record: ExposedRecord) -> tuple[tuple[str, str], ...]:
    """What is published of a record, and how many are like it."""
    return (*record.values, (messages.text("intruder.worksheet.alike"), messages.integer(record.alike)))
