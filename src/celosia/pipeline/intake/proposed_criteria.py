"""The criteria that the protocols ask for: the strictest k and l of their rules, one l for each sensitive variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.model.protocols import Rule
from celosia.protocols.load import strictest_minimum

THRESHOLDS = {"k": "k", "distinct_l": "l"}  # the criteria that carry the k and the l of a protocol
Criteria = tuple[Mapping[str, Any], ...]


def default_criteria(rules: Sequence[Rule], sensitive: Sequence[str]) -> Criteria:
    """The strictest of what the protocols' rules ask; without protocol, k >= 2 and l >= 2."""
    asked = {name: strictest_minimum(rules, name)[0] for name in ("k", "l")} if rules else {"k": 2, "l": 2}
    return with_thresholds((), {key: value for key, value in asked.items() if value}, sensitive)


def with_thresholds(criteria: Criteria, asked: Mapping[str, Any], sensitive: Sequence[str]) -> Criteria:
    """The criteria with a k or an l set where it stands, and added where it does not."""
    changed = []
    for criterion in criteria:
        name = THRESHOLDS.get(str(criterion.get("criterion")), "")
        changed.append({**criterion, name: asked[name]} if name in asked else criterion)
    return (*changed, *lacking_criteria(changed, asked, sensitive))


def lacking_criteria(
    criteria: Sequence[Mapping[str, Any]], asked: Mapping[str, Any], sensitive: Sequence[str]
) -> list[dict[str, Any]]:
    """A k, and an l of each sensitive variable, where the criteria hold none (one in rows alone is none)."""
    covered = {(data.get("criterion"), data.get("variable")) for data in criteria if data.get("unit") != "rows"}
    wanted: list[dict[str, Any]] = []
    if "k" in asked:
        wanted.append({"criterion": "k", "k": asked["k"]})
    if "l" in asked:
        wanted += [{"criterion": "distinct_l", "variable": name, "l": asked["l"]} for name in sensitive]
    return [data for data in wanted if (data["criterion"], data.get("variable")) not in covered]
