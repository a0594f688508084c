"""What a page shows without computing: reports kept in a project, and the digest by which an edit knows its ground.

A report is kept with the digest of what it was made from (source, dictionary, celosia.toml, plan where it matters), so
that a page can say that it is out of date instead of showing it as if it were not. Kept reports are private.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.data.files import alone, own_folder, private_folder, reading_from, replacing
from celosia.errors import EditedMeanwhile
from celosia.pipeline._call import Place, moment
from celosia.pipeline._project import open_project

FORMAT = "celosia/kept-report/1"
GROUND = ("celosia.toml", "dictionary.csv")


@dataclass(frozen=True, slots=True)
class Kept:
    """A report that was kept, when it was made, and whether what it was made from changed since."""

    document: Mapping[str, Any]
    when: str
    stale: bool


def keep_report(
    folder: Place, name: str, document: Mapping[str, Any], *, also: Sequence[str] = (), now: datetime | None = None
) -> Path:
    """Keep a report in `private/reports`; `also` names further files of the project it depends on (plan.json…)."""
    project = open_project(folder)
    path = private_folder(project.folder / "private" / "reports") / f"{name}.json"
    kept = {
        "format": FORMAT,
        "when": moment(now).isoformat(timespec="seconds"),
        "source": project.config.source.digest,
        "ground": _ground(project.folder, (*GROUND, *also)),
        "document": dict(document),
    }
    with replacing(path) as draft:
        draft.write_text(json.dumps(kept, ensure_ascii=False), "utf-8")
    return path


def kept_report(folder: Place, name: str) -> Kept | None:
    """The report kept under a name; None where there is none, or none that can be read."""
    project = open_project(folder)
    try:
        held = json.loads((project.folder / "private" / "reports" / f"{name}.json").read_text("utf-8"))
        if held["format"] != FORMAT:
            return None
        same = held["source"] == project.config.source.digest
        fresh = same and held["ground"] == _ground(project.folder, tuple(held["ground"]))
        return Kept(held["document"], str(held["when"]), not fresh)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def digest_of_file(path: Place) -> str:
    """The digest of a file's bytes; that of an absent file is empty."""
    try:
        return "sha256:" + hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        with reading_from(Path(path)):
            raise


def refuse_edited(path: Path, expected: str | None) -> None:
    """Refuse an edit made on another state of the file than the one that stands now."""
    if expected is not None and digest_of_file(path) != expected:
        raise EditedMeanwhile(path=path.name)


@contextlib.contextmanager
def editing(folder: Path, path: Path, expected: str | None = None) -> Iterator[None]:
    """Hold the edits of a project, on the state of the file that was shown: of two at once the second sees the first.

    What is read, compared and written stands inside the block; no block stands inside another.
    """
    private = folder / "private"
    with alone((private if private.is_dir() else folder) / ".edit.lock"):
        refuse_edited(path, expected)
        yield


def private_corner(folder: Place) -> Path:
    """A private scratch folder named after this process; what killed processes left beside it is swept."""
    return own_folder(Path(folder))


def _ground(folder: Path, names: Sequence[str]) -> dict[str, str]:
    return {name: digest_of_file(folder / name) for name in names}
