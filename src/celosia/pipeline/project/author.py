"""Who is at this machine, for the journal: the name on their identity card, or else their login.

Knows names of people who work on a project. The card is the public half of an identity: no passphrase is asked.
Source: MINSAL, Medidas de Seguridad 5 (records of decisions).
"""

from __future__ import annotations

import getpass
import json
import os
from pathlib import Path


def identity_path() -> Path:
    """Where a person's key lives unless they say otherwise."""
    asked = os.environ.get("CELOSIA_IDENTITY")
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(asked) if asked else Path(base) / "celosia" / "identity.key"


def card_path(path: Path) -> Path:
    """The public half of a key, beside it."""
    return path.with_suffix(".pub.json")


_acting, _account = "", ""


def act_as(name: str, account: str = "") -> None:
    """Work for this person and account from now on, as a shared server does; no name: for the user of the machine."""
    global _acting, _account
    _acting, _account = name, account


def acting_account() -> str:
    """The account that is acted for; none outside a shared server."""
    return _account


def author() -> str:
    """The person who works: the one acted for, or the one at this machine."""
    if _acting:
        return _acting
    try:
        card = json.loads(card_path(identity_path()).read_text("utf-8"))
        return str(card["name"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return _login()


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
