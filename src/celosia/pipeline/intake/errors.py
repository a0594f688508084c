"""Errors that `pipeline.intake` raises."""

from __future__ import annotations

from celosia.errors import BadInput, WrongUse


class AddressUnset(WrongUse, fields="place"):
    """The environment variable, or the file, that should hold an address holds nothing."""


class AddressUnclear(WrongUse, fields=""):
    """No database goes by that address, which may hold a password and is not shown."""


class AddressRefused(WrongUse, fields=""):
    """An address typed on a page asks for more than a server, a port, a database and a user; it is not shown."""


class EngineAddressUnset(WrongUse, fields="variable"):
    """A project is counted in PostgreSQL and nobody said where that is."""


class DataElsewhere(WrongUse, fields="table"):
    """The rows of a project stay in PostgreSQL, and another engine was asked for."""


class SourceMoved(BadInput, fields="table"):
    """A table that is counted in place holds other rows than when the project was made."""


class CatalogueNeedsSpark(WrongUse, fields="table"):
    """A table of Spark's catalogue was named and Spark was not."""


class DictionaryNeeded(BadInput):
    """The protocol begins with the base and its dictionary; only the base was given."""
