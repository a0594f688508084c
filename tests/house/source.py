"""Reads our own source as syntax trees: modules, imports, calls. Knows nothing of what the code does."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "src" / "celosia"


@dataclass(frozen=True)
class Module:
    """One file of the package: its dotted name and its tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def room(self) -> str:
        """The first part below `celosia`; the top package itself is ''."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else ""

    @property
    def where(self) -> str:
        """The path as people write it."""
        return self.path.relative_to(REPOSITORY).as_posix()


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package."""
    return tuple(_module(path) for path in sorted(PACKAGE.rglob("*.py")))


def _module(path: Path) -> Module:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, ast.parse(path.read_text("utf-8"), filename=str(path)))


def imported(module: Module, *, at_import_time: bool = False) -> list[tuple[int, str]]:
    """(line, dotted name) of every import, also inside functions; `from a import b` gives `a.b`."""
    nodes = _run_at_import(module.tree) if at_import_time else ast.walk(module.tree)
    found: list[tuple[int, str]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Call) and _named(node.func) in ("import_module", "__import__"):
            found += [(node.lineno, text) for text in _literals(node.args[:1])]
    return found


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    package = module.name.split(".")
    if module.path.name != "__init__.py":
        package = package[:-1]
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, *([node.module] if node.module else [])])


def _run_at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes that run when the module is imported: not function bodies, not `if TYPE_CHECKING`."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Every call with the last part of the name it calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield _named(node.func), node


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _named(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _literals(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def strings(tree: ast.AST) -> Iterator[str]:
    """Every text constant, docstrings included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def kept_files() -> tuple[Path, ...]:
    """Files that belong to the repository: tracked, or new and not ignored; all of them outside git."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=REPOSITORY, capture_output=True, check=True,
        ).stdout.decode()  # fmt: skip
        paths = [REPOSITORY / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path for path in REPOSITORY.rglob("*") if not _outside(path.relative_to(REPOSITORY))]
    return tuple(sorted(path for path in paths if path.is_file()))


def _outside(path: Path) -> bool:
    made = {"build", "dist", "site", "__pycache__", "demo"}
    return any(part in made or (part.startswith(".") and part != ".ci") for part in path.parts)
