"""Each operation says which roles may call it, one table says which role sees which page; the rest is refused."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import celosia.web
from celosia.web.server import rights
from celosia.web.ui.page import STEPS
from celosia.workbench.operation import OWNER, SIGNERS, may_call, operation_key
from celosia.workbench.operations import (
    dictionary,
    dossier,
    hierarchies,
    intruder,
    new_project,
    projects,
    result,
    risk,
    search,
)
from tests.web.operations import all_operations, may

PAGES = Path(celosia.web.__file__).parent
# Operations that show rows of the source, or values of one, or say where a search is weak: only who executes.
SHOWING_ROWS: tuple[Callable[..., Any], ...] = (
    projects.preview_project,
    new_project.preview_source,
    result.side_by_side,
    hierarchies.try_hierarchy,
    hierarchies.values_in_order,
    risk.risk_table,
    hierarchies.tree_page,
)
CHANGING: tuple[Callable[..., Any], ...] = (
    dictionary.edit_dictionary,
    search.edit_policy,
    hierarchies.save_hierarchy,
    search.search_plan,
    search.run_plan,
    new_project.create_project,
)
CALLING = ("ask", "answer", "start", "may", "to", "try_with")


def first_arguments() -> list[ast.expr]:
    """What every page asks, answers, starts or may do."""
    return [
        node.args[0]
        for path in PAGES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
        if node.func.attr in CALLING and "page" in ast.unparse(node.func.value)
    ]


def test_no_page_calls_an_operation_by_a_text() -> None:
    assert len(first_arguments()) > 100
    assert [argument for argument in first_arguments() if isinstance(argument, ast.Constant)] == []


def test_every_operation_is_called_by_some_page_or_by_the_server() -> None:
    source = "".join(path.read_text("utf-8") for path in PAGES.rglob("*.py"))
    unused = {name for name in all_operations() if name.removeprefix("stats.") not in source}
    assert unused == set()


def test_what_the_server_alone_calls_is_of_no_role() -> None:
    of_nobody = {name for name, operation in all_operations().items() if not operation.roles}
    assert of_nobody == {"note_download", "note_refusal", "settle_projects"}


@pytest.mark.requirement("M31", "M38")
@pytest.mark.parametrize("role", [*SIGNERS, "outsider"])
@pytest.mark.parametrize("operation", [*SHOWING_ROWS, *CHANGING], ids=lambda operation: operation.__name__)
def test_only_the_executor_sees_rows_and_prepares(role: str, operation: Callable[..., Any]) -> None:
    assert not may(role, operation)
    assert may("executor", operation)
    assert may(OWNER[0], operation)


def test_the_outsider_sees_the_candidate_alone() -> None:
    assert {step for step in STEPS if rights.may_see(("outsider",), step)} <= {"attempt"}
    assert rights.may_see(("outsider",), "attempt")
    attempts = {name for name, operation in all_operations().items() if "outsider" in operation.roles}
    assert attempts == {"attempt_file", "attempt_view", "open_attempts", "save_attempt", "send_claims"}
    assert not any(may("executor", getattr(intruder, name)) for name in attempts)


@pytest.mark.parametrize("roles", [(), ("nobody",), ("OWNER",)])
def test_an_unknown_role_may_nothing(roles: tuple[str, ...]) -> None:
    assert not may_call(roles, operation_key(projects.status))
    assert not rights.may_see(roles, "overview")
    assert not rights.may_edit(roles, "overview")


def test_who_verifies_approves_and_who_executes_does_not() -> None:
    assert may("verifier", dossier.approve_with_key)
    assert not may("executor", dossier.approve_with_key)
    assert not may("verifier", dossier.make_release)
    assert not may("verifier", dossier.publish_with_key)
    assert may("head", dossier.publish_with_key)
