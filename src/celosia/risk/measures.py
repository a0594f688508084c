"""The registry of measures, and the report that holds them all for one table.

Knows compressed tables. Ignores files, policies and the names of norms. A rule names a measure by its id here;
the name, definition and source that people read are in the catalogue under `measures.<id>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from types import MappingProxyType

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.reports.measures import (
    THRESHOLDS,
    Figure,
    MaskedValues,
    MeasureReport,
    MissingReading,
    SensitiveMeasures,
    SuppressedRows,
    Undefined,
)
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk import classes as _classes
from celosia.risk import distances as _distances
from celosia.risk import sensitive as _sensitive
from celosia.risk.classes import ClassSizes
from celosia.risk.sensitive import ClassValues
from celosia.tuples.table import Tuples


class Scope(StrEnum):
    """What a measure is computed from."""

    TABLE = "table"  # ClassSizes
    SENSITIVE = "sensitive"  # ClassValues
    HIERARCHY = "hierarchy"  # ClassValues and the hierarchy of the sensitive variable


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: its function, which way is safer, and why it may not exist where there are classes."""

    id: str
    scope: Scope
    compute: Callable[..., Figure]
    higher_is_safer: bool
    absent: Undefined = Undefined.NO_CLASS

    @property
    def key(self) -> str:
        """Where the catalogue keeps its name, definition and source."""
        return f"measures.{self.id}"


_OF_TABLE = (
    Measure("classes", Scope.TABLE, _classes.classes, False),
    Measure("k", Scope.TABLE, _classes.k, True),
    Measure("k_persons", Scope.TABLE, _classes.k_persons, True, Undefined.WILDCARD),
    Measure("unique_rows", Scope.TABLE, _classes.unique_rows, False),
    *(
        Measure(f"rows_below_{limit}", Scope.TABLE, partial(_classes.rows_below, threshold=limit), False)
        for limit in THRESHOLDS
    ),
)
_OF_SENSITIVE = (
    Measure("l", Scope.SENSITIVE, _sensitive.distinct_l, True),
    Measure("l_without_empty", Scope.SENSITIVE, _sensitive.distinct_l_without_empty, True),
    Measure("entropy_l", Scope.SENSITIVE, _sensitive.entropy_l, True),
    Measure("recursive_c", Scope.SENSITIVE, _sensitive.recursive_c, False, Undefined.L_IS_ONE),
    Measure("t_equal", Scope.SENSITIVE, _distances.t_equal, False),
    Measure("t_ordered", Scope.SENSITIVE, _distances.t_ordered, False),
    Measure("alpha", Scope.SENSITIVE, _sensitive.alpha, False),
    Measure("beta_basic", Scope.SENSITIVE, _sensitive.beta_basic, False),
    Measure("beta_enhanced", Scope.SENSITIVE, _sensitive.beta_enhanced, False, Undefined.NO_BETA),
    Measure("delta", Scope.SENSITIVE, _sensitive.delta, False, Undefined.ABSENT_VALUE),
)
_T_HIERARCHICAL = Measure("t_hierarchical", Scope.HIERARCHY, _distances.t_hierarchical, False)

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {measure.id: measure for measure in (*_OF_TABLE, *_OF_SENSITIVE, _T_HIERARCHICAL)}
)


def measure(
    quasi: Tuples,
    sensitive: Mapping[str, Tuples],
    missing: str = "own",
    hierarchies: Mapping[str, CompiledHierarchy] | None = None,
) -> MeasureReport:
    """All measures of a table, from its tuples over the quasi-identifiers and over each sensitive variable.

    `sensitive[S]` is over the same quasi-identifiers followed by S.
    """
    reading = _reading(missing)
    _check_tables(quasi, sensitive)
    sizes = _classes.class_sizes(quasi, reading)
    of_classes, of_suppressed = _measure_sensitive(sensitive, hierarchies or {})
    rows, persons = _classes.suppressed_counts(quasi)
    return MeasureReport(
        rows=quasi.n_rows,
        persons=None if quasi.persons is None else quasi.persons.total,
        classes=_classes.classes(sizes),
        k=_classes.k(sizes),
        k_persons=_classes.k_persons(sizes),
        unique_rows=_classes.unique_rows(sizes),
        rows_below={limit: _classes.rows_below(sizes, limit) for limit in THRESHOLDS},
        sensitive=of_classes,
        suppressed=SuppressedRows(rows, persons, of_suppressed if rows else {}),
        missing=reading,
        undefined=_undefined_of_table(sizes, keyed=quasi.persons is not None),
    )


def _reading(missing: str) -> MissingReading:
    try:
        return MissingReading(missing)
    except ValueError:
        allowed = ", ".join(MissingReading)
        raise ValueOutOfRange(parameter="missing", given=missing, allowed=allowed) from None


def _check_tables(quasi: Tuples, sensitive: Mapping[str, Tuples]) -> None:
    """Same columns, rows and classes; a table out of order would show more runs than there are classes."""
    for name, table in sensitive.items():
        same = table.names == (*quasi.names, name) and table.n_rows == quasi.n_rows
        if not same or _sensitive.class_runs(table) != len(quasi.rows):
            raise AssertionError("the tables of a measure hold other classes")


def _undefined_of_table(sizes: ClassSizes, keyed: bool) -> dict[str, Undefined]:
    """Reasons of the figures that are null; without a person key persons are not expected."""
    if not len(sizes.rows):
        return dict.fromkeys(("k", "k_persons") if keyed else ("k",), Undefined.NO_CLASS)
    return {"k_persons": Undefined.WILDCARD} if keyed and sizes.persons is None else {}


def _measure_sensitive(
    sensitive: Mapping[str, Tuples], hierarchies: Mapping[str, CompiledHierarchy]
) -> tuple[dict[str, SensitiveMeasures], dict[str, SensitiveMeasures]]:
    """The measures of each variable in the classes, and in the fully masked rows taken as one class."""
    of_classes: dict[str, SensitiveMeasures] = {}
    of_suppressed: dict[str, SensitiveMeasures] = {}
    for name, table in sensitive.items():
        split = _sensitive.class_values(table)
        hierarchy = hierarchies.get(name)
        of_classes[name] = sensitive_measures(split.classes, split.masked, hierarchy)
        of_suppressed[name] = sensitive_measures(split.suppressed, split.masked_suppressed, hierarchy)
    return of_classes, of_suppressed


def sensitive_measures(
    cells: ClassValues, masked: MaskedValues, hierarchy: CompiledHierarchy | None = None
) -> SensitiveMeasures:
    """All measures of one sensitive variable."""
    figures: dict[str, Figure] = {measure.id: measure.compute(cells) for measure in _OF_SENSITIVE}
    if hierarchy is not None:
        figures[_T_HIERARCHICAL.id] = _T_HIERARCHICAL.compute(cells, hierarchy)
    return SensitiveMeasures(
        figures=figures,
        order=_distances.value_order(cells)[0],
        delta_present=_sensitive.delta_present(cells),
        masked=masked,
        undefined={
            name: MEASURES[name].absent if len(cells.size) else Undefined.NO_CLASS
            for name, figure in figures.items()
            if figure is None
        },
    )
