"""Commands that measure a file: risk, tables, utility, attacks."""
