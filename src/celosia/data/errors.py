"""Errors that `data` raises."""

from __future__ import annotations

from celosia import messages
from celosia.errors import BadInput, WrongUse


class EngineFault(BadInput, fields="engine kind"):
    """A database or cluster refused; its own words may quote cells and are not shown."""


class EngineUnreachable(BadInput, fields="engine"):
    """A database or cluster could not be opened; its address may hold a password and is not shown."""


class EngineDenied(BadInput, fields="engine"):
    """The user of a database lacks a right that the work needs."""


class EngineLost(BadInput, fields="engine"):
    """The connection to a database ended in the middle of the work."""


class UnknownEngine(WrongUse, fields=""):
    """No engine goes by that address, which may hold a password and is not shown."""


class JavaMissing(BadInput):
    """Spark needs Java and there is none."""


class SparkNotStarted(BadInput):
    """Spark did not start on this machine, where it has neither server, user nor password."""


class UnknownTable(BadInput, fields="table"):
    """The database has no table or view of that name that may be read."""


class OpaqueColumns(BadInput, fields="table columns"):
    """Columns of a database table hold binary, JSON or nested values."""


class EncodingOfDatabase(BadInput, fields="encoding"):
    """A database keeps its texts in bytes that are not in the order of code points."""


class EngineBusy(BadInput, fields="engine"):
    """Another session is open in this process on another address."""


class ExecutorsDiffer(BadInput, fields="here there"):
    """The executors of a cluster run another version of celosia: their text might not be ours."""


class ExecutorsLackCelosia(BadInput, fields="python"):
    """The Python of a cluster's executors cannot run celosia."""


class NoSharedFolder(BadInput, fields="path"):
    """The executors of a cluster do not see the project's private folder."""


class NoExecutor(BadInput, fields="seconds"):
    """Nobody of a cluster took the work."""


class UnreadableSheet(BadInput, fields="path"):
    """A workbook cannot be read as a table of cells."""


class HeaderOnly(BadInput, fields="path"):
    """The file names its columns and holds no row."""


class EmptyTable(BadInput, fields="table"):
    """A table or view of a database shows no row."""


class UnsupportedFile(BadInput, fields="path kind"):
    """A kind of file that is recognised and not read."""


class MisnamedFile(BadInput, fields="path suffix kind"):
    """The name of a file ends like one format and its content is another."""


class DamagedFile(BadInput, fields="path format"):
    """A file of a known format that cannot be read; the library's words may quote cells."""


class SourceChanged(BadInput, fields="path"):
    """The file changed while it was being read."""


class MixedEncoding(BadInput, fields="path line"):
    """Most of the file is UTF-8 and some line is not."""


class LineTooLong(BadInput, fields="path line megabytes"):
    """A line longer than any table has: the file is damaged or something else."""


class RaggedLine(BadInput, fields="path line expected found count"):
    """A line with more or fewer fields than the first one."""


class UnclosedQuote(BadInput, fields="path line"):
    """A quoted text that does not close as it should."""


class StrayReturn(BadInput, fields="path line"):
    """A carriage return inside an unquoted field."""


class DuplicateHeader(BadInput, fields="variable positions"):
    """Two columns bear the same name."""


class GuessedDuplicateHeader(BadInput, fields="positions"):
    """Two columns bear the same name, if the first line is a header: that was guessed, so it is not quoted."""


class BlankHeader(BadInput, fields="positions"):
    """A column has no name."""


class UnsupportedColumn(BadInput, fields="variable kind"):
    """A column whose cells are not plain values."""


class ChooseTable(WrongUse, fields="name known"):
    """A database or workbook holds several tables, or not the one named."""


class NoTable(BadInput, fields="name"):
    """A database without any table."""


class NullCharacter(BadInput, fields="variable count"):
    """Cells hold NUL characters, which no text format keeps."""


class NumberExpected(BadInput, fields="variable count"):
    """Cells of a column to be written as numbers are not numbers."""


class TooManyColumns(BadInput, fields="found most"):
    """A table with more columns than any about people has: it is something else, or made to harm."""


class SheetTooLarge(BadInput, fields="path rows columns most"):
    """A sheet whose cells reach further than fits into memory."""


class WorkbookTooLarge(BadInput, fields="path megabytes"):
    """A workbook that inflates to more than is read."""


class RowTooLong(BadInput, fields="path row megabytes"):
    """A row of typed columns that becomes more text than any line of a table has."""


class SourceTooSlow(BadInput, fields="path seconds"):
    """The first rows of a table or view were not there in time: it computes without end, or is made to harm."""


class ReachesOutside(BadInput, fields="path"):
    """A view of a database file asks for other files of the computer."""


class TooManyRows(BadInput, fields="path most"):
    """A table does not fit the sheet it is to be written to."""


class UnwritableNames(BadInput, fields="path"):
    """Names or labels of variables do not fit the format they are to be written in."""


class EmptyFolder(BadInput, fields="path"):
    """A folder holds no file that could be read."""


class FolderMixed(BadInput, fields="path first other"):
    """The files of a folder are not all of one kind."""


class FolderNested(BadInput, fields="path folder"):
    """A folder of parts holds other folders."""


class FolderOfOthers(BadInput, fields="path file"):
    """The files of a folder are of a kind that is not read in parts."""


class PartsDisagree(BadInput, fields="path first other"):
    """The files of a folder do not have the same columns."""


def not_a_frame() -> WrongUse:
    """The error for an object that is no pandas, Polars or Arrow table."""
    return WrongUse(detail=messages.text("reading.not_a_frame"))
