"""Every topic, in order of precedence: where two claim a column with equal force, the earlier has it."""

from __future__ import annotations

from celosia.proposals.topic import Topic
from celosia.proposals.topics import _contact, _dates, _documents, _health, _keys, _people, _places, _survey

TOPICS: tuple[Topic, ...] = (
    *_documents.TOPICS,
    *_contact.TOPICS,
    *_dates.TOPICS,
    *_keys.TOPICS,
    *_places.TOPICS,
    *_people.TOPICS,
    *_health.TOPICS,
    *_survey.TOPICS,
)
