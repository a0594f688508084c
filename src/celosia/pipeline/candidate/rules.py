"""The rules of the protocols judged on a project: a registry from the id of a measure to its function.

Knows what each measure looks at. Ignores where that comes from (`rule_context`) and what the norms say (`protocols`).
A measure gives whether the rule holds and the figures behind it; what it cannot measure has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from celosia import messages
from celosia.model.people import Approval, Person
from celosia.model.protocols import Rule
from celosia.model.rules import RuleReport, RuleResult
from celosia.model.variables import MelLabel, Role, Scale, Treatment, Variable
from celosia.model.verdict import State, Verdict
from celosia.pipeline.candidate import intruder_rules
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.rule_context import RuleContext, ScenarioFigure, context_of, original_names, read_check
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.people import same_name
from celosia.protocols.load import combined_rules
from celosia.protocols.measures import MEASURES, Stage
from celosia.protocols.words import asked_text, k_level, measured_text, reason_text

Asked = Mapping[str, Any]
# Whether it holds, or the state where it is neither, and the figures; None: not measurable.
Measurement = tuple[bool | State, dict[str, Any]] | None
Judge = Callable[[RuleContext, Asked], Measurement]


def rules_of(folder: ProjectArg) -> tuple[Rule, ...]:
    """Every rule of the project's protocols, with what its celosia.toml overrides."""
    project = open_project(folder)
    return combined_rules(project.config.protocols, project.settings.get("overrides", {}))


def judge_rules(context: RuleContext, rules: Sequence[Rule], stage: str) -> RuleReport:
    """The rules that can be answered at a stage, each judged on what the context holds."""
    moment = Stage[stage.upper()]
    due = [rule for rule in rules if _due(rule, moment)]
    digest = context.check.digest if context.check else ""
    return RuleReport(digest, tuple(judge_rule(context, rule) for rule in due))


def judge_project(project: Project, stage: str, **parts: Any) -> RuleReport:
    """The rules of a project on its present candidate, measured again; `parts` are what only the caller has."""
    candidate = project.paths.candidate
    context = context_of(project, project.plan, read_check(candidate), candidate)
    return judge_rules(replace(context, **parts), rules_of(project), stage)


def failing_text(report: RuleReport) -> str:
    """The rules that stop a release, each with its protocol, what it asks and what was measured."""
    sentences = [
        messages.text(
            "protocols.failing",
            protocol=result.protocol,
            rule=messages.text(f"protocols.short.{result.rule}"),
            asked=asked_text(result),
            measured=measured_text(result),
        )
        for result in report.failing
    ]
    return "; ".join(sentences)


def intruder_shortfall(folder: ProjectArg) -> str:
    """What the rules of the test with a person still miss, as they were measured, with the reason for the floor."""
    project = open_project(folder)
    context = RuleContext(
        claims=read_claims(project.paths.claims), people=project.people, check=read_check(project.paths.candidate)
    )
    rules = [rule for rule in rules_of(project) if rule.measure == "intruder"]
    results = [judge_rule(context, rule) for rule in rules]
    failing = [f"{measured_text(result)}. {reason_text(result)}".strip() for result in results if not result.passes]
    return " ".join(failing)


def _due(rule: Rule, stage: Stage) -> bool:
    since = MEASURES[rule.measure].since
    return since is stage if Stage.STATISTICS in (since, stage) else since <= stage


def judge_rule(context: RuleContext, rule: Rule) -> RuleResult:
    """A rule on what the context holds, with the figures that were measured."""
    measurement = JUDGES[rule.measure](context, rule.asked)
    return RuleResult(
        protocol=rule.protocol,
        rule=rule.id,
        section=rule.section,
        needs=rule.needs,
        severity=rule.severity,
        state=_state(measurement),
        asked={key: list(value) if isinstance(value, tuple) else value for key, value in rule.asked.items()},
        measured={} if measurement is None else measurement[1],
        overridden=rule.overridden,
    )


def _state(measurement: Measurement) -> State:
    if measurement is None:
        return State.NOT_MEASURABLE
    answer = measurement[0]
    return answer if isinstance(answer, State) else State.HOLDS if answer else State.FAILS


def _none_of(columns: Sequence[str]) -> Measurement:
    return not columns, {"columns": list(columns)}


# --- the file -------------------------------------------------------------------------------------


def _k(context: RuleContext, asked: Asked) -> Measurement:
    """The smallest class in persons where they are known, else in rows; without classes, the fully masked group."""
    check = context.check
    if check is None:
        return None
    persons = check.k_persons is not None
    k = check.k_persons if persons else check.k
    k = check.rows if k is None else k
    below = [v.failing_classes for v in check.verdicts if v.rule == "k" and v.asked.get("k") == asked["k"]]
    figures = {"k": k, "unit": "persons" if persons else "rows", "level": k_level(k)}
    return k >= asked["k"], {**figures, "failing_classes": below[0] if below else 0 if k >= asked["k"] else None}


def _l(context: RuleContext, asked: Asked) -> Measurement:
    """Each published sensitive attribute, by its own verdict: enough distinct values, or masked (X4).

    Where none is published nothing was measured: it has failed, or the head states why none is and signs it.
    """
    if context.check is None or context.plan is None:
        return None
    sensitive = [name for name in context.plan.policy["sensitive"] if name in context.plan.published]
    if not sensitive:
        statement = context.no_sensitive_attribute
        return (State.ATTESTED, {"statement": statement}) if statement else (State.NOT_MEASURABLE, {"sensitive": 0})
    judged = {name: _verdicts_on(context.check.verdicts, name, asked["l"]) for name in sensitive}
    if not all(judged.values()):
        return None
    failing = {
        name: max(verdict.failing_classes for verdict in verdicts)
        for name, verdicts in judged.items()
        if any(verdict.state is not State.HOLDS for verdict in verdicts)
    }
    # The file, where it was read, knows better than the plan.
    masked_rows = context.plan.masked_sensitive if context.figures is None else context.figures.masked
    masked = {name: rows for name, rows in masked_rows.items() if rows}
    return not failing, {"variables": sensitive, "failing": failing, "masked": masked}


def _verdicts_on(verdicts: Sequence[Verdict], variable: str, least: int) -> list[Verdict]:
    """Verdicts on persons that ask at least so many distinct values of a variable."""
    return [
        v
        for v in verdicts
        if v.rule == "distinct_l" and v.asked.get("variable") == variable and v.asked.get("unit") != "rows"
        if v.asked.get("l", 0) >= least
    ]


def _identifiers(context: RuleContext, asked: Asked) -> Measurement:
    if context.figures is None:
        return None
    declared = [v.name for v in context.published or () if v.role == Role.IDENTIFIER]
    return _none_but_allowed([*declared, *context.figures.identifiers], asked)


def _free_text(context: RuleContext, asked: Asked) -> Measurement:
    if context.figures is None:
        return None
    declared = [v.name for v in context.published or () if v.scale == Scale.FREE_TEXT]
    return _none_but_allowed([*declared, *context.figures.free_text], asked)


def _none_but_allowed(columns: Sequence[str], asked: Asked) -> Measurement:
    return _none_of([name for name in dict.fromkeys(columns) if name not in asked["allowed"]])


def _columns(context: RuleContext, asked: Asked) -> Measurement:
    verdicts = context.check.verdicts if context.check else ()
    verdict = next((verdict for verdict in verdicts if verdict.rule == "columns"), None)
    if verdict is None:
        return None
    return verdict.state is State.HOLDS, {"columns": verdict.measured, "wrong": verdict.failing_classes}


def _observations(context: RuleContext, asked: Asked) -> Measurement:
    if context.check is None or context.source_rows is None:
        return None
    figures = {"rows": context.check.rows, "source": context.source_rows}
    return context.check.rows == context.source_rows, figures


def _risk_index(context: RuleContext, asked: Asked) -> Measurement:
    """Every scenario under its own criterion where that is stricter, else under the norm's (A17)."""
    if context.figures is None or not context.figures.scenarios:
        return None
    common = Fraction(asked["threshold"])
    scenarios = [_scenario_measurement(scenario, common) for scenario in context.figures.scenarios]
    failing = [" × ".join(scenario["variables"]) for scenario in scenarios if scenario["at_risk"]]
    figures = {
        "checked": len(scenarios),
        "smallest": _smallest_class(context.figures.scenarios),
        "at_risk": max(scenario["at_risk"] for scenario in scenarios),
        "failing": failing,
        "scenarios": scenarios,
    }
    return not failing, figures


def _scenario_measurement(scenario: ScenarioFigure, common: Fraction) -> dict[str, Any]:
    threshold = min(common, scenario.threshold)
    at_risk = scenario.at_risk(threshold)
    measured = {"threshold": str(threshold), "smallest": scenario.smallest, "at_risk": at_risk}
    return {"variables": list(scenario.variables), **measured}


def _smallest_class(scenarios: Sequence[ScenarioFigure]) -> int | None:
    return min((scenario.smallest for scenario in scenarios if scenario.smallest is not None), default=None)


def _residual_risk(context: RuleContext, asked: Asked) -> Measurement:
    """The largest RI that is left; where nothing is shown, one among all. It is never nothing (A31)."""
    figures = context.figures
    if figures is None or not figures.scenarios:
        return None
    size = _smallest_class(figures.scenarios) or figures.rows
    return size > 0, {"smallest": size, "risk": f"{1 / size:.4f}" if size else None}


def _geography(context: RuleContext, asked: Asked) -> Measurement:
    """Published geographic variables whose smallest category has no more units than the minimum (P07)."""
    if context.figures is None or context.published is None:
        return None
    small = {name: least for name, least in context.figures.areas.items() if least is None or least <= asked["units"]}
    failing = {name: least or 0 for name, least in small.items() if name not in asked["allowed"]}
    return not failing, {"failing": failing, "unit": context.figures.unit}


# --- dictionary, plan and request -----------------------------------------------------------------


def _missing_in(lines: Sequence[Variable] | None, lacks: Callable[[Variable], bool]) -> Measurement:
    return None if lines is None else _none_of([line.name for line in lines if lacks(line)])


def _roles(context: RuleContext, asked: Asked) -> Measurement:
    return _missing_in(context.variables, lambda line: line.role is None)


def _purposes(context: RuleContext, asked: Asked) -> Measurement:
    return _missing_in(context.published, lambda line: not line.purpose.strip())


def _dictionary(context: RuleContext, asked: Asked) -> Measurement:
    return _missing_in(context.published, lambda line: not line.label.strip())


def _labels(context: RuleContext, asked: Asked) -> Measurement:
    """Lines without label or treatment, and "others" that go without a written reason (P02, P06, P09)."""

    def is_incomplete(line: Variable) -> bool:
        removed = line.mel_label == MelLabel.OTHER and line.treatment == Treatment.REMOVE
        return line.mel_label is None or line.treatment is None or (removed and line.name not in asked["allowed"])

    return _missing_in(context.variables, is_incomplete)


def _direct_labels(context: RuleContext, asked: Asked) -> Measurement:
    return _missing_in(context.published, lambda line: line.mel_label == MelLabel.DIRECT)


def _kept_variables(context: RuleContext, asked: Asked) -> Measurement:
    """Exactly what the annotated dictionary leaves in the base (P11)."""
    if context.variables is None or context.plan is None:
        return None
    stays = [v.name for v in context.variables if v.treatment not in (None, Treatment.REMOVE)]
    leaving = set(original_names(context.plan).values())
    absent, extra = [n for n in stays if n not in leaving], sorted(leaving - set(stays))
    return not absent and not extra, {"absent": absent, "extra": extra}


def _pseudonyms(context: RuleContext, asked: Asked) -> Measurement:
    if context.plan is None or context.keys is None:
        return None
    steps = sum(step.get("technique") == "pseudonymise" for step in context.plan.steps)
    return not steps and not context.keys, {"steps": steps, "keys": len(context.keys)}


def _microaggregation(context: RuleContext, asked: Asked) -> Measurement:
    """The size asked of every microaggregation; the technique's own least where a step names none."""
    if context.plan is None:
        return None
    used = [step for step in context.plan.steps if step.get("technique") == "microaggregate"]
    sizes = [int(step.get("size", asked["size"])) for step in used]
    return all(size >= asked["size"] for size in sizes), {"smallest": min(sizes, default=None)}


def _limited_variables(context: RuleContext, asked: Asked) -> Measurement:
    if context.request is None or context.plan is None:
        return None
    limited = set(context.request.limited)
    return _none_of([name for name, old in original_names(context.plan).items() if {name, old} & limited])


def _request_items(context: RuleContext, asked: Asked) -> Measurement:
    """Items that nobody answered; `no` is an answer."""
    if context.request is None:
        return None
    missing = [key for key in asked["items"] if context.request.item(key) in (None, "", (), [])]
    return not missing, {"missing": missing}


def _publication_items(context: RuleContext, asked: Asked) -> Measurement:
    if context.publication is None:
        return None
    missing = [key for key in asked["items"] if not context.publication.get(key)]
    return not missing, {"missing": missing}


def _properties(context: RuleContext, asked: Asked) -> Measurement:
    """Every property chosen in the request, as the closing evaluation found it; none chosen shows nothing."""
    if not context.closing:
        return None
    failing = [name for name, preserved in context.closing.items() if not preserved]
    return not failing, {"checked": len(context.closing), "failing": failing}


def _contrast(context: RuleContext, asked: Asked) -> Measurement:
    if context.contrast is None:
        return None
    differing = [name for name, equal in context.contrast.items() if not equal]
    enough = len(context.contrast) >= asked["variables"]
    return enough and not differing, {"variables": len(context.contrast), "differing": differing}


def _delivery(context: RuleContext, asked: Asked) -> Measurement:
    if context.delivery is None:
        return None
    return len(context.delivery) == asked["files"], {"files": len(context.delivery)}


# --- people ---------------------------------------------------------------------------------------


def _approval_judge(what: str) -> Judge:
    def judge(context: RuleContext, asked: Asked) -> Measurement:
        if context.approvals is None:
            return None
        names = [approval.name for approval in context.approvals.get(what, ()) if approval.role in asked["roles"]]
        return bool(names), {"names": list(dict.fromkeys(names))}

    return judge


def _second_person(context: RuleContext, asked: Asked) -> Measurement:
    """A verifier's approval of this candidate, by somebody who is none of those who executed (M31)."""
    if context.approvals is None or context.people is None:
        return None
    executors: list[Person | Approval] = [person for person in context.people if "executor" in person.roles]
    executors += [given for approvals in context.approvals.values() for given in approvals if given.role == "executor"]
    if not executors:
        return None
    names = [executor.name for executor in executors]
    own = {executor.key for executor in executors} | {name.casefold() for name in (*names, *context.ran)}
    verified = [approval for approval in context.approvals.get("candidate", ()) if approval.role == "verifier"]
    apart = [approval.name for approval in verified if not {approval.key, approval.name.casefold()} & own]
    return bool(apart), {"names": list(dict.fromkeys(apart))}


def _separate_people(context: RuleContext, asked: Asked) -> Measurement:
    """Nobody acts in two of the roles: as verifier acts who approved the candidate, in the others who holds them."""
    if context.approvals is None or context.people is None:
        return None
    verified = {given.key for given in context.approvals.get("candidate", ()) if given.role == "verifier"}
    overlaps = {}
    for person in context.people:
        roles = [role for role in asked["roles"] if role in person.roles]
        if verified and person.key not in verified:
            roles = [role for role in roles if role != "verifier"]
        if len(roles) > 1:
            overlaps[person.name] = roles
    return not overlaps, {"overlaps": overlaps}


def missing_signers(asked: Sequence[str], signed: Collection[str]) -> list[str]:
    """The roles that have still to sign; a delegate signs for the lead (MEL IV.2, «o quien este designe»)."""
    return [role for role in asked if role not in signed and not (role == "lead" and "delegate" in signed)]


def _signatures(context: RuleContext, asked: Asked) -> Measurement:
    """One signature per role, and who executed is not who verified; one key never signs under two names."""
    if context.signatures is None:
        return None
    by_role = {signature.role: signature for signature in context.signatures}
    missing = missing_signers(asked["roles"], by_role)
    executor, verifier = by_role.get("executor"), by_role.get("verifier")
    if executor and verifier and (executor.key == verifier.key or same_name(executor.name, verifier.name)):
        missing.append("verifier")
    names = {(signature.key, signature.name) for signature in context.signatures}
    if len({key for key, _ in names}) < len(names):
        missing.append(asked["roles"][0])
    return not missing, {"missing": missing}


def _count_judge(measure: str) -> Judge:
    """A measure that the statistics take: how many break the rule."""

    def judge(context: RuleContext, asked: Asked) -> Measurement:
        key = "/".join([measure, *(str(asked[part]) for part in MEASURES[measure].demands if part != "cells")])
        if context.statistics is None or key not in context.statistics:
            return None
        return context.statistics[key] <= asked.get("cells", 0), {"found": context.statistics[key]}

    return judge


# A measure is judged by the function of its name.
_OF_FILE = (
    _k,
    _l,
    _identifiers,
    _free_text,
    _columns,
    _observations,
    _risk_index,
    _residual_risk,
    _geography,
)
_OF_DICTIONARY = (_roles, _purposes, _dictionary, _labels, _direct_labels, _kept_variables)
_OF_PLAN = (_pseudonyms, _microaggregation, _limited_variables, _properties, _contrast, _delivery)
_OF_PEOPLE = (_request_items, _publication_items, _second_person, _separate_people, _signatures)
JUDGES: Mapping[str, Judge] = MappingProxyType(
    {judge.__name__.removeprefix("_"): judge for judge in (*_OF_FILE, *_OF_DICTIONARY, *_OF_PLAN, *_OF_PEOPLE)}
    | {f"{what}_approval": _approval_judge(what) for what in ("dictionary", "plan", "residual")}
    | intruder_rules.JUDGES
    | {name: _count_judge(name) for name in MEASURES if name.startswith("stats_")}
)
