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


# --- certificates, signed PDFs and time stamps ------------------------------------------------------


class TrustMissing(WrongUse, fields=""):
    """No authority was declared that a certificate could lead to."""


class TrustUnreadable(BadInput, fields="path"):
    """A file among the trusted authorities is neither a certificate nor a list of revoked ones, or there is none."""


class TrustNotAuthority(BadInput, fields="path name"):
    """A certificate among the trusted authorities is not that of an authority."""


class NoFormsToSign(Refusal, fields="release"):
    """A release has no form that could be signed."""


class PdfUnreadable(BadInput, fields="path"):
    """The file cannot be read as a PDF, is locked or is too large."""


class PdfNotTheForm(Refusal, fields="path release"):
    """The PDF does not begin, byte by byte, with a form of the release."""


class PdfUnsigned(Refusal, fields="path"):
    """The PDF bears no signature."""


class PdfAltered(Refusal, fields="path signer"):
    """What a signature covers is not what was signed."""


class PdfNotCovered(Refusal, fields="path signer"):
    """A signature does not cover the whole file as it was when it was signed."""


class PdfChangedAfterwards(Refusal, fields="path signer"):
    """After a signature the PDF got more than PAdES allows: signatures, time stamps and proofs of validity."""


class PdfChangesForm(Refusal, fields="path"):
    """The update that carries the signature also changes what the form shows."""


class PdfHidesWords(Refusal, fields="path"):
    """The visible stamp of a signature lies over words of the form."""


class SignerSelfSigned(Refusal, fields="path signer"):
    """No authority stands behind the certificate of a signer."""


class SignerChainUnknown(Refusal, fields="path signer issuer"):
    """The certificate of a signer leads to no declared authority."""


class SignerExpired(Refusal, fields="path signer until"):
    """The certificate of a signer was no longer valid, as far as anything proves."""


class SignerNotYetValid(Refusal, fields="path signer since"):
    """The certificate of a signer was not valid yet when it signed."""


class SignerRevoked(Refusal, fields="path signer when"):
    """The certificate of a signer, or one above it, had been revoked."""


class SignerNotForSigning(Refusal, fields="path signer"):
    """The certificate was not issued to sign documents."""


class SignatureWeak(Refusal, fields="path signer"):
    """The signature or its certificate uses a method that can be forged."""


class SignatureStampWrong(Refusal, fields="path signer"):
    """The time stamp of a signature is altered or of another signature."""


class SignerRoleNeeded(WrongUse, fields="count signers"):
    """There is not one role for each new signature of the PDF."""


class SignerNameDiffers(Refusal, fields="signer role words names"):
    """The name on a certificate is not that of anybody who holds the role in the release."""


class SignatureTaken(Refusal, fields="path"):
    """Every signature of the PDF was taken in before."""


class LegalRecordDamaged(Refusal, fields="file"):
    """The record of a signed PDF is not as it was written, or not the one that the journal names."""


class StampUnreadable(BadInput, fields="path"):
    """The file is no answer of a time-stamping authority."""


class StampNotGranted(Refusal, fields="path"):
    """The authority answered that it does not stamp this."""


class StampOfOther(Refusal, fields="path release"):
    """The time stamp is of another manifest."""


class StampAltered(Refusal, fields="path"):
    """The signature of the time stamp does not hold."""


class StampChainUnknown(Refusal, fields="path authority"):
    """The certificate of the time stamp leads to no declared authority."""


class StampNotForStamping(Refusal, fields="path authority"):
    """The certificate was not issued to stamp the time."""


class StampRevoked(Refusal, fields="path authority when"):
    """The certificate of the time stamp had been revoked."""


class StampMomentWrong(Refusal, fields="path moment"):
    """The time of the stamp cannot be: before the release was made, or after now."""


class StampRepeats(Refusal, fields="path"):
    """The release has this very time stamp already."""
