"""Removal of variables: direct identifiers first, then what is too sensitive or of no use (ATENEA 4.2.4; MINSAL 3)."""

from __future__ import annotations

from celosia.techniques._contract import COLUMNS, Given, Lines, Outcome, Settings, Technique, columns_of
from celosia.techniques._draws import Draws


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    return Outcome(removed=settings["columns"])


TECHNIQUE = Technique(
    name="remove_variables",
    lines=Lines.VALUES,
    params={"columns": COLUMNS},
    uses=columns_of,
    apply=_apply,
    norms=("A23", "M03", "P11"),
)
