"""Real deaths by comuna and sex, and by region and ICD chapter: what leaks before, and that nothing does after."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from celosia.cli import main
from tests.tables.checker import Key, known_to_insiders, recovered, single_valued

INVALID = ("99999", "00000")


@pytest.fixture(scope="module")
def deaths(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The deaths with a valid comuna, kept outside the repository."""
    path = tmp_path_factory.mktemp("deis") / "deaths.csv"
    with (shared / "data/cl_deis_deaths_2024_release2.csv").open(encoding="utf-8-sig", newline="") as source:
        rows = [row for row in csv.DictReader(source) if row["Codcom"] not in INVALID]
    with path.open("w", encoding="utf-8", newline="") as target:
        writer = csv.DictWriter(target, ["Codcom", "Sexo", "Región", "ID_Nivel 1"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    assert len(rows) == 23_383
    return path


def counted(path: Path, rows: str, columns: str) -> dict[Key, int]:
    """Every cell and margin, by plain counting."""
    found: Counter[Key] = Counter()
    with path.open(encoding="utf-8", newline="") as source:
        for row in csv.DictReader(source):
            found.update((one, two) for one in (row[rows], None) for two in (row[columns], None))
    one, two = ({key[at] for key in found} for at in (0, 1))
    return {(row, column): found[row, column] for row in one for column in two}


def hiding(cells: dict[Key, int], hidden: set[Key]) -> dict[Key, int | None]:
    return {key: None if key in hidden else value for key, value in cells.items()}


@pytest.mark.requirement("Y21", "A26")
@pytest.mark.parametrize(
    ("columns", "k", "small", "leaking"),
    [
        (("Codcom", "Sexo"), 5, 80, 44),
        (("Codcom", "Sexo"), 10, 209, 57),
        (("Región", "ID_Nivel 1"), 5, 51, 9),
        (("Región", "ID_Nivel 1"), 10, 84, 5),
    ],
)
def test_hiding_the_small_cells_alone_leaks(
    deaths: Path, columns: tuple[str, str], k: int, small: int, leaking: int
) -> None:
    cells = counted(deaths, *columns)
    hidden = {key for key, value in cells.items() if 0 < value < k and None not in key}
    assert len(hidden) == small
    assert len(recovered(hiding(cells, hidden)) & hidden) == leaking


@pytest.mark.requirement("Y21", "A26")
@pytest.mark.parametrize("k", [5, 10])
@pytest.mark.parametrize("columns", [("Codcom", "Sexo"), ("Región", "ID_Nivel 1")])
def test_the_protected_table_gives_nothing_back(
    deaths: Path, columns: tuple[str, str], k: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["table", str(deaths), "--rows", columns[0], "--columns", columns[1], "--margins", "--k", str(k), "--json"]
    assert main(words) == 0
    report = json.loads(capsys.readouterr().out)
    truth = counted(deaths, *columns)
    shown: dict[Key, int | None] = {(cell["row"], cell["column"]): cell["value"] for cell in report["cells"]}
    status = {(cell["row"], cell["column"]): cell["status"] for cell in report["cells"]}
    assert shown.keys() == truth.keys()
    assert all(value is None or value == truth[key] for key, value in shown.items())
    primary = {key for key, word in status.items() if word == "primary"}
    assert primary == {key for key, value in truth.items() if 0 < value < k}
    assert {key for key, value in shown.items() if value is None} == {k for k, w in status.items() if w != "published"}
    assert not recovered(shown) & primary
    assert not single_valued(shown, primary, k)
    assert not known_to_insiders(shown, truth, primary)
    lost = sum(word == "secondary" for word in status.values())
    assert lost < len(primary)  # fewer are lost for company than for themselves
    print(f"{columns} k={k}: primary {len(primary)}, recoverable {report['recoverable_without']}, more lost {lost}")
