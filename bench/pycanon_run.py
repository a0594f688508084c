"""Runs inside pycanon's own environment: its nine measures on a CSV, as JSON on standard output.

Reads a job as JSON from standard input: path, quasi, sensitive, numeric, shuffle (a seed or null).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from pycanon import anonymity

NINE: dict[str, Callable[..., Any]] = {
    "k": lambda data, quasi, sensitive: anonymity.k_anonymity(data, quasi),
    "alpha": lambda *job: anonymity.alpha_k_anonymity(*job)[0],
    "l": anonymity.l_diversity,
    "entropy_l": anonymity.entropy_l_diversity,
    "recursive_c": lambda *job: anonymity.recursive_c_l_diversity(*job)[0],
    "beta_basic": anonymity.basic_beta_likeness,
    "beta_enhanced": anonymity.enhanced_beta_likeness,
    "t": anonymity.t_closeness,
    "delta": anonymity.delta_disclosure,
}


def peak_bytes() -> int:
    """The most memory that this process has held since it began; what getrusage says may be its parent's."""
    status = Path("/proc/self/status").read_text("utf-8").splitlines()
    return 1024 * int(next(line.split()[1] for line in status if line.startswith("VmHWM:")))


def main() -> None:
    """Read the frame with its plain index, measure, print figures and seconds."""
    job = json.load(sys.stdin)
    data = pd.read_csv(job["path"], dtype=str, keep_default_na=False)
    if job["numeric"]:
        data[job["sensitive"]] = pd.to_numeric(data[job["sensitive"]])
    if job["shuffle"] is not None:
        data = data.sample(frac=1, random_state=job["shuffle"])
    start = time.perf_counter()
    figures = {name: float(of(data, job["quasi"], [job["sensitive"]])) for name, of in NINE.items()}
    seconds = time.perf_counter() - start
    memory = peak_bytes()
    json.dump({"figures": figures, "seconds": seconds, "memory": memory}, sys.stdout)


if __name__ == "__main__":
    main()
