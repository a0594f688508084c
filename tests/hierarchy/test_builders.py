"""Each builder on small tables, and the special values through all of them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from celosia.errors import CelosiaError
from celosia.hierarchy.errors import UnknownBuilder, ValuesOutsideBuilder, ValuesOutsideList
from celosia.hierarchy.groups import natural_order
from celosia.hierarchy.model import Hierarchy
from celosia.hierarchy.registry import BUILDERS, build
from celosia.hierarchy.rows import split_groups, to_rows
from celosia.model.value_errors import UnknownParameter, WrongParameter


def rows_of(spec: dict[str, Any], values: list[str], **more: Any) -> dict[str, tuple[str, ...]]:
    hierarchy = build(spec, values, variable="v", **more)
    return {row[0]: row[1:] for row in to_rows(hierarchy)}


def column(shared: Path, name: str) -> Counter[str]:
    path = shared / "data" / "cl_deis_deaths_2024_release2.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(row[name] for row in csv.DictReader(file))


# --- mask -------------------------------------------------------------------------------------------

CUT = {"builder": "mask", "width": 5, "steps": [2, 3, 5], "unknown": ["99999", "88888"]}


@pytest.mark.requirement("M17")
def test_a_cut_code_is_masked_to_province_region_and_nothing():
    assert rows_of(CUT, ["05302"]) == {"05302": ("053**", "05***", "*****")}


@pytest.mark.requirement("M17")
def test_a_code_that_lost_its_zero_is_padded_only_where_a_width_is_declared():
    assert rows_of(CUT, ["5302"]) == {"5302": ("053**", "05***", "*****")}
    assert rows_of({"builder": "mask", "steps": [2, 4]}, ["5302"]) == {"5302": ("53**", "****")}


@pytest.mark.requirement("M17")
def test_unknown_codes_are_not_comunas():
    rows = rows_of(CUT, ["05302", "99999", "88888"])
    assert rows["99999"] == ("99999", "99999", "*****")
    assert rows["88888"] == ("88888", "88888", "*****")


def test_a_mask_hides_one_more_character_at_each_level_by_default_from_either_end():
    assert rows_of({"builder": "mask"}, ["123"])["123"] == ("12*", "1**", "***")
    assert rows_of({"builder": "mask", "side": "left"}, ["123"])["123"] == ("*23", "**3", "***")


def test_a_mask_that_stops_early_has_no_top_level_unless_declared():
    assert rows_of({"builder": "mask", "steps": [1]}, ["123"])["123"] == ("12*",)
    assert rows_of({"builder": "mask", "steps": [1], "top": True}, ["123"])["123"] == ("12*", "***")


def test_a_code_longer_than_the_declared_width_is_counted_and_not_quoted():
    with pytest.raises(ValuesOutsideBuilder) as caught:
        build(CUT, ["053021234", "05302"], variable="comuna")
    assert caught.value.values["count"] == 1
    assert "053021234" not in str(caught.value)


@pytest.mark.requirement("M17")
def test_the_comunas_of_the_death_register_become_provinces_and_regions(shared):
    values = sorted(column(shared, "Codcom"))
    spec = CUT | {"unknown": ["99999", "88888", "00000"]}
    hierarchy = build(spec, values, variable="Codcom")
    assert [len(labels) for labels in hierarchy.labels[1:]] == [55 + 2, 16 + 2, 1]  # nobody died in Parinacota


# --- intervals --------------------------------------------------------------------------------------

AGES = {"builder": "intervals", "width": 10, "start": 0, "end": 118}


@pytest.mark.requirement("M25")
def test_ages_to_118_have_five_levels_of_doubling_width():
    hierarchy = build(AGES | {"label": "{low}-{high}", "complete": True}, [], variable="edad")
    assert len(hierarchy.leaves) == 119
    assert hierarchy.height == 5
    widths = []
    for labels in hierarchy.labels[1:]:
        spans = [label.split("-") for label in labels]
        widths.append({int(high) - int(low) + 1 for low, high in spans})
    assert widths == [{10}, {20}, {40}, {80}, {160}]


@pytest.mark.requirement("M16")
def test_an_age_becomes_its_range_in_the_national_style():
    assert rows_of(AGES, ["37"])["37"][0] == "30 a 39"
    assert rows_of(AGES | {"label": "{low}-{high}"}, ["37"])["37"][0] == "30-39"


MINSAL_AGES = {
    "builder": "intervals",
    "cuts": [1, *range(10, 91, 10)],
    "open_low": True,
    "open_high": True,
    "height": 1,
}


def test_open_ends_are_written_less_than_and_plus():
    rows = rows_of(MINSAL_AGES, ["0", "1", "9", "10", "89", "90", "104"])
    labels = [rows[age][0] for age in ("0", "1", "9", "10", "89", "90", "104")]
    assert labels == ["<1", "1 a 9", "1 a 9", "10 a 19", "80 a 89", "90+", "90+"]


@pytest.mark.requirement("Y03")
def test_yapo_age_ranges_and_their_borders():
    spec = {"builder": "intervals", "cuts": [18, 25, 35, 45], "label": "{low}-{high}", "height": 1}
    rows = rows_of(spec | {"open_low": True, "open_high": True}, ["17", "18", "24", "25", "34", "35", "44", "45"])
    labels = [rows[age][0] for age in sorted(rows)]
    assert labels == ["<18", "18-24", "18-24", "25-34", "25-34", "35-44", "35-44", "45+"]


@pytest.mark.requirement("Y08")
def test_amounts_fall_into_half_open_intervals_and_negatives_are_refused():
    spec = {"builder": "intervals", "cuts": [0, 100, 500, 1000], "open_high": True, "whole": False}
    spec |= {"label": "{low}-{high}", "height": 1}
    rows = rows_of(spec, ["99.99", "100", "500", "1000"])
    assert [rows[amount][0] for amount in rows] == ["0-100", "100-500", "500-1000", "1000+"]
    with pytest.raises(ValuesOutsideBuilder):
        build(spec, ["-1"])


def test_coarser_levels_may_be_given_by_their_own_cuts():
    spec = AGES | {"end": 99, "coarser": [[0, 20, 60, 100], [0, 60, 100]]}
    assert rows_of(spec, ["65"])["65"] == ("60 a 69", "60 a 99", "60 a 99")
    assert rows_of(spec, ["30"])["30"] == ("30 a 39", "20 a 59", "0 a 59")


def test_decimal_commas_are_read_when_declared():
    spec = {"builder": "intervals", "width": 0.5, "end": 2, "whole": False, "decimal": ",", "height": 1}
    assert rows_of(spec, ["0,75"])["0,75"] == ("0,5 a 1",)
    with pytest.raises(ValuesOutsideBuilder):
        build(spec, ["0.75"])


def test_a_value_that_is_no_whole_number_is_outside_a_whole_interval():
    for value in ("37.5", "abc", "NaN", "1e3", "٣", "3 7"):
        with pytest.raises(ValuesOutsideBuilder):
            build(AGES, [value])


def test_the_ages_of_the_death_register_are_all_covered(shared):
    hierarchy = build(AGES | {"end": 120}, sorted(column(shared, "Edad")), variable="Edad")
    assert hierarchy.labels[-1] == ("0 a 159",)
    assert hierarchy.leaves == tuple(sorted(hierarchy.leaves, key=int))


# --- dates ------------------------------------------------------------------------------------------


@pytest.mark.requirement("Y11")
def test_a_day_becomes_month_quarter_semester_year_and_span():
    spec = {"builder": "dates", "levels": ["month", "quarter", "semester", "year", "span"]}
    labels = rows_of(spec, ["2024-01-17"])["2024-01-17"]
    assert labels == ("2024-01", "2024-Q1", "2024-S1", "2024", "2020-2024")


@pytest.mark.requirement("Y13")
def test_a_year_becomes_a_span():
    assert rows_of({"builder": "dates", "format": "yyyy"}, ["2022"])["2022"] == ("2020-2024",)


def test_the_declared_format_decides_what_a_date_is():
    day_first = {"builder": "dates", "format": "dd/mm/yyyy"}
    assert rows_of(day_first, ["06/03/2020"])["06/03/2020"][0] == "2020-03"
    assert rows_of(day_first | {"format": "mm/dd/yyyy"}, ["06/03/2020"])["06/03/2020"][0] == "2020-06"
    for wrong in ("2020-03-06", "31/02/2020", "6/3/20"):
        with pytest.raises(ValuesOutsideBuilder):
            build(day_first, [wrong])


def test_date_levels_must_be_coarser_than_the_format_and_in_order():
    for spec in (
        {"format": "yyyy", "levels": ["month"]},
        {"levels": ["year", "month"]},
        {"levels": ["year", "year"]},
    ):
        with pytest.raises(WrongParameter):
            build({"builder": "dates"} | spec, ())


# --- categories -------------------------------------------------------------------------------------


@pytest.mark.requirement("M24")
def test_a_two_value_column_offers_levels_0_to_2():
    hierarchy = build({"builder": "order", "top": True}, ["Sí", "No"], variable="pertenencia")
    assert hierarchy.height == 2
    assert hierarchy.labels == (("No", "Sí"), ("{No, Sí}",), ("*",))


def test_ordered_categories_merge_with_their_neighbours():
    spec = {"builder": "order", "order": ["Básica", "Media", "Técnica", "Superior"], "label": "range"}
    assert rows_of(spec, ["Media"])["Media"] == ("Básica a Media", "Básica a Superior")


def test_without_an_order_numbers_merge_by_size():
    rows = rows_of({"builder": "order", "label": "range", "height": 1}, ["10", "9", "1", "11", "2", "99"])
    assert [rows[value][0] for value in ("1", "2", "9", "10", "11", "99")] == [
        "1 a 2",
        "1 a 2",
        "9 a 10",
        "9 a 10",
        "11 a 99",
        "11 a 99",
    ]


def test_unknown_codes_do_not_keep_numbers_from_their_order():
    spec = {"builder": "order", "label": "range", "height": 1, "unknown": ["NS"]}
    assert rows_of(spec, ["10", "9", "NS", ""])["9"] == ("9 a 10",)


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        (("05302", "13101", "05101"), ("05101", "05302", "13101")),
        (("-1", "-10", "0,5", "+3"), ("-10", "-1", "0,5", "+3")),
        (("1", "01", "0"), ("0", "01", "1")),
        (("10", "9", "9 o más"), ("10", "9", "9 o más")),
        (("b", "a"), ("a", "b")),
        ((), ()),
    ],
)
def test_the_natural_order_is_by_size_only_where_every_value_is_a_number(values, ordered):
    assert natural_order(values) == ordered


def test_two_groups_never_share_a_name():
    hierarchy = build({"builder": "order", "order": ["a", "b", "{a, b}"]}, [])
    assert len(hierarchy.labels[1]) == 2


def test_declared_groups_join_level_by_level():
    spec = {"builder": "groups", "levels": [{"A": ["a1", "a2"], "B": ["b1"], "C": ["c"]}, {"AB": ["A", "B"]}]}
    rows = rows_of(spec, ["a1", "b1", "c"])
    assert rows == {"a1": ("A", "AB"), "a2": ("A", "AB"), "b1": ("B", "AB"), "c": ("C", "C")}


def test_a_value_in_no_group_is_refused_so_that_a_misspelling_is_not_published():
    with pytest.raises(ValuesOutsideBuilder):
        build({"builder": "groups", "levels": {"A": ["a1"]}}, ["a2"])


def test_a_tree_may_have_leaves_at_different_depths():
    tree = {"Animal": {"Ave": ["loro"], "Pez": ["atún"]}, "Planta": ["rosa"]}
    rows = rows_of({"builder": "tree", "tree": tree}, [])
    assert rows == {"loro": ("Ave", "Animal"), "atún": ("Pez", "Animal"), "rosa": ("rosa", "Planta")}


def test_one_label_for_two_branches_that_part_ways_is_refused():
    tree = {"Animal": {"Otros": ["loro"]}, "Planta": {"Otros": ["rosa"]}}
    with pytest.raises(WrongParameter):
        build({"builder": "tree", "tree": tree}, [])


@pytest.mark.requirement("Y17")
def test_rare_categories_merge_until_the_rest_reaches_the_minimum():
    spec = {"builder": "frequency", "minimums": [5]}
    assert rows_of(spec, ["A", "B", "C"], counts={"A": 12, "B": 3, "C": 4}) == {
        "A": ("A",),
        "B": ("Otros",),
        "C": ("Otros",),
    }
    assert rows_of(spec, ["A", "B"], counts={"A": 12, "B": 3}) == {"A": ("Otros",), "B": ("Otros",)}


def test_frequencies_of_real_diagnoses_leave_no_group_below_the_minimum(shared):
    counts = column(shared, "ID_DP")
    hierarchy = build({"builder": "frequency", "minimums": [5, 50]}, sorted(counts), counts=counts)
    for level, minimum in ((1, 5), (2, 50)):
        totals = Counter[int]()
        for leaf, code in zip(hierarchy.leaves, hierarchy.maps[level], strict=True):
            totals[int(code)] += counts[leaf]
        assert min(totals.values()) >= minimum


def test_frequency_without_frequencies_is_refused():
    with pytest.raises(WrongParameter):
        build({"builder": "frequency", "minimums": [5]}, ["A"])


def test_identity_has_one_level_and_suppress_two():
    assert build({"builder": "identity"}, ["a", "b"]).height == 0
    assert rows_of({"builder": "suppress"}, ["a", "", "*"]) == {"a": ("*",), "": ("*",), "*": ("*",)}


# --- official ---------------------------------------------------------------------------------------


@pytest.mark.requirement("M16")
def test_a_country_becomes_national_or_not():
    spec = {"builder": "official", "list": "countries", "home": "CL"}
    rows = rows_of(spec, ["Perú", "Chile", "CHL"])
    assert rows == {"Perú": ("No chileno",), "Chile": ("Chileno",), "CHL": ("Chileno",)}
    named = spec | {"home_label": "Chile", "other_label": "Otro país"}
    assert rows_of(named, ["Perú"])["Perú"] == ("Otro país",)


def test_a_home_country_without_a_known_demonym_needs_labels():
    with pytest.raises(WrongParameter):
        build({"builder": "official", "list": "countries", "home": "JP"}, ())


def test_comunas_have_province_and_region_by_code_name_or_both():
    spec = {"builder": "official", "list": "cl-cut"}
    assert rows_of(spec, ["05302"])["05302"] == ("053", "05")
    assert rows_of(spec | {"labels": "name"}, ["05302"])["05302"] == ("Los Andes", "Valparaíso")
    assert rows_of(spec | {"labels": "both", "levels": ["region"]}, ["05302"])["05302"] == ("05 Valparaíso",)


def test_a_complete_list_holds_every_code_in_force():
    hierarchy = build({"builder": "official", "list": "cl-cut", "complete": True, "top": True}, ["05302"])
    assert [len(labels) for labels in hierarchy.labels] == [346, 56, 16, 1]


def test_municipalities_have_department_and_natural_region():
    spec = {"builder": "official", "list": "co-divipola", "labels": "name"}
    assert rows_of(spec, ["05001"])["05001"] == ("Antioquia", "Andina")


def test_the_diagnoses_of_the_death_register_reach_their_chapters(shared):
    hierarchy = build({"builder": "official", "list": "icd10"}, sorted(column(shared, "ID_DP")), variable="ID_DP")
    assert hierarchy.height == 3
    assert "I00-I99" in hierarchy.labels[3]
    assert len(hierarchy.labels[3]) == 18


def test_values_outside_a_list_are_counted_and_not_quoted():
    with pytest.raises(ValuesOutsideList) as caught:
        build({"builder": "official", "list": "cl-cut"}, ["05302", "77777"], variable="comuna")
    assert caught.value.values == {"variable": "comuna", "list": "cl-cut", "count": 1}
    assert "77777" not in str(caught.value)


# --- all of them ------------------------------------------------------------------------------------

# For each builder a description, and plain values that it places.
SAMPLES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "mask": ({"width": 5, "steps": [2, 3]}, ["05302", "13101"]),
    "intervals": ({"width": 10, "end": 118}, ["37", "4"]),
    "dates": ({}, ["2024-01-17", "2023-12-31"]),
    "order": ({"order": ["a", "b", "c"]}, ["a", "c"]),
    "groups": ({"levels": [{"A": ["a"], "B": ["b"]}]}, ["a", "b"]),
    "tree": ({"tree": {"A": ["a"], "B": ["b"]}}, ["a", "b"]),
    "frequency": ({"minimums": [2]}, ["a", "b"]),
    "official": ({"list": "icd10"}, ["E86X", "U071"]),
    "identity": ({}, ["a", "b"]),
    "suppress": ({}, ["a", "b"]),
}
SPECIAL = ["", "*", "*****", "99999"]
NAMES = [builder.name for builder in BUILDERS]


def build_sample(name: str, values: list[str], **more: Any) -> Hierarchy:
    spec = {"builder": name, "unknown": ["99999"], **SAMPLES[name][0], **more}
    return build(spec, values, variable="v", counts={"a": 9, "b": 5})


@pytest.mark.parametrize("name", NAMES)
def test_special_values_stay_categories_of_their_own_until_the_top(name):
    plain = SAMPLES[name][1]
    hierarchy = build_sample(name, [*plain, *SPECIAL], top=True)
    rows = {row[0]: row[1:] for row in to_rows(hierarchy)}
    for value in SPECIAL:
        assert rows[value][:-1] == (value,) * (hierarchy.height - 1)
        assert rows[value][-1] == rows[plain[0]][-1]
    assert not any(split_groups(hierarchy))


@pytest.mark.parametrize("name", NAMES)
def test_levels_do_not_vanish_when_there_is_one_value_or_none(name):
    height = build_sample(name, SAMPLES[name][1]).height
    assert build_sample(name, SAMPLES[name][1][:1]).height == height
    assert build_sample(name, [""]).height == height
    assert build_sample(name, []).height == height


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_values_changes_nothing_but_the_order_of_the_leaves(name):
    values = [*SAMPLES[name][1], *SPECIAL]
    assert set(to_rows(build_sample(name, values))) == set(to_rows(build_sample(name, values[::-1])))


@pytest.mark.parametrize("name", ["mask", "intervals", "dates", "groups", "official"])
def test_what_a_builder_cannot_place_becomes_an_asterisk_when_the_policy_says_so(name):
    hierarchy = build_sample(name, [*SAMPLES[name][1], "zz zz zz"], uncovered="suppress")
    rows = {row[0]: row[1:] for row in to_rows(hierarchy)}
    assert set(rows["zz zz zz"]) == {"*"}


@pytest.mark.parametrize("name", NAMES)
def test_every_builder_and_parameter_is_described_in_both_languages(name):
    from celosia import messages

    builder = next(builder for builder in BUILDERS if builder.name == name)
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            assert messages.text(f"hierarchy.builder.{name}")
            assert all(messages.text(f"hierarchy.parameter.{param}") for param in builder.all_params)


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ({}, UnknownBuilder),
        ({"builder": "masks"}, UnknownBuilder),
        ({"builder": "mask", "stpes": [1]}, UnknownParameter),
        ({"builder": "mask", "steps": [3, 2]}, WrongParameter),
        ({"builder": "mask", "steps": [0]}, WrongParameter),
        ({"builder": "mask", "side": "middle"}, WrongParameter),
        ({"builder": "mask", "top": "yes"}, WrongParameter),
        ({"builder": "mask", "width": 2.5}, WrongParameter),
        ({"builder": "intervals"}, WrongParameter),
        ({"builder": "intervals", "width": 10}, WrongParameter),
        ({"builder": "intervals", "width": 0, "end": 5}, WrongParameter),
        ({"builder": "intervals", "width": 1, "end": 10**9}, WrongParameter),
        ({"builder": "intervals", "cuts": [5, 5]}, WrongParameter),
        ({"builder": "intervals", "cuts": [5]}, WrongParameter),
        ({"builder": "intervals", "cuts": [0, 0.5]}, WrongParameter),
        ({"builder": "intervals", "cuts": [0, "x"]}, WrongParameter),
        ({"builder": "intervals", "cuts": [0, 5, 9], "coarser": [[0, 6, 9]]}, WrongParameter),
        ({"builder": "intervals", "cuts": [0, 5, 9], "coarser": [[0, 5]]}, WrongParameter),
        ({"builder": "intervals", "cuts": [0, 5, 9], "coarser": [["NaN", 5]]}, WrongParameter),
        ({"builder": "intervals", "cuts": [0, 5], "label": "cinco"}, WrongParameter),
        ({"builder": "dates", "format": "yy"}, WrongParameter),
        ({"builder": "order", "order": ["a", "a"]}, WrongParameter),
        ({"builder": "groups"}, WrongParameter),
        ({"builder": "groups", "levels": {"A": ["a"], "B": ["a"]}}, WrongParameter),
        ({"builder": "groups", "levels": {"A": "a"}}, WrongParameter),
        ({"builder": "tree", "tree": {"A": [1]}}, WrongParameter),
        ({"builder": "tree", "tree": {"A": ["a"], "B": ["a"]}}, WrongParameter),
        ({"builder": "frequency", "minimums": [5, 3]}, WrongParameter),
        ({"builder": "official"}, WrongParameter),
        ({"builder": "official", "list": "cl"}, WrongParameter),
        ({"builder": "official", "list": "cl-cut", "home": "CL"}, WrongParameter),
        ({"builder": "official", "list": "cl-cut", "levels": ["region", "province"]}, WrongParameter),
    ],
    ids=str,
)
def test_a_wrong_description_is_refused_in_both_languages(spec, error):
    from celosia import messages

    with pytest.raises(error) as caught:
        build(spec, (), counts={})
    assert isinstance(caught.value, CelosiaError)
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            assert len(str(caught.value)) > 20
