"""Which topic a column is about: the name, the values and the other columns decide together.

Knows rates, chance and precedence. Ignores what follows for the dictionary (`_propose`).
A rate alone proves nothing: random digits pass the RUN's check digit in 9 % of cases and a Chilean telephone in 48 %,
so a rate counts only as far as it departs from chance (Chernoff's bound on the binomial tail).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from celosia.model.variables import Role, Scale
from celosia.proposals.facts import ColumnFacts, evenly_spaced
from celosia.proposals.header import Vocabulary, essential, matches, weight
from celosia.proposals.shape import Shape, shape_of
from celosia.proposals.topic import Topic, ValueTest
from celosia.proposals.topics import TOPICS
from celosia.proposals.topics._keys import hardly_repeats
from celosia.proposals.topics._survey import FREE_TEXT, PACKED, looks_free, looks_packed

CONVINCING = math.log(1e6)  # a coincidence of one in a million or less
SCREENED = 60  # values looked at before the full judgement is worth its time
CONFIRMS = 0.5  # share of values that is worth telling beside a name that already says it


@dataclass(frozen=True, slots=True)
class TopicFinding:
    """A topic proposed for a column, and what speaks for it."""

    topic: Topic
    by_header: bool = False
    weak: bool = False
    rate: float = 0.0
    n_judged: int = 0
    surprise: float = 0.0

    @property
    def by_value(self) -> bool:
        """Whether the values confirm."""
        return self.rate >= CONFIRMS and self.n_judged > 0


@cache
def vocabulary() -> Vocabulary:
    """Words of all patterns."""
    return Vocabulary(p for topic in TOPICS for p in (*topic.headers, *topic.weak_headers))


@lru_cache(maxsize=1024)
def from_header(name: str) -> TopicFinding | None:
    """The topic a name speaks of: the pattern with most words wins, a strong one before a weak one."""
    words = vocabulary().words(name)
    best: tuple[int, int, Topic] | None = None
    for topic in TOPICS:
        for strength, patterns in ((1, topic.headers), (0, topic.weak_headers)):
            score = max((weight(p) for p in patterns if matches(p, words)), default=0)
            if score and (best is None or (strength, score) > best[:2]):
                best = (strength, score, topic)
    return None if best is None else TopicFinding(best[2], by_header=True, weak=best[0] == 0)


def from_values(shape: Shape) -> list[TopicFinding]:
    """Topics whose values convince without the name, the most surprising first."""
    findings = [f for topic in TOPICS if topic.test and (f := _finding_from_values(topic, topic.test, shape))]
    return sorted(findings, key=lambda f: (f.topic.needs_topic != "", -f.surprise))


def _finding_from_values(topic: Topic, test: ValueTest, shape: Shape) -> TopicFinding | None:
    if test.alone is None or shape.n_judged < min(test.fewest, 2) or shape.distinct < test.fewest:
        return None
    if (test.in_words and shape.letter_share < 0.3) or (test.column and not test.column(shape)):
        return None
    rate, judged = pass_rate(test, shape)
    surprise = unlikelihood(rate, judged, test.chance)
    if rate < test.alone or surprise < CONVINCING:
        return None
    return TopicFinding(topic, rate=rate, n_judged=judged, surprise=surprise)


def pass_rate(test: ValueTest, shape: Shape) -> tuple[float, int]:
    """Share of the values that pass and how many were judged; a hopeless column is left after a first look."""
    positions = shape.informative if test.in_words else list(range(shape.n_judged))
    texts = shape.normal if test.in_words else shape.values
    for limit in (SCREENED, len(positions)):
        chosen = evenly_spaced(positions, limit)
        passed = sum(test.passes(texts[i]) for i in chosen)
        rate = passed / len(chosen) if chosen else 0.0
        if len(chosen) == len(positions) or rate < (test.alone or 1.0) / 2:
            break
    return rate, len(chosen)


def unlikelihood(rate: float, judged: int, chance: float) -> float:
    """Minus the logarithm of a bound on the probability that unrelated values pass so often."""
    if rate <= chance:
        return 0.0
    rest = (1 - rate) * math.log((1 - rate) / (1 - chance)) if rate < 1 else 0.0
    return judged * (rate * math.log(rate / chance) + rest)


def judge(shapes: Sequence[Shape]) -> list[TopicFinding | None]:
    """The topic of each column of a table; None where neither name nor values say anything."""
    named = [from_header(shape.facts.name) for shape in shapes]
    valued = [from_values(shape) for shape in shapes]
    about = _topics_present(named, valued)
    return [
        _decide(shape, header, [f for f in findings if _needed_topic_present(f, about, i)])
        for i, (shape, header, findings) in enumerate(zip(shapes, named, valued, strict=True))
    ]


def _topics_present(named: Sequence[TopicFinding | None], valued: Sequence[list[TopicFinding]]) -> list[set[str]]:
    strong = [{h.topic.name} if h and not h.weak else set() for h in named]
    return [names | {f.topic.name for f in findings} for names, findings in zip(strong, valued, strict=True)]


def _needed_topic_present(finding: TopicFinding, about: Sequence[set[str]], own: int) -> bool:
    needed = finding.topic.needs_topic
    return not needed or any(needed in names for i, names in enumerate(about) if i != own)


def _decide(shape: Shape, header: TopicFinding | None, findings: list[TopicFinding]) -> TopicFinding | None:
    if looks_packed(shape):
        return TopicFinding(PACKED, rate=1.0, n_judged=shape.n_judged)
    if header and not header.weak:
        return _against_header(shape, header, findings)
    if findings and (findings[0].topic.role is Role.IDENTIFIER or not looks_free(shape)):
        return _confirm_with_header(header, findings[0])
    if looks_free(shape):
        return TopicFinding(
            FREE_TEXT, by_header=header is not None and header.topic is FREE_TEXT, rate=1.0, n_judged=shape.n_judged
        )
    return header if header and _confirms_weak_name(header, shape) else None


def _confirm_with_header(header: TopicFinding | None, finding: TopicFinding) -> TopicFinding:
    return replace(finding, by_header=True) if header and header.topic is finding.topic else finding


def _against_header(shape: Shape, header: TopicFinding, findings: list[TopicFinding]) -> TopicFinding | None:
    """The name has spoken; hard evidence of an identifier, free text or a mere yes/no speak against it."""
    topic = header.topic
    hard = next((f for f in findings if f.topic.test and f.topic.test.hard and f.topic is not topic), None)
    if hard and topic.role is not Role.IDENTIFIER:
        return hard
    if topic.needs_many_values and is_indicator(shape):
        return None
    if topic.role is not Role.IDENTIFIER and topic.scale is not Scale.DATE and looks_free(shape):
        return TopicFinding(FREE_TEXT, rate=1.0, n_judged=shape.n_judged)
    listed = next((f for f in findings if _both_are_areas(f.topic, topic)), None)
    if listed and not any(f.topic is topic for f in findings):
        return replace(listed, by_header=True)
    if topic.test and shape.n_judged:
        rate, judged = pass_rate(topic.test, shape)
        return replace(header, rate=rate, n_judged=judged)
    return header


def _both_are_areas(by_values: Topic, by_name: Topic) -> bool:
    """A name says area and the values say which: comuna, department, district of a country."""
    areas = ("commune_code", "commune", "province", "region")
    return by_name.name in areas and (by_values.name in areas or by_values.name.startswith("area_"))


def is_indicator(shape: Shape) -> bool:
    """Two or three values over many rows: a yes/no about the thing the name tells, not the thing."""
    return 1 <= shape.distinct <= 3 and shape.plain_rows >= 20


def _confirms_weak_name(header: TopicFinding, shape: Shape) -> bool:
    """A generic name (id, nombre, detalle) counts only where the values agree with it."""
    if header.topic.name == "record_key":
        return hardly_repeats(shape) and shape.repetition >= 0.5
    if header.topic.name == "survey_area":
        return shape.decimal_share <= 0.02  # an area in square metres is no area of a map
    alone = len(essential(vocabulary().words(shape.facts.name))) == 1
    return header.topic.name == "health_state" and alone and shape.distinct <= 12 and shape.letter_share >= 0.9


@dataclass(frozen=True, slots=True)
class TableJudgement:
    """What each column looks like, and the topic it was found to be about."""

    shapes: tuple[Shape, ...]
    findings: tuple[TopicFinding | None, ...]


def judge_table(columns: Sequence[ColumnFacts]) -> TableJudgement:
    """The opinion on all columns of a table together."""
    shapes = tuple(shape_of(facts) for facts in columns)
    return TableJudgement(shapes, tuple(judge(shapes)))
