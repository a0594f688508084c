"""What the other columns of a table change.

Source: X8 (days of stay beside dates give the day of admission), MINSAL (state of vaccination is sensitive).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from celosia.data.suggest._topic import Topic
from celosia.model.variables import Role

DATES = frozenset({"birth_date", "death_date", "discharge_date", "date", "month", "year"})


@dataclass(frozen=True, slots=True)
class Beside:
    """Beside one of these topics, a column takes another role."""

    company: frozenset[str]
    role: Role


RULES = {
    "stay_length": Beside(DATES, Role.QUASI),
    "maker": Beside(frozenset({"vaccination"}), Role.SENSITIVE),
}


def in_context(topic: Topic, present: Collection[str]) -> tuple[Topic, bool]:
    """The topic with the role it has in this company, and whether the company changed it."""
    rule = RULES.get(topic.name)
    if rule is None or rule.company.isdisjoint(present):
        return topic, False
    return replace(topic, role=rule.role, special=rule.role is Role.SENSITIVE), True
