"""The table of packages, docs/packages.toml: which package may import which. Knows nothing of the code itself."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from tests.architecture.source_files import REPOSITORY

PATH = REPOSITORY / "docs" / "packages.toml"


@dataclass(frozen=True)
class Package:
    """One line of the table. `may_import` has its groups spelt out; `libraries` is None where nothing is limited."""

    name: str
    position: int
    may_import: tuple[str, ...]
    libraries: frozenset[str] | None


@cache
def packages() -> dict[str, Package]:
    """Every line of the table by its name, in its order."""
    document = tomllib.loads(PATH.read_text("utf-8"))
    groups = document["groups"]
    table = {}
    for position, (name, line) in enumerate(document["packages"].items()):
        names = [member for word in line["may_import"] for member in groups.get(word, [word])]
        libraries = frozenset(line["libraries"]) if "libraries" in line else None
        table[name] = Package(name, position, tuple(names), libraries)
    return table


def covers(name: str, module: str) -> bool:
    """Whether a module is the one named or lies below it."""
    return module == name or module.startswith(f"{name}.")


def package_of(module: str) -> Package | None:
    """The line that a module belongs to: that of the longest name that covers it."""
    lines = [package for name, package in packages().items() if covers(name, module)]
    return max(lines, key=lambda package: len(package.name), default=None)


def may_import(importer: str, imported: str) -> bool:
    """Whether one module, by its name below `celosia`, may import another."""
    own, other = package_of(importer), package_of(imported)
    if own is None or other is None:
        return False
    if own == other or _is_errors_of_enclosing_package(importer, imported):
        return True
    return any(covers(name, imported) for name in own.may_import) and other.position < own.position


def _is_errors_of_enclosing_package(importer: str, imported: str) -> bool:
    parts = imported.split(".")
    return "errors" in parts and covers(".".join(parts[: parts.index("errors")]), importer)
