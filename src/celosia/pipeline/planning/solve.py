"""From a policy to what is published for each tuple: the method is called here.

Knows the methods and the solver. Ignores files. The same policy on the same source gives the same answer: `run` solves
again and compares with the plan.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation.objective import Objective, recoding_loss
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.plan import Policy
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.planning.errors import HouseholdsExceedLimit, OrderIncomplete
from celosia.pipeline.planning.households import extend_suppression, groups_of
from celosia.pipeline.planning.population import population_digest
from celosia.pipeline.planning.search_input import SearchInput
from celosia.pipeline.planning.solution import Solution, complete_solution, labels_of, star_suppressed
from celosia.pipeline.project.progress import Progress, ShareProgress, stage_progress
from celosia.risk.classes import fully_masked
from celosia.risk.criteria import Criterion
from celosia.solver.cascade import ladder, literal_recipe, sound_recipe
from celosia.solver.cells import suppress_cells
from celosia.solver.local import LocalRecoding, recode_locally, show_hidden_by_size
from celosia.solver.node_report import broken_rows, node_view
from celosia.solver.optimal import search
from celosia.solver.problem import FailingCriterion, NoSolution, SearchProblem, SearchResult
from celosia.solver.published import ClassCounter, PublishedTuples, judge_all, level_labels
from celosia.tuples.table import project, roll_up

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class UnsolvedParts(NoSolution):
    """Some parts of a search have no solution; the figures are those of these parts together."""

    variable: str
    parts: int
    unsolved: int
    small: int  # parts with less than the k that is asked for


def information_loss(policy: Policy) -> Objective:
    """The information loss with the policy's mean and weights, whatever its search minimises."""
    return Objective("loss", policy.mean, policy.weights)


def search_problem(search_input: SearchInput) -> SearchProblem:
    """The optimal search that a policy asks for."""
    policy = search_input.policy
    lowest = {name: level for name, level in policy.minimum.items() if name in policy.quasi}
    highest = {name: level for name, level in policy.maximum.items() if name in policy.quasi}
    if not policy.criteria:  # nothing asks for a coarser level: the finest that the project allows is the answer
        highest = {name: lowest.get(name, 0) for name in policy.quasi}
    return SearchProblem(
        search_input.quasi,
        search_input.hierarchies,
        search_input.criteria,
        policy.limit,
        Objective(policy.metric, policy.mean, policy.weights),
        dict(search_input.sensitive),
        search_input.sensitive_hierarchies,
        lowest,
        highest,
        search_input.population,
    )


def solve(search_input: SearchInput, report: Progress = None) -> Solution | NoSolution:
    """The best that the chosen method finds, or the nearest miss."""
    policy = search_input.policy
    on_release = [criterion.name for criterion in search_input.criteria if criterion.on_release]
    if on_release and policy.method != "full-domain":
        raise ValueOutOfRange(parameter=f"{on_release[0]}.reference", given="release", allowed="source")
    if search_input.population is not None and policy.method != "full-domain":
        raise ValueOutOfRange(parameter="method", given=policy.method, allowed="full-domain")
    progress = stage_progress(report, "search")
    if search_input.parts is not None:
        from celosia.pipeline.planning.partitioned_search import solve_in_parts

        return solve_in_parts(search_input, progress)
    if policy.method == "full-domain":
        return solve_full_domain(search_input, progress, policy.time_limit)
    if policy.method == "local":
        return _solve_locally(search_input, progress)
    return _solve_by_recipe(search_input) if policy.method == "recipe" else _solve_by_cells(search_input)


# --- one level per variable -----------------------------------------------------------------------


def solve_full_domain(
    search_input: SearchInput, progress: ShareProgress, time_limit: float | None, *, is_part: bool = False
) -> Solution | NoSolution:
    """The optimal levels; the suppressed group of a part is shared with the other parts and judged with them."""
    problem = search_problem(search_input)
    look_for = partial(
        search,
        time_limit=time_limit,
        clock=time.monotonic,
        progress=lambda done, total: progress(done / max(total, 1)),
    )
    result = look_for(problem)
    if isinstance(result, NoSolution) and search_input.policy.mask_sensitive:
        # Whoever may lose a sensitive value need not be suppressed: levels that hold in size will do (M15).
        by_size = look_for(replace(problem, criteria=_size_criteria(problem.criteria)))
        result = result if isinstance(by_size, NoSolution) else by_size
    if isinstance(result, NoSolution):
        return result
    counter = search_input.counter(result.levels)
    suppressed, masks = _suppressed_and_masked(search_input, counter, problem, result.levels)
    search_input, names = search_input.by_household(), search_input.quasi.names
    labels = level_labels([search_input.hierarchies[name] for name in names])
    codes = search_input.quasi.codes[:, : len(names)]
    codes = labels.publish(codes, np.broadcast_to(np.array(result.levels), codes.shape))
    counter = search_input.counter(result.levels)
    published = PublishedTuples(names, labels.vocabularies, codes, suppressed, masks)
    figures: dict[str, Any] = {
        "levels": dict(zip(result.names, result.levels, strict=True)),
        "loss": result.loss,
        "metric": result.metric,
        "nodes": result.nodes,
        "nodes_checked": result.nodes_checked,
        "optimal": result.optimal,
        "bound": result.bound,
        "notes": {},
        "representatives": search_input.representatives,
    }
    if search_input.linked is not None:
        own = suppressed[project(search_input.quasi, names)[1]]
        published, changed = _suppress_households(search_input, counter, replace(published, suppressed=own), result)
        figures |= changed
    if search_input.population is not None:
        total = search_input.population.total
        counter = counter.with_suppressed(published.suppressed, total)
        population = {"units": total, "digest": population_digest(search_input.population)}
        figures["notes"] = {**figures["notes"], "population": population}
    return complete_solution(search_input, counter, published, is_part=is_part, **figures)


def _suppressed_and_masked(
    search_input: SearchInput, counter: ClassCounter, problem: SearchProblem, levels: Sequence[int]
) -> tuple[Mask, dict[str, Mask]]:
    """Tuples to suppress, and tuples that only lose a sensitive value because the policy prefers that (M15)."""
    whole = node_view(problem, levels)
    if not search_input.policy.mask_sensitive:
        return whole.suppressed, {}
    suppressed = node_view(replace(problem, criteria=_size_criteria(problem.criteria)), levels).suppressed
    masks: dict[str, Mask] = {}
    for criterion in problem.criteria:
        if criterion.variable:
            fails = node_view(replace(problem, criteria=(criterion,)), levels).suppressed & ~suppressed
            masks[criterion.variable] = masks.get(criterion.variable, np.zeros(len(fails), bool)) | fails
    # What still fails with its value masked, such as a size asked together with it, is suppressed after all.
    shown = {name: ~mask for name, mask in masks.items()}
    passes = judge_all(problem.criteria, counter.classes(whole.label, len(whole.passes), shown))
    suppressed = suppressed | (whole.suppressed & ~passes[whole.label])
    return suppressed, {name: mask & ~suppressed for name, mask in masks.items()}


def _size_criteria(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """What the criteria ask of sizes: masking a sensitive value satisfies everything else."""
    return tuple(size for criterion in criteria if (size := criterion.size_alone) is not None)


def _suppress_households(
    search_input: SearchInput, counter: ClassCounter, published: PublishedTuples, result: SearchResult
) -> tuple[PublishedTuples, dict[str, Any]]:
    """Households suppressed whole, and the figures that change; more rows than allowed is a refusal."""
    policy, rows = search_input.policy, search_input.quasi.rows
    assert search_input.linked is not None
    criteria = _size_criteria(search_input.criteria) if policy.mask_sensitive else search_input.criteria
    links = [groups_of(search_input.quasi, link) for link in policy.links]
    # A tuple that shows nothing anyway hides as much as a suppressed one.
    blank = fully_masked(published.codes, published.vocabularies) & ~published.suppressed
    label, _ = labels_of(published)
    suppressed = extend_suppression(counter, criteria, label, published.suppressed | blank, links) & ~blank
    own = int(rows[published.suppressed].sum())
    added = int(rows[suppressed].sum()) - own
    allowed = math.floor(policy.limit * search_input.quasi.n_rows)
    if own + added > allowed:
        raise HouseholdsExceedLimit(own=own, added=added, allowed=allowed, columns=", ".join(policy.links))
    constant = {link: list(names) for link, names in search_input.linked.constant.items()}
    changed: dict[str, Any] = {"notes": {"households": {"rows_added": added, "constant": constant}}}
    if added:
        changed |= _loss_with_households(search_input, suppressed, result) | {"optimal": False}
    return replace(published, suppressed=suppressed, masked_sensitive={}), changed


def _loss_with_households(search_input: SearchInput, suppressed: Mask, result: SearchResult) -> dict[str, Any]:
    """The loss with the rows that households add, always as `loss`; the search's bound holds for that alone."""
    objective = information_loss(search_input.policy)
    hierarchies = [search_input.hierarchies[name] for name in result.names]
    levels = np.broadcast_to(np.array(result.levels), (len(suppressed), len(result.levels)))
    loss = recoding_loss(search_input.quasi, hierarchies, levels, suppressed, objective)
    bound = result.bound if search_input.policy.metric == "loss" else None
    return {"loss": loss, "metric": objective.name, "bound": bound}


# --- one level per class or cell ------------------------------------------------------------------


def _solve_by_recipe(search_input: SearchInput) -> Solution:
    problem, counter = search_problem(search_input), search_input.counter()
    order, names = search_input.policy.order, search_input.quasi.names
    missing = [name for name in names if name not in order]
    if missing:
        raise OrderIncomplete(missing=", ".join(missing))
    hierarchies = [search_input.hierarchies[name] for name in names]
    positions = [search_input.quasi.position(name) for name in order]
    steps = ladder(positions, problem.lowest, problem.highest)
    recipe = sound_recipe(counter, hierarchies, search_input.criteria, steps)
    first = positions[0]
    offered = max(problem.highest[first] - problem.lowest[first], 1)
    printed = literal_recipe(counter, hierarchies, search_input.criteria, steps, offered)
    published = PublishedTuples(names, recipe.vocabularies, recipe.codes, recipe.topmost, {})
    published = _suppress_failing(search_input, counter, published, recipe.failing)
    published = replace(
        published, suppressed=published.suppressed | _suppressed_tuples(search_input, counter, published)
    )
    suppressed = recipe.topmost & fully_masked(published.codes, published.vocabularies)
    loss = recoding_loss(search_input.quasi, hierarchies, steps[recipe.steps], suppressed, problem.objective)
    rows_by_step = np.bincount(recipe.steps, weights=search_input.quasi.rows, minlength=len(steps))
    notes = {
        "rounds": recipe.rounds,
        "rows_by_step": rows_by_step.astype(int).tolist(),
        "printed_recipe": {
            "left_after": list(printed.left_after),
            "violating_classes": printed.violating_classes,
            "violating_rows": printed.violating_rows,
            "unique_rows": printed.unique_rows,
        },
    }
    return _recoding_solution(search_input, counter, published, problem, loss, len(steps), notes=notes)


def _suppress_failing(
    search_input: SearchInput, counter: ClassCounter, published: PublishedTuples, failing: Mask
) -> PublishedTuples:
    """Tuples that fail at the highest level the project allows: only `*` is left for them.

    Where the policy prefers it (M15) and it suffices, they keep their quasi-identifiers and lose the sensitive value.
    """
    label, count = labels_of(published)
    masks: dict[str, Mask] = {}
    if search_input.policy.mask_sensitive:
        masks = _sensitive_masks(search_input, counter, label, count, failing)
    shown = {name: ~mask for name, mask in masks.items()}
    passes = judge_all(search_input.criteria, counter.classes(label, count, shown))
    suppressed = failing & ~passes[label]
    starred = star_suppressed(published, suppressed & ~fully_masked(published.codes, published.vocabularies))
    masks = {name: mask & ~suppressed for name, mask in masks.items()}
    return replace(starred, suppressed=suppressed, masked_sensitive=masks)


def _sensitive_masks(
    search_input: SearchInput, counter: ClassCounter, label: NDArray[np.int64], count: int, failing: Mask
) -> dict[str, Mask]:
    """For each sensitive variable, the failing tuples whose class breaks a criterion of it."""
    classes, masks = counter.classes(label, count), dict[str, Mask]()
    for criterion in search_input.criteria:
        if criterion.variable:
            fails = failing & ~judge_all((criterion,), classes)[label]
            masks[criterion.variable] = masks.get(criterion.variable, np.zeros(len(label), bool)) | fails
    return masks


def _solve_locally(search_input: SearchInput, progress: ShareProgress) -> Solution | NoSolution:
    """The local recoding; whoever may lose a sensitive value instead need not be suppressed (M15)."""
    problem, counter, names = search_problem(search_input), search_input.counter(), search_input.quasi.names
    look_for = partial(search, time_limit=search_input.policy.time_limit, clock=time.monotonic)
    sizes = _size_criteria(problem.criteria)
    recoding = recode_locally(problem, counter, look_for, progress)
    masks_values = search_input.policy.mask_sensitive and sizes != problem.criteria
    if isinstance(recoding, NoSolution) and masks_values:
        by_size = recode_locally(replace(problem, criteria=sizes), counter, look_for, progress)
        recoding = recoding if isinstance(by_size, NoSolution) else by_size
    if isinstance(recoding, NoSolution):
        return recoding
    published = PublishedTuples(names, recoding.vocabularies, recoding.codes, recoding.suppressed, {})
    if masks_values:
        published = _mask_values_instead(search_input, problem, counter, recoding)
    notes = {"full_domain_loss": recoding.full_domain} if math.isfinite(recoding.full_domain) else {}
    figures: dict[str, Any] = {"notes": notes, "bound": recoding.bound}
    problem = replace(problem, objective=information_loss(search_input.policy))
    return _recoding_solution(search_input, counter, published, problem, recoding.loss, recoding.nodes, **figures)


def _mask_values_instead(
    search_input: SearchInput, problem: SearchProblem, counter: ClassCounter, recoding: LocalRecoding
) -> PublishedTuples:
    """What holds in size alone keeps its quasi-identifiers and loses the sensitive values that fail there (M15)."""
    shown = show_hidden_by_size(problem, counter, recoding, _size_criteria(problem.criteria))
    labels = level_labels([problem.hierarchies[name] for name in problem.names])
    codes = labels.publish(problem.quasi.codes, shown.levels)
    published = PublishedTuples(problem.names, labels.vocabularies, codes, shown.suppressed, {})
    starred = star_suppressed(published, shown.suppressed)
    label, count = labels_of(starred)
    masks: dict[str, Mask] = {}
    # Whoever joined a class that passed before loses the value first; the others keep theirs.
    for may_lose in (recoding.suppressed, np.ones(len(label), bool)):
        fails = ~judge_all(problem.criteria, counter.classes(label, count, _visible_masks(masks)))[label]
        losing = _sensitive_masks(search_input, counter, label, count, fails & may_lose & ~shown.suppressed)
        masks = {name: mask | masks.get(name, np.zeros(len(label), bool)) for name, mask in losing.items()}
    fails = ~judge_all(problem.criteria, counter.classes(label, count, _visible_masks(masks)))[label]
    suppressed = shown.suppressed | (fails & ~fully_masked(problem.quasi.codes, problem.quasi.vocabularies))
    masks = {name: mask & ~suppressed for name, mask in masks.items()}
    return replace(published, suppressed=suppressed, masked_sensitive=masks)


def _visible_masks(masks: Mapping[str, Mask]) -> dict[str, Mask]:
    return {name: ~mask for name, mask in masks.items()}


def _solve_by_cells(search_input: SearchInput) -> Solution | NoSolution:
    problem, counter, names = search_problem(search_input), search_input.counter(), search_input.quasi.names
    hierarchies = [search_input.hierarchies[name] for name in names]
    importance = [problem.objective.weight(name) for name in names]
    reading: Literal["own", "wildcard"] = "wildcard" if search_input.policy.reading == "wildcard" else "own"
    lowest, position = _counter_at_lowest_levels(search_input, hierarchies, problem.lowest)
    cells = suppress_cells(lowest, search_input.criteria, importance, reading)
    if cells is None:
        return _nearest_miss_of_cells(problem)
    nobody = np.zeros(len(search_input.quasi.rows), bool)
    published = PublishedTuples(names, cells.vocabularies, cells.codes[position], nobody, {})
    published = replace(published, suppressed=_suppressed_tuples(search_input, counter, published))
    levels = np.broadcast_to(np.array(problem.lowest, np.int64), search_input.quasi.codes.shape)
    loss = recoding_loss(search_input.quasi, hierarchies, levels, cells.masked[position], problem.objective)
    label, count = labels_of(published)
    fails = ~judge_all(search_input.criteria, counter.classes(label, count))[label] & ~published.suppressed
    notes = {
        "reading": search_input.policy.reading,
        # With `*` read as any value the check of the written file may still refuse.
        "failing_as_published": int(search_input.quasi.rows[fails].sum()),
        "masked_cells": cells.cells,
        "masked_cells_by_variable": dict(zip(names, cells.by_variable, strict=True)),
        "rows_touched": cells.rows_touched,
    }
    return _recoding_solution(search_input, counter, published, problem, loss, 0, notes=notes)


def _counter_at_lowest_levels(
    search_input: SearchInput, hierarchies: Sequence[CompiledHierarchy], lowest: Sequence[int]
) -> tuple[ClassCounter, NDArray[np.int64]]:
    """The tuples at the lowest levels that the project allows, with their counts, and where each tuple went."""
    maps = [hierarchy.maps[level] for hierarchy, level in zip(hierarchies, lowest, strict=True)]
    labels = [hierarchy.labels[level] for hierarchy, level in zip(hierarchies, lowest, strict=True)]
    quasi, position = roll_up(search_input.quasi, maps, labels)
    sensitive = {
        name: roll_up(table, [*maps, None], [*labels, table.vocabularies[-1]])[0]
        for name, table in search_input.sensitive.items()
    }
    return ClassCounter(quasi, sensitive, search_input.sensitive_hierarchies), position


def _nearest_miss_of_cells(problem: SearchProblem) -> NoSolution:
    """The nearest miss where no masking of cells holds, though coarser levels might (persons on several rows)."""
    result = search(replace(problem, limit=0 * problem.limit))
    if isinstance(result, NoSolution):
        return result
    view = node_view(problem, problem.highest)
    rows = int(problem.quasi.rows[view.suppressed].sum())
    failing = tuple(FailingCriterion(c, broken) for c, broken, _ in broken_rows(problem, view) if broken)
    share = rows / max(problem.quasi.n_rows, 1)
    return NoSolution(problem.names, tuple(problem.highest), rows, share, 0, failing, 1, 1, True)


def _suppressed_tuples(search_input: SearchInput, counter: ClassCounter, published: PublishedTuples) -> Mask:
    """Tuples that show nothing in the release and did in the source: suppressed, whatever the method calls them.

    Where suppressed rows are dropped, the rows that came fully masked from the source are left alone in the class
    without text; they are dropped as well unless they satisfy the criteria by themselves.
    """
    quasi = search_input.quasi
    blank = fully_masked(published.codes, published.vocabularies)
    suppressed = blank & ~fully_masked(quasi.codes, quasi.vocabularies)
    if search_input.policy.suppressed != "drop":
        return suppressed
    remaining = blank & ~suppressed
    holds = judge_all(search_input.criteria, counter.classes(remaining.astype(np.int64), 2))[1]
    return suppressed if holds else suppressed | remaining


def _recoding_solution(
    search_input: SearchInput,
    counter: ClassCounter,
    published: PublishedTuples,
    problem: SearchProblem,
    loss: float,
    nodes: int,
    **figures: Any,
) -> Solution:
    """The solution of a method that has no single level per variable and proves no optimum."""
    figures = {"bound": None, "levels": {}, "loss": loss, "metric": problem.objective.name} | figures
    return complete_solution(
        search_input, counter, published, nodes=nodes, nodes_checked=nodes, optimal=False, **figures
    )
