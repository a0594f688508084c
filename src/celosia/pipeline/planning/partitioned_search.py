"""The search part by part: each group of one quasi-identifier has its own optimal levels; the union is published.

Knows search inputs, parts and solutions. Ignores files. Only a few parts are in memory at a time; of a solved part only
its classes are kept. A class never has rows of two parts, because the partition's level is the same in all of them, so
what each class must satisfy by itself (`partition_rules.PROVED_IN_PARTS`) holds for the union. The rows that a part may
suppress are the whole number below its share of the limit, so the union keeps the limit. Suppressed rows show nothing,
not even their part: they are one group over all parts, and are judged as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.evaluation.objective import Objective, recoding_loss
from celosia.hierarchy.errors import LevelOutsideHierarchy
from celosia.model.values import SUPPRESSED
from celosia.pipeline.planning.households import whole_groups
from celosia.pipeline.planning.partition_rules import advise_on_size
from celosia.pipeline.planning.pre_generalisation import Representatives, representative_codes, representatives_at
from celosia.pipeline.planning.search_input import SearchInput, TupleOrigin, collect_tuples
from celosia.pipeline.planning.solution import Solution, labels_of
from celosia.pipeline.planning.solve import UnsolvedParts, information_loss, search_problem, solve_full_domain
from celosia.pipeline.project.progress import ShareProgress
from celosia.risk.criteria import KAnonymity
from celosia.solver.node_report import node_view
from celosia.solver.problem import NoSolution
from celosia.solver.published import ClassCounter, PublishedTuples, judge_all
from celosia.tuples.finer import tuples_with_each
from celosia.tuples.table import Tuples, group_codes, pack_keys, pick

Mask = NDArray[np.bool_]
Codes = NDArray[np.int32]
_ROWS_AT_ONCE = 500_000  # of small parts that are read together; the result of each does not depend on it


@dataclass(frozen=True, slots=True)
class SearchPart:
    """One group of the partition's variable, by its position among the labels of the fixed level."""

    group: int
    values: tuple[str, ...]  # what the rows hold, representatives where there are some
    rows: int


@dataclass(frozen=True, slots=True)
class SolvedPart:
    """What is kept of a part: its levels and its classes, each by the values that represent theirs."""

    levels: tuple[int, ...]
    figures: Mapping[str, Any]
    nodes: int
    nodes_checked: int
    codes: Codes
    rows: NDArray[np.int64]
    published: PublishedTuples
    lost: Mask  # what the loss counts as suppressed: also classes that keep their rows without a sensitive value
    masks: Mapping[str, Mask]
    values: tuple[Codes, ...]  # for each variable, the (part, value, representative) that occur


def solve_in_parts(search_input: SearchInput, progress: ShareProgress) -> Solution | NoSolution:
    """The optimal levels of each part, and what is published of all; or the parts that have no solution."""
    parts, limit = partition_parts(search_input), search_input.policy.time_limit
    seconds = None if limit is None else limit / max(len(parts), 1)
    solved: list[SolvedPart] = []
    unsolved: list[NoSolution] = []
    small = 0
    for number, (part, own) in enumerate(_each_search_input(search_input, parts)):

        def part_progress(share: float, number: int = number) -> None:
            progress((number + share) / len(parts))

        solution = solve_full_domain(own, part_progress, seconds, is_part=True)
        if isinstance(solution, NoSolution):
            unsolved.append(solution)
            small += _is_below_k(own)
        else:
            solved.append(_condense_solution(own, part, solution, _origin_of(search_input)))
    if unsolved:
        return _unsolved_parts(search_input, len(parts), unsolved, small)
    return _join_parts(search_input, solved)


def _origin_of(search_input: SearchInput) -> TupleOrigin:
    assert search_input.parts is not None
    return search_input.parts


def partition_parts(search_input: SearchInput) -> list[SearchPart]:
    """The parts of a search, in the order of their labels."""
    name = search_input.policy.partition
    level, hierarchy = search_input.policy.minimum[name], search_input.hierarchies[name]
    if level > hierarchy.height:
        raise LevelOutsideHierarchy(variable=name, minimum=level, maximum=level, height=hierarchy.height)
    representatives = _origin_of(search_input).pre_generalised.representatives.get(name, {})
    rows = search_input.rows_at(name, level)
    values: list[dict[str, None]] = [{} for _ in rows]
    for value, group in zip(hierarchy.labels[0], hierarchy.maps[level].tolist(), strict=True):
        values[group][representatives.get(value, value)] = None
    return [SearchPart(group, tuple(values[group]), int(count)) for group, count in enumerate(rows) if count]


def _each_search_input(
    search_input: SearchInput, parts: Sequence[SearchPart]
) -> Iterator[tuple[SearchPart, SearchInput]]:
    """The search input of each part; small ones are read together and then separated."""
    origin, policy = _origin_of(search_input), search_input.policy
    for batch in _batches(parts):
        values = [value for part in batch for value in part.values]
        batch_origin = replace(origin, pre_generalised=origin.pre_generalised.where(policy.partition, values))
        with advise_on_size(policy):
            collected = collect_tuples(batch_origin)
        for part in batch:
            yield part, (collected if len(batch) == 1 else _select_part(collected, part))


def _batches(parts: Sequence[SearchPart]) -> Iterator[list[SearchPart]]:
    batch: list[SearchPart] = []
    for part in parts:
        if batch and sum(member.rows for member in batch) + part.rows > _ROWS_AT_ONCE:
            yield batch
            batch = []
        batch.append(part)
    if batch:
        yield batch


def _select_part(collected: SearchInput, part: SearchPart) -> SearchInput:
    """The rows of one part among those of several."""
    name = collected.policy.partition
    group = collected.hierarchies[name].maps[collected.policy.minimum[name]]
    column = collected.quasi.position(name)

    def select(tuples: Tuples) -> Tuples:
        return pick(tuples, np.flatnonzero(group[tuples.codes[:, column]] == part.group))

    return replace(
        collected,
        quasi=select(collected.quasi),
        sensitive={name: select(tuples) for name, tuples in collected.sensitive.items()},
        dependent_tuples={name: select(tuples) for name, tuples in collected.dependent_tuples.items()},
    )


def _is_below_k(own: SearchInput) -> bool:
    """Whether a part has fewer units than a k asked for: all of it would have to be suppressed."""
    whole = ClassCounter(own.quasi, {}).classes(np.zeros(len(own.quasi.rows), np.int64), 1)
    return any(int(whole.sizes(c.unit)[0]) < c.k for c in own.criteria if isinstance(c, KAnonymity))


def _unsolved_parts(search_input: SearchInput, parts: int, unsolved: Sequence[NoSolution], small: int) -> UnsolvedParts:
    return UnsolvedParts(
        names=search_input.policy.quasi,
        levels=unsolved[0].levels,
        suppressed_rows=sum(miss.suppressed_rows for miss in unsolved),
        suppressed_share=max(miss.suppressed_share for miss in unsolved),
        allowed_rows=sum(miss.allowed_rows for miss in unsolved),
        failing=(),
        nodes=sum(miss.nodes for miss in unsolved),
        nodes_checked=sum(miss.nodes_checked for miss in unsolved),
        proved=all(miss.proved for miss in unsolved),
        variable=search_input.policy.partition,
        parts=parts,
        unsolved=len(unsolved),
        small=small,
    )


def _condense_solution(own: SearchInput, part: SearchPart, solution: Solution, origin: TupleOrigin) -> SolvedPart:
    """A part's solution by its classes: all that is published is the same for the values that share a group."""
    quasi, published = own.quasi, solution.published
    levels = tuple(solution.levels[name] for name in quasi.names)
    codes = np.empty_like(quasi.codes)
    for v, name in enumerate(quasi.names):
        representative = representative_codes(own.hierarchies[name], levels[v], origin.variables[name].unknown)
        codes[:, v] = representative[quasi.codes[:, v]]
    first, label = group_codes(codes, quasi.sizes)
    lost = published.suppressed
    if own.policy.mask_sensitive:
        lost = node_view(search_problem(own), levels).suppressed
    return SolvedPart(
        levels=levels,
        figures={
            "rows": part.rows,
            "levels": dict(solution.levels),
            "loss": solution.loss,
            "optimal": solution.optimal,
            "suppressed_rows": int(quasi.rows[published.suppressed].sum()),
        },
        nodes=solution.nodes,
        nodes_checked=solution.nodes_checked,
        codes=codes[first],
        rows=np.bincount(label, weights=quasi.rows, minlength=len(first)).astype(np.int64),
        published=replace(published, codes=published.codes[first], suppressed=published.suppressed[first]),
        lost=lost[first],
        masks={name: mask[first] for name, mask in solution.masks.items()},
        values=_occurring_values(quasi, codes, own.policy.partition),
    )


def _occurring_values(quasi: Tuples, codes: Codes, partition: str) -> tuple[Codes, ...]:
    """For each variable, the distinct (part, value, representative) that the rows of a part hold."""
    part = quasi.position(partition)
    columns = []
    for v in range(len(quasi.names)):
        triples = np.stack([codes[:, part], quasi.codes[:, v], codes[:, v]], axis=1)
        columns.append(triples[group_codes(triples, [quasi.sizes[part], quasi.sizes[v], quasi.sizes[v]])[0]])
    return tuple(columns)


def _join_parts(search_input: SearchInput, solved: Sequence[SolvedPart]) -> Solution:
    """All parts side by side, their suppressed rows judged as the one group they are."""
    names, hierarchies = search_input.policy.quasi, search_input.hierarchies
    codes = np.concatenate([part.codes for part in solved])
    order = np.argsort(pack_keys(codes, [len(hierarchies[name].labels[0]) for name in names]), kind="stable")
    rows = np.concatenate([part.rows for part in solved])[order]
    tuples = Tuples(names, tuple(hierarchies[name].labels[0] for name in names), codes[order], rows)
    suppressed = np.concatenate([part.published.suppressed for part in solved])[order]
    shown = np.concatenate([part.published.codes for part in solved])[order]
    published = PublishedTuples(names, solved[0].published.vocabularies, shown, suppressed)
    masks = {name: np.concatenate([part.masks[name] for part in solved])[order] for name in solved[0].masks}
    representatives = _representatives_by_part(search_input, solved)
    objective = information_loss(search_input.policy)
    label, _ = labels_of(published)
    return Solution(
        tuples=tuples,
        published=published,
        masks=_complete_masks(search_input, tuples, published, masks, representatives),
        levels=_common_levels(names, solved),
        loss=_loss_of_union(search_input, tuples, solved, order, objective),
        metric=objective.name,
        classes=len(np.unique(label[~suppressed])),
        nodes=sum(part.nodes for part in solved),
        nodes_checked=sum(part.nodes_checked for part in solved),
        optimal=False,  # of the whole nothing is claimed; each part states its own
        bound=None,
        notes={"partition": _partition_notes(search_input, solved)},
        representatives=representatives,
    )


def _common_levels(names: Sequence[str], solved: Sequence[SolvedPart]) -> dict[str, int]:
    """The levels that are the same in all parts."""
    return {name: solved[0].levels[v] for v, name in enumerate(names) if len({part.levels[v] for part in solved}) == 1}


def _loss_of_union(
    search_input: SearchInput,
    tuples: Tuples,
    solved: Sequence[SolvedPart],
    order: NDArray[np.int64],
    objective: Objective,
) -> float:
    """The information loss of all rows together, each at the levels of its part, whatever the parts minimised."""
    levels = np.concatenate([np.broadcast_to(np.array(part.levels), part.codes.shape) for part in solved])[order]
    lost = np.concatenate([part.lost for part in solved])[order]
    return recoding_loss(tuples, [search_input.hierarchies[name] for name in tuples.names], levels, lost, objective)


def _partition_notes(search_input: SearchInput, solved: Sequence[SolvedPart]) -> dict[str, Any]:
    """What was proved and where. Parts go by number, in the order of their published values: a plan holds no value."""
    policy = search_input.policy
    return {
        "variable": policy.partition,
        "level": policy.minimum[policy.partition],
        "metric": Objective(policy.metric, policy.mean, policy.weights).name,
        "proved": list(dict.fromkeys(criterion.name for criterion in search_input.criteria)),
        "parts": [{"part": number, **part.figures} for number, part in enumerate(solved, start=1)],
    }


def _representatives_by_part(search_input: SearchInput, solved: Sequence[SolvedPart]) -> Representatives:
    """How rows are joined with the union: by one map where all parts have the same level, else part by part."""
    origin, policy = _origin_of(search_input), search_input.policy
    common = _common_levels(policy.quasi, solved)
    each: dict[str, Mapping[str, str]] = {}
    by_part = {}
    for v, name in enumerate(policy.quasi):
        hierarchy = search_input.hierarchies[name]
        if name in common:
            each[name] = representatives_at(hierarchy, common[name], origin.variables[name].unknown)
            continue
        each[name] = origin.pre_generalised.representatives.get(name, {})
        own = pa.array(hierarchy.labels[0])
        groups = pa.array(search_input.hierarchies[policy.partition].labels[0])
        part, value, representative = np.concatenate([solved_part.values[v] for solved_part in solved]).T
        by_part[name] = groups.take(pa.array(part)), own.take(pa.array(value)), own.take(pa.array(representative))
    return Representatives({name: mapping for name, mapping in each.items() if mapping}, policy.partition, by_part)


def _complete_masks(
    search_input: SearchInput,
    tuples: Tuples,
    published: PublishedTuples,
    masks: Mapping[str, Mask],
    representatives: Representatives,
) -> dict[str, Mask]:
    """The masks of the parts, of the suppressed group if it fails, and of the columns that depend on either.

    What the parts masked stays; rows that show nothing share one class, whichever part they came from.
    """
    label, _ = labels_of(published)
    group, nobody = whole_groups(published.suppressed, label), np.zeros(len(label), bool)
    complete = dict(masks)
    if published.suppressed.any() and not _suppressed_group_passes(
        search_input, tuples, published, complete, representatives
    ):
        complete |= {name: complete.get(name, nobody) | group for name in search_input.sensitive}
    for name, determinants in search_input.dependents.items():
        for determinant in determinants:
            complete[name] = complete[name] | complete.get(determinant, nobody)
        if set(determinants) & set(search_input.policy.quasi):
            # Shown or masked for a whole class, so that it never splits one.
            complete[name] = whole_groups(complete[name] | group, label)
    return complete


def _suppressed_group_passes(
    search_input: SearchInput,
    tuples: Tuples,
    published: PublishedTuples,
    masks: Mapping[str, Mask],
    representatives: Representatives,
) -> bool:
    """Whether the rows that show nothing, of all parts together, meet every criterion with what they still show.

    Their persons and values are counted by the engine: no part knows those of another.
    """
    if not search_input.sensitive:
        return True
    origin = _origin_of(search_input)
    sensitive_masks = {name: masks[name] for name in search_input.sensitive if name in masks}
    codes, vocabularies = list(published.codes.T), list(published.vocabularies)
    rows = representatives.replace_in(origin.table).recode(tuples, codes, vocabularies, sensitive_masks)
    for name in tuples.names:
        rows = rows.where(name, [SUPPRESSED])
    quasi, sensitive = tuples_with_each(rows, tuples.names, search_input.sensitive, origin.person)
    classes = ClassCounter(quasi, sensitive).classes(np.zeros(len(quasi.rows), np.int64), 1)
    return bool(judge_all(search_input.criteria, classes).all())
