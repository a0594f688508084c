"""Files with an attack planted in them, and the same files without it; people are made up."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

COMUNAS = ("05101", "05102", "05301", "08101", "08102", "13101", "13102", "13103")
REGIONS = {"05": "Valparaíso", "08": "Biobío", "13": "Metropolitana"}
CAUSES = ("A09", "I21", "J18", "K35", "O80")
QUASI = ("SEXO", "EDAD", "COMUNA")


def chance(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def check_digit(number: int) -> str:
    """The verifying digit of a RUN."""
    total = sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(str(number))))
    return "0123456789K"[-total % 11]


def made_people(rows: int = 600, seed: int = 1, ages: int = 80) -> dict[str, list[str]]:
    """People with a RUN; few of them are alike when there are many ages."""
    rng = chance(seed)
    numbers = rng.choice(np.arange(5_000_000, 25_000_000), rows, replace=False).tolist()
    comuna = [COMUNAS[place] for place in rng.integers(0, len(COMUNAS), rows)]
    return {
        "RUN": [f"{number}-{check_digit(number)}" for number in numbers],
        "SEXO": [("Hombre", "Mujer")[place] for place in rng.integers(0, 2, rows)],
        "EDAD": [str(age) for age in rng.integers(18, 18 + ages, rows)],
        "COMUNA": comuna,
        "REGION": [REGIONS[code[:2]] for code in comuna],
        "CAUSA": [CAUSES[place] for place in rng.integers(0, len(CAUSES), rows)],
    }


def with_birth(columns: dict[str, list[str]], seed: int = 8) -> dict[str, list[str]]:
    """The same people with a date of birth that goes with their age."""
    rng = chance(seed)
    days, months = rng.integers(1, 29, len(columns["EDAD"])), rng.integers(1, 13, len(columns["EDAD"]))
    born = [
        f"{2024 - int(age)}-{month:02d}-{day:02d}"
        for age, month, day in zip(columns["EDAD"], months, days, strict=True)
    ]
    return {**columns, "NACIMIENTO": born}


def write_columns(
    path: Path, columns: Mapping[str, Sequence[str]], encoding: str = "utf-8", delimiter: str = ","
) -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def drop_columns(columns: Mapping[str, Sequence[str]], *names: str) -> dict[str, Sequence[str]]:
    return {name: values for name, values in columns.items() if name not in names}


def coarse_release(rows: int = 2_000, seed: int = 3) -> dict[str, list[str]]:
    """A release where nothing works: few labels, large classes, a cause that follows from nothing."""
    made = made_people(rows, seed)
    rng = chance(seed + 1)
    return {
        "SEXO": made["SEXO"],
        "EDAD": [f"{int(age) // 40 * 40} a {int(age) // 40 * 40 + 39}" for age in made["EDAD"]],
        "COMUNA": [code[:2] + "***" for code in made["COMUNA"]],
        "CAUSA": [CAUSES[place] for place in rng.integers(0, len(CAUSES), rows)],
    }


def hash_values(values: Sequence[str], salt: str = "") -> list[str]:
    return [hashlib.sha256((salt + value).encode()).hexdigest() for value in values]


def mask_every(values: Sequence[str], every: int) -> list[str]:
    return ["*" if place % every == 0 else value for place, value in enumerate(values)]
