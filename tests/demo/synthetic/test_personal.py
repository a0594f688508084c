"""The invented PERSONAL database: four tables that hang together, with everything that may not leave it."""

from __future__ import annotations

from celosia.demo.synthetic.personal import personal_database


def test_the_same_seed_gives_the_same_database_and_another_one_does_not() -> None:
    first, again, other = (personal_database(200, seed) for seed in (5, 5, 6))
    assert all(first[name].equals(again[name]) for name in first)
    assert not first["users"].equals(other["users"])


def test_every_row_belongs_to_a_user() -> None:
    database = personal_database(300, 5)
    users = set(database["users"]["user_id"].to_pylist())
    assert len(users) == 300
    assert all(set(database[name]["user_id"].to_pylist()) <= users for name in ("jobs", "studies", "events"))


def test_instants_are_of_the_year_and_in_utc() -> None:
    stamps = personal_database(300, 5, year=2023)["events"]["created_at"]
    assert str(stamps.type) == "timestamp[us, tz=UTC]"
    assert {stamp.year for stamp in stamps.to_pylist()} == {2023}
