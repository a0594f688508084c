"""The rules about the intruder test: the least effort, who answers for it, and what the attacks found.

Knows claims, approvals and the attacks on record. Ignores where they are kept (`rule_context`). The norm asks for the
test and gives no number: the least minutes and attempts are celosia's own floor, with its reason in the catalogue.
Source: MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from celosia.model.people import Approval
from celosia.pipeline.candidate.intruder_evidence import OUTSIDER, is_apart
from celosia.pipeline.candidate.rule_context import RuleContext

Asked = Mapping[str, Any]
Measurement = tuple[bool, dict[str, Any]] | None


def judge_intruder(context: RuleContext, asked: Asked) -> Measurement:
    """Enough attempts and minutes on this very candidate by people on record, none of them right."""
    claims = context.claims
    if claims is None or context.check is None:
        return None
    current = claims.candidate == context.check.digest
    apart = all(is_apart(outsider.name, context.people or ()) for outsider in claims.outsiders)
    lacking = {"lacking_rows": asked["rows"] - claims.rows, "lacking_minutes": asked["minutes"] - claims.minutes}
    measured = {
        "rows": claims.rows,
        "minutes": claims.minutes,
        **{key: max(amount, 0) for key, amount in lacking.items()},
        "correct": claims.correct,
        "current": current,
        "outsiders": len(claims.outsiders),
        "independent": claims.independent and apart,
    }
    enough = max(lacking.values()) <= 0 and claims.correct <= asked["correct"]
    return current and enough and measured["independent"], measured


def judge_intruder_approval(context: RuleContext, asked: Asked) -> Measurement:
    """Signed by the outsider, who has no other role, or attested by the verifier."""
    if context.approvals is None:
        return None
    names = [approval.name for approval in context.approvals.get("intruder", ()) if _counts(context, approval, asked)]
    return bool(names), {"names": list(dict.fromkeys(names))}


def _counts(context: RuleContext, approval: Approval, asked: Asked) -> bool:
    if approval.role == OUTSIDER and not is_apart(approval.name, context.people or ()):
        return False
    return approval.role in asked["roles"]


def judge_intruder_findings(context: RuleContext, asked: Asked) -> Measurement:
    """No grave finding of the attacks on this candidate, or each accepted by signature; attacks on record are kept."""
    record = context.attacks
    if record is None or context.approvals is None:
        return None
    accepted = [given.name for given in context.approvals.get("findings", ()) if given.role in asked["roles"]]
    tried = record.report is not None
    measured = {"run": tried, "high": len(record.high), "names": list(dict.fromkeys(accepted))}
    missing = record.lost or (asked["run"] and not tried)
    return not missing and (not record.high or bool(accepted)), measured


JUDGES: dict[str, Callable[[RuleContext, Asked], Measurement]] = {
    "intruder": judge_intruder,
    "intruder_approval": judge_intruder_approval,
    "intruder_findings": judge_intruder_findings,
}
