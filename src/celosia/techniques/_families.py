"""What techniques of one family share in their declaration: recodings of columns, and perturbations of rows.

Knows the contract and the shared parameters. Ignores what each technique does to a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from celosia.model.parameters import Parameter
from celosia.techniques._columns import columns_of
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._parameters import COLUMNS, COMPARE, DECIMAL, DECIMALS, INTO, STRATA, UNKNOWN
from celosia.techniques._values import new_names, recode_outcome

_SHARED = {"compare": COMPARE, "decimal": DECIMAL, "decimals": DECIMALS, "strata": STRATA, "unknown": UNKNOWN}


def recoding(
    name: str,
    params: Mapping[str, Parameter],
    recode: Callable[[StepInput, str, Settings], pa.Array],
    *,
    norms: tuple[str, ...],
    check: Callable[[Settings], object] | None = None,
    notes: Callable[[StepInput, Mapping[str, pa.Array], Settings], Mapping[str, Any]] | None = None,
    uncovered: Callable[[StepInput, Settings], list[str]] | None = None,
) -> Technique:
    """A technique that replaces each of its columns by a function of its values, under its own or a new name."""

    def apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
        if check is not None:
            check(settings)
        names = new_names(name, settings)
        columns = {column: recode(given, column, settings) for column in names}
        return recode_outcome(names, columns, None if notes is None else notes(given, columns, settings))

    own = {"columns": COLUMNS, **params, "into": INTO, "unknown": UNKNOWN}
    return Technique(name, Lines.VALUES, own, columns_of, apply, apart=True, uncovered=uncovered, norms=norms)


def perturbation(
    name: str,
    params: Mapping[str, Parameter],
    apply: Callable[[StepInput, Settings, Draws], StepOutcome],
    *,
    shared: str,
    norms: tuple[str, ...],
    refuses: tuple[str, ...] = (),
) -> Technique:
    """A technique that changes its columns by chance, row by row; `shared` names the common parameters it takes."""
    own = {"columns": COLUMNS, **params, **{key: _SHARED[key] for key in shared.split()}}
    return Technique(name, Lines.ROWS, own, columns_of, apply, random=True, refuses=refuses, norms=norms)
