"""Processes that carry out operations, and the jobs people wait for."""
