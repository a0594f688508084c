"""What a transformation costs: declared losses, and measures of what is preserved."""

from celosia.evaluation._objective import MEANS, METRICS, Objective
from celosia.evaluation._recoding import recoding_loss, variable_losses
from celosia.evaluation._sample import Column, Sample, sample_of
from celosia.evaluation.contrast import contrast

__all__ = [
    "MEANS",
    "METRICS",
    "Column",
    "Objective",
    "Sample",
    "contrast",
    "recoding_loss",
    "sample_of",
    "variable_losses",
]
