"""One job in a process of its own: `python -m bench.worker ORDER`, the order as JSON.

Says on its standard output, which the work itself cannot reach, `begin` when the clock starts and then one line of
JSON: seconds, peak bytes of this process since the clock started, facts. Ignores rounds, figures and reports.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from bench.frame import Outcome, Skip, Work

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def peak_bytes() -> int:
    """The highest memory of this process since the last reset, or of the largest process it waited for."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    if _STATUS.exists():  # what `resource` says of a process would include what it was before it became Python
        own = int(_STATUS.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    else:
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return max(own, children)


def reset_peak() -> None:
    """Forget what preparing needed, where the system lets us."""
    if _RESET.exists():
        _RESET.write_text("5")


def timed(work: Work, clock: str) -> tuple[float, int, Outcome]:
    """Seconds of one call, the peak of memory so far, and what it said."""
    now = _CLOCKS[clock]
    start = now()
    found = work()
    seconds, peak = now() - start, peak_bytes()
    given = found() if callable(found) else found
    outcome = given if isinstance(given, Outcome) else Outcome(given or {})
    return (seconds if outcome.seconds is None else outcome.seconds), peak, outcome


def obey(order: Mapping[str, Any], channel: TextIO) -> None:
    """Prepare, tell when the clock starts, work, tell the result."""
    function = getattr(importlib.import_module(order["module"]), order["function"])
    try:
        work = function(Path(order["folder"]), **order["arguments"])
        reset_peak()
        print("begin", file=channel, flush=True)
        runs = [timed(work, order["clock"]) for _ in range(order["best_of"])]
    except Skip as why:
        print(json.dumps({"skipped": str(why)}), file=channel, flush=True)
        return
    seconds, _, outcome = min(runs, key=lambda run: run[0])
    peak = max(peak for _, peak, _ in runs)
    answer = {"seconds": seconds, "peak": peak, "facts": dict(outcome.facts), "at_least": outcome.at_least}
    print(json.dumps(answer), file=channel, flush=True)


def main(order: str) -> None:
    """Keep standard output for the answer; whatever the work prints goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    obey(json.loads(order), channel)


if __name__ == "__main__":
    main(sys.argv[1])
