"""The written reasons of the variables excepted from one rule, in the one text that an override holds.

Knows lines `variable: reason`, one for each, and a reason written for all of them. Ignores files and rules.
Source: MEL protocol IV.2.b («a menos que se indique lo contrario»), MINSAL Implementación 3 (free text that is kept).
"""

from __future__ import annotations

from collections.abc import Collection


def reason_for(reason: str, name: str) -> str:
    """Why one variable is excepted: its own line or, where it has none, what is said of all of them."""
    own = _own_reason(reason, name)
    return reason.strip() if own is None else own


def with_reason(reason: str, name: str, why: str) -> str:
    """The text in which a variable has this reason; what is said of the others stays."""
    other_lines = [line for line in _lines(reason) if not _is_of(line, name)]
    return "\n".join([*other_lines, f"{name}: {' '.join(why.split())}"])


def without_reason(reason: str, name: str, others: Collection[str], needed: bool = False) -> str:
    """The text without a variable; the reason common to all is dropped too once no variable needs it."""
    other_lines = [line for line in _lines(reason) if not _is_of(line, name)]
    spoken = needed or any(_own_reason(reason, other) is None for other in others)
    return "\n".join(
        other_lines if spoken else [line for line in other_lines if any(_is_of(line, other) for other in others)]
    )


def _own_reason(reason: str, name: str) -> str | None:
    return next((line[len(name) + 1 :].strip() for line in _lines(reason) if _is_of(line, name)), None)


def _is_of(line: str, name: str) -> bool:
    return line.startswith(f"{name}:")


def _lines(reason: str) -> list[str]:
    return [line.strip() for line in reason.splitlines() if line.strip()]
