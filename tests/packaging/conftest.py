"""The wheel and the source package, built once as a release builds them, and environments made in seconds."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.source_files import REPOSITORY
from tests.servers import skip_loudly

UV = REPOSITORY / ".venvs" / "lock" / "bin" / "uv"


@dataclass(frozen=True)
class Built:
    """What `uv build` made."""

    wheel: Path
    source: Path


def run(*words: str | Path, **settings: object) -> str:
    """Run a program without our own sources in its way; its output, or a failure that shows it."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CELOSIA_LANG")}
    done = subprocess.run(
        [str(word) for word in words], env=environment, capture_output=True, text=True, check=False, **settings
    )  # type: ignore[call-overload]
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return str(done.stdout)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The source package, and the wheel made from it."""
    if not UV.exists():
        skip_loudly("needs uv: `make test-downloads` makes .venvs/lock")
    folder = tmp_path_factory.mktemp("dist")
    run(UV, "build", "--quiet", "--build-constraints", "requirements/build.lock", "--out-dir", folder, cwd=REPOSITORY)
    return Built(next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")))


def make_environment(folder: Path, python: str, *packages: str) -> Path:
    """A new environment with the packages in the versions of the locks; its Python."""
    run(UV, "venv", "--quiet", "--python", python, folder)
    interpreter = folder / "bin" / "python"
    lock = REPOSITORY / "requirements" / "test.lock"
    run(UV, "pip", "install", "--quiet", "--python", interpreter, "--constraints", lock, *packages)
    return interpreter
