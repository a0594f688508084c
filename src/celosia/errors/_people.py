"""People, keys, approvals and signatures."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal, WrongUse


class IdentityMissing(BadInput):
    """There is no key where it was looked for, or it is none of ours."""

    fields = ("path",)


class IdentityInsideProject(WrongUse):
    """A private key would lie inside a project folder."""

    fields = ("path",)


class NameNeeded(WrongUse):
    """A person has no name."""

    fields = ()


class PassphraseNeeded(WrongUse):
    """Nobody can be asked for the passphrase."""

    fields = ()


class PassphrasesDiffer(WrongUse):
    """The passphrase was typed differently the second time."""

    fields = ()


class PassphraseShort(WrongUse):
    """A passphrase must be longer."""

    fields = ("minimum",)


class PassphraseLong(WrongUse):
    """A passphrase longer than a key can be locked with, such as a file given by mistake."""

    fields = ("maximum",)


class WrongPassphrase(Refusal):
    """The passphrase does not open the key."""

    fields = ("path",)


class BadPeople(BadInput):
    """A person in people.toml lacks a name, a role or a key."""

    fields = ("path",)


class PeopleMissing(Refusal):
    """The key belongs to nobody of the project."""

    fields = ("path",)


class PersonRepeats(WrongUse):
    """A name or a key is there already."""

    fields = ("name",)


class RolesClash(Refusal):
    """One person cannot execute and verify."""

    fields = ("name",)


class RoleNotHeld(Refusal):
    """The person does not hold the role they want to sign in."""

    fields = ("name", "words", "role")  # what a page calls the role, and what a person writes


class SamePerson(Refusal):
    """Who executed wants to verify, or the other way round."""

    fields = ("name",)


class NothingToApprove(Refusal):
    """What should be approved does not exist yet."""

    fields = ("what",)


class ApprovalFileDamaged(BadInput):
    """A line of approvals.jsonl cannot be read."""

    fields = ("path", "line")


class ShownOther(Refusal):
    """What stands there now is not what the person was shown before signing."""

    fields = ("what",)


class KeyAbsent(Refusal):
    """The person has no key to sign with yet."""

    fields = ("name",)


class RoleNotOfAccount(Refusal):
    """A role that the account does not have cannot be given to it in a project."""

    fields = ("name", "words", "role")  # what a page calls the role, and what a person writes
