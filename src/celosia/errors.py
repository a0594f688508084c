"""The tree of errors. Each carries a code and named fields; the sentence is in the catalogue.

    CelosiaError
    ├── WrongUse      exit 2   the command or call cannot be understood
    ├── BadInput      exit 2   a file, table or dictionary cannot be used as it is
    ├── Refusal       exit 1   a rule says no, or nothing satisfies it
    └── InternalFault exit 3   our own mistake

Fields hold names of columns and files, counts and thresholds; never a cell value.
Foreign exceptions quote cells, so they are replaced with `raise … from None`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

from celosia import messages


class CelosiaError(Exception):
    """Base of every error a user may see."""

    exit_code: ClassVar[int] = 3
    fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **values: object) -> None:
        if set(values) != set(self.fields):
            raise TypeError(f"{type(self).__name__} takes {self.fields}, got {tuple(values)}")
        self.values = values
        super().__init__(self.code)

    def __reduce__(self) -> tuple[Callable[..., CelosiaError], tuple[type[CelosiaError], dict[str, object]]]:
        """Named fields survive the way from one process to another; by default only positional ones would."""
        return _make_again, (type(self), self.values)

    def __init_subclass__(cls, fields: str | None = None, **kwargs: object) -> None:
        """Give an error its code, after its name, and its fields, which it otherwise shares with its base."""
        super().__init_subclass__(**kwargs)
        if fields is not None:
            cls.fields = tuple(fields.split())
        cls.code = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()

    code: ClassVar[str] = "celosia_error"

    def __str__(self) -> str:
        return messages.text(f"errors.{self.code}", **self.values)


def _make_again(kind: type[CelosiaError], values: dict[str, object]) -> CelosiaError:
    return kind(**values)


class WrongUse(CelosiaError, fields="detail"):
    """The command or call cannot be understood."""

    exit_code = 2


class BadInput(CelosiaError):
    """A file, table or dictionary cannot be used as it is."""

    exit_code = 2


class Refusal(CelosiaError):
    """A rule says no, or nothing satisfies it."""

    exit_code = 1


class InternalFault(CelosiaError, fields="where"):
    """Our own mistake: shown without the details, which may quote data."""

    exit_code = 3
