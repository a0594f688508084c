"""Each measure holds and fails on a small case; what is not there cannot be measured, and has failed."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from celosia import messages
from celosia.demo.synthetic.discharges import write_discharges
from celosia.model import dictionary
from celosia.model.claims import Claims, Outsider
from celosia.model.errors import UnknownFormat
from celosia.model.paths import CandidatePaths, ProjectPaths
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan
from celosia.model.protocols import Severity
from celosia.model.reports.attacks import AttackReport, Finding
from celosia.model.requests import Request
from celosia.model.rules import rule_report_from
from celosia.model.variables import MelLabel, Role, Scale, Treatment, Variable
from celosia.model.verdict import CheckReport, State, Verdict
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.errors import CandidateFails, ClaimsUnclear
from celosia.pipeline.candidate.intruder_evidence import AttackRecord
from celosia.pipeline.candidate.rule_context import (
    FileFigures,
    RuleContext,
    ScenarioFigure,
    original_names,
    published_variables,
)
from celosia.pipeline.candidate.rules import JUDGES, judge_project, judge_rules
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from celosia.protocols.errors import OverrideUnexplained
from celosia.protocols.load import combined_rules, load
from celosia.protocols.measures import MEASURES
from celosia.protocols.words import measured_text

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
AGE = Variable("EDAD", label="edad", role=Role.QUASI, scale=Scale.DISCRETE, purpose="estudio",
               mel_label=MelLabel.OTHER, treatment=Treatment.KEEP)  # fmt: skip
DIAG = replace(AGE, name="DIAG", role=Role.SENSITIVE)
TOWN = replace(AGE, name="COMUNA", mel_label=MelLabel.GEOGRAPHIC)
RUN = Variable("RUN", label="run", role=Role.IDENTIFIER, mel_label=MelLabel.DIRECT, treatment=Treatment.REMOVE)
LINES = (AGE, DIAG, TOWN, RUN)
HEAD = Person("Ana", ("head",), "a")
EXECUTOR, VERIFIER = Person("Eva", ("executor",), "e"), Person("Vito", ("verifier",), "v")


def plan(**changes) -> Plan:
    policy = {"quasi": ["EDAD", "COMUNA"], "sensitive": ["DIAG"], "links": []}
    made = Plan("full-domain", policy, "s", "d", ("EDAD", "DIAG", "COMUNA"), {}, {}, 0.0, "loss", 0, 0.0, {}, 1, 1, 1,
                True, None)  # fmt: skip
    return replace(made, **changes)


def check(k=2, k_persons=None, failing=0, l_state=State.HOLDS, **changes) -> CheckReport:
    verdicts = (
        Verdict("columns", {"columns": 3}, 3, 0, 0, State.HOLDS),
        Verdict("k", {"criterion": "k", "k": 2}, None, failing, failing, State.FAILS if failing else State.HOLDS),
        Verdict("distinct_l", {"variable": "DIAG", "l": 2}, None, 0 if l_state is State.HOLDS else 3, 0, l_state),
    )
    made = CheckReport("data.csv", "sha256:abc", 100, 9, 0, verdicts, k, k_persons)
    return replace(made, **changes)


def scenario(*sizes, variables=("EDAD", "COMUNA"), threshold="0.3") -> ScenarioFigure:
    return ScenarioFigure(variables, Fraction(threshold), tuple((n, n) for n in sizes), min(sizes, default=None))


CLAIMS = Claims("sha256:abc", 2, 0, minutes=60, outsiders=(Outsider("E1", True, "2026-11-15"),), statement="sí")
REPORT = AttackReport(target="sha256:abc", seed=0, rows=100, persons=None)
GRAVE = Finding(kind="free_text", columns=("NOTA",), cells=9, persons=9, severity="high")
FIGURES = FileFigures(100, "rows", scenarios=(scenario(4, 40),), areas={"COMUNA": 51})
GOOD = RuleContext(
    variables=LINES, published=LINES[:3], plan=plan(), check=check(k=4), figures=FIGURES,
    request=Request(variables=("EDAD", "COMUNA"), use="tesis", legal={"protected_by_law": False}), source_rows=100,
    keys=(), people=(HEAD, EXECUTOR, VERIFIER), claims=CLAIMS, attacks=AttackRecord(REPORT), closing={"mean": True},
    contrast=dict.fromkeys("ABCD", True), publication={"consultation": "2026-11-01"}, delivery=("a", "b", "c", "d"),
    approvals={
        what: (Approval(what, "x", role, name, key, "t"),)
        for what, role, name, key in (
            ("dictionary", "lead", "Lea", "l"), ("plan", "head", "Ana", "a"), ("residual", "lead", "Lea", "l"),
            ("candidate", "verifier", "Vito", "v"), ("intruder", "verifier", "Vito", "v"),
        )
    },
    signatures=tuple(
        Approval("release", "m", one.roles[0], one.name, one.key, "t") for one in (HEAD, EXECUTOR, VERIFIER)
    ),
    statistics={name: 0 for name in MEASURES if name.startswith("stats_")}
    | {"stats_k/internal": 0, "stats_generalised/age": 0},
)  # fmt: skip
ASKED = {
    "k": {"k": 2}, "l": {"l": 2}, "identifiers": {"allowed": ()}, "free_text": {"allowed": ()},
    "labels": {"allowed": ()}, "microaggregation": {"size": 3},
    "risk_index": {"threshold": "0.3"}, "geography": {"units": 50, "allowed": ()},
    "dictionary_approval": {"roles": ("lead",)}, "plan_approval": {"roles": ("head",)},
    "residual_approval": {"roles": ("lead", "delegate")}, "request_items": {"items": ("use", "legal.protected_by_law")},
    "contrast": {"variables": 4}, "intruder": {"rows": 2, "minutes": 60, "correct": 0},
    "intruder_approval": {"roles": ("outsider", "verifier")}, "intruder_findings": {"roles": ("head",), "run": True},
    "signatures": {"roles": ("head", "executor", "verifier")}, "publication_items": {"items": ("consultation",)},
    "separate_people": {"roles": ("head", "executor", "verifier")},
    "delivery": {"files": 4}, "stats_k": {"k": 5, "audience": "internal"}, "stats_generalised": {"kind": "age"},
    "stats_recoverable": {"cells": 0},
}  # fmt: skip
BROKEN = {
    "k": {"check": check(k=1, failing=7)},
    "l": {"check": check(l_state=State.FAILS)},
    "identifiers": {"figures": replace(FIGURES, identifiers=("EDAD",))},
    "free_text": {"published": (replace(DIAG, scale=Scale.FREE_TEXT),)},
    "columns": {"check": check(verdicts=(Verdict("columns", {}, 4, 1, 0, State.FAILS),))},
    "roles": {"variables": (replace(AGE, role=None),)},
    "purposes": {"published": (replace(AGE, purpose=" "),)},
    "pseudonyms": {"keys": ("1-pseudonymise",)},
    "limited_variables": {"request": Request(legal={"limited": ["EDAD"]})},
    "microaggregation": {"plan": plan(steps=({"technique": "microaggregate", "size": 2},))},
    "risk_index": {"figures": replace(FIGURES, scenarios=(scenario(3, 40),))},
    "residual_risk": {"figures": replace(FIGURES, rows=0, scenarios=(scenario(),))},
    "labels": {"variables": (replace(AGE, mel_label=None),)},
    "geography": {"figures": replace(FIGURES, areas={"COMUNA": 50})},
    "direct_labels": {"published": (replace(AGE, mel_label=MelLabel.DIRECT),)},
    "kept_variables": {"plan": plan(published=("EDAD", "DIAG"))},
    "dictionary_approval": {"approvals": {}},
    "plan_approval": {"approvals": {}},
    "residual_approval": {"approvals": {}},
    "observations": {"source_rows": 101},
    "request_items": {"request": Request(legal={"protected_by_law": True})},
    "dictionary": {"published": (replace(AGE, label=""),)},
    "properties": {"closing": {"mean": True, "total": False}},
    "contrast": {"contrast": dict.fromkeys("ABC", True)},
    "intruder": {"claims": replace(CLAIMS, correct=1)},
    "intruder_approval": {"approvals": {}},
    "intruder_findings": {"attacks": AttackRecord(replace(REPORT, findings=(GRAVE,)))},
    "second_person": {"people": (replace(VERIFIER, roles=("verifier", "executor")),)},
    "separate_people": {"people": (replace(VERIFIER, roles=("verifier", "head")),)},
    "signatures": {"signatures": GOOD.signatures[:2]},
    "publication_items": {"publication": {"consultation": ""}},
    "delivery": {"delivery": ("a", "b", "c")},
    **{name: {"statistics": {name: 1, "stats_k/internal": 1, "stats_generalised/age": 1}}
       for name in MEASURES if name.startswith("stats_")},
}  # fmt: skip


def judged(measure, context=GOOD, **asked):
    return JUDGES[measure](context, {**ASKED.get(measure, {}), **asked})


def test_every_measure_a_rule_may_name_has_its_function_and_its_case():
    assert set(JUDGES) == set(MEASURES) == set(BROKEN)


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_holds_where_it_should_and_fails_where_it_should(measure):
    assert judged(measure)[0] is True
    assert judged(measure, replace(GOOD, **BROKEN[measure]))[0] is False


@pytest.mark.parametrize("measure", MEASURES)
def test_what_is_not_there_cannot_be_measured(measure):
    assert judged(measure, RuleContext()) is None


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("stage", ["run", "release", "publish", "statistics"])
def test_every_result_can_be_told_in_both_languages(language, stage):
    rules = combined_rules(["minsal", "minsal-sensible", "atenea", "mel", "yapo"])
    for context in (GOOD, RuleContext(), *(replace(GOOD, **change) for change in BROKEN.values())):
        for result in judge_rules(context, rules, stage).results:
            with messages.speaking(language):
                assert "{" not in measured_text(result)


def test_an_unmeasured_rule_counts_as_failed():
    report = judge_rules(RuleContext(), load("minsal").rules, "run")
    assert {result.state for result in report.results} == {State.NOT_MEASURABLE}
    assert not report.holds
    assert {result.rule for result in report.results} - {result.rule for result in report.failing} == {"k_ideal"}


def test_without_rules_nothing_is_shown():
    assert not judge_rules(GOOD, (), "publish").holds


@pytest.mark.requirement("M12")
@pytest.mark.parametrize(
    ("broken", "rule", "said"),
    [
        ("identifiers", "identifiers", "EDAD"),
        ("free_text", "free_text", "DIAG"),
        ("k", "k", "clases por debajo: 7"),
        ("l", "l", "DIAG (3)"),
    ],
)
def test_correctly_anonymised_fails_when_any_of_the_four_fails_and_names_the_column_or_class(broken, rule, said):
    whole = judge_rules(GOOD, load("minsal").rules, "run")
    assert whole.holds
    report = judge_rules(replace(GOOD, **BROKEN[broken]), load("minsal").rules, "run")
    assert not report.holds
    (result,) = [one for one in report.failing if one.rule == rule]
    assert said in measured_text(result)


@pytest.mark.requirement("M13")
def test_the_sensitive_profile_refuses_a_k_of_two():
    context = replace(GOOD, check=check(k=2))
    assert judge_rules(context, load("minsal").rules, "run").holds
    report = judge_rules(context, load("minsal-sensible").rules, "run")
    assert [(one.protocol, one.rule) for one in report.failing] == [("minsal-sensible", "k")]
    assert judge_rules(replace(GOOD, check=check(k=3)), load("minsal-sensible").rules, "run").holds


@pytest.mark.requirement("M14")
@pytest.mark.parametrize(("k", "colour", "ideal"), [(1, "red", False), (3, "amber", False), (4, "green", True)])
def test_the_ideal_is_advice_and_the_level_is_told(k, colour, ideal):
    holds, measured = judged("k", replace(GOOD, check=check(k=k)), k=4)
    assert (holds, measured["level"]) == (ideal, colour)
    report = judge_rules(replace(GOOD, check=check(k=3)), load("minsal").rules, "run")
    (advice,) = [one for one in report.results if one.rule == "k_ideal"]
    assert (advice.state, advice.severity, advice.passes) == (State.FAILS, Severity.SHOULD, True)
    assert "ideal: mayor que 3" in measured_text(advice)


def test_k_counts_persons_where_they_are_known_and_the_masked_group_where_nothing_else_is_left():
    assert judged("k", replace(GOOD, check=check(k=9, k_persons=1)))[0] is False
    assert judged("k", replace(GOOD, check=check(k=9, k_persons=2)))[1]["unit"] == "persons"
    assert judged("k", replace(GOOD, check=check(k=None, suppressed_rows=100)))[1]["k"] == 100


@pytest.mark.requirement("M12", "M15")
def test_an_attribute_without_a_verdict_of_its_own_is_not_measured():
    other = plan(policy={"quasi": ["EDAD"], "sensitive": ["DIAG", "COMUNA"], "links": []})
    assert judged("l", replace(GOOD, plan=other)) is None
    assert judged("l", l=3) is None
    planned = replace(GOOD, plan=plan(masked_sensitive={"DIAG": 5}), figures=None)
    assert judged("l", planned) == (True, {"variables": ["DIAG"], "failing": {}, "masked": {"DIAG": 5}})
    written = judged("l", replace(planned, figures=replace(FIGURES, masked={"DIAG": 7})))
    assert written[1]["masked"] == {"DIAG": 7}  # what the file shows, where it was read


@pytest.mark.requirement("M05", "P09")
def test_an_exception_with_a_reason_lets_a_column_stay():
    context = replace(GOOD, **BROKEN["free_text"])
    assert judged("free_text", context, allowed=("DIAG",))[0] is True
    small = replace(GOOD, **BROKEN["geography"])
    assert judged("geography", small, allowed=("COMUNA",))[0] is True
    override = {"asked": {"allowed": ["DIAG"]}, "reason": "sin nombres"}
    rules = combined_rules(["minsal"], {"minsal": {"free_text": override}})
    report = judge_rules(context, rules, "run")
    assert report.holds
    assert [(one.rule, one.overridden) for one in report.results if one.overridden] == [("free_text", "sin nombres")]


@pytest.mark.requirement("A14", "A17")
def test_each_scenario_is_judged_by_the_stricter_of_its_own_criterion_and_the_norms():
    lax = replace(FIGURES, scenarios=(scenario(3, threshold="0.5"),))
    strict = replace(FIGURES, scenarios=(scenario(5, threshold="0.2"), scenario(9)))
    assert judged("risk_index", replace(GOOD, figures=lax))[0] is False
    holds, measured = judged("risk_index", replace(GOOD, figures=strict))
    assert holds is False
    assert measured["failing"] == ["EDAD × COMUNA"]
    assert [one["at_risk"] for one in measured["scenarios"]] == [5, 0]


@pytest.mark.requirement("A31")
def test_the_residual_risk_is_stated_and_never_nothing():
    assert judged("residual_risk")[1] == {"smallest": 4, "risk": "0.2500"}
    nothing_shown = replace(FIGURES, scenarios=(scenario(),))
    assert judged("residual_risk", replace(GOOD, figures=nothing_shown))[1] == {"smallest": 100, "risk": "0.0100"}


@pytest.mark.requirement("A02", "A30")
def test_a_limited_variable_fails_also_under_the_name_a_step_gave_it():
    renamed = plan(published=("TRAMO",), changes=({"renamed": {"TRAMO": "EDAD"}, "cells_touched": {"TRAMO": 9}},))
    assert original_names(renamed) == {"TRAMO": "EDAD"}
    context = replace(GOOD, plan=renamed, request=Request(legal={"limited": ["EDAD"]}))
    assert judged("limited_variables", context) == (False, {"columns": ["TRAMO"]})
    protected = Request(variables=("EDAD",), legal={"protected_by_law": True, "subject_authorisation": False})
    assert judged("limited_variables", replace(context, request=protected))[0] is False


def test_free_text_that_a_step_turned_into_categories_is_text_no_more():
    text = replace(AGE, scale=Scale.FREE_TEXT)
    recoded = plan(published=("EDAD",), changes=({"renamed": {}, "cells_touched": {"EDAD": 3}},))
    assert published_variables([text], recoded)[0].scale is Scale.CATEGORICAL
    assert published_variables([text], plan(published=("EDAD",)))[0].scale is Scale.FREE_TEXT


@pytest.mark.requirement("P02", "P06", "P09")
def test_what_is_labelled_other_stays_unless_an_exception_says_why_not():
    gone = replace(GOOD, variables=(replace(AGE, treatment=Treatment.REMOVE), RUN))
    assert judged("labels", gone) == (False, {"columns": ["EDAD"]})
    assert judged("labels", gone, allowed=("EDAD",))[0] is True


@pytest.mark.requirement("P07", "P08")
@pytest.mark.parametrize(("smallest", "holds"), [(51, True), (50, False), (None, False)])
def test_fifty_units_are_not_more_than_fifty(smallest, holds):
    assert judged("geography", replace(GOOD, figures=replace(FIGURES, areas={"COMUNA": smallest})))[0] is holds


@pytest.mark.requirement("M31")
def test_who_executed_does_not_verify_whatever_the_roles_say_now():
    by = {"candidate": (Approval("candidate", "x", "verifier", "vito", "other", "t"),)}
    twice = {"candidate": by["candidate"] * 2}
    assert judged("second_person", replace(GOOD, approvals=twice)) == (True, {"names": ["vito"]})
    signed = {**by, "plan": (Approval("plan", "x", "executor", "VITO", "v2", "t"),)}
    assert judged("second_person", replace(GOOD, approvals=signed))[0] is False
    assert judged("second_person", replace(GOOD, people=())) is None


@pytest.mark.requirement("M33", "M38")
def test_the_same_hand_cannot_sign_as_executor_and_verifier():
    same = (*GOOD.signatures[:2], replace(GOOD.signatures[1], role="verifier"))
    assert judged("signatures", replace(GOOD, signatures=same)) == (False, {"missing": ["verifier"]})


def test_a_delegate_signs_for_the_lead_and_for_nobody_else():
    lead = {"roles": ("lead", "executor", "verifier")}
    delegated = (replace(GOOD.signatures[0], role="delegate"), *GOOD.signatures[1:])
    assert judged("signatures", replace(GOOD, signatures=delegated), **lead)[0] is True
    assert judged("signatures", replace(GOOD, signatures=delegated)) == (False, {"missing": ["head"]})


@pytest.mark.requirement("M29")
def test_the_intruder_must_have_tried_this_very_candidate():
    assert judged("intruder", replace(GOOD, claims=replace(CLAIMS, candidate="sha256:old")))[0] is False
    assert judged("intruder", replace(GOOD, claims=replace(CLAIMS, rows=0)))[0] is False


@pytest.mark.requirement("M29")
def test_the_rule_says_how_many_attempts_and_minutes_are_missing():
    holds, measured = judged("intruder", replace(GOOD, claims=replace(CLAIMS, rows=1, minutes=45)))
    assert not holds
    assert (measured["lacking_rows"], measured["lacking_minutes"]) == (1, 15)


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    "outsiders",
    [
        (),
        (Outsider("", True, "2026-11-15"),),
        (Outsider("E1", False, "2026-11-15"),),
        (Outsider("E1", True, ""),),
        (Outsider("E1", True, "2026-11-15"), Outsider("E2", False, "2026-11-15")),
        (Outsider(VERIFIER.name, True, "2026-11-15"),),
    ],
    ids=["nobody", "nameless", "unstated", "undated", "one-of-two", "of-the-project"],
)
def test_whoever_tried_must_be_on_record_as_independent(outsiders):
    holds, measured = judged("intruder", replace(GOOD, claims=replace(CLAIMS, outsiders=outsiders)))
    assert (holds, measured["independent"]) == (False, False)


@pytest.mark.requirement("M29")
def test_an_outsider_with_another_role_signs_for_nobody():
    signed = {"intruder": (Approval("intruder", "x", "outsider", "Ona", "o", "t"),)}
    outsider = Person("Ona", ("outsider",), "o")
    apart = replace(GOOD, approvals=signed, people=(*GOOD.people, outsider))
    assert judged("intruder_approval", apart) == (True, {"names": ["Ona"]})
    both = replace(apart, people=(*GOOD.people, replace(outsider, roles=("outsider", "executor"))))
    assert judged("intruder_approval", both) == (False, {"names": []})


@pytest.mark.requirement("M28", "M29")
def test_a_grave_finding_stops_until_the_head_accepts_it():
    grave = replace(GOOD, attacks=AttackRecord(replace(REPORT, findings=(GRAVE,))))
    assert judged("intruder_findings", grave) == (False, {"run": True, "high": 1, "names": []})
    for role, holds in (("head", True), ("executor", False)):
        accepted = {"findings": (Approval("findings", "x", role, "Ana", "a", "t", "riesgo asumido"),)}
        assert judged("intruder_findings", replace(grave, approvals=accepted))[0] is holds
    milder = replace(REPORT, findings=(replace(GRAVE, severity="medium"),))
    assert judged("intruder_findings", replace(GOOD, attacks=AttackRecord(milder)))[0] is True


@pytest.mark.requirement("M28")
def test_attacks_that_were_never_run_stop_only_where_they_are_asked_for():
    never, lost = replace(GOOD, attacks=AttackRecord()), replace(GOOD, attacks=AttackRecord(lost=True))
    assert judged("intruder_findings", never)[0] is False
    assert judged("intruder_findings", never, roles=("lead",), run=False)[0] is True
    # The journal tells of attacks whose report is gone: nobody gets past by deleting it.
    assert judged("intruder_findings", lost, roles=("lead",), run=False)[0] is False


HEADER = "target,source_used,claim,confidence,correct,minutes,note"


def _told(folder):
    found = read_claims(ProjectPaths(folder).claims)
    return found.candidate, found.rows, found.correct


@pytest.mark.requirement("M29")
def test_claims_are_read_with_their_candidate(tmp_path):
    assert read_claims(ProjectPaths(tmp_path).claims) is None
    lines = ["celosia/claims/1", "candidate,sha256:abc", HEADER, "1,prensa,nadie,baja,no,30,", "2,web,x,alta,sí,10,"]
    (tmp_path / "claims.csv").write_text("\n".join(lines), "utf-8")
    assert _told(tmp_path) == ("sha256:abc", 2, 1)
    (tmp_path / "claims.csv").write_text("\n".join(lines).replace(",", ";"), "utf-8")
    assert _told(tmp_path) == ("sha256:abc", 2, 1)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["celosia/claims/3"], UnknownFormat),
        (["celosia/claims/2", "candidate,x", HEADER], ClaimsUnclear),
        (["celosia/claims/1"], ClaimsUnclear),
        (["celosia/claims/1", "digest,x", HEADER], ClaimsUnclear),
        (["celosia/claims/1", "candidate,x", "a,b"], ClaimsUnclear),
        (["celosia/claims/1", "candidate,x", HEADER, "1,,,,quizás,,"], ClaimsUnclear),
    ],
)
def test_claims_that_cannot_be_understood_are_refused(tmp_path, lines, fault):
    (tmp_path / "claims.csv").write_text("\n".join(lines), "utf-8")
    with pytest.raises(fault):
        read_claims(ProjectPaths(tmp_path).claims)


# --- on a written candidate -----------------------------------------------------------------------


def publish(folder: Path, **changes) -> None:
    """State a purpose for the variables named, with other lines of the dictionary as given."""
    lines = [replace(v, purpose="estudio" if v.name in changes else "", **changes.get(v.name, {}))
             for v in open_project(folder).variables]  # fmt: skip
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    raw = write_discharges(tmp_path_factory.mktemp("raw") / "egresos.csv", 2_000, 3)
    lines = raw.read_text("latin-1").splitlines()
    mails = ["X1", *(f"p{number % 37}@correo.cl" for number in range(len(lines) - 1))]  # shared: they follow nobody
    raw.write_text("\n".join(f"{line};{mail}" for line, mail in zip(lines, mails, strict=True)), "latin-1")
    return init(str(raw), tmp_path_factory.mktemp("projects") / "egresos", ("minsal",), now=NOW).project.folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    copied = Path(shutil.copytree(made, tmp_path / "egresos"))
    publish(copied, SEXO={}, PREVISION={}, DIAG1={})
    return copied


@pytest.mark.requirement("M12")
def test_run_judges_the_rules_on_the_written_file_and_keeps_them_beside_it(folder):
    make_plan(folder, now=NOW)
    ran = run_plan(folder, now=NOW)
    assert ran.rules.holds
    kept = rule_report_from(json.loads((folder / "private" / "candidate" / "rules.json").read_text("utf-8")))
    assert kept.as_dict() == ran.rules.as_dict()
    assert kept.digest == ran.check.digest
    assert {one.rule for one in kept.results} >= {"k", "l", "identifiers", "free_text", "purposes", "no_way_back"}
    again = judge_project(open_project(folder), "release")
    assert {one.rule for one in again.failing} >= {"source", "intruder", "second_person", "plan_approval"}
    assert not again.holds


@pytest.mark.requirement("M04", "M12")
def test_an_identifier_known_by_its_values_stops_the_candidate_whatever_the_dictionary_says(folder):
    publish(folder, SEXO={}, DIAG1={}, X1={"role": Role.PLAIN, "treatment": Treatment.KEEP})
    make_plan(folder, now=NOW)
    with pytest.raises(CandidateFails) as refused:
        run_plan(folder, now=NOW)
    assert "sin identificadores explícitos" in str(refused.value)
    assert "X1" in str(refused.value)
    assert "@" not in str(refused.value)
    assert not (folder / "private" / "candidate").exists()
    _write(folder, '[overrides.minsal.identifiers]\nasked = {allowed = ["X1"]}\nreason = "correos inventados"')
    ran = run_plan(folder, now=NOW)
    assert [one.overridden for one in ran.rules.results if one.rule == "identifiers"] == ["correos inventados"]


def _write(folder: Path, lines: str) -> None:
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{lines}\n")


def test_an_override_without_a_reason_stops_the_plan(folder):
    _write(folder, "[overrides.minsal.k]\nasked = {k = 1}")
    with pytest.raises(OverrideUnexplained):
        make_plan(folder, now=NOW)


@pytest.mark.requirement("A14", "A28")
def test_declared_scenarios_are_measured_on_the_published_file(folder):
    text = (folder / "celosia.toml").read_text("utf-8").replace('"minsal"', '"minsal-sensible"')
    (folder / "celosia.toml").write_text(text, "utf-8")
    _write(folder, '[[scenarios]]\nvariables = ["SEXO", "PREVISION"]')
    make_plan(folder, now=NOW)
    ran = run_plan(folder, now=NOW)
    assert ran.rules.holds
    from celosia.pipeline.candidate.rule_context import context_of

    context = context_of(open_project(folder), ran.plan, ran.check, CandidatePaths(ran.candidate.parent))
    rows = list(csv.DictReader(ran.candidate.open(encoding="utf-8", newline="")))
    pairs = {(row["SEXO"], row["PREVISION"]) for row in rows if (row["SEXO"] + row["PREVISION"]).strip("*")}
    (figure,) = context.figures.scenarios
    assert figure.variables == ("SEXO", "PREVISION")
    assert context.figures.unit == "persons"
    assert 3 <= figure.smallest <= min(sum((r["SEXO"], r["PREVISION"]) == pair for r in rows) for pair in pairs)
