"""The name of a project's file stands in one module: `celosia.model.paths`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from celosia.model import paths
from tests.architecture.source_files import SOURCE, Module, modules

HOME = "celosia.model.paths"
FOLDERS = {"private", "hierarchies", "reports", "approved", "intruder", "attempts", "candidate", "unmapped"} | {
    paths.RELEASES,
    paths.SIGNATURES,
    paths.DOSSIER,
    paths.DELIVERY,
    paths.RESTRICTED,
}


def _file_names() -> set[str]:
    """Every name with an extension that the module holds, as it is written there."""
    [home] = [module for module in modules() if module.name == HOME]
    texts = {
        node.value for node in ast.walk(home.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    templates = {path.name for path in (SOURCE / "dossier").rglob("*") if path.is_file()}
    return {text for text in texts if re.fullmatch(r"[\w-]+\.[a-z]+", text)} - templates


def _docstrings(tree: ast.Module) -> set[int]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented) and node.body]
    return {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr)}


def written_names(module: Module, names: set[str]) -> Iterator[str]:
    """Where a module writes the name of a project's file, or joins a path with the name of one of its folders."""
    documentation = _docstrings(module.tree)
    pattern = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, sorted(names))) + r")(?![.\w])")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant):
            yield from (f"{module.where}:{node.lineno} {name}" for name in FOLDERS & {node.right.value})
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield from (f"{module.where}:{node.lineno} {name}" for name in pattern.findall(node.value))


def test_names_of_files_stand_in_one_module() -> None:
    names = _file_names()
    assert {"celosia.toml", "plan.json", "data.csv"} <= names
    assert [where for module in modules() if module.name != HOME for where in written_names(module, names)] == []


def test_a_planted_name_is_found() -> None:
    source = 'def read(folder):\n    """Reads plan.json."""\n    return folder / "private" / "plan.json"\n'
    planted = Module("celosia.planted", modules()[0].path, ast.parse(source))
    assert len(list(written_names(planted, {"plan.json"}))) == 2
