"""What a person is shown before signing, and the form that signs exactly that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from celosia.dossier import signed_lines
from celosia.model.desk import SigningView
from celosia.web._frame import Desk
from celosia.web._widgets import line, table, tag, word
from celosia.web.pages._keys import Given, form_choice, form_field, own_key, secret_form


def signing_box(
    shown: SigningView, roles: tuple[str, ...], sign: Callable[[Given], Awaitable[None]], submit: str
) -> None:
    """What is signed, in figures and by its digest, and the form that signs it."""
    with tag("div", classes="c-signing"):
        columns = heads("people.head", "figure", "value")
        table(columns, [list(pair) for pair in signed_lines(shown.figures)], word("people.shown"), show_caption=True)
        with tag("p", classes="c-soft"):
            tag("span", word("web_dossier.digest") + " ")
            tag("code", shown.digest)
        with secret_form(sign, submit), line("c-top"):
            form_choice(capital(word("release.role")), "role", {role: word(f"protocols.role.{role}") for role in roles})
            form_field(word("web_dossier.note"), "note", maxlength=500)
            hint = word("web_dossier.passphrase_hint")
            form_field(word("release.passphrase"), "passphrase", "password", hint, required=True)


def heads(section: str, *keys: str) -> list[str]:
    """The heads of a table, from words that stand inside sentences elsewhere."""
    return [capital(word(f"{section}.{key}")) for key in keys]


def capital(text: str) -> str:
    """A text with a capital first."""
    return text[:1].upper() + text[1:]


def secret(desk: Desk, given: Given) -> tuple[Path, str, str]:
    """The key, its passphrase and the remark, as the signing verbs take them."""
    return own_key(desk), given.get("passphrase", ""), given.get("note", "")


def day(when: str) -> str:
    """A moment as it is read: day and minute, in UTC as the journal has it."""
    return f"{when[:10]} {when[11:16]} UTC" if len(when) > 16 else when
