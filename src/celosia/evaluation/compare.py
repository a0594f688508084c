"""Two samples side by side: loss, properties, distances, associations, propensity and, with a key, matched records.

Knows two samples over the same columns and what was asked. Ignores files and engines; it only puts the parts together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType

from celosia.evaluation import losses
from celosia.evaluation.association import association_matrix, comparable
from celosia.evaluation.contrast import contrast
from celosia.evaluation.distances import categories, distances
from celosia.evaluation.linked import Links, cell_change, link_records, numeric_loss
from celosia.evaluation.propensity import propensity_score
from celosia.evaluation.properties import PropertyRequest, PropertyRules, check_properties
from celosia.evaluation.sample import Sample, both_numeric
from celosia.model.reports.evaluation import (
    AssociationChange,
    ContrastLine,
    Distribution,
    InformationLoss,
    NumericLoss,
    Propensity,
    PropertyCheck,
    VariableDistance,
    VariableLoss,
)

LISTED = 12  # categories shown of each variable
_RARE = 3  # a category of at most this many rows is never shown


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What is to be compared and how."""

    variables: tuple[str, ...]
    keep: tuple[PropertyRequest, ...] = ()
    rules: PropertyRules = field(default_factory=PropertyRules)
    quasi: tuple[str, ...] = ()
    key: str | None = None
    links: Links | None = None  # where the rows are known to stand in the same order
    contrast: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    recoded: frozenset[str] = frozenset()
    veiled: frozenset[str] = frozenset()  # identifiers and free text: no picture, no model
    files: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answers that need both samples."""

    loss: InformationLoss
    properties: tuple[PropertyCheck, ...]
    distances: tuple[VariableDistance, ...]
    association: AssociationChange | None
    propensity: Propensity | None
    numeric: NumericLoss | None
    contrast: tuple[ContrastLine, ...]
    distributions: tuple[Distribution, ...]


def compare(
    before: Sample, after: Sample, request: ComparisonRequest, progress: Callable[[float], None] | None = None
) -> Comparison:
    """All measures that the request names, over two samples."""
    report = progress or (lambda _share: None)
    open_names = [name for name in request.variables if name not in request.veiled]
    links = link_records(before, after, request.key, request.files) if request.key else request.links
    loss = information_loss(before, after, request, links)
    report(0.2)
    checks = check_properties(before, after, request.keep, open_names, request.rules)
    lines = contrast(before, after, request.contrast, request.labels) if request.contrast else ()
    report(0.4)
    # From here on both files must be read in the same way.
    before = before.as_categories(request.recoded)
    changed = association_change(before, after, open_names)
    report(0.7)
    score = propensity_score(before, after, open_names)
    return Comparison(
        loss=loss,
        properties=checks,
        distances=tuple(VariableDistance(name, **asdict(distances(before, after, name))) for name in open_names),
        association=changed,
        propensity=Propensity(**asdict(score)) if score else None,
        numeric=numeric_loss(before, after, open_names, links) if links else None,
        contrast=lines,
        distributions=tuple(distribution(before, after, name) for name in open_names),
    )


def information_loss(
    before: Sample, after: Sample, request: ComparisonRequest, links: Links | None = None
) -> InformationLoss:
    """What the release gave up, variable by variable and together."""
    names, rows = request.variables, before.n_rows
    lost = tuple(_variable_loss(before, after, name, name in request.recoded, links) for name in names)
    hidden = sum(variable_loss.masked_cells for variable_loss in lost)
    masked = max(losses.masked_rows(after, names) - losses.masked_rows(before, names), 0)
    dropped = max(rows - after.n_rows, 0)
    over = [name for name in request.quasi if name in names] or list(names)
    starred = losses.fully_masked_rows(after, over) - losses.fully_masked_rows(before, over)
    suppressed = dropped + max(starred, 0)
    return InformationLoss(
        level="records" if links is not None else "distributions",
        loss=math.fsum(variable.loss for variable in lost) / len(lost) if lost else 0.0,
        variables=lost,
        masked_cells=hidden,
        masked_cells_share=_share(hidden, after.n_rows * len(names)),
        masked_rows=masked,
        masked_rows_share=_share(masked, after.n_rows),
        suppressed_rows=suppressed,
        suppressed_share=_share(suppressed, rows),
        dropped_rows=dropped,
        linked_rows=len(links) if links is not None else None,
    )


def _variable_loss(before: Sample, after: Sample, name: str, recoded: bool, links: Links | None) -> VariableLoss:
    hidden = losses.masked_cells(before, after, name)
    missing = [int(sample.tally_rows(name)[sample.columns[name].missing].sum()) for sample in (before, after)]
    change = cell_change(before, after, name, links) if links is not None else None
    return VariableLoss(
        variable=name,
        missing_before=missing[0],
        missing_after=missing[1],
        masked_cells=hidden,
        masked_share=_share(hidden, after.n_rows),
        loss=losses.entropy_loss(before, after, name),
        recoded=recoded,
        changed_cells=change.cells if change else None,
        changed_share=_share(change.cells, len(links)) if change and links is not None else None,
        il1s=change.il1s if change else None,
        squared_error_share=change.squared_error_share if change else None,
    )


def association_change(before: Sample, after: Sample, names: Sequence[str]) -> AssociationChange | None:
    """The associations of both files and what changed; None with fewer than two variables."""
    compared, left_out = comparable(before, after, names)
    if len(compared) < 2:
        return None
    first, second = association_matrix(before, compared), association_matrix(after, compared)
    change = first.change(second)
    sizes = [abs(difference) for i, line in enumerate(change) for difference in line[:i] if difference is not None]
    return AssociationChange(
        variables=compared,
        before=first.values,
        after=second.values,
        change=change,
        largest=max(sizes, default=None),
        mean=math.fsum(sizes) / len(sizes) if sizes else None,
        left_out=left_out,
    )


def distribution(before: Sample, after: Sample, name: str) -> Distribution:
    """The frequent categories of a variable in both files; the rare ones are joined and never named."""
    labels, p, q = categories(before, after, name)
    ordered = [i for i in range(len(labels)) if p[i] * before.n_rows > _RARE or q[i] * after.n_rows > _RARE]
    if not both_numeric(before, after, name):
        ordered.sort(key=lambda i: (-max(p[i], q[i]), labels[i]))
        ordered = ordered[:LISTED]
    listed = [(labels[i], float(p[i]), float(q[i])) for i in ordered]
    others = (
        max(1 - math.fsum(category[1] for category in listed), 0.0),
        max(1 - math.fsum(category[2] for category in listed), 0.0),
    )
    if len(ordered) < len(labels) and max(others) > 1e-12:
        listed.append(("", *others))
    return Distribution(name, *(tuple(part) for part in (zip(*listed, strict=True) if listed else ((), (), ()))))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
