"""The closing evaluation: exactly what the request asked to keep, before and after. `celosia/closing/1`.

Knows figures and names of variables; never a cell. Source: ATENEA 4.2.1 (the user chooses) and 4.2.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from celosia.model.evaluation import PropertyCheck, RiskComparison

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
        return bool(self.properties) and all(one.passes for one in self.properties) and not self.limited

    @property
    def results(self) -> Mapping[str, bool]:
        """Each property checked and whether it is preserved."""
        found: dict[str, bool] = {}
        for one in self.properties:
            name = f"{one.property} {one.variable}".rstrip(" –")
            found[name] = one.passes and found.get(name, True)
        return found

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        return {
            "format": CLOSING_FORMAT,
            "candidate": self.candidate,
            "request": self.request,
            "passes": self.passes,
            "observations": asdict(self.observations),
            "properties": [asdict(one) for one in self.properties],
            "limited": list(self.limited),
            "residual": self.residual,
            "risk": asdict(self.risk) if self.risk else None,
        }
