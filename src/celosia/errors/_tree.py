"""The root of the tree and its four families."""

from __future__ import annotations

import re
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

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.code = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()

    code: ClassVar[str] = "celosia_error"

    def __str__(self) -> str:
        return messages.text(f"errors.{self.code}", **self.values)


class WrongUse(CelosiaError):
    """The command or call cannot be understood."""

    exit_code = 2
    fields: ClassVar[tuple[str, ...]] = ("detail",)


class BadInput(CelosiaError):
    """A file, table or dictionary cannot be used as it is."""

    exit_code = 2


class Refusal(CelosiaError):
    """A rule says no, or nothing satisfies it."""

    exit_code = 1


class InternalFault(CelosiaError):
    """Our own mistake: shown without the details, which may quote data."""

    exit_code = 3
    fields: ClassVar[tuple[str, ...]] = ("where",)
