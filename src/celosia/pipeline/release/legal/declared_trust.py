"""Which authorities count: those that whoever asks brings, else those that the project declares in `[legal] trust`.

Knows settings and where a release lies. Ignores certificates themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from celosia.model.paths import RELEASES
from celosia.pipeline.project.fallbacks import value_or
from celosia.pipeline.project.folder import Project, is_project, open_project
from celosia.pipeline.release.errors import TrustMissing
from celosia.pipeline.release.legal.trust import Trust, read_trust


def declared_trust(project: Project | None, paths: Sequence[Path]) -> Trust:
    """The authorities of the caller, or of the project; it is an error to have none."""
    if paths:
        return read_trust(paths)
    declared = str(project.settings.get("legal", {}).get("trust", "")) if project is not None else ""
    if project is None or not declared:
        raise TrustMissing()
    return read_trust([project.folder / declared])


def trust_of(project: Project | None, paths: Sequence[Path]) -> Trust | None:
    """The authorities of the caller, or of the project in which a release lies; None where nobody declared any."""
    if paths:
        return read_trust(paths)
    try:
        return None if project is None else declared_trust(project, ())
    except TrustMissing:
        return None


def project_of(release: Path) -> Project | None:
    """The project in which a release lies; None for a release alone."""
    home = release.resolve().parent
    if home.name != RELEASES or not is_project(home.parent):
        return None
    return value_or(None, lambda: open_project(home.parent))
