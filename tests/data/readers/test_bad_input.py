"""Bad input: one clear error of ours, exit code 2, nothing half-written, and no cell in any word of it."""

from __future__ import annotations

import io
import os
import resource
import signal
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from celosia.data.errors import (
    BlankHeader,
    DamagedFile,
    DuplicateHeader,
    FolderNested,
    GuessedDuplicateHeader,
    HeaderOnly,
    LineTooLong,
    MisnamedFile,
    MixedEncoding,
    RaggedLine,
    SourceChanged,
    StrayReturn,
    UnclosedQuote,
    UnsupportedColumn,
    UnsupportedFile,
)
from celosia.data.readers.ingest import ingest
from celosia.data.sniffing import sniff
from celosia.errors import CelosiaError
from celosia.hierarchy.errors import BinaryFile, EmptyFile, WrongEncoding
from celosia.model.errors import UnknownVariable
from celosia.storage import FileMissing, FolderGiven, FolderUnwritable
from tests.data.readers.planted import NAME, refused

Make = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the working copy would go."""
    path = tmp_path / "private"
    path.mkdir()
    return path


BAD = [
    pytest.param(b"", {}, EmptyFile, {}, id="empty file"),
    pytest.param(b"\n\n  \n", {}, EmptyFile, {}, id="only blank lines"),
    pytest.param(b"nombre,run\n", {"header": True}, HeaderOnly, {}, id="header only"),
    pytest.param(b"nombre,run\n" + NAME.encode() + b",1\x00\n", {}, BinaryFile, {}, id="binary"),
    pytest.param(b"\x1f\x8b\x08" + NAME.encode(), {}, UnsupportedFile, {}, id="compressed"),
    pytest.param(b"PAR1" + NAME.encode() * 9, {}, DamagedFile, {}, id="damaged Parquet"),
    pytest.param(b"$FL2" + NAME.encode() * 9, {}, DamagedFile, {}, id="damaged SPSS"),
    pytest.param(b"<stata_dta>" + NAME.encode() * 9, {}, DamagedFile, {}, id="damaged Stata"),
    pytest.param(b"SQLite format 3\x00" + NAME.encode() * 99, {}, DamagedFile, {}, id="damaged SQLite"),
    pytest.param(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + NAME.encode(), {}, DamagedFile, {}, id="damaged xls"),
    pytest.param(b"12345678DUCK" + NAME.encode() * 999, {}, DamagedFile, {}, id="damaged DuckDB"),
    pytest.param(
        f"id,nombre\n1,{NAME} Ñ\n".encode("latin-1"),
        {"encoding": "utf-8"},
        WrongEncoding,
        {"line": 2},
        id="wrong encoding",
    ),
    pytest.param(
        f"id,nombre\n1,{NAME} Ñ\n".encode("latin-1"),
        {"encoding": "utf-16"},
        WrongEncoding,
        {"encoding": "utf-16", "line": 1},
        id="UTF-16 without its mark",
    ),
    pytest.param(
        f"id,nombre\n1,Ñandú\n2,{NAME} ".encode() + b"\xd1\n",
        {"encoding": "utf-8-sig"},
        WrongEncoding,
        {"line": 3},
        id="wrong encoding, late",
    ),
    pytest.param(
        ("id,nombre\n" + "1,Ñandú\n" * 300_000 + f"2,{NAME} ").encode() + b"\xd1\n" + b"3,x\n" * 1000,
        {},
        MixedEncoding,
        {"line": 300_002},
        id="mixed encodings",
    ),
    pytest.param(
        f"id,nombre\n1,{NAME}\n2,{NAME},3\n4\n".encode(),
        {},
        RaggedLine,
        {"line": 3, "expected": 2, "found": 3, "count": 2},
        id="ragged line",
    ),
    pytest.param(
        f'id,nombre\n1,"{NAME}\nx"\n2,{NAME},3\n'.encode(),
        {},
        RaggedLine,
        {"line": 4, "expected": 2, "found": 3, "count": 1},
        id="ragged line after a quoted line end",
    ),
    pytest.param(f'id,n\n1,x\n2,"{NAME}\n3,y\n'.encode(), {}, UnclosedQuote, {"line": 3}, id="open quote"),
    pytest.param(
        f'id;glosa\n1;x\n2;"""{NAME}; dijo ""no"" y\n3;"y"\n'.encode(),
        {},
        UnclosedQuote,
        {"line": 3},
        id="broken triple quotes",
    ),
    pytest.param(f'id,n\n1,"{NAME}"x\n'.encode(), {}, UnclosedQuote, {"line": 2}, id="text after a quote"),
    pytest.param(f"id,n\n1,x\n2,{NAME}\ry\n".encode(), {}, StrayReturn, {"line": 3}, id="stray return"),
    pytest.param(
        f"rut,edad,rut\n1,{NAME},3\n".encode(),
        {"header": True},
        DuplicateHeader,
        {"variable": "rut", "positions": "1, 3"},
        id="duplicate headers",
    ),
    pytest.param(
        f"sexo,edad,sexo\n{NAME},x,y\n".encode(),
        {},
        GuessedDuplicateHeader,
        {"positions": "1, 3"},
        id="duplicate headers, if it is one",
    ),
    pytest.param(
        f"{NAME},1-9,1-9\nx,y,z\n".encode(),
        {"header": True},
        DuplicateHeader,
        {"variable": "…"},
        id="duplicate headers that are data",
    ),
    pytest.param(
        f"rut,edad,\n1,{NAME},\n".encode(), {"header": True}, BlankHeader, {"positions": "3"}, id="blank header"
    ),
    pytest.param(f"a,b\n1,{NAME}\n".encode(), {"drop": ["c"]}, UnknownVariable, {}, id="missing column"),
    pytest.param(
        ("id,ficha\n" + f'1,"{{""nombre"": ""{NAME}""}}"\n' * 5).encode(),
        {},
        UnsupportedColumn,
        {"variable": "ficha"},
        id="JSON column",
    ),
]


@pytest.mark.requirement("M37", "A34")
@pytest.mark.parametrize(("data", "choices", "kind", "fields"), BAD)
def test_bad_files_are_refused_with_the_place_and_without_a_cell(
    make: Make,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    data: bytes,
    choices: dict[str, object],
    kind: type[CelosiaError],
    fields: dict[str, object],
) -> None:
    path = make(data)
    error = refused(kind, lambda: ingest(path, folder / "w.parquet", **choices), caplog, folder)  # type: ignore[arg-type]
    assert {name: error.values[name] for name in fields} == fields


@pytest.mark.parametrize("mark", [b"\n", b""])
def test_a_line_of_hundreds_of_megabytes_is_refused_in_little_memory(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture, mark: bytes
) -> None:
    path = tmp_path / "largo.csv"
    with path.open("wb") as stream:
        stream.write(b"id,nombre\n1," + NAME.encode() + mark)
        for _ in range(300):
            stream.write(b"x" * 1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = refused(LineTooLong, lambda: ingest(path, folder / "w.parquet"), caplog, folder)
    assert error.values["line"] == (3 if mark else 2)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


def test_a_quoted_text_that_swallows_the_file_is_refused(
    make: Make, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = make(f'id,n\n1,"{NAME}\n' + f"2,{'y' * 1000}\n" * 20_000)
    error = refused(UnclosedQuote, lambda: ingest(path, folder / "w.parquet"), caplog, folder)
    assert error.values["line"] == 2


def test_a_file_that_is_not_there_or_is_a_folder_is_said(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refused(FileMissing, lambda: ingest(tmp_path / "no.csv", folder / "w"), caplog, folder)
    refused(FileMissing, lambda: sniff(tmp_path / "no.csv"), caplog, folder)
    refused(FolderNested, lambda: ingest(tmp_path, folder / "w"), caplog, folder)
    refused(FolderGiven, lambda: sniff(tmp_path), caplog, folder)


def workbook_bytes() -> bytes:
    """The start of a zip file that was cut off."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("xl/workbook.xml", NAME * 999)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("p.parquet", f"id,nombre\n1,{NAME}\n".encode(), MisnamedFile),
        ("p.xls", f"id\tnombre\n1\t{NAME}\n".encode("utf-16"), MisnamedFile),
        ("p.sav", b"PAR1" + NAME.encode(), MisnamedFile),
        ("p.xls", workbook_bytes(), MisnamedFile),
        ("p.db", f"id,nombre\n1,{NAME}\n".encode(), MisnamedFile),
        ("p.xls", f"<html><table>{NAME}".encode(), UnsupportedFile),
        ("p.xlsx", workbook_bytes()[:2000], DamagedFile),
        ("p.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + NAME.encode(), DamagedFile),
        ("p.parquet", b"\x00\x01\x02" + NAME.encode(), DamagedFile),
        ("p.zip", workbook_bytes()[:2000], UnsupportedFile),
    ],
    # The bytes hold the time of day: as ids they would differ from one test process to another.
    ids=["text-parquet", "utf16-xls", "parquet-sav", "zip-xls", "text-db", "html-xls", "cut-xlsx", "ole-xlsx",
         "binary-parquet", "cut-zip"],
)  # fmt: skip
def test_a_content_that_is_not_what_the_name_promises_is_refused_by_name(
    make: Make, folder: Path, caplog: pytest.LogCaptureFixture, name: str, data: bytes, kind: type[CelosiaError]
) -> None:
    path = make(data, name)
    refused(kind, lambda: ingest(path, folder / "w.parquet"), caplog, folder)


def test_a_target_under_a_file_is_an_unwritable_folder(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    path = make(f"id,nombre\n1,{NAME}\n")
    refused(FolderUnwritable, lambda: ingest(path, path / "w.parquet"), caplog)
    refused(FolderUnwritable, lambda: ingest(path, path.parent / "no" / "w.parquet"), caplog)


RUNNER = """
import os, sys, traceback
from pathlib import Path
import celosia.proposals.judge  # noqa: F401 (read before the rights to read it are given up)
from celosia.data.readers.ingest import ingest
from celosia.errors import CelosiaError
{setup}
try:
    ingest(Path(sys.argv[1]), Path(sys.argv[2]))
except CelosiaError as error:
    print(error.code, error.exit_code)
    print("".join(traceback.format_exception(error)), error, repr(error))
"""


def _run_apart(setup: str, *arguments: str) -> str:
    code = RUNNER.format(setup=textwrap.dedent(setup))
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
    assert "Plantado" not in done.stdout + done.stderr
    return done.stdout


def test_files_and_folders_closed_to_the_user_are_said() -> None:
    import shutil
    import tempfile

    base = Path(tempfile.mkdtemp(prefix="celosia-closed-"))
    try:
        base.chmod(0o755)
        path, closed, opened = base / "p.csv", base / "closed", base / "open"
        path.write_text(f"id,nombre\n1,{NAME}\n")
        closed.mkdir(mode=0o555)
        opened.mkdir()
        opened.chmod(0o777)
        become = "os.setgid(65534); os.setuid(65534)" if os.geteuid() == 0 else ""  # nothing stops root
        assert _run_apart(become, str(path), str(closed / "w")).startswith("folder_unwritable 2")
        path.chmod(0o000)
        assert _run_apart(become, str(path), str(opened / "w")).startswith("file_unreadable 2")
        assert list(closed.iterdir()) == list(opened.iterdir()) == []
    finally:
        shutil.rmtree(base)


@pytest.fixture
def many_rows(tmp_path: Path) -> Path:
    """A file whose working copy takes more than two megabytes."""
    path = tmp_path / "grande.csv"
    path.write_text("id,nombre\n" + "".join(f"{i},{NAME} {i * 7919 % 1_000_003}\n" for i in range(400_000)))
    return path


LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
"""


def test_a_full_disk_leaves_nothing_behind(many_rows: Path, folder: Path) -> None:
    assert hasattr(signal, "SIGXFSZ")
    target = folder / "w.parquet"
    target.write_bytes(b"the old state")
    assert _run_apart(LIMITED, str(many_rows), str(target)).startswith("disk_full 2")
    assert [path.name for path in folder.iterdir()] == ["w.parquet"]
    assert target.read_bytes() == b"the old state"


def test_a_full_disk_while_changing_the_encoding_leaves_nothing_behind(many_rows: Path, folder: Path) -> None:
    many_rows.write_bytes(many_rows.read_bytes() + "1,Ñ\n".encode("latin-1") * 50)
    assert _run_apart(LIMITED, str(many_rows), str(folder / "w.parquet")).startswith("disk_full 2")
    assert list(folder.iterdir()) == []


def test_a_full_disk_while_reading_parquet_leaves_nothing_behind(many_rows: Path, folder: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    source = many_rows.with_suffix(".parquet")
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(many_rows), source)
    assert _run_apart(LIMITED, str(source), str(folder / "w.parquet")).startswith("disk_full 2")
    assert list(folder.iterdir()) == []


def test_a_source_that_changes_while_it_is_read_is_refused(
    make: Make, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = make(f"id,nombre\n1,{NAME}\n")

    def grow(share: float) -> None:
        if share < 0.5:
            path.write_text(f"id,nombre\n1,{NAME}\n2,{NAME}\n")

    call = lambda: ingest(path, folder / "w.parquet", progress=grow)  # noqa: E731
    refused(SourceChanged, call, caplog, folder)


def test_every_error_of_reading_says_the_way_out_in_spanish(make: Make, tmp_path: Path) -> None:
    with pytest.raises(RaggedLine) as caught:
        ingest(make("id,nombre\n1,a\n2,b,c\n"), tmp_path / "w.parquet")
    said = str(caught.value)
    assert "línea 3" in said
    assert "tiene 3 campos y se esperaban 2" in said
    assert "comillas" in said
