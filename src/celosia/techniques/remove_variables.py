"""Removal of variables: direct identifiers first, then what is too sensitive or of no use (ATENEA 4.2.4; MINSAL 3)."""

from __future__ import annotations

from celosia.techniques._columns import columns_of
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._parameters import COLUMNS


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    return StepOutcome(removed=settings["columns"])


TECHNIQUE = Technique(
    name="remove_variables",
    lines=Lines.VALUES,
    params={"columns": COLUMNS},
    uses=columns_of,
    apply=_apply,
    norms=("A23", "M03", "P11"),
)
