"""What was done, in words: from the real plan and the figures measured on the written file.

Knows names of techniques and variables, levels and counts that anybody could count on the published file. Ignores
the parameters of the steps, which may quote values, and everything private: a `Done` has no place for it.
Source: MINSAL Implementación 3 (number of masked records, share of information lost).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from celosia import messages
from celosia.dossier.figures import criterion_text, loss_text, metric_text, suppression_sentences
from celosia.model.plan import Plan
from celosia.model.verdict import CheckReport, State, Suppression

_SHARES = ("loss (geometric)", "loss (arithmetic)", "precision")  # losses that are shares 0..1


@dataclass(frozen=True, slots=True)
class Done:
    """What a plan did to a file, fit to be told to anybody."""

    method: str
    steps: tuple[tuple[str, tuple[str, ...]], ...]  # technique and columns
    order: tuple[str, ...]
    withheld: int  # variables of the source that are not published
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    published: tuple[str, ...]
    levels: Mapping[str, int]
    detail: Mapping[str, Mapping[str, str]]  # what the levels show
    followers: tuple[str, ...]
    criteria: tuple[Mapping[str, Any], ...]
    rows: int
    suppression: Suppression
    masked: Mapping[str, int]
    loss: float
    loss_definition: str
    classes: int
    k: int | None
    k_persons: int | None
    single: int = 0  # classes of one person, or of one record
    partition: str = ""  # the variable whose groups were searched one by one
    optimal_parts: bool = False  # whether each of them was proved optimal
    distinct: Mapping[str, int] = field(default_factory=dict)  # distinct values that every group was checked to show

    @property
    def unit(self) -> str:
        """What k counts: persons where they are known."""
        return "rows" if self.k_persons is None else "persons"

    @property
    def smallest(self) -> int | None:
        """The smallest group, in that unit; None where everything is masked."""
        return self.k if self.k_persons is None else self.k_persons


def done_by(plan: Plan, check: CheckReport, withheld: int) -> Done:
    """The public part of a plan and of the check on what it wrote."""
    policy = plan.policy
    return Done(
        method=plan.method,
        steps=tuple((str(c["technique"]), tuple(c["columns"]) or tuple(c["removed"])) for c in plan.changes),
        order=tuple(policy["order"]),
        withheld=withheld,
        quasi=tuple(name for name in policy["quasi"] if name in plan.published),
        sensitive=tuple(name for name in policy["sensitive"] if name in plan.published),
        published=plan.published,
        levels=dict(plan.levels),
        detail=dict(plan.notes.get("detail", {})),
        followers=tuple(plan.followers),
        criteria=tuple(policy["criteria"]),
        rows=check.rows,
        suppression=check.suppression,
        masked=dict(plan.masked_sensitive),
        loss=plan.loss,
        loss_definition=plan.loss_definition,
        classes=check.classes,
        k=check.k,
        k_persons=check.k_persons,
        single=check.single_classes,
        partition=str(policy.get("partition", "")),
        optimal_parts=all(part["optimal"] for part in plan.notes.get("partition", {}).get("parts", ())),
        distinct=_checked_diversity(check),
    )


def _checked_diversity(check: CheckReport) -> dict[str, int]:
    """The largest l of each sensitive variable that holds on the written file; others were not checked or fail."""
    passing = [v for v in check.verdicts if v.rule == "distinct_l" and v.state is State.HOLDS]
    names = {str(verdict.asked["variable"]) for verdict in passing}
    return {name: max(int(v.asked["l"]) for v in passing if v.asked["variable"] == name) for name in sorted(names)}


def done_sentences(done: Done) -> tuple[str, ...]:
    """The procedure and its figures, one sentence each; the steps before the search only by name."""
    return (*_withheld(done), *_steps(done), *search_sentences(done))


def search_sentences(done: Done) -> tuple[str, ...]:
    """What the search did and what it cost."""
    return (*_search(done), *_cost(done), _measured_text(done))


def change_sentences(changes: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What each declared step did, with its figures; for people of the house."""
    return tuple(sentence for change in changes for sentence in _change(change))


def technique_name(identifier: str) -> str:
    """A technique in words."""
    key = f"techniques.name.{identifier}"
    return messages.text(key) if messages.has(key) else identifier


def quoted_names(names: Sequence[str]) -> str:
    """Names of variables in a sentence."""
    return ", ".join(messages.text("documents.quoted", name=name) for name in names) or messages.text(
        "documents.nothing"
    )


def lost_key(definition: str) -> str:
    """The sentence of a loss: one that is a share says where it begins and ends."""
    return f"documents.done.lost{'_share' if definition in _SHARES else ''}"


def loss_words(definition: str, loss: float) -> str:
    """A loss with its unit: a percentage where it is a share."""
    if definition in _SHARES:
        return messages.percent(loss)
    return loss_text(definition.split(" ")[0], loss)


def _withheld(done: Done) -> Iterator[str]:
    if done.withheld:
        yield messages.text("documents.done.withheld_count", count=done.withheld)


def _steps(done: Done) -> Iterator[str]:
    for technique, columns in done.steps:
        yield messages.text("documents.done.step", technique=technique_name(technique), columns=quoted_names(columns))


def _change(change: Mapping[str, Any]) -> Iterator[str]:
    technique = technique_name(str(change["technique"]))
    if change["removed"] and not change["cells_touched"]:
        yield messages.text("documents.done.step_removed", technique=technique, names=quoted_names(change["removed"]))
    elif change["rows_touched"] or not change["rows_dropped"]:
        share = messages.percent(float(change["share"]))
        yield messages.text(
            "documents.done.step_figures",
            technique=technique,
            columns=quoted_names(change["columns"]),
            rows=int(change["rows_touched"]),
            share=share,
        )
    if change["rows_dropped"]:
        yield messages.text("documents.done.step_dropped", technique=technique, rows=int(change["rows_dropped"]))


def _search(done: Done) -> Iterator[str]:
    generalised = done.method != "full-domain" or any(done.levels.values())
    yield from _parts(done) if done.partition else [_method(done)] if generalised else []
    for variable, level in done.levels.items():
        if level:
            yield _level(done, variable, level)
    untouched = [variable for variable, level in done.levels.items() if not level]
    if untouched:
        yield messages.text("documents.done.untouched", names=quoted_names(untouched))
    if done.followers:
        yield messages.text("documents.done.followers", names=quoted_names(done.followers))
    words = "; ".join(
        criterion_text({"unit": done.unit, **criterion}, done.k_persons is not None) for criterion in done.criteria
    )
    yield (
        messages.text("documents.done.criteria", criteria=words)
        if words
        else messages.text("documents.done.no_criteria")
    )


def _method(done: Done) -> str:
    return messages.text(f"documents.method.{done.method}", order=quoted_names(done.order))


def _parts(done: Done) -> Iterator[str]:
    """A search part by part, without saying how many parts there are: one that shows no row would be told by it."""
    optimal = messages.text(f"scale.partition_{'optimal' if done.optimal_parts else 'not_optimal'}")
    yield messages.text("documents.done.partition", variable=done.partition, optimal=optimal)
    varied = [name for name in done.quasi if name not in done.levels]
    if varied:
        yield messages.text("documents.done.partition_varied", variable=done.partition, names=quoted_names(varied))


def _level(done: Done, variable: str, level: int) -> str:
    if variable not in done.detail:  # a plan of before
        return messages.text("documents.done.level", variable=variable, level=level)
    detail = done.detail[variable]
    fields = {"variable": variable, "level": level, "height": detail["height"], "shown": level_words(detail)}
    return messages.text("documents.done.level_detail", **fields)


def level_words(detail: Mapping[str, str]) -> str:
    """What a level shows, in words: in intervals of 20, by month, by region."""
    builder, unit, size = detail["builder"], detail.get("unit", ""), detail.get("size", "")
    if builder == "official":
        return messages.text("documents.detail.official", unit=messages.text(f"hierarchy.level.{unit}"))
    if builder == "mask" and size == "1":
        return messages.text(f"documents.detail.mask_{unit}_one")
    if builder == "intervals" and not size:
        return messages.text("documents.detail.intervals_cuts")
    return messages.text(f"documents.detail.{builder}_{unit}" if unit else f"documents.detail.{builder}", size=size)


def _cost(done: Done) -> Iterator[str]:
    yield from suppression_sentences(done.suppression)
    for variable, rows in done.masked.items():
        share = _share(rows, done.rows)
        yield messages.text("documents.done.masked", variable=variable, rows=rows, total=done.rows, share=share)
    loss, metric = loss_words(done.loss_definition, done.loss), metric_text(done.loss_definition)
    yield messages.text(lost_key(done.loss_definition), loss=loss, metric=metric)


def _measured_text(done: Done) -> str:
    if done.smallest is None:
        return messages.text("documents.done.measured_none")
    unit = messages.text(f"explain.unit.{done.unit}")
    return messages.text("documents.done.measured", k=done.smallest, unit=unit, classes=done.classes)


def _share(part: int, whole: int) -> str:
    return messages.part(part / whole if whole else 0.0)
