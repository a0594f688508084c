"""The crosswalk of one release, under MINSAL's norm and law 21.719 together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from celosia.cli import build_cli
from celosia.model.reports.crosswalk import Coverage, Pointer, PointerKind
from celosia.model.reports.status import GateState
from celosia.model.verdict import State
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.crosswalk import release_crosswalk
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from celosia.protocols.crosswalk import load_crosswalk
from celosia.protocols.load import load
from tests.projects.discharges import NOW, make_keys, make_project, run_to_approved_candidate

LINES = {(text.id, line.id): line for text in load_crosswalk() for line in text.lines}


@pytest.fixture(scope="module")
def signed(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("law")
    people = make_keys(home / "keys")
    folder = make_project(home / "egresos", people)
    settings = open_project(folder).paths.settings
    text = settings.read_text("utf-8")
    settings.write_text(text.replace('protocols = ["minsal"]', 'protocols = ["minsal", "ley21719"]'), "utf-8")
    run_to_approved_candidate(folder, people)
    made = make_release(folder, now=NOW)
    for role, person in people.items():
        sign_release(made.folder, None, person, role, now=NOW)
    return made.folder


def test_the_rules_of_the_law_are_judged_and_signed_beside_those_of_the_norm(signed):
    states = {result.rule: result.state for result in verify_release(signed).rules if result.protocol == "ley21719"}
    assert set(states) == {rule.id for rule in load("ley21719").rules}
    assert set(states.values()) <= {State.HOLDS, State.ATTESTED}
    gates = [gate for gate in status(signed.parents[1]).gates if gate.protocol == "ley21719"]
    assert [gate.state for gate in gates] == [GateState.DONE] * len(load("ley21719").gates)


def test_each_obligation_shows_the_figures_of_the_release(signed):
    filled = release_crosswalk(signed)
    assert filled.holds
    k = filled.of(Pointer(PointerKind.MEASURE, "k"))
    assert {(result.protocol, result.measured["k"] >= 2) for result in k.results} == {
        ("minsal", True),
        ("ley21719", True),
    }
    assert filled.of(Pointer(PointerKind.FINDING, "signatures")).state is State.HOLDS
    assert filled.of(Pointer(PointerKind.DOCUMENT, "public_report")).count
    assert filled.of(Pointer(PointerKind.ATTACK, "two_views")).as_dict()["count"] is None
    assert filled.coverage(LINES["ley21719", "accredit"]) is Coverage.FULL
    assert filled.coverage(LINES["ley21719", "anonymise_published"]) is Coverage.FULL
    assert filled.coverage(LINES["ley21719", "impact"]) is Coverage.NONE
    for key, line in LINES.items():
        assert filled.coverage(line) in (line.coverage, Coverage.PART, Coverage.NONE), key


def test_a_changed_file_undoes_what_it_answered(signed, tmp_path):
    copy = Path(shutil.copytree(signed, tmp_path / "copia"))
    data = copy / "data.csv"
    data.write_bytes(data.read_bytes() + b"\n")
    filled = release_crosswalk(copy)
    assert not filled.holds
    assert filled.coverage(LINES["ley21719", "security"]) is Coverage.UNMET


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_command_shows_the_table_and_the_release(signed, language):
    runner = CliRunner()
    shown = runner.invoke(build_cli(language), ["protocol", "crosswalk", str(signed), "--text", "ley21719"])
    assert shown.exit_code == 0, shown.output
    assert "16 quinquies" in shown.output
    document = json.loads(runner.invoke(build_cli(language), ["protocol", "crosswalk", str(signed), "--json"]).output)
    assert document["format"] == "celosia/crosswalk/1"
    assert document["release"]["coverage"]["ley21719"]["accredit"] == "full"
    assert {"asks_es", "asks_en", "how_es", "how_en"} <= set(document["texts"][0]["lines"][0])
