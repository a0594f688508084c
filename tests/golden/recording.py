"""The process that records, started by tests.golden.record: `python -m tests.golden.recording ROOT TARGET`.

Knows the order of a recording. Ignores digests that were recorded before.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.golden.chance import fix_chance, stop_clock, use_one_thread


def main(root: Path, target: Path) -> None:
    """Fix clock and chance, then record walks, cases and help into the target folder."""
    stream = fix_chance()
    stop_clock()
    use_one_thread()
    from tests.golden.cases import all_cases, record_case, record_help, run_command
    from tests.golden.items import Items, write_digests
    from tests.golden.walks import ROWS, VOICES, record_walk

    run_command(
        ["demo", "--into", str(root / "warm"), "--rows", "200"]
    )  # compiles kernels: the first time is announced
    items = Items(target)
    for norm in ROWS:
        for voice in VOICES:
            record_walk(norm, voice, root / voice / norm, items, stream)
    for case in all_cases():
        record_case(case, root / "es" / case.norm, root / "work", items, stream)
    record_help(items)
    write_digests(target / "digests.json", items.digests)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
