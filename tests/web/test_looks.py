"""Every page of three projects, wide and narrow, light and dark: nothing overlaps, everything can be reached and read.

The pictures are kept in build/screenshots.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.web import made
from tests.web.browser import NARROW, WIDE, Heard, open_page, tab
from tests.web.server import Served, serving

from celosia.web._frame import STEPS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.web, pytest.mark.slow]

PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"
SCRIPT = Path(__file__).with_name("looks.js").read_text("utf-8")
SIZES = {"wide": WIDE, "narrow": NARROW}
SCHEMES = ("light", "dark")
BAD = ("serious", "critical")
FULL = "egresos"  # the project with something on every page
_MOST_STOPS = 600


def _path(project: str, step: str) -> str:
    return f"/p/{project}" + ("" if step == "overview" else f"/{step}")


PLAIN = {"proyectos": "/", "nuevo": "/new", "verificar": "/verify"}
OF_FULL = {f"{FULL}-{step}": _path(FULL, step) for step in STEPS}
OF_OTHERS = {f"{name}-{step}": _path(name, step) for name in made.NORMS if name != FULL for step in STEPS}
PAGES = {**PLAIN, **OF_FULL, **OF_OTHERS}


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over the three projects."""
    root = tmp_path_factory.mktemp("galeria") / "proyectos"
    root.mkdir()
    for make in made.NORMS.values():
        make(root)
    with serving(root) as served:
        served.prefer(theme="auto")
        yield served


@pytest.fixture(scope="module")
def tab_of_gallery(chromium: Browser, gallery: Served) -> Iterator[tuple[Page, Heard]]:
    with tab(chromium, gallery) as found:
        yield found


@pytest.fixture
def opened(tab_of_gallery: tuple[Page, Heard], gallery: Served, request: pytest.FixtureRequest) -> Iterator[Page]:
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
    return pytest.mark.parametrize(("opened", "name"), [
        pytest.param(*one.values, *one.values, marks=one.marks, id=str(one.values[0])) for one in names
    ], indirect=["opened"])(test)  # fmt: skip


@_every_page
def test_a_page_can_be_read_wide_and_narrow_in_light_and_dark(opened: Page, name: str) -> None:
    told = []
    for size, (width, height) in SIZES.items():
        opened.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            opened.emulate_media(color_scheme=scheme)
            opened.wait_for_function(f"document.body.classList.contains('body--{scheme}')")
            opened.wait_for_timeout(250)  # pictures of figures draw themselves anew
            PICTURES.mkdir(parents=True, exist_ok=True)
            opened.screenshot(path=PICTURES / f"{name}-{size}-{scheme}.png", full_page=True)
            told += [f"{size} {scheme}: {line}" for line in _complaints(opened, size, scheme)]
    assert told == []


def _complaints(page: Page, size: str, scheme: str) -> list[str]:
    told = _violations(page)
    if scheme == "light":  # the colours move nothing
        told += _scrolls(page) + [f"overlap: {pair}" for pair in page.evaluate("celosiaOverlaps()")]
    return told


def _scrolls(page: Page) -> list[str]:
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return [] if wide <= inner else [f"the page is {wide} wide in a window of {inner}"]


def _violations(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    # Without fetching the sheets again: the page's own bar of loading would show for it.
    found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
    return [
        f"axe {one['id']} ({one['impact']}): {[node['html'][:160] for node in one['nodes'][:3]]} of {len(one['nodes'])}"
        for one in found
        if one["impact"] in BAD
    ]


@_every_page
def test_every_control_has_a_name_and_is_reached_by_the_keyboard(opened: Page, name: str) -> None:
    assert opened.evaluate("celosiaNameless()") == []
    stops = opened.evaluate("celosiaStops()")
    assert len(stops) < _MOST_STOPS
    reached, hidden = _walked(opened, len(stops))
    assert [stop for number, stop in enumerate(stops) if number not in reached] == []
    assert hidden == []


def _walked(page: Page, count: int) -> tuple[set[int], list[str]]:
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
    _, hidden = _walked(opened_blank, count)
    assert any("b" in name for name in hidden)
    assert not any("> c" in name for name in hidden)


@pytest.fixture
def opened_blank(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context()
    yield context.new_page()
    context.close()
