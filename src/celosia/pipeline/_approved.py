"""What an approval covered, part by part, so that a voided one can say what changed since: digests and names alone.

Kept in `private/approved/`, one file for each digest that was signed. It explains; what counts is asked elsewhere, from
the files as they are. An approval given before this was kept has no explanation, and says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import private_folder, replacing
from celosia.errors import CelosiaError
from celosia.model import dictionary
from celosia.model.desk import Change
from celosia.model.people import Approval
from celosia.model.plan import digest_of
from celosia.pipeline._plan import read_plan
from celosia.pipeline._project import Project, read_toml

FORMAT = "celosia/approved/1"
_COVERS = {
    "dictionary": ("source", "variables", "dictionary", "overrides"),
    "plan": ("source", "variables", "dictionary", "overrides", "settings", "hierarchies", "plan"),
    "candidate": ("candidate",),
    "residual": ("variables", "dictionary", "candidate"),
}
Parts = Mapping[str, Mapping[str, str]]  # part -> name -> digest


def parts_of(project: Project, settings: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Everything that approvals cover, as it is now; what cannot be read is empty."""
    document = read_toml(project.folder / "celosia.toml")
    files = sorted((project.folder / "hierarchies").glob("*.csv"))
    return {
        "source": {"": project.config.source.digest},
        "dictionary": {"": _file(project.dictionary_path)},
        "variables": _variables(project),
        "overrides": _overrides(document.get("overrides", {})),
        "settings": {name: _digest(document[name]) for name in settings if name in document and name != "overrides"},
        "hierarchies": {path.name: _file(path) for path in files},
        "plan": {"": _plan(project)},
        "candidate": {"": _file(project.folder / "private" / "candidate" / "data.csv")},
    }


def keep_parts(project: Project, digest: str, parts: Parts) -> None:
    """Keep what a digest was made from."""
    with replacing(_path(project, digest)) as draft:
        draft.write_text(json.dumps({"format": FORMAT, "parts": parts}, ensure_ascii=False, sort_keys=True), "utf-8")


def changes_since(project: Project, one: Approval, now: Parts) -> tuple[Change, ...] | None:
    """What is different from what an approval covered; None where nobody kept it."""
    before = _kept(project, one.digest)
    if before is None:
        return None
    found = [Change(part, _differing(before[part], now[part])) for part in _COVERS[one.what]]
    return tuple(change for change in found if change.names and not _told_by_lines(change, found))


def _told_by_lines(change: Change, found: list[Change]) -> bool:
    """Whether the changed variables already say that the dictionary changed."""
    return change.part == "dictionary" and any(one.part == "variables" and one.names for one in found)


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    names = [*before, *(name for name in now if name not in before)]
    return tuple(name for name in names if before.get(name) != now.get(name))


def _kept(project: Project, digest: str) -> Parts | None:
    try:
        held = json.loads(_path(project, digest).read_text("utf-8"))
        parts = {name: dict(held["parts"][name]) for name in {one for part in _COVERS.values() for one in part}}
        return parts if held["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _path(project: Project, digest: str) -> Path:
    return private_folder(project.folder / "private" / "approved") / f"{digest.partition(':')[2][:64]}.json"


def _variables(project: Project) -> dict[str, str]:
    try:
        variables = project.variables()
    except CelosiaError:
        return {}
    with messages.speaking(messages.LANGUAGES[0]):  # the same words, whoever asks
        lines = dictionary.rows_of(variables)[2:]
    return {one.name: _digest(line) for one, line in zip(variables, lines, strict=True)}


def _overrides(stated: Mapping[str, Any]) -> dict[str, str]:
    return {f"{norm}.{rule}": _digest(change) for norm, rules in stated.items() for rule, change in rules.items()}


def _plan(project: Project) -> str:
    try:
        return str(read_plan(project.folder).digest)
    except CelosiaError:
        return ""


def _digest(value: Any) -> str:
    return digest_of({"value": json.loads(json.dumps(value, ensure_ascii=False, default=str))})


def _file(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except OSError:
        return ""
