"""What the page refuses, and what stops its work."""

from __future__ import annotations

from celosia.errors._tree import Refusal, WrongUse


class EditedMeanwhile(Refusal):
    """The file was changed by somebody else since the page showed it."""

    fields = ("path",)


class ProjectBusy(Refusal):
    """Another piece of work is under way on the project."""

    fields = ("project",)


class UploadTooLarge(Refusal):
    """A file sent to the page is larger than it accepts."""

    fields = ("limit",)


class WorkStopped(Refusal):
    """The process that did the work ended before it was done."""


class PortTaken(WrongUse):
    """Something else listens on the port."""

    fields = ("port",)


class HostUnusable(WrongUse):
    """The address to listen at is none of this machine."""

    fields = ("host",)


class NotAFolder(WrongUse):
    """What should hold the projects is not a folder."""

    fields = ("path",)


class OutsideProjects(Refusal):
    """A name leads outside the folder of the projects."""


class AccountExists(WrongUse):
    """The login belongs to an account already."""

    fields = ("login",)


class AccountNameTaken(WrongUse):
    """Another account has that name: nobody could tell them apart in a journal."""

    fields = ("name",)


class UnknownAccount(WrongUse):
    """No account has that login."""

    fields = ("login",)


class PasswordShort(Refusal):
    """A password is too short, or is the old one again."""

    fields = ("minimum",)


class AccountsNeeded(Refusal):
    """A page that others can reach needs accounts."""

    fields = ("path",)


class NotYourRole(Refusal):
    """The role of the account does not include this."""

    fields = ("roles",)


class SessionOver(Refusal):
    """The session ended: the page must be entered again."""


class BadCertificate(WrongUse):
    """The certificate or its key cannot be used."""

    fields = ("path",)
