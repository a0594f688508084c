"""Operations are thin: light to import, typed, registered with their roles, found by module and name alone."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from celosia.workbench import operations
from celosia.workbench.operation import REGISTRY, Operation, find_operation, operation, operation_key
from tests.web.operations import all_operations

HEAVY = {"duckdb", "ibis", "numba", "numpy", "pandas", "polars", "pyarrow", "scipy", "sqlglot", "tomlkit"}
MODULES = sorted(path.stem for path in Path(operations.__path__[0]).glob("*.py") if path.stem != "__init__")


def loaded_by(statement: str) -> set[str]:
    """The top packages that a fresh process has loaded after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(answer.stdout))


def test_the_operations_load_no_engine() -> None:
    statement = "\n".join(f"import {operations.__name__}.{name}" for name in MODULES)
    assert loaded_by(statement) & HEAVY == set()


def test_the_page_and_its_operations_load_no_engine() -> None:
    pytest.importorskip("nicegui")
    statement = "import celosia.web.server.application\nfrom celosia.web import pages\npages.register()"
    assert loaded_by(statement) & HEAVY == set()


def test_every_public_function_of_a_module_of_operations_is_registered() -> None:
    all_operations()
    for path in Path(operations.__path__[0]).glob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                assert f"{operations.__name__}.{path.stem}:{node.name}" in REGISTRY


def test_no_operation_answers_any() -> None:
    for name, registered in all_operations().items():
        answer = registered.function.__annotations__["return"]
        assert answer not in (typing.Any, "Any", "dict[str, Any] | None"), name


def test_an_operation_may_be_of_several_groups_of_roles() -> None:
    def both() -> None:
        """Nothing."""

    try:
        operation(frozenset(("executor",)), frozenset(("head",)))(both)
        assert find_operation(operation_key(both)) == Operation(both, frozenset(("executor", "head")))
    finally:
        REGISTRY.pop(operation_key(both))
