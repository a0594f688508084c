"""The policy of a project: what celosia.toml says, completed by its dictionary and protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.plan import Policy
from celosia.model.protocols import Rule
from celosia.model.variables import Role, Treatment, Variable
from celosia.pipeline.intake.proposed_criteria import (
    THRESHOLDS,
    Criteria,
    default_criteria,
    lacking_criteria,
    with_thresholds,
)
from celosia.pipeline.planning.errors import (
    BelowProtocol,
    LinkedRowsMethod,
    NoSensitivePublished,
    NothingToPublish,
    QuasiRemoved,
    RoleMissing,
)
from celosia.pipeline.planning.partition_rules import refuse_impossible_partition
from celosia.pipeline.project.settings_schema import exact_share, refuse_wrong_request
from celosia.protocols.load import combined_rules, norm_of, strictest_minimum
from celosia.risk.criteria import criterion_from

WEIGHT_OF_KEPT = 5  # times the heaviest of the variables that are not to be kept


def policy_of(
    document: Mapping[str, Any], variables: Sequence[Variable], protocols: Sequence[str], **overrides: Any
) -> Policy:
    """The policy that a project's file, dictionary and protocols add up to; overrides come from the command."""
    quasi, sensitive, links = _published_by_role(document, variables)
    rules = combined_rules(protocols, document.get("overrides", {}))
    asked = {key: value for key, value in overrides.items() if value is not None}
    thresholds: dict[str, Any] = {key: asked.pop(key) for key in ("k", "l") if key in asked}
    keep = tuple(asked.pop("keep", ()))
    refuse_wrong_request(asked)
    given = dict(document.get("policy", {})) | asked
    hierarchies = {name: dict(spec) for name, spec in document.get("hierarchies", {}).items()}
    _refuse_unknown_names(hierarchies, [v.name for v in variables])
    _refuse_unknown_names(given.get("weights", {}), [v.name for v in variables])
    _refuse_unknown_names(keep, quasi)
    _refuse_unknown_names(asked.get("order", ()), quasi)
    _refuse_unknown_names(given.get("order", ()), [v.name for v in variables])
    partition = str(given.get("partition", ""))
    _refuse_unknown_names([partition] if partition else [], quasi)
    minimum, maximum = _bounds(hierarchies, partition)
    policy = Policy(
        quasi=quasi,
        sensitive=sensitive,
        criteria=_criteria(given.get("criteria"), thresholds, rules, sensitive, [v.name for v in variables]),
        limit=exact_share(given.get("limit", 1)) or Fraction(0),
        method=given.get("method", "full-domain"),
        order=tuple(name for name in given.get("order", ()) if name in quasi),  # a role may have changed since
        metric=given.get("metric", "loss"),
        mean=given.get("mean", "geometric"),
        weights=_weights_that_keep(given.get("weights", {}), keep, quasi),
        hierarchies=hierarchy_specs(document),
        minimum=minimum,
        maximum=maximum,
        mask_sensitive=given.get("mask_sensitive", "minsal" in map(norm_of, protocols)),
        suppressed=given.get("suppressed", "keep"),
        reading=given.get("reading", "own"),
        time_limit=given.get("time_limit"),
        links=links,
        partition=partition,
    )
    refuse_impossible_partition(policy)
    if links and policy.method != "full-domain":
        raise LinkedRowsMethod(method=policy.method, columns=", ".join(links))
    return policy


def _weights_that_keep(weights: Mapping[str, float], keep: Sequence[str], quasi: Sequence[str]) -> Mapping[str, float]:
    """The weights where some variables are to keep their detail: each several times the heaviest of the others."""
    others = [weights.get(name, 1.0) for name in quasi if name not in keep]
    return {**weights, **{name: WEIGHT_OF_KEPT * (max(others, default=1.0) or 1.0) for name in keep}}


def _bounds(hierarchies: Mapping[str, Mapping[str, Any]], partition: str) -> tuple[dict[str, int], dict[str, int]]:
    """The least and the greatest level of each variable; the partition's own is fixed, at its least level."""
    minimum = {name: spec["minimum"] for name, spec in hierarchies.items() if "minimum" in spec}
    maximum = {name: spec["maximum"] for name, spec in hierarchies.items() if "maximum" in spec}
    if partition:
        level = minimum.setdefault(partition, 0)
        maximum.setdefault(partition, level)
    return minimum, maximum


def _published_by_role(
    document: Mapping[str, Any], variables: Sequence[Variable]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Published quasi-identifiers, sensitive variables and columns that tie rows together."""
    missing = dictionary.without_role(variables)
    if missing:
        raise RoleMissing(variables=", ".join(missing))
    leaving = dictionary.publishable_variables(variables)
    links = links_of(document.get("unit", {}), variables)
    quasi = tuple(v.name for v in leaving if v.role == Role.QUASI and v.name not in links)
    sensitive = tuple(v.name for v in leaving if v.role == Role.SENSITIVE and v.name not in links)
    if not quasi:
        removed = [v.name for v in variables if v.role == Role.QUASI and v.purpose and v.treatment == Treatment.REMOVE]
        if removed:
            raise QuasiRemoved(variables=", ".join(removed))
        raise NothingToPublish()
    return quasi, sensitive, links


def links_of(unit: Mapping[str, Any], variables: Sequence[Variable]) -> tuple[str, ...]:
    """The published columns that tie rows together: the household's number, the person's own."""
    names = [v.name for v in variables]
    _refuse_unknown_names([unit["household"]] if unit.get("household") else [], names)
    leaving = {v.name for v in dictionary.publishable_variables(variables)}
    declared = dict.fromkeys([unit.get("household"), unit.get("person")])
    return tuple(str(name) for name in declared if name in leaving)


def hierarchy_specs(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The hierarchies that a project's file describes, without the levels between which they are searched."""
    return {name: without_bounds(spec) for name, spec in document.get("hierarchies", {}).items()}


def without_bounds(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A hierarchy's description without the least and greatest level, which belong to the search."""
    return {key: value for key, value in spec.items() if key not in ("minimum", "maximum")}


def _criteria(
    given: Sequence[Mapping[str, Any]] | None,
    asked: Mapping[str, Any],
    rules: Sequence[Rule],
    sensitive: Sequence[str],
    names: Sequence[str],
) -> Criteria:
    """The project's criteria with the k and l that the command asks for, never below a protocol's."""
    if asked.get("l") is not None and not sensitive:
        raise NoSensitivePublished()
    chosen = tuple(default_criteria(rules, sensitive) if given is None else given)
    chosen = with_thresholds(chosen, asked, sensitive)
    _refuse_unknown_names([name for data in chosen if (name := criterion_from(data).variable)], names)
    _refuse_weaker_threshold(chosen, rules)
    return _add_protocol_criteria(chosen, rules, sensitive)


def _add_protocol_criteria(criteria: Criteria, rules: Sequence[Rule], sensitive: Sequence[str]) -> Criteria:
    """The criteria, and those of the protocols that they leave out."""
    asked = {name: value for name in ("k", "l") if (value := strictest_minimum(rules, name)[0])}
    return (*criteria, *lacking_criteria(criteria, asked, sensitive))


def _refuse_weaker_threshold(criteria: Criteria, rules: Sequence[Rule]) -> None:
    """A k or l written by hand is refused when a protocol of the project asks for more."""
    for data in criteria:
        name = THRESHOLDS.get(str(data.get("criterion")), "")
        minimum, protocol = strictest_minimum(rules, name)
        if name and data[name] < minimum:
            raise BelowProtocol(measure=name, given=data[name], protocol=protocol.upper(), minimum=minimum)


def _refuse_unknown_names(asked: Sequence[str] | Mapping[str, Any], names: Sequence[str]) -> None:
    for name in asked:
        if name not in names:
            raise UnknownVariable(variable=name, known=", ".join(names))
