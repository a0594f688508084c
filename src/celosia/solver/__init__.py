"""Finding what to publish: the optimal search and its referee, local recoding, the recipe made sound."""

from celosia.solver._optimal import search
from celosia.solver._parts import NodeView, broken_rows, look
from celosia.solver._problem import SearchProblem
from celosia.solver._published import ClassCounter, Levels, Published, class_labels, domain_of, judge_all, levels_of
from celosia.solver._result import FailingCriterion, NoSolution, SearchResult
from celosia.solver.cascade import Cascade, LiteralRecipe, ladder, literal_recipe, sound_recipe
from celosia.solver.cells import CellSuppression, suppress_cells
from celosia.solver.explain import explain
from celosia.solver.frontier import frontier
from celosia.solver.local import LocalRecoding, recode_alike, recode_locally

__all__ = [
    "Cascade",
    "CellSuppression",
    "ClassCounter",
    "FailingCriterion",
    "Levels",
    "LiteralRecipe",
    "LocalRecoding",
    "NoSolution",
    "NodeView",
    "Published",
    "SearchProblem",
    "SearchResult",
    "broken_rows",
    "class_labels",
    "domain_of",
    "explain",
    "frontier",
    "judge_all",
    "ladder",
    "levels_of",
    "literal_recipe",
    "look",
    "recode_alike",
    "recode_locally",
    "search",
    "sound_recipe",
    "suppress_cells",
]
