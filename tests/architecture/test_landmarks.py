"""Every page has one <main> and one <h1>, so that a screen reader finds its content and its name.

Pages drawn in a browser are counted wherever a test opens one (`tests/web/browser.py`); here, those that are text.
"""

from __future__ import annotations

import re

import pytest

from celosia.web.server.guard import bare_page
from celosia.web.server.login import _page
from tests.architecture.source_files import SOURCE, modules

TEMPLATES = SOURCE / "dossier" / "templates"
WHOLE = [
    path.name for path in sorted(TEMPLATES.glob("*.html.j2")) if path.stem not in ("base.html", "frontier_part.html")
]
WRITTEN = {
    "refusal": bare_page("<p>x</p>"),
    "login": bytes(_page("es", "door.title", "/login", "", "door.enter", 200).body).decode(),
}


def _with_base(name: str) -> str:
    own = (TEMPLATES / name).read_text("utf-8")
    parent = re.search(r'{% extends "([^"]+)" %}', own)
    return own + ((TEMPLATES / parent[1]).read_text("utf-8") if parent else "")


def _landmarks(page: str) -> tuple[int, int]:
    return len(re.findall(r"<main[ >]", page)), len(re.findall(r"<h1[ >]", page))


@pytest.mark.parametrize("name", WHOLE)
def test_a_report_has_one_main_and_one_title(name: str) -> None:
    assert _landmarks(_with_base(name)) == (1, 1)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_without_the_frame_has_one_main_and_one_title(name: str) -> None:
    assert _landmarks(WRITTEN[name]) == (1, 1)


def test_only_the_frame_of_the_page_makes_them() -> None:
    landmark = re.compile(r'tag\(\s*"(?:main|h1)"|heading\([^()]*,\s*(?:level=)?1\)')
    counts = {
        module.where: len(landmark.findall(module.path.read_text("utf-8")))
        for module in modules()
        if module.package == "web"
    }
    assert {where: count for where, count in counts.items() if count} == {"src/celosia/web/ui/page.py": 2}
