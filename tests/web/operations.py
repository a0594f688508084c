"""Every operation there is, by its short name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from celosia.workbench import operations
from celosia.workbench.operation import REGISTRY, Operation, may_call, operation_key, operation_label


def all_operations() -> dict[str, Operation]:
    """The registered functions of all modules of operations."""
    for module in pkgutil.iter_modules(operations.__path__):
        importlib.import_module(f"{operations.__name__}.{module.name}")
    return {operation_label(key): operation for key, operation in REGISTRY.items()}


def may(role: str, operation: Callable[..., Any]) -> bool:
    """Whether a role may call an operation."""
    return may_call((role,), operation_key(operation))
