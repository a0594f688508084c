"""Errors that `workbench` raises."""

from __future__ import annotations

from celosia.errors import Refusal, WrongUse


class NotOnThisEngine(Refusal, fields="what engine"):
    """What was asked for needs rows, or a file, that this engine does not give."""


class AttemptClosed(Refusal):
    """The test with a person cannot be made now; the reason is not shown to the outsider."""


class AttemptIncomplete(Refusal, fields="row"):
    """An attempt lacks what is needed to judge or to count it."""


class AnswerUnfit(Refusal, fields="row field allowed"):
    """Something written about a record cannot be kept as it is."""


class NothingTried(Refusal):
    """Nothing was written down that could be sent."""


class NotIndependent(Refusal):
    """The test is sent without saying that whoever made it does not know the data."""


class KeyAbsent(Refusal, fields="name"):
    """The person has no key to sign with yet."""


class RoleNotOfAccount(Refusal, fields="name words role"):
    """A role that the account does not have cannot be given to it in a project."""


class WeakerThanNorm(Refusal, fields="measure given protocol minimum"):
    """A threshold below what a norm asks was chosen without a written reason."""


class ReasonNeeded(Refusal, fields="variable rule"):
    """A variable would be excepted from a rule without a written reason."""


class NotExcepted(WrongUse, fields="variable rule"):
    """An exception would be withdrawn that the project does not hold."""


class PropertyIncomplete(WrongUse, fields="property"):
    """A property to preserve lacks the variables or the period it needs."""


class TooManyToEdit(WrongUse, fields="variable values most"):
    """A column has more values than a person edits one by one."""


class IdentifierHasNoHierarchy(WrongUse, fields="variable"):
    """An identifier is never published, so no hierarchy of it is edited: its values would be shown."""


class ValuesVeiled(WrongUse, fields="variable"):
    """The values of a column never reach a screen, so its tree is not edited there."""


class OutsideProjects(Refusal):
    """A name leads outside the folder of the projects."""


class AccountExists(WrongUse, fields="login"):
    """The login belongs to an account already."""


class AccountNameTaken(WrongUse, fields="name"):
    """Another account has that name: nobody could tell them apart in a journal."""


class UnknownAccount(WrongUse, fields="login"):
    """No account has that login."""


class PasswordShort(Refusal, fields="minimum"):
    """A password is too short, or is the old one again."""
