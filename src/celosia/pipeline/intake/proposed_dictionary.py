"""From a table to a proposed dictionary: asks the engine for counts, the judges for an opinion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from celosia.data.candidate import CountableFile
from celosia.model.sources import ColumnLabels, Ingested
from celosia.model.variables import Variable
from celosia.pipeline.project.progress import ShareProgress, ignore_share
from celosia.proposals.facts import ColumnFacts

_WHOLE = 20_000  # up to this many distinct values a column is judged on all of them
_SAMPLE = 2_000  # beyond, on about this many, whichever their digests choose


def column_facts(
    table: CountableFile, names: Sequence[str], progress: ShareProgress = ignore_share
) -> list[ColumnFacts]:
    """What each of some columns holds, as the judges need it."""
    chosen = tuple(names)
    rows, distinct = table.count_rows(), table.distinct_counts(chosen) if chosen else {}
    facts = []
    for number, name in enumerate(chosen, start=1):
        frequencies = table.frequencies(name, None if distinct[name] <= _WHOLE else _SAMPLE, distinct[name])
        facts.append(ColumnFacts(name, frequencies.values.to_pylist(), frequencies.counts, rows, distinct[name]))
        progress(number / len(chosen))
    return facts


def with_labels(variables: Sequence[Variable], ingested: Ingested) -> tuple[Variable, ...]:
    """The variables with the labels and missing codes that came with the source itself."""
    return tuple(_add_labels(variable, ingested.labels.get(variable.name)) for variable in variables)


def _add_labels(variable: Variable, labels: ColumnLabels | None) -> Variable:
    if labels is None:
        return variable
    return replace(variable, label=labels.label, value_labels=labels.values, missing=labels.missing)


def variable_dict(variable: Variable) -> dict[str, Any]:
    """A dictionary line as JSON."""
    return asdict(variable)
