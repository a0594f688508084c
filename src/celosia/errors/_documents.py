"""Documents that cannot be made yet."""

from __future__ import annotations

from celosia.errors._tree import Refusal


class NothingToReport(Refusal):
    """A public report speaks of a candidate that was written and measured, and there is none."""

    fields = ("path",)
