"""An attacker with full power over a release folder and, in turn, no key, the executor's, the verifier's or the head's.

They change the data and write everything anew that they can: digests, approvals, roster, signatures, publication. The
reader has the cards of the three true people, or none. No answer may be wrong: what was changed is never «known».
The table of docs/*/proof.md says what is asserted here.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from celosia.errors import CelosiaError
from celosia.model.reports.verification import publication_from
from celosia.model.roster import BEGINNING, RosterEntry
from celosia.pipeline.project.identity import Identity, new_identity
from celosia.pipeline.release.folder import added_text, listed_files, manifest_text, read_release
from celosia.pipeline.release.verify import verify_release
from tests.projects.published import RELEASE, publish_survey
from tests.projects.steps import CHEAP, NOW, PHRASE

pytestmark = pytest.mark.slow
ROLES = ("head", "executor", "verifier")
Keys = Mapping[str, Identity]


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


# --- what they know how to write ------------------------------------------------------------------


def change_data(release: Path) -> None:
    """Somebody's income is another one that the file shows as well: no criterion notices."""
    path = release / "data.csv"
    lines = path.read_text("utf-8").splitlines()
    incomes = [line.split(",")[2] for line in lines]
    other = next(income for income in incomes[2:] if income != incomes[1])
    lines[1] = ",".join(other if place == 2 else cell for place, cell in enumerate(lines[1].split(",")))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    (release / "data.parquet").unlink()


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
    signer = approvers[approval["role"]]
    changed = {**approval, "digest": covered[approval["what"]], "name": signer.name, "key": signer.key}
    del changed["signature"]
    return {**changed, "signature": signer.sign(changed)}


def sign_anew(release: Path, signers: Keys, **changes: str) -> None:
    """The signatures of these roles over the present manifest."""
    digest = read_release(release).manifest.digest
    for role, signer in signers.items():
        path = release / "signatures" / f"{role}-1.json"
        document = {**json.loads(path.read_text("utf-8")), "digest": digest, "name": signer.name, "key": signer.key}
        document |= changes
        del document["signature"]
        path.write_text(added_text({**document, "signature": signer.sign(document)}), "utf-8")


def publish_anew(release: Path, signer: Identity, role: str, name: str = "", **dates: str) -> None:
    """The publication entry of the present manifest, under somebody's name."""
    path = release / "publication.json"
    entry = publication_from(json.loads(path.read_text("utf-8")))
    entry = replace(entry, manifest=read_release(release).manifest.digest, **dates)
    draft = replace(entry.signed, digest=entry.digest, role=role, name=name or signer.name, key=signer.key)
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
    sign_anew(attacker.release, {attacker.role or "executor": attacker.own})


def own_signature_alone(attacker: Attacker) -> None:
    """And take the other signatures away."""
    own_signature(attacker)
    for path in (attacker.release / "signatures").iterdir():
        if not path.name.startswith(attacker.role or "executor"):
            path.unlink()


def own_key_for_everybody(attacker: Attacker) -> None:
    """Sign all approvals and signatures with one's own key, under the names of the others."""
    change_data(attacker.release)
    everybody = {role: replace(attacker.own, name=attacker.names[role]) for role in ROLES}
    write_manifest(attacker.release, everybody)
    sign_anew(attacker.release, everybody)


def invented_people(attacker: Attacker) -> None:
    """Found the roster anew with fresh keys under the names of the others, and sign everything."""
    change_data(attacker.release)
    entries = [replace(entry, key=attacker.keys[entry.roles[0]].key) for entry in entries_of(attacker.release)]
    write_roster(attacker.release, entries, attacker.keys["head"])
    write_manifest(attacker.release, attacker.keys)
    sign_anew(attacker.release, attacker.keys)
    publish_anew(attacker.release, attacker.keys["head"], "head")


def invented_people_with_true_approvals(attacker: Attacker) -> None:
    """The same over the true data, and keep the true approvals."""
    entries = [replace(entry, key=attacker.keys[entry.roles[0]].key) for entry in entries_of(attacker.release)]
    write_roster(attacker.release, entries, attacker.keys["head"])
    write_manifest(attacker.release)
    sign_anew(attacker.release, attacker.keys)
    publish_anew(attacker.release, attacker.keys["head"], "head")


def strangers(attacker: Attacker) -> None:
    """Add people of other names to the true roster with one's own key, and let them approve and sign."""
    change_data(attacker.release)
    entries = entries_of(attacker.release)
    people = {
        role: replace(attacker.keys[role], name=f"Otra {role}") for role in ROLES if role not in ("head", attacker.role)
    }
    new = [replace(entries[-1], name=who.name, roles=(role,), key=who.key) for role, who in people.items()]
    signer = attacker.own
    write_roster(attacker.release, [*entries, *new], signer, since=len(entries))
    signers = {role: people.get(role, signer) for role in ROLES}
    write_manifest(attacker.release, signers)
    sign_anew(attacker.release, signers)
    publish_anew(attacker.release, signers["head"], "head")


def strangers_in_the_name_of_the_head(attacker: Attacker) -> None:
    """The same with entries that claim to be signed by the head."""
    change_data(attacker.release)
    entries = entries_of(attacker.release)
    head = entries[0]
    draft = replace(
        entries[-1], number=len(entries) + 1, previous=entries[-1].digest, name="Otra persona",
        roles=("head",), key=new_key(attacker, "extra").key, by=head.by, by_key=head.by_key,
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
    sign_anew(attacker.release, {attacker.role or "executor": attacker.own})


def no_rules(attacker: Attacker) -> None:
    """Leave the rule on signatures out of the manifest, so that one's own is enough."""
    rules = tuple(rule for rule in read_release(attacker.release).manifest.rules if rule["rule"] != "signatures")
    change_data(attacker.release)
    write_manifest(attacker.release, rules=rules)
    sign_anew(attacker.release, {attacker.role or "executor": attacker.own})


def older_format(attacker: Attacker) -> None:
    """Write a release of the time when its manifest listed the people."""
    change_data(attacker.release)
    (attacker.release / "roster.jsonl").unlink()
    (attacker.release / "publication.json").unlink()
    people = tuple({"name": who.name, "roles": [role], "key": who.key} for role, who in attacker.keys.items())
    write_manifest(attacker.release, attacker.keys, people=people, forms=None)
    sign_anew(attacker.release, attacker.keys)


def old_signature(attacker: Attacker) -> None:
    """Date one's own signature in 2014."""
    sign_anew(attacker.release, {attacker.role or "executor": attacker.own}, when="2014-01-01T00:00:00+00:00")


def future_signature(attacker: Attacker) -> None:
    """Date one's own signature in 2030."""
    sign_anew(attacker.release, {attacker.role or "executor": attacker.own}, when="2030-01-01T00:00:00+00:00")


def other_consultation(attacker: Attacker) -> None:
    """Enter another day of the consultation, signed in one's own role."""
    publish_anew(attacker.release, attacker.own, attacker.role or "executor", consultation="2026-11-01")


def other_consultation_of_the_head(attacker: Attacker) -> None:
    """Enter it under the name and role of the head."""
    publish_anew(attacker.release, attacker.own, "head", attacker.names["head"], consultation="2026-11-01")


ATTEMPTS: tuple[Callable[[Attacker], None], ...] = (
    data_alone, data_and_digests, own_signature, own_signature_alone, own_key_for_everybody, invented_people,
    invented_people_with_true_approvals, strangers, strangers_in_the_name_of_the_head, shorter_roster, no_rules,
    older_format, old_signature, future_signature, other_consultation, other_consultation_of_the_head,
)  # fmt: skip
# Whoever wrote everything anew made an intact folder, of which nobody vouches for the people: never «known», and with
# cards «not intact» where the names are those of the cards. The head may really add people and enter a publication.
UNKNOWN_WITHOUT_CARDS = {("invented_people", role) for role in ("", *ROLES)} | {
    ("older_format", role) for role in ("", *ROLES)
}
OF_THE_HEAD = {("strangers", "head"): ("unknown", "unknown")} | {
    (name, "head"): ("known", "unknown") for name in ("other_consultation", "other_consultation_of_the_head")
}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, Keys]:
    folder, keys = publish_survey(tmp_path_factory.mktemp("attacked"))
    return folder / "releases" / RELEASE, keys


def answer(release: Path, cards: Mapping[str, str]) -> str:
    try:
        return str(verify_release(release, cards, now=NOW).answer)
    except CelosiaError:
        return "not_intact"


def test_the_true_release_is_known_to_whoever_has_the_cards_and_to_nobody_else(made):
    release, keys = made
    assert answer(release, {key.key: key.name for key in keys.values()}) == "known"
    assert answer(release, {}) == "unknown"


@pytest.mark.parametrize("role", ["", *ROLES], ids=lambda role: role or "none")
def test_nothing_that_an_attacker_writes_is_called_known(made, role, tmp_path):
    release, true_keys = made
    cards = {key.key: key.name for key in true_keys.values()}
    names = {each: key.name for each, key in true_keys.items()}
    fresh = {each: new_identity(names[each], PHRASE, tmp_path / f"{each}.key", cost=CHEAP) for each in ROLES}
    keys = {each: true_keys[each] if each == role else fresh[each] for each in ROLES}
    wrong = []
    for attempt in ATTEMPTS:
        copy = Path(shutil.copytree(release, tmp_path / attempt.__name__ / RELEASE))
        attempt(Attacker(role, keys, names, copy))
        unknown = (attempt.__name__, role) in UNKNOWN_WITHOUT_CARDS
        expected = OF_THE_HEAD.get((attempt.__name__, role), ("not_intact", "unknown" if unknown else "not_intact"))
        given = (answer(copy, cards), answer(copy, {}))
        if given != expected:
            wrong.append((attempt.__name__, role, given, expected))
    assert wrong == []
