"""Every page of three projects, wide and narrow, light and dark: nothing overlaps, everything can be reached and read.

The pictures are kept in build/screenshots.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.web.ui.page import STEPS
from tests.projects import every_page
from tests.web.browser import NARROW, WIDE, Heard, open_page, tab
from tests.web.serving import RunningServer, running_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.web, pytest.mark.slow]

PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"
SCRIPT = Path(__file__).with_name("layout.js").read_text("utf-8")
SIZES = {"wide": WIDE, "narrow": NARROW}
SCHEMES = ("light", "dark")
BAD = ("serious", "critical")
FULL = "egresos"  # the project with something on every page
_MOST_STOPS = 600


def _path(project: str, step: str) -> str:
    return f"/p/{project}" + ("" if step == "overview" else f"/{step}")


PLAIN = {"proyectos": "/", "nuevo": "/new", "verificar": "/verify"}
OF_FULL = {f"{FULL}-{step}": _path(FULL, step) for step in STEPS}
OF_OTHERS = {f"{name}-{step}": _path(name, step) for name in every_page.NORMS if name != FULL for step in STEPS}
PAGES = {**PLAIN, **OF_FULL, **OF_OTHERS}


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server over the three projects."""
    root = tmp_path_factory.mktemp("galeria") / "proyectos"
    root.mkdir()
    for make in every_page.NORMS.values():
        make(root)
    with running_server(root) as running:
        running.prefer(theme="auto")
        yield running


@pytest.fixture(scope="module")
def tab_of_gallery(chromium: Browser, gallery: RunningServer) -> Iterator[tuple[Page, Heard]]:
    with tab(chromium, gallery) as visitor_tab:
        yield visitor_tab


@pytest.fixture
def open_gallery_page(
    tab_of_gallery: tuple[Page, Heard], gallery: RunningServer, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """The page that the test names, with our eyes in it."""
    page, heard = tab_of_gallery
    heard.complaints.clear()
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    page.emulate_media(color_scheme="light")
    open_page(page, gallery, PAGES[request.param])
    page.evaluate(SCRIPT)
    yield page
    assert heard.complaints == []


def _every_page(test: object) -> object:
    names = [pytest.param(name, marks=[] if name in {**PLAIN, **OF_FULL} else pytest.mark.slow) for name in PAGES]
    return pytest.mark.parametrize(
        ("open_gallery_page", "name"),
        [pytest.param(*name.values, *name.values, marks=name.marks, id=str(name.values[0])) for name in names],
        indirect=["open_gallery_page"],
    )(test)


@_every_page
def test_a_page_can_be_read_wide_and_narrow_in_light_and_dark(open_gallery_page: Page, name: str) -> None:
    collected = []
    for size, (width, height) in SIZES.items():
        open_gallery_page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            open_gallery_page.emulate_media(color_scheme=scheme)
            open_gallery_page.wait_for_function(f"document.body.classList.contains('body--{scheme}')")
            open_gallery_page.wait_for_timeout(250)  # pictures of figures draw themselves anew
            PICTURES.mkdir(parents=True, exist_ok=True)
            open_gallery_page.screenshot(path=PICTURES / f"{name}-{size}-{scheme}.png", full_page=True)
            collected += [f"{size} {scheme}: {line}" for line in _complaints(open_gallery_page, size, scheme)]
    assert collected == []


def _complaints(page: Page, size: str, scheme: str) -> list[str]:
    violations = _violations(page)
    if scheme == "light":  # the colours move nothing
        violations += _scrolls(page) + [f"overlap: {pair}" for pair in page.evaluate("celosiaOverlaps()")]
    return violations


def _scrolls(page: Page) -> list[str]:
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return [] if wide <= inner else [f"the page is {wide} wide in a window of {inner}"]


def _violations(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    # Without fetching the sheets again: the page's own bar of loading would show for it.
    violations = Axe().run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
    return [
        f"axe {violation['id']} ({violation['impact']}): "
        f"{[node['html'][:160] for node in violation['nodes'][:3]]} of {len(violation['nodes'])}"
        for violation in violations
        if violation["impact"] in BAD
    ]


@_every_page
def test_every_control_has_a_name_and_is_reached_by_the_keyboard(open_gallery_page: Page, name: str) -> None:
    assert open_gallery_page.evaluate("celosiaNameless()") == []
    stops = open_gallery_page.evaluate("celosiaStops()")
    assert len(stops) < _MOST_STOPS
    reached, hidden = _tab_stops(open_gallery_page, len(stops))
    assert [stop for number, stop in enumerate(stops) if number not in reached] == []
    assert hidden == []


def _tab_stops(page: Page, count: int) -> tuple[set[int], list[str]]:
    """The stops that Tab comes by, and those whose focus nobody sees."""
    reached: set[int] = set()
    hidden: list[str] = []
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    for _ in range(count + 10):
        page.keyboard.press("Tab")
        at = page.evaluate("celosiaFocus()")
        if at is None:
            continue
        reached.add(at["stop"])
        if not at["visible"]:
            hidden.append(at["name"])
    return reached, hidden


def test_words_that_cover_one_another_would_be_seen(opened_blank: Page) -> None:
    there = "position:absolute;left:5px;top:"
    opened_blank.set_content(f'<body><p style="{there}5px">uno</p><p style="{there}8px">dos</p>')
    opened_blank.evaluate(SCRIPT)
    assert len(opened_blank.evaluate("celosiaOverlaps()")) == 1


def test_words_side_by_side_cover_nothing(opened_blank: Page) -> None:
    opened_blank.set_content("<body><p>uno</p><p>dos <b>tres</b></p><label>a <input></label><button>b</button></body>")
    opened_blank.evaluate(SCRIPT)
    assert opened_blank.evaluate("celosiaOverlaps()") == []


def test_a_control_without_a_name_would_be_seen(opened_blank: Page) -> None:
    opened_blank.set_content('<body><button></button><input id="x"><label for="x">con</label></body>')
    opened_blank.evaluate(SCRIPT)
    assert len(opened_blank.evaluate("celosiaNameless()")) == 1


def test_a_focus_that_nobody_sees_would_be_seen(opened_blank: Page) -> None:
    opened_blank.set_content('<body><button style="outline:none">b</button><button>c</button></body>')
    opened_blank.evaluate(SCRIPT)
    count = len(opened_blank.evaluate("celosiaStops()"))
    _, hidden = _tab_stops(opened_blank, count)
    assert any("b" in name for name in hidden)
    assert not any("> c" in name for name in hidden)


@pytest.fixture
def opened_blank(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context()
    yield context.new_page()
    context.close()
