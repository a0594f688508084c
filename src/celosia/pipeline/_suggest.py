"""From a table to a proposed dictionary: asks the engine for counts, the judges for an opinion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from celosia.data.candidate import Answering
from celosia.data.suggest import ColumnFacts
from celosia.model.sources import ColumnLabels, Ingested
from celosia.model.variables import Variable

_WHOLE = 20_000  # up to this many distinct values a column is judged on all of them
_SAMPLE = 2_000  # beyond, on about this many, whichever their digests choose


def column_facts(
    table: Answering, names: Sequence[str], progress: Callable[[float], None] | None = None
) -> list[ColumnFacts]:
    """What each of some columns holds, as the judges need it."""
    chosen = tuple(names)
    rows, distinct = table.count_rows(), table.distinct_counts(chosen) if chosen else {}
    facts = []
    for number, name in enumerate(chosen, start=1):
        found = table.frequencies(name, None if distinct[name] <= _WHOLE else _SAMPLE, distinct[name])
        facts.append(ColumnFacts(name, found.values.to_pylist(), found.counts, rows, distinct[name]))
        if progress:
            progress(number / len(chosen))
    return facts


def with_labels(variables: Sequence[Variable], ingested: Ingested) -> tuple[Variable, ...]:
    """The variables with the labels and missing codes that came with the source itself."""
    return tuple(_labelled(variable, ingested.labels.get(variable.name)) for variable in variables)


def _labelled(variable: Variable, held: ColumnLabels | None) -> Variable:
    if held is None:
        return variable
    return replace(variable, label=held.label, value_labels=held.values, missing=held.missing)


def variable_dict(variable: Variable) -> dict[str, Any]:
    """A dictionary line as JSON."""
    return asdict(variable)
