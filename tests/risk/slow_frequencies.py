"""fk and Fk written a second time, row against row, from the definition; shares no code with the product."""

from __future__ import annotations

from collections.abc import Sequence

Row = tuple[str, ...]


def compatible(one: Row, other: Row) -> bool:
    """Each position equal, or missing in one."""
    return all(a == b or not a or not b for a, b in zip(one, other, strict=True))


def frequencies(rows: Sequence[Row], weights: Sequence[float], alpha: float | None) -> list[tuple[float, float]]:
    """fk and Fk of each row; alpha None means that missing is a value of its own."""
    return [
        (
            sum(share(row, other, alpha) for other in rows),
            sum(share(row, other, alpha) * weight for other, weight in zip(rows, weights, strict=True)),
        )
        for row in rows
    ]


def share(row: Row, other: Row, alpha: float | None) -> float:
    """How much one row counts for another."""
    if row == other:
        return 1.0
    if alpha is None or not compatible(row, other):
        return 0.0
    if not any(row):
        return 1.0
    return 1.0 if all(other) else alpha
