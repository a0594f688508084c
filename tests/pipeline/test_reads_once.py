"""An operation reads its project once: the files of a project are not parsed again at every level (STYLE 16)."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
import tomlkit

from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.candidate.verifier_check import check_candidate
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project import folder as project_folder
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.status import status
from tests.projects.discharges import NOW, approve_candidate, make_keys, make_project, run_to_approved_candidate

Measure = Callable[[Callable[[], object]], Counter[str]]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """What an operation reads: how often it opens the project, and how many TOML files of the project it parses."""
    counts: Counter[str] = Counter()

    def count_project_files(module: object, name: str) -> None:
        parse = getattr(module, name)

        def counting(text: str) -> object:
            # Catalogues and norms are TOML too; a file of a project begins with its format.
            counts["toml"] += text.lstrip().startswith('format = "celosia/')
            return parse(text)

        monkeypatch.setattr(module, name, counting)

    def config_from(*arguments: object) -> object:
        counts["opened"] += 1
        return original(*arguments)

    count_project_files(tomllib, "loads")
    count_project_files(tomlkit, "parse")
    original = project_folder.config_from
    monkeypatch.setattr(project_folder, "config_from", config_from)

    def measure(operation: Callable[[], object]) -> Counter[str]:
        counts.clear()
        operation()
        return Counter(counts)

    return measure


def test_no_operation_opens_its_project_twice(tmp_path: Path, reads: Measure) -> None:
    people = make_keys(tmp_path / "keys")
    folder = run_to_approved_candidate(make_project(tmp_path / "egresos", people), people)
    head = people["head"]
    measured = {
        "plan": reads(lambda: make_plan(folder, now=NOW)),
        "approve": reads(lambda: approve(folder, "plan", head, "head", now=NOW)),
        "run": reads(lambda: run_plan(folder, now=NOW)),
        "check": reads(lambda: check_candidate(folder, now=NOW)),
    }
    approve_candidate(folder, people)
    measured["release"] = reads(lambda: make_release(folder, now=NOW))
    [release] = (folder / "releases").iterdir()
    for role, person in people.items():
        measured[f"sign {role}"] = reads(
            lambda role=role, person=person: sign_release(release, folder, person, role, now=NOW)
        )
    dates = {"consultation": date(2026, 11, 1), "publication_date": date(2026, 11, 20)}
    measured["publish"] = reads(lambda: publish(folder, release, head, **dates, update_period="anual", now=NOW))
    measured["status"] = reads(lambda: status(folder, now=NOW))

    assert {name: counts["opened"] for name, counts in measured.items()} == dict.fromkeys(measured, 1)
    # The request says which protocols are in force, so even a plan reads two files.
    most = {"plan": 2}
    above = {name: counts["toml"] for name, counts in measured.items() if counts["toml"] > most.get(name, 3)}
    assert above == {}
