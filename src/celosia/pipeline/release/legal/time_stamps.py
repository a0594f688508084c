"""Time stamps over the manifest of a release (RFC 3161): the query to send, the answer that is taken in and verified.

Knows digests, tokens and certificates; whoever has a network sends the query. A stamp lies in `signatures/`, beside the
signatures, and binds the manifest's digest to a moment: the release, with its forms, was there by then.
Source: RFC 3161, 2.3 (the certificate stamps and does nothing else), 2.4 (query and answer).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.errors import MissingExtra
from celosia.model.paths import SIGNATURES, TIME_STAMP, ReleasePaths
from celosia.model.reports.legal_signatures import TimeStamp
from celosia.model.reports.verification import Finding
from celosia.model.verdict import State
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project
from celosia.pipeline.release import errors
from celosia.pipeline.release.folder import ReleaseOnDisk, read_release
from celosia.pipeline.release.legal.declared_trust import trust_of
from celosia.pipeline.release.legal.event_loops import allow_own_event_loop
from celosia.pipeline.release.legal.pdf_signatures import (
    certificate_from,
    moment_text,
    refuse_without_library,
    stamp_revoked,
    translate_library_errors,
    validation_context,
)
from celosia.pipeline.release.legal.records import STAMP_ACT
from celosia.pipeline.release.legal.trust import Trust, certificate_digest, common_name
from celosia.storage import atomic_write, content_digest, translate_read_errors

_LARGEST = 1_000_000  # bytes of an answer; real ones have a few thousand
_DAY, _CLOCKS = timedelta(days=1), timedelta(minutes=10)
_OPEN_FILE = 0o644


def write_query(release: PathArg, target: PathArg) -> Path:
    """Write the query that asks an authority to stamp the manifest of a release; the same bytes each time."""
    refuse_without_library()
    from asn1crypto import tsp

    stored = read_release(Path(release))
    if stored.differences:
        raise errors.ReleaseDamaged(path=str(release), reason=", ".join(stored.differences))
    imprint = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": _imprint(stored)}
    query = tsp.TimeStampReq({"version": 1, "message_imprint": imprint, "cert_req": True})
    path = Path(target)
    with atomic_write(path, _OPEN_FILE) as draft:
        draft.write_bytes(query.dump())
    return path


def stamp_files(folder: Path) -> list[Path]:
    """The time stamps of a release, in the order of their names."""
    home = ReleasePaths(folder).signatures
    return sorted(path for path in home.glob(f"{TIME_STAMP}-*.tsr") if path.is_file() and not path.is_symlink())


def read_answer(path: Path) -> bytes:
    """The bytes of an answer; one that is too large is not read."""
    with translate_read_errors(path):
        if path.stat().st_size > _LARGEST:
            raise errors.StampUnreadable(path=path.name)
        return path.read_bytes()


def _imprint(release: ReleaseOnDisk) -> bytes:
    return bytes.fromhex(release.manifest.digest.removeprefix("sha256:"))


# --- verification ---------------------------------------------------------------------------------


@allow_own_event_loop
def check_stamp(content: bytes, path: str, release: ReleaseOnDisk, trust: Trust | None, now: datetime) -> TimeStamp:
    """Judge an authority's answer: of this manifest, rightly signed, by a certificate that stamps and is trusted.

    Without declared authorities everything else is judged; the caller says that nobody vouches for the stamp.
    """
    refuse_without_library()
    with translate_library_errors(path, errors.StampUnreadable):
        token = _token(content, path)
        status = asyncio.run(_status_of(token, release, trust, None))
        return _judge(status, path, release, trust, now, token)


def _token(content: bytes, path: str) -> Any:
    """The signed part of an answer, which some services give alone."""
    from asn1crypto import cms, core, tsp

    class Answer(core.Sequence):
        """An answer; one that refuses has no token."""

        _fields: ClassVar[list[Any]] = [
            ("status", tsp.PKIStatusInfo),
            ("token", cms.ContentInfo, {"optional": True}),
        ]

    try:
        answer = Answer.load(content, strict=True)
        granted, token = answer["status"]["status"].native, answer["token"]
    except (ValueError, TypeError):
        return cms.ContentInfo.load(content, strict=True)["content"]
    if granted not in ("granted", "granted_with_mods"):
        raise errors.StampNotGranted(path=path)
    return token["content"]


async def _status_of(token: Any, release: ReleaseOnDisk, trust: Trust | None, moment: datetime | None) -> Any:
    from pyhanko.sign.validation.generic_cms import validate_tst_signed_data
    from pyhanko.sign.validation.status import TimestampSignatureStatus

    info = token["encap_content_info"]["content"].parsed
    context = validation_context(trust or Trust(()), moment or info["gen_time"].native)
    parts = await validate_tst_signed_data(token, context, lambda algorithm: _expected_imprint(algorithm, release))
    return TimestampSignatureStatus(**parts)


def _expected_imprint(algorithm: str, release: ReleaseOnDisk) -> bytes:
    """The digest that the stamp must hold; a stamp made with another method is of something else."""
    return _imprint(release) if algorithm == "sha256" else b""


def _judge(status: Any, path: str, release: ReleaseOnDisk, trust: Trust | None, now: datetime, token: Any) -> TimeStamp:
    certificate = certificate_from(status.signing_cert)
    authority, moment = common_name(certificate.subject), status.timestamp
    info = token["encap_content_info"]["content"].parsed["message_imprint"]
    if info["hashed_message"].native != _expected_imprint(info["hash_algorithm"]["algorithm"].native, release):
        raise errors.StampOfOther(path=path, release=release.folder.name)
    if not status.intact or not status.valid:
        raise errors.StampAltered(path=path)
    usage = status.signing_cert.extended_key_usage_value
    if usage is None or usage.native != ["time_stamping"]:
        raise errors.StampNotForStamping(path=path, authority=authority)
    _refuse_moment(moment, path, release, now)
    anchor = ""
    if trust is not None:
        if not status.trusted:
            raise errors.StampChainUnknown(path=path, authority=authority)
        chain = [certificate_from(each) for each in status.validation_path]
        revoked = stamp_revoked(chain, trust.revoked, moment)
        if revoked is not None:
            raise errors.StampRevoked(path=path, authority=authority, when=moment_text(revoked))
        anchor = common_name(chain[0].subject)
    return TimeStamp(moment_text(moment), authority, certificate_digest(certificate), anchor)


def _refuse_moment(moment: datetime, path: str, release: ReleaseOnDisk, now: datetime) -> None:
    """Nobody stamps what is not there yet: not before the day of the release, not after now."""
    try:
        made = datetime.fromisoformat(release.manifest.created).replace(tzinfo=UTC)
    except (TypeError, ValueError):
        made = None
    if made is None or moment < made - _DAY or moment > now + _CLOCKS:
        raise errors.StampMomentWrong(path=path, moment=moment_text(moment))


def verify_stamps(
    release: ReleaseOnDisk, project: Project | None, trust: Sequence[Path], now: datetime | None = None
) -> list[Finding]:
    """What `verify` says of the time stamps: held by the reader's own authorities, else attested; altered ones fail.

    `project` is the one in which the release lies, where it lies in one.
    """
    files, wrong, words = stamp_files(release.folder), _unlike_journal(release, project), []
    for file in files:
        try:
            own = trust_of(project, trust)
            stamp = check_stamp(read_answer(file), file.name, release, own, utc_now(now))
            key = "stamped" if stamp.anchor else "stamped_unknown"
            words.append(messages.text(f"legal.{key}", moment=stamp.moment, authority=stamp.authority))
        except MissingExtra:
            words.append(messages.text("legal.not_checked"))
        except CelosiaError as error:
            wrong.append(str(error))
    if wrong:
        return [Finding("time_stamps", State.FAILS, tuple(dict.fromkeys(wrong)))]
    state = State.HOLDS if trust and messages.text("legal.not_checked") not in words else State.ATTESTED
    return [Finding("time_stamps", state, tuple(words))] if words else []


def _unlike_journal(release: ReleaseOnDisk, project: Project | None) -> list[str]:
    """The stamps of a release in its project that are not, byte by byte, those that the journal names."""
    if project is None:
        return []
    try:
        facts = project.journal.facts(STAMP_ACT)
    except CelosiaError as error:
        return [str(error)]
    noted = {str(each["file"]): each.get("digest") for each in facts if each.get("manifest") == release.manifest.digest}
    present = {f"{SIGNATURES}/{file.name}": content_digest(file) for file in stamp_files(release.folder)}
    names = sorted(name for name in noted.keys() | present.keys() if noted.get(name) != present.get(name))
    return [str(errors.StampAltered(path=name)) for name in names]
