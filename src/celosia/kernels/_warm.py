"""Compile everything once, at set-up, with a message; not in front of a surprised user.

Each kernel is compiled for the types with which the program calls it, and kept in the cache folder. Two processes share
the work, module by module: whoever claims one compiles it. A mark in the folder, named after the digest of the kernels'
own text, says that all was done. Without a folder nothing could be kept, so each kernel waits for its first call.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from celosia.kernels._cache import cache_folder

Progress = Callable[[int, int], None]
# The modules whose kernels others call, those that take longest first.
MODULES = tuple(
    (
        "mdav joining judge queries network rollup complements suda cover lattice cycles groups combinations "
        "numbering pairs peel"
    ).split()
)
_HELP = "import sys; sys.path[:0] = sys.argv[2:]; from celosia.kernels import compile_unclaimed as c; c(sys.argv[1])"
_POLL = 0.1
_done = False


def is_warm() -> bool:
    """Whether the kernels are compiled: in this process, or kept from an earlier one; true where none can be kept."""
    folder = cache_folder()
    return _done or folder is None or (folder / _mark()).exists()


def warm_up(progress: Progress | None = None) -> None:
    """Compile every kernel that the program calls; `progress(done, total)` is called meanwhile."""
    global _done
    folder = cache_folder()
    if folder is not None:
        with tempfile.TemporaryDirectory(dir=folder) as claims, _second_process(folder, claims) as helper:
            compile_unclaimed(claims, progress)
            _wait(helper, Path(claims), progress)
        if helper is not None and helper.returncode != 0:
            # What it had claimed may be missing; the rest is found in the cache.
            _compile_all()
        (folder / _mark()).touch(mode=0o600)
    if progress is not None:
        progress(len(MODULES), len(MODULES))
    _done = True


def compile_unclaimed(claims: str, progress: Progress | None = None) -> None:
    """Compile the modules that no other process has claimed in this folder, and note which are done."""
    for module in MODULES:
        if _claim(Path(claims, module)):
            compile_module(module)
            Path(claims, f"{module}.done").touch()
            if progress is not None:
                progress(_count_done(Path(claims)), len(MODULES))


def compile_module(module: str) -> None:
    """Compile the kernels of a module that others call, or find them in the cache."""
    from celosia.kernels._signatures import signatures

    kernels = import_module(f"celosia.kernels.{module}")
    for name, every in signatures(module).items():
        for arguments in every:
            getattr(kernels, name).compile(arguments)


def _compile_all() -> None:
    for module in MODULES:
        compile_module(module)


def _claim(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True


def _count_done(claims: Path) -> int:
    return sum(1 for _ in claims.glob("*.done"))


@contextlib.contextmanager
def _second_process(folder: Path, claims: str) -> Iterator[subprocess.Popen[bytes] | None]:
    """A second process that compiles too, where there is a second core and a Python to run."""
    if (os.cpu_count() or 1) < 2 or "python" not in Path(sys.executable or "").stem.lower():
        yield None
        return
    command = [sys.executable, "-c", _HELP, claims, str(Path(__file__).parents[2])]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdin=quiet, stdout=quiet, stderr=quiet) as helper:
        try:
            yield helper
        finally:
            if helper.poll() is None:
                helper.terminate()


def _wait(helper: subprocess.Popen[bytes] | None, claims: Path, progress: Progress | None) -> None:
    while helper is not None and helper.poll() is None:
        if progress is not None:
            progress(_count_done(claims), len(MODULES))
        time.sleep(_POLL)


def _mark() -> str:
    digest = hashlib.sha256(f"{platform.python_version()} {platform.machine()} {platform.node()}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return f"warm-{digest.hexdigest()[:16]}"
