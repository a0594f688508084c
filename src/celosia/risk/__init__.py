"""Disclosure risk: measures of a table, and the criteria a release must meet.

Knows compressed tables and hierarchies as arrays. Ignores files, engines and the names of norms.
"""
