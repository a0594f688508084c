"""`deliver`: MEL's four data files, the restricted half apart, assembled aside and moved in one step.

Knows a project and its latest release. The anonymised half is the release's own, byte by byte; the full half is the
base as it was read, with its annotated dictionary. Source: MEL protocol IV.4.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celosia import messages
from celosia.data.files import PRIVATE_FILE, parts_of, private_folder, scratch_beside, writing_into
from celosia.data.writers import write_csv
from celosia.errors import DeliveryDamaged, NothingToDeliver, ReleaseDamaged
from celosia.model.mel import DELIVERY_FORMAT, DeliveredFile, Delivery
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._release_folder import MANIFEST, Held, read_release, releases_of

FOLDER = "delivery"
RESTRICTED, PUBLIC = "restricted", "public"
DATA, DICTIONARY = "data.csv", "dictionary.csv"
FILES = tuple(f"{half}/{name}" for half in (RESTRICTED, PUBLIC) for name in (DATA, DICTIONARY))
_OPEN_FILE, _OPEN_FOLDER = 0o644, 0o755


@dataclass(frozen=True, slots=True)
class Delivered:
    """A delivery and where it stands."""

    folder: Path
    delivery: Delivery

    def as_dict(self) -> dict[str, Any]:
        """What was delivered, as its versioned JSON."""
        return {**self.delivery.as_dict(), "path": str(self.folder)}


def deliver(folder: Place, release: str | None = None, *, now: datetime | None = None) -> Delivered:
    """Put the delivery of a release in place (the latest one unless named), whole or not at all."""
    project, when = open_project(folder), moment(now)
    held = _release(project, release)
    target = project.folder / FOLDER
    with scratch_beside(target) as scratch:
        draft = scratch / FOLDER
        with messages.speaking(project.config.language):
            delivery = _assembled(draft, project, held, when)
        _journal.refuse_unwritable(project.journal_path)
        _put_in_place(draft, target)
    facts = {"release": held.folder.name, "manifest": delivery.manifest, "files": len(delivery.files)}
    _journal.append(project.journal_path, "deliver", when, facts)
    return Delivered(target, delivery)


def delivered_files(folder: Place) -> tuple[str, ...] | None:
    """The data files of a project's delivery, each as it was delivered; None where nothing was."""
    home = Path(folder) / FOLDER
    if not (home / MANIFEST).is_file():
        return None
    listed = _read_files(home)
    for name, digest in listed.items():
        if not (home / name).is_file() or _digest(home / name) != digest:
            raise DeliveryDamaged(path=str(home), file=name)
    if set(listed) != set(FILES):
        raise DeliveryDamaged(path=str(home), file=MANIFEST)
    others = [path for path in home.rglob("*") if path.is_symlink() or not path.is_dir()]
    found = {path.relative_to(home).as_posix() for path in others if path.suffix != ".txt" and path != home / MANIFEST}
    return tuple(sorted(found | set(listed)))


def delivered_release(folder: Place) -> str | None:
    """Digest of the manifest whose release a project's delivery holds; None where nothing was delivered."""
    path = Path(folder) / FOLDER / MANIFEST
    try:
        return str(json.loads(path.read_text("utf-8"))["manifest"]) if path.is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        raise DeliveryDamaged(path=str(path.parent), file=MANIFEST) from None


def latest_release(project: Path) -> Path:
    """The newest release of a project: by its day, then by its number within the day."""
    found = [path.parent for path in releases_of(project).glob(f"*/{MANIFEST}")]
    if not found:
        raise NothingToDeliver(path=str(project))
    return max(found, key=lambda path: (path.name[:10], int(path.name[11:] or 1) if path.name[11:].isdigit() else 1))


def _release(project: Project, named: str | None) -> Held:
    place = latest_release(project.folder) if named is None else releases_of(project.folder) / named
    held = read_release(place)
    wrong = (*held.changed, *held.added, *held.removed)
    if wrong:
        raise ReleaseDamaged(path=str(place), reason=", ".join(wrong))
    return held


def _assembled(draft: Path, project: Project, held: Held, now: datetime) -> Delivery:
    with writing_into(draft.parent):
        draft.mkdir(mode=_OPEN_FOLDER)
        (draft / PUBLIC).mkdir(mode=_OPEN_FOLDER)
    _restricted_half(project, private_folder(draft / RESTRICTED))
    with writing_into(draft):
        for name in (DATA, DICTIONARY):
            shutil.copyfile(held.folder / name, draft / PUBLIC / name)
            (draft / PUBLIC / name).chmod(_OPEN_FILE)
    rows, published = held.manifest.rows, len(held.manifest.published)
    sizes = {RESTRICTED: (project.config.source.rows, len(project.names())),
             PUBLIC: (rows, published)}  # fmt: skip
    delivery = Delivery(
        project=project.config.name,
        created=now.date().isoformat(),
        release=held.folder.name,
        manifest=held.manifest.digest,
        files=tuple(_listed(draft, name, sizes) for name in FILES),
        about=dict(held.manifest.about),
    )
    with writing_into(draft):
        text = json.dumps(delivery.as_dict(), ensure_ascii=False, indent=2)
        (draft / MANIFEST).write_text(text + "\n", "utf-8")
        (draft / MANIFEST).chmod(_OPEN_FILE)
    return delivery


def _restricted_half(project: Project, target: Path) -> None:
    """The base as it was read, every column and row in its order, and its annotated dictionary."""
    with opened(project.folder) as found:
        write_csv(_as_read(project, found), project.names(), target / DATA)
    with writing_into(target):
        shutil.copyfile(project.dictionary_path, target / DICTIONARY)
        (target / DICTIONARY).chmod(PRIVATE_FILE)
        mark = target / messages.text("mel.delivery.mark")
        mark.write_text(messages.text("mel.delivery.do_not_publish") + "\n", "utf-8")
        mark.chmod(PRIVATE_FILE)


def _as_read(project: Project, found: Opened) -> Iterator[pa.RecordBatch]:
    """The rows of the base: those of the copy in their order; rows that stay in a database have only that of values."""
    if project.in_place is not None and found.raw is not None:
        yield from found.raw.ordered_batches()
        return
    for part in parts_of(project.working_copy):
        with pq.ParquetFile(part) as copy:
            yield from copy.iter_batches()


def _listed(draft: Path, name: str, sizes: Mapping[str, tuple[int, int]]) -> DeliveredFile:
    """A data file with its digest; a dictionary has a row for each column of its base."""
    half, file = name.split("/")
    rows, columns = sizes[half]
    counted = {"rows": rows, "columns": columns} if file == DATA else {"rows": columns, "columns": _width(draft / name)}
    return DeliveredFile(path=name, sha256=_digest(draft / name), publish=half == PUBLIC, **counted)


def _width(path: Path) -> int:
    """The columns of a dictionary, from the header under its format."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return len(next(rows))


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def _read_files(home: Path) -> dict[str, str]:
    try:
        document = json.loads((home / MANIFEST).read_text("utf-8"))
        if document["format"] != DELIVERY_FORMAT:
            raise KeyError
        return {str(one["path"]): str(one["sha256"]) for one in document["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise DeliveryDamaged(path=str(home), file=MANIFEST) from None


def _put_in_place(made: Path, target: Path) -> None:
    """Replace the old delivery by the new one; a kill in between leaves one of them whole."""
    old = target.with_name(f".{FOLDER}.old")
    with writing_into(target.parent):
        shutil.rmtree(old, ignore_errors=True)
        if target.exists():
            os.rename(target, old)
        os.rename(made, target)
    shutil.rmtree(old, ignore_errors=True)
