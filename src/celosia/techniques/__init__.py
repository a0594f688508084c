"""Every treatment the norms name, one file each: declared as data, repeatable, reported.

Knows columns of text and the chance it is given. Ignores files, engines, roles and policies. A technique is the
constant TECHNIQUE of its module; `technique(name)` finds it.
"""

from celosia.techniques._columns import unknown_in
from celosia.techniques._contract import Lines, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._perform import TreatedTable, apply_to_frame, names_after, perform, refuse_repeated
from celosia.techniques._registry import NAMES, meaning, read_step, technique

__all__ = [
    "NAMES",
    "Draws",
    "Lines",
    "StepInput",
    "StepOutcome",
    "Technique",
    "TreatedTable",
    "apply_to_frame",
    "meaning",
    "names_after",
    "perform",
    "read_step",
    "refuse_repeated",
    "technique",
    "unknown_in",
]
