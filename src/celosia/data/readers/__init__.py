"""Readers: any source, read once, into the private working copy; or its first rows alone."""
