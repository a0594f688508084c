"""A project or release with a damaged file is told by name; no verb breaks down over it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from celosia.errors import CelosiaError
from celosia.model.paths import CandidatePaths
from celosia.model.verdict import State
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.candidate.errors import CandidateChanged
from celosia.pipeline.candidate.rule_context import read_check
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.errors import BadProjectFile
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import is_signed, load_identity
from celosia.pipeline.release.document_input import collect_document_input
from celosia.pipeline.release.errors import ReleaseDamaged
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from celosia.storage import FileMissing
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW, PHRASE

RELEASE = "releases/2026-11-15"
DATES = {"consultation": date(2026, 11, 2), "publication_date": date(2026, 11, 20), "update_period": "anual"}


@pytest.fixture(scope="module")
def signed(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("signed")
    people = make_keys(home / "keys")
    folder = run_to_approved_candidate(make_project(home / "egresos", people), people)
    made = make_release(folder, now=NOW)
    for role, person in people.items():
        sign_release(made.folder, None, person, role, now=NOW)
    return folder


@pytest.fixture
def folder(signed, tmp_path) -> Path:
    shutil.copytree(signed.parent / "keys", tmp_path / "keys")
    return Path(shutil.copytree(signed, tmp_path / "egresos"))


def edited(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n", "utf-8")


def published(folder: Path) -> None:
    head = load_identity(PHRASE, folder.parent / "keys" / "head.key")
    publish(folder, "2026-11-15", head, **DATES, now=NOW)


def without_facts(folder: Path) -> None:
    """The journal with a right chain, whose last line is a run that says nothing."""
    path = folder / "journal.jsonl"
    _journal.append_entry(path, "run", NOW, {})
    lines = path.read_text("utf-8").splitlines()
    last = json.loads(lines[-1])
    del last["facts"]
    path.write_text("\n".join([*lines[:-1], json.dumps(last, ensure_ascii=False)]) + "\n", "utf-8")


def only_format(document: dict[str, Any]) -> None:
    for name in [name for name in document if name != "format"]:
        del document[name]


def null(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda document: document.update({name: None})


# --- the project ----------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [only_format, null("published"), null("steps"), null("changes")])
def test_a_plan_that_lacks_its_parts_is_a_file_that_cannot_be_read(folder, change):
    edited(folder / "plan.json", change)
    with pytest.raises(BadProjectFile):
        _ = open_project(folder).plan
    assert "plan.json" in " ".join(gate.reason for gate in status(folder, now=NOW).gates)


@pytest.mark.parametrize("body", ["[]", "null", "3", "{}", "", "\x00"])
def test_a_verdict_that_is_none_is_no_candidate(folder, body):
    home = folder / "private/candidate"
    (home / "verdict.json").write_text(body, "utf-8")
    with pytest.raises(NoCandidate):
        read_check(CandidatePaths(home))


@pytest.mark.parametrize("change", [only_format, *map(null, ("verdicts", "rows", "classes", "suppressed_rows"))])
def test_a_verdict_that_lacks_its_figures_is_no_candidate(folder, change):
    edited(folder / "private/candidate/verdict.json", change)
    with pytest.raises(NoCandidate):
        read_check(CandidatePaths(folder / "private/candidate"))
    status(folder, now=NOW)
    assert collect_document_input(open_project(folder), NOW).check is None


def test_a_dictionary_in_another_encoding_is_told_by_name(folder):
    path = folder / "dictionary.csv"
    path.write_bytes(path.read_text("utf-8").encode("latin-1", errors="replace"))
    with pytest.raises(BadProjectFile, match=r"dictionary\.csv"):
        _ = open_project(folder).variables
    assert "dictionary.csv" in " ".join(gate.reason for gate in status(folder, now=NOW).gates)


def test_a_run_without_facts_in_the_journal_made_no_candidate(folder):
    before = collect_document_input(open_project(folder), NOW).check
    without_facts(folder)
    assert status(folder, now=NOW).gates
    assert collect_document_input(open_project(folder), NOW).check == before  # the earlier run still tells what it made


@pytest.mark.parametrize("body", ["[]", "{}", "null", "3"])
def test_rules_that_are_none_are_a_file_that_cannot_be_read(folder, body):
    (folder / "private/candidate/rules.json").write_text(body, "utf-8")
    with pytest.raises(CelosiaError, match=r"rules\.json"):
        collect_document_input(open_project(folder), NOW)


# --- publishing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dictionary.csv", "journal.jsonl"])
def test_a_project_that_lost_a_file_does_not_publish_and_names_it(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileMissing, match=re.escape(name)):
        published(folder)
    assert not (folder / RELEASE / "publication.json").exists()


@pytest.mark.parametrize("share", [0, 0.5])
def test_an_order_of_persons_that_was_cut_short_is_another_candidate(folder, share):
    path = folder / "private/candidate/order.parquet"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(CandidateChanged):
        published(folder)


# --- signatures and manifests ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["signature", "figures", "name", "key", "role", "when"])
def test_a_signature_with_a_null_part_is_no_signature(folder, name):
    edited(folder / RELEASE / "signatures/head-1.json", null(name))
    assert None in read_release(folder / RELEASE).signatures
    assert status(folder, now=NOW).gates
    with pytest.raises(ReleaseDamaged):
        published(folder)


@pytest.mark.parametrize("signature", [None, 3, ["00"]])
def test_what_is_no_text_signs_nothing(signature):
    assert not is_signed({}, signature, "00" * 32)
    assert not is_signed({}, "00" * 64, signature)


def in_policy(**values: Any) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["policy"].update(values)


def in_measured(measured: Any) -> Callable[[dict[str, Any]], object]:
    return lambda document: next(one for one in document["rules"] if one["rule"] == "k").update(measured=measured)


ODD = {
    "empty policy": lambda document: document.update(policy={}),
    "no method": lambda document: document["policy"].pop("method"),
    "no suppressed": lambda document: document["policy"].pop("suppressed"),
    "no criteria": lambda document: document["policy"].pop("criteria"),
    "null criteria": in_policy(criteria=None),
    "odd criterion": in_policy(criteria=[{"criterion": "k"}, 3]),
    "limit by nought": in_policy(limit="1/0"),
    "odd scenarios": in_policy(scenarios=[{"variables": 3}]),
    "scenario by nought": in_policy(scenarios=[{"variables": ["SEXO"], "threshold": "1/0"}]),
    "null scenarios": in_policy(scenarios=None),
    "no rules": lambda document: document.update(rules=[{}]),
    "null measured": in_measured(None),
    "worded k": in_measured({"k": "dos", "unit": "persons"}),
    "null followers": null("followers"),
    "null references": null("references"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_manifest_in_its_right_spelling_is_answered_with_what_cannot_be_measured(folder, name):
    edited(folder / RELEASE / "manifest.json", ODD[name])
    found = verify_release(folder / RELEASE)
    states = {one.id: one.state for one in found.findings}
    assert not found.holds
    assert State.NOT_MEASURABLE in (states["rules"], states["figures"])


@pytest.mark.parametrize("name", ["signature", "figures", "name"])
def test_a_manifest_whose_approval_has_a_null_part_is_damaged(folder, name):
    edited(folder / RELEASE / "manifest.json", lambda document: document["approvals"][0].update({name: None}))
    with pytest.raises(ReleaseDamaged):
        verify_release(folder / RELEASE)
