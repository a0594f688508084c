"""The reference of the Python library names everything public, in both languages, and its examples run."""

from __future__ import annotations

import doctest
import inspect
import tomllib

import pytest

import celosia
from celosia import messages
from tests.architecture.source_files import REPOSITORY
from tests.architecture.test_documentation import load_script

DOCUMENT = tomllib.loads((REPOSITORY / "docs" / "api.toml").read_text("utf-8"))
NAMES = [name for group in DOCUMENT["groups"] for name in group["names"]]
ELSEWHERE = {"make_plan", "run_plan", "apply_steps", "intrude", "treatments", "__version__"}


def test_every_public_name_is_in_the_reference_once() -> None:
    assert sorted(NAMES) == sorted(set(celosia.__all__) - ELSEWHERE)


def test_every_name_and_member_has_its_spanish_and_its_english() -> None:
    members = load_script("generate").api_members
    english, spanish = set(), set(NAMES)
    for name in NAMES:
        if inspect.isclass(thing := getattr(celosia, name)):
            described = members(thing)
            spanish |= {f"{name}.{member}" for member, _ in described}
            english |= {f"{name}.{member}" for member, text in described if not text}
    assert set(DOCUMENT["es"]) == spanish
    assert set(DOCUMENT["en"]) == english


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_page_shows_each_signature_and_its_examples_run(language: str) -> None:
    page = load_script("generate").api_page(language)
    assert all(f"### `{name}` {{ #{name} }}" in page for name in NAMES)
    assert "max_suppression: float | str = 0," in page
    test = doctest.DocTestParser().get_doctest(page.replace("```", ""), {}, "api.md", None, 0)
    assert len(test.examples) > 10
    failures: list[str] = []
    assert doctest.DocTestRunner().run(test, out=failures.append).failed == 0, "".join(failures)
