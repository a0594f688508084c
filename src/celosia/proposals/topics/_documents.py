"""National and institutional numbers of a person.

Knows the check digits and shapes of Chile, Colombia, Paraguay, Peru and Argentina. Numbers without check digit
(Colombian and Paraguayan cédulas, DNI, passports) are believed only with a name that says so: any digits fit.
Source: MINSAL, Implementación 3 and its note 3.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from types import ModuleType

from celosia.model.variables import Kind, MelLabel, Role, Scale
from celosia.proposals.topic import Topic, ValueTest, headers

_RUN = re.compile(r"\d{1,2}\.?\d{3}\.?\d{3}\s?[-‐–]?\s?[\dkK]")
_IPE = re.compile(r"[1-4]\d{2}\.?\d{3}\.?\d{3}\s?-?\s?[\dkK]")
_NIT = re.compile(r"[89]\d{2}\.?\d{3}\.?\d{3}\s?-?\s?\d")
_PY_RUC = re.compile(r"\d{6,8}-\d")
_CUIT = re.compile(r"(20|23|24|25|26|27|30|33|34)-?\d{8}-?\d")
_PE_RUC = re.compile(r"(10|15|16|17|20)\d{9}")


@cache
def _stdnum(name: str) -> ModuleType:
    return import_module(f"stdnum.{name}")  # loaded when first asked for: most columns never need it


def is_run(value: str) -> bool:
    """A RUN/RUT of seven or eight digits with a right check digit, however it is written."""
    text = value.strip().lstrip("0")  # registers of fixed width fill with zeros
    return _RUN.fullmatch(text) is not None and bool(_stdnum("cl.rut").is_valid(text))


def is_ipe(value: str) -> bool:
    """A provisional number (IPE/IPA, from 100 million on) with the RUN's check digit."""
    text = re.sub(r"[.\s-]", "", value).upper()
    if _IPE.fullmatch(value.strip()) is None:
        return False
    return bool(_stdnum("cl.rut").calc_check_digit(text[:-1]) == text[-1])


def is_nit(value: str) -> bool:
    """A Colombian NIT of nine digits beginning with 8 or 9, and a right check digit."""
    text = value.strip()
    return _NIT.fullmatch(text) is not None and bool(_stdnum("co.nit").is_valid(text))


def is_paraguayan_ruc(value: str) -> bool:
    """A Paraguayan RUC with hyphen and a right check digit."""
    text = value.strip()
    return _PY_RUC.fullmatch(text) is not None and bool(_stdnum("py.ruc").is_valid(text))


def is_cuit(value: str) -> bool:
    """An Argentine CUIT/CUIL with its prefix and a right check digit."""
    text = value.strip()
    return _CUIT.fullmatch(text) is not None and bool(_stdnum("ar.cuit").is_valid(text))


def is_peruvian_ruc(value: str) -> bool:
    """A Peruvian RUC with its prefix and a right check digit."""
    text = value.strip()
    return _PE_RUC.fullmatch(text) is not None and bool(_stdnum("pe.ruc").is_valid(text))


def _document(name: str, *patterns: str, test: ValueTest | None = None) -> Topic:
    return Topic(
        name,
        Role.IDENTIFIER,
        headers(*patterns),
        kind=Kind.IDENTIFICATION,
        scale=Scale.CATEGORICAL,
        mel=MelLabel.DIRECT,
        test=test,
        needs_many_values=True,
    )


TOPICS = (
    Topic(
        "document_type",
        Role.QUASI,  # a foreign document says the nationality
        headers("""tipo doc*, tipo ident*, tipo id, tp doc*, tdoc, cod* tipo doc*, tip doc*, tipo run, tipo rut, id
            type, document type"""),
        scale=Scale.CATEGORICAL,
    ),
    _document(
        "run",
        "run, rut, rol unico*, rutdv, rundv, =dv, rut dv, run dv, digito verif*, rutificador",
        test=ValueTest(is_run, 1 / 11, 0.3, hard=True),  # columns mix RUN with passports,
    ),
    _document(
        "ipe",
        "ipe, ipa, identificador provisorio, numero provisorio escolar",
        test=ValueTest(is_ipe, 1 / 30, 0.6, hard=True),
    ),
    _document("nip", "nip, identificacion provisori*, numero provisori*"),
    _document("nic", "=nic, nic afp, numero cotizante, identificacion cotizante"),
    _document("passport", "pasaporte*, passport*, pasap*, nro pas, num pas"),
    _document(
        "foreign_id",
        """id* extranj*, doc* extranj*, dni extranj*, carnet extranj*, cedula extranj*, doc* origen, dni origen,
            cedula origen, foreign id*, permiso proteccion temporal, =ppt, =pep""",
    ),
    _document("nit", "nit, numero identificacion tributaria", test=ValueTest(is_nit, 1 / 50, 0.8, hard=True)),
    _document("paraguayan_ruc", "ruc paraguay", test=ValueTest(is_paraguayan_ruc, 1 / 10, 0.8, hard=True)),
    _document("cuit", "cuit, cuil", test=ValueTest(is_cuit, 1 / 20, 0.8, hard=True)),
    _document(
        "peruvian_ruc", "ruc, registro unico contribuyente*", test=ValueTest(is_peruvian_ruc, 1 / 20, 0.8, hard=True)
    ),
    _document("dni", "dni, documento nacional identidad, libreta electoral, libreta enrol*, cui"),
    _document("cedula", "cedula*, =cc, =ci, =ced, nro ci, num ci, nro ced, num ced, tarjeta identidad, registro civil"),
    _document(
        "document",
        """n doc, num doc*, nro doc*, no doc*, numero doc*, numero ident*, num ident*, nro ident*, n ident*, numdoc,
            nrodoc, ndoc, =documento, =doc, =documento identidad, doc* ident*, id number, national id, ssn, curp, nss,
            document number, =identificacion, =identificador, nuip""",
    ),
    _document(
        "clinical_record",
        """ficha clinica, num* ficha, nro ficha, n ficha, =ficha, historia clinica, =hc, nro hc, num hc, n hc, nhc,
            numero historia, expediente*, medical record*, mrn, historia clin*, hist clin*""",
    ),
    _document(
        "other_number",
        """licencia conducir, numero licencia, credencial, num* afiliad*, num* tarjeta, cuenta bancaria, num* cuenta,
            nro cuenta, cbu, iban, poliza, num* cliente, bank account""",
    ),
    Topic(
        "biometric",
        Role.IDENTIFIER,
        headers("""huella*, foto, fotografia, =firma, firma digital*, iris, biometr*, fingerprint, photo,
            reconocimiento facial"""),
        kind=Kind.IDENTIFICATION,
        mel=MelLabel.DIRECT,
        special=True,
        needs_many_values=True,
    ),
)
