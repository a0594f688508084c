"""The norms on files unlike the examples, in few commands, each with a second person, and every obligation answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from examples.walker import Answer, Step, type_in, walk
from tests.walks.own_files import atenea_walk, health_walk, make_passes, make_traders, make_visits, mel_walk

pytestmark = pytest.mark.slow

Walk = tuple[Sequence[Step], Callable[[Path], None], int]
WALKS: dict[str, Walk] = {
    "minsal": (health_walk(), make_visits, 15),
    "mel": (mel_walk(), make_traders, 16),
    "atenea": (atenea_walk(), make_passes, 16),
}


def typed(steps: Sequence[Step]) -> list[str]:
    """What is typed for one release; a key is made once in the life of a person."""
    return [step.line for step in steps if step.line.startswith("celosia ") and "identity new" not in step.line]


@pytest.mark.requirement("M12", "M33", "A01", "P16")
@pytest.mark.parametrize("norm", WALKS)
def test_a_file_nobody_has_seen_is_published_and_verified_in_few_commands(norm: str, tmp_path: Path) -> None:
    steps, make_data, most = WALKS[norm]
    assert len(typed(steps)) <= most
    make_data(tmp_path)
    answers = walk(steps, tmp_path)
    assert (answers[-1].line.split()[1], answers[-1].code) == ("verify", 0)
    (release,) = tmp_path.glob("*/releases/*")
    _every_obligation_is_answered(release, norm)
    _names_of_the_source_are_gone(tmp_path, release)
    assert type_in(f"celosia status {release.parent.parent}").code == 0
    if norm == "minsal":
        _sheets_show_their_neighbours(answers)


def _every_obligation_is_answered(release: Path, norm: str) -> None:
    manifest = json.loads((release / "manifest.json").read_text("utf-8"))
    obliging = {rule["rule"]: rule["state"] for rule in manifest["rules"] if rule["severity"] == "must"}
    assert set(obliging.values()) <= {"holds", "attested"}, obliging
    roles = {json.loads(path.read_text("utf-8"))["role"] for path in (release / "signatures").iterdir()}
    assert roles == {"head" if norm == "minsal" else "lead", "executor", "verifier"}
    signers = {json.loads(path.read_text("utf-8"))["name"] for path in (release / "signatures").iterdir()}
    assert len(signers) == 3


def _names_of_the_source_are_gone(folder: Path, release: Path) -> None:
    (source,) = [path for path in folder.glob("*.csv") if path.name != "glosas.csv"]
    lines = source.read_text("utf-8").splitlines()[1:]
    names = {field for line in lines for field in line.replace(";", ",").split(",")[:2]}
    public = "".join(path.read_text("utf-8", errors="ignore") for path in release.rglob("*.csv"))
    assert len(names) > 100
    assert not {name for name in names if name in public}


def _sheets_show_their_neighbours(answers: Sequence[Answer]) -> None:
    sheet = next(answer.printed for answer in answers if " approve " in answer.line and " plan " in answer.line)
    assert "Otras opciones cercanas" in sheet
