"""Errors and warnings that `pipeline.frames` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse


class NoCriterion(WrongUse, fields=""):
    """Nothing was asked of the result: no k, l or t, and no criterion."""


class IdentifierLeftIn(Refusal, fields="variables"):
    """A column without a role identifies people by itself."""


class SensitiveNeeded(WrongUse, fields="criterion"):
    """A criterion of sensitive values is asked for and no sensitive column is named."""


class FrameFails(Refusal, fields="failing"):
    """The frame that was made does not meet the policy: it is not given back."""


class FrameUnavailable(WrongUse, fields=""):
    """A result without the frame it was made from cannot be saved as a project."""


class FrameChanged(BadInput, fields=""):
    """The frame is no longer the one that the result was made from."""


class ColumnsWithoutRole(UserWarning):
    """Columns that seem to say something of persons leave as they are, because nobody gave them a role."""
