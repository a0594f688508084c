"""Each attack of the intruder on 100,000, 300,000 and 1,000,000 rows, and how its cost grows.

A register of made-up people with a sex, an age, a comuna, a month and a cause; the release shows ages by decade and
masks one cell in fifty of the comuna. The outside list is as long as the release. Each attack is compared with sorting
the rows of the register once. Seconds are of the processor: others may use it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bench.frame import Bench, Case, Figure, Job, Scale, Work
from celosia.attacks.attack_input import AttackInput, PublishedColumn, Records, View
from celosia.attacks.compatible import compatible
from celosia.attacks.inference import inference
from celosia.attacks.linkability import two_views
from celosia.attacks.linkage import linkage, probable_linkage
from celosia.attacks.over_time import over_time
from celosia.attacks.singling_out import singling_out
from celosia.attacks.traces import traces
from celosia.attacks.unmasking import unmask

SIZES, SMALL = (100_000, 300_000, 1_000_000), (2_000, 5_000)
ATTACKS = (
    "singling_out", "two_views", "inference", "unmask", "traces", "linkage", "probable_linkage", "over_time",
)  # fmt: skip
NAMES = ("SEXO", "EDAD", "COMUNA", "MES", "CAUSA")
QUASI = NAMES[:4]
SEED = 20_240_131


def chance(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def register(rows: int, seed: int = SEED) -> View:
    """The original: every column as codes of its own labels."""
    rng = chance(seed)
    labels = (
        ("Hombre", "Mujer"),
        tuple(str(age) for age in range(100)),
        tuple(f"{code:05d}" for code in range(1101, 1101 + 346)),
        tuple(f"2024-{month:02d}" for month in range(1, 13)),
        tuple(f"C{code:03d}" for code in range(400)),
    )
    drawn = [np.minimum(rng.exponential(len(known) / 4, rows).astype(np.int64), len(known) - 1) for known in labels]
    return View(NAMES, labels, np.stack(drawn, axis=1))


def release(original: View) -> View:
    """What is published: decades, and a masked comuna in one row of fifty."""
    bands = tuple(f"{low} a {low + 9}" for low in range(0, 100, 10))
    codes = original.codes.copy()
    codes[:, 1] //= 10
    codes[::50, 2] = 346
    labels = list(original.labels)
    labels[1], labels[2] = bands, (*labels[2], "*")
    return View(NAMES, tuple(labels), codes)


def scene_of(original: View, published: View) -> AttackInput:
    columns = tuple(
        PublishedColumn(name, compatible(labels, values))
        for name, labels, values in zip(NAMES, published.labels, original.labels, strict=True)
    )
    persons = np.arange(original.rows)
    return AttackInput(columns, Records(published.codes, persons), Records(original.codes, persons))


def attacks(rows: int) -> dict[str, Callable[[], object]]:
    """Every attack, ready to be timed."""
    original, outside = register(rows), register(rows, SEED + 1)
    published = release(original)
    scene = scene_of(original, published)
    known = scene.select_columns(QUASI)
    listed = Records(np.concatenate([original.codes[: rows // 2, :4], outside.codes[: rows - rows // 2, :4]]))
    return {
        "singling_out": lambda: singling_out(known, chance(1)),
        "two_views": lambda: two_views(known, chance(2)),
        "inference": lambda: inference(scene, "CAUSA", chance(3)),
        "unmask": lambda: unmask(published),
        "traces": lambda: traces(published),
        "linkage": lambda: linkage(known.columns, Records(published.codes[:, :4]), listed, seed=4, remedy=False),
        "probable_linkage": lambda: probable_linkage(
            known.columns, Records(published.codes[:, :4]), listed, seed=5
        ),
        "over_time": lambda: over_time(original, outside, QUASI, seed=6, sensitive=("CAUSA",)),
    }  # fmt: skip


def attacked(folder: Path, name: str, rows: int) -> Work:
    """One attack, compiled on a few rows before."""
    attacks(5_000)[name]()
    attack = attacks(rows)[name]

    def work() -> None:
        attack()

    return work


def sorted_once(folder: Path, rows: int) -> Work:
    """The order of the register's rows."""
    columns = tuple(register(rows).codes.T.copy())

    def work() -> None:
        np.lexsort(columns)

    return work


def cases(scale: Scale) -> Iterator[Case]:
    """Every attack at each size."""
    for rows in scale.rows(SIZES, SMALL):
        attacking = [Job(name, attacked, {"name": name, "rows": rows}, clock="processor") for name in ATTACKS]
        sorting = Job("sort", sorted_once, {"rows": rows}, "sorting the rows once", clock="processor", best_of=3)
        yield Case(
            f"{rows:,} rows",
            jobs=(sorting, *attacking),
            figures=tuple(Figure(name, (name,), ("sort",), series=name, rows=rows) for name in ATTACKS),
        )


BENCH = Bench("intruder", "The attacks of the intruder", cases)
