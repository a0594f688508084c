"""One module a page; each registers itself when it is imported."""

from __future__ import annotations

import importlib

# In the order of the work on a project.
PAGES = (
    "project.projects",
    "new.page",
    "project.overview",
    "project.data",
    "dictionary.page",
    "project.request",
    "hierarchies.page",
    "risk.page",
    "search.page",
    "result.page",
    "intruder.page",
    "intruder.outsider_test",
    "dossier.page",
    "project.people",
    "dossier.verify",
    "stats.page",
    "stats.table",
    "stats.documents",
)


def register() -> None:
    """Import every page."""
    for name in PAGES:
        importlib.import_module(f"celosia.web.pages.{name}")
