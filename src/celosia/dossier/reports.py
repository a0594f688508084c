"""The public and the internal report, kept apart by design: two builders that take two kinds of facts.

`PublicFacts` has no place for a journal, a rule's figures, a seed, a digest or a picture of classes: what must not be
said cannot be handed over. `InternalFacts` holds all that the house keeps, still without a single cell.
Sources: MINSAL 5; ATENEA 4.2.5 (residual risk, never none); MEL I (title, period, contact, licence).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia import messages
from celosia.dossier.document import Block, Document, Fields, Heading, Items, Note, Paragraph, Picture, table_of
from celosia.dossier.minsal import Attacks, Attempts, Override, intruder_rows, override_sentence
from celosia.dossier.technique import Done, change_sentences, done_sentences, quoted_names, technique_name
from celosia.drawing.picture import Drawing
from celosia.drawing.shapes import label, rect
from celosia.model.people import Approval
from celosia.model.reports.verification import Publication
from celosia.model.verdict import CheckReport

_NONE: Mapping[str, Any] = MappingProxyType({})
_WIDTH, _BAR, _HEIGHT, _LINE = 760, 720, 160, 22


@dataclass(frozen=True, slots=True)
class PublicFacts:
    """All that the public report may speak of."""

    title: str
    done: Done
    period_from: str = ""
    period_until: str = ""
    unit: str = ""
    department: str = ""
    purpose: str = ""
    contact: str = ""
    licence: str = ""
    protocols: tuple[str, ...] = ()  # titles
    overrides: tuple[Override, ...] = ()
    attempts: int | None = None  # of the intruder test, where none was right
    outsider: bool = False  # whether whoever did it stated their independence and a signature answers for it
    update_period: str = ""
    next_review: str = ""  # as the request declares it; the publication's own comes after the signatures


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule and its answer, in words."""

    sentence: str
    protocol: str
    section: str
    asked: str
    measured: str
    state: str


@dataclass(frozen=True, slots=True)
class JournalLine:
    """Who did what, when and why."""

    when: str
    who: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class InternalFacts:
    """All that the house keeps of a release."""

    title: str
    project: str
    done: Done | None = None
    check: CheckReport | None = None
    protocols: tuple[str, ...] = ()
    source: str = ""
    digests: Mapping[str, str] = field(default_factory=lambda: _NONE)  # source, plan, candidate
    version: str = ""
    seed: str = ""
    requester: str = ""
    use: str = ""
    authorisation: str = ""
    withheld: tuple[str, ...] = ()
    changes: tuple[Mapping[str, Any], ...] = ()
    rules: tuple[RuleLine, ...] = ()
    overrides: tuple[Override, ...] = ()
    approvals: tuple[Approval, ...] = ()
    attempts: Attempts | None = None
    attacks: Attacks = field(default_factory=Attacks)
    journal: tuple[JournalLine, ...] = ()
    pictures: tuple[Picture, ...] = ()


# --- public --------------------------------------------------------------------------------------


def public_report(facts: PublicFacts, language: str = "es") -> Document:
    """What anybody may read beside the data."""
    with messages.speaking(language):
        return Document(
            title=messages.text("documents.public.title"),
            subtitle=facts.title,
            language=messages.language(),
            blocks=(
                *_facts_blocks(facts),
                *_procedure_blocks(facts),
                *_inference_blocks(facts.done),
                *_risk(facts),
                *_review(facts),
            ),
        )


def _facts_blocks(facts: PublicFacts) -> tuple[Block, ...]:
    rows = [
        ("name", facts.title),
        ("period", _period(facts)),
        ("unit", facts.unit),
        ("department", facts.department),
        ("purpose", facts.purpose),
        ("contact", facts.contact),
        ("licence", facts.licence),
        ("protocols", ", ".join(facts.protocols)),
        ("records", messages.integer(facts.done.rows)),
        ("variables", ", ".join(facts.done.published)),
        ("update_period", facts.update_period),
        ("next_review", facts.next_review),
    ]
    # What nobody answered is left out: nobody fills in a public report by hand.
    return _heading("public.about"), Fields(tuple((_word(f"public.{key}"), value) for key, value in rows if value))


def _period(facts: PublicFacts) -> str:
    if not facts.period_from or not facts.period_until:
        return facts.period_from or facts.period_until
    return messages.text("documents.public.period_range", since=facts.period_from, until=facts.period_until)


def _procedure_blocks(facts: PublicFacts) -> tuple[Block, ...]:
    blocks: list[Block] = [_heading("public.done"), Items(done_sentences(facts.done))]
    blocks.append(Paragraph(_word("done.explained")))
    if facts.attempts:
        key = "intruder" if facts.outsider else "intruder_unnamed"
        blocks.append(Paragraph(messages.text(f"documents.public.{key}", attempts=facts.attempts)))
    if facts.overrides:
        blocks.append(_heading("public.overrides", 2))
        blocks.append(Items(tuple(override_sentence(override) for override in facts.overrides)))
    return tuple(blocks)


def _inference_blocks(done: Done) -> tuple[Block, ...]:
    sentences = [*group_sentences(done), *value_sentences(done), _word("public.inferred_others")]
    return _heading("public.inferred"), Items(tuple(sentences))


def group_sentences(done: Done) -> Iterator[str]:
    """What the quasi-identifiers tell of a person: nothing, one group of several, or the very record."""
    quasi = quoted_names(done.quasi)
    if not done.quasi:
        yield _word("public.inferred_no_quasi")
    elif done.smallest is None:
        yield messages.text("documents.public.inferred_masked", quasi=quasi)
    elif done.smallest == 1:
        yield messages.text("documents.public.inferred_single", quasi=quasi, **_single_fields(done))
    else:
        unit = messages.text(f"explain.unit.{done.unit}")
        yield messages.text("documents.public.inferred_group", quasi=quasi, k=done.smallest, unit=unit)
    if done.smallest is not None and done.suppression.masked:
        yield messages.text("documents.public.inferred_set_apart", rows=done.suppression.masked)


def _single_fields(done: Done) -> dict[str, str]:
    """How many of the classes that the file shows are of one person or record, as fields of a sentence."""
    return {
        "one": messages.text(f"documents.public.one.{done.unit}"),
        "single": messages.integer(done.single),
        "classes": messages.integer(done.classes),
    }


def value_sentences(done: Done, measured: Mapping[str, int | None] = _NONE) -> Iterator[str]:
    """What the group shows of the sensitive variables, each by the l checked on the file, or measured on it.

    Where every group is of one, nobody shares anything, and that everything can be read has been said.
    """
    if done.smallest == 1 and done.single == done.classes:
        return
    if not done.sensitive:
        yield _word("public.inferred_alone")
    for variable in done.sensitive:
        least = measured.get(variable) or done.distinct.get(variable, 1)
        single = "inferred_one" if measured.get(variable) == 1 else "inferred_sensitive"
        key = "inferred_several" if least > 1 else single
        yield messages.text(f"documents.public.{key}", variable=variable, l=least)


def _risk(facts: PublicFacts) -> tuple[Block, ...]:
    sentences = tuple(Paragraph(sentence) for sentence in risk_sentences(facts.done))
    return _heading("public.risk"), *sentences, Note(_word("public.risk_always"))


def risk_sentences(done: Done) -> Iterator[str]:
    """How often whoever knows the quasi-identifiers of somebody would be right, at worst."""
    quasi, k = quoted_names(done.quasi), done.smallest
    if not done.quasi:
        yield _word("public.risk_no_quasi")
        return
    if k is None:
        yield messages.text("documents.public.risk_masked", quasi=quasi)
        return
    if k == 1:
        yield messages.text("documents.public.risk_single", quasi=quasi, **_single_fields(done))
    else:
        fields = {"unit": messages.text(f"explain.unit.{done.unit}"), "share": messages.percent(1 / k)}
        pick = messages.text(f"documents.public.pick.{done.unit}")
        yield messages.text("documents.public.risk_measured", quasi=quasi, k=k, pick=pick, **fields)
        # Records of one person may fill a group of k records, so k says nothing of how many people are in it; and of
        # k persons one may have most of the records.
        yield _word("public.risk_records" if done.unit == "rows" else "public.risk_repeated")


def _review(facts: PublicFacts) -> tuple[Block, ...]:
    due = messages.text("documents.public.review_due", when=facts.next_review) if facts.next_review else None
    blocks: list[Block] = [_heading("public.review"), Paragraph(due or _word("public.review_none"))]
    if facts.contact:
        blocks.append(Paragraph(messages.text("documents.public.ask", contact=facts.contact)))
    return tuple(blocks)


def publication_blocks(entry: Publication) -> tuple[Block, ...]:
    """What is added once a release is published: its dates, which nobody knew when the report was signed."""
    rows = [("publication_date", entry.publication_date), ("update_period", entry.update_period)]
    rows.append(("next_review", entry.next_review))
    fields = Fields(tuple((_word(f"public.{key}"), value) for key, value in rows))
    return _heading("public.published"), Paragraph(_word("public.published_note")), fields


# --- internal ------------------------------------------------------------------------------------


def internal_report(facts: InternalFacts, language: str = "es") -> Document:
    """What the house keeps: every rule, step, decision and signature."""
    with messages.speaking(language):
        parts = (_facts, _rules, _verdict, _procedure, _changes, _overrides, _intruder, _approvals, _journal, _pictures)
        return Document(
            title=messages.text("documents.internal.title"),
            subtitle=facts.title,
            language=messages.language(),
            blocks=tuple(block for part in parts for block in part(facts)),
            mark=messages.text("documents.internal_mark"),
        )


def _facts(facts: InternalFacts) -> Iterator[Block]:
    rows = [
        ("project", facts.project),
        ("protocols", ", ".join(facts.protocols)),
        ("source", facts.source),
        ("requester", facts.requester),
        ("use", facts.use),
        ("authorisation", facts.authorisation),
        *((f"{key}_digest", digest) for key, digest in facts.digests.items()),
        ("seed", _word(f"internal.seeds.{facts.seed}") if facts.seed else ""),
        ("version", facts.version),
    ]
    yield _heading("internal.facts")
    yield Fields(tuple((_word(f"internal.{key}"), value) for key, value in rows))


def _rules(facts: InternalFacts) -> Iterator[Block]:
    yield _heading("internal.rules")
    lines = [
        (f"{rule.protocol}: {rule.sentence}", rule.section, rule.asked, rule.measured, rule.state)
        for rule in facts.rules
    ]
    yield from _table(("rule", "section", "asked", "measured", "holds"), lines, (3.2, 1.8, 1.7, 2.2, 1.1), "no_rules")


def _verdict(facts: InternalFacts) -> Iterator[Block]:
    yield _heading("internal.verdict")
    lines = [
        (
            messages.text(f"plan.criterion.{verdict.rule}")
            if messages.has(f"plan.criterion.{verdict.rule}")
            else verdict.rule,
            messages.integer(verdict.failing_classes),
            messages.integer(verdict.failing_rows),
            messages.text(f"plan.state_words.{verdict.state.value}"),
        )
        for verdict in (facts.check.verdicts if facts.check else ())
    ]
    columns = ("criterion", "failing_classes", "failing_rows", "holds")
    yield from _table(columns, lines, (3.0, 1.3, 1.3, 1.2), "no_verdict", (1, 2))


def _procedure(facts: InternalFacts) -> Iterator[Block]:
    yield _heading("internal.done")
    sentences = list(change_sentences(facts.changes))
    if facts.withheld:
        names = quoted_names(facts.withheld)
        sentences.append(messages.text("documents.done.withheld", count=len(facts.withheld), names=names))
    sentences += done_sentences(facts.done)[_named_steps(facts.done) :] if facts.done else []
    yield Items(tuple(sentences)) if sentences else Paragraph(_word("none"))


def _named_steps(done: Done) -> int:
    """Sentences that only name what is told here with its figures."""
    return len(done.steps) + bool(done.withheld)


def _changes(facts: InternalFacts) -> Iterator[Block]:
    yield _heading("internal.changes")
    lines = [_change_line(number, change) for number, change in enumerate(facts.changes, start=1)]
    columns = ("step", "technique", "columns", "rows_touched", "share", "cells_touched", "rows_dropped")
    yield from _table(columns, lines, (0.7, 2.2, 2.4, 1.2, 1.2, 1.2, 1.3), "no_changes", (3, 4, 5, 6))


def _change_line(number: int, change: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        str(number),
        technique_name(str(change["technique"])),
        ", ".join(change["columns"] or change["removed"]),
        messages.integer(int(change["rows_touched"])),
        messages.percent(float(change["share"])),
        messages.integer(sum(change["cells_touched"].values())),
        messages.integer(int(change["rows_dropped"])),
    )


def _overrides(facts: InternalFacts) -> Iterator[Block]:
    yield _heading("internal.overrides")
    sentences = tuple(override_sentence(override) for override in facts.overrides)
    yield Items(sentences) if sentences else Paragraph(_word("internal.no_overrides"))


def _intruder(facts: InternalFacts) -> Iterator[Block]:
    yield _heading("internal.intruder")
    if facts.attempts or facts.attacks.sentences:
        yield Fields(intruder_rows(facts.attempts, facts.attacks))
    else:
        yield Paragraph(_word("internal.no_intruder"))


def _approvals(facts: InternalFacts) -> Iterator[Block]:
    yield _heading("internal.approvals")
    lines = [
        (
            _word(f"subject.{approval.what}"),
            approval.name,
            messages.text(f"protocols.role.{approval.role}"),
            _moment(approval.when),
            approval.note,
        )
        for approval in facts.approvals
    ]
    yield from _table(("what", "who", "role", "when", "note"), lines, (1.2, 1.6, 1.6, 1.8, 2.2), "no_approvals")


def _journal(facts: InternalFacts) -> Iterator[Block]:
    yield _heading("internal.journal")
    lines = [(_moment(entry.when), entry.who, _entry(entry.what), entry.why) for entry in facts.journal]
    yield from _table(("when", "who", "what", "why"), lines, (1.8, 1.6, 2.2, 2.6), "")


def _moment(when: str) -> str:
    """Day, hour and minute of a moment in ISO form."""
    return when[:16].replace("T", " ")


def _entry(what: str) -> str:
    key = f"documents.journal.{what}"
    return messages.text(key) if messages.has(key) else what


def _pictures(facts: InternalFacts) -> Iterator[Block]:
    drawn = (*([records_picture(facts.done)] if facts.done and facts.done.rows else []), *facts.pictures)
    if drawn:
        yield _heading("internal.pictures")
        yield from drawn


def records_picture(done: Done) -> Picture:
    """How the records are published, as one bar; beside it the figures in words."""
    masked_rows = done.suppression.masked
    masked = min(max(done.masked.values(), default=0), done.rows - masked_rows)
    parts = (
        ("after", "whole", done.rows - masked_rows - masked),
        ("none", "masked", masked),
        ("before", "suppressed", masked_rows),
    )
    shapes, x = [label(20, 26, _word("chart.records"), style="ch-strong")], 20.0
    for number, (style, key, rows) in enumerate(parts):
        width = _BAR * rows / done.rows
        words = f"{_word(f'chart.{key}')}: {messages.integer(rows)} ({messages.part(rows / done.rows)})"
        shapes += [rect(f"ch-{style}", x, 44, width, 34), rect("ch-edge", x, 44, width, 34)]
        at = 92 + _LINE * number
        shapes += [rect(f"ch-{style}", 20, at, 12, 12), rect("ch-edge", 20, at, 12, 12), label(38, at + 11, words)]
        x += width
    caption = _word("chart.records_caption")
    return Picture(Drawing("records", _word("chart.records"), caption, _WIDTH, _HEIGHT, tuple(shapes)).svg(), caption)


# --- both ----------------------------------------------------------------------------------------


def _word(key: str) -> str:
    return messages.text(f"documents.{key}")


def _heading(key: str, level: int = 1) -> Heading:
    return Heading(_word(key), level)


def _table(
    columns: Sequence[str],
    lines: Sequence[Sequence[str]],
    widths: Sequence[float],
    absent: str,
    right: Sequence[int] = (),
) -> Iterator[Block]:
    """A table of the internal report, or the sentence that says why there is none."""
    if lines:
        yield table_of([_word(f"internal.{column}") for column in columns], lines, widths, right)
    else:
        yield Paragraph(_word(f"internal.{absent}" if absent else "none"))
