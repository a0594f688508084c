"""The graph of our modules: which imports which when it is imported. Knows nothing of packages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tests.architecture.source_files import imports_of, module_named, modules

Graph = Mapping[str, set[str]]


@cache
def import_graph() -> Graph:
    """Every module with the other modules of ours that it imports at import time; the top package is left out."""
    graph: dict[str, set[str]] = {}
    for module in modules():
        targets = {module_named(name) for _, name in imports_of(module, at_import_time=True)}
        graph[module.name] = targets - {"", "celosia", module.name}
    return graph


def find_cycle(graph: Graph) -> list[str]:
    """One import cycle, or nothing."""
    finished: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str]:
        if node in path:
            return path[path.index(node) :]
        if node in finished:
            return []
        for target in sorted(graph.get(node, ())):
            if cycle := visit(target, [*path, node]):
                return cycle
        finished.add(node)
        return []

    return next((cycle for node in sorted(graph) if (cycle := visit(node, []))), [])


def longest_chain(graph: Graph) -> list[str]:
    """The longest chain of modules of which each imports the next, in a graph without cycles."""
    longest: dict[str, list[str]] = {}

    def chain_from(node: str) -> list[str]:
        if node not in longest:
            below = [chain_from(target) for target in sorted(graph.get(node, ()))]
            longest[node] = [node, *max(below, key=len, default=[])]
        return longest[node]

    return max((chain_from(node) for node in sorted(graph)), key=len, default=[])


def importers_of(name: str) -> list[str]:
    """The modules that import a module of ours, at any time."""
    return [
        module.name
        for module in modules()
        if module.name != name and any(module_named(target) == name for _, target in imports_of(module))
    ]
