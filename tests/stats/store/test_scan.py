"""Nothing personal in STATS: the scan finds names, values, hashes, coordinates and keys, and a find undoes the run."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

import pytest

from celosia.stats.errors import ScanRefuses
from celosia.stats.run import run_stats
from celosia.stats.store.scan import scan_persons, scan_table
from tests.stats.small_stats import NOW, PERSONS, category, everything, people, project, table

SAFE = {
    "age_range": ["<18", "18-24", "45+", "(sin dato)"],
    "period": ["2024-01", "2024-Q1", "2024-W03", "2024"],
    "span": ["2020-2024"],
    "region_code": ["00", "05", "11", "05302"],
    "volume_bucket": ["0-100", "100-500", "1000+", "1000000-5000000"],
    "cell": ["S25.25 W057.63"],
    "sector": ["minería", "Otros"],
    "gender": ["masculino", "femenino", "otro"],
    "estado": ["publicado", "suprimido"],
}


@pytest.mark.requirement("Y01", "Y26")
def test_generalised_columns_pass_the_scan() -> None:
    assert scan_table("t", SAFE) == ()


@pytest.mark.requirement("Y01")
@pytest.mark.parametrize(
    "name",
    ["user_id", "person_id", "company_id", "document", "cedula", "ruc", "email", "phone", "full_name", "lat", "lng"],
)
def test_a_column_named_like_an_identifier_is_found(name: str) -> None:
    assert [one.kind for one in scan_table("t", {name: ["a", "b"]})] == ["name"]


@pytest.mark.requirement("Y26")
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (hashlib.sha256(b"u1").hexdigest(), "hash"),
        (hashlib.md5(b"u1", usedforsecurity=False).hexdigest(), "hash"),
        (str(uuid.UUID(int=7 << 100)), "hash"),
        ("4.123.456", "value"),
        ("4123456", "value"),
        ("12345678-5", "value"),
        ("+595981555123", "value"),
        ("ana@correo.example", "value"),
        ("-25.2637", "coordinates"),
        ("-25.2637, -57.5759", "coordinates"),
    ],
)
def test_one_value_of_an_identifier_is_enough(value: str, kind: str) -> None:
    found = scan_table("t", {"sector": ["comercio", value, "salud"]})
    assert [(one.column, one.kind) for one in found] == [("sector", kind)]


@pytest.mark.requirement("Y26")
def test_a_dimension_with_one_person_per_category_is_a_key() -> None:
    assert [one.kind for one in scan_persons("t", "code", [1] * 30 + [2] * 5)] == ["key"]
    assert scan_persons("t", "code", [1, 1, 2]) == ()
    assert scan_persons("t", "code", [5] * 30) == ()


@pytest.mark.requirement("Y26", "Y28")
def test_a_find_undoes_the_run_and_names_the_column_but_no_value(tmp_path: Path) -> None:
    digests = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(3)]
    rows = people({("a", digests[0]): 12, ("b", digests[1]): 9, ("b", digests[2]): 8}, ["sector", "code"])
    home = project(tmp_path, rows, table("t", category("sector", ["a", "b"]), category("code", digests), PERSONS))
    with pytest.raises(ScanRefuses) as refused:
        run_stats(home, now=NOW)
    assert "«code»" in str(refused.value)
    assert not any(digest in str(refused.value) for digest in digests)
    assert everything(home) == {}


@pytest.mark.requirement("Y01", "Y26")
def test_categories_that_are_keys_of_personal_are_refused(tmp_path: Path) -> None:
    rows = [{"user_id": f"clave {n % 7}", "full_name": "x", "sector": f"clave {n % 7}"} for n in range(70)]
    home = project(tmp_path, rows, table("t", category("sector", [f"clave {n}" for n in range(7)]), PERSONS))
    with pytest.raises(ScanRefuses) as refused:
        run_stats(home, now=NOW)
    assert "PERSONAL" in str(refused.value)
    assert everything(home) == {}


@pytest.mark.requirement("Y01", "Y26")
@pytest.mark.parametrize(
    "label", ["CI 4.123.456", "C.I. 4123456", "RUC 80012345-6", "tel. 0981 123 456", "0981-123456"]
)
def test_a_document_or_telephone_inside_a_longer_label_is_found(label: str) -> None:
    assert [one.kind for one in scan_table("t", {"nivel": ["superior", label]})] == ["value"]


@pytest.mark.parametrize("label", ["más de 1.000.000 Gs", "celulares y 2024", "Doctorado 2020-2024", "Ciclo 3"])
def test_a_number_in_a_label_that_names_no_person_passes(label: str) -> None:
    assert scan_table("t", {"nivel": ["superior", label]}) == ()
