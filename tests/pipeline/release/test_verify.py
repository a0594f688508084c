"""A release is judged from its folder alone, anywhere; whatever was touched is found out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.errors import CelosiaError
from celosia.model.roster import BEGINNING
from celosia.model.verdict import State
from celosia.pipeline.project.identity import new_identity
from celosia.pipeline.release.errors import NotARelease, ReleaseDamaged
from celosia.pipeline.release.folder import added_text, manifest_text, read_release
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.verify import verify_release
from celosia.storage import content_digest
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import CHEAP, NOW, PHRASE

T_CLOSE = """
[policy]
limit = 0.3
criteria = [{criterion = "k", k = 2}, {criterion = "distinct_l", variable = "DIAG1", l = 2}, \
{criterion = "t", variable = "DIAG1", t = 1.0}, {criterion = "t", variable = "DIAG1", t = 1.0, reference = "release"}]
"""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def signed(people, tmp_path_factory) -> Path:
    folder = run_to_approved_candidate(
        make_project(tmp_path_factory.mktemp("signed") / "egresos", people, T_CLOSE), people
    )
    made = make_release(folder, now=NOW)
    for role, person in people.items():
        sign_release(made.folder, None, person, role, now=NOW)
    return made.folder


@pytest.fixture
def release(signed, tmp_path) -> Path:
    return Path(shutil.copytree(signed, tmp_path / "copia"))


@pytest.mark.requirement("M31", "M36")
def test_the_verdict_is_the_same_on_a_copy_elsewhere_without_the_source(signed, release):
    here, there = verify_release(signed).as_dict(), verify_release(release).as_dict()
    assert here["holds"]
    assert {**here, "release": ""} == {**there, "release": ""}


def test_what_the_file_answers_is_measured_and_what_the_source_answers_is_attested(release):
    found = verify_release(release)
    states = {one.rule: one.state for one in found.rules}
    assert states["columns"] is State.HOLDS
    assert states["identifiers"] is State.HOLDS
    assert states["signatures"] is State.HOLDS
    assert states["k"] is State.ATTESTED  # it was counted in persons, whom the release does not know
    assert states["second_person"] is State.HOLDS  # from the approvals that the manifest carries
    assert found.check.k >= 2
    assert {one["role"] for one in found.signatures} == {"head", "executor", "verifier"}


@pytest.mark.requirement("M15")
def test_masked_values_are_counted_in_the_file_where_records_are_counted(people, tmp_path):
    masking = T_CLOSE.replace("limit", "mask_sensitive = true\nlimit").replace("l = 2", "l = 12")
    folder = make_project(tmp_path / "egresos", people, masking)
    settings = folder / "celosia.toml"
    settings.write_text(settings.read_text("utf-8").replace('person = "RUN"\n', ""), "utf-8")
    release = make_release(run_to_approved_candidate(folder, people), now=NOW).folder
    told = next(one for one in verify_release(release).rules if one.rule == "l")
    starred = sum(line.endswith(",*") for line in (release / "data.csv").read_text("utf-8").splitlines())
    assert told.state is State.HOLDS  # measured, and not attested
    assert told.measured["masked"] == {"DIAG1": starred}
    assert starred > 0


def edited(path: Path, change) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n", "utf-8")


def one_byte(release: Path) -> None:
    path = release / "data.csv"
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(bytes(body))


def one_row_less(release: Path) -> None:
    path = release / "data.csv"
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[:-1]) + "\n", "utf-8")


def softer_rule(release: Path) -> None:
    def change(document):
        next(one for one in document["rules"] if one["rule"] == "k")["asked"]["k"] = 1

    edited(release / "manifest.json", change)


def dropped_rule(release: Path) -> None:
    edited(release / "manifest.json", lambda d: d["rules"].pop())


def softer_policy(release: Path) -> None:
    edited(release / "manifest.json", lambda d: d["policy"].update(criteria=[{"criterion": "k", "k": 1}]))


def another_approver(release: Path) -> None:
    edited(release / "manifest.json", lambda d: d["approvals"][0].update(name="Beto Soto"))


def later_approval(release: Path) -> None:
    edited(release / "manifest.json", lambda d: d["approvals"][0].update(when="2027-01-01T00:00:00+00:00"))


def approval_gone(release: Path) -> None:
    edited(release / "manifest.json", lambda d: d["approvals"].pop())


def journal_head(release: Path) -> None:
    edited(release / "manifest.json", lambda d: d.update(journal="0" * 64))


def hidden_line(release: Path) -> None:
    edited(release / "manifest.json", lambda d: d.update(extra="nobody signed this"))


def signature_bit(release: Path) -> None:
    def change(document):
        document["signature"] = ("0" if document["signature"][0] != "0" else "1") + document["signature"][1:]

    edited(release / "signatures" / "head-1.json", change)


def signature_role(release: Path) -> None:
    edited(release / "signatures" / "head-1.json", lambda d: d.update(role="verifier"))


def signature_gone(release: Path) -> None:
    (release / "signatures" / "verifier-1.json").unlink()


def signatures_gone(release: Path) -> None:
    shutil.rmtree(release / "signatures")


def signature_nonsense(release: Path) -> None:
    (release / "signatures" / "head-2.json").write_text("[]", "utf-8")


def added_file(release: Path) -> None:
    (release / "notas.txt").write_text("nada", "utf-8")


def added_among_signatures(release: Path) -> None:
    (release / "signatures" / "lista.csv").write_text("nada", "utf-8")


def added_folder(release: Path) -> None:
    (release / "vacía").mkdir()


def folder_among_the_documents(release: Path) -> None:
    (release / "dossier" / "otra").mkdir()


def folder_among_signatures(release: Path) -> None:
    (release / "signatures" / "head-2.json").mkdir()


def folder_named_as_the_entry(release: Path) -> None:
    (release / "publication.json").mkdir()


def pipe_instead(release: Path) -> None:
    os.mkfifo(release / "notas")


def words_in_a_signature(release: Path) -> None:
    edited(release / "signatures" / "head-1.json", lambda d: d.update(extra="nobody signed this"))


def words_under_a_repeated_key(release: Path) -> None:
    path = release / "signatures" / "head-1.json"
    path.write_text(path.read_text("utf-8").replace("{", '{\n  "note": "nobody signed this",', 1), "utf-8")


def lines_after_a_signature(release: Path) -> None:
    path = release / "signatures" / "head-1.json"
    path.write_bytes(path.read_bytes() + b"\n\n")


def other_line_ends_in_a_signature(release: Path) -> None:
    path = release / "signatures" / "head-1.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def other_line_ends_in_the_manifest(release: Path) -> None:
    path = release / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def signature_twice(release: Path) -> None:
    shutil.copy(release / "signatures" / "head-1.json", release / "signatures" / "head-2.json")


def signature_under_another_role(release: Path) -> None:
    (release / "signatures" / "executor-1.json").rename(release / "signatures" / "delegate-1.json")


def signature_in_capitals(release: Path) -> None:
    edited(release / "signatures" / "head-1.json", lambda d: d.update(signature=d["signature"].upper()))


def link_instead(release: Path) -> None:
    body = (release / "dictionary.csv").read_bytes()
    (release / "dictionary.csv").unlink()
    (release.parent / "otro.csv").write_bytes(body)
    (release / "dictionary.csv").symlink_to(release.parent / "otro.csv")


def removed_file(release: Path) -> None:
    (release / "dossier" / "public_report.pdf").unlink()


def changed_dictionary(release: Path) -> None:
    path = release / "dictionary.csv"
    path.write_text(path.read_text("utf-8").replace("SEXO", "SEXOS"), "utf-8")


TAMPERINGS = (
    one_byte, one_row_less, softer_rule, dropped_rule, softer_policy, another_approver, later_approval, approval_gone,
    journal_head, hidden_line, signature_bit, signature_role, signature_gone, signatures_gone, signature_nonsense,
    added_file, added_among_signatures, added_folder, folder_among_the_documents, folder_among_signatures,
    folder_named_as_the_entry, pipe_instead, words_in_a_signature, words_under_a_repeated_key, lines_after_a_signature,
    other_line_ends_in_a_signature, other_line_ends_in_the_manifest, signature_twice, signature_under_another_role,
    signature_in_capitals, link_instead, removed_file, changed_dictionary,
)  # fmt: skip


def stands(release: Path) -> bool:
    """Whether a release is accepted; a manifest that cannot be read is a refusal as well."""
    try:
        return verify_release(release).holds
    except ReleaseDamaged:
        return False


def test_an_untouched_copy_stands(release):
    assert stands(release)


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda one: one.__name__)
def test_whatever_is_touched_is_refused(release, tamper):
    tamper(release)
    assert not stands(release)


def test_an_extra_folder_is_told_by_its_name(release):
    (release / "dossier" / "otra").mkdir()
    files = next(one for one in verify_release(release).findings if one.id == "files")
    assert [detail.split()[-1] for detail in files.detail] == ["dossier/otra"]


def test_a_manifest_without_its_signatures_could_still_not_soften_a_rule(release, people):
    """Everything signed anew by the same people: the rules must still be those of the norm."""
    softer_rule(release)
    resigned(release, people)
    found = verify_release(release)
    assert [one.id for one in found.findings if one.state is State.FAILS] == ["rules"]


def test_a_file_that_breaks_k_is_found_out_although_all_digests_and_signatures_are_right(release, people):
    path = release / "data.csv"
    lines = path.read_text("utf-8").splitlines()
    lines[-1] = "MUJER,77,05302,FONASA," + lines[-1].split(",")[-1]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    digest = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    edited(release / "manifest.json", lambda d: d["files"].update({"data.csv": digest}))
    resigned(release, people)
    found = verify_release(release)
    assert not found.holds
    assert {v.rule for v in found.check.verdicts if v.state is State.FAILS} >= {"k"}
    assert "approvals" in [one.id for one in found.findings if one.state is State.FAILS]


def resigned(release: Path, people) -> None:
    held = read_release(release)
    for path in (release / "signatures").iterdir():
        document = json.loads(path.read_text("utf-8"))
        document["digest"] = held.manifest.digest
        unsigned = {key: value for key, value in document.items() if key != "signature"}
        document["signature"] = people[document["role"]].sign(unsigned)
        path.write_text(added_text(document), "utf-8")


def found_roster(roles, entries) -> str:
    """A roster of the same names, each entry signed anew by whoever holds the keys that are given."""
    lines, previous = [], BEGINNING
    for entry, role in zip(entries, [entry.roles[0] for entry in entries], strict=True):
        head = roles["head"]
        changed = replace(entry, previous=previous, key=roles[role].key, by_key=head.key)
        signed = replace(changed, signature=head.sign(changed.signed_part()))
        lines.append(signed.line + "\n")
        previous = signed.digest
    return "".join(lines)


def cards(people) -> dict[str, str]:
    return {person.key: person.name for person in people.values()}


def test_without_cards_an_intact_release_is_signed_by_people_unknown_to_the_reader(release):
    assert verify_release(release).answer == "unknown"


def test_an_insider_with_a_true_key_who_invents_the_others_is_found_by_the_true_cards(release, people, tmp_path):
    """The executor writes the manifest anew with fresh keys for head and verifier, and signs everything again."""
    roles = {"executor": people["executor"]}
    for role in ("head", "verifier"):
        roles[role] = new_identity(people[role].name, PHRASE, tmp_path / f"{role}.key", cost=CHEAP)
    invented = {people[role].key: roles[role].key for role in roles}

    roster = found_roster(roles, read_release(release).roster.entries)
    (release / "roster.jsonl").write_text(roster, "utf-8")

    def replace_people(document) -> None:
        document["files"]["roster.jsonl"] = content_digest(release / "roster.jsonl")
        for approval in document["approvals"]:
            del approval["signature"]
            approval["key"] = invented[approval["key"]]
            approval["signature"] = roles[approval["role"]].sign(approval)

    edited(release / "manifest.json", replace_people)
    for path in (release / "signatures").iterdir():
        document = json.loads(path.read_text("utf-8"))
        edited_signature = {**document, "key": invented[document["key"]]}
        path.write_text(added_text(edited_signature), "utf-8")
    resigned(release, roles)
    assert verify_release(release).answer == "unknown"
    for path in (release / "signatures").glob("*.json"):
        if not path.name.startswith("executor"):
            path.unlink()  # only the true signature is left, over invented approvals
    report = verify_release(release, cards(people))
    assert report.answer == "not_intact"
    trust = next(finding for finding in report.findings if finding.id == "trust")
    assert trust.state is State.FAILS
    assert set(trust.detail) <= {people["head"].name, people["verifier"].name}


def test_only_people_whose_card_one_holds_are_trusted_when_cards_are_given(release, people, tmp_path):
    stranger = new_identity("Otra", PHRASE, tmp_path / "otra.key")
    assert verify_release(release, cards(people)).answer == "known"
    report = verify_release(release, {stranger.key: stranger.name})
    assert report.answer == "unknown"
    assert people["head"].name in str(next(finding for finding in report.findings if finding.id == "trust").detail)
    impostor = {stranger.key: people["head"].name}  # the reader's card gives that name another key
    assert verify_release(release, cards(people) | impostor).answer == "known"
    assert verify_release(release, impostor).answer == "not_intact"


@pytest.mark.parametrize("name", ["manifest.json", "publication.json", "signatures/head-1.json"])
def test_json_nested_without_end_is_refused(release, name):
    (release / name).write_text("[" * 100_000, "utf-8")
    assert not stands(release)


def test_a_manifest_has_one_spelling_only(release):
    path = release / "manifest.json"
    path.write_text(path.read_text("utf-8").replace("\n", ""), "utf-8")
    with pytest.raises(ReleaseDamaged):
        verify_release(release)


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"format": "celosia/manifest/1"}', '{"format": "otro/9"}', "\x00"])
def test_a_broken_manifest_is_refused_by_name(release, body):
    (release / "manifest.json").write_text(body, "utf-8")
    with pytest.raises(CelosiaError):
        verify_release(release)


@pytest.mark.parametrize("odd", [[1], ["SEXO", {"a": 1}], [None]])
@pytest.mark.parametrize("part", ["published", "sensitive"])
def test_a_manifest_of_odd_names_is_judged_and_does_not_hold(release, part, odd):
    edited(
        release / "manifest.json",
        lambda document: (document if part in document else document["policy"]).update({part: odd}),
    )
    assert not verify_release(release).holds


def test_a_folder_without_manifest_is_no_release(tmp_path):
    with pytest.raises(NotARelease):
        verify_release(tmp_path)


def test_the_manifest_reads_back_as_it_was_written(release):
    assert manifest_text(read_release(release).manifest) == (release / "manifest.json").read_text("utf-8")
