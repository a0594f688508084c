"""Where the words go: a closed, full or narrow stream changes the exit code at most, never the kind of ending."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from celosia import messages
from celosia.cli import main
from celosia.cli.code_pages import text_in_code_page

_CELOSIA = [sys.executable, "-c", "import sys; from celosia.cli import main; sys.exit(main())"]
_FULL = Path("/dev/full")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    lines = [f"{n},{'MH'[n % 2]},{n % 7},Ñuñoa" for n in range(400)]
    path = tmp_path / "ñandú.csv"
    path.write_text("\n".join(["n,SEXO,EDAD,COMUNA", *lines]) + "\n", "utf-8")
    return path


def measured(raw: Path, *words: str, **how: object) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "CELOSIA_LANG": "es", **how.pop("env", {})}  # type: ignore[dict-item]
    line = [*_CELOSIA, "measure", str(raw), "--quasi", "SEXO,EDAD", "--sensitive", "COMUNA", *words]
    return subprocess.run(line, env=environment, stderr=subprocess.PIPE, check=False, **how)  # type: ignore[call-overload]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_stream_without_our_letters_is_written_all_the_same(raw: Path, encoding: str) -> None:
    done = measured(raw, env={"PYTHONIOENCODING": encoding}, stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
    done = measured(raw, "--json", env={"PYTHONIOENCODING": encoding}, stdout=subprocess.PIPE)
    assert json.loads(done.stdout.decode(encoding if encoding != "ascii" else "utf-8"))["format"] == "celosia/measure/1"


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "k ≥ 2 – «vacío» …"),
        ("cp1252", "k >= 2 – «vacío» …"),
        ("cp850", "k >= 2 - «vacío» ..."),
        ("ascii", 'k >= 2 - "vacio" ...'),
    ],
)
def test_a_sign_that_a_code_page_lacks_is_written_with_others(encoding: str, shown: str) -> None:
    assert text_in_code_page("k ≥ 2 – «vacío» …", encoding) == shown


@pytest.mark.parametrize("encoding", ["cp1252", "cp850", "ascii"])
def test_every_sentence_of_the_catalogue_can_be_written_in_a_code_page_of_windows(encoding: str) -> None:
    texts = [
        text
        for code in messages.LANGUAGES
        for part in messages.sections(code)
        for text in messages.section(code, part).values()
    ]
    lost = {sign for text in texts for sign in text if sign != "?" and text_in_code_page(sign, encoding) == "?"}
    assert lost <= {"∏", "ć"}


def test_a_table_is_drawn_straight_in_a_code_page(raw: Path) -> None:
    done = measured(raw, env={"PYTHONIOENCODING": "cp1252"}, stdout=subprocess.PIPE)
    drawn = [line for line in done.stdout.decode("cp1252").splitlines() if line.startswith("|")]
    assert drawn
    assert not any("?" in line for line in drawn)


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_stream_of_windows_takes_every_sign(monkeypatch: pytest.MonkeyPatch, errors: str) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "cp1252", errors, write_through=True))
    assert main(["protocol", "show", "≥"]) == 2
    print("k ≥ 2")
    assert written.getvalue() == b"k >= 2\n"


def test_who_reads_one_line_and_leaves_is_no_failure(raw: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # it left before the first word
    done = measured(raw, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not _FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_full_disk_behind_stdout_is_told_in_one_sentence(raw: Path, words: tuple[str, ...]) -> None:
    with _FULL.open("wb") as full:
        done = measured(raw, *words, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("Error: No se pudo escribir el informe")
    assert len(done.stderr.decode().splitlines()) == 1


@pytest.mark.skipif(not _FULL.exists(), reason="no /dev/full here")
def test_an_error_keeps_its_exit_code_when_no_words_can_be_written(raw: Path) -> None:
    with _FULL.open("wb") as full:
        done = measured(raw.with_name("none.csv"), "--json", stdout=full)
    assert done.returncode == 2
    assert "none.csv" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix")
def test_a_closed_stdout_swallows_the_words(raw: Path) -> None:
    line = " ".join([f"'{word}'" for word in [*_CELOSIA, "measure", str(raw), "--quasi", "SEXO,EDAD"]]) + " >&-"
    done = subprocess.run(line, shell=True, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
