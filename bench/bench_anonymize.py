"""`anonymize`, a frame in and an anonymous frame out, beside anjana; and the measures of its result beside pycanon.

Both sides start from a frame of pandas in memory and end with one: ours is searched, applied and measured again. Time
and memory are those that each process states of itself. On large tables `anonymize` stands beside one group-by of
pandas over the same columns. Adult needs the table in ../shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import celosia
from bench.anjana_peer import anjana_result
from bench.bench_quality import ADULT, EIGHT
from bench.frame import Bench, Case, Figure, Job, Outcome, Scale, Skip, Work
from bench.peers import PeerUnavailable
from bench.pycanon_peer import peer_figures
from celosia import kernels

BUDGET = 600  # seconds a peer may take
FOUR = ("sex", "age", "race", "education")
SENSITIVE = "salary-class"
K, PERCENT = 5, 5
SEED = 20_240_131


def peak_bytes() -> int:
    """The most memory that this process has held since it began; what getrusage says may be its parent's."""
    status = Path("/proc/self/status").read_text("utf-8").splitlines()
    return 1024 * int(next(line.split()[1] for line in status if line.startswith("VmHWM:")))


def adult_frame() -> pd.DataFrame:
    """Adult as texts, as anjana takes it."""
    if not ADULT.is_dir():
        raise Skip("needs the Adult table in ../shared")
    return pd.read_csv(ADULT / "adult.csv", sep=";", dtype=str, keep_default_na=False)


def adult_hierarchies(names: tuple[str, ...]) -> dict[str, Path]:
    """The files of ARX's layout that both sides read."""
    return {name: ADULT / f"adult_hierarchy_{name}.csv" for name in names}


def ours(folder: Path, names: tuple[str, ...]) -> Work:
    """`anonymize`, whole."""
    frame = adult_frame()[list(names)]
    hierarchies = adult_hierarchies(names)
    kernels.warm_up()

    def work() -> dict[str, Any]:
        result = celosia.anonymize(
            frame, quasi=names, k=K, max_suppression=PERCENT / 100, hierarchies=hierarchies, suppressed="drop"
        )
        return {"kept": len(result.frame), "memory": peak_bytes()}

    return work


def anjana(folder: Path, names: tuple[str, ...]) -> Work:
    """anjana's k-anonymity of the same frame, by its own clock."""
    files = adult_hierarchies(names)
    adult_frame()

    def work() -> Outcome:
        try:
            answer = anjana_result(ADULT / "adult.csv", files, K, PERCENT, timeout=BUDGET)
        except PeerUnavailable as missing:
            raise Skip(str(missing)) from None
        if answer is None:
            raise Skip(f"anjana did not end within {BUDGET} s")
        return Outcome({"kept": answer["kept"], "memory": answer["memory"]}, answer["seconds"])

    return work


def released_frame() -> pd.DataFrame:
    """Adult as `anonymize` gives it back."""
    result = celosia.anonymize(
        adult_frame()[[*FOUR, SENSITIVE]],
        quasi=FOUR,
        sensitive=SENSITIVE,
        k=K,
        max_suppression=PERCENT / 100,
        hierarchies=adult_hierarchies(FOUR),
    )
    frame: pd.DataFrame = result.frame
    return frame


def our_measures(folder: Path) -> Work:
    """Every measure of the released frame."""
    frame = released_frame()

    def work() -> dict[str, Any]:
        return {"k": celosia.measure(frame, quasi=FOUR, sensitive=SENSITIVE).k, "memory": peak_bytes()}

    return work


def pycanon_measures(folder: Path) -> Work:
    """pycanon's nine measures of the same frame, by its own clock."""
    path = folder / "released.csv"
    released_frame().to_csv(path, index=False)

    def work() -> Outcome:
        try:
            answer = peer_figures(path, FOUR, SENSITIVE, timeout=BUDGET)
        except PeerUnavailable as missing:
            raise Skip(str(missing)) from None
        if answer is None:
            return Outcome({}, float(BUDGET), at_least=True)
        return Outcome({"k": int(answer["figures"]["k"]), "memory": answer["memory"]}, answer["seconds"])

    return work


def made_frame(rows: int) -> pd.DataFrame:
    """Invented people."""
    rng = np.random.default_rng(SEED)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice([f"10{number:02d}" for number in range(60)], rows),
            "diagnosis": rng.choice(["flu", "cold", "asthma", "burn"], rows),
        }
    )


def large(folder: Path, rows: int) -> Work:
    """`anonymize` with k and l, on many rows."""
    frame = made_frame(rows)
    hierarchies = {"age": celosia.intervals(5), "zip": celosia.mask([1, 2, 4])}
    kernels.warm_up()

    def work() -> dict[str, Any]:
        result = celosia.anonymize(
            frame,
            quasi=["age", "sex", "zip"],
            sensitive="diagnosis",
            k=K,
            l=2,
            max_suppression=0.01,
            hierarchies=hierarchies,
        )
        return {"suppressed": result.suppressed, "memory": peak_bytes()}

    return work


def plain_groups(folder: Path, rows: int) -> Work:
    """One group-by of pandas over the same columns."""
    frame = made_frame(rows)

    def work() -> dict[str, Any]:
        sizes = frame.groupby(["age", "sex", "zip", "diagnosis"]).size()
        return {"classes": len(sizes), "memory": peak_bytes()}

    return work


def cases(scale: Scale) -> Iterator[Case]:
    """Beside anjana with few and many variables, beside pycanon, and on large tables alone."""
    for names in (FOUR,) if scale.small else (FOUR, EIGHT):
        yield Case(
            f"Adult, {len(names)} quasi-identifiers, k = {K}, at most {PERCENT} % suppressed",
            jobs=(Job("anjana", anjana, {"names": names}), Job("celosia", ours, {"names": names})),
            figures=(
                Figure("seconds of anonymize", ("celosia",), ("anjana",), 1.0),
                Figure("memory of anonymize", ("celosia",), ("anjana",), of="memory"),
            ),
        )
    yield Case(
        "Adult as released: the measures",
        jobs=(Job("pycanon", pycanon_measures), Job("celosia", our_measures)),
        figures=(
            Figure("seconds of the measures", ("celosia",), ("pycanon",), 1.0),
            Figure("memory of the measures", ("celosia",), ("pycanon",), of="memory"),
        ),
    )
    for rows in scale.rows((100_000, 1_000_000), (10_000,)):
        yield Case(
            f"{rows:,} rows, three quasi-identifiers, k = {K} and l = 2",
            jobs=(
                Job("groups", plain_groups, {"rows": rows}, "one group-by of pandas"),
                Job("celosia", large, {"rows": rows}),
            ),
            figures=(
                Figure("seconds", ("celosia",), ("groups",), series="anonymize", rows=rows),
                Figure("memory", ("celosia",), ("groups",), of="memory"),
            ),
        )


BENCH = Bench("anonymize", "A frame in, an anonymous frame out", cases)
