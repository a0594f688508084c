"""Connections to a PERSONAL database and the columns read from it."""
