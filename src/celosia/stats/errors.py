"""Errors that `stats` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse


class AddressInProject(WrongUse, fields="path"):
    """The file that holds an address stands inside the project, which travels."""


class TargetIsSource(Refusal):
    """PERSONAL and STATS are the same file."""


class NotOneSelect(BadInput, fields="personal"):
    """The query of a PERSONAL block is not one SELECT."""


class PersonalQueryFails(BadInput, fields="personal kind"):
    """The database refused the query of a PERSONAL block; its words may quote cells and are not shown."""


class PersonalColumnMissing(BadInput, fields="personal columns"):
    """Columns that a count needs are not in PERSONAL any more."""


class PersonKeyMissing(BadInput, fields="personal rows"):
    """Rows have no person key, so nobody can say how many persons they are."""


class LevelLabelsRepeat(BadInput, fields="table dimension labels"):
    """Two categories of a tree bear the same label."""


class AmountsUnreadable(BadInput, fields="personal column rows"):
    """Values of a column to be added are not numbers."""


class ConnectionLost(BadInput, fields="engine"):
    """The connection ended in mid-run; STATS is as it was."""


class TargetBusy(BadInput, fields="engine"):
    """Another process is writing STATS, or holds its file."""


class TargetOccupied(Refusal, fields="table"):
    """A table of that name exists in STATS and was not made by celosia."""


class TargetNeeded(BadInput, fields="table"):
    """A table of STATS must change its columns and something of others hangs on it."""


class NameTooLong(BadInput, fields="name limit"):
    """A name is longer than databases keep."""


class StatsDamaged(BadInput, fields="table"):
    """The bookkeeping tables of STATS are not as celosia leaves them."""


class PasswordInFile(BadInput, fields="path setting"):
    """A database address with its password is written in the project's file."""


class ColumnWithoutRule(BadInput, fields="path personal columns"):
    """A column of PERSONAL is neither person key, nor dropped, nor used with a rule."""


class PersonalColumnAbsent(BadInput, fields="path personal columns"):
    """The file names a column that PERSONAL does not have."""


class ValuesWithoutMapping(BadInput, fields="table dimension values rows path"):
    """Values that the rule of a dimension does not place; they are in a private list."""


class MapUnclear(BadInput, fields="path incomplete repeated"):
    """A map file with lines that lack a value or a category, or that give one value two categories."""


class RuleNotForType(BadInput, fields="path setting rule kind"):
    """A rule was given a column whose type it cannot read."""


class NotStats(BadInput, fields="path"):
    """The folder holds no stats.toml."""


class ScanRefuses(Refusal, fields="findings"):
    """What was about to be committed holds something that STATS may not hold."""


class CatalogueDisagrees(Refusal, fields="uncatalogued absent"):
    """Tables without an entry in the catalogue, or entries without a table."""


class TitleTellsHidden(Refusal, fields="table"):
    """A title holds a number that the table hides."""


class NeverRan(BadInput, fields="path"):
    """STATS holds nothing yet: there has been no run."""


class RoundingBelowK(BadInput, fields="table base k"):
    """A table is rounded to a base smaller than the k of an audience."""


class RoundedSums(BadInput, fields="table measure"):
    """A rounded table may hold persons and rows only."""


class StatsTableUnknown(BadInput, fields="table known"):
    """A run was asked for a table that stats.toml does not declare."""


class AuditUnfinished(Refusal, fields="tables cells seconds"):
    """The time given ran out before the hidden cells of some tables were proved safe."""


class CutsChanged(Refusal, fields="tables column"):
    """A column is cut otherwise than in earlier releases, whose cut is no longer published beside the new one."""


class MapRegrouped(Refusal, fields="map values"):
    """A map gives values another category than in earlier releases."""


class CutsCross(BadInput, fields="tables column"):
    """Linked tables cut one column in ways that do not fit into each other."""
