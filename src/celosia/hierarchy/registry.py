"""All builders, and making a hierarchy from a description as in celosia.toml.

{"builder": "mask", "width": 5, "steps": [2, 3, 5], "unknown": ["99999", "88888"]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.hierarchy.builder import Builder, Detail, assemble
from celosia.hierarchy.code_lists import OFFICIAL
from celosia.hierarchy.dates import DATES
from celosia.hierarchy.errors import UnknownBuilder
from celosia.hierarchy.groups import FREQUENCY, GROUPS, IDENTITY, ORDER, SUPPRESS, TREE
from celosia.hierarchy.intervals import INTERVALS
from celosia.hierarchy.masks import MASK
from celosia.hierarchy.model import Hierarchy
from celosia.hierarchy.rows import split_groups
from celosia.model.parameters import conflict, read_parameters

BUILDERS: tuple[Builder, ...] = (MASK, INTERVALS, DATES, ORDER, GROUPS, TREE, FREQUENCY, OFFICIAL, IDENTITY, SUPPRESS)
_BY_NAME = {builder.name: builder for builder in BUILDERS}


def build(
    spec: Mapping[str, Any], values: Sequence[str], *, variable: str = "", counts: Mapping[str, int] | None = None
) -> Hierarchy:
    """The hierarchy that a description makes over some values.

    `counts` (how often each value occurs) is needed by the builder `frequency` alone.
    """
    builder, settings = _parse_spec(spec)
    hierarchy = assemble(builder, variable, values, {**settings, "counts": counts})
    if any(split_groups(hierarchy)):
        # Only names chosen by hand can do this: one label for two groups that differ further up.
        raise conflict(builder.name, ", ".join(builder.params), "one_name_two_groups")
    return hierarchy


def level_detail(spec: Mapping[str, Any], level: int) -> Detail:
    """What a level above 0 that a builder made shows, in facts that hold no value; not for the level `*` on top."""
    if "file" in spec:
        return {"builder": "file"}
    builder, settings = _parse_spec(spec)
    return {"builder": builder.name, **builder.detail(settings, level)}


def _parse_spec(spec: Mapping[str, Any]) -> tuple[Builder, dict[str, Any]]:
    settings = dict(spec)
    name = settings.pop("builder", None)
    if not isinstance(name, str) or name not in _BY_NAME:
        raise UnknownBuilder(builder=str(name), known=", ".join(_BY_NAME))
    builder = _BY_NAME[name]
    return builder, read_parameters(name, builder.all_params, settings)
