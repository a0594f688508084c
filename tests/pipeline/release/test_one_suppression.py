"""Suppressed records and records masked otherwise: the same two counts in plan, verdict, approvals, release, papers."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from celosia import messages
from celosia.cli.entry import main
from celosia.dossier.figures import suppression_text
from celosia.dossier.page import to_html
from celosia.model.paths import DATA, ReleasePaths
from celosia.model.releases import manifest_from
from celosia.pipeline.candidate.approvals import figures_for
from celosia.pipeline.candidate.rule_context import read_check
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.document_input import collect_document_input
from celosia.pipeline.release.documents import internal_document, minsal_form, public_document
from celosia.pipeline.release.folder import manifest_text
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.verify import verify_release
from celosia.workbench.dossier import dossier_view
from celosia.workbench.result import result_view
from celosia.workbench.search import search_view
from tests.projects.discharges import QUASI, describe_project, make_keys, run_to_approved_candidate, write_discharges
from tests.projects.steps import NOW

CAME_MASKED = 48


def source_with_masked_records(path: Path) -> Path:
    """Discharges of which some came with every quasi-identifier masked."""
    raw = write_discharges(path, 900, 11)
    with raw.open(encoding="latin-1", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    places = [header.index(name) for name in QUASI]
    for row in rows[:CAME_MASKED]:
        for place in places:
            row[place] = "*"
    with raw.open("w", encoding="latin-1", newline="") as file:
        csv.writer(file, delimiter=";").writerows([header, *rows])
    return raw


@pytest.fixture(scope="module", params=["keep", "drop"])
def released(request, tmp_path_factory) -> tuple[Path, Path]:
    home = tmp_path_factory.mktemp(request.param)
    raw, people = source_with_masked_records(home / "egresos.csv"), make_keys(home)
    init(str(raw), home / "p", ("minsal",), now=NOW)
    describe_project(home / "p", people, f'\n[policy]\nsuppressed = "{request.param}"\n')
    run_to_approved_candidate(home / "p", people, limit="0.3")
    release = make_release(home / "p", now=NOW).folder
    sign_release(release, home / "p", people["executor"], "executor", now=NOW)
    return home / "p", release


def starred_rows(data: Path) -> int:
    """Records of a file with every quasi-identifier masked, counted without celosia."""
    with data.open(encoding="utf-8", newline="") as file:
        return sum(all(row[name] == "*" for name in QUASI) for row in csv.DictReader(file))


@pytest.mark.requirement("M26")
def test_every_surface_tells_the_same_two_counts(released, capsys) -> None:
    folder, release = released
    project = open_project(folder)
    planned, dropped = project.plan.suppressed_rows, project.plan.drops_suppressed
    assert planned > 0
    otherwise = starred_rows(release / DATA) - (0 if dropped else planned)
    # The recipe may leave a few more without a value in sight.
    assert otherwise >= CAME_MASKED
    manifest = json.loads(ReleasePaths(release).manifest.read_text("utf-8"))
    for counts in (read_check(project.paths.candidate).as_dict(), manifest, figures_for(project, "plan"),
                   figures_for(project, "candidate")):  # fmt: skip
        assert (counts["suppressed_rows"], counts["otherwise_masked_rows"]) == (planned, otherwise)
    verified = verify_release(release)
    assert next(finding for finding in verified.findings if finding.id == "figures").state == "holds"
    views = [project.plan.suppression, verified.check.suppression, result_view(folder).suppression,
             search_view(folder).plan.suppression, dossier_view(folder, now=NOW).releases[0].suppression]  # fmt: skip
    assert set(views) == {views[0]}
    main(["--lang", "es", "check", str(folder)])
    assert f"Registros que suprime el plan: {planned} de 900" in capsys.readouterr().out


def test_the_papers_tell_them_in_the_same_words(released) -> None:
    folder, _ = released
    inputs = collect_document_input(open_project(folder), NOW)
    planned, otherwise = inputs.plan.suppressed_rows, inputs.check.otherwise_masked_rows
    share = messages.percent(otherwise / 900)
    with messages.speaking("es"):
        for build in (minsal_form, public_document, internal_document):
            page = to_html(build(inputs, "es"))
            assert f"Registros que suprime el plan: {planned} de 900" in page
            assert f"al tratar o generalizar sus variables: {otherwise} ({share})" in page
        assert f"por el plan y {otherwise} ({share})" in suppression_text(inputs.plan.suppression)


@pytest.mark.parametrize("count", ["suppressed_rows", "otherwise_masked_rows"])
def test_a_manifest_with_another_count_does_not_verify(released, tmp_path, count) -> None:
    copy = Path(shutil.copytree(released[1], tmp_path / released[1].name))
    path = ReleasePaths(copy).manifest
    content = json.loads(path.read_text("utf-8"))
    path.write_text(manifest_text(manifest_from(content | {count: content[count] - 1})), "utf-8")
    states = {finding.id: finding.state for finding in verify_release(copy).findings}
    # Records that left are in no file: the signatures alone attest how many they were.
    left = content["policy"]["suppressed"] == "drop" and count == "suppressed_rows"
    assert (states["figures"], states["signatures"]) == ("holds" if left else "fails", "fails")
