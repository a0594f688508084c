"""Pictures of an evaluation: self-contained, told in words, in both languages, the same every time."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from celosia import messages
from celosia.drawing.picture import Drawing
from celosia.drawing.svg import png_bytes
from celosia.model.reports.evaluation import (
    AssociationChange,
    Distribution,
    RiskComparison,
    RiskSide,
    risk_and_loss_chart,
)

SVG = "{http://www.w3.org/2000/svg}"


def side(*rows: int) -> RiskSide:
    """A file whose classes of one, two and more rows hold so many rows."""
    sizes = tuple((name, many, many) for name, many in zip(("1", "2", "3–9"), rows, strict=True))
    return RiskSide(sum(rows), None, 3, 1, None, rows[0], {"2": rows[0]}, 0, rows[0], rows[0] / sum(rows), 1.0, sizes)


def scenarios(*shares: tuple[str, float, float], threshold: str = "0.3") -> Drawing:
    """The picture of the shares at risk in these scenarios."""
    return replace(RISK, threshold=threshold, scenarios=shares).scenario_chart()


RISK = RiskComparison(("sexo", "edad"), "0.3", side(50, 30, 20), side(5, 15, 80))
CHANGE = AssociationChange(
    ("edad", "ingreso", "<zona & más>"),
    ((1.0, 0.6, None), (0.6, 1.0, 0.2), (None, 0.2, 1.0)),
    ((1.0, 0.4, None), (0.4, 1.0, 0.3), (None, 0.3, 1.0)),
    ((0.0, -0.2, None), (-0.2, 0.0, 0.1), (None, 0.1, 0.0)),
    0.2,
    0.15,
)
SHARES = Distribution("cargo <jefe>", ("a", "*", ""), (0.7, 0.0, 0.3), (0.5, 0.4, 0.1))
PICTURES = {
    "class_sizes": lambda: RISK.class_size_chart().svg(),
    "distribution": lambda: SHARES.chart().svg(),
    "scenarios": lambda: scenarios(("sexo × edad", 0.687, 0.0001), ("sexo", 0.01, 0.0)).svg(),
    "association": lambda: CHANGE.chart().svg(),
    "risk_utility": lambda: risk_and_loss_chart([("antes", 1.0, 0.0), ("después", 0.01, 0.24)], "0.3").svg(),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_a_picture_is_well_formed_and_says_what_it_shows(name: str, language: str) -> None:
    with messages.speaking(language):
        picture = PICTURES[name]()
    tree = ET.fromstring(picture)
    title, described = tree.find(f"{SVG}title"), tree.find(f"{SVG}desc")
    assert title.text
    assert described.text
    assert tree.get("role") == "img"
    assert tree.get("aria-labelledby") == f"{title.get('id')} {described.get('id')}"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_needs_neither_network_nor_script_and_is_the_same_every_time(name: str) -> None:
    picture = PICTURES[name]()
    assert picture == PICTURES[name]()
    addresses = set(re.findall(r"https?://[^\"'\s<]+", picture))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<script|href=|url\(|@import|onload", picture)
    assert "prefers-color-scheme: dark" in picture


@pytest.mark.parametrize("name", PICTURES)
def test_every_shape_lies_inside_the_picture(name: str) -> None:
    tree = ET.fromstring(PICTURES[name]())
    width, height = float(tree.get("width")), float(tree.get("height"))
    for shape in tree.iter(f"{SVG}rect"):
        x, y = float(shape.get("x", 0)), float(shape.get("y", 0))
        assert 0 <= x <= x + float(shape.get("width")) <= width + 0.11
        assert 0 <= y <= y + float(shape.get("height")) <= height + 0.11
    for dot in tree.iter(f"{SVG}circle"):
        assert 0 <= float(dot.get("cx")) <= width
        assert 0 <= float(dot.get("cy")) <= height


def test_numbers_follow_the_language() -> None:
    assert "68,7 %" in PICTURES["scenarios"]()
    with messages.speaking("en"):
        assert "68.7 %" in PICTURES["scenarios"]()


def test_a_small_risk_never_reads_as_none() -> None:
    assert "&lt; 0,1 %" in PICTURES["scenarios"]()


def test_bars_are_as_long_as_their_shares() -> None:
    tree = ET.fromstring(SHARES.chart().svg())
    bars = [float(s.get("width")) for s in tree.iter(f"{SVG}rect") if s.get("class") == "ch-before"][1:]
    assert bars[0] / bars[2] == pytest.approx(0.7 / 0.3, rel=0.01)
    assert bars[1] == 0


def test_the_sign_of_a_change_is_told_without_colour() -> None:
    texts = [text.text for text in ET.fromstring(PICTURES["association"]()).iter(f"{SVG}text")]
    assert {"−0,20", "+0,10"} <= set(texts)


def test_a_picture_becomes_a_png_with_the_fonts_it_carries() -> None:
    made = png_bytes(PICTURES["class_sizes"]())
    assert made.startswith(b"\x89PNG")
    assert made == png_bytes(PICTURES["class_sizes"]())


def test_names_of_points_that_coincide_stand_apart() -> None:
    found = ET.fromstring(risk_and_loss_chart([("antes", 1.0, 0.0), ("después", 1.0, 0.0)], "0.3").svg())
    heights = {text.text: float(text.get("y", "0")) for text in found.iter(f"{SVG}text")}
    assert abs(heights["antes"] - heights["después"]) >= 14


def test_the_ends_of_an_interval_have_the_decimal_mark_of_the_language() -> None:
    ages = Distribution("edad", ("≤ 36.6", "36.6–49", "> 49", "v1.5"), (0.2, 0.3, 0.3, 0.2), (0.2, 0.3, 0.3, 0.2))
    with messages.speaking("es"):
        drawn = ages.chart().svg()
    assert all(words in drawn for words in ("≤ 36,6", "36,6–49", "v1.5"))


def test_a_criterion_of_a_third_is_drawn_as_a_third() -> None:
    assert "RI ≥ 1/3" in scenarios(("sexo", 0.5, 0.1), threshold="0.3333333333333333").svg()
