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

from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.plan import Policy
from celosia.model.protocols import Rule, Severity
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Variable
from celosia.pipeline.intake.proposed_criteria import default_criteria, with_thresholds
from celosia.pipeline.planning.errors import NothingToPublish, RoleMissing
from celosia.pipeline.planning.policy import links_of, policy_of
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.edits import edit_settings
from celosia.pipeline.project.fallbacks import value_or_reason
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.settings_schema import POLICY, exact_share, refuse_wrong_request
from celosia.protocols.errors import OverrideNotPossible
from celosia.protocols.load import combined_rules, norm_of, smallest_class, strictest_minimum
from celosia.risk.criteria import CRITERIA, criterion_from
from celosia.workbench.dictionary_edit import super_table
from celosia.workbench.errors import WeakerThanNorm
from celosia.workbench.views.policy import CriterionForm, CriterionInForce, Demand, PolicyView

THRESHOLDS = ("k", "l")
_CRITERION = {"k": "k", "distinct_l": "l"}  # the criteria that carry a norm's k and l
Document = Mapping[str, Any]


def policy_view(source: ProjectArg) -> PolicyView:
    """The policy in force with where each part comes from, and every criterion that may be asked for as a form."""
    project = open_project(source)
    document, variables = project.settings, project.variables
    rules = combined_rules(project.config.protocols, document.get("overrides", {}))
    policy, blocked = value_or_reason(None, lambda: policy_of(document, variables, project.config.protocols))
    if policy is None:
        policy = _policy_as_written(document, variables, project.config.protocols)
    written = document.get("policy", {})
    return PolicyView(
        digest=project.settings_digest,
        protocols=project.config.protocols,
        rows=project.config.source.rows,
        person=project.config.person is not None,
        quasi=policy.quasi,
        sensitive=policy.sensitive,
        links=policy.links,
        criteria=tuple(_criteria_in_force(policy.criteria, written.get("criteria"), rules)),
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
        demands=tuple(_norm_demands(rules, combined_rules(project.config.protocols))),
        forms=criterion_forms(),
        blocked=blocked,
    )


def criterion_forms() -> tuple[CriterionForm, ...]:
    """Every criterion as the form that its declared parameters make."""
    return tuple(
        CriterionForm(kind.name, tuple(parameter.form(name) for name, parameter in kind.parameters.items()))
        for kind in CRITERIA
    )


def edit_policy(
    source: ProjectArg,
    changes: Mapping[str, Any],
    *,
    expected: str | None = None,
    why: str = "",
    now: datetime | None = None,
) -> PolicyView:
    """Write changes into `[policy]`: a setting of celosia.toml, or `k` and `l`; None takes a setting out.

    `why` is the reason of a choice below a norm; without one such a choice is refused.
    """
    project, why = open_project(source), why.strip()
    variables = project.variables
    with edit_settings(project, expected) as document:
        before = document.unwrap()
        asked = _read_changes(before, changes, project, variables)
        overrides_changed = _override_changes(before, asked, project.config.protocols, why)
        _put_settings(document, asked)
        _put_overrides(document, overrides_changed, why)
        _refuse_unusable(document.unwrap(), variables, project.config.protocols)
    facts = {
        "settings": sorted(changes),
        "overridden": [f"{rule.protocol}.{rule.id}" for rule, _ in overrides_changed.added],
        "restored": [f"{name}.{rule}" for name, rule in overrides_changed.needless],
    }
    _journal.append_entry(project.paths.journal, "policy", utc_now(now), facts, why=why)
    return policy_view(project.reread())


# --- the view -------------------------------------------------------------------------------------


def _policy_as_written(document: Document, variables: Sequence[Variable], protocols: Sequence[str]) -> Policy:
    """What the file says, unchecked: the form that mends it must be able to show it."""
    given = {key: value for key, value in document.get("policy", {}).items() if POLICY[key].accepts(value)}
    leaving = dictionary.publishable_variables(variables)
    rules = combined_rules(protocols, document.get("overrides", {}))
    sensitive = tuple(v.name for v in leaving if v.role == Role.SENSITIVE)
    criteria = tuple(given.pop("criteria", default_criteria(rules, sensitive)))
    limit = exact_share(given.pop("limit", 1)) or Fraction(0)
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    quasi = tuple(v.name for v in leaving if v.role == Role.QUASI)
    return Policy(quasi, sensitive, criteria, limit, **plain, links=links_of(document.get("unit", {}), variables))


def _criteria_in_force(
    criteria: Sequence[Document], written: Sequence[Document] | None, rules: Sequence[Rule]
) -> Iterator[CriterionInForce]:
    stated = [dict(criterion) for criterion in written or ()]
    for data in criteria:
        minimum = strictest_minimum(rules, _CRITERION.get(str(data.get("criterion")), ""))[0]
        origin = "project" if dict(data) in stated else "norm" if minimum else "default"
        yield CriterionInForce(dict(data), origin, minimum or None)


def _norm_demands(rules: Sequence[Rule], as_printed: Sequence[Rule]) -> Iterator[Demand]:
    """The rules that speak of k, of l, or of keeping every record."""
    printed = {(rule.protocol, rule.id): rule for rule in as_printed}
    for rule in rules:
        measure = _demand_measure(rule)
        if measure:
            norm, asked = _demand_number(printed[rule.protocol, rule.id]), _demand_number(rule)
            compulsory = rule.severity is Severity.MUST
            yield Demand(rule.protocol, rule.id, rule.section, measure, norm, asked, compulsory, rule.overridden)


def _demand_measure(rule: Rule) -> str:
    return {"k": "k", "risk_index": "k", "l": "l", "observations": "observations"}.get(rule.measure, "")


def _demand_number(rule: Rule) -> int | None:
    """The k or l a rule asks for; RI = 1/f below a threshold asks for a k."""
    if rule.measure == "risk_index":
        return smallest_class(Fraction(rule.asked["threshold"]))
    return int(rule.asked[rule.measure]) if rule.measure in THRESHOLDS else None


# --- the edit -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _OverrideChanges:
    """Rules to override with what is asked of each, and overrides that nothing needs any more."""

    added: tuple[tuple[Rule, Mapping[str, Any]], ...] = ()
    needless: tuple[tuple[str, str], ...] = ()


def _read_changes(
    document: Document, changes: Mapping[str, Any], project: Project, variables: Sequence[Variable]
) -> dict[str, Any]:
    """The settings to write, each of its kind; `k` and `l` become part of the criteria."""
    asked = {key: _plain_value(value) for key, value in changes.items() if key not in THRESHOLDS}
    for key in asked:
        if key not in POLICY:
            raise ValueOutOfRange(parameter="policy", given=key, allowed=", ".join((*POLICY, *THRESHOLDS)))
    thresholds = {key: changes[key] for key in THRESHOLDS if changes.get(key) is not None}
    if thresholds:
        asked["criteria"] = _replace_thresholds(document, asked, thresholds, project, variables)
    refuse_wrong_request({key: value for key, value in asked.items() if value is not None})
    for data in asked.get("criteria") or ():
        named = criterion_from(data).variable
        if named and named not in {variable.name for variable in variables}:
            raise UnknownVariable(variable=named, known=", ".join(variable.name for variable in variables))
    return asked


def _replace_thresholds(
    document: Document,
    asked: Mapping[str, Any],
    thresholds: Mapping[str, Any],
    project: Project,
    variables: Sequence[Variable],
) -> list[dict[str, Any]]:
    """The criteria as written, or as the norms have them, with the k and the l asked for."""
    sensitive = [v.name for v in dictionary.publishable_variables(variables) if v.role == Role.SENSITIVE]
    written = asked.get("criteria", document.get("policy", {}).get("criteria"))
    rules = combined_rules(project.config.protocols, document.get("overrides", {}))
    criteria = default_criteria(rules, sensitive) if written is None else tuple(written)
    return [dict(data) for data in with_thresholds(criteria, thresholds, sensitive)]


def _override_changes(
    document: Document, asked: Mapping[str, Any], protocols: Sequence[str], why: str
) -> _OverrideChanges:
    """What the criteria ask below a norm, to be overridden; and what they ask again as the norm does."""
    criteria = asked.get("criteria")
    if criteria is None:
        return _OverrideChanges()
    overrides = document.get("overrides", {})
    chosen = _smallest_thresholds(criteria)
    added = []
    for rule in combined_rules(protocols, overrides):
        value, wanted = chosen.get(_demand_measure(rule)), _demand_number(rule)
        if rule.severity is Severity.MUST and value is not None and wanted is not None and value < wanted:
            if not why:
                raise WeakerThanNorm(
                    measure=_demand_measure(rule), given=value, protocol=rule.protocol.upper(), minimum=wanted
                )
            added.append((rule, _weakened_rule(rule, value)))
    return _OverrideChanges(tuple(added), tuple(_needless_overrides(overrides, protocols, chosen)))


def _smallest_thresholds(criteria: Sequence[Document]) -> dict[str, int]:
    """The smallest k and the smallest l written by hand."""
    smallest: dict[str, int] = {}
    for data in criteria:
        name = _CRITERION.get(str(data.get("criterion")), "")
        if name:
            smallest[name] = min(data[name], smallest.get(name, data[name]))
    return smallest


def _weakened_rule(rule: Rule, value: int) -> dict[str, Any]:
    """What the rule asks when a k or an l of `value` is enough."""
    if rule.measure != "risk_index":
        return {rule.measure: value}
    if value < 2:  # 1/f reaches every threshold: nothing would be asked at all
        raise OverrideNotPossible(protocol=rule.protocol, rule=rule.id, allowed="k ≥ 2")
    return {"threshold": f"1/{value - 1}" if value > 2 else "1"}


def _needless_overrides(
    overrides: Document, protocols: Sequence[str], chosen: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """Overrides that weaken a rule whose own threshold the criteria reach."""
    printed = {(rule.protocol, rule.id): rule for rule in combined_rules(protocols)}
    asked = {(rule.protocol, rule.id): rule for rule in combined_rules(protocols, overrides)}
    for name, changed in overrides.items():
        for identifier in changed:
            key = next(key for key in ((name, identifier), (norm_of(name), identifier)) if key in printed)
            norm, here = _demand_number(printed[key]), _demand_number(asked[key])
            value = chosen.get(_demand_measure(printed[key]))
            if norm is not None and here is not None and value is not None and here < norm <= value:
                yield name, identifier


def _put_settings(document: tomlkit.TOMLDocument, asked: Mapping[str, Any]) -> None:
    section: Any = document.setdefault("policy", tomlkit.table())
    for key, value in asked.items():
        if value is None:
            section.pop(key, None)
        else:
            section[key] = _toml_item(value)
    if not section:
        document.pop("policy")


def _put_overrides(document: tomlkit.TOMLDocument, overrides_changed: _OverrideChanges, why: str) -> None:
    for rule, asked in overrides_changed.added:
        norm = super_table(super_table(document, "overrides"), rule.protocol)
        norm[rule.id] = tomlkit.table().add("asked", _toml_item(asked)).add("reason", why)
    for name, identifier in overrides_changed.needless:
        overrides: Any = document["overrides"]
        overrides[name].pop(identifier)
        if not overrides[name]:
            overrides.pop(name)
        if not overrides:
            document.pop("overrides")


def _toml_item(value: Any) -> Any:
    """A value as the file shows it: a list of tables one line each, a table as one line."""
    if isinstance(value, Mapping):
        line = tomlkit.inline_table()
        line.update({key: _toml_item(item) for key, item in value.items()})
        return line
    if not isinstance(value, list):
        return value
    array = tomlkit.array()
    for item in value:
        array.append(_toml_item(item))
    return array.multiline(bool(value) and isinstance(value[0], Mapping))


def _refuse_unusable(document: Document, variables: Sequence[Variable], protocols: Sequence[str]) -> None:
    """Refuse what no search could begin with; an unfinished dictionary is no fault of the policy."""
    try:
        policy_of(document, variables, protocols)
    except (RoleMissing, NothingToPublish):
        described = [replace(v, role=v.role or Role.PLAIN) for v in variables]
        if any(v.role == Role.QUASI for v in dictionary.publishable_variables(described)):
            policy_of(document, described, protocols)


def _plain_value(value: Any) -> Any:
    """A value as a file may hold it: tuples as lists, fractions as decimals where exact."""
    if isinstance(value, Fraction):
        return float(value) if Fraction(repr(float(value))) == value else str(value)
    if isinstance(value, Mapping):
        return {key: _plain_value(item) for key, item in value.items()}
    return [_plain_value(item) for item in value] if isinstance(value, list | tuple) else value
