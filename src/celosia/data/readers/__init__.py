"""Readers: any source, read once, into the private working copy."""

from celosia.data.readers._ingest import ingest
from celosia.data.readers._working import working_labels, working_names

__all__ = ["ingest", "working_labels", "working_names"]
