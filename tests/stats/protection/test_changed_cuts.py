"""Rules that changed between releases: what two cuts of one column disclose together is refused, with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from celosia.stats.errors import CutsChanged, MapRegrouped
from celosia.stats.run import run_stats
from tests.stats.small_stats import HEAD, LATER, NOW, PERSONS, everything, people, project, shown, table

AGES = {("22",): 20, ("25",): 1, ("30",): 30, ("50",): 25}
MAPS = HEAD + '[maps.regions]\nfile = "regions.csv"\n'


def bands(borders: list[int], name: str = "age") -> str:
    lines = f'name = "{name}"\ncolumn = "age"\nrule = "age"\nat = "2024-12-31"\nbands = {borders}\n'
    return f"[[tables.dimensions]]\n{lines}"


def ages(folder: Path, *tables: str) -> Path:
    return project(folder, people(AGES, ["age"]), *tables)


def places(folder: Path, regions: dict[str, str]) -> Path:
    lines = 'name = "region"\ncolumn = "city"\nrule = "map"\nmap = "regions"\n'
    home = project(
        folder, people({("a",): 20, ("b",): 1, ("c",): 30}, ["city"]),
        table("t", f"[[tables.dimensions]]\n{lines}", PERSONS), head=MAPS,
    )  # fmt: skip
    (home / "regions.csv").write_text("value,category\n" + "".join(f"{c},{r}\n" for c, r in regions.items()), "utf-8")
    return home


@pytest.mark.requirement("Y22")
def test_bands_moved_by_a_year_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    home = ages(tmp_path, table("t", bands([25, 40]), PERSONS))
    run_stats(home, now=NOW)
    before, old = everything(home), shown(home, "t__internal", "age")
    ages(tmp_path, table("t", bands([26, 40]), PERSONS))
    with pytest.raises(CutsChanged) as stopped:
        run_stats(home, now=LATER)
    assert stopped.value.values == {"column": "age", "tables": "t"}
    assert everything(home) == before
    assert 21 - old["<25"] == 1  # «<26» would have shown 21


@pytest.mark.requirement("Y22")
def test_a_table_of_another_name_does_not_change_cuts_unseen(tmp_path: Path) -> None:
    home = ages(tmp_path, table("t", bands([25, 40]), PERSONS))
    run_stats(home, now=NOW)
    ages(tmp_path, table("other", bands([26, 40]), PERSONS, linked="false"))
    with pytest.raises(CutsChanged):
        run_stats(home, now=LATER)


@pytest.mark.requirement("Y22")
def test_narrower_bands_beside_the_former_ones_are_protected_together(tmp_path: Path) -> None:
    home = ages(tmp_path, table("t", bands([25, 40]), PERSONS))
    run_stats(home, now=NOW)
    ages(tmp_path, table("t", bands([25, 40]), PERSONS), table("n", bands([25, 30, 40], "narrow"), PERSONS))
    run_stats(home, now=LATER)
    narrow = shown(home, "n__internal", "narrow") if "n__internal" in everything(home) else {}
    assert narrow.get("25-29") is None
    assert narrow.get("30-39") is None


@pytest.mark.requirement("Y22")
def test_a_map_that_moves_a_city_is_refused_and_one_that_grows_is_not(tmp_path: Path) -> None:
    home = places(tmp_path, {"a": "N", "b": "N", "c": "S"})
    run_stats(home, now=NOW)
    places(tmp_path, {"a": "N", "b": "N", "c": "S", "d": "S"})
    run_stats(home, now=LATER)
    places(tmp_path, {"a": "N", "b": "S", "c": "S", "d": "S"})
    with pytest.raises(MapRegrouped) as stopped:
        run_stats(home, now=LATER)
    assert stopped.value.values == {"map": "regions", "values": 1}
