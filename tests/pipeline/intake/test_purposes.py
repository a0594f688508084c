"""The purpose of the variables: some by name, or all that lack one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.intake.dictionary_files import check_dictionary, state_purpose
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.folder import open_project

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An invented survey with an identifier and an order number, which are not published."""
    path = tmp_path / "base.csv"
    rows = [f"{11_111_111 + i}-{i % 10},{i % 4},{'FM'[i % 2]},{20 + i % 50},{i % 5},{i % 3}" for i in range(120)]
    path.write_text("\n".join(["RUN,ORDEN,Sexo,Edad,Opinión,x9", *rows]) + "\n", "utf-8")
    return init(path, tmp_path / "p", ("minsal",), now=NOW).project.folder


@pytest.mark.requirement("M06")
def test_one_purpose_for_the_rest_reaches_all_that_only_lack_one(folder: Path) -> None:
    state_purpose(folder, ["Sexo"], "Estudio", now=NOW)
    assert state_purpose(folder, (), "Vigilancia", rest=True, now=NOW) == 3
    purposes = {variable.name: variable.purpose for variable in open_project(folder).variables}
    assert purposes.pop("Sexo") == "Estudio"
    assert {name for name, purpose in purposes.items() if not purpose} == {"RUN", "ORDEN"}
    assert check_dictionary(folder).published == ("Sexo", "Edad", "Opinión", "x9")
    assert state_purpose(folder, (), "Otro", rest=True, now=NOW) == 0


@pytest.mark.requirement("M06")
@pytest.mark.parametrize(("names", "purpose"), [(("Sexo",), "Estudio"), ((), " ")])
def test_the_rest_has_no_names_and_needs_a_purpose(folder: Path, names: tuple[str, ...], purpose: str) -> None:
    with pytest.raises(ValueOutOfRange):
        state_purpose(folder, names, purpose, rest=True, now=NOW)
