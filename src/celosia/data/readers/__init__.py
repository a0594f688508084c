"""Readers: any source, read once, into the private working copy; or its first rows alone."""

from celosia.data.readers._head import Head, head_of, tables_of
from celosia.data.readers._ingest import ingest
from celosia.data.readers._working import refuse_json_texts, working_labels, working_names

__all__ = [
    "Head",
    "head_of",
    "ingest",
    "refuse_json_texts",
    "tables_of",
    "working_labels",
    "working_names",
    "working_parts",
]
