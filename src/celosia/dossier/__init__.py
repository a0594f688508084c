"""Documents made from reports: this room has no Table, so no row can be printed here."""

from celosia.dossier._explain import explanation_page, explanation_sentences
from celosia.dossier._figures import metric_text
from celosia.dossier._frontier import frontier_page, frontier_svg
from celosia.dossier._profile import profile_page

__all__ = ["explanation_page", "explanation_sentences", "frontier_page", "frontier_svg", "metric_text", "profile_page"]
