"""An attacker with full power over a release folder and, in turn, no key, the executor's, the verifier's or the head's.

They change the data and write everything anew that they can: digests, approvals, roster, signatures, publication. The
reader has the cards of the three true people, that of the head alone, or none. `TRUE_ANSWERS` says what `verify` must
answer to each: what was changed is never «known», unless whoever heads the project signed it with their own key.
The table of docs/*/proof.md says what is asserted with this.
"""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from celosia.errors import CelosiaError
from celosia.model.reports.verification import publication_from
from celosia.model.roster import AUTHORITY, BEGINNING, RosterEntry
from celosia.pipeline.project.identity import Identity, canonical, new_identity
from celosia.pipeline.release.folder import added_text, listed_files, manifest_text, read_release
from celosia.pipeline.release.publication_entry import next_review
from celosia.pipeline.release.verify import verify_release
from tests.projects.steps import CHEAP, PHRASE

HEADING = "head"  # how whoever heads the project is called here, in whatever role: MEL and ATENEA have a lead
ROLES = (HEADING, "executor", "verifier")
Keys = Mapping[str, Any]


@dataclass(frozen=True)
class Attacker:
    """What they hold: the true key of one role or none, and keys that they made for everybody else."""

    role: str
    keys: Keys  # the key that they would sign each role with
    names: Mapping[str, str]
    release: Path

    @property
    def own(self) -> Identity:
        """The one key that is theirs."""
        return self.keys[self.role or "executor"]

    @property
    def own_role(self) -> str:
        """The role in which they sign."""
        return self.role or "executor"

    def renamed(self, names: Mapping[str, str]) -> Keys:
        """The same keys under other names."""
        return {role: replace(key, name=names[role]) for role, key in self.keys.items()}


def role_in(release: Path, role: str) -> str:
    """How a release calls a role: whoever heads the project is its head or its lead."""
    if role != HEADING:
        return role
    return next(name for name in AUTHORITY if (release / "signatures" / f"{name}-1.json").is_file())


def our_role(role: str) -> str:
    """How a role of a release is called here."""
    return HEADING if role in AUTHORITY else role


# --- what they know how to write ------------------------------------------------------------------


def change_data(release: Path) -> None:
    """Somebody's answer is another one that the file shows as well, where no criterion looks if it can be."""
    path, judged = release / "data.csv", read_release(release).manifest.policy
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    free = [name for name in header if name not in (*judged["quasi"], *judged["sensitive"])]
    place = header.index((free or header)[-1])
    rows[0][place] = next(row[place] for row in rows if row[place] != rows[0][place])
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    (release / "data.parquet").unlink(missing_ok=True)


def write_manifest(release: Path, approvers: Keys | None = None, **changes: Any) -> None:
    """A manifest that agrees with the files; approvals signed anew by whoever is given."""
    manifest = read_release(release).manifest
    files = listed_files(release)
    covered = {**manifest.covered, "candidate": files["data.csv"]}
    approvals = tuple(approval_anew(dict(approval), covered, approvers) for approval in manifest.approvals)
    made = replace(manifest, files=files, covered=covered, approvals=approvals, **changes)
    (release / "manifest.json").write_text(manifest_text(made), "utf-8")


def approval_anew(approval: dict[str, Any], covered: Mapping[str, str], approvers: Keys | None) -> dict[str, Any]:
    if approvers is None:
        return approval
    signer = approvers[our_role(approval["role"])]
    changed = {**approval, "digest": covered[approval["what"]], "name": signer.name, "key": signer.key}
    del changed["signature"]
    return {**changed, "signature": signer.sign(changed)}


def sign_anew(release: Path, signers: Keys, **changes: str) -> None:
    """The signatures of these roles over the present manifest."""
    digest = read_release(release).manifest.digest
    for role, signer in signers.items():
        path = release / "signatures" / f"{role_in(release, role)}-1.json"
        document = {**json.loads(path.read_text("utf-8")), "digest": digest, "name": signer.name, "key": signer.key}
        document |= changes
        del document["signature"]
        path.write_text(added_text({**document, "signature": signer.sign(document)}), "utf-8")


def publish_anew(release: Path, signer: Identity, role: str, name: str = "", **dates: str) -> None:
    """The publication entry of the present manifest, under somebody's name."""
    path = release / "publication.json"
    entry = publication_from(json.loads(path.read_text("utf-8")))
    entry = replace(entry, manifest=read_release(release).manifest.digest, **dates)
    draft = replace(
        entry.signed, digest=entry.digest, role=role_in(release, role), name=name or signer.name, key=signer.key
    )
    signed = replace(entry, signed=replace(draft, signature=signer.sign(draft.signed_part())))
    path.write_text(added_text(signed.as_dict()), "utf-8")


def write_roster(release: Path, entries: Sequence[RosterEntry], founder: Identity, since: int = 0) -> None:
    """Entries chained and signed anew from one of them on."""
    lines, previous = [], BEGINNING
    for number, entry in enumerate(entries, start=1):
        made = entry
        if number > since:
            made = replace(entry, number=number, previous=previous, by=founder.name, by_key=founder.key)
            made = replace(made, signature=founder.sign(made.signed_part()))
        lines.append(f"{made.line}\n")
        previous = made.digest
    (release / "roster.jsonl").write_text("".join(lines), "utf-8")


def entries_of(release: Path) -> tuple[RosterEntry, ...]:
    roster = read_release(release).roster
    assert roster is not None
    return roster.entries


# --- what they try --------------------------------------------------------------------------------


def data_alone(attacker: Attacker) -> None:
    """Change the data."""
    change_data(attacker.release)


def data_and_digests(attacker: Attacker) -> None:
    """Change the data and every digest; leave the signatures."""
    change_data(attacker.release)
    write_manifest(attacker.release)


def own_signature(attacker: Attacker) -> None:
    """And sign in one's own role again."""
    data_and_digests(attacker)
    sign_anew(attacker.release, {attacker.own_role: attacker.own})


def own_signature_alone(attacker: Attacker) -> None:
    """And take the other signatures away."""
    own_signature(attacker)
    for path in (attacker.release / "signatures").iterdir():
        if not path.name.startswith(role_in(attacker.release, attacker.own_role)):
            path.unlink()


def own_key_for_everybody(attacker: Attacker) -> None:
    """Sign all approvals and signatures with one's own key, under the names of the others."""
    change_data(attacker.release)
    everybody = {role: replace(attacker.own, name=attacker.names[role]) for role in ROLES}
    write_manifest(attacker.release, everybody)
    sign_anew(attacker.release, everybody)


def invented_people(attacker: Attacker) -> None:
    """Found the roster anew with fresh keys under the names of the others, and sign everything."""
    found_anew(attacker, attacker.names)


def invented_people_with_true_approvals(attacker: Attacker) -> None:
    """The same over the true data, and keep the true approvals."""
    entries = [
        replace(entry, key=attacker.keys[our_role(entry.roles[0])].key) for entry in entries_of(attacker.release)
    ]
    write_roster(attacker.release, entries, attacker.keys[HEADING])
    write_manifest(attacker.release)
    sign_anew(attacker.release, attacker.keys)
    publish_anew(attacker.release, attacker.keys[HEADING], HEADING)


def strangers(attacker: Attacker) -> None:
    """Add people of other names to the true roster with one's own key, and let them approve and sign."""
    change_data(attacker.release)
    entries = entries_of(attacker.release)
    people = {
        role: replace(attacker.keys[role], name=f"Otra {role}")
        for role in ROLES
        if role not in (HEADING, attacker.role)
    }
    new = [replace(entries[-1], name=who.name, roles=(role,), key=who.key) for role, who in people.items()]
    signer = attacker.own
    write_roster(attacker.release, [*entries, *new], signer, since=len(entries))
    signers = {role: people.get(role, signer) for role in ROLES}
    write_manifest(attacker.release, signers)
    sign_anew(attacker.release, signers)
    publish_anew(attacker.release, signers[HEADING], HEADING)


def strangers_in_the_name_of_the_head(attacker: Attacker) -> None:
    """The same with entries that claim to be signed by the head."""
    change_data(attacker.release)
    entries = entries_of(attacker.release)
    head = entries[0]
    draft = replace(
        entries[-1], number=len(entries) + 1, previous=entries[-1].digest, name="Otra persona",
        roles=head.roles, key=new_key(attacker, "extra").key, by=head.by, by_key=head.by_key,
    )  # fmt: skip
    forged = replace(draft, signature=attacker.keys["verifier"].sign(draft.signed_part()))
    (attacker.release / "roster.jsonl").write_text("".join(f"{e.line}\n" for e in (*entries, forged)), "utf-8")
    write_manifest(attacker.release, attacker.keys)
    sign_anew(attacker.release, attacker.keys)


def new_key(attacker: Attacker, name: str) -> Identity:
    return new_identity("Otra persona", PHRASE, attacker.release.parent / f"{name}.key", cost=CHEAP)


def shorter_roster(attacker: Attacker) -> None:
    """Leave the last person out of the roster."""
    entries = entries_of(attacker.release)[:-1]
    (attacker.release / "roster.jsonl").write_text("".join(f"{entry.line}\n" for entry in entries), "utf-8")
    write_manifest(attacker.release)
    sign_anew(attacker.release, {attacker.own_role: attacker.own})


def no_rules(attacker: Attacker) -> None:
    """Leave the rule on signatures out of the manifest, so that one's own is enough."""
    rules = tuple(rule for rule in read_release(attacker.release).manifest.rules if rule["rule"] != "signatures")
    change_data(attacker.release)
    write_manifest(attacker.release, rules=rules)
    sign_anew(attacker.release, {attacker.own_role: attacker.own})


def older_format(attacker: Attacker) -> None:
    """Write a release of the time when its manifest listed the people."""
    change_data(attacker.release)
    (attacker.release / "publication.json").unlink()
    roles = {role: role_in(attacker.release, role) for role in ROLES}
    people = tuple({"name": who.name, "roles": [roles[role]], "key": who.key} for role, who in attacker.keys.items())
    (attacker.release / "roster.jsonl").unlink()
    write_manifest(attacker.release, attacker.keys, people=people, forms=None)
    sign_anew(attacker.release, attacker.keys)


def old_signature(attacker: Attacker) -> None:
    """Date one's own signature in 2014."""
    sign_anew(attacker.release, {attacker.own_role: attacker.own}, when="2014-01-01T00:00:00+00:00")


def future_signature(attacker: Attacker) -> None:
    """Date one's own signature in 2030."""
    sign_anew(attacker.release, {attacker.own_role: attacker.own}, when="2030-01-01T00:00:00+00:00")


def other_publication(attacker: Attacker) -> None:
    """Enter another day of publication, signed in one's own role."""
    publish_anew(attacker.release, attacker.own, attacker.own_role, **other_days(attacker.release))


def other_publication_of_the_head(attacker: Attacker) -> None:
    """Enter it under the name and role of the head."""
    publish_anew(attacker.release, attacker.own, HEADING, attacker.names[HEADING], **other_days(attacker.release))


def other_days(release: Path) -> dict[str, str]:
    """Another day of publication, with the review that it leads to."""
    entry = read_release(release).publication
    assert entry is not None
    day = date.fromisoformat(entry.publication_date) + timedelta(days=1)
    return {"publication_date": day.isoformat(), "next_review": next_review(day, entry.update_period).isoformat()}


def no_publication(attacker: Attacker) -> None:
    """Take the publication entry away."""
    (attacker.release / "publication.json").unlink()


def signatures_twice(attacker: Attacker) -> None:
    """Put a copy of every signature beside it."""
    for path in list((attacker.release / "signatures").glob("*-1.json")):
        shutil.copy(path, path.with_name(path.name.replace("-1.json", "-2.json")))


def renamed_signature(attacker: Attacker) -> None:
    """Call the executor's signature that of a delegate."""
    home = attacker.release / "signatures"
    (home / "executor-1.json").rename(home / "delegate-1.json")


def other_line_ends(attacker: Attacker) -> None:
    """Write the manifest with other line ends."""
    path = attacker.release / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def unlisted_files(attacker: Attacker) -> None:
    """Add a table of one's own, and a folder without files."""
    (attacker.release / "datos.csv").write_text("nombre\n", "utf-8")
    (attacker.release / "dossier" / "anexo").mkdir()


def names_never_heard(attacker: Attacker) -> None:
    """Found the roster anew under names that nobody knows, and sign everything."""
    found_anew(attacker, {role: f"Firmante {role}" for role in ROLES})


def names_that_look_alike(attacker: Attacker) -> None:
    """Found it anew under names that look like the true ones, and sign everything."""
    found_anew(attacker, {role: f"{name}." for role, name in attacker.names.items()})


def found_anew(attacker: Attacker, names: Mapping[str, str]) -> None:
    change_data(attacker.release)
    keys = attacker.renamed(names)
    entries = []
    for entry in entries_of(attacker.release):
        signer = keys[our_role(entry.roles[0])]
        entries.append(replace(entry, name=signer.name, key=signer.key))
    write_roster(attacker.release, entries, keys[HEADING])
    write_manifest(attacker.release, keys)
    sign_anew(attacker.release, keys)
    publish_anew(attacker.release, keys[HEADING], HEADING)


@dataclass(frozen=True)
class KeyOfNobody:
    """A point of small order of Ed25519: signatures are found under it by trial, without any private key."""

    name: str
    key: str

    def sign(self, document: dict[str, Any]) -> str:
        """A signature that the library of cryptography takes, where one of the eight does."""
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.key))
        for point in SMALL_POINTS:
            with contextlib.suppress(InvalidSignature):
                public.verify(bytes.fromhex(point) + bytes(32), canonical(document))
                return point + "00" * 32
        return SMALL_POINTS[0] + "00" * 32


SMALL_POINTS = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
)


def keys_of_nobody(attacker: Attacker) -> None:
    """Found the roster anew with keys that anybody can sign for, under the true names."""
    points = dict(zip(ROLES, SMALL_POINTS[4:7], strict=True))
    keys = {role: KeyOfNobody(attacker.names[role], points[role]) for role in ROLES}
    found_anew(replace(attacker, keys=keys), attacker.names)


ATTEMPTS: tuple[Callable[[Attacker], None], ...] = (
    data_alone, data_and_digests, own_signature, own_signature_alone, own_key_for_everybody, invented_people,
    invented_people_with_true_approvals, strangers, strangers_in_the_name_of_the_head, shorter_roster, no_rules,
    older_format, old_signature, future_signature, other_publication, other_publication_of_the_head,
    no_publication, signatures_twice, renamed_signature, other_line_ends, unlisted_files, names_never_heard,
    names_that_look_alike, keys_of_nobody,
)  # fmt: skip
# Whoever wrote everything anew made an intact folder, of which nobody vouches for the people: never «known», and with
# a card «not intact» where the names are those of the cards. Whoever heads the project may really name people and enter
# a publication: their card vouches for it, and they answer for it. Without its entry a release is not published yet.
Answers = tuple[str, str, str]  # to whoever has all cards, the head's, none
REFUSED: Answers = ("not_intact", "not_intact", "not_intact")
_ANEW: Answers = ("not_intact", "not_intact", "unknown")
TRUE_ANSWERS: Mapping[str, tuple[Answers, Answers]] = {  # of an attacker without the head's key, and with it
    "invented_people": (_ANEW, ("not_intact", "known", "unknown")),
    "older_format": (_ANEW, ("not_intact", "unknown", "unknown")),
    "strangers": (REFUSED, ("unknown", "known", "unknown")),
    "other_publication": (REFUSED, ("known", "known", "unknown")),
    "other_publication_of_the_head": (REFUSED, ("known", "known", "unknown")),
    "no_publication": (("known", "known", "unknown"), ("known", "known", "unknown")),
    "names_never_heard": (("unknown", "unknown", "unknown"), _ANEW),
    "names_that_look_alike": (_ANEW, _ANEW),
}
# A true key under a name that its card does not give is an impostor's.
_TRUE_KEY_UNDER_ANOTHER_NAME: Answers = ("not_intact", "unknown", "unknown")


def true_answers(attempt: str, role: str) -> Answers:
    """What `verify` must answer after an attempt."""
    if attempt == "names_never_heard" and role not in ("", HEADING):
        return _TRUE_KEY_UNDER_ANOTHER_NAME
    without, with_head = TRUE_ANSWERS.get(attempt, (REFUSED, REFUSED))
    return with_head if role == HEADING else without


def answers_of(release: Path, cards: Mapping[str, str], head: Mapping[str, str], now: datetime | None) -> Answers:
    """What `verify` answers to each reader."""
    whole, of_head, none = (answer(release, each, heads, now) for each, heads in ((cards, {}), ({}, head), ({}, {})))
    return whole, of_head, none


def answer(release: Path, cards: Mapping[str, str], heads: Mapping[str, str], now: datetime | None) -> str:
    """What `verify` answers; a folder that it refuses to read is not intact."""
    try:
        return str(verify_release(release, cards, heads=heads, now=now).answer)
    except CelosiaError:
        return "not_intact"


def attack(release: Path, true_keys: Keys, role: str, home: Path, now: datetime | None = None) -> dict[str, Answers]:
    """The answers after every attempt of an attacker with one of the true keys, or none."""
    cards = {key.key: key.name for key in true_keys.values()}
    head = {true_keys[HEADING].key: true_keys[HEADING].name}
    names = {each: key.name for each, key in true_keys.items()}
    fresh = {each: new_identity(names[each], PHRASE, home / f"{each}.key", cost=CHEAP) for each in ROLES}
    keys = {each: true_keys[each] if each == role else fresh[each] for each in ROLES}
    answers = {}
    for attempt in ATTEMPTS:
        copy = Path(shutil.copytree(release, home / attempt.__name__ / release.name))
        attempt(Attacker(role, keys, names, copy))
        answers[attempt.__name__] = answers_of(copy, cards, head, now)
        shutil.rmtree(copy)
    return answers


def wrong_answers(answers: Mapping[str, Answers], role: str) -> dict[str, tuple[Answers, Answers]]:
    """The attempts after which `verify` answered otherwise than it must, with both."""
    expected = {attempt: true_answers(attempt, role) for attempt in answers}
    return {attempt: (given, expected[attempt]) for attempt, given in answers.items() if given != expected[attempt]}
