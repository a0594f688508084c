"""MINSAL, Verificación 4: particularly sensitive content raises k; without a sensitive attribute l is not judged."""

from __future__ import annotations

import pytest

from celosia.model.requests import Request, request_from
from celosia.model.verdict import State
from celosia.pipeline.candidate.errors import CandidateFails, PlanStale
from celosia.pipeline.candidate.rules import rules_of
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.errors import BelowProtocol
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import write_request
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from celosia.protocols.errors import OverrideUnknown
from celosia.protocols.load import combined_rules, strictest_minimum
from tests.projects import discharges, survey
from tests.projects.steps import NOW, edit_dictionary

STATEMENT = "Solo se publican sexo, zona e ingreso; ninguno revela la salud de nadie."


@pytest.fixture
def folder(tmp_path):
    folder = survey.make_project(tmp_path / "p")
    write_request(folder, now=NOW, **survey.ANSWERS)
    return folder


def without_sensitive(folder):
    edit_dictionary(folder, DIAG={"purpose": ""})


@pytest.mark.requirement("M13")
def test_particularly_sensitive_content_raises_the_k_that_is_searched_and_judged(folder):
    assert strictest_minimum(rules_of(folder), "k") == (2, "minsal")
    write_request(folder, now=NOW, **{"minsal.particularly_sensitive": True})
    assert strictest_minimum(rules_of(folder), "k") == (3, "minsal-sensible")
    plan = make_plan(folder, now=NOW).plan
    assert {c["k"] for c in plan.policy["criteria"] if c["criterion"] == "k"} == {3}
    with pytest.raises(BelowProtocol):
        make_plan(folder, now=NOW, k=2)
    judged = {(r.protocol, r.rule): r for r in run_plan(folder, now=NOW).rules.results}
    assert judged["minsal-sensible", "k"].asked == {"k": 3}


@pytest.mark.requirement("M13")
def test_a_plan_made_before_the_answer_is_stale_after_it(folder):
    make_plan(folder, now=NOW)
    write_request(folder, now=NOW, **{"minsal.particularly_sensitive": True})
    with pytest.raises(PlanStale):
        run_plan(folder, now=NOW)


@pytest.mark.requirement("M13")
def test_nobody_goes_on_without_answering_whether_the_content_is_particularly_sensitive(folder):
    path = folder / "request.toml"
    path.write_text(path.read_text("utf-8").replace("particularly_sensitive = false\n", ""), "utf-8")
    blocked = next(gate for gate in status(folder).gates if gate.state == "blocked")
    assert blocked.gate == "request"
    assert "particularmente sensible" in blocked.reason


def test_an_override_of_the_norm_tightens_its_profile_and_never_loosens_it():
    def asked(k):
        return {"minsal": {"k": {"asked": {"k": k}, "reason": "acuerdo del comité"}}}

    assert strictest_minimum(combined_rules(["minsal-sensible"], asked(5)), "k") == (5, "minsal-sensible")
    with pytest.raises(OverrideUnknown):
        combined_rules(["minsal-sensible"], asked(2))


@pytest.mark.requirement("M12", "M15")
def test_l_is_not_judged_without_a_sensitive_attribute_and_the_run_says_the_way_out(folder):
    without_sensitive(folder)
    gate = next(gate for gate in status(folder).gates if gate.state == "blocked")
    assert gate.gate == "dictionary"
    assert "--no-sensitive-attribute" in gate.command
    make_plan(folder, now=NOW)
    with pytest.raises(CandidateFails, match="--no-sensitive-attribute"):
        run_plan(folder, now=NOW)


@pytest.mark.requirement("M12", "M15")
def test_the_statement_of_the_head_is_attested_and_never_says_that_l_holds(folder):
    without_sensitive(folder)
    write_request(folder, now=NOW, **{"minsal.no_sensitive_attribute": STATEMENT})
    make_plan(folder, now=NOW)
    rule = next(result for result in run_plan(folder, now=NOW).rules.results if result.rule == "l")
    assert rule.state is State.ATTESTED
    assert rule.measured == {"statement": STATEMENT}


@pytest.mark.requirement("M12", "M15")
def test_the_statement_says_nothing_where_a_sensitive_attribute_is_published(folder):
    write_request(folder, now=NOW, **{"minsal.no_sensitive_attribute": STATEMENT})
    make_plan(folder, now=NOW)
    rule = next(result for result in run_plan(folder, now=NOW).rules.results if result.rule == "l")
    assert rule.state is State.HOLDS
    assert rule.measured["variables"] == ["DIAG"]


@pytest.mark.requirement("M12", "M33")
def test_a_release_without_sensitive_attribute_carries_the_statement_and_verifies(tmp_path):
    people = discharges.make_keys(tmp_path / "keys")
    folder = discharges.make_project(tmp_path / "p", people)
    edit_dictionary(folder, DIAG1={"purpose": ""})
    write_request(folder, now=NOW, **{"minsal.no_sensitive_attribute": STATEMENT})
    discharges.run_to_approved_candidate(folder, people)
    release = make_release(folder, now=NOW).folder
    for role, person in people.items():
        sign_release(release, folder, person, role, now=NOW)
    report = verify_release(release)
    rule = next(result for result in report.rules if result.rule == "l")
    assert report.holds
    assert rule.state is State.ATTESTED
    assert rule.measured["statement"] == STATEMENT


def test_a_request_that_was_signed_before_the_items_existed_keeps_its_digest():
    old = {"title": "x", "requester": "U"}
    assert {"official", "received"}.isdisjoint(request_from(old).as_dict())
    assert Request(official="Nora Gil").as_dict()["official"] == "Nora Gil"


def test_a_broken_request_is_reported_by_who_reads_it_and_not_by_opening_the_project(folder):
    (folder / "request.toml").write_text("[minsal\n", "utf-8")
    assert open_project(folder).config.protocols == ("minsal",)
    assert next(gate for gate in status(folder).gates if gate.state == "blocked").gate == "request"
