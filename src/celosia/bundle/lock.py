"""The entries of a universal lock, and those that a platform installs.

Knows pip's format of requirements with hashes, and markers. Ignores files and the network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from celosia import messages
from celosia.model.errors import MissingExtra

_ENTRY = re.compile(
    r"^(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>\S+)(?: ; (?P<marker>.*?))? *\\\n"
    r"(?P<hashes>(?: +--hash=\S+(?: *\\)?\n)+)(?P<comments>(?: +#.*\n)*)",
    flags=re.MULTILINE,
)
_NEEDED_BY = re.compile(r"([a-z0-9][a-z0-9._-]*)(?: \(pyproject\.toml\))?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One package of a lock: its version, when it is installed, the digests of its files and what asked for it."""

    name: str
    version: str
    marker: str
    digests: tuple[str, ...]  # SHA-256 of the files that may stand for it
    needed_by: tuple[str, ...]  # names in the lock's comments; other words there are files

    def requirement(self) -> str:
        """The line for pip, without the marker, which was judged before."""
        return " ".join([f"{self.name}=={self.version}", *(f"--hash=sha256:{digest}" for digest in self.digests)])


def read_entries(text: str) -> list[Entry]:
    """Every entry of a lock, in its order."""
    return [_entry(match) for match in _ENTRY.finditer(text.replace("\r\n", "\n") + "\n")]


def entries_for(entries: Sequence[Entry], environment: Mapping[str, str]) -> list[Entry]:
    """The entries that a Python with these markers installs."""
    return [entry for entry in entries if not entry.marker or _holds(entry.marker, environment)]


def _entry(match: re.Match[str]) -> Entry:
    asked = [line.strip(" #").removeprefix("via").strip() for line in match["comments"].splitlines()]
    names = [_NEEDED_BY.fullmatch(words) for words in asked]
    return Entry(
        match["name"],
        match["version"],
        match["marker"] or "",
        tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", match["hashes"])),
        tuple(name[1] for name in names if name),
    )


def _holds(marker: str, environment: Mapping[str, str]) -> bool:
    try:
        from packaging.markers import Marker
    except ImportError:
        raise MissingExtra(feature=messages.text("bundle.feature"), extra="bundle") from None
    return Marker(marker).evaluate(dict(environment))
