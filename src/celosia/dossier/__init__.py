"""Documents made from reports: this room has no Table, so no row can be printed here."""

from celosia.dossier._charts import (
    class_size_svg,
    correlation_change_svg,
    distribution_svg,
    pictures,
    risk_utility_svg,
    scenario_risk_svg,
)
from celosia.dossier._evaluation import (
    definitions,
    evaluation_page,
    evaluation_sentences,
    figure_text,
    percent_text,
    residual_risk,
    result_text,
)
from celosia.dossier._explain import explanation_page, explanation_sentences
from celosia.dossier._figures import metric_text
from celosia.dossier._frontier import frontier_page, frontier_svg
from celosia.dossier._profile import profile_page

__all__ = [
    "class_size_svg",
    "correlation_change_svg",
    "definitions",
    "distribution_svg",
    "evaluation_page",
    "evaluation_sentences",
    "explanation_page",
    "explanation_sentences",
    "figure_text",
    "frontier_page",
    "frontier_svg",
    "metric_text",
    "percent_text",
    "pictures",
    "profile_page",
    "residual_risk",
    "result_text",
    "risk_utility_svg",
    "scenario_risk_svg",
]
