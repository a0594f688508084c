"""Records that a release does not show: the one definition that every surface uses.

A record is *suppressed* where the plan took it: it stays in the file with every quasi-identifier masked or, where the
policy says so, it leaves the file. A record is *masked otherwise* where every quasi-identifier is masked in the file
and the plan did not suppress it: it came so, or its treatments and levels left it so.
Source: MINSAL Anexo II.1 (suppressed records as a count and a percentage).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suppression:
    """Suppressed records and those masked otherwise; `otherwise` is None in a plan that did not count them."""

    rows: int  # records of the published file
    suppressed: int
    otherwise: int | None
    dropped: bool = False  # whether the suppressed records left the file

    @property
    def records(self) -> int:
        """Records before the suppression."""
        return self.rows + (self.suppressed if self.dropped else 0)

    @property
    def masked(self) -> int:
        """Records of the published file with every quasi-identifier masked."""
        return (0 if self.dropped else self.suppressed) + (self.otherwise or 0)
