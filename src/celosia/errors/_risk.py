"""Errors of risk and evaluation."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal, WrongUse

# --- evaluation ----------------------------------------------------------------------------------


class UnknownProperty(WrongUse):
    """A property to keep that evaluation does not know, or that is not written as it must be."""

    fields = ("property", "known")


class PropertyNeedsNumbers(BadInput):
    """A property of numbers is asked of a variable that holds none."""

    fields = ("variable",)


class NoCommonColumn(BadInput):
    """The two files have no column of the same name."""

    fields = ("before", "after")


class MeasurementDiffers(BadInput):
    """A variable holds numbers in one file and words in the other."""

    fields = ("variable",)


class KeyRepeats(BadInput):
    """The key that is to match the records is missing or repeated in some rows."""

    fields = ("variable", "file", "rows")


class NoCommonRecord(BadInput):
    """The key matches no record of the two files."""

    fields = ("variable",)


class UnusableWeight(BadInput):
    """Some rows have a sampling weight that is no positive number."""

    fields = ("variable", "file", "rows")


class NoCandidate(BadInput):
    """The project has no released file to compare with."""

    fields = ("path",)


class ContrastTooSmall(Refusal):
    """The contrast of untouched variables needs more of them."""

    fields = ("chosen", "needed")


class ContrastOneKind(Refusal):
    """The contrast must hold both kinds of variable when both are published."""

    fields = ("kind",)


# --- scenarios -----------------------------------------------------------------------------------


class NoScenario(WrongUse):
    """Nothing says which variables identify: no scenario, no quasi-identifier."""

    fields = ()


class CombinationTooWide(WrongUse):
    """Combinations of more variables are asked for than there are."""

    fields = ("asked", "variables")


class TooManyScenarios(WrongUse):
    """More combinations would be generated than anybody can read."""

    fields = ("scenarios", "limit")


class SettingOutsideScenario(WrongUse):
    """A scenario sets the level or the categories of a variable that is not one of its own."""

    fields = ("variable", "scenario")


class LevelNeedsProject(WrongUse):
    """A level of detail is asked for where no hierarchy is described."""

    fields = ("variable",)


class TableNeedsScenario(WrongUse):
    """The frequency table of generated combinations was asked for without naming one."""

    fields = ()


class TableOfIdentifiers(Refusal):
    """A table would list the values of a direct identifier."""

    fields = ("variables",)


# --- individual risk and the population ----------------------------------------------------------


class UnusableWeights(BadInput):
    """Sampling weights that are missing, no number, zero or negative."""

    fields = ("variable", "missing", "unreadable", "zero", "negative")


class HouseholdUnknown(BadInput):
    """Rows that do not say which household they belong to."""

    fields = ("variable", "rows")


class PopulationLacks(BadInput):
    """The population table does not have some of the variables."""

    fields = ("missing", "known")


class UnusableCounts(BadInput):
    """The counts of a population table are not whole numbers."""

    fields = ("variable", "rows")


class PopulationTooSmall(BadInput):
    """The population is said to be smaller than the file."""

    fields = ("population", "rows")


class PopulationLevelsDiffer(BadInput):
    """A hierarchy sends values elsewhere once the values of the population table are there too."""

    fields = ("variable", "values")


# --- special uniques, geography, rarity ----------------------------------------------------------


class TooManyCombinations(WrongUse):
    """The sets of variables to try for special uniques are too many."""

    fields = ("variables", "size", "limit")


class ConstantVariable(BadInput):
    """A variable shows one value or none: it singles nobody out and would only change the scores."""

    fields = ("variable",)


class WholeNumberExpected(BadInput):
    """Cells of a column of counts are not whole numbers."""

    fields = ("variable", "count")
