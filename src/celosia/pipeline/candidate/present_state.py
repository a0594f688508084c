"""The plan, the candidate that it made and the rules judged on it, as they stand now."""

from __future__ import annotations

import contextlib
import json

from celosia.model.plan import Plan
from celosia.model.rules import RuleReport, rule_report_from
from celosia.model.verdict import CheckReport
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.candidate.rule_context import read_check
from celosia.pipeline.project.errors import BadProjectFile, NoPlan
from celosia.pipeline.project.folder import Project


def plan_and_check(project: Project) -> tuple[Plan | None, CheckReport | None]:
    """The plan, and the check of the candidate where this plan made it: figures of another plan would be wrong."""
    # Reading the journal checks its chain: a broken one stops every document.
    runs = project.journal.facts("run")
    plan = check = None
    with contextlib.suppress(NoPlan, NoCandidate):
        plan = project.plan
        check = read_check(project.paths.candidate)
    if plan is None or check is None:
        return plan, None
    expected = {"plan": plan.digest, "candidate": check.digest}
    return plan, check if any(expected.items() <= dict(facts).items() for facts in runs) else None


def judged_rules(project: Project, check: CheckReport | None) -> RuleReport | None:
    """The rules judged on this candidate; those of another one are left out."""
    path = project.paths.candidate.rules
    if check is None or not path.is_file():
        return None
    try:
        report = rule_report_from(json.loads(path.read_text("utf-8")), str(path))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadProjectFile(path=str(path), line="?") from None
    return report if report.digest == check.digest else None
