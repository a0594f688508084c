"""The pages and pictures of explanations: both languages, self-contained, well-formed, and the same every time."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from celosia import messages
from celosia.dossier.explain import explanation_page, explanation_sentences
from celosia.dossier.figures import limit_text, loss_text
from celosia.dossier.frontier import HEIGHT, WIDTH, frontier_page, frontier_plot, frontier_svg, frontier_table
from celosia.model.reports.explanation import (
    CriterionCost,
    Explanation,
    Frontier,
    FrontierPoint,
    NearestMiss,
    Outcome,
    VariableCost,
)
from celosia.risk.criteria import CRITERIA

SVG = "{http://www.w3.org/2000/svg}"
LIMITS = (Fraction(0), Fraction(1, 20), Fraction(1))
SHARES = (0.0, 0.04, 0.12)


def outcome(loss: float | None, rows: int = 41, proved: bool = True) -> Outcome:
    """What a search might give over 1,000 rows."""
    return Outcome(loss is not None, {"edad": 1, "comuna": 2}, loss, rows, rows / 1000, proved)


def made_frontier(ks: tuple[int, ...] = tuple(range(2, 21)), metric: str = "loss (geometric)", scale: float = 1.0):
    """A frontier whose losses rise with k and fall with the limit."""
    points = tuple(
        FrontierPoint(k, limit, int(limit * 1000), outcome(scale * (0.3 + k / 50) / (1 + i), int(1000 * share)))
        for k in ks
        for i, (limit, share) in enumerate(zip(LIMITS, SHARES, strict=True))
    )
    return Frontier(metric, 1000, ("edad", "comuna"), ks, LIMITS, points, 7, True)


def made_explanation(**changes) -> Explanation:
    """An explanation of a result over two variables."""
    edad = VariableCost("edad", 1, 3, 0.2, 0.4, outcome(0.15), outcome(0.35), outcome(None, 300), None)
    comuna = VariableCost("comuna", 2, 2, 0.4, 0.2, outcome(0.2), None, outcome(0.5), None)
    criteria = (CriterionCost({"criterion": "k", "k": 5, "unit": "persons"}, 41, 30),)
    asked = {
        "metric": "loss (geometric)", "rows": 1000, "person_key": True, "limit": Fraction(1, 20), "allowed_rows": 50,
        "result": outcome(0.31), "variables": (edad, comuna), "criteria": criteria, "miss": None, "searches": 5,
        "complete": True,
    }  # fmt: skip
    return Explanation(**(asked | changes))


def made_miss(helps: bool) -> Explanation:
    """An explanation of why nothing fits; leaving comuna out helps or does not."""
    comuna = VariableCost("comuna", 0, 2, None, None, outcome(0.2 if helps else None, 60), None, None, None)
    edad = VariableCost("edad", 1, 3, None, None, outcome(None, 90), None, None, outcome(0.6 if helps else None, 70))
    miss = NearestMiss(123, 50, 73, Fraction(123, 1000), 3, True)
    return made_explanation(result=outcome(None, 123), variables=(comuna, edad), miss=miss)


class Reader(HTMLParser):
    """Whether every tag is closed in order, and which addresses a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def assert_self_contained(page: str) -> None:
    """Well-formed, no script, nothing from outside."""
    reader = Reader()
    reader.feed(page)
    assert reader.wrong == reader.open == []
    assert "script" not in reader.tags
    assert not re.search(r"(src|href)\s*=|url\(|@import", page)


PAGES = {
    "frontier": lambda: frontier_page(made_frontier()),
    "explanation": lambda: explanation_page(made_explanation(), made_frontier((2, 5))),
    "miss": lambda: explanation_page(made_miss(helps=True)),
}


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_is_self_contained_and_the_same_every_time(page, language: str) -> None:
    messages.use(language)
    assert page() == page()
    assert f'<html lang="{language}">' in page()
    assert_self_contained(page())


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_no_sentence_of_one_language_is_left_in_the_page_of_the_other(page) -> None:
    said = {}
    for language in messages.LANGUAGES:
        messages.use(language)
        said[language] = page()
    for language, other in (("es", "en"), ("en", "es")):
        foreign = set(messages.section(other, "explain").values()) - set(messages.section(language, "explain").values())
        whole = [sentence for sentence in foreign if "{" not in sentence and len(sentence) > 14]
        assert [sentence for sentence in whole if sentence in said[language]] == []


def test_the_picture_is_a_file_of_its_own_with_a_line_per_k_inside_its_frame() -> None:
    root = ET.fromstring(frontier_svg(made_frontier()))
    lines = root.findall(f"{SVG}polyline")
    assert len(lines) == 19
    for line in lines:
        dots = [tuple(map(float, dot.split(","))) for dot in line.attrib["points"].split()]
        assert len(dots) == 3
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in dots)
        assert [x for x, _ in dots] == sorted(x for x, _ in dots)  # to the right as more is suppressed
        assert [y for _, y in dots] == sorted(y for _, y in dots)  # and down as less is lost
    names = [text.text for text in root.findall(f"{SVG}text") if text.attrib.get("class") == "fr-name"]
    assert sorted(names) == ["k = 10", "k = 2", "k = 20", "k = 3", "k = 5"]
    assert root.find(f"{SVG}title") is not None


@pytest.mark.parametrize("ks", [(2,), (2, 3), (4, 6), (7, 8, 9, 11, 13, 15, 17), tuple(range(2, 21))])
def test_names_of_lines_stand_apart_and_inside_the_picture(ks: tuple[int, ...]) -> None:
    named = sorted(line.label_y for line in frontier_plot(made_frontier(ks)).lines if line.colour is not None)
    assert named
    assert all(second - first >= 15.9 for first, second in itertools.pairwise(named))
    assert all(0 < place < HEIGHT for place in named)


@pytest.mark.parametrize(("metric", "scale"), [("discernibility", 9e7), ("average_class_size", 40.0)])
def test_losses_of_any_size_are_drawn_and_written(metric: str, scale: float) -> None:
    made = made_frontier(metric=metric, scale=scale)
    plot = frontier_plot(made)
    assert 3 <= len(plot.y_ticks) <= 11
    assert all(plot.top <= y <= plot.bottom for line in plot.lines for _, y in line.dots)
    assert_self_contained(frontier_page(made))


def test_a_frontier_where_nothing_fits_or_nothing_is_suppressed_is_still_a_page() -> None:
    nothing = tuple(FrontierPoint(k, Fraction(0), 0, outcome(None, 300)) for k in (2, 3))
    empty = Frontier("loss (geometric)", 1000, ("edad",), (2, 3), (Fraction(0),), nothing, 2, False)
    page = frontier_page(empty)
    assert messages.text("explain.frontier.no_points") in page
    assert messages.text("explain.frontier.stopped") in page
    assert "sin solución · 30,00 %" in page
    free = tuple(FrontierPoint(k, Fraction(0), 0, outcome(0.0, 0)) for k in (2, 3))
    assert len(frontier_plot(Frontier("precision", 9, ("edad",), (2, 3), (Fraction(0),), free, 2, True)).lines) == 2


def test_the_table_marks_what_repeats_and_what_is_not_proved() -> None:
    points = tuple(
        FrontierPoint(2, limit, 0, found)
        for limit, found in zip(
            LIMITS, (outcome(0.5, 0), outcome(0.3, 40, False), outcome(0.3, 40, False)), strict=True
        )
    )
    heads, ((k, first, second, third),) = frontier_table(
        Frontier("loss (geometric)", 1000, ("edad",), (2,), LIMITS, points, 2, True)
    )
    assert heads == ["k", "0 %", "5 %", "100 %"]
    assert [k.text, first.text, second.text] == ["2", "0,5000 · 0,00 %", "≥ 0,3000 · 4,00 %"]
    assert [first.repeated, second.repeated, third.repeated] == [False, False, True]


@pytest.mark.requirement("M26")
def test_an_explanation_reads_well_in_spanish() -> None:
    assert explanation_sentences(made_explanation()) == (
        "Se pierde 0,3100 (pérdida de información, media geométrica) y 41 registros (4,10 %) quedan en clases que "
        "incumplen: se suprimen, o pierden solo el valor sensible si la política lo prefiere; el límite permite 50.",
        "La variable que más cuesta es «edad»: sin ella, las demás perderían 0,1500 en vez de 0,4000.",
        "El criterio que más registros suprime es k-anonimidad con k = 5 (personas): 41 registros; "
        "30 de ellos solo por él.",
    )


def test_a_miss_says_what_would_do_in_english() -> None:
    messages.use("en")
    said = explanation_sentences(made_miss(helps=True))
    assert "leaves out 123 records (12.30 %) and the limit allows 50: 73 too many" in said[0]
    assert "allow 12.30 % of the records to be suppressed (123 of 1,000)" in said[2]
    assert "the greatest k that can be reached is 3" in said[3]
    assert said[4].startswith("Without “comuna” there is a solution: loss 0.2000")
    assert said[5].startswith("If “edad” may rise to level 3 of its hierarchy there is a solution")


def test_a_miss_that_no_single_variable_mends_names_the_closest() -> None:
    assert (
        "«comuna»: sin ella o más generalizada, quedarían 60 registros" in explanation_sentences(made_miss(False))[-1]
    )


def test_what_is_missing_or_not_proved_is_said() -> None:
    said = explanation_sentences(made_explanation(result=outcome(0.3, 41, False), complete=False))
    assert messages.text("explain.unproved") in said
    assert messages.text("explain.stopped") in said


def test_without_a_person_key_k_counts_records() -> None:
    assert "k = 5 (registros)" in explanation_sentences(made_explanation(person_key=False))[-1]


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_criterion_has_its_words(language: str) -> None:
    known = messages.section(language, "explain")
    for kind in CRITERIA:
        fields = set(re.findall(r"{(\w+)}", known[f"criterion.{kind.name}"]))
        assert fields <= set(kind.parameters)


@pytest.mark.parametrize(
    ("limit", "shown"),
    [(Fraction(1, 3), "33,34 %"), (Fraction(1, 20), "5 %"), (Fraction(1, 100000), "0,01 %"), (Fraction(0), "0 %")],
)
def test_a_limit_is_rounded_up_so_that_what_is_printed_is_enough(limit: Fraction, shown: str) -> None:
    assert limit_text(limit) == shown


def test_a_loss_has_the_digits_of_its_metric() -> None:
    assert loss_text("loss (arithmetic)", 0.26249) == "0,2625"
    assert loss_text("discernibility", 12345678.0) == "12.345.678"


def test_a_name_with_signs_is_written_and_not_read_as_markup() -> None:
    named = VariableCost("<b>&", 1, 3, 0.2, 0.4, outcome(0.15), None, None, None)
    page = explanation_page(made_explanation(variables=(named,)))
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page
