"""Errors that `hierarchy` raises."""

from __future__ import annotations

from celosia.errors import BadInput, WrongUse


class EmptyFile(BadInput, fields="path"):
    """The file holds nothing."""


class BinaryFile(BadInput, fields="path"):
    """The file is not text, or has NUL bytes in it."""


class WrongEncoding(BadInput, fields="path encoding line"):
    """A line is not written in the encoding of the file."""


class UnreadableText(BadInput, fields="path"):
    """Delimited text that cannot be read, where no line could be named."""


class UnknownOfficialList(WrongUse, fields="list known"):
    """No official code list has that id."""


class UnknownBuilder(WrongUse, fields="builder known"):
    """No hierarchy builder has that name."""


class ValuesOutsideBuilder(BadInput, fields="variable builder count"):
    """A builder cannot place some values; which ones are given on request only."""


class ValuesOutsideList(BadInput, fields="variable list count"):
    """Some values are not in the official list; which ones are given on request only."""


class HierarchyGap(BadInput, fields="variable missing file"):
    """A hierarchy does not cover values of the data; which ones are given on request only."""


class HierarchyRagged(BadInput, fields="file rows levels"):
    """Rows of a hierarchy file have fewer or more levels than its first row."""


class HierarchyConflict(BadInput, fields="file values"):
    """A hierarchy file repeats values and sends them to different groups."""


class HierarchySplit(BadInput, fields="file level groups"):
    """A level is not coarser than the one below: some of its groups split."""


class LevelOutsideHierarchy(WrongUse, fields="variable minimum maximum height"):
    """A level asked for does not exist in the hierarchy, or the minimum is above the maximum."""
