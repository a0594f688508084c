"""The techniques; each is a module of this package and is loaded when it is first used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from celosia import messages
from celosia.techniques._contract import Technique
from celosia.techniques.errors import UnknownTechnique

NAMES: tuple[str, ...] = tuple(
    """
    select remove_variables remove_records recode generalise mask intervals age period grid region top_bottom
    microaggregate noise swap rank_swap swap_households round pram suppress_cells mask_sensitive shuffle renumber
    pseudonymise
    """.split()
)


def technique(name: str) -> Technique:
    """The technique of that name; a dash may stand for an underscore."""
    plain = str(name).replace("-", "_")
    if plain not in NAMES:
        raise UnknownTechnique(technique=str(name), known=", ".join(NAMES))
    chosen: Technique = importlib.import_module(f"celosia.techniques.{plain}").TECHNIQUE
    return chosen


def read_step(step: Mapping[str, Any]) -> tuple[Technique, dict[str, Any]]:
    """The technique of a declared step and its parameters with their values."""
    given = dict(step)
    chosen = technique(given.pop("technique", ""))
    return chosen, chosen.read_settings(given)


def meaning(name: str, parameter: str) -> str:
    """What a parameter of a technique says: the technique's own sentence, or the one that several share."""
    own = f"techniques.parameter_of.{name}.{parameter}"
    return messages.text(own) if messages.has(own) else messages.text(f"techniques.parameter.{parameter}")
