"""The norms made executable: rules with their section, gates, roles and documents as reviewed data.

Public names: `load` and `combined`, the measures a rule may name, and rules in words.
"""
