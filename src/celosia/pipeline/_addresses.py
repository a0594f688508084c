"""Where a source is, as somebody may write it without a password: a file, an address, or the variable that holds one.

Knows `env:NAME`. Ignores databases. What it gives may hold a password: it is read at once and never kept or shown.
"""

from __future__ import annotations

import os
from pathlib import Path

from celosia.data.sniffing import holds_password, is_database_address
from celosia.errors import AddressUnclear, AddressUnset, PasswordInAddress

_ENVIRONMENT = "env:"


def resolved_source(source: str | Path, password: bool = True) -> str | Path:
    """The source that a text names; `env:NAME` stands for the address in that environment variable.

    Without `password`, an address that holds one is refused: it was typed where it could be seen or kept.
    """
    if not isinstance(source, str) or not source.startswith(_ENVIRONMENT):
        if not password:
            _refuse_password(str(source))
        return source
    name = source.removeprefix(_ENVIRONMENT).strip()
    found = os.environ.get(name, "").strip() if name and "\0" not in name and "=" not in name else ""
    if not found:
        raise AddressUnset(place=f"{_ENVIRONMENT}{name}")
    if not is_database_address(found):
        raise AddressUnclear()
    return found


def is_address(source: str) -> bool:
    """Whether a text names a database and not a file."""
    return source.startswith(_ENVIRONMENT) or is_database_address(source)


def _refuse_password(source: str) -> None:
    if is_database_address(source) and holds_password(source):
        raise PasswordInAddress()
