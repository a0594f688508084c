"""A release is entered as published only with everything that its protocols ask for."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from celosia.model.reports.verification import Publication, publication_from
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.verdict import State
from celosia.pipeline.candidate.errors import CandidateChanged, RoleNotHeld
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import JournalBroken
from celosia.pipeline.project.identity import Identity, new_identity
from celosia.pipeline.release.errors import AlreadyPublished, PeriodUnclear, ReleaseDamaged, RulesFail
from celosia.pipeline.release.folder import added_text
from celosia.pipeline.release.journal_recovery import recover_journal
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publication_entry import months_of, next_review
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.verify import verify_release
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import CHEAP, NOW, PHRASE

DATES = {"consultation": date(2026, 11, 2), "publication_date": date(2026, 11, 20), "update_period": "anual"}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def signed(people, tmp_path_factory) -> Path:
    folder = run_to_approved_candidate(make_project(tmp_path_factory.mktemp("signed") / "egresos", people), people)
    made = make_release(folder, now=NOW)
    for role, person in people.items():
        sign_release(made.folder, None, person, role, now=NOW)
    return folder


@pytest.fixture
def folder(signed, tmp_path) -> Path:
    return Path(shutil.copytree(signed, tmp_path / "egresos"))


@pytest.mark.requirement("M32", "M33", "M34")
def test_a_signed_release_is_published_with_its_dates_and_its_next_review(folder, people):
    made = publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)
    entry = json.loads((folder / "releases/2026-11-15/publication.json").read_text("utf-8"))
    assert entry["consultation"] == "2026-11-02"
    assert made.next_review == entry["next_review"] == "2027-11-20"
    assert verify_release(folder / "releases/2026-11-15").holds
    assert json.loads((folder / "journal.jsonl").read_text("utf-8").splitlines()[-1])["what"] == "publish"
    with pytest.raises(AlreadyPublished):
        publish(folder, folder / "releases/2026-11-15", people["head"], **DATES, now=NOW)


@pytest.mark.requirement("M32", "M33")
@pytest.mark.parametrize("lacking", ["consultation", "publication_date"])
def test_a_date_that_the_norm_asks_for_cannot_be_left_out(folder, lacking, people):
    with pytest.raises(RulesFail):
        publish(
            folder,
            "2026-11-15",
            people["head"],
            **{key: value for key, value in DATES.items() if key != lacking},
            now=NOW,
        )
    assert not (folder / "releases/2026-11-15/publication.json").exists()


def test_who_is_consulted_is_consulted_before_the_publication(folder, people):
    with pytest.raises(ValueOutOfRange, match="2026-11-20"):
        publish(folder, "2026-11-15", people["head"], **DATES | {"consultation": date(2026, 11, 21)}, now=NOW)
    assert not (folder / "releases/2026-11-15/publication.json").exists()


def rewritten(place: Path, changes: dict[str, str]) -> None:
    path = place / "publication.json"
    document = json.loads(path.read_text("utf-8")) | changes
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n", "utf-8")


def answer(release: Path) -> tuple[bool, int]:
    """Whether the entry agrees with what is signed, and how many things are told of it."""
    found = next(one for one in verify_release(release).findings if one.id == "publication")
    return found.state is State.HOLDS, len(found.detail)


DAYS = (
    {"consultation": date(2019, 3, 1), "publication_date": date(2020, 3, 1)},
    {"consultation": date(2019, 3, 1)}, {"consultation": date(2025, 11, 13)}, {"consultation": date(2026, 11, 17)},
    {"publication_date": date(2026, 11, 13)}, {"publication_date": date(2028, 1, 1)},
)  # fmt: skip


@pytest.mark.requirement("M32")
@pytest.mark.parametrize("days", DAYS, ids=lambda days: "-".join(str(day) for day in days.values()))
def test_days_that_cannot_be_of_a_release_of_that_day_are_refused(folder, people, days):
    with pytest.raises(ValueOutOfRange):
        publish(folder, "2026-11-15", people["head"], **DATES | days, now=NOW)
    assert not (folder / "releases/2026-11-15/publication.json").exists()


@pytest.mark.parametrize("role", ["executor", "verifier"])
def test_nobody_but_whoever_answers_for_the_project_enters_a_publication(folder, people, role):
    with pytest.raises(RoleNotHeld):
        publish(folder, "2026-11-15", people[role], **DATES, now=NOW)
    assert not (folder / "releases/2026-11-15/publication.json").exists()


def signed_by(place: Path, signer: Identity, **changes: str) -> None:
    """The entry signed anew, as whoever holds one key can."""
    path = place / "publication.json"
    entry = publication_from(json.loads(path.read_text("utf-8")))
    entry = replace(entry, **{name: value for name, value in changes.items() if name in Publication.__slots__})
    given = {name: value for name, value in changes.items() if name not in Publication.__slots__}
    draft = replace(entry.signed, digest=entry.digest, key=signer.key, name=signer.name, **given)
    signed = replace(entry, signed=replace(draft, signature=signer.sign(draft.signed_part())))
    path.write_text(added_text(signed.as_dict()), "utf-8")


@pytest.mark.requirement("M32")
def test_an_entry_signed_by_anybody_else_is_found_on_any_machine(folder, people, tmp_path):
    publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)
    copy = Path(shutil.copytree(folder / "releases/2026-11-15", tmp_path / "copia"))
    for number, (signer, changes) in enumerate(
        [
            (people["executor"], {}),
            (people["executor"], {"role": "executor"}),
            (people["verifier"], {"consultation": "2026-11-03"}),
            (new_identity("Ana Rojas", PHRASE, tmp_path / "own.key", cost=CHEAP), {"consultation": "2026-11-03"}),
            (people["head"], {"what": "release"}),
            (people["head"], {"when": "2030-01-01T00:00:00+00:00"}),
            (people["head"], {"consultation": "2019-03-01"}),
        ]
    ):
        forged = Path(shutil.copytree(copy, tmp_path / f"forged-{number}"))
        signed_by(forged, signer, **changes)
        assert not verify_release(forged, now=NOW).holds, (signer.name, changes)
    unsigned = {name: value for name, value in document_of(copy).items() if name != "signed"}
    (copy / "publication.json").write_text(added_text(unsigned | {"format": "celosia/publication/1"}), "utf-8")
    assert not verify_release(copy, now=NOW).holds  # an entry without signature is of older releases alone


def document_of(place: Path) -> dict[str, Any]:
    return dict(json.loads((place / "publication.json").read_text("utf-8")))


LIES = (
    {"consultation": "2026-11-03"},
    {"release": "2025-11-15"}, {"release": "otra"}, {"manifest": "sha256:" + "0" * 64}, {"next_review": "2036-11-20"},
    {"publication_date": "2026-11-19"}, {"update_period": "bienal"}, {"update_period": "nunca"},
    {"consultation": "2026-11-25"}, {"consultation": "ayer"}, {"publication_date": "20261120"},
)  # fmt: skip


@pytest.mark.requirement("M34")
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: "-".join(next(iter(lie.items()))))
def test_an_entry_that_contradicts_what_is_signed_or_itself_is_found_anywhere(folder, tmp_path, lie, people):
    publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)
    copy = Path(shutil.copytree(folder / "releases/2026-11-15", tmp_path / "copia"))
    assert answer(copy) == (True, 1)  # what it says is sound, and who signed it is told
    rewritten(copy, lie)
    assert not answer(copy)[0]
    assert not verify_release(copy).holds


@pytest.mark.parametrize(
    "lie", [{"consultation": "2026-11-03"}, {"publication_date": "2026-11-19", "next_review": "2027-11-19"}]
)
def test_beside_its_journal_an_entry_says_what_was_noted(folder, lie, people):
    release = folder / "releases/2026-11-15"
    publish(folder, release, people["head"], **DATES, now=NOW)
    rewritten(release, lie)
    assert not answer(release)[0]
    before = (folder / "journal.jsonl").read_bytes()
    recover_journal(folder, now=NOW)
    with pytest.raises(AlreadyPublished):
        publish(folder, release, people["head"], **DATES, now=NOW)
    assert (folder / "journal.jsonl").read_bytes() == before  # the change is not noted as if it had been published
    assert not answer(release)[0]


def test_a_release_under_another_name_is_entered_under_its_own(folder, people):
    moved = (folder / "releases/2026-11-15").rename(folder / "releases/para-la-web")
    assert publish(folder, moved, people["head"], **DATES, now=NOW).release == "2026-11-15"
    assert verify_release(moved).holds


def test_an_update_period_must_be_one(folder, people):
    with pytest.raises(PeriodUnclear):
        publish(folder, "2026-11-15", people["head"], **DATES | {"update_period": "a veces"}, now=NOW)


@pytest.mark.requirement("M33")
@pytest.mark.parametrize("role", ["head", "executor", "verifier"])
def test_each_of_the_three_signatures_is_needed(folder, role, people):
    (folder / f"releases/2026-11-15/signatures/{role}-1.json").unlink()
    with pytest.raises(ReleaseDamaged):
        publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)


def claims_of_another(folder: Path) -> None:
    path = folder / "claims.csv"
    path.write_text(path.read_text("utf-8").replace("sha256:", "sha256:0"), "utf-8")


def approvals_gone(folder: Path) -> None:
    (folder / "approvals.jsonl").unlink()


@pytest.mark.requirement("M31")
@pytest.mark.parametrize("breach", [claims_of_another, approvals_gone], ids=lambda one: one.__name__)
def test_what_was_taken_back_since_the_release_stops_its_publication(folder, breach, people):
    breach(folder)
    with pytest.raises(RulesFail):
        publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)


def test_the_journal_must_be_the_one_the_release_was_made_from(folder, people):
    path = folder / "journal.jsonl"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(lines[:3]) + "\n", "utf-8")
    with pytest.raises(ReleaseDamaged):
        publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)


def test_one_changed_line_of_the_journal_stops_everything(folder, people):
    path = folder / "journal.jsonl"
    path.write_text(path.read_text("utf-8").replace('"what": "plan"', '"what": "plon"', 1), "utf-8")
    with pytest.raises(JournalBroken):
        publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)


def test_a_touched_release_is_not_published(folder, people):
    path = folder / "releases/2026-11-15/data.csv"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ReleaseDamaged):
        publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)


def test_a_release_of_an_older_candidate_is_not_published(folder, people):
    make_plan(folder, now=NOW, k=4)
    run_plan(folder, now=NOW)
    with pytest.raises(CandidateChanged):
        publish(folder, "2026-11-15", people["head"], **DATES, now=NOW)


@pytest.mark.requirement("M34")
@pytest.mark.parametrize(
    ("period", "months"),
    [("anual", 12), ("Annual", 12), ("semestral", 6), ("6 meses", 6), ("2 años", 24), ("1 year", 12), ("P1Y6M", 18)],
)
def test_update_periods_are_read_in_both_languages(period, months):
    assert months_of(period) == months


@pytest.mark.parametrize("period", ["", "p", "0 meses", "-1 mes", "siempre", "1"])
def test_what_is_no_period_is_refused(period):
    with pytest.raises(PeriodUnclear):
        months_of(period)


def test_a_review_falls_on_the_last_day_of_a_shorter_month():
    assert next_review(date(2026, 8, 31), "semestral") == date(2027, 2, 28)
    assert next_review(date(2026, 12, 15), "mensual") == date(2027, 1, 15)
