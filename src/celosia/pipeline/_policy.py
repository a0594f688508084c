"""The policy of a project: what celosia.toml says, completed by its dictionary and protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from celosia.errors import LinkedRowsMethod, NothingToPublish, RoleMissing, UnknownVariable, ValueOutOfRange
from celosia.model import dictionary
from celosia.model.plan import METHODS, Policy
from celosia.model.variables import Role, Variable

# What each protocol asks when the project says nothing else: MINSAL Verificación 4; ATENEA RI >= 0.3, so f >= 4.
_K = {"minsal": 2, "atenea": 4, "mel": 2}
_L = {"minsal": 2}
_SETTINGS = frozenset(
    ("criteria", "limit", "method", "order", "metric", "mean", "weights", "mask_sensitive", "suppressed",
     "reading", "time_limit")
)  # fmt: skip


def policy_of(
    document: Mapping[str, Any], variables: Sequence[Variable], protocols: Sequence[str], **overrides: Any
) -> Policy:
    """The policy that a project's file, dictionary and protocols add up to; overrides come from the command."""
    missing = dictionary.without_role(variables)
    if missing:
        raise RoleMissing(variables=", ".join(missing))
    leaving = dictionary.published(variables)
    links = links_of(document.get("unit", {}), variables)
    quasi = tuple(v.name for v in leaving if v.role == Role.QUASI and v.name not in links)
    sensitive = tuple(v.name for v in leaving if v.role == Role.SENSITIVE and v.name not in links)
    if not leaving or not quasi:
        raise NothingToPublish()
    asked = {key: value for key, value in overrides.items() if value is not None}
    given = dict(document.get("policy", {})) | {key: value for key, value in asked.items() if key not in ("k", "l")}
    _refuse_unknown_settings(given)
    hierarchies = {name: dict(spec) for name, spec in document.get("hierarchies", {}).items()}
    _refuse_unknown_names(hierarchies, [v.name for v in variables])
    policy = Policy(
        quasi=quasi,
        sensitive=sensitive,
        criteria=_stricter(tuple(given.get("criteria", default_criteria(protocols, sensitive))), asked),
        limit=_limit(given.get("limit", 1)),
        method=_one_of("method", given.get("method", "full-domain"), METHODS),
        order=tuple(given.get("order", ())),
        metric=given.get("metric", "loss"),
        mean=given.get("mean", "geometric"),
        weights=given.get("weights", {}),
        hierarchies={name: _spec(spec) for name, spec in hierarchies.items()},
        minimum={name: int(spec["minimum"]) for name, spec in hierarchies.items() if "minimum" in spec},
        maximum={name: int(spec["maximum"]) for name, spec in hierarchies.items() if "maximum" in spec},
        mask_sensitive=bool(given.get("mask_sensitive", "minsal" in protocols)),
        suppressed=_one_of("suppressed", given.get("suppressed", "keep"), ("keep", "drop")),
        reading=_one_of("reading", given.get("reading", "own"), ("own", "wildcard")),
        time_limit=given.get("time_limit"),
        links=links,
    )
    if links and policy.method != "full-domain":
        raise LinkedRowsMethod(method=policy.method, columns=", ".join(links))
    return policy


def links_of(unit: Mapping[str, Any], variables: Sequence[Variable]) -> tuple[str, ...]:
    """The published columns that tie rows together: the household's number, the person's own."""
    names = [v.name for v in variables]
    _refuse_unknown_names({unit["household"]: {}} if unit.get("household") else {}, names)
    leaving = {v.name for v in dictionary.published(variables)}
    declared = dict.fromkeys([unit.get("household"), unit.get("person")])
    return tuple(str(name) for name in declared if name in leaving)


def default_criteria(protocols: Sequence[str], sensitive: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """The strictest of what the protocols ask; without protocol, k >= 2 and l >= 2."""
    k = max([_K[name] for name in protocols if name in _K], default=2)
    least_l = max([_L[name] for name in protocols if name in _L], default=0 if protocols else 2)
    wanted: list[dict[str, Any]] = [{"criterion": "k", "k": k}]
    if least_l:
        wanted += [{"criterion": "distinct_l", "variable": name, "l": least_l} for name in sensitive]
    return tuple(wanted)


def _stricter(criteria: tuple[Mapping[str, Any], ...], asked: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The criteria with the k or l that the command asks for."""
    wanted = {"k": asked.get("k"), "distinct_l": asked.get("l")}
    return tuple(
        {**criterion, {"k": "k", "distinct_l": "l"}[name]: wanted[name]}
        if (name := str(criterion.get("criterion"))) in wanted and wanted[name] is not None
        else criterion
        for criterion in criteria
    )


def _limit(value: Any) -> Fraction:
    """A share 0..1, exactly as written: 0.05 is 1/20."""
    try:
        limit = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueOutOfRange(parameter="limit", given=value, allowed="0–1") from None
    if not 0 <= limit <= 1:
        raise ValueOutOfRange(parameter="limit", given=value, allowed="0–1")
    return limit


def _one_of(parameter: str, value: Any, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise ValueOutOfRange(parameter=parameter, given=value, allowed=", ".join(allowed))
    return str(value)


def _spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in ("minimum", "maximum")}


def _refuse_unknown_settings(given: Mapping[str, Any]) -> None:
    for key in given:
        if key not in _SETTINGS:
            raise ValueOutOfRange(parameter="policy", given=key, allowed=", ".join(sorted(_SETTINGS)))


def _refuse_unknown_names(hierarchies: Mapping[str, Any], names: Sequence[str]) -> None:
    for name in hierarchies:
        if name not in names:
            raise UnknownVariable(variable=name, known=", ".join(names))
