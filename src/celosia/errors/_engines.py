"""Engines that refuse or cannot be reached."""

from __future__ import annotations

from typing import ClassVar

from celosia.errors._tree import BadInput, Refusal, WrongUse

# --- engines -------------------------------------------------------------------------------------


class EngineFault(BadInput):
    """A database or cluster refused; its own words may quote cells and are not shown."""

    fields = ("engine", "kind")


class EngineUnreachable(BadInput):
    """A database or cluster could not be opened; its address may hold a password and is not shown."""

    fields = ("engine",)


class EngineDenied(BadInput):
    """The user of a database lacks a right that the work needs."""

    fields = ("engine",)


class EngineLost(BadInput):
    """The connection to a database ended in the middle of the work."""

    fields = ("engine",)


class UnknownEngine(WrongUse):
    """No engine goes by that address, which may hold a password and is not shown."""

    fields = ()


class JavaMissing(BadInput):
    """Spark needs Java and there is none."""


class SparkNotStarted(BadInput):
    """Spark did not start on this machine, where it has neither server, user nor password."""


class UnknownTable(BadInput):
    """The database has no table or view of that name that may be read."""

    fields = ("table",)


class OpaqueColumns(BadInput):
    """Columns of a database table hold binary, JSON or nested values."""

    fields = ("table", "columns")


class EncodingOfDatabase(BadInput):
    """A database keeps its texts in bytes that are not in the order of code points."""

    fields = ("encoding",)


class EngineAddressUnset(WrongUse):
    """A project is counted in PostgreSQL and nobody said where that is."""

    fields = ("variable",)


class DataElsewhere(WrongUse):
    """The rows of a project stay in PostgreSQL, and another engine was asked for."""

    fields = ("table",)


class SourceMoved(BadInput):
    """A table that is counted in place holds other rows than when the project was made."""

    fields = ("table",)


class TooManyTuples(Refusal):
    """The combinations of some columns do not fit in the memory that the work may take."""

    fields: ClassVar[tuple[str, ...]] = ("columns", "most", "largest")


class NotOnThisEngine(Refusal):
    """What was asked for needs rows, or a file, that this engine does not give."""

    fields = ("what", "engine")


class EngineBusy(BadInput):
    """Another session is open in this process on another address."""

    fields = ("engine",)


class ExecutorsDiffer(BadInput):
    """The executors of a cluster run another version of celosia: their text might not be ours."""

    fields = ("here", "there")


class ExecutorsLackCelosia(BadInput):
    """The Python of a cluster's executors cannot run celosia."""

    fields = ("python",)


class NoSharedFolder(BadInput):
    """The executors of a cluster do not see the project's private folder."""

    fields = ("path",)


class CatalogueNeedsSpark(WrongUse):
    """A table of Spark's catalogue was named and Spark was not."""

    fields = ("table",)


class NoExecutor(BadInput):
    """Nobody of a cluster took the work."""

    fields = ("seconds",)
