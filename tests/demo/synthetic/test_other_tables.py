"""The invented survey, grant requests and events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from celosia.demo.synthetic.discharges import discharges
from celosia.demo.synthetic.events import events
from celosia.demo.synthetic.files import write_raw_csv
from celosia.demo.synthetic.surveys import education_requests, survey
from celosia.hierarchy.official import lookup

GENERATORS = (discharges, survey, education_requests, events)


@pytest.mark.parametrize("make", GENERATORS, ids=lambda make: make.__name__)
class TestEveryGenerator:
    def test_same_seed_same_table(self, make: Callable[[int, int], pa.Table]) -> None:
        assert make(300, 5).equals(make(300, 5))
        assert not make(300, 5).equals(make(300, 6))

    def test_first_rows_do_not_depend_on_the_total(self, make: Callable[[int, int], pa.Table]) -> None:
        assert make(40_000, 5).slice(0, 300).combine_chunks().equals(make(300, 5).combine_chunks())

    def test_cells_are_text_and_never_null(self, make: Callable[[int, int], pa.Table]) -> None:
        table = make(2_000, 5)
        assert {str(field.type) for field in table.schema} == {"string"}
        assert sum(column.null_count for column in table.columns) == 0

    def test_no_rows_is_an_empty_table_with_all_columns(self, make: Callable[[int, int], pa.Table]) -> None:
        assert make(0, 5).num_rows == 0
        assert make(0, 5).schema == make(1, 5).schema

    def test_it_can_be_written(self, make: Callable[[int, int], pa.Table], tmp_path: Path) -> None:
        path = write_raw_csv(
            tmp_path / "t.csv", make(50, 5).to_batches(), delimiter=",", encoding="utf-8", newline="\n"
        )
        assert path.read_bytes().count(b"\n") == 51


def test_survey_has_municipalities_on_both_sides_of_fifty_units() -> None:
    table = survey(2_000, 1)
    units = Counter(table["MUNICIPIO"].to_pylist())
    assert min(units.values()) <= 50 < max(units.values())
    assert set(units) <= set(lookup("co-divipola").codes())


def test_survey_households_number_their_members_and_stay_in_one_vereda() -> None:
    members: dict[str, list[tuple[str, str]]] = {}
    for row in survey(2_000, 1).to_pylist():
        members.setdefault(row["HOGAR_ID"], []).append((row["ORDEN"], row["MUNICIPIO"] + row["VEREDA"]))
    for household in members.values():
        assert [order for order, _ in household] == [str(n + 1) for n in range(len(household))]
        assert len({place for _, place in household}) == 1
    assert max(map(len, members.values())) > 3


def test_survey_documents_are_unique() -> None:
    assert len(set(survey(40_000, 1)["DOCUMENTO"].to_pylist())) == 40_000


def test_requests_hold_rare_and_special_categories() -> None:
    table = education_requests(20_000, 1)
    assert {"Rrom", "Indígena", "Ninguno"} <= set(table["Grupo étnico"].to_pylist())
    assert min(Counter(table["Departamento"].to_pylist()).values()) < 60
    assert all(16 < int(age) < 80 for age in table["Edad"].to_pylist())


def test_a_user_keeps_birth_date_gender_and_place_over_several_events() -> None:
    traits: dict[str, set[tuple[str, ...]]] = {}
    fixed = ("birth_date", "gender", "city", "lat", "lng", "institution")
    rows = events(20_000, 1).to_pylist()
    for row in rows:
        traits.setdefault(row["user_id"], set()).add(tuple(row[name] for name in fixed))
    assert all(len(found) == 1 for found in traits.values())
    assert len(rows) > 2 * len(traits)


def test_only_paid_events_have_an_amount() -> None:
    paid = {row["event_type"] for row in events(5_000, 1).to_pylist() if row["amount"]}
    assert paid == {"payment", "course_enrolment"}
