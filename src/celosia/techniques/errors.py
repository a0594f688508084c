"""Errors that `techniques` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse


class UnknownTechnique(WrongUse, fields="technique known"):
    """No technique has that name."""


class NotNumeric(BadInput, fields="technique variable rows"):
    """A numeric technique met cells that are no number."""


class TechniqueRefuses(Refusal, fields="technique reason"):
    """The table is not one the technique accepts: no rows, one row, only missing cells."""


class NoSpread(Refusal, fields="technique variable groups needed"):
    """The numbers of a column, or of a stratum of it, do not vary enough for noise in proportion to their spread."""


class NumbersTooLarge(BadInput, fields="technique variable rows"):
    """Numbers whose square cannot be held."""


class TooManyDigits(BadInput, fields="technique variable rows digits"):
    """Numbers with more digits than exact arithmetic holds."""


class OutsideBounds(BadInput, fields="technique variable rows"):
    """Numbers that already lie outside the bounds declared for the result."""


class PartlyMissing(Refusal, fields="technique rows"):
    """Rows with some of the columns missing, where a covariance matrix is to be restored."""


class HouseholdMissing(BadInput, fields="technique variable rows"):
    """Rows that do not say to which household they belong."""


class HouseholdsApart(BadInput, fields="technique variable households"):
    """Households whose members live in different areas."""


class MatrixIncomplete(BadInput, fields="technique variable categories rows"):
    """A given transition matrix that does not cover all the categories."""


class UnreadableCells(BadInput, fields="technique variable rows expected"):
    """Cells that are not what a technique needs: a date, a coordinate, a code of that width."""


class ZoneNeeded(WrongUse, fields="technique variable rows"):
    """Instants with an offset have no day until a time zone is stated."""


class BirthAfterReference(BadInput, fields="variable rows"):
    """Births later than the date at which the age is asked for."""


class OutsideIntervals(BadInput, fields="technique variable rows"):
    """Numbers that no declared interval holds."""


class UnmappedValues(BadInput, fields="technique variable distinct rows"):
    """Values without a counterpart in a map; which ones are given on request only."""


class PointsOutsideAreas(BadInput, fields="file rows"):
    """Points that lie in none of the areas of a file."""


class UnusableAreas(BadInput, fields="file expected"):
    """A file of areas that is not GeoJSON with named polygons in degrees."""


class RemovalUnconfirmed(Refusal, fields="rows total lacking"):
    """Records leave only with a reason and a confirmation."""


class TooFewRows(Refusal, fields="technique rows needed"):
    """The table has fewer rows than each combination must have."""


class KeyNeeded(Refusal, fields="technique"):
    """Keyed codes are asked for and no key is given."""


class PseudonymsCollide(Refusal, fields="variables repeated length"):
    """Different identifiers would get the same code."""


class StrataTooSmall(Refusal, fields="technique strata k unit"):
    """Strata with fewer rows than a group must have."""


class PatternsTooSmall(Refusal, fields="technique rows k unit"):
    """Rows that lack some of the columns, too few of a kind to make a group of their own."""


class GroupLargerThanTable(Refusal, fields="technique rows k unit"):
    """A group must have more rows than the table has with numbers."""


class SensitiveIsQuasi(WrongUse, fields="variable"):
    """The same variable is named as sensitive and as quasi-identifier."""
