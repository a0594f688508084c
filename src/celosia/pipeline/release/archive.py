"""A release as one .zip, and the .zip that somebody sends: packed the same each time, unpacked without trusting it.

Knows names, sizes and the few files a release may hold. Ignores what they say: `verify` judges that. An archive is
unpacked into a private folder that is removed afterwards: no path, link, password or bomb gets through, and what it
says of its own sizes is not believed. Source: DESIGN §5 (what a second official can repeat).
"""

from __future__ import annotations

import re
import stat
import struct
import zipfile
import zlib
from pathlib import Path

from celosia import messages
from celosia.model.paths import DATA_NAME, MANIFEST, PUBLICATION, ROSTER, SIGNATURES, TIME_STAMP
from celosia.model.reports.verification import VerifyReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.release.errors import ArchiveRefused, ReleaseDamaged
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.verify import verify_release
from celosia.storage import (
    PRIVATE_FOLDER,
    atomic_write,
    temporary_folder_beside,
    translate_read_errors,
    translate_write_errors,
)

MOST_FILES = 200
MOST_BYTES = 2_000_000_000
_JSON_BYTES = 20_000_000  # of a manifest or a signature, which are read whole
_DIRECTORY_BYTES = 100_000  # of the list of files inside; 200 of them need far less
_PIECE = 1 << 20
_MOMENT = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows: the time of packing is not published
_FILE_MODE = (stat.S_IFREG | 0o644) << 16
_PLAIN = re.compile(r"[\w][\w .-]{0,99}")
_OWN = re.compile(
    rf"{MANIFEST}|{PUBLICATION}|{ROSTER}|{SIGNATURES}/([a-z_-]+\d*\.json|{TIME_STAMP}-\d{{1,3}}\.tsr)"
    r"|data\.(csv|parquet|sav|dta|xlsx)|dictionary\.csv"
    r"|dossier/[a-z_-]+\.(html|pdf|docx|svg|png)"
)
# What a reader of archives raises at one that is not whole.
_DAMAGED = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
_END, _END64 = b"PK\x05\x06", b"PK\x06\x07"


def archive_release(folder: ProjectArg, release: str, target: PathArg) -> Path:
    """Pack a release of a project, as it was made, into a .zip: fixed order, times and modes."""
    source = own_release(open_project(folder), release)
    stored = read_release(source)
    if stored.differences:
        raise ReleaseDamaged(path=source.name, reason=", ".join(stored.differences))
    files = [path for path in source.rglob("*") if path.is_file() and not path.is_symlink()]
    path = Path(target)
    with atomic_write(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        # Paths of Windows would be sorted without regard to capitals, and give other bytes.
        for file in sorted(files, key=lambda file: file.relative_to(source).parts):
            add_to_archive(archive, file, f"{source.name}/{file.relative_to(source).as_posix()}")
    return path


def add_to_archive(archive: zipfile.ZipFile, file: Path, name: str) -> None:
    """Add a file to an archive with a fixed time and mode."""
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, _FILE_MODE, 3
    # The size is given beforehand, so that a large file gets the long form of its header.
    entry.file_size = file.stat().st_size
    with translate_read_errors(file), file.open("rb") as source, archive.open(entry, "w") as sink:
        while piece := source.read(_PIECE):
            sink.write(piece)


def own_release(project: Project, name: str) -> Path:
    """A release of a project by its name; nothing else can be named."""
    known = [path.parent for path in sorted(project.paths.releases.glob(f"*/{MANIFEST}"))]
    for path in known:
        if path.name == name and not path.is_symlink():
            return path
    raise ValueOutOfRange(parameter="release", given="", allowed=", ".join(path.name for path in known) or "–")


def verify_upload(path: PathArg, *, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> VerifyReport:
    """Judge the release inside a .zip from its files alone; nothing of it stays."""
    packed = Path(path)
    with temporary_folder_beside(packed) as scratch:
        try:
            return verify_release(_unpack(packed, scratch, most_files, most_bytes))
        except RecursionError:  # JSON nested a thousand deep
            raise ArchiveRefused(reason=_reason("damaged")) from None
        except ReleaseDamaged as error:  # without the path of the scratch folder
            raise ReleaseDamaged(path=Path(str(error.values["path"])).name, reason=error.values["reason"]) from None


def _unpack(packed: Path, scratch: Path, most_files: int, most_bytes: int) -> Path:
    """The release folder inside an archive, unpacked into a scratch folder."""
    with translate_read_errors(packed):
        _refuse_odd_end(packed)
    try:
        with translate_read_errors(packed), zipfile.ZipFile(packed) as archive:
            entries = _plain_entries([entry for entry in archive.infolist() if not entry.is_dir()], most_files)
            home = _home([entry.filename for entry in entries])
            _refuse_empty([entry.filename for entry in archive.infolist() if entry.is_dir()], entries, home)
            target = scratch / (home or "release")
            for entry in entries:
                most_bytes -= _write(archive, entry, target / entry.filename.removeprefix(f"{home}/"), most_bytes)
    except _DAMAGED:
        raise ArchiveRefused(reason=_reason("damaged")) from None
    _refuse_swollen(target / f"{DATA_NAME}.xlsx", most_bytes)
    return target


def _reason(key: str, **fields: object) -> str:
    return messages.text(f"release.archive.{key}", **fields)


def _refuse_odd_end(packed: Path) -> None:
    """Look at the end of the file before anything reads its list: a list of millions would fill the memory."""
    with packed.open("rb") as stream:
        stream.seek(0, 2)
        size = stream.tell()
        stream.seek(max(0, size - 65_557))
        tail = stream.read()
    end = tail.rfind(_END)
    if end < 0 or len(tail) < end + 22:
        raise ArchiveRefused(reason=_reason("not_zip"))
    (listed,) = struct.unpack_from("<I", tail, end + 12)
    if listed > _DIRECTORY_BYTES or tail[max(0, end - 20) : end].startswith(_END64):
        raise ArchiveRefused(reason=_reason("many", most=MOST_FILES))


def _plain_entries(entries: list[zipfile.ZipInfo], most_files: int) -> list[zipfile.ZipInfo]:
    """The entries, if each is a plain file of a plain name, once."""
    if len(entries) > most_files:
        raise ArchiveRefused(reason=_reason("many", most=most_files))
    names = [entry.orig_filename for entry in entries]
    if len({name.casefold() for name in names}) != len(names):
        raise ArchiveRefused(reason=_reason("twice"))
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise ArchiveRefused(reason=_reason("link"))
        if entry.flag_bits & 0x1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveRefused(reason=_reason("locked"))
        if entry.orig_filename != entry.filename or not all(
            _PLAIN.fullmatch(part) for part in entry.filename.split("/")
        ):
            raise ArchiveRefused(reason=_reason("name"))
    return entries


def _home(names: list[str]) -> str:
    """The one folder that everything lies in; empty where the release lies at the top."""
    tops = {name.partition("/")[0] for name in names}
    home = "" if MANIFEST in names or len(tops) != 1 else next(iter(tops))
    inside = [name.removeprefix(f"{home}/") for name in names]
    if MANIFEST not in inside:
        raise ArchiveRefused(reason=_reason("no_manifest"))
    if not all(_OWN.fullmatch(name) for name in inside):
        raise ArchiveRefused(reason=_reason("strange"))
    return home


def _refuse_empty(folders: list[str], entries: list[zipfile.ZipInfo], home: str) -> None:
    """An archive may list its folders; one that leads to no file is not the release's, but for that of signatures."""
    unsigned = f"{home}/{SIGNATURES}/".removeprefix("/")
    for folder in folders:
        if folder != unsigned and not any(entry.filename.startswith(folder) for entry in entries):
            raise ArchiveRefused(reason=_reason("strange"))


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, most: int) -> int:
    """Unpack one file; what comes out is counted, whatever the archive says."""
    written = 0
    most = min(most, _JSON_BYTES) if target.suffix in (".json", ".tsr") else most
    with translate_write_errors(target.parent):
        target.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        with archive.open(entry) as source, target.open("xb") as sink:
            while piece := source.read(_PIECE):
                written += len(piece)
                if written > most:
                    raise ArchiveRefused(reason=_reason("large"))
                sink.write(piece)
    return written


def _refuse_swollen(workbook: Path, most: int) -> None:
    """A workbook is an archive itself: count what is in it before a reader unpacks it into the memory."""
    if not workbook.is_file():
        return
    try:
        with zipfile.ZipFile(workbook) as archive:
            for entry in archive.infolist():
                with archive.open(entry) as source:
                    while piece := source.read(_PIECE):
                        most -= len(piece)
                        if most < 0:
                            raise ArchiveRefused(reason=_reason("large"))
    except _DAMAGED:
        return  # no workbook at all: verify says so
