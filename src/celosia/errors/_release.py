"""Candidates that may not become releases, releases that may not be signed or published."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal, WrongUse


class CandidateChanged(Refusal):
    """The candidate is not the file that the run judged, or belongs to another plan."""

    fields = ("path", "reason")


class NoProtocolNamed(Refusal):
    """The project names no protocol, so no rule can show that a release may be made."""

    fields = ("path",)


class RulesFail(Refusal):
    """A compulsory rule does not hold, or could not be measured."""

    fields = ("failing",)


class NotARelease(BadInput):
    """The folder holds no manifest."""

    fields = ("path",)


class ReleaseDamaged(Refusal):
    """The release is not as it was made."""

    fields = ("path", "reason")


class AlreadySigned(Refusal):
    """The person signed the release in that role already."""

    fields = ("name", "words", "role")


class AlreadyPublished(Refusal):
    """The release has its publication entry already."""

    fields = ("path",)


class PeriodUnclear(WrongUse):
    """An update period cannot be read."""

    fields = ("given",)


class ArchiveRefused(BadInput):
    """A packed release cannot be opened safely."""

    fields = ("reason",)
