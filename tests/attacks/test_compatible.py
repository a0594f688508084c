"""What a published label may stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.attacks.compatible import compatible
from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.registry import build
from celosia.hierarchy.rows import from_rows

AGES = [str(age) for age in range(121)]
DAYS = ["2019-12-31", "2020-01-01", "2024-01-15", "2024-02-29", "2024-03-31", "2024-06-30", "2024-07-01", "2024-12-30"]
COMUNAS = ["05301", "05302", "05401", "13101", "13302"]


def behind(label: str, values: Sequence[str], *others: str, **settings: Any) -> list[str]:
    """The values that a label may stand for, beside other labels of its column."""
    row = compatible([label, *others], values, **settings).toarray()[0]
    return [value for value, there in zip(values, row, strict=True) if there]


@pytest.mark.parametrize(
    ("label", "low", "high"),
    [
        ("30 a 39", 30, 39),
        ("[30, 40)", 30, 39),
        ("(30, 40]", 31, 40),
        ("30-39", 30, 39),
        ("30–39 años", 30, 39),
        ("de 30 a 39 años", 30, 39),
        ("entre 30 y 39", 30, 39),
        ("Edad 30 hasta 39", 30, 39),
        ("90+", 90, 120),
        ("100 +", 100, 120),
        ("80 años y más", 80, 120),
        ("65 o más", 65, 120),
        ("65 and over", 65, 120),
        ("≥ 65", 65, 120),
        (">= 65", 65, 120),
        ("> 65", 66, 120),
        ("más de 64", 65, 120),
        ("<18", 0, 17),
        ("< 1", 0, 0),
        ("≤ 5", 0, 5),
        ("menos de 5", 0, 4),
        ("menor de 1 año", 0, 0),
        ("up to 5", 0, 5),
        ("5 y menos", 0, 5),
        ("37", 37, 37),
        ("37 años", 37, 37),
        ("*", 0, 120),
        ("***", 0, 120),
    ],
)
def test_a_label_of_ages_stands_for_the_ages_it_names(label: str, low: int, high: int) -> None:
    assert behind(label, AGES) == [str(age) for age in range(low, high + 1)]


@pytest.mark.parametrize(
    ("label", "places"),
    [
        ("2024-01", [2]),
        ("2024-Q1", [2, 3, 4]),
        ("2024-T1", [2, 3, 4]),
        ("2024-S1", [2, 3, 4, 5]),
        ("2024-S2", [6, 7]),
        ("2024-W03", [2]),
        ("2024", [2, 3, 4, 5, 6, 7]),
        ("2020-2024", [1, 2, 3, 4, 5, 6, 7]),
        ("2020-W01", [0, 1]),
        ("2025-W01", [7]),
        ("15/01/2024", [2]),
        ("20240115", [2]),
        ("2024-**-**", [2, 3, 4, 5, 6, 7]),
        ("2024-13", []),
    ],
)
def test_a_period_stands_for_its_days(label: str, places: list[int]) -> None:
    assert behind(label, DAYS) == [DAYS[place] for place in places]


def test_days_written_otherwise_are_found_too() -> None:
    assert behind("2024-Q1", ["31/03/2024", "01/04/2024", "03/31/2024"]) == ["31/03/2024", "03/31/2024"]
    assert behind("2024-Q1", ["20240331", "20240401"]) == ["20240331"]
    assert behind("2024-03-31", ["2024", "2023"]) == ["2024"]


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("053**", ["05301", "05302"]),
        ("05***", ["05301", "05302", "05401"]),
        ("***01", ["05301", "05401", "13101"]),
        ("1****", ["13101", "13302"]),
        ("05302", ["05302"]),
        ("{05301, 13101}", ["05301", "13101"]),
        ("{05301, 13101} (2)", ["05301", "13101"]),
        ("13*", ["13101", "13302"]),
        ("99***", []),
    ],
)
def test_masks_and_sets_stand_for_their_codes(label: str, found: list[str]) -> None:
    assert behind(label, COMUNAS) == found


def test_a_code_that_lost_its_zero_is_found_under_a_mask_and_whole() -> None:
    assert behind("053**", ["5302", "5401", "13101"]) == ["5302"]
    assert behind("05302", ["5302", "5401"]) == ["5302"]


def test_two_spellings_of_a_number_are_two_codes_in_a_file_that_holds_both() -> None:
    assert behind("7", ["007", "7"], "007") == ["7"]


def test_ranges_of_diagnoses_stand_for_their_categories() -> None:
    assert behind("C00-D48", ["C20X", "D489", "D50", "B99", ""]) == ["C20X", "D489"]


def test_the_rest_is_what_no_other_label_names() -> None:
    assert behind("Otros", ["chilena", "peruana", "haitiana", "", "*"], "chilena") == ["peruana", "haitiana", "*"]


def test_missing_masked_and_unknown_are_different_things() -> None:
    values = ["", "37", "99999"]
    assert behind("", values) == [""]
    assert behind("*", values) == values
    assert behind("30 a 39", values) == ["37"]
    assert behind("", values, blanks=("",)) == values
    assert behind("30 a 39", values, blanks=("", "99999")) == values


def test_neighbouring_bands_that_share_a_border_do_not_share_a_number() -> None:
    values = ["100", "499.5", "500", "1000"]
    assert behind("100-500", values, "500-1000") == ["100", "499.5"]
    assert behind("500-1000", values, "100-500") == ["500", "1000"]
    assert behind("500-1000", values, "100-500", "1000+") == ["500"]


def test_a_tolerance_widens_numbers_at_both_ends() -> None:
    assert behind("30 a 39", ["28", "29", "35", "40", "41"], tolerance=1) == ["29", "35", "40"]
    assert behind("37", ["36", "37", "38", "39"], tolerance=1) == ["36", "37", "38"]


def test_two_generalised_columns_are_compared_by_what_they_share() -> None:
    assert behind("30 a 39", ["35 a 44", "40 a 49", "25-30", "60+", "<31", "*"]) == ["35 a 44", "25-30", "<31", "*"]
    assert behind("053**", ["05***", "054**", "**302", "05302"]) == ["05***", "**302", "05302"]
    assert behind("{a, b}", ["{b, c}", "{c, d}", "a"]) == ["{b, c}", "a"]
    assert behind("2024-Q1", ["2024-02", "2024-05", "2020-2024"]) == ["2024-02", "2020-2024"]


BUILT: dict[str, tuple[Mapping[str, Any], Sequence[str]]] = {
    "ages by ten": ({"builder": "intervals", "width": 10, "end": 118}, AGES[:119]),
    "ages with open ends": (
        {
            "builder": "intervals",
            "cuts": [18, 25, 35, 45],
            "open_low": True,
            "open_high": True,
            "label": "{low}-{high}",
        },
        AGES,
    ),
    "amounts": (
        {"builder": "intervals", "cuts": ["0", "100", "500", "1000.5"], "whole": False, "open_high": True},
        ["0", "99.99", "100", "250.5", "500", "1000.4", "1000.5", "7000"],
    ),
    "amounts with a decimal comma": (
        {"builder": "intervals", "width": "2.5", "end": "10", "whole": False, "decimal": ","},
        ["0", "2,4", "2,5", "7,49", "7,5", "10"],
    ),
    "brackets": ({"builder": "intervals", "width": 5, "end": 99, "label": "[{low}, {high}]"}, AGES[:100]),
    "masks": ({"builder": "mask"}, COMUNAS),
    "masks of short codes": ({"builder": "mask", "width": 5}, ["5301", "5302", "13101"]),
    "masks from the left": ({"builder": "mask", "side": "left"}, COMUNAS),
    "dates": ({"builder": "dates", "levels": ["month", "quarter", "semester", "year", "span"]}, DAYS),
    "dates of the region": (
        {"builder": "dates", "format": "dd/mm/yyyy", "quarter_mark": "T"},
        ["15/01/2024", "31/03/2024", "1/4/2024", "31/12/2023"],
    ),
    "an order": ({"builder": "order", "label": "set"}, ["Básica", "Media", "Superior", "Técnica", "Ninguna"]),
    "stars": ({"builder": "suppress"}, COMUNAS),
}


@pytest.mark.parametrize("name", BUILT)
@pytest.mark.parametrize("known", [False, True], ids=["by text", "by hierarchy"])
def test_every_label_that_a_builder_writes_means_the_values_it_was_made_of(name: str, known: bool) -> None:
    spec, values = BUILT[name]
    hierarchy = build(spec, values)
    place = {leaf: at for at, leaf in enumerate(hierarchy.leaves)}
    leaves = [place[value] for value in values]
    for labels, codes in zip(hierarchy.labels, hierarchy.maps, strict=True):
        wanted = codes[leaves][None, :] == np.arange(len(labels))[:, None]
        found = compatible(labels, values, hierarchy if known else None).toarray()
        assert np.array_equal(found, wanted), labels


def test_a_hierarchy_says_what_text_cannot() -> None:
    rows = [("Arica", "Norte"), ("Iquique", "Norte"), ("Temuco", "Sur")]
    hierarchy = from_rows("comuna", rows)
    assert behind("Norte", ["Temuco", "Iquique", "Arica"], hierarchy=hierarchy) == ["Iquique", "Arica"]
    assert behind("Norte", ["Sur", "Arica"], hierarchy=compile_for(hierarchy, ["Arica", "Temuco"])) == ["Arica"]
    assert behind("Norte", ["Temuco", "Iquique"]) == []


def test_values_that_the_hierarchy_lacks_are_read_by_their_text() -> None:
    hierarchy = build({"builder": "intervals", "width": 10, "end": 99}, ["31", "35"])
    assert behind("30 a 39", ["31", "33", "41"], hierarchy=hierarchy) == ["31", "33"]
    assert behind("40 a 49", ["31", "33", "41"], hierarchy=hierarchy) == ["41"]


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 20)), min_size=1, max_size=8, unique=True), st.data())
def test_bands_hold_the_numbers_between_their_ends(bands: list[tuple[int, int]], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(-60, 80), min_size=1, max_size=20, unique=True))
    spans = sorted({(low, low + width) for low, width in bands if width})
    begins = {low for low, _ in spans}
    found = compatible([f"{low} a {high}" for low, high in spans], [str(number) for number in numbers]).toarray()
    wanted = [[low <= n <= high and not (n == high and high in begins) for n in numbers] for low, high in spans]
    assert np.array_equal(found, np.asarray(wanted, bool).reshape(found.shape))


@given(
    st.lists(st.text("ab*1", max_size=3), max_size=8, unique=True), st.lists(st.text("ab*1", max_size=3), max_size=8)
)
def test_being_compatible_is_mutual(labels: list[str], others: list[str]) -> None:
    values = list(dict.fromkeys(others))
    assert np.array_equal(compatible(labels, values).toarray(), compatible(values, labels).toarray().T)


def test_empty_vocabularies_are_compatible_with_nothing() -> None:
    assert compatible([], ["1"]).shape == (0, 1)
    assert compatible(["1"], []).shape == (1, 0)
