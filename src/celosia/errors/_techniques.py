"""Errors of the techniques."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal, WrongUse


class UnknownTechnique(WrongUse):
    """No technique has that name."""

    fields = ("technique", "known")


class SeedMissing(Refusal):
    """The plan draws by chance and its seed is not there any more."""

    fields = ("path",)


class PseudonymsNeedProject(Refusal):
    """A pseudonym's key needs the private folder of a project."""


class UnknownExtension(WrongUse):
    """No writer makes files of that extension."""

    fields = ("path", "known")


class NotNumeric(BadInput):
    """A numeric technique met cells that are no number."""

    fields = ("technique", "variable", "rows")


class TechniqueRefuses(Refusal):
    """The table is not one the technique accepts: no rows, one row, only missing cells."""

    fields = ("technique", "reason")


class StepTooLarge(Refusal):
    """A technique by row needs more memory for its columns than the work may take."""

    fields = ("technique", "columns", "rows", "need", "memory")


class NoSpread(Refusal):
    """The numbers of a column, or of a stratum of it, do not vary enough for noise in proportion to their spread."""

    fields = ("technique", "variable", "groups", "needed")


class NumbersTooLarge(BadInput):
    """Numbers whose square cannot be held."""

    fields = ("technique", "variable", "rows")


class TooManyDigits(BadInput):
    """Numbers with more digits than exact arithmetic holds."""

    fields = ("technique", "variable", "rows", "digits")


class OutsideBounds(BadInput):
    """Numbers that already lie outside the bounds declared for the result."""

    fields = ("technique", "variable", "rows")


class PartlyMissing(Refusal):
    """Rows with some of the columns missing, where a covariance matrix is to be restored."""

    fields = ("technique", "rows")


class HouseholdMissing(BadInput):
    """Rows that do not say to which household they belong."""

    fields = ("technique", "variable", "rows")


class HouseholdsApart(BadInput):
    """Households whose members live in different areas."""

    fields = ("technique", "variable", "households")


class MatrixIncomplete(BadInput):
    """A given transition matrix that does not cover all the categories."""

    fields = ("technique", "variable", "categories", "rows")


class UnreadableCells(BadInput):
    """Cells that are not what a technique needs: a date, a coordinate, a code of that width."""

    fields = ("technique", "variable", "rows", "expected")


class ZoneNeeded(WrongUse):
    """Instants with an offset have no day until a time zone is stated."""

    fields = ("technique", "variable", "rows")


class BirthAfterReference(BadInput):
    """Births later than the date at which the age is asked for."""

    fields = ("variable", "rows")


class OutsideIntervals(BadInput):
    """Numbers that no declared interval holds."""

    fields = ("technique", "variable", "rows")


class UnmappedListed(BadInput):
    """Values without a counterpart, left as a private list to be completed."""

    fields = ("technique", "variable", "distinct", "rows", "path")


class UnmappedValues(BadInput):
    """Values without a counterpart in a map; which ones are given on request only."""

    fields = ("technique", "variable", "distinct", "rows")


class PointsOutsideAreas(BadInput):
    """Points that lie in none of the areas of a file."""

    fields = ("file", "rows")


class UnusableAreas(BadInput):
    """A file of areas that is not GeoJSON with named polygons in degrees."""

    fields = ("file", "expected")


class RemovalUnconfirmed(Refusal):
    """Records leave only with a reason and a confirmation."""

    fields = ("rows", "total", "lacking")


class TooFewRows(Refusal):
    """The table has fewer rows than each combination must have."""

    fields = ("technique", "rows", "needed")


class KeyNeeded(Refusal):
    """Keyed codes are asked for and no key is given."""

    fields = ("technique",)


class PseudonymsCollide(Refusal):
    """Different identifiers would get the same code."""

    fields = ("variables", "repeated", "length")


class PseudonymsRefused(Refusal):
    """The norm of the project publishes no pseudonyms."""

    fields = ("protocol",)


class KeyInProject(Refusal):
    """A key is written in the project's file, which is not private."""


class CodebookUnclear(BadInput):
    """A codebook with lines that name nobody, no code, or the same identifier twice."""

    fields = ("path", "incomplete", "repeated")


class StrataTooSmall(Refusal):
    """Strata with fewer rows than a group must have."""

    fields = ("technique", "strata", "k", "unit")


class PatternsTooSmall(Refusal):
    """Rows that lack some of the columns, too few of a kind to make a group of their own."""

    fields = ("technique", "rows", "k", "unit")


class GroupLargerThanTable(Refusal):
    """A group must have more rows than the table has with numbers."""

    fields = ("technique", "rows", "k", "unit")
