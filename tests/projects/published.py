"""Made-up surveys that three people took to their publication under MINSAL and MEL, for whoever tries to forge them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.project.identity import Identity
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.mel_delivery import deliver
from celosia.pipeline.release.publish import publish
from tests.projects import household_survey
from tests.projects.steps import NOW, make_intruder_test
from tests.projects.survey import make_project, run_to_candidate

RELEASE = "2026-11-15"
DATES = {"consultation": date(2026, 11, 2), "publication_date": date(2026, 11, 20), "update_period": "anual"}
ROLES = {"head": "eva", "executor": "ana", "verifier": "luis"}


def publish_households(home: Path) -> tuple[Path, Mapping[str, Identity]]:
    """A household survey under MEL: signed by three, delivered and entered by its lead, and the keys by role."""
    folder = household_survey.make_project(home / "evaluacion")
    household_survey.answer_request(folder)
    people = household_survey.add_people(folder, home / "keys")
    household_survey.run_to_candidate(folder, people)
    approve(folder, "candidate", people["verifier"], "verifier", "revisado", now=NOW)
    approve(folder, "residual", people["lead"], "lead", "se acepta", now=NOW)
    release = make_release(folder, now=NOW).folder
    keys = {role: people[role] for role in ("lead", "executor", "verifier")}
    for role, person in keys.items():
        sign_release(release, folder, person, role, now=NOW)
    deliver(folder, now=NOW)
    publish(folder, release, people["lead"], publication_date=NOW.date(), update_period="anual", now=NOW)
    return folder, keys


def publish_survey(home: Path) -> tuple[Path, Mapping[str, Identity]]:
    """The project, signed by three and entered by its head, and the keys by role."""
    folder = make_project(home / "p")
    people = run_to_candidate(folder)
    make_intruder_test(folder, people["luis"])
    approve(folder, "candidate", people["luis"], "verifier", "conforme", now=NOW)
    release = make_release(folder, formats=("csv", "parquet"), now=NOW).folder
    for role, short in ROLES.items():
        sign_release(release, folder, people[short], role, now=NOW)
    publish(folder, release, people["eva"], **DATES, now=NOW)
    return folder, {role: people[short] for role, short in ROLES.items()}
