"""`serve` opens the browser of the person at the machine, and no other."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest

from celosia import web
from celosia.cli import main

ADDRESS = "http://127.0.0.1:4321/enter/abc"


@pytest.mark.parametrize(
    ("words", "opened"),
    [((), [ADDRESS]), (("--no-browser",), []), (("--shared",), [])],
    ids=["plain", "none", "shared"],
)
def test_the_browser_is_opened_where_somebody_sits(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    opened: list[str],
) -> None:
    seen: list[str] = []

    def serve(root: Path, listening: object, upload: int, announce: Callable[[str, str], None]) -> None:
        announce(ADDRESS, "")

    monkeypatch.setattr(web, "serve", serve)
    monkeypatch.setattr(webbrowser, "open", seen.append)
    assert main(["serve", str(tmp_path), *words]) == 0
    assert seen == opened
    assert ADDRESS in capsys.readouterr().out.splitlines()
