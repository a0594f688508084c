"""A digest of a table that does not depend on the order of its rows or on the engine that makes it.

Knows Ibis text columns. Each row becomes one text, unambiguous whatever its cells hold; the SHA-256 of each is cut into
eight numbers of 32 bits, and these are added: the sums stand for the rows as a multiset. Nothing but nine numbers
leaves the engine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import reduce

from celosia.data.engines import Engine
from celosia.data.engines._base import Expression
from celosia.model.sources import ROWS_DIGEST


def fingerprint(engine: Engine, rows: Expression, names: Sequence[str]) -> str:
    """The digest of the names and rows of a table whose columns are texts without NULL."""
    cells = [rows[column].replace("\\", "\\\\").replace(",", "\\,") for column in rows.columns]
    line = reduce(lambda left, right: left + "," + right, cells)
    count, *sums = engine.digest_sums(rows.select(line=line))
    told = json.dumps([list(names), count, sums], ensure_ascii=True, separators=(",", ":"))
    return f"{ROWS_DIGEST}:{hashlib.sha256(told.encode()).hexdigest()}"
