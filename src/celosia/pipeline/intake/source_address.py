"""Where a source is, as somebody may write it without a password: a file, an address, or the variable that holds one.

Knows `env:NAME` and what an address may ask for. Ignores databases. What it gives may hold a password: it is read at
once and never kept or shown. An address typed on a page is somebody else's: it names a server, a port, a database and
a user, and gets none of the passwords, files and sockets of the user that runs the page.
Source: PostgreSQL, libpq 32.1.2.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from celosia.data.sniffing import holds_password, is_database_address
from celosia.pipeline.intake.errors import AddressRefused, AddressUnclear, AddressUnset
from celosia.pipeline.project.errors import PasswordInAddress
from celosia.system.paths import usable_path

_ENVIRONMENT = "env:"
_ALLOWED = frozenset(("host", "port", "dbname", "user", "sslmode"))
_HOST = re.compile(r"[\w:][\w.:%-]*")  # a name or number; a path or an @ would be a socket of this computer


def resolved_source(source: str | Path, password: bool = True) -> str | Path:
    """The source that a text names; `env:NAME` stands for the address in that environment variable.

    Without `password`, an address that holds one is refused: it was typed where it could be seen or kept. Such an
    address is also held to what a stranger may ask for.
    """
    if not isinstance(source, str) or not source.startswith(_ENVIRONMENT):
        if is_database_address(source) and not password:
            return _plain_address(str(source))
        usable: str | Path = usable_source(source)
        return usable
    name = source.removeprefix(_ENVIRONMENT).strip()
    address = os.environ.get(name, "").strip() if name and "\0" not in name and "=" not in name else ""
    if not address:
        raise AddressUnset(place=f"{_ENVIRONMENT}{name}")
    if not is_database_address(address):
        raise AddressUnclear()
    return address


def usable_source(source: Any) -> Any:
    """A file as this system opens it; as it was named where that makes no difference, and where it is no file."""
    if not isinstance(source, str | Path) or is_database_address(source):
        return source
    usable = usable_path(Path(source))
    return source if usable == Path(source) else usable


def is_address(source: str) -> bool:
    """Whether a text names a database and not a file."""
    return source.startswith(_ENVIRONMENT) or is_database_address(source)


def _plain_address(typed: str) -> str:
    """The address of a server and nothing else, to which no password of this computer is sent."""
    if holds_password(typed):
        raise PasswordInAddress()
    parts = _parts(typed)
    hosts = parts.get("host", "").split(",")
    if not _ALLOWED.issuperset(parts) or not all(_HOST.fullmatch(host) for host in hosts):
        raise AddressRefused()
    # An empty password keeps PGPASSWORD out, an empty file the passwords of the user that runs the page.
    return f"postgresql:///?{urlencode({**parts, 'password': '', 'passfile': os.devnull}, quote_via=quote)}"


def _parts(typed: str) -> dict[str, str]:
    from celosia.data.readers.postgresql import import_driver

    import_driver()
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return {name: str(value) for name, value in conninfo_to_dict(typed).items()}
    except ProgrammingError:
        raise AddressUnclear() from None
