"""Every package, dependency, format, command and error has its page, in both languages, and no page is stale."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from celosia import messages
from celosia.messages import LANGUAGES
from celosia.pipeline.assessment.apply_techniques import describe_techniques
from tests.architecture.package_table import packages
from tests.architecture.source_files import REPOSITORY, modules, strings

DOCS = REPOSITORY / "docs"
PAGES = set("index install first-steps architecture dependencies errors commands glossary formats requirements".split())


def load_script(name: str) -> ModuleType:
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _page(language: str, name: str) -> str:
    return (DOCS / language / f"{name}.md").read_text("utf-8")


def _first_cells(page: str) -> set[str]:
    """Code words in the first cell of every table row."""
    return set(re.findall(r"^\| `([^`]+)`", page, flags=re.M))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_exists_and_is_in_the_menu(language: str) -> None:
    names = {path.stem for path in (DOCS / language).glob("*.md")}
    assert names >= PAGES
    assert sorted(Path(target).stem for target in _menu_pages(_menu(language))) == sorted(names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_menu_has_at_most_eight_entries_and_two_levels(language: str) -> None:
    menu = _menu(language)
    assert len(menu) <= 8
    sections = [below for entry in menu for below in entry.values() if isinstance(below, list)]
    assert all(isinstance(target, str) for section in sections for page in section for target in page.values())


def test_both_menus_have_the_same_order() -> None:
    assert list(_menu_pages(_menu("es"))) == list(_menu_pages(_menu("en")))


def _menu(language: str) -> list[dict[str, Any]]:
    return tomllib.loads((DOCS / f"zensical.{language}.toml").read_text("utf-8"))["project"]["nav"]


def _menu_pages(menu: list[dict[str, Any]]) -> Iterator[str]:
    """Every page that a menu leads to, in its order."""
    for entry in menu:
        for target in entry.values():
            yield from _menu_pages(target) if isinstance(target, list) else [target]


def test_both_languages_have_the_same_pages() -> None:
    names = [{path.name for path in (DOCS / language).glob("*.md")} for language in LANGUAGES]
    assert names[0] == names[1]


@pytest.mark.parametrize("page", ["errors", "commands", "requirements", "techniques", "architecture", "crosswalk"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_generated_page_is_not_stale(language: str, page: str) -> None:
    path = DOCS / language / f"{page}.md"
    fresh = getattr(load_script("generate"), f"{page}_page")(language)
    assert path.read_text("utf-8") == fresh, f"run `make pages`: {path.relative_to(REPOSITORY)} is stale"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_of_the_techniques_says_what_the_command_says_of_each_parameter(language: str) -> None:
    page = _page(language, "techniques")
    with messages.speaking(language):
        meanings = [
            (technique["name"], name, param["meaning"].replace("|", "\\|"))
            for technique in describe_techniques()
            for name, param in technique["parameters"].items()
        ]
    parts = {part.partition(" }")[0]: part for part in page.split("{ #")[1:]}
    missing = [(technique, name) for technique, name, meaning in meanings if f"| {meaning} |" not in parts[technique]]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_architecture_page_shows_every_package(language: str) -> None:
    assert _first_cells(_page(language, "architecture")) == set(packages())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_dependency_has_its_reason(language: str) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    core, _, optional = _page(language, "dependencies").partition("`postgres`")
    assert _first_cells(core) == {_name(line) for line in project["dependencies"]}
    for part, lines in project["optional-dependencies"].items():
        row = re.search(rf"^\| `{part}` \| ([^|]+) \| ([^|]+) \|", "| `postgres`" + optional, flags=re.M)
        assert row, part
        assert set(re.findall(r"`([^`]+)`", row[1])) == {_name(line) for line in lines}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_install_page_offers_every_optional_part(language: str) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert _first_cells(_page(language, "install")) == {f"celosia[{part}]" for part in project["optional-dependencies"]}


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0]


def _formats() -> set[str]:
    """Every versioned format named in the source, as people write it."""
    return {
        name
        for module in modules()
        for text in strings(module.tree)
        for name in re.findall(r"\bcelosia/[a-z_-]+/\d+\b", text)
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_format_is_described(language: str) -> None:
    assert _first_cells(_page(language, "formats")) == _formats()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_link_between_pages_leads_somewhere(language: str) -> None:
    broken = []
    for path in (DOCS / language).glob("*.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
            name, _, anchor = target.partition("#")
            page = path.parent / name if name else path
            if "://" not in target and (not page.is_file() or (anchor and anchor not in page.read_text("utf-8"))):
                broken.append(f"{path.name} → {target}")
    assert broken == []


def test_the_glossaries_hold_the_same_terms() -> None:
    rows = {
        language: re.findall(r"^\| ([^|]+?) \| ([^|]+?) \| [^|]+ \|$", _page(language, "glossary"), flags=re.M)[1:]
        for language in LANGUAGES
    }
    assert len(rows["es"]) > 20
    assert {(english, spanish) for spanish, english in rows["es"]} == set(rows["en"])


def test_decision_records_are_numbered_and_say_context_decision_and_price() -> None:
    records = sorted((DOCS / "decisions").glob("*.md"))
    assert [path.name[:4] for path in records] == [f"{number:04d}" for number in range(1, len(records) + 1)]
    for path in records:
        text = path.read_text("utf-8")
        assert text.startswith(f"# {path.name[:4]}. ")
        assert all(f"**{part}.**" in text for part in ("Context", "Decision", "Price")), path.name


def _requirements_without_answer(stated: dict, proved: dict[str, list[str]]) -> list[str]:
    """Requirements of finished capabilities with neither a test nor a reason in both languages."""
    finished = {name for name, capability in stated["capabilities"].items() if capability["state"] == "finished"}
    return [
        each
        for each, asked in stated["requirements"].items()
        if finished & set(asked["capability"])
        if each not in proved and not all(asked.get(f"reason_{language}") for language in LANGUAGES)
    ]


def test_every_requirement_of_a_finished_capability_has_a_test_or_a_reason() -> None:
    generate = load_script("generate")
    assert _requirements_without_answer(generate.declared(), generate.proofs()) == []


def test_an_unanswered_requirement_would_be_seen() -> None:
    stated = {
        "capabilities": {"now": {"state": "finished"}, "later": {"state": "pending"}},
        "requirements": {
            "M01": {"capability": ["now"]},
            "M02": {"capability": ["later"]},
            "M03": {"capability": ["later", "now"], "reason_es": "x"},
            "M04": {"capability": ["now"]},
        },
    }
    assert _requirements_without_answer(stated, {"M04": ["test_x.py::test_y"]}) == ["M01", "M03"]


def test_requirements_are_stated_in_both_languages_and_belong_to_known_capabilities() -> None:
    stated = load_script("generate").declared()
    known = set(stated["capabilities"])
    faults = [
        each
        for each, asked in stated["requirements"].items()
        if not asked["capability"] or not set(asked["capability"]) <= known or not asked["es"] or not asked["en"]
    ]
    assert faults == []
    assert {capability["state"] for capability in stated["capabilities"].values()} <= {"pending", "finished"}


def test_a_mark_names_a_requirement_that_exists() -> None:
    generate = load_script("generate")
    stated = generate.declared()
    assert set(generate.proofs()) <= set(stated["requirements"]) | set(stated["readings"])


def test_our_list_of_requirements_is_complete(shared: Path) -> None:
    text = (shared / "REQUIREMENTS.md").read_text("utf-8")
    stated = load_script("generate").declared()
    assert set(stated["requirements"]) == set(re.findall(r"^\| ([MAPY]\d\d) \|", text, flags=re.M))
    assert set(stated["readings"]) == set(re.findall(r"^\| (X\d+) \|", text, flags=re.M))


@pytest.mark.parametrize(
    ("page", "loads"),
    [
        ('<script src="https://cdn.example/x.js"></script>', 1),
        ('<link rel="stylesheet" href="//fonts.example/a.css">', 1),
        ('<img src="a.png"><a href="https://example.org">x</a><link rel="canonical" href="https://x.y">', 0),
    ],
)
def test_a_page_that_loads_something_from_outside_is_seen(page: str, loads: int) -> None:
    assert len(load_script("finish_site").outside(page)) == loads
