"""From a topic to a line of the dictionary, with one sentence of evidence.

Knows what each role asks for and MEL's rule of fifty. Evidence holds names of columns, counts and shares, and words
of our own lists; never a value of the file. Source: MINSAL, Implementación 3; ATENEA 4.2.2–4.2.3; MEL IV.2;
X8 (days of stay beside dates give the day of admission).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from celosia import messages
from celosia.model.variables import Kind, MelLabel, Role, Scale, Traits, Treatment, Variable
from celosia.proposals.facts import ColumnFacts, distinctness, plain_positions, rare_values, row_count, separation
from celosia.proposals.fallback import CONSTANT, EMPTY, fallback, scale_of
from celosia.proposals.judge import TableJudgement, TopicFinding, from_header, is_indicator, judge_table
from celosia.proposals.markers import missing_words, unknown_codes
from celosia.proposals.shape import Shape
from celosia.proposals.topic import Topic
from celosia.proposals.topics._survey import FREE_TEXT

RARE = 3  # rows or fewer: RI = 1/f reaches ATENEA's 0.3
_SEVERAL_ROWS = 20  # in a table of a few rows one value proves nothing
MEL_UNITS = 50  # a geographic category with more units than this stays (P07)
_BY_ROLE = {
    Role.IDENTIFIER: Treatment.REMOVE,
    Role.QUASI: Treatment.GENERALISE,
    Role.SENSITIVE: Treatment.MASK_IF_NEEDED,
    Role.PLAIN: Treatment.KEEP,
}
_ALSO_TEXT = frozenset({Scale.CONTINUOUS, Scale.DISCRETE})
_DATES = frozenset({"birth_date", "death_date", "discharge_date", "date", "month", "year"})


def suggest(
    columns: Sequence[ColumnFacts], protocol: str | None = None, judgement: TableJudgement | None = None
) -> tuple[Variable, ...]:
    """Propose a dictionary line for every column of a table, with the evidence in the current language.

    The purpose stays empty: only a person can state it (M06). Under the protocol "mel" the treatment follows
    MEL's labels instead of the roles.
    """
    judgement = judgement or judge_table(columns)
    present = {finding.topic.name for finding in judgement.findings if finding}
    pairs = zip(judgement.shapes, judgement.findings, strict=True)
    return tuple(_variable(shape, finding, present, protocol) for shape, finding in pairs)


def _variable(shape: Shape, finding: TopicFinding | None, present: set[str], protocol: str | None) -> Variable:
    topic, changed = _topic_in_context(finding.topic if finding else fallback(shape), present)
    scale = _scale(topic, shape)
    if topic.role is Role.QUASI and is_constant(shape):
        topic = replace(topic, role=Role.PLAIN)
    rare = rare_values(shape.facts, RARE) if topic.strong_if_rare and scale is Scale.CATEGORICAL else 0
    unknown = _unknown(topic, shape, scale)
    return Variable(
        name=shape.facts.name,
        scale=scale,
        kind=topic.kind,
        role=topic.role,
        strong=topic.strong or rare > 0,
        traits=Traits(topic.replicable, distinguishable(shape.facts), topic.knowable),
        mel_label=topic.mel,
        special=topic.special,
        treatment=_treatment(topic, shape.facts, protocol),
        unknown=unknown,
        evidence=_evidence(shape, topic, finding, changed, rare, unknown),
    )


def is_constant(shape: Shape) -> bool:
    """Whether every row of more than a few shows the same value."""
    return shape.distinct == 1 and shape.plain_rows == shape.facts.rows >= _SEVERAL_ROWS


def _unknown(topic: Topic, shape: Shape, scale: Scale) -> tuple[str, ...]:
    area = topic.kind is Kind.LOCATION and topic.role is Role.QUASI
    codes = unknown_codes(shape, scale, area)
    official = topic.test.passes if area and topic.test else None
    return tuple(code for code in codes if not (official and official(code)))  # 0000 is Asunción


def distinguishable(facts: ColumnFacts) -> bool:
    """Whether the column tells people apart: two random rows differ nine times in ten, or most values are unique."""
    return separation(facts) >= 0.9 or distinctness(facts) >= 0.5


def _scale(topic: Topic, shape: Shape) -> Scale:
    if topic.scale is None:
        return scale_of(shape)
    if topic.scale in _ALSO_TEXT and shape.n_judged and not shape.numeric:
        return Scale.CATEGORICAL  # income or age in bands
    return topic.scale


def _treatment(topic: Topic, facts: ColumnFacts, protocol: str | None) -> Treatment:
    if topic.treatment is not None:
        return topic.treatment
    if protocol != "mel":
        return Treatment.REMOVE if topic.name == "household_key" else _BY_ROLE[topic.role]
    if topic.mel is MelLabel.DIRECT or (topic.mel is MelLabel.GEOGRAPHIC and not _more_than_fifty(facts)):
        return Treatment.REMOVE
    return Treatment.KEEP


def _more_than_fifty(facts: ColumnFacts) -> bool:
    plain = plain_positions(facts)
    return plain.size > 0 and not facts.is_sample and int(np.asarray(facts.counts)[plain].min()) > MEL_UNITS


def _evidence(
    shape: Shape, topic: Topic, finding: TopicFinding | None, changed: bool, rare: int, unknown: tuple[str, ...]
) -> str:
    """One sentence: why, and what else the official should look at."""
    clauses = [_reason(shape, topic, finding)]
    if changed:
        clauses.append(messages.text(f"suggest.context.{topic.name}"))
    if finding and is_constant(shape):
        clauses.append(messages.text(f"suggest.note.constant_{'sensitive' if topic.special else 'plain'}"))
    if rare:
        clauses.append(messages.text("suggest.note.rare", rare=rare, threshold=RARE))
    if unknown:
        rows = sum(row_count(shape.facts, code) for code in unknown)
        clauses.append(messages.text("suggest.note.unknown", rows=rows, codes=", ".join(unknown)))
    for word, rows in missing_words(shape)[:1]:
        clauses.append(messages.text("suggest.note.missing", word=word, rows=rows))
    if shape.masked_rows:
        clauses.append(messages.text("suggest.note.masked", rows=shape.masked_rows))
    return "; ".join(clauses) + "."


def _reason(shape: Shape, topic: Topic, finding: TopicFinding | None) -> str:
    if finding is None:
        return _silent_reason(shape, topic)
    if topic is FREE_TEXT and not finding.by_header:
        return messages.text("suggest.because.free", distinct=shape.distinct, words=messages.decimal(shape.words, 1))
    variable, what = shape.facts.name, messages.text(f"suggest.what.{topic.name}")
    header = messages.text("suggest.because.header", variable=variable, what=what)
    if not finding.by_value or finding.n_judged < 2 or not messages.has(f"suggest.are.{topic.name}"):
        return header if finding.by_header else messages.text("suggest.because.looks", what=what)
    values = _values_clause(shape, topic, finding)
    if not finding.by_header:
        return values[:1].upper() + values[1:]
    return messages.text("suggest.because.both", header=header, values=values)


def _values_clause(shape: Shape, topic: Topic, finding: TopicFinding) -> str:
    part = "some" if finding.n_judged < shape.distinct else "all"
    return messages.text(
        f"suggest.because.values_{part}",
        share=_percent(finding.rate),
        judged=finding.n_judged,
        distinct=shape.distinct,
        are=messages.text(f"suggest.are.{topic.name}"),
    )


def _percent(share: float) -> str:
    """One decimal, cut and not rounded: 99,97 % must not read as all of them."""
    return messages.percent(math.floor(share * 1_000) / 1_000, 0 if share == 1 else 1)


def _silent_reason(shape: Shape, topic: Topic) -> str:
    header = from_header(shape.facts.name)
    if header and header.topic.needs_many_values and is_indicator(shape) and topic not in (EMPTY, CONSTANT):
        what = messages.text(f"suggest.what.{header.topic.name}")
        return messages.text("suggest.silent.indicator", variable=shape.facts.name, what=what, distinct=shape.distinct)
    return messages.text(f"suggest.silent.{topic.name}", distinct=shape.distinct, rows=shape.facts.rows)


# --- what the other columns of a table change ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ContextRule:
    """Beside one of these topics, a column takes another role."""

    topics: frozenset[str]
    role: Role


_RULES = {
    "stay_length": _ContextRule(_DATES, Role.QUASI),
    "maker": _ContextRule(frozenset({"vaccination"}), Role.SENSITIVE),
}


def _topic_in_context(topic: Topic, present: Collection[str]) -> tuple[Topic, bool]:
    """The topic with the role it has among the topics present, and whether they changed it."""
    rule = _RULES.get(topic.name)
    if rule is None or rule.topics.isdisjoint(present):
        return topic, False
    return replace(topic, role=rule.role, special=rule.role is Role.SENSITIVE), True
