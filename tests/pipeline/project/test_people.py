"""Identities and the people of a project: one person, one name, one key; who executes does not verify."""

from __future__ import annotations

import json
import stat
import threading

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from celosia.model.errors import UnknownFormat
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.edits import add_person
from celosia.pipeline.project.errors import (
    BadPeople,
    IdentityInsideProject,
    IdentityMissing,
    NameNeeded,
    PassphraseLong,
    PassphraseShort,
    PersonRepeats,
    RolesClash,
    WrongPassphrase,
)
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import canonical, is_signed, load_identity, new_identity, read_card
from celosia.pipeline.project.people import is_key, is_name, looks_alike
from celosia.storage import AlreadyExists
from celosia.workbench.accounts import server_journal
from celosia.workbench.signing_keys import key_card, make_key
from tests.projects.steps import NOW, OTHER_PUBLIC_KEY, PHRASE
from tests.projects.steps import PUBLIC_KEY as KEY
from tests.projects.survey import add_people, make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("people") / "p")


@pytest.fixture
def folder(project):
    (project / "people.toml").unlink(missing_ok=True)
    return project


def test_a_key_opens_with_its_passphrase_and_signs(tmp_path):
    made = new_identity("  Ana   Díaz ", PHRASE, tmp_path / "keys" / "ana.key")
    opened = load_identity(PHRASE, tmp_path / "keys" / "ana.key")
    assert (opened.name, opened.key) == ("Ana Díaz", made.key) == read_card(tmp_path / "keys" / "ana.pub.json")
    signature = opened.sign({"a": 1})
    assert is_signed({"a": 1}, signature, made.key)
    assert not is_signed({"a": 2}, signature, made.key)
    assert not is_signed({"a": 1}, signature, KEY)
    assert not is_signed({"a": 1}, "no hex", made.key)


class Killed(BaseException):
    """The process died here."""


def _dies(*_: object, **__: object) -> str:
    raise Killed


def test_a_key_that_no_journal_knows_never_stands(tmp_path, monkeypatch):
    path = tmp_path / "keys" / "ana.key"
    with monkeypatch.context() as dead:
        dead.setattr(_journal, "append_entry", _dies)
        with pytest.raises(Killed):
            make_key(path, "Ana Rojas", PHRASE, root=tmp_path)
    assert (path.exists(), key_card(path)) == (False, None)
    made = make_key(path, "Ana Rojas", PHRASE, root=tmp_path)  # and the next attempt goes on
    [line] = _journal.read_journal(server_journal(tmp_path)).entries
    assert (line["what"], line["facts"]["key"]) == ("key-made", made.key)


def test_of_two_who_make_one_key_at_once_the_second_finds_the_first(tmp_path):
    path, errors = tmp_path / "ana.key", []

    def second() -> None:
        try:
            new_identity("Ana Rojas", PHRASE, path)
        except AlreadyExists as error:
            errors.append(error)

    beside = threading.Thread(target=second)

    def meanwhile(_: object) -> None:
        beside.start()
        beside.join(0.3)

    first = new_identity("Ana Rojas", PHRASE, path, noted=meanwhile)
    beside.join()
    assert len(errors) == 1
    assert load_identity(PHRASE, path).key == read_card(tmp_path / "ana.pub.json")[1] == first.key


def test_nobody_joins_a_project_whose_journal_does_not_know(folder, monkeypatch):
    with monkeypatch.context() as dead:
        dead.setattr(_journal, "append_entry", _dies)
        with pytest.raises(Killed):
            add_person(folder, "Ana Rojas", ("head",), KEY, now=NOW)
    assert open_project(folder).people == ()
    add_person(folder, "Ana Rojas", ("head",), KEY, now=NOW)
    assert [person.name for person in open_project(folder).people] == ["Ana Rojas"]


def test_the_private_half_is_encrypted_and_readable_by_its_owner_alone(tmp_path):
    new_identity("Ana", PHRASE, tmp_path / "ana.key")
    body = (tmp_path / "ana.key").read_text()
    assert '"format": "celosia/key/2"' in body
    assert '"n": 131072' in body
    assert stat.S_IMODE((tmp_path / "ana.key").stat().st_mode) == 0o600


def test_a_shared_folder_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o755)
    new_identity("Ana", PHRASE, tmp_path / "ana.key")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    new_identity("Ana", PHRASE, tmp_path / "own" / "ana.key")
    assert stat.S_IMODE((tmp_path / "own").stat().st_mode) == 0o700


def test_what_makes_no_identity_is_refused(tmp_path, folder):
    path = tmp_path / "ana.key"
    with pytest.raises(PassphraseShort):
        new_identity("Ana", "corta", path)
    with pytest.raises(PassphraseLong):
        new_identity("Ana", "ñ" * 600, path)
    with pytest.raises(NameNeeded):
        new_identity("  ", PHRASE, path)
    with pytest.raises(IdentityInsideProject):
        new_identity("Ana", PHRASE, folder / "private" / "ana.key")
    new_identity("Ana", PHRASE, path)
    with pytest.raises(AlreadyExists):
        new_identity("Ana", PHRASE, path)
    with pytest.raises(WrongPassphrase):
        load_identity("otra frase larga", path)
    with pytest.raises(IdentityMissing):
        load_identity(PHRASE, tmp_path / "nobody.key")


@pytest.mark.parametrize("card", ["[]", "{", '{"format": "celosia/identity/2", "name": "a", "key": "b"}'])
def test_a_card_that_is_none_is_refused(tmp_path, card):
    (tmp_path / "ana.pub.json").write_text(card)
    with pytest.raises(IdentityMissing):
        read_card(tmp_path / "ana.pub.json")


def test_a_key_has_one_spelling():
    assert is_key(KEY)
    assert not any(is_key(text) for text in (KEY.upper(), " " + KEY[:-1], KEY[:-2], "zz" * 32, ""))


@pytest.mark.parametrize(
    "name",
    ["Ana D\u0456az", "Аna Díaz", "ANA  DIAZ", "Ana Díaz.", "Ana-Diaz", "Ana Dıaz", "Αna Díaz", "Ana Dlaz", "Ana D1az"],
)
def test_a_name_that_looks_like_another_is_not_entered_beside_it(folder, name):
    add_person(folder, "Ana Díaz", ["executor"], KEY, now=NOW)
    with pytest.raises(PersonRepeats):
        add_person(folder, name, ["verifier"], OTHER_PUBLIC_KEY, now=NOW)


@pytest.mark.parametrize(("first", "second"), [("Ana Díaz", "Ana Dávila"), ("Luis Soto", "Luisa Soto"), ("A 1", "A 2")])
def test_names_that_differ_to_the_eye_are_two(first, second):
    assert looks_alike(first, first)
    assert not looks_alike(first, second)


@pytest.mark.parametrize(
    "name", ["Ana Dі\u0301az", "Ana\u2060Díaz", "Ana \u3164", "Ana\ufe0f Díaz", "Ana  Díaz", " Ana", "Ana Дíaz"]
)
def test_a_name_of_two_scripts_or_with_signs_that_are_not_seen_is_none(tmp_path, name):
    assert not is_name(name)
    card = tmp_path / "ana.pub.json"
    card.write_text(json.dumps({"format": "celosia/identity/1", "name": name, "key": KEY}), "utf-8")
    with pytest.raises(IdentityMissing):
        read_card(card)


@pytest.mark.parametrize(
    "name",
    [
        "Ana María Ñuñoa",
        "José O'Higgins",
        "Mg̃ĩ",
        "Dr. 1.º Pérez-Soto (DEIS)",
        "Иван Петров",
        "山田 はなこ",
        "sha256:ab1",
    ],
)
def test_names_as_people_have_them_are_names(name):
    assert is_name(name)


_SMALL = (  # the points of Ed25519 whose order divides eight: a signature of zeros holds for any document under them
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
)


def test_a_key_under_which_a_signature_of_nobody_holds_is_no_key(tmp_path):
    signed = [(point + "00" * 32, key, {"n": n}) for key in _SMALL for point in _SMALL for n in range(8)]
    accepted = [each for each in signed if _library_accepts(*each)]
    assert accepted  # the library alone takes such a signature, which needs no private key
    assert not any(is_signed(document, signature, key) for signature, key, document in accepted)
    assert not any(is_key(key) for key in _SMALL)
    card = tmp_path / "eva.pub.json"
    card.write_text(json.dumps({"format": "celosia/identity/1", "name": "Eva", "key": _SMALL[3]}), "utf-8")
    with pytest.raises(IdentityMissing):
        read_card(card)


def _library_accepts(signature, key, document):
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), canonical(document))
    except InvalidSignature:
        return False
    return True


def test_every_key_that_is_made_is_a_key_and_its_negative_spelling_is_none():
    keys = [Ed25519PrivateKey.generate().public_key().public_bytes_raw() for _ in range(20)]
    assert all(is_key(key.hex()) for key in keys)
    beyond = (2**255 - 19 + 3).to_bytes(32, "little").hex()  # another spelling of the point whose y is 3
    assert not is_key(beyond)


@pytest.mark.requirement("M38")
def test_people_come_back_with_their_roles_and_the_others_comments_stay(folder):
    add_person(folder, "Ana Díaz", ["executor"], KEY, now=NOW)
    path = folder / "people.toml"
    path.write_text(path.read_text("utf-8").replace("[[people]]", "# la jefa lo sabe\n[[people]]"), "utf-8")
    add_person(folder, "Eva Soto", ["head", "lead"], OTHER_PUBLIC_KEY, now=NOW)
    assert [(one.name, one.roles) for one in open_project(folder).people] == [
        ("Ana Díaz", ("executor",)), ("Eva Soto", ("head", "lead")),
    ]  # fmt: skip
    assert "# la jefa lo sabe" in path.read_text("utf-8")
    assert 'since = "2026-11-15"' in path.read_text("utf-8")


@pytest.mark.requirement("M31")
def test_one_person_cannot_execute_and_verify(folder):
    with pytest.raises(RolesClash):
        add_person(folder, "Ana", ["executor", "verifier"], KEY, now=NOW)


@pytest.mark.requirement("M31")
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Luis", KEY),  # the same key under another name
        ("Luis", KEY.upper()),
        ("ana  DÍAZ", OTHER_PUBLIC_KEY),  # the same name with another key
        ("Ana Di\u0301az", OTHER_PUBLIC_KEY),  # the accent written as a sign of its own
    ],
)
def test_the_same_person_cannot_come_twice(folder, name, key):
    add_person(folder, "Ana Díaz", ["executor"], KEY, now=NOW)
    with pytest.raises(PersonRepeats):
        add_person(folder, name, ["verifier"], key, now=NOW)
    line = f'\n[[people]]\nname = "{name}"\nroles = ["verifier"]\nkey = "{key}"\n'
    (folder / "people.toml").write_text((folder / "people.toml").read_text("utf-8") + line, "utf-8")
    with pytest.raises(PersonRepeats):  # nor by hand
        _ = open_project(folder).people


def test_a_wrong_role_or_key_is_refused(folder):
    with pytest.raises(ValueOutOfRange):
        add_person(folder, "Ana", ["boss"], KEY, now=NOW)
    with pytest.raises(ValueOutOfRange):
        add_person(folder, "Ana", [], KEY, now=NOW)
    with pytest.raises(ValueOutOfRange):
        add_person(folder, "Ana", ["head"], "ab", now=NOW)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ('[[people]]\nname = "Ana"\nroles = ["head"]', BadPeople),
        (f'[[people]]\nname = "Ana"\nroles = "head"\nkey = "{KEY}"', BadPeople),
        (f'[[people]]\nname = 3\nroles = ["head"]\nkey = "{KEY}"', BadPeople),
        ('people = "nobody"', BadPeople),
    ],
)
def test_a_damaged_list_of_people_is_refused(folder, body, error):
    (folder / "people.toml").write_text(f'format = "celosia/people/1"\n{body}\n', "utf-8")
    with pytest.raises(error):
        _ = open_project(folder).people
    (folder / "people.toml").write_text('format = "celosia/people/9"\n', "utf-8")
    with pytest.raises(UnknownFormat):
        _ = open_project(folder).people


@pytest.mark.requirement("M35")
def test_the_journal_says_who_joined_and_who_is_at_the_machine(folder, monkeypatch):
    people = add_people(folder, eva=["head"])
    monkeypatch.setenv("CELOSIA_IDENTITY", str(folder.parent / "keys" / "eva.key"))
    add_person(folder, "Luis", ["verifier"], OTHER_PUBLIC_KEY, why="por la norma", now=NOW)
    entry = json.loads((folder / "journal.jsonl").read_text("utf-8").splitlines()[-1])
    assert (entry["who"], entry["what"], entry["why"]) == (people["eva"].name, "person-added", "por la norma")
    assert entry["facts"]["person"] == "Luis"
