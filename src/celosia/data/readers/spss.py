"""SPSS files (.sav, .zsav), with labels and declared missing codes.

Knows how SPSS declares missing values: single codes and ranges. Ignores everything else of the program.
"""

from __future__ import annotations

from pathlib import Path

from celosia.data.readers._head import Head
from celosia.data.readers._statistical import Metadata, code_text, head_labelled, library, read_labelled
from celosia.data.readers._stream import Progress
from celosia.data.readers._working import Draft
from celosia.model.sources import ReadingChoices


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> Draft:
    """Reads an SPSS file into a working copy."""
    return read_labelled(path, choices, draft, progress, library().read_sav, _missing_codes, "SPSS")


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of an SPSS file."""
    return head_labelled(path, choices, rows, library().read_sav, "SPSS")


def _missing_codes(metadata: Metadata, name: str) -> tuple[str, ...]:
    """Single missing codes, and those labelled codes that lie in a missing range."""
    labelled = (metadata.variable_value_labels.get(name) or {}).keys()
    codes: list[object] = []
    for span in metadata.missing_ranges.get(name, ()):
        low, high = (span["lo"], span["hi"]) if isinstance(span, dict) else (span, span)
        if low == high:
            codes.append(low)
        else:
            codes.extend(code for code in labelled if isinstance(code, int | float) and low <= code <= high)
    return tuple(dict.fromkeys(code_text(code, numeric=False) for code in codes))
