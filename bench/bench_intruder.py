"""Each attack of the intruder on 100,000, 300,000 and 1,000,000 rows, and how its cost grows.

A register of made-up people with a sex, an age, a comuna, a month and a cause; the release shows ages by decade and
masks one cell in fifty of the comuna. The outside list is as long as the release. The exponent is the slope of the
logarithm of the seconds over that of the rows: 1 is linear. Seconds are of the processor: others may use it too.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable

import numpy as np

from celosia.attacks import Column, Records, Scene, View, compatible
from celosia.attacks.inference import inference
from celosia.attacks.linkability import two_views
from celosia.attacks.linkage import linkage, probable_linkage
from celosia.attacks.over_time import over_time
from celosia.attacks.singling_out import singling_out
from celosia.attacks.traces import traces
from celosia.attacks.unmasking import unmask

SIZES = (100_000, 300_000, 1_000_000)
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


def scene_of(original: View, published: View) -> Scene:
    columns = tuple(
        Column(name, compatible(labels, values))
        for name, labels, values in zip(NAMES, published.labels, original.labels, strict=True)
    )
    persons = np.arange(original.rows)
    return Scene(columns, Records(published.codes, persons), Records(original.codes, persons))


def attacks(rows: int) -> dict[str, Callable[[], object]]:
    """Every attack, ready to be timed."""
    original, outside = register(rows), register(rows, SEED + 1)
    published = release(original)
    scene = scene_of(original, published)
    known = scene.pick(QUASI)
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


def main() -> None:
    """Seconds of each attack by size, and the exponent from the smallest to the largest."""
    for attack in attacks(5_000).values():
        attack()  # compile
    seconds: dict[str, list[float]] = {}
    for rows in SIZES:
        for name, attack in attacks(rows).items():
            start = time.process_time()
            attack()
            seconds.setdefault(name, []).append(time.process_time() - start)
            print(f"{name:18s} {rows:>9,d} rows {seconds[name][-1]:8.2f} s", flush=True)
    print(f"{'attack':18s} {'exponent':>8s}")
    for name, taken in seconds.items():
        exponent = math.log(taken[-1] / taken[0]) / math.log(SIZES[-1] / SIZES[0])
        print(f"{name:18s} {exponent:8.2f}")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
