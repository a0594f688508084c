"""The signed roster: who may sign it, what may follow what, and what people.toml and the journal cannot change."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from celosia.model.roster import RosterEntry, roster_entry_from
from celosia.pipeline.candidate.approvals import approval_states, approve, valid_approvals
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import add_person
from celosia.pipeline.project.errors import (
    NotAuthority,
    NotInRoster,
    PeopleMissing,
    PersonRepeats,
    RosterBroken,
    RosterDisagrees,
    RosterMissing,
    RosterRefuses,
    ShownOther,
)
from celosia.pipeline.project.fingerprints import N_WORDS, WORDS, fingerprint, grouped_key, spoken_key
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.roster import check_roster, people_not_in_roster
from celosia.pipeline.project.roster_edits import revoke_person, rotate_key, seal_of_people, sign_roster
from celosia.pipeline.release.status import status
from tests.projects.steps import NOW, make_keys
from tests.projects.survey import make_project

ROLES = {"eva": ("head",), "luis": ("executor",), "marta": ("verifier",)}
LATER = NOW + timedelta(hours=1)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    names = {"eva": "Eva Soto", "luis": "Luis Díaz", "marta": "Marta Paz", "new": "Eva Soto", "rita": "Rita Mora"}
    return make_keys(tmp_path_factory.mktemp("keys"), names)


@pytest.fixture(scope="module")
def made(keys, tmp_path_factory):
    folder = make_project(tmp_path_factory.mktemp("roster") / "p")
    make_plan(folder, now=NOW)
    for short, roles in ROLES.items():
        add_person(folder, keys[short].name, roles, keys[short].key, now=NOW)
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "p"))


@pytest.fixture
def signed(folder, keys) -> Path:
    sign_roster(folder, keys["eva"], now=NOW)
    return folder


def entries(folder: Path) -> list[RosterEntry]:
    lines = (folder / "roster.jsonl").read_text("utf-8").splitlines()
    return [roster_entry_from(json.loads(line)) for line in lines]


def write_entries(folder: Path, lines: list[RosterEntry]) -> None:
    (folder / "roster.jsonl").write_text("".join(f"{entry.line}\n" for entry in lines), "utf-8")


def sign_entry(entry: RosterEntry, identity, **changes) -> RosterEntry:
    changed = replace(entry, **{"by": identity.name, "by_key": identity.key} | changes)
    return replace(changed, signature=identity.sign(changed.signed_part()))


# --- who signs it ---------------------------------------------------------------------------------


def test_nobody_approves_before_the_head_has_signed_who_they_are(folder, keys):
    with pytest.raises(RosterMissing):
        approve(folder, "plan", keys["eva"], "head", now=NOW)
    assert "celosia people sign" in " ".join(status(folder, now=NOW).problems)
    sign_roster(folder, keys["eva"], now=NOW)
    assert [(entry.act, entry.name) for entry in entries(folder)] == [
        ("found", "Eva Soto"), ("add", "Luis Díaz"), ("add", "Marta Paz"),
    ]  # fmt: skip
    approve(folder, "plan", keys["eva"], "head", now=NOW)
    assert [approval.name for approval in valid_approvals(open_project(folder), "plan")] == ["Eva Soto"]


def test_only_whoever_heads_the_project_signs_and_only_whom_they_were_shown(folder, keys):
    for short in ("luis", "marta", "rita"):
        with pytest.raises(NotAuthority):
            sign_roster(folder, keys[short], now=NOW)
    shown = seal_of_people(people_not_in_roster(open_project(folder).roster, open_project(folder).people))
    add_person(folder, "Rita Mora", ["head"], keys["rita"].key, now=NOW)
    with pytest.raises(ShownOther):
        sign_roster(folder, keys["eva"], expected=shown, now=NOW)
    sign_roster(folder, keys["eva"], only=[keys["luis"].key], now=NOW)
    assert [entry.name for entry in entries(folder)] == ["Eva Soto", "Luis Díaz"]
    with pytest.raises(NotAuthority):
        sign_roster(folder, keys["rita"], now=NOW)  # who waits heads nothing yet


def test_who_waits_signs_nothing_and_the_others_go_on(signed, keys):
    add_person(signed, "Rita Mora", ["head"], keys["rita"].key, now=NOW)
    with pytest.raises(NotInRoster):
        approve(signed, "plan", keys["rita"], "head", now=NOW)
    approve(signed, "plan", keys["eva"], "head", now=NOW)
    assert "Rita Mora" in " ".join(status(signed, now=NOW).problems)
    sign_roster(signed, keys["eva"], now=LATER)
    approve(signed, "plan", keys["rita"], "head", now=LATER)
    assert not status(signed, now=LATER).problems


# --- what people.toml cannot say ------------------------------------------------------------------


def test_a_key_exchanged_in_people_toml_signs_nothing(signed, keys):
    path = signed / "people.toml"
    path.write_text(path.read_text("utf-8").replace(keys["eva"].key, keys["new"].key), "utf-8")
    for identity, role in ((keys["new"], "head"), (keys["marta"], "verifier")):
        with pytest.raises(RosterDisagrees) as refusal:
            approve(signed, "plan", identity, role, now=NOW)
        assert "Eva Soto" in str(refusal.value)
    assert "Eva Soto" in " ".join(status(signed, now=NOW).problems)


@pytest.mark.parametrize("role", ["executor", "lead"])
def test_a_role_written_by_hand_is_refused_by_the_name_of_the_person(signed, keys, role):
    path = signed / "people.toml"
    path.write_text(path.read_text("utf-8").replace('["executor"]', f'["{role}", "delegate"]'), "utf-8")
    with pytest.raises(RosterDisagrees) as refusal:
        approve(signed, "plan", keys["eva"], "head", now=NOW)
    assert "Luis Díaz" in str(refusal.value)


def test_somebody_written_by_hand_is_refused_where_the_journal_does_not_name_them(signed, keys):
    with (signed / "people.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[[people]]\nname = "Rita Mora"\nroles = ["head"]\nkey = "{keys["rita"].key}"\n')
    with pytest.raises(RosterDisagrees) as refusal:
        sign_roster(signed, keys["eva"], now=NOW)
    assert "Rita Mora" in str(refusal.value)


# --- rotation and revocation ----------------------------------------------------------------------


def test_a_rotated_key_signs_from_then_on_and_the_former_no_longer(signed, keys):
    approve(signed, "plan", keys["eva"], "head", now=NOW)
    with pytest.raises(NotAuthority):
        rotate_key(signed, "Eva Soto", keys["new"].key, keys["luis"], now=LATER)
    rotate_key(signed, "Eva Soto", keys["new"].key, keys["eva"], why="equipo nuevo", now=LATER)
    project = open_project(signed)
    assert keys["new"].key in [person.key for person in project.members]
    assert len(valid_approvals(project, "plan")) == 1  # what the former key signed in its time stands
    with pytest.raises(PeopleMissing):
        approve(signed, "plan", keys["eva"], "head", now=LATER)
    approve(signed, "plan", keys["new"], "head", now=LATER)
    assert "equipo nuevo" not in (signed / "roster.jsonl").read_text("utf-8")  # the roster is published


def test_an_approval_dated_outside_the_time_of_its_key_does_not_count(signed, keys):
    approve(signed, "plan", keys["marta"], "verifier", now=NOW)
    revoke_person(signed, "Marta Paz", keys["eva"], now=LATER)
    line = json.loads((signed / "approvals.jsonl").read_text("utf-8"))
    assert [state for _, state in approval_states(open_project(signed))] == ["valid"]
    for hours in (-1, 2):
        late = {**line, "when": (NOW + timedelta(hours=hours)).isoformat(timespec="seconds")}
        del late["signature"]
        late["signature"] = keys["marta"].sign(late)
        (signed / "approvals.jsonl").write_text(json.dumps(late, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
        assert [state for _, state in approval_states(open_project(signed))] == ["date"]


def test_a_revoked_key_never_comes_back_and_somebody_must_head_the_project(signed, keys):
    revoke_person(signed, "Luis Díaz", keys["eva"], now=LATER)
    assert [person.name for person in open_project(signed).members] == ["Eva Soto", "Marta Paz"]
    with pytest.raises(PersonRepeats):
        add_person(signed, "Luis Díaz", ["executor"], keys["luis"].key, now=LATER)
    with pytest.raises(RosterRefuses):
        revoke_person(signed, "Eva Soto", keys["eva"], now=LATER)
    with pytest.raises(RosterRefuses):
        rotate_key(signed, "Marta Paz", keys["luis"].key, keys["eva"], now=LATER)


def test_a_second_head_revokes_a_lost_key_and_does_not_take_its_name(signed, keys):
    add_person(signed, "Rita Mora", ["head"], keys["rita"].key, now=NOW)
    sign_roster(signed, keys["eva"], now=NOW)
    with pytest.raises(RosterRefuses):
        rotate_key(signed, "Eva Soto", keys["new"].key, keys["rita"], now=LATER)
    revoke_person(signed, "Eva Soto", keys["rita"], now=LATER)
    add_person(signed, "Eva Soto", ["head"], keys["new"].key, now=LATER)
    sign_roster(signed, keys["rita"], now=LATER)
    assert {person.key for person in open_project(signed).members} >= {keys["new"].key, keys["rita"].key}


# --- the chain ------------------------------------------------------------------------------------


def test_every_leaf_of_every_entry_is_signed_or_chained(signed):
    content = (signed / "roster.jsonl").read_bytes()
    lines = [json.loads(line) for line in content.splitlines()]
    name = open_project(signed).config.name
    assert len(check_roster(content, name, "-").current) == 3
    for position, line in enumerate(lines):
        for part, value in line.items():
            other = (
                value + 1 if isinstance(value, int) else [*value, "lead"] if isinstance(value, list) else f"{value}0"
            )
            changed = [{**each, part: other} if at == position else each for at, each in enumerate(lines)]
            text = "".join(json.dumps(each, ensure_ascii=False, sort_keys=True) + "\n" for each in changed)
            with pytest.raises(RosterBroken):
                check_roster(text.encode("utf-8"), name, "-")
    with pytest.raises(RosterBroken):
        check_roster(content, "otro", "-")  # of another project
    with pytest.raises(RosterBroken):
        check_roster(content.replace(b'", "', b'","', 1), name, "-")  # another spelling hides nothing


def test_an_executor_cannot_write_an_entry_whatever_it_says(signed, keys):
    name, lines = open_project(signed).config.name, entries(signed)
    forged = replace(lines[-1], number=4, previous=lines[-1].digest, name="Rita Mora", key=keys["rita"].key)
    attempts = [
        sign_entry(forged, keys["luis"]),
        sign_entry(forged, keys["luis"], by="Eva Soto"),
        sign_entry(forged, keys["luis"], by="Eva Soto", by_key=keys["eva"].key),
        sign_entry(forged, keys["luis"], act="found", name="Luis Díaz", key=keys["luis"].key, roles=("head",)),
        sign_entry(forged, keys["luis"], act="rotate", name="Eva Soto", roles=("head",)),
        sign_entry(forged, keys["rita"], roles=("head",)),
    ]
    for attempt in attempts:
        write_entries(signed, [*lines, attempt])
        with pytest.raises(RosterBroken):
            _ = open_project(signed).roster
    write_entries(signed, [*lines, sign_entry(forged, keys["eva"])])
    assert open_project(signed).roster.of_key(keys["rita"].key) is not None  # the head's own key may
    assert name == lines[0].project


def test_a_roster_that_was_cut_or_founded_anew_does_not_agree_with_the_journal(signed, keys):
    revoke_person(signed, "Luis Díaz", keys["eva"], now=LATER)
    lines = entries(signed)
    write_entries(signed, lines[:-1])
    with pytest.raises(RosterBroken):
        approve(signed, "plan", keys["eva"], "head", now=LATER)
    own = replace(lines[0], name="Luis Díaz", key=keys["luis"].key, roles=("head",))
    write_entries(signed, [sign_entry(own, keys["luis"])])
    with pytest.raises(RosterBroken):
        approve(signed, "plan", keys["luis"], "head", now=LATER)
    (signed / "roster.jsonl").unlink()
    with pytest.raises(RosterMissing):
        approve(signed, "plan", keys["eva"], "head", now=LATER)


def test_the_name_of_an_outsider_is_bound_but_not_told(signed, keys):
    add_person(signed, "Rita Mora", ["outsider"], keys["rita"].key, now=NOW)
    sign_roster(signed, keys["eva"], now=NOW)
    assert "Rita" not in (signed / "roster.jsonl").read_text("utf-8")
    assert "Rita Mora" in [person.name for person in open_project(signed).members]
    path = signed / "people.toml"
    path.write_text(path.read_text("utf-8").replace("Rita Mora", "Rosa Mora"), "utf-8")
    with pytest.raises(RosterDisagrees):
        _ = open_project(signed).members


# --- fingerprints ---------------------------------------------------------------------------------


def test_a_fingerprint_is_whole_and_can_be_read_aloud(keys):
    key = keys["eva"].key
    assert grouped_key(key).replace(" ", "") == key
    assert len(spoken_key(key).split()) == N_WORDS
    assert spoken_key(key) != spoken_key(keys["luis"].key)
    assert fingerprint(key).startswith(spoken_key(key))
    assert len(set(WORDS)) == len({word[:3] for word in WORDS}) == 256
    assert all(word.isascii() and word.islower() for word in WORDS)
