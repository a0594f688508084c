"""Documents made from reports: this room has no Table, so no row can be printed here."""

from celosia.dossier._atenea import (
    evaluation_document,
    profile_document,
    request_document,
    risk_document,
    techniques_document,
)
from celosia.dossier._charts import (
    class_size_svg,
    correlation_change_svg,
    distribution_svg,
    pictures,
    risk_utility_svg,
    scenario_risk_svg,
)
from celosia.dossier._document import (
    PAPERS,
    Block,
    Cell,
    Checks,
    Document,
    Fields,
    Heading,
    Items,
    Note,
    Paragraph,
    Picture,
    Signatures,
    Signer,
    Table,
    table_of,
)
from celosia.dossier._docx import to_docx
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
from celosia.dossier._html import to_html
from celosia.dossier._mel import (
    annotated_document,
    annotated_rows,
    contrast_document,
    fault_sentence,
    residual_sentence,
)
from celosia.dossier._minsal import AnexoI, Attempts, Override, anexo_i
from celosia.dossier._pdf import to_pdf, to_png
from celosia.dossier._profile import profile_page
from celosia.dossier._reports import (
    InternalFacts,
    JournalLine,
    PublicFacts,
    RuleLine,
    internal_report,
    public_report,
)
from celosia.dossier._stats import action_table, audience_word, catalogue_document, rule_text
from celosia.dossier._technique import Done, done_by, done_sentences

__all__ = [
    "PAPERS",
    "AnexoI",
    "Attempts",
    "Block",
    "Cell",
    "Checks",
    "Document",
    "Done",
    "Fields",
    "Heading",
    "InternalFacts",
    "Items",
    "JournalLine",
    "Note",
    "Override",
    "Paragraph",
    "Picture",
    "PublicFacts",
    "RuleLine",
    "Signatures",
    "Signer",
    "Table",
    "action_table",
    "anexo_i",
    "annotated_document",
    "annotated_rows",
    "audience_word",
    "catalogue_document",
    "class_size_svg",
    "contrast_document",
    "correlation_change_svg",
    "definitions",
    "distribution_svg",
    "done_by",
    "done_sentences",
    "evaluation_document",
    "evaluation_page",
    "evaluation_sentences",
    "explanation_page",
    "explanation_sentences",
    "fault_sentence",
    "figure_text",
    "frontier_page",
    "frontier_svg",
    "internal_report",
    "metric_text",
    "percent_text",
    "pictures",
    "profile_document",
    "profile_page",
    "public_report",
    "request_document",
    "residual_risk",
    "residual_sentence",
    "result_text",
    "risk_document",
    "risk_utility_svg",
    "rule_text",
    "scenario_risk_svg",
    "table_of",
    "techniques_document",
    "to_docx",
    "to_html",
    "to_pdf",
    "to_png",
]
