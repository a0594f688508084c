"""What we say we export is what can be imported; and starting the program loads nothing heavy."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from types import ModuleType

import pytest

from tests.architecture.source_files import modules

HEAVY = set("duckdb fastexcel ibis llvmlite numba numpy pandas polars pyarrow pyspark rich scipy sqlglot".split())


def _packages() -> list[str]:
    """The packages below `celosia` and the top package: the modules whose export list is public."""
    return [module.name for module in modules() if module.path.name == "__init__.py" and module.name.count(".") <= 1]


def _public_names(package: ModuleType) -> set[str]:
    return {
        name
        for name in dir(package)
        if not name.startswith("_") and not isinstance(getattr(package, name), ModuleType) and name != "annotations"
    }


def test_the_public_names_are_what_can_be_imported() -> None:
    import celosia

    assert set(celosia.__all__) - {"__version__"} == _public_names(celosia) | _exported_modules(celosia)


def test_no_public_name_is_hidden_by_a_package_of_the_same_name() -> None:
    """Importing `celosia.x` binds `celosia.x` to the module, whatever the public name `x` was."""
    import celosia

    inner = {module.name.removeprefix("celosia.") for module in modules()}
    assert set(celosia.__all__) & inner == {"treatments"}


def _exported_modules(package: ModuleType) -> set[str]:
    return {name for name in package.__all__ if isinstance(getattr(package, name), ModuleType)}


@pytest.mark.parametrize("name", _packages())
def test_every_name_in_an_export_list_exists_once(name: str) -> None:
    package = importlib.import_module(name)
    exported = list(getattr(package, "__all__", ()))
    assert [each for each in exported if not hasattr(package, each)] == []
    assert len(exported) == len(set(exported))


def _loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{n.split('.')[0] for n in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("statement", ["import celosia", "import celosia.cli", "import celosia.errors"])
def test_nothing_heavy_is_loaded_at_the_start(statement: str) -> None:
    assert _loaded_by(statement) & HEAVY == set()


def test_a_heavy_import_would_be_seen() -> None:
    assert "numpy" in _loaded_by("import celosia.tuples.table")
