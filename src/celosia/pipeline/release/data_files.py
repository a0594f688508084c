"""The data and the dictionary of a release, from the published file alone: nothing here can see the source.

Knows the published file and the lines of the dictionary that describe it. Text that a spreadsheet would run as a
formula is neutralised: in the dictionary here, in `data.csv` when it is first written, in workbooks by text cells.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from celosia.data.table import Table
from celosia.data.writers.parquet import write_parquet
from celosia.data.writers.statistical import write_dta, write_sav
from celosia.data.writers.xlsx import write_xlsx
from celosia.model import dictionary
from celosia.model.paths import DATA_NAME
from celosia.model.sources import ColumnLabels
from celosia.model.values import is_masked
from celosia.model.variables import Variable
from celosia.pipeline.intake.open_table import open_table
from celosia.storage import move, temporary_folder_beside, translate_write_errors

FORMATS = ("csv", "parquet", "sav", "dta", "xlsx")
# What the public may know of a variable: evidence, purposes and treatments are internal; a missing cell is empty.
PUBLIC = ("name", "label", "role", "scale", "unknown", "value_labels")
_MODE = 0o644
_FORMULA = re.compile(r"^(?![+-]?\d+([.,]\d+)?$)[=+\-@\t\r]")  # plain numbers stay
_MADE = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(<)")
_PLAIN: dict[str, Any] = {
    "format": "csv",
    "encoding": "utf-8",
    "delimiter": ",",
    "quote": '"',
    "header": True,
    "decimal": ".",
}
_WRITERS: dict[str, Callable[..., int]] = {
    "parquet": write_parquet,
    "sav": write_sav,
    "dta": write_dta,
    "xlsx": write_xlsx,
}


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A published file, read again."""

    table: Table
    digest: str
    rows: int

    def counts(self, name: str) -> dict[str, int]:
        """Rows behind each value that a column shows."""
        frequencies = self.table.frequencies(name)
        pairs = zip(frequencies.values.to_pylist(), frequencies.counts.tolist(), strict=True)
        return {value: rows for value, rows in pairs if not is_masked(value)}


@contextlib.contextmanager
def open_published_file(path: Path) -> Iterator[PublishedTable]:
    """The published file as anybody would read it."""
    with open_table(path, described=False, **_PLAIN) as source:
        yield PublishedTable(source.table, source.source.digest, source.source.rows)


def write_dictionary(variables: Sequence[Variable], published: PublishedTable, target: Path) -> None:
    """The public dictionary: the published variables, the public columns, and only codes that the file shows."""
    lines = dictionary.rows_of([_limit_labels(variable, published) for variable in variables])
    positions = [dictionary.COLUMNS.index(column) for column in PUBLIC]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(lines[0])
    writer.writerows([neutralise_cell(row[position]) for position in positions] for row in lines[1:])
    with translate_write_errors(target.parent):
        target.write_text(buffer.getvalue(), "utf-8", newline="\n")


def write_data(data_format: str, published: PublishedTable, variables: Sequence[Variable], folder: Path) -> None:
    """The same rows in another format, with the labels of the variables and of the codes that are shown."""
    if data_format == "csv":
        return  # it is there: byte by byte the file that was judged
    names = published.table.names
    shown = [_limit_labels(variable, published) for variable in variables]
    labels = {v.name: ColumnLabels(v.label, v.value_labels) for v in shown if v.label or v.value_labels}
    rows = published.table.ordered_batches(names)
    target = folder / f"{DATA_NAME}.{data_format}"
    with temporary_folder_beside(folder) as scratch:  # writers leave their drafts beside the file: not inside a release
        _WRITERS[data_format](rows, names, scratch / target.name, labels, mode=_MODE)
        if data_format == "xlsx":
            _remove_creation_time(scratch / target.name)
        with translate_write_errors(folder):
            shutil.move(scratch / target.name, target)


def _limit_labels(variable: Variable, published: PublishedTable) -> Variable:
    """A variable with the labels and unknown codes of values that the file shows; others tell of what it hides."""
    values = published.counts(variable.name)
    labels = tuple((code, text) for code, text in variable.value_labels if code in values)
    return replace(variable, value_labels=labels, unknown=tuple(code for code in variable.unknown if code in values))


def neutralise_cell(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _remove_creation_time(path: Path) -> None:
    """A workbook without the moment at which it was made."""
    draft = path.with_suffix(".draft")
    with translate_write_errors(path.parent), zipfile.ZipFile(path) as old, zipfile.ZipFile(draft, "w") as new:
        for item in old.infolist():
            content = old.read(item)
            if item.filename == "docProps/core.xml":
                content = _MADE.sub(rb"\g<1>1980-01-01T00:00:00Z\g<2>", content)
            item.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(item, content)
    move(draft, path)
