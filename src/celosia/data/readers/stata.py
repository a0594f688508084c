"""Stata files (.dta), with labels and extended missing codes (.a to .z).

Knows how Stata marks missing values. Ignores everything else of the program.
"""

from __future__ import annotations

from pathlib import Path

from celosia.data.readers._head import Head
from celosia.data.readers._statistical import Metadata, head_labelled, library, read_labelled
from celosia.data.readers._stream import Progress
from celosia.data.readers._working import Draft
from celosia.model.sources import ReadingChoices


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> Draft:
    """Reads a Stata file into a working copy."""
    return read_labelled(path, choices, draft, progress, library().read_dta, _missing_codes, "Stata")


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a Stata file."""
    return head_labelled(path, choices, rows, library().read_dta, "Stata")


def _missing_codes(metadata: Metadata, name: str) -> tuple[str, ...]:
    return tuple(f".{letter}" for letter in metadata.missing_user_values.get(name, ()))
