"""One module a page; each registers itself when it is imported."""

from __future__ import annotations

import importlib

# In the order of the walk.
PAGES = ("projects", "new", "overview", "data", "dictionary", "request", "hierarchies", "risk", "search", "result",
         "intruder", "attempt", "dossier", "people", "verify", "stats", "stats_table", "stats_papers")  # fmt: skip


def register() -> None:
    """Import every page."""
    for name in PAGES:
        importlib.import_module(f"celosia.web.pages._{name}")
