"""`celosia intruder`: planted attacks are found, their absence is not reported, and bad input is explained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celosia.cli import main
from celosia.model.reports.attacks import INTRUDER_FORMAT
from tests.projects.attack_files import (
    CAUSES,
    QUASI,
    chance,
    coarse_release,
    drop_columns,
    hash_values,
    made_people,
    mask_every,
    with_birth,
    write_columns,
)

ROLES = ("--quasi", ",".join(QUASI), "--sensitive", "CAUSA")


def report_of(capsys: pytest.CaptureFixture[str], expected: int, *words: object) -> dict[str, Any]:
    code = main(["intruder", *map(str, words), "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    assert code == expected
    report: dict[str, Any] = json.loads(out)
    assert report["format"] == INTRUDER_FORMAT
    assert report["works"] is (expected == 1)
    return report


def by_name(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["attack"]: one for one in report["estimates"]}


def kinds(report: dict[str, Any]) -> set[str]:
    return {one["kind"] for one in report["findings"]}


@pytest.mark.requirement("M28")
def test_where_nothing_works_nothing_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = report_of(capsys, 0, write_columns(tmp_path / "r.csv", coarse_release()), *ROLES)
    assert not any(one["works"] for one in report["estimates"])
    assert {one["risk"] for one in report["estimates"]} == {
        "singling_out", "linkability", "inference", "linkage", "unmasking", "over_time",
    }  # fmt: skip
    assert all(one["rate"] is not None or one["reason"] for one in report["estimates"])


@pytest.mark.parametrize("controls", [100, 2_000])
def test_people_held_out_are_guessed_as_well_as_those_published(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, controls: int
) -> None:
    apart = write_columns(tmp_path / "apart.csv", coarse_release(controls, 77))
    report = report_of(capsys, 0, write_columns(tmp_path / "r.csv", coarse_release()), *ROLES, "--control", apart)
    assert by_name(report)["learned_model"]["control"] == "held_out"
    assert "control_held_out" in report["notes"]


@pytest.mark.requirement("M28")
def test_a_hashed_run_is_recovered(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    columns = {**coarse_release(), "CLAVE": hash_values(made_people(2_000)["RUN"])}
    report = report_of(capsys, 1, write_columns(tmp_path / "r.csv", columns), *ROLES)
    [found] = [one for one in report["findings"] if one["kind"] == "hashed_identifier"]
    assert found["detail"]["space"] == "run"
    assert found["remedy"] == "CLAVE"
    assert found["persons"] == 2_000


@pytest.mark.requirement("X7")
def test_a_region_masked_beside_its_comuna_is_undone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = made_people(2_000)
    columns = {**coarse_release(), "COMUNA": made["COMUNA"], "REGION": mask_every(made["REGION"], 7)}
    found = by_name(report_of(capsys, 1, write_columns(tmp_path / "r.csv", columns), *ROLES))["dependency"]
    assert found["variables"] == ["REGION", "COMUNA"]
    assert found["remedy"] == "COMUNA"
    assert found["detail"] == {"cells": 286, "masked": 286}


@pytest.mark.requirement("X7")
def test_a_region_masked_with_its_comuna_holds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = made_people(2_000)
    columns = {**coarse_release(), "COMUNA": mask_every(made["COMUNA"], 7), "REGION": mask_every(made["REGION"], 7)}
    report = report_of(capsys, 0, write_columns(tmp_path / "r.csv", columns), *ROLES)
    assert by_name(report)["dependency"]["reason"] == "masks_hold"


@pytest.mark.requirement("M28")
def test_a_class_of_one_mind_is_inferred(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    columns = coarse_release()
    women = [sex == "Mujer" and place == "08***" for sex, place in zip(columns["SEXO"], columns["COMUNA"], strict=True)]
    columns["CAUSA"] = [CAUSES[4] if here else cause for here, cause in zip(women, columns["CAUSA"], strict=True)]
    found = by_name(report_of(capsys, 1, write_columns(tmp_path / "r.csv", columns), *ROLES))
    assert found["homogeneous_class"]["works"]
    assert found["homogeneous_class"]["rate"] == 1.0
    assert found["homogeneous_class"]["detail"]["persons_in_homogeneous_classes"] == sum(women)
    assert not found["learned_model"]["works"]  # the others of the class tell as much


def test_a_class_whose_cause_is_masked_tells_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A mask that all share is no value that all share: masking is what stops the attack."""
    made = coarse_release()
    lone = [code == "08***" and sex == "Mujer" for code, sex in zip(made["COMUNA"], made["SEXO"], strict=True)]
    shared, hidden = (
        {**made, "CAUSA": [value if one else cause for one, cause in zip(lone, made["CAUSA"], strict=True)]}
        for value in ("B20", "*")
    )
    planted = by_name(report_of(capsys, 1, write_columns(tmp_path / "s.csv", shared), *ROLES))["homogeneous_class"]
    assert planted["detail"]["persons_in_homogeneous_classes"] == sum(lone)
    report = report_of(capsys, 0, write_columns(tmp_path / "h.csv", hidden), *ROLES)
    assert by_name(report)["homogeneous_class"]["reason"] == "no_homogeneous_class"


def test_a_record_alone_by_its_masks_isolates_nobody(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = coarse_release()
    for row, names in enumerate((("SEXO",), ("EDAD",), ("COMUNA",), ("SEXO", "EDAD"), ("EDAD", "COMUNA"), QUASI)):
        for name in names:
            made[name][row] = "*"
    report = report_of(capsys, 0, write_columns(tmp_path / "r.csv", made), *ROLES)
    assert by_name(report)["isolating_combination"]["successes"] == 0


@pytest.mark.requirement("M34")
def test_a_sister_release_shows_what_this_one_masks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Everybody is unique on a birth date that both files show; one of them masks the cause."""
    made = drop_columns(with_birth(made_people(300)), "RUN", "REGION", "EDAD")
    here = write_columns(tmp_path / "here.csv", {**made, "CAUSA": mask_every(made["CAUSA"], 3)})
    sister = write_columns(tmp_path / "sister.csv", made)
    names = ("--quasi", "SEXO,NACIMIENTO,COMUNA", "--sensitive", "CAUSA")
    report = report_of(capsys, 1, here, *names, "--earlier", sister)
    [found] = [one for one in report["findings"] if one["kind"] == "masked_cell_shown_earlier"]
    assert (found["columns"], found["cells"]) == (["CAUSA"], 100)
    assert by_name(report)["followed"]["successes"] >= 297
    alone = report_of(capsys, 1, here, *names)
    assert "masked_cell_shown_earlier" not in kinds(alone)


@pytest.mark.requirement("M30", "A33", "P22")
def test_an_outside_register_finds_its_hundred_people_in_the_raw_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The register is in another encoding, has other names, and fifty people who are not in the file."""
    raw, strangers = with_birth(made_people(600)), with_birth(made_people(50, seed=99))
    listed = {name: values[:100] + strangers[name] for name, values in raw.items()}
    register = {"RUN": listed["RUN"], "GÉNERO": listed["SEXO"], "FECHA": listed["NACIMIENTO"], "CUT": listed["COMUNA"]}
    outside = write_columns(tmp_path / "outside.csv", register, encoding="windows-1252", delimiter=";")
    on = ("--external", outside, "--on", "SEXO=GÉNERO,NACIMIENTO=FECHA,COMUNA=CUT", "--person", "RUN")
    names = ("--quasi", "SEXO,NACIMIENTO,COMUNA", "--sensitive", "CAUSA")
    found = by_name(report_of(capsys, 1, write_columns(tmp_path / "raw.csv", raw), *names, *on))["external_exact"]
    assert found["detail"]["in_release"] == 100
    assert found["detail"]["right"] == found["successes"] == 100
    assert found["works"]
    # the same people published by decade and region: some claims, hardly any right
    public = drop_columns(raw, "RUN", "EDAD", "REGION")
    public = {**public, "NACIMIENTO": [born[:3] + "*-**-**" for born in raw["NACIMIENTO"]],
              "COMUNA": [code[:2] + "***" for code in raw["COMUNA"]]}  # fmt: skip
    beside = ("--original", tmp_path / "raw.csv")
    released = write_columns(tmp_path / "public.csv", public)
    main(["intruder", str(released), *map(str, (*names, *on, *beside)), "--json"])
    after = by_name(json.loads(capsys.readouterr().out))["external_exact"]
    assert after["detail"]["in_release"] == 100
    assert after["detail"]["right"] <= 3
    assert not after["works"]


def test_the_same_seed_gives_the_same_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_columns(tmp_path / "raw.csv", made_people())
    one, two, other = (report_of(capsys, 1, file, *ROLES, "--seed", seed) for seed in (4, 4, 5))
    assert one == two
    assert one["estimates"] != other["estimates"]


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["intruder", *map(str, words)]) == 2
    return capsys.readouterr().err


def test_a_list_without_a_shared_column_is_explained(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_columns(tmp_path / "r.csv", coarse_release())
    outside = write_columns(tmp_path / "outside.csv", {"NOMBRE": ["a", "b"], "OFICIO": ["1", "2"]})
    said = refused(capsys, file, *ROLES, "--external", outside)
    assert "--on" in said
    assert "outside.csv" in said


def test_an_original_without_a_shared_column_is_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:  # fmt: skip
    file = write_columns(tmp_path / "r.csv", coarse_release())
    other = write_columns(tmp_path / "other.csv", {"NOMBRE": ["a", "b"], "OFICIO": ["1", "2"]})
    assert "other.csv" in refused(capsys, file, *ROLES, "--original", other)


def test_pairs_without_a_list_or_named_twice_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_columns(tmp_path / "r.csv", coarse_release())
    assert "--external" in refused(capsys, file, *ROLES, "--on", "SEXO=GENERO")
    assert "SEXO" in refused(capsys, file, *ROLES, "--external", file, "--on", "SEXO=SEXO,SEXO=EDAD")


def test_a_list_that_repeats_its_rows_finds_as_many_people(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Rows alike in every column are one person where a name or a key tells people apart."""
    raw = made_people(300, ages=300)
    file = write_columns(tmp_path / "r.csv", drop_columns(raw, "RUN", "REGION"))
    once = {"QUIEN": raw["RUN"][:100], **{name: raw[name][:100] for name in QUASI}}
    lists = [
        write_columns(tmp_path / f"{times}.csv", {name: cells * times for name, cells in once.items()})
        for times in (1, 3)
    ]
    single, repeated = (
        by_name(report_of(capsys, 1, file, *ROLES, "--external", outside))["external_exact"] for outside in lists
    )
    assert single["detail"]["one_to_one"] > 80
    assert repeated == single
    keyed = write_columns(tmp_path / "k.csv", drop_columns(raw, "REGION"))
    twice = write_columns(tmp_path / "t.csv", {"RUN": once["QUIEN"] * 2, **{name: once[name] * 2 for name in QUASI}})
    found = by_name(report_of(capsys, 1, keyed, *ROLES, "--person", "RUN", "--external", twice))["external_exact"]
    assert (found["attempts"], found["detail"]["right"]) == (100, single["detail"]["one_to_one"])


def test_a_hash_repeated_on_the_records_of_a_person_reaches_people_and_not_rows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = made_people(400)
    clave = ["*" if place % 8 == 0 else cell for place, cell in enumerate(hash_values(made["RUN"] * 2))]
    columns = {**{name: made[name] * 2 for name in (*QUASI, "CAUSA")}, "QUIEN": made["RUN"] * 2, "CLAVE": clave}
    report = report_of(capsys, 1, write_columns(tmp_path / "r.csv", columns), *ROLES, "--person", "QUIEN")
    [found] = [one for one in report["findings"] if one["kind"] == "hash_of_column"]
    assert (found["cells"], found["persons"]) == (700, 350)


def test_a_column_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_columns(tmp_path / "r.csv", coarse_release())
    assert "EDAT" in refused(capsys, file, *ROLES, "--external", file, "--on", "EDAT=EDAD")
    assert "EDAT" in refused(capsys, file, *ROLES, "--external", file, "--on", "EDAD=EDAT")
    assert "NADA" in refused(capsys, file, "--quasi", "NADA")
    assert "--on" in refused(capsys, file, *ROLES, "--external", file, "--on", "=EDAD")


def test_another_code_list_and_repeated_people_are_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = write_columns(tmp_path / "r.csv", drop_columns(made_people(), "RUN", "REGION"))
    other = write_columns(
        tmp_path / "o.csv", {"SEXO": ["1", "2"], "EDAD": ["30", "31"], "COMUNA": ["Arica", "Quillota"]}
    )
    found = by_name(report_of(capsys, 1, file, *ROLES, "--external", other))["external_exact"]
    assert found["reason"] == "no_common_values"
    assert found["detail"]["variable"] == "SEXO"
    twice = made_people(40)
    repeated = write_columns(tmp_path / "t.csv", {name: twice[name] * 2 for name in QUASI})
    found = by_name(report_of(capsys, 1, file, *ROLES, "--external", repeated))["external_exact"]
    assert found["detail"]["alike_in_list"] == 80
    assert found["detail"]["one_to_one"] == 0


def test_an_original_in_another_order_still_judges(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    raw = made_people(400)
    order = chance(5).permutation(400)
    mixed = {name: [values[place] for place in order] for name, values in raw.items()}
    original = write_columns(tmp_path / "raw.csv", mixed)
    file = write_columns(tmp_path / "r.csv", drop_columns(raw, "RUN", "REGION"))
    report = report_of(capsys, 1, file, *ROLES, "--original", original)
    assert "original_not_row_by_row" in report["notes"]
    assert by_name(report)["isolating_combination"]["works"]


def test_no_value_of_the_file_is_in_the_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = made_people(300)
    made["RUN"][7] = "Zutanita Quiñimán"
    main(["intruder", str(write_columns(tmp_path / "r.csv", made)), *ROLES, "--html", str(tmp_path / "v.html")])
    said = capsys.readouterr()
    for text in (said.out, said.err, (tmp_path / "v.html").read_text("utf-8")):
        assert "Zutanita" not in text
        assert "Metropolitana" not in text


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_report_is_told_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path, language: str) -> None:
    file, sheet = write_columns(tmp_path / "raw.csv", drop_columns(made_people(), "RUN")), tmp_path / "w.csv"
    words = [str(file), *ROLES, "--explain", "--worksheet", str(sheet), "--lang", language]
    assert main(["intruder", *words]) == 1
    said = capsys.readouterr().out
    assert {"es": "Hay al menos un ataque que funciona", "en": "At least one attack works"}[language] in said
    assert str(sheet) in said
    assert main(["intruder", *words]) == 2  # a worksheet may hold results: it is not overwritten


@pytest.mark.parametrize(
    ("option", "name"), [("--html", "v.pdf"), ("--pdf", "v.html"), ("--html", "v.txt"), ("--worksheet", "w.doc")]
)
def test_papers_of_another_kind_are_refused_before_any_attack(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    monkeypatch.setattr("celosia.pipeline.intruder.attack.attack", lambda *_: pytest.fail("the attacks were run"))
    assert (
        main(["intruder", str(write_columns(tmp_path / "r.csv", coarse_release())), option, str(tmp_path / name)]) == 2
    )
    assert name in capsys.readouterr().err


def test_results_of_the_test_with_a_person_are_refused_before_any_attack(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celosia.pipeline.intruder.attack.attack", lambda *_: pytest.fail("the attacks were run"))
    (tmp_path / "claims.csv").write_text("x\n", "utf-8")
    words = [
        "intruder",
        str(write_columns(tmp_path / "r.csv", coarse_release())),
        "--worksheet",
        str(tmp_path / "claims.csv"),
    ]
    assert main(words) == 2
    assert (tmp_path / "claims.csv").read_text("utf-8") == "x\n"


def test_the_help_shows_how_columns_are_paired(capsys: pytest.CaptureFixture[str]) -> None:
    main(["intruder", "--help"])
    assert "--on PUBLICADA=EXTERNA" in capsys.readouterr().out
