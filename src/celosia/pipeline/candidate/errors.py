"""Errors that `pipeline.candidate` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal


class NotApproved(Refusal, fields="what command"):
    """Something would be applied that nobody approved, or that changed after the approval."""


class AnnotatedDictionaryFaulty(Refusal, fields="count faults"):
    """Lines of the annotated dictionary do not follow the protocol."""


class RoleNotHeld(Refusal, fields="name words role"):
    """The person does not hold the role they want to sign in."""


class SamePerson(Refusal, fields="name"):
    """Who executed wants to verify, or the other way round."""


class NothingToApprove(Refusal, fields="what"):
    """What should be approved does not exist yet."""


class ReasonMissing(Refusal, fields="what"):
    """Something is accepted or attested without saying why or how."""


class OutsiderNotApart(Refusal, fields="name"):
    """Whoever tried as an outsider, or signs as one, has another role in the project."""


class AttacksMissing(Refusal, fields="path"):
    """The intruder test is signed before the automatic attacks that the protocol asks for are on record."""


class DayImpossible(Refusal, fields="path day"):
    """The intruder test is dated before its candidate was made, or after the day on which it is signed."""


class ClaimsUnclear(BadInput, fields="path line"):
    """A line of the intruder's results cannot be read."""


class ClaimsUnjudged(ClaimsUnclear):
    """A claim of the intruder that nobody of the institution has called right or wrong."""


class CandidateChanged(Refusal, fields="path reason"):
    """The candidate is not the file that the run judged, or belongs to another plan."""


class NoProtocolNamed(Refusal, fields="path"):
    """The project names no protocol, so no rule can show that a release may be made."""


class PlanStale(Refusal, fields="what"):
    """The plan was made for another source, dictionary or policy."""


class CandidateFails(Refusal, fields="failing"):
    """A criterion does not hold on the file that was written; it was removed."""
