"""Hierarchies: builders, files in ARX's layout, official code lists, and the maps the search works with.

Knows labels and vocabularies. Ignores tables, engines and policies. Official lists are in
`celosia.hierarchy.official`.
"""
