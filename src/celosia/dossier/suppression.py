"""Suppressed records and those masked otherwise, in the same words on every surface."""

from __future__ import annotations

from collections.abc import Iterator

from celosia import messages
from celosia.model.suppression import Suppression


def suppression_text(suppression: Suppression) -> str:
    """The counts in a few words: «600 (7,30 %) por el plan y 48 (0,58 %) que llegaron enmascarados»."""
    suppressed = count_text(suppression.suppressed, suppression.records)
    if not suppression.otherwise:
        return suppressed
    otherwise = count_text(suppression.otherwise, suppression.records)
    return messages.text("documents.suppression.both", suppressed=suppressed, otherwise=otherwise)


def suppression_sentences(suppression: Suppression) -> Iterator[str]:
    """The counts, each in a sentence that says what it counts."""
    fields = {"rows": suppression.suppressed, "total": suppression.records}
    key = "dropped" if suppression.dropped else "kept"
    share = _share(suppression.suppressed, suppression.records)
    yield messages.text(f"documents.suppression.{key}", **fields, share=share)
    if suppression.otherwise:
        share = _share(suppression.otherwise, suppression.records)
        yield messages.text("documents.suppression.otherwise", rows=suppression.otherwise, share=share)
    if suppression.otherwise and not suppression.dropped:
        share = _share(suppression.masked, suppression.rows)
        counts = {"rows": suppression.masked, "total": suppression.rows}
        yield messages.text("documents.suppression.together", **counts, share=share)


def count_text(rows: int, total: int) -> str:
    """A count of records and its share; a small share never reads as none."""
    return f"{messages.integer(rows)} ({_share(rows, total)})"


def _share(rows: int, total: int) -> str:
    return messages.part(rows / total if total else 0.0)
