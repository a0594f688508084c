"""Whether the reader of a release knows who signed it: by a card of each person, or by that of the project's head.

Knows cards, which the reader got by another way, and the roster. Ignores what was signed. Source: docs/decisions/0012.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celosia import messages
from celosia.model.people import Approval
from celosia.model.reports.verification import Finding
from celosia.model.roster import AUTHORITY
from celosia.model.verdict import State
from celosia.pipeline.project.people import looks_alike, same_name
from celosia.pipeline.release.folder import ReleaseOnDisk

Cards = Mapping[str, str]  # public key -> name


def trust_finding(
    release: ReleaseOnDisk, valid: Sequence[Approval], given: Sequence[Approval], cards: Cards, heads: Cards
) -> Finding:
    """Whether the reader knows everybody who signed or approved.

    A name that a card gives another key, one that looks like it, or a key under another name, is an impostor. Somebody
    without a card is unknown, for whoever may write the folder can invent the people who sign, unless a card of
    `heads` vouches for the whole roster: that person founded it, or signed the manifest that names its digest.
    """
    known = {**cards, **heads}
    vouchers = {key: name for key, name in heads.items() if _vouches(release, valid, key, name)}
    current = {key: name for key, name in known.items() if not _gave_up(release, key, name, bool(vouchers))}
    unknown = dict.fromkeys(each.name for each in given if not same_name(known.get(each.key, ""), each.name))
    impostors = [name for name in unknown if any(looks_alike(name, other) for other in current.values())]
    impostors += [each.name for each in given if each.key in known and not same_name(known[each.key], each.name)]
    if impostors or not given:
        return Finding("trust", State.FAILS, tuple(dict.fromkeys(impostors)))
    if vouchers:
        words = [messages.text("release.vouched", name=name) for name in dict.fromkeys(vouchers.values())]
        return Finding("trust", State.HOLDS, tuple(words))
    missing = [messages.text("release.no_card", name=name) for name in unknown]
    missing += [messages.text("release.not_vouched", name=name) for name in heads.values()]
    return Finding("trust", State.ATTESTED if missing else State.HOLDS, tuple(missing))


def _vouches(release: ReleaseOnDisk, valid: Sequence[Approval], key: str, name: str) -> bool:
    """Whether somebody heads the project at the end of its roster, and either founded it or signed this release."""
    roster = release.roster
    if roster is None or not roster.entries:
        return False
    heading = [member for role in AUTHORITY for member in release.holders(role)]
    if not any(member.key == key and same_name(member.name, name) for member in heading):
        return False
    return roster.entries[0].key == key or any(each.key == key and each.role in AUTHORITY for each in valid)


def _gave_up(release: ReleaseOnDisk, key: str, name: str, vouched: bool) -> bool:
    """Whether a card is of a key that its holder exchanged for another, by their own signature or by one that vouches.

    Such a card says nothing against the new key, and nothing for it.
    """
    member = release.roster.of_key(key) if release.roster is not None else None
    if release.roster is None or member is None or member.until is None or not same_name(member.name, name):
        return False
    rotations = [entry for entry in release.roster.entries if entry.act == "rotate" and entry.name == member.name]
    return any(vouched or entry.by_key == key for entry in rotations)
