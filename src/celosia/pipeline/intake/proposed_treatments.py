"""Treatments proposed for the variables of a table: gathers the facts that `celosia.techniques.proposals` asks for.

Knows names, the dictionary and vocabularies, of which only formats, widths and digits are taken. Writes them as the
commented steps of a fresh celosia.toml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celosia.model.requests import PURPOSES, Purpose
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Kind, Role, Scale, Variable
from celosia.pipeline.intake.proposed_hierarchies import default_spec
from celosia.pipeline.project.pseudonym_keys import NORMS_WITHOUT_PSEUDONYMS
from celosia.techniques.proposals import ColumnFacts, Proposal, propose, steps_toml

if TYPE_CHECKING:
    from celosia.pipeline.intake.open_table import OpenTable

_SAMPLE = 2_000  # values of a column that are looked at
_LATITUDE = re.compile(r"(^|[^a-z])lat($|[^a-z]|itud)", re.IGNORECASE)
_LONGITUDE = re.compile(r"(^|[^a-z])(lon|lng|long)($|[^a-z]|itud)", re.IGNORECASE)
_DESCRIBED = (Scale.DATE, Scale.CONTINUOUS, Scale.DISCRETE)
Treatments = dict[str, tuple[Proposal, ...]]


def treatments_of_table(table: OpenTable, purposes: Sequence[str] = (), protocols: Sequence[str] = ()) -> Treatments:
    """The treatments proposed for each variable of an opened table."""
    household = None
    if table.project is not None:
        household, protocols = table.project.config.household, table.project.config.protocols

    def vocabulary(name: str) -> Sequence[str]:
        values: list[str] = table.table.frequencies(name, _SAMPLE).values.to_pylist()
        return values

    return treatments_of_variables(
        table.variables, vocabulary, table.table.distinct_counts(), purposes, protocols, household
    )


def treatments_of_variables(
    variables: Sequence[Variable],
    vocabulary: Callable[[str], Sequence[str]],
    distinct: Mapping[str, int],
    purposes: Sequence[str] = (),
    protocols: Sequence[str] = (),
    household: str | None = None,
) -> Treatments:
    """The treatments proposed for each variable; `vocabulary` gives the values, or a sample, of a column."""
    for purpose in purposes:
        if purpose not in PURPOSES:
            raise ValueOutOfRange(parameter="purpose", given=purpose, allowed=", ".join(PURPOSES))
    quasi = tuple(v.name for v in variables if v.role is Role.QUASI and not _is_removed(v))
    coordinates = _coordinates([v.name for v in variables])
    allowed = not set(protocols) & set(NORMS_WITHOUT_PSEUDONYMS)
    return {
        v.name: propose(
            v,
            ColumnFacts(
                distinct=distinct[v.name],
                household=v.name == household,
                hierarchy=default_spec(v, vocabulary(v.name)) if _helps_to_describe(v) else {},
                quasi=quasi,
                coordinates=coordinates if coordinates and v.name in coordinates else None,
                pseudonyms=allowed,
            ),
            [Purpose(purpose) for purpose in purposes],
        )
        for v in variables
    }


def treatment_dict(treatments: Sequence[Proposal]) -> list[dict[str, Any]]:
    """The treatments of one variable as JSON."""
    return [proposal.as_dict() for proposal in treatments]


def proposed_steps(treatments: Treatments) -> str:
    """One proposal per variable as commented TOML; the search sees to categories that a person would have to map."""
    chosen = [ready[0] for ready in map(_ready_proposals, treatments.values()) if ready]
    text = steps_toml(chosen)
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def _ready_proposals(proposals: Sequence[Proposal]) -> list[Proposal]:
    """The proposals that work as they are written, or with a date; none that is only for where risk remains."""
    return [proposal for proposal in proposals if not proposal.optional and "map" not in proposal.needs]


def _is_removed(variable: Variable) -> bool:
    return variable.treatment is not None and variable.treatment.value == "remove"


def _helps_to_describe(variable: Variable) -> bool:
    """Whether a description of its values helps: dates, numbers, places that are published."""
    if variable.role is Role.IDENTIFIER:
        return False
    return variable.scale in _DESCRIBED or variable.kind is Kind.LOCATION


def _coordinates(names: Sequence[str]) -> tuple[str, str] | None:
    """The one pair of columns that look like a latitude and a longitude by their names."""
    latitudes = [name for name in names if _LATITUDE.search(name)]
    longitudes = [name for name in names if _LONGITUDE.search(name)]
    return (latitudes[0], longitudes[0]) if len(latitudes) == len(longitudes) == 1 else None
