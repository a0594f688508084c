"""Where data come from and how they were read, so that anyone can read them again alike.

Knows names, counts and message keys. Ignores cells: nothing here can hold one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from celosia import messages

WORKING_FORMAT = "celosia/working/1"  # the private columnar working copy: c0…cn, text, no NULL
ROWS_DIGEST = "rows-sha256"  # how the digest of a source counted in place begins: of its rows in any order
WORKING_KEY = b"celosia"  # Parquet metadata key that holds names and labels as JSON


@dataclass(frozen=True, slots=True)
class Notice:
    """Something noticed while reading: a key of the catalogue `reading` and its counts and names."""

    key: str
    fields: tuple[tuple[str, str | int], ...] = ()

    @classmethod
    def of(cls, key: str, **fields: str | int) -> Notice:
        """A notice with its fields in the order given."""
        return cls(key, tuple(fields.items()))

    def text(self) -> str:
        """The sentence in the current language."""
        return messages.text(f"reading.notices.{self.key}", **dict(self.fields))


@dataclass(frozen=True, slots=True)
class ReadingChoices:
    """Everything that decided how a source was read; `guessed` names the choices nobody made by hand."""

    format: str  # csv, parquet, xlsx, xls, ods, sav, dta, sqlite, duckdb, postgresql, frame
    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'  # empty: quotes are ordinary characters
    header: bool = True
    decimal: str = "."
    sheet: str = ""  # sheet of a workbook, table of a database
    dropped: tuple[str, ...] = ()  # columns deselected at import: they appear nowhere later
    rename_duplicates: bool = False  # repeated and blank headers get a name instead of being refused
    guessed: tuple[str, ...] = ()
    notes: tuple[Notice, ...] = field(default=())  # what was noticed while reading


@dataclass(frozen=True, slots=True)
class Source:
    """A source once read: its name, content digest, size and reading choices."""

    name: str  # file name or table name without folder, user or password
    digest: str  # sha256:… of the bytes read (of the canonical text for databases and frames)
    rows: int
    columns: int
    choices: ReadingChoices


@dataclass(frozen=True, slots=True)
class ColumnLabels:
    """What a source itself says of a column: its label, labels of codes, codes it declares missing."""

    label: str = ""
    values: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ingested:
    """A source that now stands in a working copy: column k of the copy is `names[k]`."""

    source: Source
    names: tuple[str, ...]
    labels: dict[str, ColumnLabels] = field(default_factory=dict)  # only columns that carry some

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was noticed while reading."""
        return self.source.choices.notes
