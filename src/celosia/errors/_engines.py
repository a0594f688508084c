"""Engines that refuse or cannot be reached."""

from __future__ import annotations

from celosia.errors._tree import BadInput, WrongUse

# --- engines -------------------------------------------------------------------------------------


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
