"""What the outermost functions accept for comfort: text as a path, no time at all, reading choices by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from celosia import messages
from celosia.data.sniffing import Overrides
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project.errors import UnknownArgument, WrongArgument

PathArg = str | Path
Names = str | Sequence[str]  # one column, or several
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
    """The function, which names in words an argument that it does not know, that is missing or of another type.

    What each argument takes is read from its annotation; one name is handed down as a tuple where several are taken.
    The signature is the same for editors and type checkers.
    """
    signature = inspect.signature(function)
    known = [name for name, parameter in signature.parameters.items() if parameter.kind is not parameter.VAR_KEYWORD]
    takes_reading = len(known) < len(signature.parameters)
    accepting_any: Callable[..., R] = function
    known += [*Overrides.__annotations__, "engine", "memory"] if takes_reading else []

    @functools.wraps(function)
    def call_checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise UnknownArgument(function=function.__name__, argument=name, known=_similar_names(name, known))
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            raise _missing_argument(signature, args, kwargs) from None
        for name, value in bound.arguments.items():
            bound.arguments[name] = _convert_value(name, value, signature.parameters[name])
        return accepting_any(*bound.args, **bound.kwargs)

    return call_checked


def _missing_argument(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> WrongArgument:
    """The refusal that names the arguments that nobody gave; more positions than there are lack a name."""
    given = set(kwargs) | set(list(signature.parameters)[: len(args)])
    required = [n for n, p in signature.parameters.items() if p.default is p.empty and p.kind not in _VARIABLE]
    missing = ", ".join(name for name in required if name not in given)
    kind = "given" if missing else "by_name"
    return WrongArgument(argument=missing or "*", expected=messages.text(f"library.kind.{kind}"), given="–")


def _convert_value(name: str, value: Any, parameter: inspect.Parameter) -> Any:
    """The value as the annotation of its parameter has it; what the annotation leaves open is handed down as it is."""
    # Strings, because the modules of the public functions postpone the evaluation of annotations.
    annotation = str(parameter.annotation).removesuffix(" | None")
    convert = _CONVERTERS.get(annotation)
    if convert is None or (value is None and annotation != parameter.annotation):
        return value
    return convert(name, value)


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


def _check_integer(argument: str, value: Any) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise _wrong_argument(argument, value, "integer")
    return int(value)


def _check_number(argument: str, value: Any) -> Any:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise _wrong_argument(argument, value, "number")
    return value


def _check_text(argument: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong_argument(argument, value, "text")
    return value


def _check_answer(argument: str, value: Any) -> Any:
    if not isinstance(value, bool) and type(value).__name__ != "bool":  # NumPy's is called so too
        raise _wrong_argument(argument, value, "answer")
    return bool(value)


def _check_mapping(argument: str, value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong_argument(argument, value, "mapping")
    return value


def _check_levels(argument: str, value: Any) -> Any:
    for bounds in _check_mapping(argument, value).values():
        both = bounds if isinstance(bounds, list | tuple) and len(bounds) == 2 else (bounds,)
        if not all(isinstance(level, Integral) and not isinstance(level, bool) for level in both):
            raise _wrong_argument(argument, bounds, "levels")
    return value


def _check_mappings(argument: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, Mapping):
        return (value,)
    if not isinstance(value, Sequence) or not all(isinstance(item, Mapping) for item in value):
        raise _wrong_argument(argument, value, "mappings")
    return tuple(value)


def _list_items(argument: str, value: Any) -> tuple[Any, ...]:
    """One item or a list of them; an item of another kind is refused where it is used."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _check_numbers(argument: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise _wrong_argument(argument, value, "numbers")
    return tuple(_check_number(argument, item) for item in value)


_CONVERTERS: dict[str, Callable[[str, Any], Any]] = {
    "Names": column_names,
    "str | Sequence[str]": column_names,
    "Sequence[Any]": _list_items,
    "Sequence[str | Sequence[str] | Mapping[str, Any]]": _list_items,
    "str": _check_text,
    "int": _check_integer,
    "float": _check_number,
    "bool": _check_answer,
    "Sequence[int]": _check_numbers,
    "Sequence[float]": _check_numbers,
    "Mapping[str, Any]": _check_mapping,
    "Mapping[str, float]": _check_mapping,
    "Mapping[str, str]": _check_mapping,
    "Mapping[str, int | tuple[int, int]]": _check_levels,
    "Sequence[Mapping[str, Any]]": _check_mappings,
}


def _wrong_argument(argument: str, value: Any, kind: str, **fields: object) -> WrongArgument:
    """The refusal of a value by its type: the value itself may be a cell."""
    given = repr(value) if isinstance(value, int | float) else type(value).__name__
    return WrongArgument(argument=argument, expected=messages.text(f"library.kind.{kind}", **fields), given=given)
