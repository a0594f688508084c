"""Which column tells one person from another: the unit in which k is counted (DESIGN §3)."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.proposals.facts import ColumnFacts
from celosia.proposals.judge import TableJudgement, judge_table

# In the order of trust: a column that says it is the person's key, national numbers, then whatever else repeats.
_TOPICS = ("person_key", "run", "cedula", "dni", "document", "clinical_record", "pseudonym")
_LEAST_FILLED = 0.5


def person_key(columns: Sequence[ColumnFacts], judgement: TableJudgement | None = None) -> str | None:
    """The column that stands for the person, or None; a column that is mostly missing does not."""
    findings = (judgement or judge_table(columns)).findings
    topics = {
        finding.topic.name: facts.name
        for facts, finding in zip(reversed(columns), reversed(findings), strict=True)
        if finding is not None and _filled_share(facts) >= _LEAST_FILLED
    }
    return next((topics[topic] for topic in _TOPICS if topic in topics), None)


def _filled_share(facts: ColumnFacts) -> float:
    missing = sum(int(count) for value, count in zip(facts.values, facts.counts, strict=True) if value == "")
    return 1 - missing / facts.rows if facts.rows else 0.0
