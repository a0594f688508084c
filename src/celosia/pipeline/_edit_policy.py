"""The policy of a project as a form: what is in force and why, what may be asked, and an edit of `[policy]`.

Knows celosia.toml, the dictionary's roles and the rules of the norms. Ignores data: no cell is read here. A choice
weaker than a norm is written only with its reason, as an override of the rule that it undercuts; an override that a
stricter choice makes needless is taken out again. What people wrote in the file, comments too, stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

import tomlkit

from celosia.errors import (
    CelosiaError,
    NothingToPublish,
    OverrideNotPossible,
    RoleMissing,
    UnknownVariable,
    ValueOutOfRange,
    WeakerThanNorm,
)
from celosia.model import dictionary
from celosia.model.plan import Policy
from celosia.model.policy_view import CriterionForm, CriterionInForce, Demand, ParameterForm, PolicyView
from celosia.model.protocols import Rule, Severity
from celosia.model.variables import Role, Variable
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._edit_settings import settings_edited
from celosia.pipeline._kept import digest_of_file
from celosia.pipeline._policy import default_criteria, links_of, policy_of, with_thresholds
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._settings import POLICY, exact_share, refuse_wrong_request
from celosia.protocols import combined, least, norm_of, smallest_class
from celosia.risk.criteria import CRITERIA, criterion_from, declared

THRESHOLDS = ("k", "l")
_CRITERION = {"k": "k", "distinct_l": "l"}  # the criteria that carry a norm's k and l
Document = Mapping[str, Any]


def policy_view(folder: Place) -> PolicyView:
    """The policy in force with where each part comes from, and every criterion that may be asked for as a form."""
    project = open_project(folder)
    path = project.folder / "celosia.toml"
    digest, document = digest_of_file(path), read_toml(path)
    variables = project.variables()
    rules = combined(project.config.protocols, document.get("overrides", {}))
    policy, blocked = _policy_or_reason(document, variables, project.config.protocols)
    written = document.get("policy", {})
    return PolicyView(
        digest=digest,
        protocols=project.config.protocols,
        rows=project.config.source.rows,
        person=project.config.person is not None,
        quasi=policy.quasi,
        sensitive=policy.sensitive,
        links=policy.links,
        criteria=tuple(_in_force(policy.criteria, written.get("criteria"), rules)),
        limit=policy.limit,
        method=policy.method,
        metric=policy.metric,
        mean=policy.mean,
        order=policy.order,
        weights=dict(policy.weights),
        mask_sensitive=policy.mask_sensitive,
        suppressed=policy.suppressed,
        reading=policy.reading,
        time_limit=policy.time_limit,
        stated=tuple(written),
        demands=tuple(_demands(rules, combined(project.config.protocols))),
        forms=criterion_forms(),
        blocked=blocked,
    )


def criterion_forms() -> tuple[CriterionForm, ...]:
    """Every criterion as the form that its declared parameters make."""
    return tuple(
        CriterionForm(
            kind.name,
            tuple(ParameterForm(name, **declared(parameter)) for name, parameter in kind.parameters.items()),
        )
        for kind in CRITERIA
    )


def edit_policy(
    folder: Place, changes: Mapping[str, Any], *, expected: str | None = None, why: str = "",
    now: datetime | None = None,
) -> PolicyView:  # fmt: skip
    """Write changes into `[policy]`: a setting of celosia.toml, or `k` and `l`; None takes a setting out.

    `why` is the reason of a choice below a norm; without one such a choice is refused.
    """
    project, why = open_project(folder), why.strip()
    variables = project.variables()
    with settings_edited(project, expected) as document:
        before = document.unwrap()
        asked = _understood(before, changes, project, variables)
        turned = _overrides_for(before, asked, project.config.protocols, why)
        _put(document, asked)
        _put_overrides(document, turned, why)
        _refuse_senseless(document.unwrap(), variables, project.config.protocols)
    facts = {"settings": sorted(changes), "overridden": [_named(one) for one in turned.added],
             "restored": [f"{name}.{rule}" for name, rule in turned.needless]}  # fmt: skip
    _journal.append(project.journal_path, "policy", moment(now), facts, why=why)
    return policy_view(folder)


# --- the view -------------------------------------------------------------------------------------


def _policy_or_reason(
    document: Document, variables: Sequence[Variable], protocols: Sequence[str]
) -> tuple[Policy, str]:
    """The policy in force; where none can be made, what is known of it and the sentence that says why."""
    try:
        return policy_of(document, variables, protocols), ""
    except CelosiaError as refusal:
        return _as_written(document, variables, protocols), str(refusal)


def _as_written(document: Document, variables: Sequence[Variable], protocols: Sequence[str]) -> Policy:
    """What the file says, unchecked: the form that mends it must be able to show it."""
    given = {key: value for key, value in document.get("policy", {}).items() if POLICY[key].fits(value)}
    leaving = dictionary.published(variables)
    rules = combined(protocols, document.get("overrides", {}))
    sensitive = tuple(v.name for v in leaving if v.role == Role.SENSITIVE)
    criteria = tuple(given.pop("criteria", default_criteria(rules, sensitive)))
    limit = exact_share(given.pop("limit", 1)) or Fraction(0)
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    quasi = tuple(v.name for v in leaving if v.role == Role.QUASI)
    return Policy(quasi, sensitive, criteria, limit, **plain, links=links_of(document.get("unit", {}), variables))


def _in_force(
    criteria: Sequence[Document], written: Sequence[Document] | None, rules: Sequence[Rule]
) -> Iterator[CriterionInForce]:
    stated = [dict(one) for one in written or ()]
    for data in criteria:
        minimum = least(rules, _CRITERION.get(str(data.get("criterion")), ""))[0]
        origin = "project" if dict(data) in stated else "norm" if minimum else "default"
        yield CriterionInForce(dict(data), origin, minimum or None)


def _demands(rules: Sequence[Rule], as_printed: Sequence[Rule]) -> Iterator[Demand]:
    """The rules that speak of k, of l, or of keeping every record."""
    printed = {(rule.protocol, rule.id): rule for rule in as_printed}
    for rule in rules:
        measure = _measure(rule)
        if measure:
            own = printed[rule.protocol, rule.id]
            yield Demand(rule.protocol, rule.id, rule.section, measure, _number(own), _number(rule),
                         rule.severity is Severity.MUST, rule.overridden)  # fmt: skip


def _measure(rule: Rule) -> str:
    return {"k": "k", "risk_index": "k", "l": "l", "observations": "observations"}.get(rule.measure, "")


def _number(rule: Rule) -> int | None:
    """The k or l a rule asks for; RI = 1/f below a threshold asks for a k."""
    if rule.measure == "risk_index":
        return smallest_class(Fraction(rule.asked["threshold"]))
    return int(rule.asked[rule.measure]) if rule.measure in THRESHOLDS else None


# --- the edit -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Turned:
    """Rules to override with what is asked of each, and overrides that nothing needs any more."""

    added: tuple[tuple[Rule, Mapping[str, Any]], ...] = ()
    needless: tuple[tuple[str, str], ...] = ()


def _understood(
    document: Document, changes: Mapping[str, Any], project: Project, variables: Sequence[Variable]
) -> dict[str, Any]:
    """The settings to write, each of its kind; `k` and `l` become part of the criteria."""
    asked = {key: _plain(value) for key, value in changes.items() if key not in THRESHOLDS}
    for key in asked:
        if key not in POLICY:
            raise ValueOutOfRange(parameter="policy", given=key, allowed=", ".join((*POLICY, *THRESHOLDS)))
    thresholds = {key: changes[key] for key in THRESHOLDS if changes.get(key) is not None}
    if thresholds:
        asked["criteria"] = _with_thresholds(document, asked, thresholds, project, variables)
    refuse_wrong_request({key: value for key, value in asked.items() if value is not None})
    for data in asked.get("criteria") or ():
        named = criterion_from(data).variable
        if named and named not in {variable.name for variable in variables}:
            raise UnknownVariable(variable=named, known=", ".join(variable.name for variable in variables))
    return asked


def _with_thresholds(
    document: Document, asked: Mapping[str, Any], thresholds: Mapping[str, Any], project: Project,
    variables: Sequence[Variable],
) -> list[dict[str, Any]]:  # fmt: skip
    """The criteria as written, or as the norms have them, with the k and the l asked for."""
    sensitive = [v.name for v in dictionary.published(variables) if v.role == Role.SENSITIVE]
    written = asked.get("criteria", document.get("policy", {}).get("criteria"))
    rules = combined(project.config.protocols, document.get("overrides", {}))
    criteria = default_criteria(rules, sensitive) if written is None else tuple(written)
    return [dict(data) for data in with_thresholds(criteria, thresholds, sensitive)]


def _overrides_for(document: Document, asked: Mapping[str, Any], protocols: Sequence[str], why: str) -> _Turned:
    """What the criteria ask below a norm, to be overridden; and what they ask again as the norm does."""
    criteria = asked.get("criteria")
    if criteria is None:
        return _Turned()
    overrides = document.get("overrides", {})
    chosen = _smallest_asked(criteria)
    added = []
    for rule in combined(protocols, overrides):
        value, wanted = chosen.get(_measure(rule)), _number(rule)
        if rule.severity is Severity.MUST and value is not None and wanted is not None and value < wanted:
            if not why:
                raise WeakerThanNorm(
                    measure=_measure(rule), given=value, protocol=rule.protocol.upper(), minimum=wanted
                )
            added.append((rule, _weaker(rule, value)))
    return _Turned(tuple(added), tuple(_needless(overrides, protocols, chosen)))


def _smallest_asked(criteria: Sequence[Document]) -> dict[str, int]:
    """The smallest k and the smallest l written by hand."""
    found: dict[str, int] = {}
    for data in criteria:
        name = _CRITERION.get(str(data.get("criterion")), "")
        if name:
            found[name] = min(data[name], found.get(name, data[name]))
    return found


def _weaker(rule: Rule, value: int) -> dict[str, Any]:
    """What the rule asks when a k or an l of `value` is enough."""
    if rule.measure != "risk_index":
        return {rule.measure: value}
    if value < 2:  # 1/f reaches every threshold: nothing would be asked at all
        raise OverrideNotPossible(protocol=rule.protocol, rule=rule.id, allowed="k ≥ 2")
    return {"threshold": f"1/{value - 1}" if value > 2 else "1"}


def _needless(overrides: Document, protocols: Sequence[str], chosen: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Overrides that weaken a rule whose own threshold the criteria reach."""
    printed = {(rule.protocol, rule.id): rule for rule in combined(protocols)}
    asked = {(rule.protocol, rule.id): rule for rule in combined(protocols, overrides)}
    for name, changed in overrides.items():
        for identifier in changed:
            key = next(key for key in ((name, identifier), (norm_of(name), identifier)) if key in printed)
            norm, here, value = _number(printed[key]), _number(asked[key]), chosen.get(_measure(printed[key]))
            if norm is not None and here is not None and value is not None and here < norm <= value:
                yield name, identifier


def _put(document: tomlkit.TOMLDocument, asked: Mapping[str, Any]) -> None:
    if "policy" not in document:
        document["policy"] = tomlkit.table()
    section: Any = document["policy"]
    for key, value in asked.items():
        if value is None:
            section.pop(key, None)
        else:
            section[key] = _item(value)
    if not section:
        document.pop("policy")


def _put_overrides(document: tomlkit.TOMLDocument, turned: _Turned, why: str) -> None:
    for rule, asked in turned.added:
        held = _section(_section(document, "overrides"), rule.protocol)
        held[rule.id] = tomlkit.table().add("asked", _item(asked)).add("reason", why)
    for name, identifier in turned.needless:
        overrides: Any = document["overrides"]
        overrides[name].pop(identifier)
        if not overrides[name]:
            overrides.pop(name)
        if not overrides:
            document.pop("overrides")


def _section(document: Any, name: str) -> Any:
    """A table of tables that is never written as a heading of its own."""
    if name not in document:
        document[name] = tomlkit.table(is_super_table=True)
    return document[name]


def _item(value: Any) -> Any:
    """A value as the file shows it: a list of tables one line each, a table as one line."""
    if isinstance(value, Mapping):
        line = tomlkit.inline_table()
        line.update({key: _item(one) for key, one in value.items()})
        return line
    if not isinstance(value, list):
        return value
    made = tomlkit.array()
    for one in value:
        made.append(_item(one))
    return made.multiline(bool(value) and isinstance(value[0], Mapping))


def _refuse_senseless(document: Document, variables: Sequence[Variable], protocols: Sequence[str]) -> None:
    """Refuse what no search could begin with; an unfinished dictionary is no fault of the policy."""
    try:
        policy_of(document, variables, protocols)
    except (RoleMissing, NothingToPublish):
        described = [replace(v, role=v.role or Role.PLAIN) for v in variables]
        if any(v.role == Role.QUASI for v in dictionary.published(described)):
            policy_of(document, described, protocols)


def _named(added: tuple[Rule, Mapping[str, Any]]) -> str:
    return f"{added[0].protocol}.{added[0].id}"


def _plain(value: Any) -> Any:
    """A value as a file may hold it: tuples as lists, fractions as decimals where exact."""
    if isinstance(value, Fraction):
        return float(value) if Fraction(repr(float(value))) == value else str(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
