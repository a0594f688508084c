"""The figures of a project's columns, saved when they are first known, so that its page has nothing to count.

Source: ATENEA guide 4.2.3 (distinguishability is measured).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from celosia.model.plan import digest_of
from celosia.model.reports.column_figures import FIGURES_FORMAT, ColumnFigures
from celosia.model.values import MISSING, is_masked
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.saved_reports import save_report
from celosia.proposals.facts import ColumnFacts, distinctness, entropy, separation

FIGURES_REPORT = "dictionary"


def save_column_figures(project: Project, facts: Sequence[ColumnFacts], now: datetime) -> None:
    """Save what is already known of the columns of a fresh project."""
    source, person = project.config.source.digest, project.config.person
    key = digest_of({"source": source, "missing": []})
    columns = {column.name: {"key": key, "figures": asdict(column_figures(column))} for column in facts}
    persons = {}
    if person:
        count = next(column.distinct for column in facts if column.name == person)
        persons = {"key": digest_of({"source": source, "person": person}), "count": count}
    document = {"format": FIGURES_FORMAT, "columns": columns, "areas": {}, "persons": persons}
    save_report(project, FIGURES_REPORT, document, now=now)


def column_figures(facts: ColumnFacts) -> ColumnFigures:
    """How far a column distinguishes people, from its vocabulary."""
    hidden = [code for code, value in enumerate(facts.values) if value == MISSING or is_masked(value)]
    return ColumnFigures(
        distinct=facts.distinct,
        plain_distinct=facts.distinct - len(hidden),
        plain_rows=facts.rows - int(sum(facts.counts[code] for code in hidden)),
        share=distinctness(facts),
        entropy=entropy(facts),
        separation=separation(facts),
    )
