"""How exposed people are: measures of a table, and the criteria a release must meet.

Knows compressed tables and hierarchies as arrays. Ignores files, engines and the names of norms.
"""

from celosia.risk._classes import ClassSizes, class_sizes, fully_masked
from celosia.risk._matched import matched_sizes
from celosia.risk._population_levels import PopulationLevels, population_levels
from celosia.risk._sensitive import ClassValues, class_values
from celosia.risk.measures import MEASURES, Measure, Scope, measure

__all__ = [
    "MEASURES",
    "ClassSizes",
    "ClassValues",
    "Measure",
    "PopulationLevels",
    "Scope",
    "class_sizes",
    "class_values",
    "fully_masked",
    "matched_sizes",
    "measure",
    "population_levels",
]
