"""Files, folders and tables that cannot be read or written."""

from __future__ import annotations

from celosia.errors._tree import BadInput, WrongUse

# --- files and folders ---------------------------------------------------------------------------


class FileMissing(BadInput):
    """There is no file at that path."""

    fields = ("path",)


class FileUnreadable(BadInput):
    """The file exists but may not be read."""

    fields = ("path",)


class FolderGiven(FileUnreadable):
    """A folder stands where a file was expected."""

    fields = ("path",)


class FolderUnwritable(BadInput):
    """The folder may not be written."""

    fields = ("path",)


class DiskFull(BadInput):
    """There is no room left to write; nothing was kept."""

    fields = ("path",)


class OutputLost(BadInput):
    """What was to be said could not be written to standard output."""

    fields = ()


class UnreadableSheet(BadInput):
    """A workbook cannot be read as a table of cells."""

    fields = ("path",)


class AlreadyExists(BadInput):
    """Something is there that would be overwritten."""

    fields = ("path",)


class UnknownFormat(BadInput):
    """A versioned file carries a format this version does not know."""

    fields = ("path", "found", "expected")


# --- reading and writing tables ------------------------------------------------------------------


class EmptyFile(BadInput):
    """The file holds nothing."""

    fields = ("path",)


class HeaderOnly(BadInput):
    """The file names its columns and holds no row."""

    fields = ("path",)


class EmptyTable(BadInput):
    """A table or view of a database shows no row."""

    fields = ("table",)


class BinaryFile(BadInput):
    """The file is not text, or has NUL bytes in it."""

    fields = ("path",)


class UnsupportedFile(BadInput):
    """A kind of file that is recognised and not read."""

    fields = ("path", "kind")


class MisnamedFile(BadInput):
    """The name of a file ends like one format and its content is another."""

    fields = ("path", "suffix", "kind")


class DamagedFile(BadInput):
    """A file of a known format that cannot be read; the library's words may quote cells."""

    fields = ("path", "format")


class SourceChanged(BadInput):
    """The file changed while it was being read."""

    fields = ("path",)


class WrongEncoding(BadInput):
    """A line is not written in the encoding of the file."""

    fields = ("path", "encoding", "line")


class MixedEncoding(BadInput):
    """Most of the file is UTF-8 and some line is not."""

    fields = ("path", "line")


class LineTooLong(BadInput):
    """A line longer than any table has: the file is damaged or something else."""

    fields = ("path", "line", "megabytes")


class RaggedLine(BadInput):
    """A line with more or fewer fields than the first one."""

    fields = ("path", "line", "expected", "found", "count")


class UnclosedQuote(BadInput):
    """A quoted text that does not close as it should."""

    fields = ("path", "line")


class StrayReturn(BadInput):
    """A carriage return inside an unquoted field."""

    fields = ("path", "line")


class UnreadableText(BadInput):
    """Delimited text that cannot be read, where no line could be named."""

    fields = ("path",)


class DuplicateHeader(BadInput):
    """Two columns bear the same name."""

    fields = ("variable", "positions")


class GuessedDuplicateHeader(BadInput):
    """Two columns bear the same name, if the first line is a header: that was guessed, so it is not quoted."""

    fields = ("positions",)


class BlankHeader(BadInput):
    """A column has no name."""

    fields = ("positions",)


class UnsupportedColumn(BadInput):
    """A column whose cells are not plain values."""

    fields = ("variable", "kind")


class ChooseTable(WrongUse):
    """A database or workbook holds several tables, or not the one named."""

    fields = ("name", "known")


class NoTable(BadInput):
    """A database without any table."""

    fields = ("name",)


class NullCharacter(BadInput):
    """Cells hold NUL characters, which no text format keeps."""

    fields = ("variable", "count")


class NumberExpected(BadInput):
    """Cells of a column to be written as numbers are not numbers."""

    fields = ("variable", "count")


class TooManyColumns(BadInput):
    """A table with more columns than any about people has: it is something else, or made to harm."""

    fields = ("found", "most")


class SheetTooLarge(BadInput):
    """A sheet whose cells reach further than fits into memory."""

    fields = ("path", "rows", "columns", "most")


class WorkbookTooLarge(BadInput):
    """A workbook that inflates to more than is read."""

    fields = ("path", "megabytes")


class RowTooLong(BadInput):
    """A row of typed columns that becomes more text than any line of a table has."""

    fields = ("path", "row", "megabytes")


class SourceTooSlow(BadInput):
    """The first rows of a table or view were not there in time: it computes without end, or is made to harm."""

    fields = ("path", "seconds")


class ReachesOutside(BadInput):
    """A view of a database file asks for other files of the computer."""

    fields = ("path",)


class TooManyRows(BadInput):
    """A table does not fit the sheet it is to be written to."""

    fields = ("path", "most")


class UnwritableNames(BadInput):
    """Names or labels of variables do not fit the format they are to be written in."""

    fields = ("path",)


class EmptyFolder(BadInput):
    """A folder holds no file that could be read."""

    fields = ("path",)


class FolderMixed(BadInput):
    """The files of a folder are not all of one kind."""

    fields = ("path", "first", "other")


class FolderNested(BadInput):
    """A folder of parts holds other folders."""

    fields = ("path", "folder")


class FolderOfOthers(BadInput):
    """The files of a folder are of a kind that is not read in parts."""

    fields = ("path", "file")


class PartsDisagree(BadInput):
    """The files of a folder do not have the same columns."""

    fields = ("path", "first", "other")
