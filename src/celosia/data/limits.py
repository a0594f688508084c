"""How much a source may ask of us before anything of it is held: columns, cells and inflated bytes.

Knows sizes. Ignores formats and cells. A file made to harm asks for more than any table about people has: a workbook of
a few kilobytes that inflates to terabytes, a sheet whose two cells stand a billion apart, a line of a million fields.
"""

from __future__ import annotations

from celosia.data.errors import TooManyColumns

MOST_COLUMNS = 5_000
MOST_CELLS = 50_000_000  # of one sheet, empty ones between others included: a workbook's library holds them all
LARGEST_WORKBOOK = 2_000_000_000  # bytes of all its parts once inflated
MOST_PARTS = 10_000  # files inside a workbook
LARGEST_DIRECTORY = 5_000_000  # bytes of the list of those files, which is parsed whole
LONGEST_ROW = 16_000_000  # bytes of text, as a line of a text file
PATIENCE = 60  # seconds that somebody waits for the first rows of a view


def refuse_width(columns: int) -> None:
    """Refuses a table with more columns than any has."""
    if columns > MOST_COLUMNS:
        raise TooManyColumns(found=columns, most=MOST_COLUMNS)
