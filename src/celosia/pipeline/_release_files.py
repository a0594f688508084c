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

from celosia.data.files import scratch_beside, writing_into
from celosia.data.table import Table
from celosia.data.writers import write_dta, write_parquet, write_sav, write_xlsx
from celosia.model import dictionary
from celosia.model.sources import ColumnLabels
from celosia.model.values import is_masked
from celosia.model.variables import Variable
from celosia.pipeline._open import opened

FORMATS = ("csv", "parquet", "sav", "dta", "xlsx")
# What the public may know of a variable: evidence, purposes and treatments are the house's; a missing cell is empty.
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
    "parquet": write_parquet, "sav": write_sav, "dta": write_dta, "xlsx": write_xlsx,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Published:
    """A published file, read again."""

    table: Table
    digest: str
    rows: int

    def counts(self, name: str) -> dict[str, int]:
        """Rows behind each value that a column shows."""
        found = self.table.frequencies(name)
        pairs = zip(found.values.to_pylist(), found.counts.tolist(), strict=True)
        return {value: rows for value, rows in pairs if not is_masked(value)}


@contextlib.contextmanager
def published_file(path: Path) -> Iterator[Published]:
    """The published file as anybody would read it."""
    with opened(path, described=False, **_PLAIN) as found:
        yield Published(found.table, found.source.digest, found.source.rows)


def write_dictionary(variables: Sequence[Variable], published: Published, target: Path) -> None:
    """The public dictionary: the published variables, the public columns, and only codes that the file shows."""
    lines = dictionary.rows_of([_shown(variable, published) for variable in variables])
    places = [dictionary.COLUMNS.index(column) for column in PUBLIC]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(lines[0])
    writer.writerows([_harmless(row[place]) for place in places] for row in lines[1:])
    with writing_into(target.parent):
        target.write_text(buffer.getvalue(), "utf-8")


def write_data(wanted: str, published: Published, variables: Sequence[Variable], folder: Path) -> None:
    """The same rows in another format, with the labels of the variables and of the codes that are shown."""
    if wanted == "csv":
        return  # it is there: byte by byte the file that was judged
    names = published.table.names
    shown = [_shown(variable, published) for variable in variables]
    labels = {v.name: ColumnLabels(v.label, v.value_labels) for v in shown if v.label or v.value_labels}
    rows = published.table.ordered_batches(names)
    target = folder / f"data.{wanted}"
    with scratch_beside(folder) as scratch:  # writers leave their drafts beside the file: not inside a release
        _WRITERS[wanted](rows, names, scratch / target.name, labels, mode=_MODE)
        if wanted == "xlsx":
            _without_time(scratch / target.name)
        with writing_into(folder):
            shutil.move(scratch / target.name, target)


def _shown(variable: Variable, published: Published) -> Variable:
    """A variable with the labels and unknown codes of values that the file shows; others tell of what it hides."""
    values = published.counts(variable.name)
    kept = tuple((code, text) for code, text in variable.value_labels if code in values)
    return replace(variable, value_labels=kept, unknown=tuple(code for code in variable.unknown if code in values))


def _harmless(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _without_time(path: Path) -> None:
    """A workbook without the moment at which it was made."""
    draft = path.with_suffix(".draft")
    with writing_into(path.parent), zipfile.ZipFile(path) as old, zipfile.ZipFile(draft, "w") as new:
        for item in old.infolist():
            content = old.read(item)
            if item.filename == "docProps/core.xml":
                content = _MADE.sub(rb"\g<1>1980-01-01T00:00:00Z\g<2>", content)
            item.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(item, content)
    draft.replace(path)


__all__ = ["FORMATS", "PUBLIC", "Published", "published_file", "write_data", "write_dictionary"]
