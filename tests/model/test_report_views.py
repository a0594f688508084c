"""Every report of the library in words, as a table, as data and as a picture: one suite judges them all."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import celosia
from celosia import messages
from celosia.model.errors import NothingToDraw
from celosia.model.reports.report import Report, html_table
from celosia.model.reports.suggested_roles import SuggestedRoles
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Variable

PLANTED = "Xochiquetzal"
QUASI = ["sexo", "edad", "comuna"]


def people() -> pd.DataFrame:
    """Sixty people of whom one has a name and a value that nobody else has."""
    lines = [
        {
            "nombre": PLANTED if i == 7 else f"Persona {i}",
            "sexo": "MF"[i % 2],
            "edad": 20 + i % 6,
            "comuna": PLANTED if i == 7 else ["Ñuñoa", "<b>Lota</b>", "Arica"][i % 3],
            "diagnostico": ["J00", "I10", "E11", "K29"][i % 4],
        }
        for i in range(60)
    ]
    return pd.DataFrame(lines)


Ask = Callable[[Any], Report]
REPORTS: dict[str, Ask] = {
    "measure": lambda frame: celosia.measure(frame, quasi=QUASI, sensitive=["diagnostico"]),
    "profile": celosia.profile,
    "scenario_risk": lambda frame: celosia.scenario_risk(frame, quasi=QUASI),
    "people_risk": lambda frame: celosia.people_risk(frame, QUASI),
    "special_uniques": lambda frame: celosia.special_uniques(frame, QUASI),
    "geography_rule": lambda frame: celosia.geography_rule(frame, "comuna", minimum=2),
    "rare_values": celosia.rare_values,
    "evaluate": lambda frame: celosia.evaluate(frame, frame, quasi=QUASI),
    "cross_table": lambda frame: celosia.cross_table(frame, "sexo", "diagnostico", k=3),
    "intrude": lambda frame: celosia.intrude(frame, quasi=QUASI, sensitive=["diagnostico"], seed=1),
}
DRAWN = {"measure", "scenario_risk", "people_risk", "special_uniques", "rare_values", "evaluate", "cross_table"}


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    frame = people()
    return {name: ask(frame) for name, ask in REPORTS.items()}


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_a_report_says_itself_in_a_line_without_a_value(reports: dict[str, Report], name: str, language: str) -> None:
    with messages.speaking(language):
        said = repr(reports[name])
    assert said.startswith(f"<{type(reports[name]).__name__}: ")
    assert "\n" not in said
    assert len(said) < 400
    assert PLANTED not in said


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_a_notebook_gets_one_sound_table_with_its_headings(
    reports: dict[str, Report], name: str, language: str
) -> None:
    with messages.speaking(language):
        shown = reports[name]._repr_html_()
    tree = ET.fromstring(f"<div>{shown}</div>")
    table = tree.find("table")
    assert table is not None
    assert table.findtext("caption")
    heads, lines = table.findall("thead/tr/th"), table.findall("tbody/tr")
    assert heads
    assert lines
    assert all(head.get("scope") == "col" for head in heads)
    assert all(line[0].get("scope") == "row" for line in lines)
    assert all(len(line) == len(heads) for line in lines)
    assert PLANTED not in shown
    assert not re.search(r"<script|https?:|color:\s*#", shown)


@pytest.mark.parametrize("name", sorted(set(REPORTS) - {"cross_table"}))
def test_every_heading_of_a_notebook_is_in_words(reports: dict[str, Report], name: str) -> None:
    names = {key for line in reports[name].words() for key in line}
    assert {key for key in names if not messages.has(f"reports.heading.{key}")} == set()


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_plain_data(reports: dict[str, Report], name: str) -> None:
    data = reports[name].to_dict()
    assert json.loads(json.dumps(data))["format"].startswith("celosia/")
    assert data == reports[name].as_dict()


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize(("kind", "library"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.Table)])
def test_the_lines_of_a_report_are_a_frame_of_the_kind_asked_for(
    reports: dict[str, Report], name: str, kind: str, library: type
) -> None:
    frame = reports[name].to_frame(kind)
    assert isinstance(frame, library)
    assert len(frame) == len(reports[name].records())


@pytest.mark.parametrize(("kind", "library"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.Table)])
def test_a_report_remembers_which_kind_of_frame_it_was_made_from(kind: str, library: type) -> None:
    table = pa.Table.from_pandas(people())
    given = {"pandas": table.to_pandas(), "polars": pl.from_arrow(table), "arrow": table}[kind]
    assert isinstance(celosia.rare_values(given).to_frame(), library)
    assert isinstance(celosia.evaluate(before=given, after=given, quasi=QUASI).to_frame(), library)


@pytest.mark.parametrize("name", REPORTS)
def test_what_can_be_drawn_is_a_sound_picture_with_its_figures_in_words(reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    assert not DRAWN & {name} or report.drawings()
    for drawing in report.drawings():
        picture = report.plot(drawing)
        tree = ET.fromstring(picture._repr_svg_())
        assert tree.get("role") == "img"
        assert picture.title
        assert picture.description
        assert PLANTED not in picture.svg()


def test_a_report_without_a_picture_says_so(reports: dict[str, Report]) -> None:
    with pytest.raises(NothingToDraw):
        reports["profile"].plot()
    with pytest.raises(ValueOutOfRange, match="class-sizes"):
        reports["measure"].plot("violin")


def test_a_frame_of_an_unknown_kind_is_refused(reports: dict[str, Report]) -> None:
    with pytest.raises(ValueOutOfRange, match="arrow"):
        reports["measure"].to_frame("excel")


def test_a_picture_is_saved_as_its_name_says(reports: dict[str, Report], tmp_path: Any) -> None:
    picture = reports["evaluate"].plot()
    assert picture.save(tmp_path / "a.svg").read_text("utf-8") == picture.svg()
    assert picture.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueOutOfRange, match=r"\.png"):
        picture.save(tmp_path / "a.pdf")


def test_the_class_sizes_of_a_measure_hold_every_row(reports: dict[str, Report]) -> None:
    words = reports["measure"].plot().description
    shares = [float(share.replace(",", ".")) for share in re.findall(r": ([\d,]+) %", words)]
    assert sum(shares) == pytest.approx(100, abs=0.1)


def test_a_hidden_cell_is_marked_and_has_no_value(reports: dict[str, Report]) -> None:
    report = celosia.cross_table(people(), "comuna", "diagnostico", k=5)
    hidden = [cell for cell in report.cells if cell.value is None]
    assert hidden
    frame = report.to_frame("pandas")
    assert int(frame.isna().sum().sum()) == len(hidden)
    assert report._repr_html_().count(messages.text("tables.hidden_mark")) >= len(hidden)
    assert "&lt;b&gt;Lota" in report._repr_html_()
    assert "<b>" not in report._repr_html_()


def test_a_long_table_says_how_many_lines_are_left_out() -> None:
    shown = html_table("x", [{"figure": f"a{i}", "value": i} for i in range(25)])
    assert shown.count("<tr>") == 21
    assert "5" in shown.rpartition("</table>")[2]


def test_suggested_roles_are_read_by_role_and_like_a_tuple() -> None:
    roles = SuggestedRoles((Variable("rut", role=Role.IDENTIFIER), Variable("edad", role=Role.QUASI), Variable("x")))
    assert (roles.identifiers, roles.quasi, roles.sensitive) == (["rut"], ["edad"], [])
    assert [variable.name for variable in roles] == ["rut", "edad", "x"]
    assert (len(roles), roles[1].name) == (3, "edad")
    assert messages.text("dictionary.role.quasi") in roles._repr_html_()
    assert list(roles.to_frame("pandas")["variable"]) == ["rut", "edad", "x"]
