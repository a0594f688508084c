"""The norms made executable: rules with their section, gates, roles and documents as reviewed data.

Public names: `load` and `combined`, the measures a rule may name, and rules in words.
"""

from celosia.protocols._load import IDS, PROTOCOL_FORMAT, combined, least, load, norm_of, protocol_from, smallest_class
from celosia.protocols._measures import MEASURES, Measure, Stage
from celosia.protocols._words import asked_text, k_level, level_text, measured_text, sentence_of

__all__ = [
    "IDS",
    "MEASURES",
    "PROTOCOL_FORMAT",
    "Measure",
    "Stage",
    "asked_text",
    "combined",
    "k_level",
    "least",
    "level_text",
    "load",
    "measured_text",
    "norm_of",
    "protocol_from",
    "sentence_of",
    "smallest_class",
]
