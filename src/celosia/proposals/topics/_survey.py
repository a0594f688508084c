"""What a survey adds: weights, opinions, free text, provenance of the record.

Source: MEL protocol IV.2 (weights and opinions); MINSAL, Implementación 3 (free text).
"""

from __future__ import annotations

import numpy as np

from celosia.model.variables import Role, Scale, Treatment
from celosia.proposals.shape import Shape
from celosia.proposals.topic import Topic, headers


def looks_free(shape: Shape) -> bool:
    """Long values of several words that hardly repeat: somebody wrote them freely (M05)."""
    long_enough = shape.words >= 4 and bool(shape.lengths.size) and float(np.mean(shape.lengths)) >= 22
    return long_enough and shape.repetition >= 0.2 and shape.distinct >= 5


def looks_packed(shape: Shape) -> bool:
    """JSON, XML or binary: a cell that holds more than one thing."""
    if not shape.n_judged:
        return False
    return sum(map(_is_packed, shape.values)) / shape.n_judged >= 0.5


def _is_packed(value: str) -> bool:
    text = value.strip()
    braced = (text[:1], text[-1:]) in (("{", "}"), ("[", "]"))
    tagged = text.startswith("<") and text.endswith(">") and "/" in text
    unprintable = not value.isprintable() and sum(not c.isprintable() and c not in "\r\n\t" for c in value[:200])
    return (braced and ('"' in text or ":" in text)) or tagged or unprintable > 2


FREE_TEXT = Topic(
    "free_text",
    Role.IDENTIFIER,  # nobody can promise that no name was written in it (M05)
    headers("""observ*, coment*, anamnesis, nota, notas, relato*, texto*, narrativ*, texto libre, respuesta abierta,
        otro cual, cual otro, especif*, comment*, remarks, notes, motivo consulta, epicrisis, evolucion, resumen*,
        cual, mensaje*, reclamo*"""),
    headers("descrip*, detalle*, glosa*, motivo*, otro, otra, otros, razon*"),
    scale=Scale.FREE_TEXT,
    treatment=Treatment.REMOVE,
    replicable=False,
    knowable=False,
)

PACKED = Topic(
    "packed",
    Role.IDENTIFIER,
    headers("json, xml, blob, payload, base64"),
    scale=Scale.FREE_TEXT,
    treatment=Treatment.REMOVE,
    replicable=False,
    knowable=False,
    needs_many_values=True,
)

TOPICS = (
    Topic(
        "weight",
        Role.PLAIN,
        headers("""fex*, factor expansion, fnlwgt, factor*, fexp*, ponder*, wgt, weight, peso muest*, expr, exp, expan*,
            weights, pesos, fact exp*, fac exp*, facexp*, pesoan*, factor final, sample weight, w final"""),
        scale=Scale.CONTINUOUS,
        replicable=False,
        knowable=False,
    ),
    Topic(
        "opinion",
        Role.PLAIN,
        headers("""opinion*, satisfacc*, percepcion*, acuerdo*, evaluacion*, confianza*, likert*, preferencia*, nota
            evaluacion"""),
        scale=Scale.CATEGORICAL,
        replicable=False,
        knowable=False,
    ),
    Topic(
        "provenance",
        Role.PLAIN,
        headers("""fuente, version*, origen dato*, fuente inform*, sistema origen, source, tipo registro, formulario,
            modulo, ronda, ola, wave"""),
        scale=Scale.CATEGORICAL,
        replicable=False,
        knowable=False,
    ),
    Topic(
        "maker",
        Role.PLAIN,  # becomes sensitive beside a vaccination (context)
        headers("fabricante*, laboratorio fab*, marca*, manufacturer, =laboratorio, laboratorio vac*, lote*"),
        scale=Scale.CATEGORICAL,
        replicable=False,
        knowable=False,
    ),
    FREE_TEXT,
    PACKED,
)
