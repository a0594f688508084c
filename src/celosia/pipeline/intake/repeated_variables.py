"""Columns that say the same as another one: a code and its name. Published twice, a value is masked in vain in one.

Knows the table and the proposed dictionary. Ignores what the values mean. Source: REQUIREMENTS X7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from celosia import messages
from celosia.data.table import Table
from celosia.model.variables import Role, Scale, Treatment, Variable
from celosia.proposals.dependencies import alike_pairs, contradiction_test, repeated_columns
from celosia.proposals.facts import ColumnFacts, separation

_SCALES = (Scale.CATEGORICAL, Scale.DISCRETE, Scale.DATE)
_GLANCE = 2_000  # rows that show at once that most pairs differ


def with_repetitions(
    table: Table, facts: Sequence[ColumnFacts], variables: Sequence[Variable], protocol: str | None = None
) -> tuple[Variable, ...]:
    """The dictionary in which a column that repeats another one says so; of two quasi-identifiers one is to go.

    MEL recodes and removes nothing but direct identifiers and small areas, so there it is only pointed out.
    """
    by_name = {column.name: column for column in facts}
    repeated: dict[str, str] = {}
    for role in (Role.QUASI, Role.SENSITIVE):
        comparable = [
            by_name[v.name] for v in variables if v.role is role and v.scale in _SCALES and not _is_removed(v)
        ]
        repeated |= _repetitions_among(table, sorted(comparable, key=_typical_length))
    return tuple(_point_out(variable, repeated, protocol) for variable in variables)


def _is_removed(variable: Variable) -> bool:
    return variable.treatment is Treatment.REMOVE


def _typical_length(facts: ColumnFacts) -> float:
    """Codes before names: a code list has levels, a list of names has none."""
    return float(np.mean([len(value) for value in facts.values])) if facts.values else 0.0


def _repetitions_among(table: Table, columns: Sequence[ColumnFacts]) -> dict[str, str]:
    names, distinct = [column.name for column in columns], [column.distinct for column in columns]
    rows = columns[0].rows if columns else 0
    if not alike_pairs(distinct, rows):
        return {}

    def pairs(a: int, b: int) -> int:
        return table.distinct_together([names[a], names[b]])

    hopeless = contradiction_test(table.first_rows(_GLANCE).tuples(names).codes)
    separations = [separation(column) for column in columns]
    return repeated_columns(names, distinct, rows, pairs, separations=separations, hopeless=hopeless)


def _point_out(variable: Variable, repeated: Mapping[str, str], protocol: str | None) -> Variable:
    if variable.name not in repeated:
        return variable
    removed = variable.role is Role.QUASI and protocol != "mel"
    note = messages.text(f"suggest.note.same{'_removed' if removed else ''}", other=repeated[variable.name])
    treatment = Treatment.REMOVE if removed else variable.treatment
    return replace(variable, treatment=treatment, evidence=f"{variable.evidence.removesuffix('.')}; {note}.")
