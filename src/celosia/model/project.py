"""What a project's celosia.toml says, as a frozen value."""

from __future__ import annotations

import re
from dataclasses import dataclass

from celosia.model.sources import Source

FORMAT = "celosia/project/1"
PROTOCOLS = ("minsal", "atenea", "mel", "minsal-sensible", "ley21719")
ENGINE = "duckdb"  # where counting happens unless the project or the command says otherwise
_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE = re.compile(r"\s*(\d{1,6})(?:\.(\d{1,3}))?\s*(MB|GB|TB|MiB|GiB|TiB)\s*", re.IGNORECASE)
LEAST_MEMORY = 256 * 10**6


def memory_bytes(text: str) -> int | None:
    """`4GB`, `512 MB` or `1.5GiB` in bytes; None where it is not an amount of memory, or too little to work with."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    whole, part, unit = match.group(1), match.group(2) or "", match.group(3).upper()
    size = int(whole + part) * _UNITS[unit] // 10 ** len(part)
    return size if size >= LEAST_MEMORY else None


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """Name, language, protocols, source and unit of a project."""

    name: str
    language: str
    protocols: tuple[str, ...]
    source: Source
    person: str | None = None  # the key of the person behind each row, where there is one
    household: str | None = None  # the column that ties the rows of one household together
    engine: str = ENGINE  # duckdb, postgresql, spark, local[N], spark://…; never with a password
    memory: str = ""  # what the work may take, as `4GB`; empty: a share of the machine's
