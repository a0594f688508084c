"""`deliver`: MEL's four data files, the restricted half separate, assembled apart and moved in one step.

Knows a project and its latest release. The anonymised half is the release's own, byte by byte; the full half is the
base as it was read, with its annotated dictionary. Source: MEL protocol IV.4.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celosia import messages
from celosia.data.writers.csv import write_csv
from celosia.model.paths import DATA, DICTIONARY, MANIFEST, PUBLIC, RESTRICTED
from celosia.model.reports.mel import DELIVERY_FORMAT, DeliveredFile, Delivery
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.release.errors import DeliveryDamaged, NothingToDeliver, ReleaseDamaged
from celosia.pipeline.release.folder import ReleaseOnDisk, read_release
from celosia.storage import (
    PRIVATE_FILE,
    content_digest,
    make_private_folder,
    part_files,
    replace_folder,
    set_mode,
    temporary_folder_beside,
    translate_write_errors,
)

FILES = tuple(f"{half}/{name}" for half in (RESTRICTED, PUBLIC) for name in (DATA, DICTIONARY))
_ACT = "deliver"  # entry of the journal
_OPEN_FILE, _OPEN_FOLDER = 0o644, 0o755


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """A delivery and its folder."""

    folder: Path
    delivery: Delivery

    def as_dict(self) -> dict[str, Any]:
        """What was delivered, as its versioned JSON."""
        return {**self.delivery.as_dict(), "path": str(self.folder)}


def deliver(folder: ProjectArg, release: str | None = None, *, now: datetime | None = None) -> DeliveryResult:
    """Put the delivery of a release in place (the latest one unless named), whole or not at all."""
    project, when = open_project(folder), utc_now(now)
    source = _release(project, release)
    target = project.paths.delivery
    with temporary_folder_beside(target) as scratch:
        draft = scratch / target.name
        with messages.speaking(project.config.language):
            delivery = _assemble(draft, project, source, when)
        _journal.refuse_unwritable(project.paths.journal)
        with translate_write_errors(target.parent):
            replace_folder(draft, target)
    facts = {"release": source.folder.name, "manifest": delivery.manifest, "files": len(delivery.files)}
    facts |= {"delivery": content_digest(target / MANIFEST)}
    _journal.append_entry(project.paths.journal, _ACT, when, facts)
    return DeliveryResult(target, delivery)


def delivered_files(project: Project) -> tuple[str, ...] | None:
    """The data files of a project's delivery, each as it was delivered; None where nothing was."""
    home = project.paths.delivery
    if not (home / MANIFEST).is_file():
        return None
    changed = changed_delivery(project)
    added = [name for name in changed if name not in (*FILES, MANIFEST) and _is_data(home / name)]
    if wrong := [name for name in changed if name not in added]:
        raise DeliveryDamaged(path=str(home), file=", ".join(wrong))
    return tuple(sorted({*FILES, *added}))  # a fifth one is for the rule on the four to count


def _is_data(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.suffix != ".txt"


def changed_delivery(project: Project) -> tuple[str, ...]:
    """Whatever of a delivery is not as `deliver` left it: changed, missing, added, or its own manifest."""
    home = project.paths.delivery
    listed, mark = _read_files(home), home / RESTRICTED / _mark(project)
    given = {name: content_digest(home / name) if _is_plain(home / name) else "" for name in listed}
    wrong = {name for name, digest in listed.items() if given[name] != digest}
    words = _mark_text(project).encode("utf-8")
    own = {*(home / name for name in listed), home / MANIFEST, home / PUBLIC, home / RESTRICTED, mark}
    wrong |= {path.relative_to(home).as_posix() for path in home.rglob("*") if path not in own}
    wrong |= set() if _is_plain(mark) and mark.read_bytes() == words else {f"{RESTRICTED}/{mark.name}"}
    noted = [facts for facts in project.journal.facts(_ACT) if facts.get("manifest") == delivered_release(project)]
    as_noted = bool(noted) and noted[-1].get("delivery", "") in ("", content_digest(home / MANIFEST))
    return tuple(sorted(wrong | (set() if as_noted and set(listed) == set(FILES) else {MANIFEST})))


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _mark(project: Project) -> str:
    """The name of the file that says that the restricted half is not published."""
    with messages.speaking(project.config.language):
        return messages.text("mel.delivery.mark")


def _mark_text(project: Project) -> str:
    with messages.speaking(project.config.language):
        return messages.text("mel.delivery.do_not_publish") + "\n"


def delivered_release(project: Project) -> str | None:
    """Digest of the manifest whose release a project's delivery holds; None where nothing was delivered."""
    path = project.paths.delivery / MANIFEST
    try:
        return str(json.loads(path.read_text("utf-8"))["manifest"]) if path.is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        raise DeliveryDamaged(path=str(path.parent), file=MANIFEST) from None


def latest_release(project: Project) -> Path:
    """The newest release of a project: by its day, then by its number within the day."""
    releases = [path.parent for path in project.paths.releases.glob(f"*/{MANIFEST}")]
    if not releases:
        raise NothingToDeliver(path=str(project.folder))
    return max(releases, key=lambda path: (path.name[:10], int(path.name[11:] or 1) if path.name[11:].isdigit() else 1))


def _release(project: Project, named: str | None) -> ReleaseOnDisk:
    folder = latest_release(project) if named is None else project.paths.releases / named
    release = read_release(folder)
    if release.differences:
        raise ReleaseDamaged(path=str(folder), reason=", ".join(release.differences))
    return release


def _assemble(draft: Path, project: Project, release: ReleaseOnDisk, now: datetime) -> Delivery:
    with translate_write_errors(draft.parent):
        draft.mkdir(mode=_OPEN_FOLDER)
        (draft / PUBLIC).mkdir(mode=_OPEN_FOLDER)
    _restricted_half(project, make_private_folder(draft / RESTRICTED))
    with translate_write_errors(draft):
        for name in (DATA, DICTIONARY):
            shutil.copyfile(release.folder / name, draft / PUBLIC / name)
            set_mode(draft / PUBLIC / name, _OPEN_FILE)
    rows, published = release.manifest.rows, len(release.manifest.published)
    sizes = {RESTRICTED: (project.config.source.rows, len(project.names)), PUBLIC: (rows, published)}
    delivery = Delivery(
        project=project.config.name,
        created=now.date().isoformat(),
        release=release.folder.name,
        manifest=release.manifest.digest,
        files=tuple(_file_entry(draft, name, sizes) for name in FILES),
        about=dict(release.manifest.about),
    )
    with translate_write_errors(draft):
        (draft / MANIFEST).write_text(_delivery_text(delivery.as_dict()), "utf-8", newline="\n")
        set_mode(draft / MANIFEST, _OPEN_FILE)
    return delivery


def _restricted_half(project: Project, target: Path) -> None:
    """The base as it was read, every column and row in its order, and its annotated dictionary."""
    with open_table(project) as source:
        write_csv(_source_batches(project, source), project.names, target / DATA)
    with translate_write_errors(target):
        shutil.copyfile(project.paths.dictionary, target / DICTIONARY)
        set_mode(target / DICTIONARY, PRIVATE_FILE)
        mark = target / _mark(project)
        mark.write_text(_mark_text(project), "utf-8", newline="\n")
        set_mode(mark, PRIVATE_FILE)


def _source_batches(project: Project, source: OpenTable) -> Iterator[pa.RecordBatch]:
    """The rows of the base: those of the copy in their order; rows that stay in a database have only that of values."""
    if project.in_place is not None and source.raw is not None:
        yield from source.raw.ordered_batches()
        return
    for part in part_files(project.paths.working_copy):
        with pq.ParquetFile(part) as copy:
            yield from copy.iter_batches()


def _file_entry(draft: Path, name: str, sizes: Mapping[str, tuple[int, int]]) -> DeliveredFile:
    """A data file with its digest; a dictionary has a row for each column of its base."""
    half, file = name.split("/")
    rows, columns = sizes[half]
    counted = {"rows": rows, "columns": columns} if file == DATA else {"rows": columns, "columns": _width(draft / name)}
    return DeliveredFile(path=name, sha256=content_digest(draft / name), publish=half == PUBLIC, **counted)


def _width(path: Path) -> int:
    """The columns of a dictionary, from the header under its format."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return len(next(rows))


def _delivery_text(document: Mapping[str, Any]) -> str:
    """The only spelling of a delivery's manifest."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _read_files(home: Path) -> dict[str, str]:
    try:
        text = (home / MANIFEST).read_bytes().decode("utf-8")
        document = json.loads(text)
        if document["format"] != DELIVERY_FORMAT or _delivery_text(document) != text:
            raise KeyError
        return {str(entry["path"]): str(entry["sha256"]) for entry in document["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise DeliveryDamaged(path=str(home), file=MANIFEST) from None
