"""The search part by part: each group of one quasi-identifier finds its own optimal levels; the union is published.

Knows grounds, parts and solutions. Ignores files. Only one handful of parts is in memory at a time; of a part that
was solved no more is kept than its classes. A class never has rows of two parts, because the partition's level is the
same in all of them, so what each class must satisfy by itself (see `_parts_allowed`) holds for all. The rows that a
part may suppress are the whole number below its share of the limit, so the union keeps the limit. Suppressed rows
show nothing, not even their part: they are one group over all parts, and are judged as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.errors import LevelOutsideHierarchy
from celosia.evaluation import Objective, recoding_loss
from celosia.model.values import SUPPRESSED
from celosia.pipeline._coarse import StandIns, stand_in_codes, stand_ins_at
from celosia.pipeline._ground import Ground, gathered
from celosia.pipeline._parts_allowed import advice_on
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._solve import PartsMissed, Solution, full_domain, problem_of
from celosia.risk.criteria import KAnonymity
from celosia.solver import ClassCounter, NoSolution, Published, class_labels, judge_all, look
from celosia.tuples import Tuples, group_codes, pack_keys, pick, tuples_with

Mask = NDArray[np.bool_]
Codes = NDArray[np.int32]
_TOGETHER = 500_000  # rows of small parts that are fetched at once; what each finds does not depend on it


@dataclass(frozen=True, slots=True)
class Part:
    """One group of the partition's variable, by its place among the labels of the fixed level."""

    group: int
    values: tuple[str, ...]  # what the rows hold, stand-ins where there are some
    rows: int


@dataclass(frozen=True, slots=True)
class Solved:
    """What is kept of a part: its levels and its classes, each by the values that stand in for theirs."""

    part: Part
    levels: tuple[int, ...]
    figures: Mapping[str, Any]
    nodes: tuple[int, int]
    codes: Codes
    rows: NDArray[np.int64]
    published: Codes
    vocabularies: tuple[tuple[str, ...], ...]
    suppressed: Mask
    lost: Mask  # what the loss counts as suppressed: also classes that keep their rows without a sensitive value
    masks: Mapping[str, Mask]
    values: tuple[Codes, ...]  # (part, value) pairs that occur, one array per variable


def solve_in_parts(ground: Ground, report: Progress = None) -> Solution | NoSolution:
    """The optimal levels of each part, and what is published of all; or the parts that have no solution."""
    parts, told = parts_of(ground), stage(report, "search")
    limit = ground.policy.time_limit
    share = None if limit is None else limit / max(len(parts), 1)
    solved: list[Solved] = []
    missed: list[tuple[Part, NoSolution, bool]] = []
    for number, (part, own) in enumerate(_each_ground(ground, parts)):
        found = full_domain(own, _share_of(told, number, len(parts)), share, alone=False)
        if isinstance(found, NoSolution):
            missed.append((part, found, _small(own)))
        else:
            solved.append(_condensed(ground, own, part, found))
    if missed:
        return _missed(ground, len(parts), missed)
    return _union(ground, solved)


def parts_of(ground: Ground) -> list[Part]:
    """The parts of a ground, in the order of their labels."""
    assert ground.parts is not None
    name, coarse = ground.policy.partition, ground.parts.coarse
    level, tree = ground.policy.minimum[name], ground.hierarchies[name]
    if level > tree.height:
        raise LevelOutsideHierarchy(variable=name, minimum=level, maximum=level, height=tree.height)
    rows = ground.rows_at(name, level)
    held: list[dict[str, None]] = [{} for _ in rows]
    for value, group in zip(tree.labels[0], tree.maps[level].tolist(), strict=True):
        held[group][coarse.stand_ins.get(name, {}).get(value, value)] = None
    return [Part(group, tuple(held[group]), int(many)) for group, many in enumerate(rows) if many]


def _each_ground(ground: Ground, parts: Sequence[Part]) -> Iterator[tuple[Part, Ground]]:
    """The ground of each part; small ones are fetched together and then told apart."""
    assert ground.parts is not None
    for batch in _batches(parts):
        values = [value for part in batch for value in part.values]
        origin = replace(ground.parts, coarse=ground.parts.coarse.where(ground.policy.partition, values))
        with advice_on(ground.policy):
            fetched = gathered(origin, ground.policy, ground.published, ground.criteria, ground.followers)
        for part in batch:
            yield part, (fetched if len(batch) == 1 else _own(fetched, part))


def _batches(parts: Sequence[Part]) -> Iterator[list[Part]]:
    batch: list[Part] = []
    for part in parts:
        if batch and sum(one.rows for one in batch) + part.rows > _TOGETHER:
            yield batch
            batch = []
        batch.append(part)
    if batch:
        yield batch


def _own(fetched: Ground, part: Part) -> Ground:
    """The rows of one part among those of several."""
    name = fetched.policy.partition
    group = fetched.hierarchies[name].maps[fetched.policy.minimum[name]]
    column = fetched.quasi.position(name)

    def own(tuples: Tuples) -> Tuples:
        return pick(tuples, np.flatnonzero(group[tuples.codes[:, column]] == part.group))

    return replace(
        fetched,
        quasi=own(fetched.quasi),
        sensitive={name: own(tuples) for name, tuples in fetched.sensitive.items()},
        follower_tuples={name: own(tuples) for name, tuples in fetched.follower_tuples.items()},
    )


def _share_of(told: Callable[[float], None] | None, number: int, parts: int) -> Callable[[float], None] | None:
    return None if told is None else lambda share: told((number + share) / parts)


def _small(own: Ground) -> bool:
    """Whether a part has fewer units than a k asked for: all of it would have to go."""
    asked = [c for c in own.criteria if isinstance(c, KAnonymity)]
    whole = ClassCounter(own.quasi, {}).classes(np.zeros(len(own.quasi.rows), np.int64), 1)
    return any(int(whole.sizes(c.unit)[0]) < c.k for c in asked)


def _missed(ground: Ground, parts: int, missed: Sequence[tuple[Part, NoSolution, bool]]) -> PartsMissed:
    found = [miss for _, miss, _ in missed]
    return PartsMissed(
        names=ground.policy.quasi,
        levels=found[0].levels,
        suppressed_rows=sum(miss.suppressed_rows for miss in found),
        suppressed_share=max(miss.suppressed_share for miss in found),
        allowed_rows=sum(miss.allowed_rows for miss in found),
        failing=(),
        nodes=sum(miss.nodes for miss in found),
        nodes_checked=sum(miss.nodes_checked for miss in found),
        proved=all(miss.proved for miss in found),
        variable=ground.policy.partition,
        parts=parts,
        unsolved=len(missed),
        small=sum(small for _, _, small in missed),
    )


def _condensed(ground: Ground, own: Ground, part: Part, found: Solution) -> Solved:
    """A part's solution by its classes: all that is published is the same for the values that share a group."""
    assert ground.parts is not None
    names, by_name = own.quasi.names, ground.parts.variables
    levels = tuple(found.levels[name] for name in names)
    codes = np.empty_like(own.quasi.codes)
    for v, name in enumerate(names):
        codes[:, v] = stand_in_codes(own.hierarchies[name], levels[v], by_name[name].unknown)[own.quasi.codes[:, v]]
    first, label = group_codes(codes, own.quasi.sizes)
    lost = look(problem_of(own), levels).suppressed if own.policy.mask_sensitive else found.published.suppressed
    figures = {"rows": part.rows, "levels": dict(found.levels), "loss": found.loss, "optimal": found.optimal,
               "suppressed_rows": int(own.quasi.rows[found.published.suppressed].sum())}  # fmt: skip
    return Solved(
        part=part,
        levels=levels,
        figures=figures,
        nodes=(found.nodes, found.nodes_checked),
        codes=codes[first],
        rows=np.bincount(label, weights=own.quasi.rows, minlength=len(first)).astype(np.int64),
        published=found.published.codes[first],
        vocabularies=found.published.vocabularies,
        suppressed=found.published.suppressed[first],
        lost=lost[first],
        masks={name: mask[first] for name, mask in found.masks.items()},
        values=_occurring(own.quasi, codes, own.policy.partition),
    )


def _occurring(quasi: Tuples, codes: Codes, partition: str) -> tuple[Codes, ...]:
    """For each variable, the distinct (part, value, stand-in) that the rows of a part hold."""
    place = quasi.position(partition)
    found = []
    for v in range(len(quasi.names)):
        three = np.stack([codes[:, place], quasi.codes[:, v], codes[:, v]], axis=1)
        found.append(three[group_codes(three, [quasi.sizes[place], quasi.sizes[v], quasi.sizes[v]])[0]])
    return tuple(found)


def _union(ground: Ground, solved: Sequence[Solved]) -> Solution:
    """All parts side by side, their suppressed rows judged as the one group they are."""
    names, sizes = ground.policy.quasi, [len(ground.hierarchies[name].labels[0]) for name in ground.policy.quasi]
    codes = np.concatenate([one.codes for one in solved])
    order = np.argsort(pack_keys(codes, sizes), kind="stable")
    rows = np.concatenate([one.rows for one in solved])[order]
    vocabularies = tuple(ground.hierarchies[name].labels[0] for name in names)
    tuples = Tuples(names, vocabularies, codes[order], rows)
    suppressed = np.concatenate([one.suppressed for one in solved])[order]
    shown = np.concatenate([one.published for one in solved])[order]
    published = Published(names, solved[0].vocabularies, shown, suppressed)
    masks = {name: np.concatenate([one.masks[name] for one in solved])[order] for name in solved[0].masks}
    stand_ins = _stand_ins_by_part(ground, solved)
    masks = _completed_masks(ground, tuples, published, masks, stand_ins)
    label, _ = class_labels(shown, [len(vocabulary) for vocabulary in published.vocabularies])
    objective = Objective("loss", ground.policy.mean, ground.policy.weights)
    common = _common(names, solved)
    return Solution(
        tuples=tuples,
        published=published,
        masks=masks,
        levels=common,
        loss=_whole_loss(ground, tuples, solved, order, objective),
        metric=objective.name,
        classes=len(np.unique(label[~suppressed])),
        nodes=sum(one.nodes[0] for one in solved),
        nodes_checked=sum(one.nodes[1] for one in solved),
        optimal=False,  # of the whole nothing is claimed; each part says its own
        bound=None,
        notes={"partition": _account(ground, solved)},
        stand_ins=stand_ins,
    )


def _common(names: Sequence[str], solved: Sequence[Solved]) -> dict[str, int]:
    """The levels that are the same in all parts."""
    return {name: solved[0].levels[v] for v, name in enumerate(names) if len({one.levels[v] for one in solved}) == 1}


def _whole_loss(
    ground: Ground, tuples: Tuples, solved: Sequence[Solved], order: NDArray[np.int64], objective: Objective
) -> float:
    """The information loss of all rows together, each at the levels of its part, whatever the parts minimised."""
    levels = np.concatenate([np.broadcast_to(np.array(one.levels), one.codes.shape) for one in solved])[order]
    lost = np.concatenate([one.lost for one in solved])[order]
    return recoding_loss(tuples, [ground.hierarchies[name] for name in tuples.names], levels, lost, objective)


def _account(ground: Ground, solved: Sequence[Solved]) -> dict[str, Any]:
    """What was proved and where. Parts go by number, in the order of their published values: a plan holds no value."""
    return {
        "variable": ground.policy.partition,
        "level": ground.policy.minimum[ground.policy.partition],
        "metric": Objective(ground.policy.metric, ground.policy.mean, ground.policy.weights).name,
        "proved": list(dict.fromkeys(criterion.name for criterion in ground.criteria)),
        "parts": [{"part": number, **one.figures} for number, one in enumerate(solved, start=1)],
    }


def _stand_ins_by_part(ground: Ground, solved: Sequence[Solved]) -> StandIns:
    """How rows are joined with the union: by one map where all parts have the same level, else part by part."""
    assert ground.parts is not None
    partition, by_name = ground.policy.partition, ground.parts.variables
    common = _common(ground.policy.quasi, solved)
    each: dict[str, Mapping[str, str]] = {}
    by_part = {}
    for v, name in enumerate(ground.policy.quasi):
        tree = ground.hierarchies[name]
        if name in common:
            each[name] = stand_ins_at(tree, common[name], by_name[name].unknown)
        else:
            each[name] = ground.parts.coarse.stand_ins.get(name, {})
            part, value, other = np.concatenate([one.values[v] for one in solved]).T
            texts = _texts(ground, partition, part), _texts(ground, name, value), _texts(ground, name, other)
            by_part[name] = texts
    return StandIns({name: mapping for name, mapping in each.items() if mapping}, partition, by_part)


def _texts(ground: Ground, name: str, codes: Codes) -> pa.Array:
    return pa.array(ground.hierarchies[name].labels[0]).take(pa.array(codes))


def _completed_masks(
    ground: Ground, tuples: Tuples, published: Published, masks: Mapping[str, Mask], stand_ins: StandIns
) -> dict[str, Mask]:
    """The masks of the parts, of the suppressed group if it fails, and of the columns that follow from either.

    What the parts masked stays; rows that show nothing share one class, whichever part they came from.
    """
    label, count = class_labels(published.codes, [len(vocabulary) for vocabulary in published.vocabularies])
    together = np.zeros(count, bool)
    together[label[published.suppressed]] = True
    group = together[label]
    made = {name: mask.copy() for name, mask in masks.items()}
    if published.suppressed.any() and not _group_passes(ground, tuples, published, made, stand_ins):
        for name in ground.sensitive:
            made[name] = made.get(name, np.zeros(len(label), bool)) | group
    for name, leaders in ground.followers.items():
        for leader in leaders:
            made[name] = made[name] | made.get(leader, np.zeros(len(label), bool))
        if set(leaders) & set(ground.policy.quasi):  # shown or masked for a whole class, so that it never splits one
            touched = np.zeros(count, bool)
            touched[label[made[name] | group]] = True
            made[name] = touched[label]
    return made


def _group_passes(
    ground: Ground, tuples: Tuples, published: Published, masks: Mapping[str, Mask], stand_ins: StandIns
) -> bool:
    """Whether the rows that show nothing, of all parts together, meet every criterion with what they still tell.

    Their persons and values are counted by the engine: no part knows those of another.
    """
    origin = ground.parts
    assert origin is not None
    if not ground.sensitive:
        return True
    told = {name: masks[name] for name in ground.sensitive if name in masks}
    codes, vocabularies = list(published.codes.T), list(published.vocabularies)
    rows = stand_ins.put_in(origin.table).recode(tuples, codes, vocabularies, told)
    for name in tuples.names:
        rows = rows.where(name, [SUPPRESSED])
    quasi, sensitive = tuples_with(rows, tuples.names, ground.sensitive, origin.person)
    classes = ClassCounter(quasi, sensitive).classes(np.zeros(len(quasi.rows), np.int64), 1)
    return bool(judge_all(ground.criteria, classes).all())
