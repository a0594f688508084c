"""Names that functions had before: they still work, and say the new name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from celosia import messages
from celosia.library.assessment import apply, attack
from celosia.library.project_walk import plan, run


def make_plan(*args: Any, **choices: Any) -> Any:
    """The former name of `plan`; `limit` was the former name of `max_suppression`."""
    if "limit" in choices:
        choices["max_suppression"] = choices.pop("limit")
    return _call(plan, "make_plan", args, choices)


def run_plan(*args: Any, **choices: Any) -> Any:
    """The former name of `run`."""
    return _call(run, "run_plan", args, choices)


def apply_steps(*args: Any, **choices: Any) -> Any:
    """The former name of `apply`."""
    return _call(apply, "apply_steps", args, choices)


def intrude(*args: Any, **choices: Any) -> Any:
    """The former name of `attack`."""
    return _call(attack, "intrude", args, choices)


def _call(function: Callable[..., Any], old: str, args: tuple[Any, ...], choices: dict[str, Any]) -> Any:
    text = messages.text("library.deprecated", old=old, new=function.__name__)
    warnings.warn(text, DeprecationWarning, stacklevel=3)
    return function(*args, **choices)
