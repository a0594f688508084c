"""Errors that `pipeline.project` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse


class PasswordInAddress(WrongUse, fields=""):
    """An address with a password is written in the project itself; it is not shown."""


class IdentityMissing(BadInput, fields="path"):
    """There is no key where it was looked for, or it is none of ours."""


class IdentityInsideProject(WrongUse, fields="path"):
    """A private key would lie inside a project folder."""


class NameNeeded(WrongUse, fields=""):
    """A person has no name."""


class PassphraseShort(WrongUse, fields="minimum"):
    """A passphrase must be longer."""


class PassphraseLong(WrongUse, fields="maximum"):
    """A passphrase longer than a key can be locked with, such as a file given by mistake."""


class PassphraseObvious(WrongUse, fields="reason minimum"):
    """A passphrase that whoever guesses would try first."""


class IdentityDamaged(BadInput, fields="path"):
    """A key file was changed, is of another person than its card, or asks for an absurd cost."""


class WrongPassphrase(Refusal, fields="path"):
    """The passphrase does not open the key."""


class BadPeople(BadInput, fields="path"):
    """A person in people.toml lacks a name, a role or a key."""


class PeopleMissing(Refusal, fields="path"):
    """The key belongs to nobody of the project."""


class PersonRepeats(WrongUse, fields="name"):
    """A name or a key is there already."""


class PersonUnknown(BadInput, fields="name"):
    """Nobody of that name is in the signed roster."""


class RosterMissing(Refusal, fields="path"):
    """A project has people and nobody signed who they are."""


class RosterBroken(Refusal, fields="path line reason"):
    """An entry of the roster does not follow from those before it, or the journal tells of others."""


class RosterDisagrees(Refusal, fields="name reason path"):
    """people.toml says of a person what the signed roster does not."""


class RosterRefuses(Refusal, fields="name reason"):
    """An entry that would not stand in the roster."""


class NotAuthority(Refusal, fields="name roles"):
    """A key that may not sign the roster."""


class NotInRoster(Refusal, fields="name project"):
    """Somebody of people.toml whom the roster does not name yet."""


class RolesClash(Refusal, fields="name"):
    """One person cannot execute and verify."""


class ShownOther(Refusal, fields="what"):
    """What stands there now is not what the person was shown before signing."""


class NotAProject(BadInput, fields="path"):
    """The folder is not a celosia project."""


class WorkingCopyMissing(BadInput, fields="path"):
    """The project's private working copy is not there."""


class BadProjectFile(BadInput, fields="path line"):
    """A project file cannot be parsed."""


class WrongSetting(BadInput, fields="path setting expected"):
    """A key of the project file is missing, unknown or holds something of another kind."""


class JournalBroken(Refusal, fields="path line"):
    """The journal's chain does not hold: a line was changed, removed or inserted."""


class RequestMissing(Refusal, fields="path"):
    """The project has no request yet."""


class RequestIncomplete(Refusal, fields="path items"):
    """Items of the request that something needs are empty."""


class RequestVariablesUnknown(BadInput, fields="path setting variables"):
    """The request names variables that the dictionary does not have."""


class SeedMissing(Refusal, fields="path"):
    """The plan draws by chance and its seed is not there any more."""


class PseudonymsRefused(Refusal, fields="protocol"):
    """The norm of the project publishes no pseudonyms."""


class KeyInProject(Refusal):
    """A key is written in the project's file, which is not private."""


class EditedMeanwhile(Refusal, fields="path"):
    """The file was changed by somebody else since the page showed it."""


class NoPlan(BadInput, fields="path"):
    """The project has no plan yet."""


class ApprovalFileDamaged(BadInput, fields="path line"):
    """A line of approvals.jsonl cannot be read."""


class UnknownArgument(WrongUse, fields="function argument known"):
    """A function of the library does not take that argument."""


class WrongArgument(WrongUse, fields="argument expected given"):
    """An argument of a function of the library is missing or is of another kind."""
