"""pycanon, in an environment of its own, agrees where it follows the definitions, and differs where we say so.

Frames are plainly indexed: pycanon takes labels for positions.
"""

from __future__ import annotations

import csv
import importlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import REPOSITORY, under_ci
from tests.risk.rows import Row, measured

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def peer() -> Iterator[Any]:
    """The module that runs pycanon; where its environment is not there, a failure under CI, else a skip."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY))
        peers = importlib.import_module("bench.peers")
        try:
            peers.peer_python("pycanon")
        except peers.PeerUnavailable as missing:
            if under_ci():
                pytest.fail(str(missing))
            pytest.skip(str(missing))
        yield importlib.import_module("bench.pycanon_peer")


def frame(seed: int, rows: int, classes: int, values: int) -> tuple[list[Row], list[str]]:
    """A seeded frame of three quasi-identifiers and one sensitive number, some values rare."""
    rng = np.random.default_rng(seed)
    quasi = [tuple(f"{cell:02d}" for cell in row) for row in rng.integers(0, classes, (rows, 3))]
    weights = 1 / np.arange(1, values + 1)
    return quasi, [str(value) for value in rng.choice(values, rows, p=weights / weights.sum()) * 7]


def written(folder: Path, quasi: list[Row], values: list[str]) -> tuple[Path, list[str]]:
    names = [f"q{i}" for i in range(len(quasi[0]))]
    path = folder / "frame.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*names, "S"])
        writer.writerows((*row, value) for row, value in zip(quasi, values, strict=True))
    return path, names


FRAMES = [(1, 400, 2, 3), (2, 600, 3, 5), (3, 300, 1, 12), (4, 500, 4, 40), (5, 60, 9, 2)]


@pytest.mark.parametrize("numeric", [False, True], ids=["text", "numeric"])
@pytest.mark.parametrize("shape", FRAMES, ids=str)
def test_both_agree_on_k_l_t_alpha_and_basic_beta(
    peer: Any, tmp_path: Path, shape: tuple[int, int, int, int], numeric: bool
) -> None:
    quasi, values = frame(*shape)
    path, names = written(tmp_path, quasi, values)
    theirs = peer.peer_figures(path, names, "S", numeric=numeric)["figures"]
    report = measured(quasi, values)
    ours = report.sensitive["S"].figures
    assert (report.k, ours["l"]) == (theirs["k"], theirs["l"])
    assert ours["t_ordered" if numeric else "t_equal"] == pytest.approx(theirs["t"])
    assert ours["alpha"] == pytest.approx(theirs["alpha"])
    assert ours["beta_basic"] == pytest.approx(theirs["beta_basic"])
    assert report.sensitive["S"].delta_present == pytest.approx(theirs["delta"])


@pytest.mark.shared
def test_both_agree_on_the_adult_file(peer: Any, shared: Path, tmp_path: Path) -> None:
    chosen = ["sex", "race", "marital-status", "education"]
    with (shared / "reference/arx/adult/adult.csv").open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(lines, delimiter=";"))
    quasi = [tuple(row[name] for name in chosen) for row in table]
    values = [row["occupation"] for row in table]
    path, names = written(tmp_path, quasi, values)
    theirs = peer.peer_figures(path, names, "S")["figures"]
    report = measured(quasi, values)
    ours = report.sensitive["S"].figures
    assert report.rows == 30_162
    assert (report.k, ours["l"]) == (theirs["k"], theirs["l"])
    assert (ours["t_equal"], ours["alpha"]) == pytest.approx((theirs["t"], theirs["alpha"]))


def test_entropy_l_is_not_truncated_here_and_is_there(peer: Any, tmp_path: Path) -> None:
    quasi, values = [("a",)] * 4, ["1", "1", "2", "3"]
    path, names = written(tmp_path, quasi, values)
    theirs = peer.peer_figures(path, names, "S")["figures"]
    assert measured(quasi, values).figure("entropy_l", "S") == pytest.approx(2 * math.sqrt(2))
    assert theirs["entropy_l"] == 2


def test_recursive_c_starts_from_the_most_frequent_value_here_and_the_rarest_there(peer: Any, tmp_path: Path) -> None:
    quasi, values = [("a",)] * 10, ["1"] * 9 + ["2"]
    path, names = written(tmp_path, quasi, values)
    theirs = peer.peer_figures(path, names, "S")["figures"]
    assert measured(quasi, values).figure("recursive_c", "S") == 9.0
    assert theirs["recursive_c"] == 1  # floor(1/9 + 1)


def test_enhanced_beta_is_null_here_where_pycanon_gives_a_number(peer: Any, tmp_path: Path) -> None:
    quasi, values = [("a",), ("a",), ("b",), ("b",)], ["1", "1", "2", "2"]
    path, names = written(tmp_path, quasi, values)
    theirs = peer.peer_figures(path, names, "S")["figures"]
    assert measured(quasi, values).figure("beta_enhanced", "S") is None
    assert theirs["beta_enhanced"] == pytest.approx(math.log(2))


def test_a_shuffled_frame_changes_pycanon_and_not_us(peer: Any, tmp_path: Path) -> None:
    quasi = [("a",)] * 5 + [("b",)] * 5
    values = ["1"] * 5 + ["1", "2", "3", "4", "5"]
    path, names = written(tmp_path, quasi, values)
    plain = peer.peer_figures(path, names, "S")["figures"]
    shuffled = peer.peer_figures(path, names, "S", shuffle=1)["figures"]
    assert plain["l"] == measured(quasi, values).figure("l", "S") == 1
    assert shuffled["l"] != 1
