"""What kind of file it is, by its first bytes and only then by its suffix.

Knows magic numbers. Ignores what the file holds.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from celosia import messages
from celosia.data.errors import DamagedFile, MisnamedFile, UnsupportedFile
from celosia.hierarchy.errors import BinaryFile, EmptyFile
from celosia.storage import translate_read_errors

CSV, PARQUET, SAV, DTA = "csv", "parquet", "sav", "dta"
XLSX, XLS, ODS = "xlsx", "xls", "ods"
SQLITE, DUCKDB, POSTGRESQL, FRAME = "sqlite", "duckdb", "postgresql", "frame"
WORKBOOKS = (XLSX, XLS, ODS)
FORMATS = (CSV, PARQUET, *WORKBOOKS, SAV, DTA, SQLITE, DUCKDB, POSTGRESQL, FRAME)

_MAGIC = (
    (0, b"PAR1", PARQUET),
    (0, b"$FL2", SAV),
    (0, b"$FL3", SAV),
    (0, b"<stata_dta>", DTA),
    (0, b"SQLite format 3\x00", SQLITE),
    (8, b"DUCK", DUCKDB),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", XLS),
)
_FOREIGN = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstandard"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"),
    (b"%PDF", "pdf"),
)
_SUFFIXES = {
    ".parquet": (PARQUET,),
    ".xlsx": (XLSX,),
    ".xlsm": (XLSX,),
    ".xls": (XLS,),
    ".ods": (ODS,),
    ".sav": (SAV,),
    ".zsav": (SAV,),
    ".dta": (DTA,),
    ".sqlite": (SQLITE,),
    ".sqlite3": (SQLITE,),
    ".duckdb": (DUCKDB,),
    ".db": (SQLITE, DUCKDB),
}
_SHOWN = {PARQUET: "Parquet", XLSX: "Excel", XLS: "Excel", ODS: "OpenDocument", SAV: "SPSS", DTA: "Stata"}
_SHOWN |= {SQLITE: "SQLite", DUCKDB: "DuckDB"}
_OLD_STATA = (0x69, 0x6C, 0x6E, 0x71, 0x72, 0x73)  # first byte of .dta before version 117
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def format_of(path: Path) -> str:
    """The format of a file; binary files nobody here reads are refused by name."""
    with translate_read_errors(path), path.open("rb") as stream:
        head = stream.read(4096)
    if not head:
        raise EmptyFile(path=str(path))
    known = _format_by_magic(path, head)
    if not known:
        _refuse_foreign(path, head)
    _refuse_misnamed(path, head, known)
    return known or CSV


def _refuse_misnamed(path: Path, head: bytes, known: str) -> None:
    """Refuses a content that is not what the name says; names of text files promise nothing."""
    suffix = path.suffix.lower()
    promised = _SUFFIXES.get(suffix, ())
    if not promised or known in promised:
        return
    locked = known == XLS and promised == (XLSX,)  # a workbook closed with a password is wrapped like an old one
    if locked or (not known and b"\x00" in head and head[:2] not in _UTF16_MARKS):
        raise DamagedFile(path=str(path), format=_SHOWN[promised[0]])
    kind = messages.text("reading.files.workbook" if known in WORKBOOKS else f"reading.files.{known or 'text'}")
    raise MisnamedFile(path=str(path), suffix=suffix, kind=kind)


def _format_by_magic(path: Path, head: bytes) -> str:
    for offset, mark, name in _MAGIC:
        if head[offset : offset + len(mark)] == mark:
            return name
    if head[:4] == b"PK\x03\x04":
        return _inside_zip(path)
    old_stata = path.suffix.lower() == ".dta" and head[0] in _OLD_STATA and head[1:2] in (b"\x01", b"\x02")
    return DTA if old_stata else ""


def _inside_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            members = set(archive.namelist())
            kind = _start_of(archive, "mimetype") if "mimetype" in members else b""
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError):
        raise _unreadable_zip(path) from None
    if b"opendocument.spreadsheet" in kind:
        return ODS
    if any(name.startswith("xl/workbook") for name in members):
        return XLSX
    raise _unreadable_zip(path)


def _start_of(archive: zipfile.ZipFile, member: str) -> bytes:
    """The first bytes of a member, which may be endless."""
    with archive.open(member) as stream:
        return stream.read(80)


def _unreadable_zip(path: Path) -> DamagedFile | UnsupportedFile:
    """Workbooks are zip files: one whose name says so is damaged."""
    promised = _SUFFIXES.get(path.suffix.lower(), ("",))[0]
    if promised in (XLSX, ODS):
        return DamagedFile(path=str(path), format=_SHOWN[promised])
    return UnsupportedFile(path=str(path), kind=_kind("zip"))


def _refuse_foreign(path: Path, head: bytes) -> None:
    for mark, name in _FOREIGN:
        if head.startswith(mark):
            raise UnsupportedFile(path=str(path), kind=_kind(name))
    if head[:2] in _UTF16_MARKS:
        return
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text[:1] == b"<" and any(tag in text for tag in (b"<html", b"<table", b"<?xml", b"<!doctype")):
        raise UnsupportedFile(path=str(path), kind=_kind("html"))
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson", ".geojson"):
        raise UnsupportedFile(path=str(path), kind=_kind("json"))


def refuse_binary(path: Path, head: bytes) -> None:
    """Refuses bytes that no text encoding without a mark can hold."""
    if b"\x00" in head:
        raise BinaryFile(path=str(path))


def _kind(name: str) -> str:
    return messages.text(f"reading.files.{name}")
