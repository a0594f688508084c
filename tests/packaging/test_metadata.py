"""What the package says of itself: version, addresses, licences of its lists, and what its optional parts hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import celosia
from celosia.carried import PACKAGE, carried_origins, carried_path
from celosia.cli import main
from tests.architecture.source_files import REPOSITORY

NOTICE = (REPOSITORY / "NOTICE").read_text("utf-8")
PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
LISTS = sorted(
    path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "src").rglob("lists/*") if path.is_file()
)


def test_the_version_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"celosia {celosia.__version__}\n"
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/celosia/version.py"


@pytest.mark.parametrize("path", LISTS)
def test_every_code_list_has_its_source_date_and_licence(path: str) -> None:
    [entry] = [block for block in NOTICE.split("\n\n") if path in block.splitlines()]
    assert re.search(r"^  Source:  \S", entry, flags=re.M)
    assert re.search(r"^  Date:    \d{4}-\d{2}-\d{2}", entry, flags=re.M)
    assert re.search(r"^  Licence: \S", entry, flags=re.M)


def test_the_notice_names_no_list_that_is_not_there() -> None:
    named = re.findall(r"^src/\S+lists/\S+$", NOTICE, flags=re.M)
    assert named
    assert set(named) == set(LISTS)


def test_the_licence_is_an_spdx_expression_with_its_files() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["license-files"] == ["LICENSE", "NOTICE"]


def test_the_addresses_are_absolute() -> None:
    assert PROJECT["urls"]
    assert all(address.startswith("https://") for address in PROJECT["urls"].values())


def test_the_readme_of_the_package_has_no_link_that_leads_nowhere() -> None:
    [rule] = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]
    readme = re.sub(rule["pattern"], rule["replacement"], (REPOSITORY / "README.md").read_text("utf-8"))
    targets = re.findall(r"\]\(([^)]+)\)", readme)
    assert [target for target in targets if not target.startswith("https://")] == []
    assert "(`docs/en/first-steps.md`)" in readme


def test_the_classifiers_name_the_versions_the_tests_try() -> None:
    from celosia.bundle.platforms import VERSIONS

    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert tuple(named) == VERSIONS
    assert PROJECT["requires-python"] == f">={VERSIONS[0]}"


def test_the_lock_of_the_desktop_holds_its_parts_and_agrees_with_the_tests() -> None:
    from celosia.bundle.lock import read_entries

    desktop = {(entry.name, entry.version) for entry in read_entries(_lock("desktop"))}
    assert desktop <= {(entry.name, entry.version) for entry in read_entries(_lock("test"))}
    [parts] = [re.findall(r"\w+", line)[1:] for line in PROJECT["optional-dependencies"]["desktop"]]
    lines = [line for part in parts for line in PROJECT["optional-dependencies"][part]] + PROJECT["dependencies"]
    needed = {re.split(r"[\[<>=!~; ]", line)[0].lower() for line in lines}
    assert needed - {"celosia"} <= {name for name, _ in desktop}


def _lock(name: str) -> str:
    return (REPOSITORY / "requirements" / f"{name}.lock").read_text("utf-8")


def test_what_the_wheel_carries_stands_where_the_program_looks() -> None:
    places = carried_origins()
    assert len(places) == len(PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"])
    assert all(carried_path(place).exists() and not (PACKAGE / place).exists() for place in places)


def test_every_dependency_of_a_source_package_is_in_it() -> None:
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in included if not Path(REPOSITORY, name.strip("/")).exists()] == []
    tracked = {
        "tests",
        "examples",
        "scripts",
        "requirements",
        "bench",
        "docs",
        "src",
        "Makefile",
        "NOTICE",
        "Containerfile",
    }
    assert {f"/{name}" for name in tracked} <= set(included)
