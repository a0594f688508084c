"""Invented data about people nobody is: for the demonstration, the benches and the tests.

Knows how real files of hospitals, surveys and applications look. Ignores everything celosia does with them.
Names, numbers, addresses and establishments are chance combinations: any likeness is chance.
The same seed gives the same bytes on any machine, and the first rows do not depend on how many are asked for.
"""

from __future__ import annotations

from celosia.data.synthetic._discharges import discharge_batches, discharges, write_discharges
from celosia.data.synthetic._events import events
from celosia.data.synthetic._files import write_raw_csv
from celosia.data.synthetic._personal import personal_database
from celosia.data.synthetic._surveys import education_requests, survey

__all__ = [
    "discharge_batches",
    "discharges",
    "education_requests",
    "events",
    "personal_database",
    "survey",
    "write_discharges",
    "write_raw_csv",
]
