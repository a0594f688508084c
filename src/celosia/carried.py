"""Files that the wheel carries beside the code: where they stand once installed, and in a checkout.

Knows pyproject.toml, whose table says what the build puts where. Ignores what the files hold.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = PACKAGE.parents[1]


def carried_path(place: str) -> Path:
    """Where a carried file or folder is, by its place in the package."""
    installed = PACKAGE / place
    return installed if installed.exists() else carried_origins()[place]


def carried_origins() -> dict[str, Path]:
    """In a checkout: what the build will put at each place of the package. Empty once installed."""
    project = _CHECKOUT / "pyproject.toml"
    if not project.is_file():
        return {}
    wheel = tomllib.loads(project.read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    return {
        place.removeprefix("celosia/"): _CHECKOUT / origin
        for origin, place in wheel["force-include"].items()
        if (_CHECKOUT / origin).exists()
    }
