"""Record what celosia writes and prints, byte by byte, and compare it with what was recorded before.

    python -m tests.golden.record --check [--keep DIR] [--tree DIR]
    python -m tests.golden.record --update [--keep DIR] [--tree DIR]

A recording is a folder of items: what every step of the four walks prints and every file they leave; what every command
with --json prints in Spanish, in English and as JSON, and what it writes; refused inputs; every help. `expected.json`
holds the sha256 of each. The commands run in a process of their own: a stopped clock, a fixed chance and one thread
in DuckDB. DIR is a new folder; a tree is a checkout of the code, this repository unless another is named.

What is not compared as it stands, because it cannot repeat:
- DuckDB files: definition and sorted rows of every table are compared;
- the date and time in the header of .sav and .dta files, which a C library takes from the clock of the machine.

Figures, file formats and help depend on the versions in requirements/*.lock.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.golden.items import differences, read_digests, write_digests

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
EXPECTED = HERE / "expected.json"
_PASSED_ON = ("PATH", "TMPDIR", "NUMBA_CACHE_DIR", "LD_LIBRARY_PATH")


def record(target: Path, tree: Path = TREE) -> dict[str, str]:
    """Record a tree of the code into a new folder, in a process of its own, and give the digests."""
    target.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix="golden-")).resolve()
    try:
        command = [sys.executable, "-m", "tests.golden.recording", str(root), str(target.resolve())]
        subprocess.run(command, cwd=root, env=_environment(root, tree), stdin=subprocess.DEVNULL, check=True)
    finally:
        shutil.rmtree(root)
    return read_digests(target / "digests.json")


def _environment(root: Path, tree: Path) -> dict[str, str]:
    """The few settings a recording may see; compiled kernels are taken from where they always are."""
    caches = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return {
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        "PYTHONPATH": os.pathsep.join(map(str, (tree / "src", tree, TREE))),
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "HOME": str(root / "home"),
        "XDG_CACHE_HOME": caches,
        "LOGNAME": "golden",
        "TZ": "<-03>3",
    }


def main(words: list[str]) -> int:
    """Record, then write the digests or say which items differ."""
    options = _parser().parse_args(words)
    if options.keep:
        options.keep.mkdir(parents=True)  # a new one: what an earlier recording left would read as recorded now
    with tempfile.TemporaryDirectory() as passing:
        actual = record(options.keep or Path(passing), options.tree.resolve())
    if options.update:
        write_digests(EXPECTED, actual)
        print(f"{len(actual)} items: {EXPECTED}")
        return 0
    unequal = differences(read_digests(EXPECTED), actual)
    print("\n".join([*unequal, f"{len(unequal)} of {len(actual)} items differ"]))
    return int(bool(unequal))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.record")
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--check", action="store_true", help="compare with expected.json")
    task.add_argument("--update", action="store_true", help="write expected.json anew")
    parser.add_argument("--keep", type=Path, help="folder for the recorded texts and files")
    parser.add_argument("--tree", type=Path, default=TREE, help="the code to record, if not this repository")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
