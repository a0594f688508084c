"""Attacks on a release, each a value with an interval and a control.

Knows codes as arrays, level maps and a generator. Ignores files, tables and engines: `pipeline` makes the arrays.
Methods are from the open literature, made for masked and generalised data. The attacks are modules of their own;
here is what they are given and what they give.
"""

from celosia.attacks._compatible import AnyHierarchy, compatible
from celosia.attacks._estimates import Trials, estimate, excess_interval, rate_interval, unmeasured
from celosia.attacks._scene import Column, Records, Scene, same_values
from celosia.attacks._view import View

__all__ = [
    "AnyHierarchy",
    "Column",
    "Records",
    "Scene",
    "Trials",
    "View",
    "compatible",
    "estimate",
    "excess_interval",
    "rate_interval",
    "same_values",
    "unmeasured",
]
