"""What the statistics need of the walk: the rules of the protocols, the journal and the page of the catalogue.

Knows figures by the id of their measure. Ignores STATS itself (room `stats`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.dossier import catalogue_document, to_html
from celosia.model.protocols import Rule
from celosia.model.rules import RuleReport
from celosia.model.stats_reports import StatsCatalogue
from celosia.pipeline import _journal
from celosia.pipeline._rule_context import RuleContext
from celosia.pipeline._rules import judge_rules
from celosia.protocols import Stage, combined

STATS_PROTOCOL = "yapo"


def statistics_rules() -> tuple[Rule, ...]:
    """The rules over tables of counts."""
    return combined([STATS_PROTOCOL])


def judge_statistics(figures: Mapping[str, int]) -> RuleReport:
    """The rules of YAPÓ on what was measured of STATS."""
    return judge_rules(RuleContext(statistics=figures), statistics_rules(), Stage.STATISTICS.name)


def catalogue_page(catalogue: StatsCatalogue) -> str:
    """The catalogue as one self-contained HTML page, in the current language."""
    return to_html(catalogue_document(catalogue, messages.language()))


def journal_append(path: Path, what: str, now: datetime, facts: Mapping[str, object]) -> str:
    """Add a line to the journal of a STATS project and give its digest."""
    return _journal.append(path, what, now, facts)


def journal_entries(path: Path) -> Sequence[dict[str, Any]]:
    """Every line of the journal, after checking that the chain holds; none where there is no journal yet."""
    return _journal.entries(path) if path.exists() else []
