"""Attacks on a release, each a value with an interval and a control.

Knows codes as arrays, level maps and a generator. Ignores files, tables and engines: `pipeline` makes the arrays.
Methods are from the open literature, made for masked and generalised data. The attacks are modules of their own;
here is what they are given and what they give.
"""
