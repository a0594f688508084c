"""Operations: the functions that a page may call, each registered with the roles that may call it.

Knows functions, their names and roles. An operation is a thin function of `celosia.workbench.operations`: its module
imports no engine, so that the page's own process stays small (decision 0007), and its body imports what does the work.
A page names an operation by the function; a worker process finds it in the registry by `module:name`. Whoever executes
prepares everything and approves nothing of it; whoever verifies or heads sees figures, documents and the candidate,
never a row of the source; the outsider sees the candidate alone. Sources: MINSAL Roles 1, Verificación 4; MEL IV.2.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

PACKAGE = "celosia.workbench.operations"
OWNER = ("owner",)  # the person at the machine of a page that is not shared: everything is theirs
SIGNERS = ("verifier", "head", "lead", "delegate")

LOOK = frozenset(("executor", *SIGNERS))  # a project's state: no row of the source
SIGN = LOOK  # documents, keys, releases, checks and the tables of STATS
# Everything that reads the source, edits the project, searches, runs or attacks.
PREPARE = frozenset(("executor",))
# Why a cell is hidden and how far its value could lie is for those who make the tables and those who verify them.
HIDDEN = frozenset(("executor", "verifier"))
# Whether a claim was right is answered inside the institution, never by whoever made it.
JUDGE = HIDDEN
# What was prepared is approved by others; who answers for it publishes it, and says who takes part.
APPROVE = frozenset(SIGNERS)
PUBLISH = frozenset(("delegate", "head", "lead"))
INVITE = frozenset(("head", "lead"))
ATTEMPT = frozenset(("outsider",))
SERVER: frozenset[str] = frozenset()  # called by the server itself, for no role

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Operation:
    """A registered function and the roles that may call it."""

    function: Callable[..., Any]
    roles: frozenset[str]


REGISTRY: dict[str, Operation] = {}


def operation(*roles: frozenset[str]) -> Callable[[F], F]:
    """Register a function as an operation of these groups of roles."""

    def register(function: F) -> F:
        REGISTRY[operation_key(function)] = Operation(function, frozenset().union(*roles))
        return function

    return register


def operation_key(function: Callable[..., Any]) -> str:
    """The name under which a worker process finds a function: `module:name`."""
    return f"{function.__module__}:{function.__qualname__}"


def operation_label(key: str) -> str:
    """The short name of an operation in the journal and in the catalogue: `run_plan`, `stats.run_now`."""
    module, _, name = key.partition(":")
    return f"stats.{name}" if module == f"{PACKAGE}.stats" else name


def find_operation(key: str) -> Operation:
    """The operation behind a key; only modules of the package are imported, and only registered functions found."""
    module = key.partition(":")[0]
    if module.startswith(f"{PACKAGE}.") and key not in REGISTRY:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as missing:
            if missing.name != module:
                raise
    if key not in REGISTRY:
        raise LookupError(key)
    return REGISTRY[key]


def may_call(roles: Iterable[str], key: str) -> bool:
    """Whether any of these roles may call the operation behind a key; one that is not registered nobody calls."""
    return any(role in OWNER or role in find_operation(key).roles for role in roles)
