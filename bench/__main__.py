"""Runs every bench, each in a process of its own so that its peak memory is its own: `make bench [ONLY=name]`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main(only: Sequence[str]) -> int:
    """Run the named benches, or all; the exit code counts those that failed."""
    found = {path.stem.removeprefix("bench_"): path.stem for path in sorted(FOLDER.glob("bench_*.py"))}
    unknown = set(only) - set(found)
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(found)}", file=sys.stderr)
        return 2
    failed = 0
    for name in only or found:
        print(f"== {name}", flush=True)
        failed += subprocess.run([sys.executable, "-m", f"bench.{found[name]}"], cwd=FOLDER.parent).returncode != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
