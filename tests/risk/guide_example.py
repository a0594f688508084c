"""The worked example of a risk scenario in ATENEA's guide (G3_DE): combinations, frequencies and RI as printed."""

from __future__ import annotations

GUIDE = [
    ("Primaria", "Afrodescendiente", 5, "0,2"),
    ("Primaria", "Gitano", 0, "0,0"),
    ("Primaria", "Ninguno", 10, "0,1"),
    ("Secundaria", "Afrodescendiente", 0, "0,0"),
    ("Secundaria", "Gitano", 0, "0,0"),
    ("Secundaria", "Ninguno", 15, "0,1"),
    ("Universitario", "Afrodescendiente", 7, "0,1"),
    ("Universitario", "Gitano", 3, "0,3"),
    ("Universitario", "Ninguno", 40, "0,0"),
    ("Posgrado", "Afrodescendiente", 2, "0,5"),
    ("Posgrado", "Gitano", 2, "0,5"),
    ("Posgrado", "Ninguno", 0, "0,0"),
]
NAMES = ("Nivel Escolaridad", "Grupo Étnico")
LEVELS = ("Primaria", "Secundaria", "Universitario", "Posgrado")


def guide_rows() -> list[tuple[str, str]]:
    """The people of the table, one row each."""
    return [(level, group) for level, group, f, _ in GUIDE for _ in range(f)]
