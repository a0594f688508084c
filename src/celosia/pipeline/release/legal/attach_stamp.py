"""`stamp attach`: an authority's answer joins the signatures of a release, after it was verified."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from celosia.model.paths import SIGNATURES, TIME_STAMP
from celosia.model.reports.legal_signatures import TimeStamp
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import ProjectArg, open_for_signing
from celosia.pipeline.release import errors
from celosia.pipeline.release.folder import read_release, release_folder
from celosia.pipeline.release.legal.declared_trust import declared_trust
from celosia.pipeline.release.legal.records import STAMP_ACT
from celosia.pipeline.release.legal.time_stamps import check_stamp, read_answer, stamp_files
from celosia.pipeline.release.make_release import add_file_to_release, refuse_foreign_release
from celosia.storage import content_digest


def attach_stamp(
    release: PathArg,
    answer: PathArg,
    *,
    project: ProjectArg | None = None,
    trust: Sequence[Path] = (),
    now: datetime | None = None,
) -> TimeStamp:
    """Take an authority's answer in, after verifying it, and put it beside the signatures of the release."""
    path, source, moment = Path(release), Path(answer), utc_now(now)
    with open_for_signing(path.resolve().parent.parent if project is None else project) as home:
        stored = read_release(path if path.is_dir() else release_folder(home, path))
        if stored.differences:
            raise errors.ReleaseDamaged(path=str(path), reason=", ".join(stored.differences))
        refuse_foreign_release(home, stored)
        content = read_answer(source)
        stamp = check_stamp(content, source.name, stored, declared_trust(home, trust), moment)
        present = stamp_files(stored.folder)
        if any(content_digest(file) == content_digest(source) for file in present):
            raise errors.StampRepeats(path=source.name)
        _journal.refuse_unwritable(home.paths.journal)
        name = f"{SIGNATURES}/{TIME_STAMP}-{len(present) + 1}.tsr"
        add_file_to_release(stored.folder, name, content, moment)
        facts = {"release": stored.folder.name, "manifest": stored.manifest.digest, "file": name}
        facts |= {"digest": content_digest(source), "moment": stamp.moment, "authority": stamp.authority}
        _journal.append_entry(home.paths.journal, STAMP_ACT, moment, facts)
    return stamp
