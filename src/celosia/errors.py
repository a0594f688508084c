"""The tree of errors. Each carries a code and named fields; the sentence is in the catalogue.

    CelosiaError
    ├── WrongUse      exit 2   the command or call cannot be understood
    ├── BadInput      exit 2   a file, table or dictionary cannot be used as it is
    ├── Refusal       exit 1   a rule says no, or nothing satisfies it
    └── InternalFault exit 3   our own mistake

Fields hold names of columns and files, counts and thresholds; never a cell value.
Foreign exceptions quote cells, so they are replaced with `raise … from None`.
"""

from __future__ import annotations

import re
from typing import ClassVar

from celosia import messages


class CelosiaError(Exception):
    """Base of every error a user may see."""

    exit_code: ClassVar[int] = 3
    fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **values: object) -> None:
        if set(values) != set(self.fields):
            raise TypeError(f"{type(self).__name__} takes {self.fields}, got {tuple(values)}")
        self.values = values
        super().__init__(self.code)

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.code = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()

    code: ClassVar[str] = "celosia_error"

    def __str__(self) -> str:
        return messages.text(f"errors.{self.code}", **self.values)


class WrongUse(CelosiaError):
    """The command or call cannot be understood."""

    exit_code = 2
    fields: ClassVar[tuple[str, ...]] = ("detail",)


class BadInput(CelosiaError):
    """A file, table or dictionary cannot be used as it is."""

    exit_code = 2


class Refusal(CelosiaError):
    """A rule says no, or nothing satisfies it."""

    exit_code = 1


class InternalFault(CelosiaError):
    """Our own mistake: shown without the details, which may quote data."""

    exit_code = 3
    fields: ClassVar[tuple[str, ...]] = ("where",)


# --- wrong use -------------------------------------------------------------------------------------


class UnknownVariable(WrongUse):
    """A named variable is not in the table."""

    fields = ("variable", "known")


class RepeatedVariable(WrongUse):
    """The same variable is named twice where each may appear once."""

    fields = ("variable",)


class NothingChosen(WrongUse):
    """An operation needs at least one variable."""

    fields = ("option",)


class SensitiveIsQuasi(WrongUse):
    """The same variable is named as sensitive and as quasi-identifier."""

    fields = ("variable",)


class ValueOutOfRange(WrongUse):
    """A parameter lies outside what it may be."""

    fields = ("parameter", "given", "allowed")


class MissingExtra(WrongUse):
    """An optional part of celosia is not installed."""

    fields = ("feature", "extra")


# --- files and folders ------------------------------------------------------------------------------


class FileMissing(BadInput):
    """There is no file at that path."""

    fields = ("path",)


class FileUnreadable(BadInput):
    """The file exists but may not be read."""

    fields = ("path",)


class FolderUnwritable(BadInput):
    """The folder may not be written."""

    fields = ("path",)


class DiskFull(BadInput):
    """There is no room left to write; nothing was kept."""

    fields = ("path",)


class UnreadableSheet(BadInput):
    """A workbook cannot be read as a table of cells."""

    fields = ("path",)


class AlreadyExists(BadInput):
    """Something is there that would be overwritten."""

    fields = ("path",)


class UnknownFormat(BadInput):
    """A versioned file carries a format this version does not know."""

    fields = ("path", "found", "expected")


# --- engines ----------------------------------------------------------------------------------------


class EngineFault(BadInput):
    """A database or cluster refused; its own words may quote cells and are not shown."""

    fields = ("engine", "kind")


class EngineUnreachable(BadInput):
    """A database or cluster could not be opened; its address may hold a password and is not shown."""

    fields = ("engine",)


class UnknownEngine(WrongUse):
    """No engine goes by that address, which may hold a password and is not shown."""

    fields = ()


class JavaMissing(BadInput):
    """Spark needs Java and there is none."""


class UnknownTable(BadInput):
    """The database has no table or view of that name that may be read."""

    fields = ("table",)


class OpaqueColumns(BadInput):
    """Columns of a database table hold binary, JSON or nested values."""

    fields = ("table", "columns")


# --- dictionary -------------------------------------------------------------------------------------


class DictionaryColumnMissing(BadInput):
    """The dictionary lacks one of its columns."""

    fields = ("path", "column")


class DictionaryWordUnknown(BadInput):
    """A cell of the dictionary holds a word that its column does not accept."""

    fields = ("path", "line", "column", "allowed")


class DictionaryRepeats(BadInput):
    """The dictionary describes a variable twice."""

    fields = ("path", "variable")


class DictionaryDisagrees(BadInput):
    """Dictionary and table do not name the same columns."""

    fields = ("path", "absent", "unknown")


class DictionaryNeeded(BadInput):
    """The protocol begins with the base and its dictionary; only the base was given."""


class RoleMissing(Refusal):
    """A variable has no role, so nothing may be published."""

    fields = ("variables",)


# --- project ----------------------------------------------------------------------------------------


class NotAProject(BadInput):
    """The folder is not a celosia project."""

    fields = ("path",)


class WorkingCopyMissing(BadInput):
    """The project's private working copy is not there."""

    fields = ("path",)


class WorkingCopyChanged(BadInput):
    """The working copy does not match the project's record of it."""

    fields = ("path",)


class BadProjectFile(BadInput):
    """A project file cannot be parsed."""

    fields = ("path", "line")


class JournalBroken(Refusal):
    """The journal's chain does not hold: a line was changed, removed or inserted."""

    fields = ("path", "line")


# Further families are declared in the same way by section below.


# --- reading and writing tables -----------------------------------------------------------------------


class EmptyFile(BadInput):
    """The file holds nothing."""

    fields = ("path",)


class HeaderOnly(BadInput):
    """The file names its columns and holds no row."""

    fields = ("path",)


class BinaryFile(BadInput):
    """The file is not text, or has NUL bytes in it."""

    fields = ("path",)


class UnsupportedFile(BadInput):
    """A kind of file that is recognised and not read."""

    fields = ("path", "kind")


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


class TooManyRows(BadInput):
    """A table does not fit the sheet it is to be written to."""

    fields = ("path", "most")


class UnwritableNames(BadInput):
    """Names or labels of variables do not fit the format they are to be written in."""

    fields = ("path",)


# --- hierarchies ------------------------------------------------------------------------------------


class UnknownOfficialList(WrongUse):
    """No official code list has that id."""

    fields = ("list", "known")


class UnknownBuilder(WrongUse):
    """No hierarchy builder has that name."""

    fields = ("builder", "known")


class UnknownBuilderParameter(WrongUse):
    """A builder does not take that parameter."""

    fields = ("builder", "parameter", "known")


class BadBuilderParameter(WrongUse):
    """A parameter of a builder is missing or is not what the builder accepts."""

    fields = ("builder", "parameter", "allowed")


class ValuesOutsideBuilder(BadInput):
    """A builder cannot place some values; which ones are given on request only."""

    fields = ("variable", "builder", "count")


class ValuesOutsideList(BadInput):
    """Some values are not in the official list; which ones are given on request only."""

    fields = ("variable", "list", "count")


class HierarchyGap(BadInput):
    """A hierarchy does not cover values of the data; which ones are given on request only."""

    fields = ("variable", "missing", "file")


class HierarchyRagged(BadInput):
    """Rows of a hierarchy file have fewer or more levels than its first row."""

    fields = ("file", "rows", "levels")


class HierarchyConflict(BadInput):
    """A hierarchy file repeats values and sends them to different groups."""

    fields = ("file", "values")


class HierarchySplit(BadInput):
    """A level is not coarser than the one below: some of its groups split."""

    fields = ("file", "level", "groups")


class LevelOutsideHierarchy(WrongUse):
    """A level asked for does not exist in the hierarchy, or the minimum is above the maximum."""

    fields = ("variable", "minimum", "maximum", "height")


# --- search -----------------------------------------------------------------------------------------


class TuplesDisagree(BadInput):
    """A sensitive variable's tuples are not over the same rows and vocabularies as the quasi-identifiers."""

    fields = ("variable",)


class LatticeTooLarge(WrongUse):
    """Too many combinations of levels to search without a time limit."""

    fields = ("nodes", "limit")


class CriterionNotForWildcard(WrongUse):
    """Only k-anonymity in rows can be counted when a masked cell stands for any value."""

    fields = ("criterion",)


# --- plan and run -----------------------------------------------------------------------------------


class NothingToPublish(Refusal):
    """No quasi-identifier has a stated purpose, so nothing may be published."""


class NothingLeft(Refusal):
    """Every record is suppressed, so no file would be left."""


class NoPlan(BadInput):
    """The project has no plan yet."""

    fields = ("path",)


class PlanStale(Refusal):
    """The plan was made for another source, dictionary or policy."""

    fields = ("what",)


class NoFeasiblePlan(Refusal):
    """Nothing satisfies the policy; the nearest miss is said."""

    fields = ("suppressed", "allowed", "hint")


class CandidateFails(Refusal):
    """A criterion does not hold on the file that was written; it was removed."""

    fields = ("failing",)


class OrderIncomplete(WrongUse):
    """The recipe needs the quasi-identifiers in the order in which they give way."""

    fields = ("missing",)


class LinkedRowsMethod(WrongUse):
    """A method that treats rows one by one cannot keep a household's mask from being read off another member."""

    fields = ("method", "columns")


class HouseholdsExceedLimit(Refusal):
    """Suppressing households whole takes more rows than the policy allows."""

    fields = ("own", "added", "allowed", "columns")
