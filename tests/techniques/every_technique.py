"""One small table with a column for every technique, and a step of each on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

ROWS = 48
_COMUNAS = ("05301", "05302", "13101", "13119")
_PLACES = (("-33.4372", "-70.6506"), ("-33.0458", "-71.6197"), ("-36.8270", "-73.0503"))


def people() -> pa.Table:
    """A small table with a column for every technique; its rows are not sorted, and some repeat."""
    n = range(ROWS)
    columns = {
        "run": [f"{(i * 7919) % 31 + 10_000_000}-{i % 10}" for i in n],
        "hogar": [f"H{i // 4:03}" for i in n],
        "sexo": ["Mujer" if i % 3 else "Hombre" for i in n],
        "edad": [str((i * 37) % 80) for i in n],
        "nace": [f"{1940 + (i * 17) % 70}-0{i % 9 + 1}-1{i % 10}" for i in n],
        "fecha": [f"2024-0{i % 9 + 1}-2{i % 9}" for i in n],
        "comuna": [_COMUNAS[(i // 4) % 4] for i in n],
        "region": [_COMUNAS[(i // 4) % 4][:2] for i in n],
        "lat": [_PLACES[i % 3][0] for i in n],
        "lon": [_PLACES[i % 3][1] for i in n],
        "ingreso": [str(250_000 + (i * 7_919) % 900_000) for i in n],
        "gasto": [f"{(i * 131) % 977}.{i % 10}" for i in n],
        "diag": [("B20", "I10", "J45", "E11")[(i * 5) % 4] for i in n],
        "extra": [("uno", "dos")[i % 2] for i in n],
    }
    table = pa.table({name: pa.array(cells, pa.large_string()) for name, cells in columns.items()})
    return table.take(pa.array((np.arange(ROWS) * 29) % ROWS))


EXAMPLES: dict[str, dict[str, Any]] = {
    "select": {"keep": {"sexo": ["Mujer"]}, "dates": "fecha", "from": "2024-02-01", "until": "2024-08-31"},
    "remove_variables": {"columns": ["run", "hogar"]},
    "remove_records": {"where": {"diag": ["B20"]}, "reason": "no consintió", "confirmed": True, "totals": ["gasto"]},
    "recode": {"columns": ["diag"], "map": {"B20": "infecciosa", "I10": "crónica"}, "others": "otra"},
    "generalise": {"columns": ["comuna"], "list": "cl-cut", "level": 1},
    "mask": {"columns": ["comuna"], "keep": 2, "width": 5},
    "intervals": {"columns": ["edad"], "width": 10},
    "age": {"columns": ["nace"], "at": "2024-12-31", "width": 10, "into": "tramo"},
    "period": {"columns": ["fecha"], "unit": "quarter"},
    "grid": {"latitude": "lat", "longitude": "lon", "km": 20},
    "region": {"place": "comuna", "list": "cl-cut", "level": "region", "into": "zona"},
    "top_bottom": {"columns": ["ingreso"], "top_quantile": "0.9", "bottom_quantile": "0.1"},
    "microaggregate": {"columns": ["ingreso", "gasto"], "k": 3},
    "noise": {"columns": ["ingreso", "gasto"], "level": "0.2"},
    "swap": {"columns": ["ingreso"], "strata": ["sexo"]},
    "rank_swap": {"columns": ["ingreso"], "percent": "10"},
    "swap_households": {"household": "hogar", "geography": ["comuna"], "rate": "0.5"},
    "round": {"columns": ["ingreso"], "base": 1000},
    "pram": {"columns": ["diag"], "stay": "0.6"},
    "suppress_cells": {"columns": ["sexo", "edad", "comuna"], "k": 3, "order": ["edad"]},
    "mask_sensitive": {"columns": ["sexo", "edad"], "sensitive": ["diag"]},
    "shuffle": {},
    "renumber": {"columns": ["hogar"]},
    "pseudonymise": {"columns": ["run"], "kind": "random", "key": "0123456789abcdef" * 4},
}
