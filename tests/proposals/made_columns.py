"""Made-up columns for the tests of suggestions. Nobody here exists."""

from __future__ import annotations

import random
import uuid

from stdnum.ar import cuit
from stdnum.cl import rut
from stdnum.co import nit
from stdnum.pe import ruc as peruvian_ruc
from stdnum.py import ruc as paraguayan_ruc

from celosia.model.variables import Variable
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.propose import suggest

ROWS = 200
GIVEN = ("María", "José", "Juan", "Luis", "Camila", "Sofía", "Martina", "Diego", "Tomás", "Felipe", "Antonia", "Rosa")
FAMILY = ("González", "Muñoz", "Rojas", "Díaz", "Pérez", "Soto", "Silva", "Sepúlveda", "Quispe", "Ospina", "Benítez")


def chance(seed: int = 1) -> random.Random:
    return random.Random(seed)


def of_one(name: str, cells: list[str], protocol: str | None = None) -> Variable:
    """The proposal for a column alone in its table."""
    (proposal,) = suggest([ColumnFacts.of(name, cells)], protocol)
    return proposal


def runs(style: str = "12.345.678-5", n: int = ROWS) -> list[str]:
    draw, found = chance(), []
    for _ in range(n):
        body = str(draw.randint(5_000_000, 25_000_000))
        digit = rut.calc_check_digit(body)
        found.append(
            {
                "12.345.678-5": f"{int(body):,}".replace(",", ".") + f"-{digit}",
                "12345678-5": f"{body}-{digit}",
                "123456785": body + digit,
                "12345678-k": f"{body}-{digit}".lower(),
                "no digit": body,
            }[style]
        )
    return found


def ipes() -> list[str]:
    bodies = [str(chance(i).randint(100_000_000, 200_000_000)) for i in range(ROWS)]
    return [f"{body}-{rut.calc_check_digit(body)}" for body in bodies]


def nits() -> list[str]:
    bodies = [str(chance(i).randint(800_000_000, 999_999_999)) for i in range(ROWS)]
    return [f"{body}-{nit.calc_check_digit(body)}" for body in bodies]


def paraguayan_rucs() -> list[str]:
    bodies = [str(chance(i).randint(1_000_000, 89_999_999)) for i in range(ROWS)]
    return [f"{body}-{paraguayan_ruc.calc_check_digit(body)}" for body in bodies]


def cuits() -> list[str]:
    bodies = [f"{chance(i).choice(['20', '27'])}{chance(i).randint(10_000_000, 45_000_000)}" for i in range(ROWS)]
    return [cuit.format(body + cuit.calc_check_digit(body)) for body in bodies]


def peruvian_rucs() -> list[str]:
    bodies = [f"10{chance(i).randint(10_000_000, 79_999_999)}" for i in range(ROWS)]
    return [body + peruvian_ruc.calc_check_digit(body) for body in bodies]


def full_names() -> list[str]:
    draw = chance()
    return [
        f"{draw.choice(GIVEN)} {draw.choice(GIVEN)} {draw.choice(FAMILY)} {draw.choice(FAMILY)}" for _ in range(ROWS)
    ]


def shouted_names() -> list[str]:
    return [name.upper() for name in full_names()]


def given_names() -> list[str]:
    return [chance(i).choice(GIVEN) for i in range(ROWS)]


def surnames() -> list[str]:
    return [chance(i).choice(FAMILY).upper() for i in range(ROWS)]


def chilean_mobiles() -> list[str]:
    return [f"+56 9 {chance(i).randint(3000, 9999)} {chance(i + 1).randint(1000, 9999)}" for i in range(ROWS)]


def bare_mobiles() -> list[str]:
    return [f"9{chance(i).randint(30_000_000, 99_999_999)}" for i in range(ROWS)]


def colombian_mobiles() -> list[str]:
    return [f"3{chance(i).choice(['00', '10', '15', '20'])}{chance(i).randint(1000000, 9999999)}" for i in range(ROWS)]


def addresses() -> list[str]:
    draw = chance()
    streets = ("Av. Providencia", "Calle Los Aromos", "Pasaje El Roble", "Carrera 7 #", "Avda. O'Higgins")
    return [f"{draw.choice(streets)} {draw.randint(10, 4999)}" for _ in range(ROWS)]


def emails() -> list[str]:
    return [f"{chance(i).choice(GIVEN).lower()}{i}@ejemplo.cl" for i in range(ROWS)]


def handles() -> list[str]:
    return [f"@usuario_{i}" for i in range(ROWS)]


def pages() -> list[str]:
    return [f"https://paginas.ejemplo.cl/{i}" for i in range(ROWS)]


def ips() -> list[str]:
    return [".".join(str(chance(4 * i + j).randint(1, 254)) for j in range(4)) for i in range(ROWS)]


def points() -> list[str]:
    return [f"{chance(i).uniform(-40, -20):.6f}, {chance(i + 1).uniform(-72, -69):.6f}" for i in range(ROWS)]


def degrees(low: float, high: float) -> list[str]:
    return [f"{chance(i).uniform(low, high):.6f}" for i in range(ROWS)]


def plates() -> list[str]:
    return [
        "".join(chance(i).choices("BCDFGHJKLPRSTVWXYZ", k=4)) + f"-{chance(i).randint(10, 99)}" for i in range(ROWS)
    ]


def uuids() -> list[str]:
    return [str(uuid.UUID(int=chance(i).getrandbits(128), version=4)) for i in range(ROWS)]


def digests(length: int = 64) -> list[str]:
    return ["".join(chance(i).choices("0123456789abcdef", k=length)) for i in range(ROWS)]


def random_digits(length: int, n: int = ROWS, seed: int = 7) -> list[str]:
    draw = chance(seed)
    return [str(draw.randint(10 ** (length - 1), 10**length - 1)) for _ in range(n)]


def days(form: str = "%Y-%m-%d", n: int = ROWS) -> list[str]:
    import datetime as dt

    start = dt.date(2024, 1, 1)
    return [(start + dt.timedelta(days=chance(i).randint(0, 364))).strftime(form) for i in range(n)]


def notes() -> list[str]:
    draw = chance()
    text = "paciente refiere dolor hace varios días y consulta por fiebre alta derivado desde urgencia sin alergias"
    words = text.split()
    return [" ".join(draw.choices(words, k=draw.randint(8, 20))) for _ in range(ROWS)]


def some(*values: str, n: int = ROWS) -> list[str]:
    """A column that repeats a few values."""
    draw = chance()
    return [draw.choice(values) for _ in range(n)]
