"""The data plane: readers, engines, the Table that algorithms see, suggestions, writers, preview.

The only package, with `stats`, that can touch a row. Arrow in between, NumPy towards the algorithms.
"""
