"""What is asked of a result, as the policy of a project would say it: nothing that nobody asked for.

Knows the names of criteria and the keys of `[policy]`. Ignores rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.frames.errors import NoCriterion, SensitiveNeeded
from celosia.pipeline.project.arguments import whole_number
from celosia.pipeline.project.settings_schema import exact_share, refuse_wrong_request
from celosia.risk.criteria import criterion_from


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds that a caller states."""

    k: int | None
    l: int | None  # noqa: E741 - the letter of the criterion
    t: float | None
    criteria: tuple[Mapping[str, Any], ...]
    max_suppression: float | str

    @property
    def share(self) -> float | int | str:
        """The share of rows that may be suppressed, as it was written: 0.05 is 1/20."""
        if isinstance(self.max_suppression, bool) or exact_share(self.max_suppression) is None:
            raise ValueOutOfRange(parameter="max_suppression", given=repr(self.max_suppression), allowed="0–1")
        return self.max_suppression


def asked_criteria(limits: Limits, sensitive: Sequence[str]) -> list[dict[str, Any]]:
    """The criteria in the order k, l, t, and then those given as data."""
    criteria: list[dict[str, Any]] = []
    if limits.k is not None:
        criteria.append({"criterion": "k", "k": whole_number("k", limits.k, 1)})
    if limits.l is not None:
        level = whole_number("l", limits.l, 1)
        criteria += [{"criterion": "distinct_l", "variable": name, "l": level} for name in sensitive]
    if limits.t is not None:
        criteria += [{"criterion": "t", "variable": name, "t": limits.t} for name in sensitive]
    for name, value in (("l", limits.l), ("t", limits.t)):
        if value is not None and not sensitive:
            raise SensitiveNeeded(criterion=name)
    criteria += [dict(data) for data in limits.criteria]
    if not criteria:
        raise NoCriterion()
    for data in criteria:
        criterion_from(data)
    return criteria


def policy_document(
    policy: Mapping[str, Any],
    descriptions: Mapping[str, Mapping[str, Any]],
    levels: Mapping[str, int | tuple[int, int]],
    person: str | None,
) -> dict[str, Any]:
    """The part of celosia.toml that the call stands for, exactly as that file would be read."""
    import tomlkit

    stated = {key: value for key, value in policy.items() if value is not None}
    refuse_wrong_request(stated)
    hierarchies = {name: dict(spec) for name, spec in descriptions.items()}
    for name, bounds in levels.items():
        low, high = (bounds, bounds) if isinstance(bounds, int) else bounds
        hierarchies[name] = {**hierarchies.get(name, {}), "minimum": low, "maximum": high}
    document = {"policy": stated, "hierarchies": hierarchies, "unit": {"person": person} if person else {}}
    return tomllib.loads(tomlkit.dumps(document))
