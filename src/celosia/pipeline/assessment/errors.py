"""Errors that `pipeline.assessment` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse


class TooManyCells(BadInput, fields="rows columns cells limit"):
    """A cross table would have more cells than anybody can read."""


class PropertyNeedsNumbers(BadInput, fields="variable"):
    """A property of numbers is asked of a variable that holds none."""


class NoCommonColumn(BadInput, fields="before after"):
    """The two files have no column of the same name."""


class MeasurementDiffers(BadInput, fields="variable"):
    """A variable holds numbers in one file and words in the other."""


class UnusableWeight(BadInput, fields="variable file rows"):
    """Some rows have a sampling weight that is no positive number."""


class NoCandidate(BadInput, fields="path"):
    """The project has no released file to compare with."""


class CandidateOfOtherPlan(BadInput, fields="path"):
    """The candidate was made by another plan than the present one."""


class NoScenario(WrongUse, fields=""):
    """Nothing says which variables identify: no scenario, no quasi-identifier."""


class CombinationTooWide(WrongUse, fields="asked variables"):
    """Combinations of more variables are asked for than there are."""


class TooManyScenarios(WrongUse, fields="scenarios limit"):
    """More combinations would be generated than anybody can read."""


class SettingOutsideScenario(WrongUse, fields="variable scenario"):
    """A scenario sets the level or the categories of a variable that is not one of its own."""


class LevelNeedsProject(WrongUse, fields="variable"):
    """A level of detail is asked for where no hierarchy is described."""


class TableNeedsScenario(WrongUse, fields=""):
    """The frequency table of generated combinations was asked for without naming one."""


class TableOfIdentifiers(Refusal, fields="variables"):
    """A table would list the values of a direct identifier."""


class UnusableWeights(BadInput, fields="variable missing unreadable zero negative"):
    """Sampling weights that are missing, no number, zero or negative."""


class HouseholdUnknown(BadInput, fields="variable rows"):
    """Rows that do not say which household they belong to."""


class PopulationTooSmall(BadInput, fields="population rows"):
    """The population is said to be smaller than the file."""


class ConstantVariable(BadInput, fields="variable"):
    """A variable shows one value or none: it singles nobody out and would only change the scores."""


class WholeNumberExpected(BadInput, fields="variable count"):
    """Cells of a column of counts are not whole numbers."""


class PseudonymsNeedProject(Refusal):
    """A pseudonym's key needs the private folder of a project."""


class UnknownExtension(WrongUse, fields="path known"):
    """No writer makes files of that extension."""
