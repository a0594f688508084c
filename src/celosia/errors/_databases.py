"""The two databases of a STATS project: addresses, a source that is only read, a target written in one transaction."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal, WrongUse

# --- addresses -----------------------------------------------------------------------------------


class AddressUnset(WrongUse):
    """The environment variable, or the file, that should hold an address holds nothing."""

    fields = ("place",)


class AddressInProject(WrongUse):
    """The file that holds an address stands inside the project, which travels."""

    fields = ("path",)


class PasswordInAddress(WrongUse):
    """An address with a password is written in the project itself; it is not shown."""

    fields = ()


class AddressUnclear(WrongUse):
    """No database goes by that address, which may hold a password and is not shown."""

    fields = ()


class AddressRefused(WrongUse):
    """An address typed on a page asks for more than a server, a port, a database and a user; it is not shown."""

    fields = ()


class TargetIsSource(Refusal):
    """PERSONAL and STATS are the same file."""

    fields = ()


# --- PERSONAL ------------------------------------------------------------------------------------


class NotOneSelect(BadInput):
    """The query of a PERSONAL block is not one SELECT."""

    fields = ("personal",)


class PersonalQueryFails(BadInput):
    """The database refused the query of a PERSONAL block; its words may quote cells and are not shown."""

    fields = ("personal", "kind")


class PersonalColumnMissing(BadInput):
    """Columns that a count needs are not in PERSONAL any more."""

    fields = ("personal", "columns")


class PersonKeyMissing(BadInput):
    """Rows have no person key, so nobody can say how many persons they are."""

    fields = ("personal", "rows")


class LevelLabelsRepeat(BadInput):
    """Two categories of a tree bear the same label."""

    fields = ("table", "dimension", "labels")


class AmountsUnreadable(BadInput):
    """Values of a column to be added are not numbers."""

    fields = ("personal", "column", "rows")


# --- faults in mid-run ---------------------------------------------------------------------------


class ConnectionLost(BadInput):
    """The connection ended in mid-run; STATS is as it was."""

    fields = ("engine",)


# --- STATS ---------------------------------------------------------------------------------------


class TargetBusy(BadInput):
    """Another process is writing STATS, or holds its file."""

    fields = ("engine",)


class TargetOccupied(Refusal):
    """A table of that name exists in STATS and was not made by celosia."""

    fields = ("table",)


class TargetNeeded(BadInput):
    """A table of STATS must change its columns and something of others hangs on it."""

    fields = ("table",)


class NameTooLong(BadInput):
    """A name is longer than databases keep."""

    fields = ("name", "limit")


class StatsDamaged(BadInput):
    """The bookkeeping tables of STATS are not as celosia leaves them."""

    fields = ("table",)
