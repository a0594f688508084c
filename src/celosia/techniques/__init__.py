"""Every treatment the norms name, one file each: declared as data, repeatable, reported.

Knows columns of text and the chance it is given. Ignores files, engines, roles and policies. A technique is the
constant TECHNIQUE of its module; `technique(name)` finds it.
"""

from celosia.techniques._contract import Given, Lines, Outcome, Technique, unknown_in
from celosia.techniques._draws import Draws
from celosia.techniques._perform import TreatedTable, apply_to_frame, names_after, perform, refuse_repeated
from celosia.techniques._registry import NAMES, meaning, technique, understood

__all__ = [
    "NAMES",
    "Draws",
    "Given",
    "Lines",
    "Outcome",
    "Technique",
    "TreatedTable",
    "apply_to_frame",
    "meaning",
    "names_after",
    "perform",
    "refuse_repeated",
    "technique",
    "understood",
    "unknown_in",
]
