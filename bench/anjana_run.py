"""Runs inside anjana's own environment: k-anonymity of a CSV, as JSON on standard output.

Reads a job as JSON from standard input: path, separator, quasi, hierarchies (a file of each, in ARX's layout), k,
percent (records that may be dropped). Prints the level of each variable, the rows kept, the smallest class among
them, the seconds and the most memory held.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
from anjana.anonymity import k_anonymity, utils


def levels_of(path: str, separator: str) -> dict[int, Any]:
    """A hierarchy as anjana wants it: per level, the label of each leaf."""
    rows = pd.read_csv(path, sep=separator, header=None, dtype=str, keep_default_na=False)
    return {level: rows[level].to_numpy() for level in rows.columns}


def peak_bytes() -> int:
    """The most memory that this process has held since it began; what getrusage says may be its parent's."""
    status = Path("/proc/self/status").read_text("utf-8").splitlines()
    return 1024 * int(next(line.split()[1] for line in status if line.startswith("VmHWM:")))


def main() -> None:
    """Read the frame, anonymise, print what was done."""
    job = json.load(sys.stdin)
    data = pd.read_csv(job["path"], sep=job["separator"], dtype=str, keep_default_na=False)[job["quasi"]]
    hierarchies = {name: levels_of(path, job["separator"]) for name, path in job["hierarchies"].items()}
    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):  # it prints
        found = k_anonymity(data, [], job["quasi"], job["k"], job["percent"], hierarchies)
    seconds = time.perf_counter() - start
    levels = utils.get_transformation(found, job["quasi"], hierarchies) if len(found) else []
    smallest = int(found.groupby(job["quasi"]).size().min()) if len(found) else 0
    answer = {"levels": [int(level) for level in levels], "kept": len(found), "smallest": smallest}
    memory = peak_bytes()
    json.dump(answer | {"seconds": seconds, "memory": memory}, sys.stdout)


if __name__ == "__main__":
    main()
