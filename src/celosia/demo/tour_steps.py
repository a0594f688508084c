"""The tours, one for each norm: what is done, in which order, on which page, and what shows that it is done.

Knows pages and checks by name. The words are in the catalogue (`web_tour`), in both languages.
Sources: MINSAL norm 1–5 and Anexo I; ATENEA G3_DE 4.2.1–4.2.5; MEL protocol I–IV; YAPÓ rules 1–4.
"""

from __future__ import annotations

from types import MappingProxyType

from celosia.workbench.views.tour import TourStep

_HEAD, _LEAD, _VERIFIER = ("head",), ("lead",), ("verifier",)
_SIGNERS = ("executor", "verifier", "lead")
_PLANNING, _DOING, _VERIFYING = "2. Planificación y diseño", "3. Implementación", "4. Verificación y Validación"
_REQUEST, _EXPLORING, _RISK = (
    "4.2.1. Análisis de la solicitud",
    "4.2.2. Análisis exploratorio de datos",
    "4.2.3. Análisis de Riesgo de Identificación",
)
_TECHNIQUES = "4.2.4. Identificación y Aplicación de Técnicas de Anonimización"
_EVALUATION = "4.2.5. Evaluación de resultados"
_POTENTIAL, _CONTRAST = "IV.2. Identificación y tratamiento potencial", "IV.3. Anonimización y contraste"
_K_IN_TABLES, _TRACED = "3. K-anonimidad en tablas STATS", "4. Pipeline ETL y trazabilidad"
STATS_RUN, STATS_FAILED = "stats-run", "stats-run-failed"  # as the journal of a STATS folder tells them

TOURS = MappingProxyType(
    {
        "minsal": (
            TourStep("data", "data", _PLANNING, "kept:profile"),
            TourStep("request", "request", _PLANNING, "gate:request"),
            TourStep("dictionary", "dictionary", _DOING, "gate:dictionary"),
            TourStep("risk", "risk", "Definiciones", "kept:risk_overview"),
            TourStep("plan", "search", _DOING, "plan"),
            TourStep("people", "people", "1. Roles y Responsabilidades", "roles:head executor", _HEAD),
            TourStep("approve", "dossier", "1. Roles y Responsabilidades", "gate:plan", _HEAD),
            TourStep("run", "search", _DOING, "gate:run"),
            TourStep("result", "result", _VERIFYING, "kept:evaluation"),
            TourStep("intruder", "intruder", _VERIFYING, "gate:intruder", ("outsider", "verifier"), another=True),
            TourStep("check", "dossier", _VERIFYING, "gate:check", _VERIFIER, another=True),
            TourStep(
                "publish",
                "dossier",
                "Anexo I: Formulario de anonimización",
                "gate:publication",
                ("executor", "verifier", "head"),
                another=True,
            ),
        ),
        "atenea": (
            TourStep("request", "request", _REQUEST, "gate:request", _LEAD),
            TourStep("data", "data", _EXPLORING, "kept:profile"),
            TourStep("dictionary", "dictionary", _RISK, "gate:dictionary"),
            TourStep("risk", "risk", _RISK, "kept:risk_scenarios"),
            TourStep("plan", "search", _TECHNIQUES, "plan"),
            TourStep("people", "people", "4.2.1. Análisis de la solicitud", "roles:lead executor", _LEAD),
            TourStep("approve", "dossier", _TECHNIQUES, "gate:plan", _LEAD),
            TourStep("run", "search", _TECHNIQUES, "gate:run"),
            TourStep("result", "result", _EVALUATION, "kept:evaluation"),
            TourStep("check", "dossier", _EVALUATION, "gate:check", _VERIFIER, another=True),
            TourStep("publish", "dossier", _EVALUATION, "gate:publication", _SIGNERS, another=True),
        ),
        "mel": (
            TourStep("request", "request", "I. Justificación", "gate:request", _LEAD),
            TourStep("data", "data", "III.2. Información identificable", "kept:profile"),
            TourStep("geography", "risk", f"{_POTENTIAL}: b) Tratamiento potencial", "kept:risk_geography"),
            TourStep("dictionary", "dictionary", f"{_POTENTIAL}: a) Identificación", "annotated"),
            TourStep("people", "people", "IV.1. Requisitos para la anonimización", "roles:lead executor", _LEAD),
            TourStep("approve", "dossier", _POTENTIAL, "gate:dictionary", _LEAD),
            TourStep("plan", "search", _CONTRAST, "gate:plan"),
            TourStep("run", "search", _CONTRAST, "gate:run"),
            TourStep("residual", "dossier", "III.3. Información anónima", "gate:residual", _LEAD),
            TourStep("check", "dossier", f"{_CONTRAST}: i. Revisión", "gate:check", _VERIFIER, another=True),
            TourStep("deliver", "dossier", "IV.4. Disposición y entrega", "gate:delivery", _SIGNERS, another=True),
            TourStep("publish", "dossier", "I. Justificación", "gate:publication", _LEAD, another=True),
        ),
        "yapo": (
            TourStep("stop", "tables", "2. Reglas por tipo de dato", f"journal:{STATS_RUN} {STATS_FAILED}"),
            TourStep("map", "tables", "2.5 Formación y certificaciones", "mapped"),
            TourStep("run", "tables", _K_IN_TABLES, f"journal:{STATS_RUN}"),
            TourStep("hidden", "tables", _K_IN_TABLES, "file:private/reports/intervals-*.json"),
            TourStep("attack", "tables", _K_IN_TABLES, "file:private/reports/attack.json"),
            TourStep("catalogue", "catalogue", _TRACED, "file:catalogue.json"),
            TourStep("again", "tables", _TRACED, "incremental"),
        ),
    }
)
