"""Imports point inwards as docs/packages.toml says, and none goes through the top package."""

from __future__ import annotations

import sys

import pytest

from tests.architecture.naming import is_private
from tests.architecture.package_table import covers, may_import, package_of, packages
from tests.architecture.source_files import Module, imports_of, modules, own_imports_of, planted_module

# Imports that still point the wrong way, as (importer, imported): each is to be turned round, and none may be added.
NOT_YET_TURNED: frozenset[tuple[str, str]] = frozenset(
    {
        ("data.engines.postgres", "data._postgres_text"),
        ("data.readers.postgresql", "data._postgres_text"),
    }
)


def outward_imports(module: Module) -> list[tuple[int, str]]:
    """(line, name) of every import that the table does not allow."""
    return [(line, name) for line, name in own_imports_of(module) if not may_import(module.below_celosia, name)]


def _is_not_yet_turned(module: Module, name: str) -> bool:
    return any(module.below_celosia == importer and covers(known, name) for importer, known in NOT_YET_TURNED)


def foreign_libraries(module: Module) -> list[str]:
    """Libraries that a module imports and its package may not use."""
    package = package_of(module.below_celosia)
    if package is None or package.libraries is None:
        return []
    libraries = {(line, name.split(".")[0]) for line, name in imports_of(module)}
    allowed = package.libraries | {"celosia"} | sys.stdlib_module_names
    return [f"{module.where}:{line} imports {name}" for line, name in sorted(libraries) if name not in allowed]


def test_every_module_belongs_to_a_line_of_the_table() -> None:
    assert [module.where for module in modules() if package_of(module.below_celosia) is None] == []


def test_every_line_of_the_table_has_a_module() -> None:
    names = [module.below_celosia for module in modules()]
    assert [package for package in packages() if not any(covers(package, name) for name in names)] == []


def test_every_line_names_only_lines_above_it() -> None:
    faults = [
        f"{package.name} names {name}"
        for package in packages().values()
        for name in package.may_import
        if (other := package_of(name)) is None or other.position >= package.position
    ]
    assert faults == []


def test_the_steps_of_the_workflow_stand_in_their_order() -> None:
    steps = "project intake planning assessment candidate intruder release".split()
    names = [*(f"pipeline.{step}" for step in steps), "workbench"]
    positions = [packages()[name].position for name in names]
    assert positions == sorted(positions)


def test_imports_point_inwards() -> None:
    faults = [
        f"{module.where}:{line} imports {name}"
        for module in modules()
        for line, name in outward_imports(module)
        if not _is_not_yet_turned(module, name)
    ]
    assert faults == []


def test_imports_that_were_turned_round_leave_the_list() -> None:
    outward = {(module.below_celosia, name) for module in modules() for _, name in outward_imports(module)}
    stale = [
        (importer, known)
        for importer, known in NOT_YET_TURNED
        if not any(importer == module and covers(known, name) for module, name in outward)
    ]
    assert stale == []


def test_no_import_goes_through_the_top_package() -> None:
    tops = {module.package for module in modules()} - {"celosia"}
    faults = [
        f"{module.where}:{line} imports {name}"
        for module in modules()
        for line, name in own_imports_of(module)
        if name.split(".")[0] not in tops
    ]
    assert faults == []


def test_no_private_module_of_another_package_is_imported() -> None:
    faults = [
        f"{module.where}:{line} imports {name}"
        for module in modules()
        for line, name in own_imports_of(module)
        if name.split(".")[0] != module.package and any(is_private(part) for part in name.split(".")[1:])
    ]
    assert faults == []


def test_inner_packages_use_only_the_libraries_they_are_given() -> None:
    assert [fault for module in modules() for fault in foreign_libraries(module)] == []


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("risk", "import celosia.data.table"),
        ("risk", "from celosia.data import Table"),
        ("risk", "from celosia import data"),
        ("risk", "def late():\n    from ..data import Table"),
        ("risk", "from celosia.risk.criteria import CRITERIA"),
        ("kernels", "from ..errors import WrongUse"),
        ("protocols", "import importlib\nimportlib.import_module('celosia.data')"),
        ("techniques", "from celosia.data import read_csv"),
        ("cli", "from celosia.risk import measures"),
        ("data.readers", "from ..engines import Engine"),
        ("pipeline.project", "from ..intake.errors import NotASource"),
        ("pipeline.planning", "from ..candidate.run import run_plan"),
        ("pipeline.release", "from ...workbench.views import projects"),
        ("stats.rules", "from ..sources import connections"),
        ("tuples", "import celosia"),
    ],
)
def test_a_planted_outward_import_is_found(package: str, code: str) -> None:
    assert outward_imports(planted_module(package, code)) != []


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("risk.criteria", "from celosia.risk import population"),
        ("data.readers", "from ..errors import NotAFile"),
        ("pipeline.release", "from ..candidate.run import run_plan"),
        ("techniques", "from celosia.data.numbers import number_column"),
        ("web.pages.search", "from celosia.workbench.views import search"),
    ],
)
def test_a_planted_inward_import_is_allowed(package: str, code: str) -> None:
    assert outward_imports(planted_module(package, code)) == []


def test_a_planted_library_is_found() -> None:
    assert foreign_libraries(planted_module("kernels", "import numpy, scipy.stats, math")) != []
    assert foreign_libraries(planted_module("kernels", "import numpy, math")) == []
