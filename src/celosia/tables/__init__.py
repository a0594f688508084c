"""Protection of cross tables: primary rules, complementary suppression, audit, rounding, differencing over time.

Arrays in, arrays out; no table, no engine, no file.
"""
