"""Removal of variables: direct identifiers first, then what is too sensitive or of no use (ATENEA 4.2.4; MINSAL 3)."""

from __future__ import annotations

from celosia.techniques._columns import columns_of
from celosia.techniques._contract import Lines, StepOutcome, Technique
from celosia.techniques._parameters import COLUMNS

TECHNIQUE = Technique(
    name="remove_variables",
    lines=Lines.VALUES,
    params={"columns": COLUMNS},
    uses=columns_of,
    apply=lambda given, settings, draws: StepOutcome(removed=settings["columns"]),
    norms=("A23", "M03", "P11"),
)
