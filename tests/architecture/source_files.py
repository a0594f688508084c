"""Reads our own source as syntax trees: modules, imports, calls. Knows nothing of what the code does."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "src" / "celosia"


@dataclass(frozen=True)
class Module:
    """One file of the source: its dotted name and its syntax tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def below_celosia(self) -> str:
        """The name without `celosia.`; the top package itself is `celosia`."""
        return self.name.removeprefix("celosia.")

    @property
    def package(self) -> str:
        """The first part of the name below `celosia`."""
        return self.below_celosia.split(".")[0]

    @property
    def where(self) -> str:
        """The path as people write it."""
        return self.path.relative_to(REPOSITORY).as_posix()


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the source."""
    return tuple(_parse(path) for path in sorted(SOURCE.rglob("*.py")))


@cache
def module_names() -> frozenset[str]:
    """The dotted name of every module."""
    return frozenset(module.name for module in modules())


def _parse(path: Path) -> Module:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, ast.parse(path.read_text("utf-8"), filename=str(path)))


def planted_module(package: str, code: str) -> Module:
    """A module that does not exist, for tests of the checks themselves."""
    path = SOURCE.joinpath(*package.split("."), "planted.py")
    return Module(f"celosia.{package}.planted", path, ast.parse(code))


def imports_of(module: Module, *, at_import_time: bool = False) -> list[tuple[int, str]]:
    """(line, dotted name) of every import, also inside functions; `from a import b` gives `a.b`."""
    nodes = _nodes_run_at_import(module.tree) if at_import_time else ast.walk(module.tree)
    imports: list[tuple[int, str]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            imports += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = imported_base(module, node)
            imports += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Call) and _last_name(node.func) in ("import_module", "__import__"):
            imports += [(node.lineno, text) for text in _literals(node.args[:1])]
    return imports


def own_imports_of(module: Module) -> list[tuple[int, str]]:
    """(line, name below `celosia`) of what a module imports of ours; the bare package is `celosia`."""
    return [
        (line, name.removeprefix("celosia."))
        for line, name in imports_of(module)
        if name == "celosia" or name.startswith("celosia.")
    ]


def imported_base(module: Module, node: ast.ImportFrom) -> str:
    """The absolute name that a `from … import` takes its names from."""
    if node.level == 0:
        return node.module or ""
    package = module.name.split(".")
    if module.path.name != "__init__.py":
        package = package[:-1]
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, *([node.module] if node.module else [])])


def _nodes_run_at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes that run when the module is imported: not function bodies, not `if TYPE_CHECKING`."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)


def module_named(name: str) -> str:
    """The module that a dotted name stands for or lies in; nothing for a module that is not ours."""
    while name and name not in module_names():
        name = name.rpartition(".")[0]
    return name


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Every call with the last part of the name it calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield _last_name(node.func), node


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _last_name(node: ast.AST) -> str:
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
def repository_files() -> tuple[Path, ...]:
    """Files that belong to the repository: tracked, or new and not ignored; all of them outside git."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        listing = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True).stdout.decode()
        paths = [REPOSITORY / name for name in listing.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path for path in REPOSITORY.rglob("*") if not _is_generated(path.relative_to(REPOSITORY))]
    return tuple(sorted(path for path in paths if path.is_file()))


def _is_generated(path: Path) -> bool:
    folders = {"build", "dist", "site", "__pycache__", "demo"}
    return any(part in folders or (part.startswith(".") and part != ".ci") for part in path.parts)
