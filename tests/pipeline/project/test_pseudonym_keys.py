"""Keys and codebooks: kept in private/ alone, named by a label while they exist, destroyed for good."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from celosia import messages
from celosia.cli import main
from celosia.model.errors import UnknownFormat
from celosia.model.paths import ProjectPaths
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.errors import KeyInProject, NotAProject, PseudonymsRefused
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.journal import read_journal
from celosia.pipeline.project.pseudonym_keys import (
    destroy_keys,
    key_for,
    keys_present,
    pseudonym_label,
    refuse_pseudonyms,
    save_codebook,
)

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
STEP = {"technique": "pseudonymise", "columns": ["RUN"]}
PLANTED = "PLANTADO-7"


@pytest.fixture
def folder(tmp_path) -> Path:
    raw = tmp_path / "personas.csv"
    raw.write_text("RUN,SEXO\n11111111-1,H\n22222222-2,M\n", "utf-8")
    return init(str(raw), tmp_path / "proyecto", now=NOW).project.folder


def codebook(folder: Path, step: str = "2-pseudonymise-RUN") -> Path:
    return save_codebook(ProjectPaths(folder).keys, step, pa.array([PLANTED]), pa.array(["ABCDEFGH"]))


def test_a_key_is_drawn_once_and_is_for_its_owner_alone(folder):
    key = key_for(ProjectPaths(folder).keys, "1-pseudonymise")
    assert len(key) == 32
    assert (
        key_for(ProjectPaths(folder).keys, "1-pseudonymise")
        == key
        != key_for(ProjectPaths(folder).keys, "2-pseudonymise")
    )
    home = folder / "private" / "keys"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()} == {0o600}


@pytest.mark.parametrize("step", ["../../afuera", "a/b", "..", "año 1 ñ", "a%2Fb"])
def test_no_name_of_a_step_leads_out_of_the_folder_or_onto_another(folder, step):
    key_for(ProjectPaths(folder).keys, step)
    assert keys_present(open_project(folder)) == (step,)
    assert [path.parent for path in (folder / "private").rglob("*.key")] == [folder / "private" / "keys"]


@pytest.mark.parametrize("content", [b"", b"celosia/key/2\n" + b"ab" * 32, b"celosia/key/1\nabcd\n", b"\xff\n"])
def test_a_key_file_of_another_format_is_refused_and_not_replaced(folder, content):
    key_for(ProjectPaths(folder).keys, "1")
    path = folder / "private" / "keys" / "1.key"
    path.write_bytes(content)
    with pytest.raises(UnknownFormat):
        key_for(ProjectPaths(folder).keys, "1")
    assert path.read_bytes() == content


@pytest.mark.requirement("P21")
def test_the_data_are_pseudonymous_while_a_key_or_codebook_exists(folder):
    assert pseudonym_label(open_project(folder)) == "none"
    key_for(ProjectPaths(folder).keys, "1")
    assert pseudonym_label(open_project(folder)) == "pseudonymous"
    destroy_keys(folder, NOW)
    assert pseudonym_label(open_project(folder)) == "none"
    codebook(folder)
    assert pseudonym_label(open_project(folder)) == "pseudonymous"


def test_the_label_is_said_in_both_languages():
    assert messages.text("techniques.label.pseudonymous") == "seudónima, no anónima"
    messages.use("en")
    assert messages.text("techniques.label.pseudonymous") == "pseudonymous, not anonymous"


@pytest.mark.requirement("P21")
def test_destroying_overwrites_removes_and_writes_a_line_without_any_value(folder, monkeypatch):
    key, path = key_for(ProjectPaths(folder).keys, "1-pseudonymise"), codebook(folder)
    seen = {}
    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda self, **kw: (seen.update({self.name: self.read_bytes()}), unlink(self)))
    sizes = {file.name: file.stat().st_size for file in path.parent.iterdir()}
    done = destroy_keys(folder, NOW)
    assert (done.keys, done.codebooks) == (1, 1)
    assert list(path.parent.iterdir()) == []
    assert {name: len(content) for name, content in seen.items()} == sizes
    assert not [c for c in seen.values() if key.hex().encode() in c or PLANTED.encode() in c or b"celosia/" in c]
    last = read_journal(folder / "journal.jsonl").entries[-1]
    assert (last["what"], last["when"]) == ("destroy-key", NOW.isoformat(timespec="seconds"))
    assert last["facts"] == {"keys": 1, "codebooks": 1, "names": ["1-pseudonymise", "2-pseudonymise-RUN"]}
    assert PLANTED not in json.dumps(last)
    assert key.hex() not in json.dumps(last)


def test_with_nothing_to_destroy_the_journal_stays_as_it_is(folder):
    before = (folder / "journal.jsonl").read_bytes()
    assert destroy_keys(folder, NOW).as_dict() == {
        "format": "celosia/destroyed/1", "keys": 0, "codebooks": 0, "names": [],
    }  # fmt: skip
    assert (folder / "journal.jsonl").read_bytes() == before


def test_only_a_project_has_keys_to_destroy(tmp_path):
    with pytest.raises(NotAProject):
        destroy_keys(tmp_path)


@pytest.mark.requirement("P21")
@pytest.mark.parametrize("protocol", ["minsal", "mel", "yapo", "MINSAL"])
def test_three_norms_refuse_pseudonyms_outright_and_name_the_way_out(protocol):
    with pytest.raises(PseudonymsRefused) as refused:
        refuse_pseudonyms(["atenea", protocol], [{"technique": "shuffle"}, STEP])
    assert "renumber" in str(refused.value)
    assert protocol.upper() in str(refused.value)
    with pytest.raises(PseudonymsRefused):
        refuse_pseudonyms([protocol], [], keys=("1-pseudonymise",))


def test_atenea_alone_or_no_norm_allows_them_and_other_steps_are_nobodys_business():
    refuse_pseudonyms(["atenea"], [STEP], keys=("1",))
    refuse_pseudonyms([], [STEP])
    refuse_pseudonyms(["minsal"], [{"technique": "renumber", "columns": ["H"]}])


def test_a_key_written_in_the_project_file_is_refused_without_quoting_it():
    with pytest.raises(KeyInProject) as refused:
        refuse_pseudonyms([], [{**STEP, "key": "ab" * 32}])
    assert "abab" not in str(refused.value)


def test_the_command_asks_and_a_no_destroys_nothing(folder, capsys, monkeypatch):
    import io

    key_for(ProjectPaths(folder).keys, "1-pseudonymise")
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    assert main(["destroy-key", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert "1-pseudonymise" in err
    assert "No se destruyó nada" in out
    assert pseudonym_label(open_project(folder)) == "pseudonymous"
    monkeypatch.setattr("sys.stdin", io.StringIO("sí\n"))
    assert main(["destroy-key", str(folder)]) == 0
    assert pseudonym_label(open_project(folder)) == "none"


def test_the_command_with_yes_and_json_asks_nothing_and_reports_alone(folder, capsys):
    key_for(ProjectPaths(folder).keys, "1-pseudonymise")
    assert main(["destroy-key", str(folder), "--yes", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == {
        "format": "celosia/destroyed/1", "keys": 1, "codebooks": 0, "names": ["1-pseudonymise"],
    }  # fmt: skip
    assert main(["destroy-key", str(folder)]) == 0
    assert "no tiene claves" in capsys.readouterr().out


@pytest.mark.requirement("P21")
def test_a_plan_with_pseudonyms_is_refused_before_any_key_is_drawn(folder):
    from celosia.pipeline.planning.plan import make_plan

    config = folder / "celosia.toml"
    text = config.read_text("utf-8").replace("protocols = []", 'protocols = ["minsal"]')
    config.write_text(text + '\n[[steps]]\ntechnique = "pseudonymise"\ncolumns = ["RUN"]\n', "utf-8")
    with pytest.raises(PseudonymsRefused):
        make_plan(folder, now=NOW)
    assert keys_present(open_project(folder)) == ()
