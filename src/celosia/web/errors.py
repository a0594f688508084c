"""Errors that `web` raises."""

from __future__ import annotations

from celosia.errors import Refusal, WrongUse


class PassphrasesDiffer(WrongUse, fields=""):
    """The passphrase was typed differently the second time."""


class ProjectBusy(Refusal, fields="project"):
    """Another piece of work is under way on the project."""


class UploadTooLarge(Refusal, fields="limit"):
    """A file sent to the page is larger than it accepts."""


class WorkStopped(Refusal):
    """The process that did the work ended before it was done."""


class PortTaken(WrongUse, fields="port"):
    """Something else listens on the port."""


class HostUnusable(WrongUse, fields="host"):
    """The address to listen at is none of this machine."""


class NotAFolder(WrongUse, fields="path"):
    """What should hold the projects is not a folder."""


class AccountsNeeded(Refusal, fields="path"):
    """A page that others can reach needs accounts."""


class NotYourRole(Refusal, fields="roles"):
    """The role of the account does not include this."""


class SessionOver(Refusal):
    """The session ended: the page must be entered again."""


class BadCertificate(WrongUse, fields="path"):
    """The certificate or its key cannot be used."""
