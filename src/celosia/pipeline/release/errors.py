"""Errors that `pipeline.release` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse


class NothingToDeliver(Refusal, fields="path"):
    """There is no release whose base could be delivered."""


class DeliveryDamaged(BadInput, fields="path file"):
    """The delivery is not as it was made."""


class RulesFail(Refusal, fields="failing"):
    """A compulsory rule does not hold, or could not be measured."""


class NotARelease(BadInput, fields="path"):
    """The folder holds no manifest."""


class ReleaseDamaged(Refusal, fields="path reason"):
    """The release is not as it was made."""


class AlreadySigned(Refusal, fields="name words role"):
    """The person signed the release in that role already."""


class SignerNotInRelease(Refusal, fields="name words role release"):
    """The person, or their role, came into the project after the release was made: their signature would void it."""


class AlreadyPublished(Refusal, fields="path"):
    """The release has its publication entry already."""


class PeriodUnclear(WrongUse, fields="given"):
    """An update period cannot be read."""


class ArchiveRefused(BadInput, fields="reason"):
    """A packed release cannot be opened safely."""
