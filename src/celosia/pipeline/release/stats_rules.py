"""What the statistics need of the workflow: the rules of the protocols, the journal and the page of the catalogue.

Knows figures by the id of their measure. Ignores STATS itself (package `stats`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.dossier.page import to_html
from celosia.dossier.stats import catalogue_document
from celosia.model.protocols import Rule
from celosia.model.reports.stats import StatsCatalogue
from celosia.model.rules import RuleReport
from celosia.pipeline.candidate.rule_context import RuleContext
from celosia.pipeline.candidate.rules import judge_rules
from celosia.pipeline.project import journal as _journal
from celosia.protocols.load import combined_rules
from celosia.protocols.measures import Stage

STATS_PROTOCOL = "yapo"


def statistics_rules() -> tuple[Rule, ...]:
    """The rules over tables of counts."""
    return combined_rules([STATS_PROTOCOL])


def judge_statistics(figures: Mapping[str, int]) -> RuleReport:
    """The rules of YAPÓ on what was measured of STATS."""
    return judge_rules(RuleContext(statistics=figures), statistics_rules(), Stage.STATISTICS.name)


def catalogue_page(catalogue: StatsCatalogue) -> str:
    """The catalogue as one self-contained HTML page, in the current language."""
    return to_html(catalogue_document(catalogue, messages.language()))


def journal_append(path: Path, what: str, now: datetime, facts: Mapping[str, object]) -> str:
    """Add a line to the journal of a STATS project and give its digest."""
    return _journal.append_entry(path, what, now, facts)


def journal_entries(path: Path) -> Sequence[Mapping[str, Any]]:
    """Every line of the journal, after checking that the chain holds; none where there is no journal yet."""
    return _journal.read_journal(path).entries if path.exists() else ()
