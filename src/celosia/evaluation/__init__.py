"""What a transformation costs: declared losses, and measures of what is preserved."""

from celosia.evaluation._objective import MEANS, METRICS, Objective
from celosia.evaluation._recoding import recoding_loss, variable_losses

__all__ = ["MEANS", "METRICS", "Objective", "recoding_loss", "variable_losses"]
