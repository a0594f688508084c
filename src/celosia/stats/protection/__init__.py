"""Disclosure control of the STATS tables of a run, within it and against earlier releases."""
