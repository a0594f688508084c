"""Renumbering of group identifiers: 1 … n, one number per group, drawn by chance alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from scipy.stats import spearmanr

from celosia.techniques import Draws, apply_to_frame
from tests.techniques.small_tables import table_of, tables


def renumbered(table, seed=b"s", **settings):
    return apply_to_frame(table, {"technique": "renumber", **settings}, seed)


@given(tables(("h",)))
def test_one_number_per_group_from_one_to_n_and_what_names_nobody_stays(table):
    done = renumbered(table, columns=["h"], unknown=["99999"])
    pairs = set(zip(table.column("h").to_pylist(), done.table.column("h").to_pylist(), strict=True))
    stays = {"", "*", "**", "99999"}
    assert all(old == new for old, new in pairs if old in stays)
    groups = {(old, new) for old, new in pairs if old not in stays}
    assert len({old for old, _ in groups}) == len(groups)
    assert {new for _, new in groups} == {str(i) for i in range(1, len(groups) + 1)}
    assert done.change.notes == {"identifiers": len(groups)}
    assert not done.outcome.codebook


@pytest.mark.requirement("M36")
def test_the_numbers_are_a_permutation_from_the_draws_alone():
    ids = [f"H{i:04}" for i in range(2_000)]
    done = renumbered(table_of(h=ids), columns=["h"])
    numbers = [int(text) for text in done.table.column("h").to_pylist()]
    assert numbers == (Draws(b"s", "1").split("h").permutation(2_000) + 1).tolist()
    assert abs(spearmanr(range(2_000), numbers).statistic) < 0.09  # four standard deviations of chance
    others = renumbered(table_of(h=[f"Z{i * 7:06}" for i in range(2_000)]), columns=["h"])
    assert others.table.column("h").equals(done.table.column("h"))  # other identifiers, same draws, same numbers


def test_columns_treated_together_share_their_numbers_and_apart_they_do_not():
    table = table_of(a=[str(i) for i in range(40)], b=[str(39 - i) for i in range(40)])
    together = renumbered(table, columns=["a", "b"], together=True).table
    number = dict(zip(table.column("a").to_pylist(), together.column("a").to_pylist(), strict=True))
    assert [number[old] for old in table.column("b").to_pylist()] == together.column("b").to_pylist()
    apart = renumbered(table, columns=["a", "b"]).table
    number = dict(zip(table.column("a").to_pylist(), apart.column("a").to_pylist(), strict=True))
    assert [number[old] for old in table.column("b").to_pylist()] != apart.column("b").to_pylist()


def test_no_group_gets_the_number_that_means_unknown():
    table = table_of(h=[*(f"x{i}" for i in range(12)), "9"])
    done = renumbered(table, columns=["h"], unknown=["9"]).table.column("h").to_pylist()
    assert done[-1] == "9"
    assert sorted(map(int, done[:-1])) == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13]
