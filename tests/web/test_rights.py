"""One table says which role sees which page and calls which verb; what stands in no list is refused."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import celosia.web
from celosia.web import _rights as rights
from celosia.web._frame import STEPS
from celosia.web._sessions import OWNER
from celosia.web._workers import verb_named

PAGES = Path(celosia.web.__file__).parent
# Verbs that show rows of the source, or values of one, or say where a search is weak: only who executes.
SHOWING_ROWS = (
    "preview_project", "preview_source", "side_by_side", "try_hierarchy", "values_in_order", "risk_table", "tree_page",
)  # fmt: skip
CHANGING = ("edit_dictionary", "edit_policy", "save_hierarchy", "search_plan", "run_plan", "create_project")


def named_verbs() -> set[str]:
    """Every verb that a page asks, answers or starts by a literal name."""
    found = set()
    for path in PAGES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                first = node.args[0]
                of_a_desk = ast.unparse(node.func.value).endswith(("desk", "own"))
                if of_a_desk and node.func.attr in ("ask", "answer", "start") and isinstance(first, ast.Constant):
                    found.add(str(first.value))
    return {name for name in found if re.fullmatch(r"[a-z_.]+", name)}


def test_every_verb_of_a_page_exists_and_some_role_may_call_it() -> None:
    assert len(named_verbs()) > 40
    known = frozenset().union(*rights.VERBS.values())
    assert {name for name in named_verbs() if name not in known} == set()
    for name in named_verbs():
        assert callable(verb_named(name))


def test_the_table_names_nothing_that_does_not_exist() -> None:
    for name in frozenset().union(*rights.VERBS.values()):
        assert callable(verb_named(name))


@pytest.mark.requirement("M31", "M38")
@pytest.mark.parametrize("role", [*rights.SIGNERS, "outsider"])
@pytest.mark.parametrize("verb", [*SHOWING_ROWS, *CHANGING])
def test_only_the_executor_sees_rows_and_prepares(role: str, verb: str) -> None:
    assert verb_named(verb)
    assert not rights.may_do((role,), verb)
    assert rights.may_do(("executor",), verb)
    assert rights.may_do(OWNER, verb)


def test_the_outsider_sees_the_candidate_alone() -> None:
    assert {step for step in STEPS if rights.may_see(("outsider",), step)} <= {"attempt"}
    assert rights.may_see(("outsider",), "attempt")
    insiders = rights.VERBS["executor"] - rights.VERBS["outsider"]
    assert {"status", "dictionary_view", "result_view"} <= insiders


@pytest.mark.parametrize("roles", [(), ("nobody",), ("OWNER",)])
def test_an_unknown_role_may_nothing(roles: tuple[str, ...]) -> None:
    assert not rights.may_do(roles, "status")
    assert not rights.may_see(roles, "overview")
    assert not rights.may_edit(roles, "overview")


def test_who_verifies_approves_and_who_executes_does_not() -> None:
    assert rights.may_do(("verifier",), "approve_with_key")
    assert not rights.may_do(("executor",), "approve_with_key")
    assert not rights.may_do(("verifier",), "make_release")
    assert not rights.may_do(("verifier",), "publish_release")
    assert rights.may_do(("head",), "publish_release")
