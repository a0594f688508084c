"""From a policy to what is published for each tuple: the method is called here, masks are completed here.

The same policy on the same source gives the same answer: `run` solves again and compares with the plan.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.errors import HouseholdsExceedLimit, OrderIncomplete, ValueOutOfRange
from celosia.evaluation import Objective, recoding_loss
from celosia.hierarchy import CompiledHierarchy
from celosia.model.values import SUPPRESSED, is_masked
from celosia.pipeline._coarse import StandIns
from celosia.pipeline._ground import Ground
from celosia.pipeline._households import closed_masks, closed_suppression, groups_of
from celosia.pipeline._population import population_digest
from celosia.pipeline._progress import Progress, stage
from celosia.risk.criteria import Criterion
from celosia.solver import (
    ClassCounter,
    FailingCriterion,
    NoSolution,
    Published,
    SearchProblem,
    SearchResult,
    broken_rows,
    class_labels,
    judge_all,
    ladder,
    levels_of,
    literal_recipe,
    look,
    recode_alike,
    recode_locally,
    search,
    sound_recipe,
    suppress_cells,
)
from celosia.tuples import Tuples, project, roll_up

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Solution:
    """What is published for each tuple, and the figures of how it was found."""

    tuples: Tuples  # what `published` and `masks` speak of: quasi-identifiers, then the columns that tie rows
    published: Published
    masks: Mapping[str, Mask]  # columns that become `*`, per tuple
    levels: Mapping[str, int]
    loss: float
    metric: str
    classes: int
    nodes: int
    nodes_checked: int
    optimal: bool
    bound: float | None
    notes: Mapping[str, Any]
    stand_ins: StandIns = field(default_factory=StandIns)  # what the tuples hold in place of the source's values

    @property
    def outcome(self) -> str:
        """Digest of all that is published for all tuples together."""
        digest = hashlib.sha256("\x00".join(self.tuples.names).encode("utf-8"))
        for vocabulary in self.published.vocabularies:
            digest.update("\x00".join(vocabulary).encode("utf-8") + b"\x01")
        digest.update(np.ascontiguousarray(self.published.codes, np.int32).tobytes())
        digest.update(np.packbits(self.published.suppressed).tobytes())
        for name in sorted(self.masks):
            digest.update(name.encode("utf-8") + np.packbits(self.masks[name]).tobytes())
        return "sha256:" + digest.hexdigest()


@dataclass(frozen=True, slots=True)
class PartsMissed(NoSolution):
    """Some parts of a search have no solution; the figures are those of these parts together."""

    variable: str
    parts: int
    unsolved: int
    small: int  # parts with less than the k that is asked for


def problem_of(ground: Ground) -> SearchProblem:
    """The search that a ground asks for."""
    policy = ground.policy
    lowest = {name: level for name, level in policy.minimum.items() if name in policy.quasi}
    highest = {name: level for name, level in policy.maximum.items() if name in policy.quasi}
    if not policy.criteria:  # nothing asks for a coarser level: the finest that the project allows is the answer
        highest = {name: lowest.get(name, 0) for name in policy.quasi}
    return SearchProblem(
        ground.quasi,
        ground.hierarchies,
        ground.criteria,
        policy.limit,
        Objective(policy.metric, policy.mean, policy.weights),
        {name: ground.sensitive[name] for name in ground.sensitive},
        ground.sensitive_hierarchies,
        lowest,
        highest,
        ground.population,
    )


def solve(ground: Ground, report: Progress = None) -> Solution | NoSolution:
    """The best the chosen method finds, or the nearest miss."""
    together = [criterion.name for criterion in ground.criteria if criterion.on_release]
    if together and ground.policy.method != "full-domain":
        raise ValueOutOfRange(parameter=f"{together[0]}.reference", given="release", allowed="source")
    if ground.population is not None and ground.policy.method != "full-domain":
        raise ValueOutOfRange(parameter="method", given=ground.policy.method, allowed="full-domain")
    if ground.parts is not None:
        from celosia.pipeline._partition import solve_in_parts

        return solve_in_parts(ground, report)
    methods = {"full-domain": _full_domain, "recipe": _recipe, "local": _local, "cells": _cells}
    return methods[ground.policy.method](ground, report)


def _full_domain(ground: Ground, report: Progress) -> Solution | NoSolution:
    return full_domain(ground, stage(report, "search"), ground.policy.time_limit)


def full_domain(
    ground: Ground, told: Callable[[float], None] | None, time_limit: float | None, alone: bool = True
) -> Solution | NoSolution:
    """The optimal levels of a ground; one that is not `alone` shares its suppressed group, judged elsewhere."""
    problem = problem_of(ground)
    look_for = partial(
        search, time_limit=time_limit, clock=time.monotonic,
        progress=None if told is None else lambda done, total: told(done / max(total, 1)),
    )  # fmt: skip
    found = look_for(problem)
    if isinstance(found, NoSolution) and ground.policy.mask_sensitive:
        # Whoever may lose a sensitive value need not be suppressed: levels that hold in size will do (M15).
        by_size = look_for(replace(problem, criteria=_sizes(problem.criteria)))
        found = found if isinstance(by_size, NoSolution) else by_size
    if isinstance(found, NoSolution):
        return found
    suppressed, masks = _failing(ground, ground.counter(found.levels), problem, found.levels)
    ground, names = ground.by_household(), ground.quasi.names
    labels = levels_of([ground.hierarchies[name] for name in names])
    codes = ground.quasi.codes[:, : len(names)]
    codes = labels.publish(codes, np.broadcast_to(np.array(found.levels), codes.shape))
    counter = ground.counter(found.levels)
    published = Published(names, labels.vocabularies, codes, suppressed, masks)
    figures: dict[str, Any] = {
        "levels": dict(zip(found.names, found.levels, strict=True)), "loss": found.loss, "metric": found.metric,
        "nodes": found.nodes, "nodes_checked": found.nodes_checked, "optimal": found.optimal, "bound": found.bound,
        "notes": {}, "stand_ins": ground.stand_ins,
    }  # fmt: skip
    if ground.linked is not None:
        own = suppressed[project(ground.quasi, names)[1]]
        published, changed = _whole_households(ground, counter, replace(published, suppressed=own), found)
        figures |= changed
    if ground.population is not None:
        counter = counter.hiding(published.suppressed, ground.population.total)
        told_of = {"units": ground.population.total, "digest": population_digest(ground.population)}
        figures["notes"] = {**figures["notes"], "population": told_of}
    return _completed(ground, counter, published, alone=alone, **figures)


def _whole_households(
    ground: Ground, counter: ClassCounter, published: Published, found: SearchResult
) -> tuple[Published, dict[str, Any]]:
    """Households suppressed whole, and the figures that change; more rows than allowed is a refusal."""
    policy, rows = ground.policy, ground.quasi.rows
    assert ground.linked is not None
    criteria = _sizes(ground.criteria) if policy.mask_sensitive else ground.criteria
    label, _ = class_labels(published.codes, [len(vocabulary) for vocabulary in published.vocabularies])
    links = [groups_of(ground.quasi, link) for link in policy.links]
    blank = _blank(published) & ~published.suppressed  # nothing shown anyway: hides as much as a suppressed row
    suppressed = closed_suppression(counter, criteria, label, published.suppressed | blank, links) & ~blank
    own = int(rows[published.suppressed].sum())
    added = int(rows[suppressed].sum()) - own
    allowed = math.floor(policy.limit * ground.quasi.n_rows)
    if own + added > allowed:
        raise HouseholdsExceedLimit(own=own, added=added, allowed=allowed, columns=", ".join(policy.links))
    constant = {link: list(names) for link, names in ground.linked.constant.items()}
    changed: dict[str, Any] = {"notes": {"households": {"rows_added": added, "constant": constant}}}
    if added:
        changed |= _loss_after(ground, suppressed, found) | {"optimal": False}
    return replace(published, suppressed=suppressed, masked_sensitive={}), changed


def _blank(published: Published) -> Mask:
    """Tuples of which every quasi-identifier is published as asterisks."""
    blank = np.ones(len(published.codes), bool)
    for v, vocabulary in enumerate(published.vocabularies):
        blank &= np.array([is_masked(text) for text in vocabulary], bool)[published.codes[:, v]]
    return blank


def _newly_blank(ground: Ground, published: Published) -> Mask:
    """Tuples that show nothing in the release and did in the source: suppressed, whatever the method calls them."""
    source = Published(ground.quasi.names, ground.quasi.vocabularies, ground.quasi.codes, published.suppressed, {})
    return _blank(published) & ~_blank(source)


def _left_out(ground: Ground, counter: ClassCounter, published: Published) -> Mask:
    """Tuples that are suppressed. Where those are dropped, what came blank from the source loses its company in the
    group without text, and goes with them unless it holds alone.
    """
    fresh = _newly_blank(ground, published)
    if ground.policy.suppressed != "drop":
        return fresh
    alone = _blank(published) & ~fresh
    holds = judge_all(ground.criteria, counter.classes(alone.astype(np.int64), 2))[1]
    return fresh if holds else fresh | alone


def _nothing_masked_holds(problem: SearchProblem) -> NoSolution:
    """The nearest miss where no masking of cells holds, though coarser levels might (persons on several rows)."""
    found = search(replace(problem, limit=0 * problem.limit))
    if isinstance(found, NoSolution):
        return found
    view = look(problem, problem.highest)
    rows = int(problem.quasi.rows[view.suppressed].sum())
    failing = tuple(FailingCriterion(c, broken) for c, broken, _ in broken_rows(problem, view) if broken)
    share = rows / max(problem.quasi.n_rows, 1)
    return NoSolution(problem.names, tuple(problem.highest), rows, share, 0, failing, 1, 1, True)


def _loss_after(ground: Ground, suppressed: Mask, found: SearchResult) -> dict[str, Any]:
    """The loss with the rows that households add, always as `loss`; the search's bound holds for that alone."""
    objective = Objective("loss", ground.policy.mean, ground.policy.weights)
    hierarchies = [ground.hierarchies[name] for name in found.names]
    levels = np.broadcast_to(np.array(found.levels), (len(suppressed), len(found.levels)))
    loss = recoding_loss(ground.quasi, hierarchies, levels, suppressed, objective)
    return {"loss": loss, "metric": objective.name, "bound": found.bound if ground.policy.metric == "loss" else None}


def _failing(
    ground: Ground, counter: ClassCounter, problem: SearchProblem, levels: Sequence[int]
) -> tuple[Mask, dict[str, Mask]]:
    """Tuples to suppress, and tuples that only lose a sensitive value because the policy prefers that (M15)."""
    whole = look(problem, levels)
    if not ground.policy.mask_sensitive:
        return whole.suppressed, {}
    suppressed = look(replace(problem, criteria=_sizes(problem.criteria)), levels).suppressed
    masks: dict[str, Mask] = {}
    for criterion in problem.criteria:
        if criterion.variable:
            fails = look(replace(problem, criteria=(criterion,)), levels).suppressed & ~suppressed
            masks[criterion.variable] = masks.get(criterion.variable, np.zeros(len(fails), bool)) | fails
    # What still fails with its value masked, such as a size asked together with it, is suppressed after all.
    shown = {name: ~mask for name, mask in masks.items()}
    passes = judge_all(problem.criteria, counter.classes(whole.label, len(whole.passes), shown))
    suppressed = suppressed | (whole.suppressed & ~passes[whole.label])
    return suppressed, {name: mask & ~suppressed for name, mask in masks.items()}


def _sizes(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """What the criteria ask of sizes: masking a sensitive value mends everything else."""
    return tuple(size for criterion in criteria if (size := criterion.size_alone) is not None)


def _recipe(ground: Ground, report: Progress) -> Solution:
    problem = problem_of(ground)
    order = ground.policy.order
    missing = [name for name in ground.quasi.names if name not in order]
    if missing:
        raise OrderIncomplete(missing=", ".join(missing))
    hierarchies = [ground.hierarchies[name] for name in ground.quasi.names]
    positions = [ground.quasi.position(name) for name in order]
    steps = ladder(positions, problem.lowest, problem.highest)
    counter = ground.counter()
    made = sound_recipe(counter, hierarchies, ground.criteria, steps)
    first = positions[0]
    offered = max(problem.highest[first] - problem.lowest[first], 1)
    printed = literal_recipe(counter, hierarchies, ground.criteria, steps, offered)
    published = Published(ground.quasi.names, made.vocabularies, made.codes, made.topmost, {})
    published = _beyond_the_ladder(ground, counter, published, made.failing)
    published = replace(published, suppressed=published.suppressed | _left_out(ground, counter, published))
    levels = steps[made.steps]
    gone = made.topmost & _blank(published)
    loss = recoding_loss(ground.quasi, hierarchies, levels, gone, problem.objective)
    notes = {
        "rounds": made.rounds,
        "rows_by_step": np.bincount(made.steps, weights=ground.quasi.rows, minlength=len(steps)).astype(int).tolist(),
        "printed_recipe": {
            "left_after": list(printed.left_after),
            "violating_classes": printed.violating_classes,
            "violating_rows": printed.violating_rows,
            "unique_rows": printed.unique_rows,
        },
    }
    return _completed(
        ground, counter, published, levels={}, loss=loss, metric=problem.objective.name, nodes=len(steps),
        nodes_checked=len(steps), optimal=False, bound=None, notes=notes,
    )  # fmt: skip


def _beyond_the_ladder(ground: Ground, counter: ClassCounter, published: Published, failing: Mask) -> Published:
    """Tuples that fail at the highest level the project allows: only `*` is left for them.

    Where the policy prefers it (M15) and it suffices, they keep their quasi-identifiers and lose the sensitive value.
    """
    label, count = class_labels(published.codes, [len(vocabulary) for vocabulary in published.vocabularies])
    masks = _sensitive_masks(ground, counter, label, count, failing) if ground.policy.mask_sensitive else {}
    passes = judge_all(ground.criteria, counter.classes(label, count, {name: ~mask for name, mask in masks.items()}))
    suppressed = failing & ~passes[label]
    codes, vocabularies = _starred(published.codes, published.vocabularies, suppressed & ~_blank(published))
    masks = {name: mask & ~suppressed for name, mask in masks.items()}
    return Published(published.names, vocabularies, codes, suppressed, masks)


def _sensitive_masks(
    ground: Ground, counter: ClassCounter, label: NDArray[np.int64], count: int, failing: Mask
) -> dict[str, Mask]:
    """For each sensitive variable, the failing tuples whose class breaks a criterion of it."""
    classes, masks = counter.classes(label, count), dict[str, Mask]()
    for criterion in ground.criteria:
        if criterion.variable:
            fails = failing & ~judge_all((criterion,), classes)[label]
            masks[criterion.variable] = masks.get(criterion.variable, np.zeros(len(label), bool)) | fails
    return masks


def _local(ground: Ground, report: Progress) -> Solution | NoSolution:
    problem = problem_of(ground)
    hierarchies = [ground.hierarchies[name] for name in ground.quasi.names]
    weights = [problem.objective.weight(name) for name in ground.quasi.names]
    counter = ground.counter()
    made = recode_locally(
        counter, hierarchies, ground.criteria, problem.lowest, problem.highest, weights, stage(report, "search")
    )
    if made is None:  # nothing holds at the top: persons on several rows may fail together and pass apart
        found = search(replace(problem, limit=0 * problem.limit))
        if isinstance(found, NoSolution):
            return found
        made = recode_alike(counter, hierarchies, found.levels)
    nobody = np.zeros(len(ground.quasi.rows), bool)
    published = Published(ground.quasi.names, made.vocabularies, made.codes, nobody, {})
    published = replace(published, suppressed=_left_out(ground, counter, published))
    loss = recoding_loss(ground.quasi, hierarchies, made.levels, nobody, problem.objective)
    return _completed(
        ground, counter, published, levels={}, loss=loss, metric=problem.objective.name, nodes=made.nodes,
        nodes_checked=made.nodes, optimal=False, bound=None, notes={"returned_classes": made.returned},
    )  # fmt: skip


def _cells(ground: Ground, report: Progress) -> Solution | NoSolution:
    problem = problem_of(ground)
    hierarchies = [ground.hierarchies[name] for name in ground.quasi.names]
    importance = [problem.objective.weight(name) for name in ground.quasi.names]
    reading: Literal["own", "wildcard"] = "wildcard" if ground.policy.reading == "wildcard" else "own"
    lowest, place = _at_lowest(ground, hierarchies, problem.lowest)
    made = suppress_cells(lowest, ground.criteria, importance, reading)
    if made is None:
        return _nothing_masked_holds(problem)
    nobody = np.zeros(len(ground.quasi.rows), bool)
    counter = ground.counter()
    published = Published(ground.quasi.names, made.vocabularies, made.codes[place], nobody, {})
    published = replace(published, suppressed=_left_out(ground, counter, published))
    levels = np.broadcast_to(np.array(problem.lowest, np.int64), ground.quasi.codes.shape)
    loss = recoding_loss(ground.quasi, hierarchies, levels, made.masked[place], problem.objective)
    label, count = class_labels(published.codes, [len(vocabulary) for vocabulary in published.vocabularies])
    fails = ~judge_all(ground.criteria, counter.classes(label, count))[label] & ~published.suppressed
    notes = {
        "reading": ground.policy.reading,
        "failing_as_published": int(ground.quasi.rows[fails].sum()),  # with `*` as any value the check may refuse
        "masked_cells": made.cells,
        "masked_cells_by_variable": dict(zip(ground.quasi.names, made.by_variable, strict=True)),
        "rows_touched": made.rows_touched,
    }
    return _completed(
        ground, counter, published, levels={}, loss=loss, metric=problem.objective.name, nodes=0, nodes_checked=0,
        optimal=False, bound=None, notes=notes,
    )  # fmt: skip


def _at_lowest(
    ground: Ground, hierarchies: Sequence[CompiledHierarchy], lowest: Sequence[int]
) -> tuple[ClassCounter, NDArray[np.int64]]:
    """The tuples at the lowest levels that the project allows, with their counts, and where each tuple went."""
    maps = [hierarchy.maps[level] for hierarchy, level in zip(hierarchies, lowest, strict=True)]
    labels = [hierarchy.labels[level] for hierarchy, level in zip(hierarchies, lowest, strict=True)]
    quasi, place = roll_up(ground.quasi, maps, labels)
    sensitive = {
        name: roll_up(table, [*maps, None], [*labels, table.vocabularies[-1]])[0]
        for name, table in ground.sensitive.items()
    }
    return ClassCounter(quasi, sensitive, ground.sensitive_hierarchies), place


def _completed(
    ground: Ground, counter: ClassCounter, published: Published, *, alone: bool = True, **figures: Any
) -> Solution:
    """The solution with suppressed rows starred, their group judged, and masks carried to what follows."""
    codes, vocabularies = published.codes, published.vocabularies
    if ground.policy.method == "full-domain":
        codes, vocabularies = _starred(codes, vocabularies, published.suppressed)
    label, count = class_labels(codes, [len(vocabulary) for vocabulary in vocabularies])
    masks = {name: mask.copy() for name, mask in published.masked_sensitive.items()}
    if alone:
        blank = _blank(replace(published, codes=codes, vocabularies=vocabularies))
        _mask_suppressed_group(ground, counter, label, count, published.suppressed, blank, masks)
    masks |= _masks_of_followers(ground, label, count, published.suppressed, masks)
    if ground.linked is not None:
        masks = closed_masks(counter, ground.criteria, ground.linked, label, published.suppressed, masks)
    final = replace(published, codes=codes, vocabularies=vocabularies, masked_sensitive={})
    kept = len(np.unique(label[~published.suppressed]))
    return Solution(tuples=ground.quasi, published=final, masks=masks, classes=kept, **figures)


def _starred(
    codes: NDArray[np.int32], vocabularies: tuple[tuple[str, ...], ...], suppressed: Mask
) -> tuple[NDArray[np.int32], tuple[tuple[str, ...], ...]]:
    """Suppressed tuples with `*` in every quasi-identifier; vocabularies stay in code-point order."""
    starred = np.empty_like(codes)
    extended = []
    for v, vocabulary in enumerate(vocabularies):
        wider = tuple(sorted({*vocabulary, SUPPRESSED}))
        place = {text: code for code, text in enumerate(wider)}
        moved = np.array([place[text] for text in vocabulary], np.int32)
        starred[:, v] = np.where(suppressed, place[SUPPRESSED], moved[codes[:, v]])
        extended.append(wider)
    return starred, tuple(extended)


def _mask_suppressed_group(
    ground: Ground, counter: ClassCounter, label: NDArray[np.int64], count: int, suppressed: Mask, blank: Mask,
    masks: dict[str, Mask],
) -> None:  # fmt: skip
    """The fully suppressed rows are a group of their own: if it fails, its sensitive values go too (DESIGN §3).

    It is judged as the check will see it: without what is masked already, and beside the rows that show something
    where a criterion compares with the release.
    """
    if not suppressed.any():
        return
    classes = counter.classes(label, count, {name: ~mask for name, mask in masks.items()})
    shows = np.zeros(count, bool)
    shows[label[~blank]] = True
    passes = judge_all(ground.criteria, classes, shows)
    # Rows that came masked from the source share the group's published text, so they lose the value with it.
    group = np.zeros(count, bool)
    group[label[suppressed]] = True
    failing = (group & ~passes)[label]
    for name in ground.sensitive:
        masks[name] = masks.get(name, np.zeros(len(label), bool)) | failing


def _masks_of_followers(
    ground: Ground, label: NDArray[np.int64], count: int, suppressed: Mask, masks: Mapping[str, Mask]
) -> dict[str, Mask]:
    """A column that gives others away is shown only where it tells nothing more than the class does (X7).

    One tied to a quasi-identifier is shown or masked for a whole class, so that it never splits one.
    """
    nobody = np.zeros(len(label), bool)
    found: dict[str, Mask] = {}
    for name, leaders in ground.followers.items():
        mask = masks.get(name, nobody).copy()
        for leader in leaders:
            mask |= masks.get(leader, nobody)
        if name in ground.follower_tuples:
            for leader in leaders:
                mask |= _holding_masked(ground, leader)
            touched = np.zeros(count, bool)
            touched[label[mask]] = True
            mask = touched[label] | _changing(ground, ground.follower_tuples[name], label, count) | suppressed
        found[name] = mask
    return found


def _holding_masked(ground: Ground, leader: str) -> Mask:
    """Tuples with a row whose sensitive value came masked from the source."""
    held = np.zeros(len(ground.quasi.rows), bool)
    if leader in ground.sensitive:
        table = ground.sensitive[leader]
        _, parent = project(table, ground.quasi.names)
        starred = np.array([is_masked(text) for text in table.vocabularies[-1]], bool)[table.codes[:, -1]]
        held[parent[starred]] = True
    return held


def _changing(ground: Ground, beside: Any, label: NDArray[np.int64], count: int) -> Mask:
    """Tuples whose class holds more than one value of the column beside."""
    _, parent = project(beside, ground.quasi.names)
    pairs = np.unique(np.stack([label[parent], beside.codes[:, -1].astype(np.int64)], axis=1), axis=0)
    several = np.bincount(pairs[:, 0], minlength=count) > 1
    return several[label]
