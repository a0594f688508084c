"""What each role may see in a shared page; each operation itself says who may call it.

Whoever executes sees every page; whoever verifies or heads sees figures, documents and the candidate, never a row of
the source; the outsider sees the candidate alone. A page that is in no list is refused. The owner is the person at
the machine of a page that is not shared. Sources: MINSAL Roles 1, Verificación 4; MEL IV.2.
"""

from __future__ import annotations

from collections.abc import Iterable

from celosia import messages
from celosia.workbench.operation import OWNER, SIGNERS

_READ = frozenset(("overview", "dictionary", "request", "risk", "result", "intruder", "dossier", "people", "stats"))
_SIGN = frozenset(("overview", "result", "intruder", "dossier", "people", "stats"))
_EVERYBODY = frozenset(("projects", "verify"))
_EXECUTOR = _READ | _EVERYBODY | {"data", "hierarchies", "search", "new"}
_OUTSIDER = frozenset(("projects", "attempt"))
PAGES = {"executor": _EXECUTOR, **dict.fromkeys(SIGNERS, _READ | _EVERYBODY), "outsider": _OUTSIDER}
# Pages whose controls work for a role; on the others they are disabled.
EDITS = {"executor": _EXECUTOR, **dict.fromkeys(SIGNERS, _SIGN | _EVERYBODY), "outsider": _OUTSIDER}


def may_see(roles: Iterable[str], step: str) -> bool:
    """Whether any of these roles opens a page."""
    return any(role in OWNER or step in PAGES.get(role, ()) for role in roles)


def may_edit(roles: Iterable[str], step: str) -> bool:
    """Whether the controls of a page work for any of these roles."""
    return any(role in OWNER or step in EDITS.get(role, ()) for role in roles)


def may_upload(roles: Iterable[str]) -> bool:
    """Whether any of these roles sends files to the server; none is taken from an outsider."""
    return any(role in OWNER or (role in PAGES and role != "outsider") for role in roles)


def may_sign(roles: Iterable[str], role: str) -> bool:
    """Whether somebody with these roles signs in a role: an account only in its own, whatever a project says."""
    return any(own in OWNER or own == role for own in roles)


def role_names(roles: Iterable[str]) -> str:
    """Roles as the reader's language names them."""
    return ", ".join(messages.text(f"protocols.role.{role}") for role in roles)
