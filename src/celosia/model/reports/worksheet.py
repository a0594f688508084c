"""The worksheet of the motivated intruder: the most exposed records of a file about to be published.

Knows published values of quasi-identifiers and row numbers of the published file, nothing of the original.
Source: MINSAL, Verificación 4; ICO, motivated-intruder test.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExposedRecord:
    """A record to be recognised: where it stands in the published file, what it shows and how many are like it."""

    row: int  # of the published file, the first is 1
    values: tuple[tuple[str, str], ...]  # quasi-identifier → published value
    alike: int  # records with the same published values, itself included


@dataclass(frozen=True, slots=True)
class Worksheet:
    """Records for a person to try, the most exposed first."""

    candidate: str  # digest of the file
    records: tuple[ExposedRecord, ...]
