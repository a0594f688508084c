"""Cells of STATS tables counted inside the source."""
