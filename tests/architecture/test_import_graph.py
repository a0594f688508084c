"""The graph of imports: no cycle, not too deep, and no module on which everything leans."""

from __future__ import annotations

from tests.architecture.import_graph import find_cycle, import_graph, importers_of, longest_chain

DEEPEST_CHAIN = 25
# The bound goes down with the code, never up.
MOST_IMPORTERS_OF_ERRORS = 60


def test_there_is_no_import_cycle() -> None:
    assert find_cycle(import_graph()) == []


def test_the_longest_chain_of_imports_is_bounded() -> None:
    chain = longest_chain(import_graph())
    assert len(chain) <= DEEPEST_CHAIN, f"{len(chain)} modules, each imports the next: {' > '.join(chain)}"


def test_the_base_of_errors_is_imported_by_few() -> None:
    importers = importers_of("celosia.errors")
    assert len(importers) <= MOST_IMPORTERS_OF_ERRORS, f"{len(importers)} modules import celosia.errors: {importers}"


def test_a_planted_cycle_is_found() -> None:
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]


def test_the_longest_chain_of_a_small_graph_is_found() -> None:
    assert longest_chain({"a": {"b", "d"}, "b": {"c"}, "c": {"d"}, "d": set()}) == ["a", "b", "c", "d"]
