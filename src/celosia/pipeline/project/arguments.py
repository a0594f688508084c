"""What the outermost functions accept for comfort: text as a path, no time at all, reading choices by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from numbers import Integral
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from celosia import messages
from celosia.data.sniffing import Overrides
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project.errors import UnknownArgument, WrongArgument

PathArg = str | Path
P = ParamSpec("P")
R = TypeVar("R")


def utc_now(now: datetime | None) -> datetime:
    """The time given, or the present in UTC."""
    return datetime.now(UTC) if now is None else now


def refuse_unknown_choices(reading: Iterable[str]) -> None:
    """A reading choice that does not exist is refused by its name."""
    known = tuple(Overrides.__annotations__)
    for name in reading:
        if name not in known:
            raise ValueOutOfRange(parameter="reading", given=name, allowed=", ".join(known))


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which names in words an argument that it does not know or that is missing.

    Its signature is the same for editors and type checkers.
    """
    signature = inspect.signature(function)
    known = [name for name, parameter in signature.parameters.items() if parameter.kind is not parameter.VAR_KEYWORD]
    takes_reading = len(known) < len(signature.parameters)
    known += [*Overrides.__annotations__, "engine", "memory"] if takes_reading else []

    @functools.wraps(function)
    def call_checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise UnknownArgument(function=function.__name__, argument=name, known=_similar_names(name, known))
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            bound = signature.bind_partial(*args[: len(signature.parameters)], **kwargs)
            required = [n for n, p in signature.parameters.items() if p.default is p.empty and p.kind not in _VARIABLE]
            missing = [name for name in required if name not in bound.arguments]
            raise WrongArgument(
                argument=", ".join(missing) or "*", expected=messages.text("library.kind.given"), given="–"
            ) from None
        return function(*args, **kwargs)

    return call_checked


_VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def _similar_names(name: str, known: Sequence[str]) -> str:
    """The arguments that somebody may have meant; all of them where none is near."""
    return ", ".join(get_close_matches(name, known, n=2) or known)


def column_names(argument: str, value: Any) -> tuple[str, ...]:
    """One name or several; anything else is refused by the name of the argument."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise _wrong_argument(argument, value, "names")
    names = tuple(value)
    for name in names:
        if not isinstance(name, str):
            raise _wrong_argument(argument, name, "names")
    return names


def column_name(argument: str, value: Any) -> str | None:
    """One name, or none."""
    if value is not None and not isinstance(value, str):
        raise _wrong_argument(argument, value, "name")
    return value


def whole_number(argument: str, value: Any, minimum: int) -> int:
    """A whole number of at least so much; NumPy's are welcome, texts and truth values are not."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < minimum:
        raise _wrong_argument(argument, value, "whole", minimum=minimum)
    return int(value)


def _wrong_argument(argument: str, value: Any, kind: str, **fields: object) -> WrongArgument:
    """The refusal of a value by its type: the value itself may be a cell."""
    given = repr(value) if isinstance(value, int | float) else type(value).__name__
    return WrongArgument(argument=argument, expected=messages.text(f"library.kind.{kind}", **fields), given=given)
