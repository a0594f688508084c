"""Reports saved in a project, which a page shows without computing them again.

A report is saved with the digests of what it was made from (source, dictionary, celosia.toml, plan where it matters),
so that a page can say that it is out of date instead of showing it as if it were not. Saved reports are private.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.model.paths import DICTIONARY, SETTINGS
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import ProjectArg, open_project
from celosia.storage import atomic_write, make_private_folder

FORMAT = "celosia/kept-report/1"


@dataclass(frozen=True, slots=True)
class SavedReport:
    """A saved report, when it was made, and whether what it was made from changed since."""

    document: Mapping[str, Any]
    when: str
    stale: bool


def save_report(
    folder: ProjectArg,
    name: str,
    document: Mapping[str, Any],
    *,
    also: Sequence[Path] = (),
    now: datetime | None = None,
) -> Path:
    """Save a report of a project; `also` are further files of the project that it depends on."""
    project = open_project(folder)
    path = make_private_folder(project.paths.reports) / f"{name}.json"
    others = [file.relative_to(project.folder).as_posix() for file in also]
    saved = {
        "format": FORMAT,
        "when": utc_now(now).isoformat(timespec="seconds"),
        "source": project.config.source.digest,
        "ground": {
            SETTINGS: project.settings_digest,
            DICTIONARY: project.dictionary_digest,
            **_digests(project.folder, others),
        },
        "document": dict(document),
    }
    with atomic_write(path) as draft:
        draft.write_text(json.dumps(saved, ensure_ascii=False), "utf-8", newline="\n")
    return path


def saved_report(folder: ProjectArg, name: str) -> SavedReport | None:
    """The report saved under a name; None where there is none, or none that can be read."""
    project = open_project(folder)
    try:
        saved = json.loads((project.paths.reports / f"{name}.json").read_text("utf-8"))
        if saved["format"] != FORMAT:
            return None
        same_source = saved["source"] == project.config.source.digest
        fresh = same_source and saved["ground"] == _digests(project.folder, saved["ground"])
        return SavedReport(saved["document"], str(saved["when"]), not fresh)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The digests of some files of a project as they stand now."""
    return {name: digest_of_file(folder / name) for name in names}
