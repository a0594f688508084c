"""The closing evaluation: exactly what the request asked to keep, before and after. `celosia/closing/1`.

Knows figures and names of variables; never a cell. Source: ATENEA 4.2.1 (the user chooses) and 4.2.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia.model.plain import plain_fields
from celosia.model.reports.evaluation import PropertyCheck, RiskComparison

CLOSING_FORMAT = "celosia/closing/1"


@dataclass(frozen=True, slots=True)
class ClosingReport:
    """What the request asked for, on one candidate."""

    candidate: str  # digest of the file that was compared
    request: str  # digest of what was asked
    observations: PropertyCheck  # always shown, decided only where it was asked
    properties: tuple[PropertyCheck, ...]  # exactly the chosen ones, in their order
    limited: tuple[str, ...]  # limited variables that are in the file all the same
    residual: str  # the risk that is left, in words
    risk: RiskComparison | None = None

    @property
    def passes(self) -> bool:
        """Whether everything that was asked is kept and no limit is broken; nothing asked shows nothing."""
        return bool(self.properties) and all(line.passes for line in self.properties) and not self.limited

    @property
    def results(self) -> Mapping[str, bool]:
        """Each property checked and whether it is preserved."""
        kept_properties: dict[str, bool] = {}
        for line in self.properties:
            name = f"{line.property} {line.variable}".rstrip(" –")
            kept_properties[name] = line.passes and kept_properties.get(name, True)
        return kept_properties

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        names = "candidate request passes observations properties limited residual risk"
        return {"format": CLOSING_FORMAT, **plain_fields(self, names)}
