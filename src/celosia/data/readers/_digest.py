"""The digest of a file's bytes, for formats whose library does the reading. Knows bytes; ignores formats."""

from __future__ import annotations

import hashlib
from pathlib import Path

from celosia.data.files import reading_from


def file_digest(path: Path) -> str:
    """sha256 of a file, in a bounded stream."""
    with reading_from(path), path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
