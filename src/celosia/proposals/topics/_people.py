"""What a person is: sex, origin, schooling, work, belief, money.

Knows the words used for each in official records. Ignores codes without a dictionary: 1 and 2 may be anything.
Source: MINSAL, Implementación 3; ATENEA guide 4.2.3 (special categories); MEL protocol III.2 (rare posts).
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from celosia.hierarchy.official import lookup
from celosia.model.variables import Role, Scale
from celosia.proposals.shape import Shape, normal
from celosia.proposals.topic import Topic, ValueTest, headers

_SEX = frozenset(
    """
    hombre mujer masculino femenino varon hembra h m f male female intersex intersexual hombres mujeres indeterminado
    """.split()
)
_DEMONYMS = frozenset(
    """
    chilena chileno peruana peruano colombiana colombiano venezolana venezolano argentina argentino boliviana
    boliviano haitiana haitiano ecuatoriana ecuatoriano paraguaya paraguayo uruguaya uruguayo brasilena brasileno
    mexicana mexicano cubana cubano dominicana dominicano espanola espanol francesa frances alemana aleman italiana
    italiano china chino estadounidense canadiense coreana extranjera extranjero no
    """.split()
)


def says(words: str, longest: int = 6) -> Callable[[str], bool]:
    """A test for short values that use one of the words (stems end in a star)."""
    stems = "|".join(re.escape(w[:-1]) + r"\w*" if w.endswith("*") else re.escape(w) for w in words.split())
    pattern = re.compile(rf"\b(?:{stems})\b")

    def passes(value: str) -> bool:
        text = normal(value)
        return len(text.split()) <= longest and pattern.search(text) is not None

    return passes


def is_sex(value: str) -> bool:
    """A word or letter for a sex."""
    return normal(value) in _SEX


def two_sexes(shape: Shape) -> bool:
    """Two to four categories, of which two name different sexes."""
    named = {text for text in shape.normal if text in _SEX}
    women = {"mujer", "femenino", "f", "hembra", "female", "mujeres"}
    # M is a woman (mujer) beside H and a man (masculino) beside F
    return 2 <= len(named) <= 4 and bool(named & (women | ({"m"} if "h" in named else set()))) and shape.distinct <= 6


def is_country(value: str) -> bool:
    """The name or a letter code of a country, or the word for its people; numbers may be anything."""
    text = value.strip()
    return not text.isdigit() and (lookup("countries").knows(text) or normal(text) in _DEMONYMS)


def countries_in_words(shape: Shape) -> bool:
    """Names, or at least eight codes: a few pairs of capitals may be anything."""
    return shape.distinct >= (8 if shape.share(shape.lengths <= 3) > 0.5 else 3)


def round_amounts(shape: Shape) -> bool:
    """Amounts of money as people state them: large whole numbers, nearly all of them round."""
    numbers = shape.numbers
    if not shape.whole or shape.distinct < 10 or not numbers.size:
        return False
    round_share = shape.share((numbers % 100 == 0) & (np.abs(numbers) >= 100))
    return round_share >= 0.6 and float(np.median(numbers)) >= 5_000 and not shape.leading_zeros


def is_amount(value: str) -> bool:
    """A number, with or without a currency sign."""
    return re.fullmatch(r"\$?\s?-?\d[\d.,\s]*", value.strip()) is not None


def _quasi(name: str, *patterns: str, test: ValueTest | None = None, special: bool = False) -> Topic:
    return Topic(name, Role.QUASI, headers(*patterns), scale=Scale.CATEGORICAL, test=test, special=special)


def _belief(name: str, *patterns: str, words: str, longest: int = 6) -> Topic:
    return Topic(
        name,
        Role.SENSITIVE,
        headers(*patterns),
        scale=Scale.CATEGORICAL,
        special=True,
        test=ValueTest(says(words, longest), 0.0005, 0.6, 2, in_words=True),
    )


TOPICS = (
    _belief(
        "sexual_life",
        """orientacion sex*, identidad gen*, identidad sex*, vida sexual, sexual orientation, gender identity, lgbt*,
            trans, diversidad sexual""",
        words="heterosexual* homosexual* bisexual* lesbiana* gay transgenero cisgenero pansexual* asexual*",
    ),
    _quasi("sex", "sexo*, sex, genero, gender, sx", test=ValueTest(is_sex, 0.0005, 0.6, 2, two_sexes, in_words=True)),
    _quasi(
        "ethnic_group",
        """etnia*, etnic*, grupo etnico, grupo etn*, per etn*, hispanic, pueblo orig*, pueblo indig*, indigena*,
            pertenencia etn*, raza*, race, ethnic*, pueblo*, autorreconocimiento, afrodesc*, originario*""",
        test=ValueTest(
            says(
                """mapuche* aymara* rapanui rapa quechua* atacamen* lickan diaguita* kawesqar alacalufe yagan colla*
                    afrodescendient* indigena* mestizo* raizal* palenquer* gitano* rrom rom wayuu nasa embera guarani*
                    ayoreo nivacle enxet ashaninka awajun mulato* chango selknam zenu"""
            ),
            0.005,
            0.5,
            2,
            in_words=True,
        ),
        special=True,
    ),
    _belief(
        "religion",
        "religi*, credo, iglesia, culto, creencia*",
        words="""catolic* evangelic* protestante* judi* musulman* islam* budist* ateo* atea* agnostic* adventista*
            testigo* mormon* cristian* pentecostal* hinduis* ortodox*""",
        longest=5,
    ),
    _belief(
        "politics",
        """partido pol*, partido, orientacion pol*, tendencia pol*, politic*, voto*, votacion, ideologia*,
            militancia*, candidato""",
        words="""izquierda derecha socialista* comunista* liberal* conservador* republican* democrat* udi rn ppd psuc
            colorado centro-izquierda centroderecha""",
    ),
    _belief(
        "union",
        "sindic*, gremi*, union membership, afiliacion sindical, organizacion* soc*",
        words="sindicalizad* sindicato* gremio*",
    ),
    _belief(
        "disability",
        "discapac*, disability, limitacion perm*, dependencia funcional, rnd, invalidez, situacion disc*",
        words="discapacidad* ceguera sordera paraplej* tetraplej* motora visual auditiva psiquica",
    ),
    _belief(
        "criminal",
        """antecedente* penal*, delito*, condena*, infraccion penal, victima*, violencia*, crimin*, victimizante,
            desplazad*, hecho victim*""",
        words="homicidio robo hurto desplazamiento secuestro femicidio",
    ),
    _quasi(
        "marital_status",
        """estado civil, est civil, ecivil, estado conyugal, situacion conyugal, marital*, civil status, conyug*,
            eciv*""",
        test=ValueTest(
            says("solter* casad* viud* divorciad* separad* conviviente* single married widowed divorced", 5),
            0.005,
            0.6,
            2,
            in_words=True,
        ),
    ),
    _quasi(
        "country",
        """pais*, nacionalidad*, country, nationality, pais origen, pais nac*, pais proced*, extranjero, migrante,
            pueblo pais, ciudadania, citizenship, procedencia pais, glosa pais, nacion""",
        test=ValueTest(is_country, 0.02, 0.8, 3, countries_in_words, in_words=True),
    ),
    _quasi(
        "education",
        """educacion*, escolaridad*, nivel educ*, nivel instr*, instruccion*, estudios*, education, grado acad*,
            curso, anos estudio, educ, nivel acad*, titulo prof*, calificacion prof*, formacion*, grado escolar,
            schooling""",
        test=ValueTest(
            says(
                """basica primaria secundaria preescolar parvularia bachillerato universitari* postgrado posgrado
                    tecnico tecnica tecnologo magister doctorado preescolar prebasica""",
                8,
            ),
            0.01,
            0.6,
            3,
            in_words=True,
        ),
    ),
    Topic(
        "line_of_work",
        Role.PLAIN,
        headers("""rubro*, rama act*, actividad econ*, ciiu*, sector econ*, giro, rama, industry, actividad empresa,
            line of work"""),
        scale=Scale.CATEGORICAL,
    ),
    Topic(
        "working_time",  # how long somebody works, not as what
        Role.QUASI,
        headers("""hora* trabaj*, hora* labor*, hora* contrat*, hora* semana*, hora* extra*, hora* empleo, hora*
            ocupacion, hours week, hours work*, work* hours, weeks work*, dia trabaj*, dias trabaj*, semana* trabaj*,
            mes trabaj*, meses trabaj*, meses empleo, ano trabaj*, anos trabaj*, anos empleo, anos contrato, tiempo
            trabaj*, tiempo empleo, duracion trabaj*, duracion empleo, duracion contrato, jornada labor*, jornada
            trabaj*, tipo jornada, antiguedad labor*, antiguedad trabaj*, antiguedad empleo, antiguedad cargo"""),
    ),
    Topic(
        "occupation",
        Role.QUASI,
        headers("""ocupacion*, profesion*, oficio*, cargo*, puesto*, empleo*, trabajo*, occupation, job*, ciuo*,
            workclass, isco*, cno, activ*, categoria ocup*, situacion laboral, condicion actividad, contrato*,
            especialidad"""),
        scale=Scale.CATEGORICAL,
        strong_if_rare=True,
        test=ValueTest(
            says(
                """profesor* ingenier* abogad* medic* enfermer* obrero* chofer* conductor* vendedor* comerciante*
                    agricultor* estudiante* jubilad* pensionad* cesante* secretari* contador* administrativ* tecnico*
                    carpintero* albanil* cocinero* guardia* dueno duena temporer* pescador* minero* electricista*
                    mecanico* arquitect* periodista* alcalde* gerente* director* kinesiolog* matron* dentista*
                    odontolog* psicolog* asesora nana empleada* operari* militar* carabinero*"""
            ),
            0.03,
            0.5,
            5,
            in_words=True,
        ),
    ),
    _quasi(
        "insurance",
        """prevision*, =beneficiario, fonasa, isapre*, seguro*, aseguradora*, eps, regimen*, afiliacion*, sistema
            salud, tramo fonasa, grupo fonasa, insurance*, cobertura, sis, essalud, afp, benef* fonasa, modalidad
            atencion, tipo prevision, tramo, eapb, ips salud prevision""",
        test=ValueTest(
            says(
                """fonasa isapre* capredena dipreca prais essalud contributivo subsidiado sisben sis eps asegurad*
                    particular ips_prevision""",
                6,
            ),
            0.01,
            0.6,
            2,
            in_words=True,
        ),
    ),
    Topic(
        "land",
        Role.QUASI,  # the neighbours know how large a plot is
        headers("""area pred*, area cult*, area finca, area terreno, area lote, area constr*, area parcela, area
            sembr*, area siembra, area propiedad, superficie*, hectarea*, metros cuadrados, plot area, farm size"""),
    ),
    Topic(
        "family",
        Role.QUASI,
        headers("""parentesco*, relacion jefe, jefe hogar, jefatura*, hijos, num hijos, numero hijos, n hijos, tot
            hijos, tamano hogar, num personas, n personas, personas hogar, total personas, relationship, household
            size, integrantes*, miembros*, cantidad personas"""),
    ),
    _quasi(
        "housing",
        """tipo viv*, vivienda tipo, tipo vivienda, tenencia*, material*, servicios basicos, estrato, hacinamiento,
            piso, pared*, techo*""",
    ),
    _quasi("language", "idioma*, lengua*, language"),
    Topic(
        "income",
        Role.SENSITIVE,
        headers("""ingreso monetario, ingreso mensual, ingreso*, renta*, sueldo*, salario*, income*, salary*, wage*,
            monto*, valor*, pago*, gasto*, deuda*, credito*, pension*, subsidio*, bono*, arriendo, patrimonio,
            capital*, ahorro*, remuneracion*, honorario*, precio*, costo*, amount*, ytot*, yaut*, cuota*, saldo*"""),
        scale=Scale.CONTINUOUS,
        replicable=False,
        knowable=False,
        test=ValueTest(is_amount, 0.1, 0.98, 10, round_amounts),
    ),
)
