"""Errors that `bundle` raises.

BadInput
└── PackagesNotDownloaded   pip could not bring what the lock names
WrongUse
└── PythonNotOffered        the platform has no Python of that version
"""

from __future__ import annotations

from celosia.errors import BadInput, WrongUse


class PackagesNotDownloaded(BadInput, fields="platform package"):
    """The registry did not answer, lacks a package for the platform, or gave one with another digest."""


class PythonNotOffered(WrongUse, fields="platform given offered"):
    """The bundle of a platform is not made for that version of Python."""
