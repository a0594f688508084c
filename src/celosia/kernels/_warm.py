"""Compile everything once, at set-up, with a message; not in front of a surprised user.

Each kernel is called on two tiny tables with the types a search uses. A mark in the cache folder, named after the
digest of the kernels' own text, says that this was done.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from celosia.kernels._cache import cache_folder

Progress = Callable[[int, int], None]
_done = False


def is_warm() -> bool:
    """Whether the kernels are compiled: in this process, or kept from an earlier one."""
    folder = cache_folder()
    return _done or (folder is not None and (folder / _mark()).exists())


def warm_up(progress: Progress | None = None) -> None:
    """Compile every kernel that a search needs; `progress(done, total)` is told after each."""
    global _done
    calls = list(_calls())
    for number, (kernel, arguments) in enumerate(calls, start=1):
        kernel(*arguments)
        if progress is not None:
            progress(number, len(calls))
    _done = True
    folder = cache_folder()
    if folder is not None:
        (folder / _mark()).touch(mode=0o600)


def _mark() -> str:
    digest = hashlib.sha256(f"{platform.python_version()} {platform.machine()} {platform.node()}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return f"warm-{digest.hexdigest()[:16]}"


def _calls() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    yield from _roll_up_calls()
    yield from _judge_calls()
    yield from _lattice_calls()
    yield from _peel_calls()
    yield from _numbering_calls()


def _words(*values: int) -> Any:
    return np.array(values, np.uint64)


def _longs(*values: int) -> Any:
    return np.array(values, np.int64)


def _roll_up_calls() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    from celosia.kernels import rollup

    keys, rows, label = _words(0, 1), _longs(1, 1), np.zeros(2, np.int32)
    lookup = (_longs(0), _words(0), _words(1))
    codes, leading = np.zeros((2, 1), np.int32), np.zeros((1, 1, 2), np.int64)
    lists = (_longs(0, 1, 2), np.zeros(2, np.int32), rows)
    address = np.zeros(2, np.int32)
    encoding = (leading, leading, _longs(2), _words(0), _words(1))
    output = (_words(0, 0), _longs(0, 0), np.zeros(64, np.int32), 1)
    yield rollup.fill_lookup, (_words(0, 0), address, 0, _longs(0), _longs(0), encoding)
    yield rollup.roll_direct, (keys, rows, address, *lookup, _longs(1), True, *output)
    yield rollup.roll_hash, (keys, rows, _words(0, 0), address, *lookup, 1, True, *output)
    yield rollup.roll_wide, (keys, rows, codes, leading, _longs(0), 5, *output)
    yield rollup.count_codes, (codes, rows, _longs(0, 1))
    yield rollup.pack_keys, (codes, _longs(0), _longs(0, 1), _words(0))
    yield rollup.smallest_source, (_longs(0)[None, :], _longs(1), 1, _longs(0))
    yield rollup.roll_values, (label, 1, *lists, 1, np.empty(0, np.int32))
    yield rollup.roll_sets, (label, 1, keys)
    yield rollup.roll_extremes, (label, 1, np.zeros(2, np.int32), np.zeros(2, np.int32))
    yield rollup.roll_persons, (label, 1, rows, _longs(0, 1), _longs(0, 0))


def _judge_calls() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    from celosia.kernels import judge

    alive, both = np.ones(1, bool), np.ones(2, bool)
    entries = (_longs(0, 2), np.array([0, 1], np.int32), _longs(3, 1), alive)
    yield judge.judge_distinct, (*entries, both, 3)
    yield judge.judge_entropy, (*entries, both, 1.9)
    yield judge.judge_recursive, (*entries, both, 2, 1, 1)
    yield judge.judge_partitions, (*entries, _longs(0, 1)[None, :], _longs(2, 2)[None, :], 4, 1, 10)
    yield judge.judge_equal, (*entries, _longs(2, 2), 4, 1, 10)
    yield judge.judge_ordered, (*entries, _longs(0, 1), _longs(2, 2), 4, 1, 10)
    yield judge.judge_shares, (*entries, _longs(1, 1), 2)
    yield judge.judge_share_range, (*entries, np.zeros(2), np.full(2, 0.5))


def _lattice_calls() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    from celosia.kernels import lattice

    table = (_words(0, 1), _longs(1, 1), np.zeros(2, bool))
    node = (_longs(0), _words(0), _words(1), np.zeros((0, 1), np.int32), False)
    weight, bound = np.zeros((1, 1, 2), np.int64), np.zeros(1)
    yield lattice.suppressed_sums, (*table, weight, node)
    yield lattice.suppressed_counts, (*table, weight, node)
    yield lattice.class_totals, (_longs(1, 1), np.ones(2, bool), _longs(0, 0), 1)
    yield lattice.raise_box, (bound, _longs(0), _longs(0), _longs(1), np.zeros((1, 1)))
    yield lattice.totals_by_size, (_longs(1, 1), _longs(1, 1), 2, 2)
    shape = (2, _longs(2), np.ones(1), True)
    yield lattice.loss_terms, (_longs(2)[None, :], np.zeros((1, 1)), *shape)
    yield lattice.loss_score, (_longs(0), _longs(2)[None, :], _longs(0), 0, *shape)
    yield lattice.climb, (bound, np.zeros(1, bool), _longs(0), _longs(0), _longs(1), 1.0, 1)
    yield lattice.cheapest_rows, (np.zeros((1, 1, 2)), np.zeros((1, 1, 2)), np.ones((1, 1), np.int64), 1)


def _peel_calls() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    from celosia.kernels import peel

    scratch = (np.zeros(8, np.int64), np.zeros((2, 1), np.int64), _longs(0, 0))
    tuples = (np.zeros((1, 2), np.int64), _longs(0), _longs(0), _longs(1, 1))
    yield peel.label_node, (*tuples, scratch, _longs(0, 0), _longs(0, 0))


def _numbering_calls() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    from celosia.kernels import numbering

    ends, data = np.frombuffer(_longs(0, 1, 2).tobytes(), np.int64), np.frombuffer(b"aa", np.uint8)  # lent, as Arrow's
    yield numbering.hash_texts, (ends, data)
    yield numbering.number_texts, (ends, data, _words(0, 0))
    yield numbering.number_keys, (_longs(0, 0),)
