"""The releases of a project in its dossier: made, signed by role, packed, delivered, published.

Nothing is judged here: a verb that refuses says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.model.desk import DeskRelease, DossierView, SigningView
from celosia.web._frame import Desk, tell
from celosia.web._widgets import button, card, details, figures, heading, line, note, paragraph, state, table, tag, word
from celosia.web.pages._keys import Given, Signer, form_check, form_field, secret_form, with_key
from celosia.web.pages._signing import capital, day, heads, secret, signing_box

_FORMATS = ("csv", "parquet", "sav", "dta", "xlsx")


def releases_part(desk: Desk, found: DossierView, me: Signer) -> None:
    """Everything about releases."""
    with card(word("web_dossier.releases")):
        if not found.releases:
            paragraph(word("web_dossier.no_release"))
        consulted = any(gate.gate == "consultation" for gate in found.gates)
        for one in found.releases:
            _release(desk, one, me, consulted)
        if found.candidate and desk.may("make_release"):
            _make(desk, found)
        if found.delivery and found.releases:
            _deliver(desk, found.delivery)


def _make(desk: Desk, found: DossierView) -> None:
    async def make(given: Given) -> None:
        formats = [one for one in _FORMATS if one == "csv" or given.get(f"format_{one}")]
        desk.start("make_release", desk.folder, formats=formats, destroy_seed=bool(given.get("destroy")))

    opened = not any(one.current for one in found.releases)
    with details(word("web_dossier.make_title"), opened):
        paragraph(word("web_dossier.make_hint"))
        with secret_form(make, word("web_dossier.make"), "primary" if opened else "plain"):
            with tag("fieldset", classes="c-fieldset"):
                tag("legend", word("web_dossier.formats"))
                for one in _FORMATS[1:]:
                    form_check(one.upper(), f"format_{one}")
            if found.seeded:
                form_check(word("web_dossier.destroy"), "destroy")


def _deliver(desk: Desk, delivery: str) -> None:
    heading(word("web_dossier.delivery.title"), 3)
    paragraph(word(f"web_dossier.delivery.{delivery}"))
    if desk.may("deliver"):
        button(word("web_dossier.delivery.make"), lambda: desk.start("deliver", desk.folder))


def _release(desk: Desk, one: DeskRelease, me: Signer, consulted: bool) -> None:
    with tag("section", classes="c-release", aria_label=one.name):
        with line():
            heading(one.name, 3)
            _standing(one)
        _warned(one)
        figures([
            (capital(word("people.figure.rows")), messages.integer(one.rows)),
            (capital(word("people.figure.suppressed_rows")), messages.integer(one.suppressed_rows)),
            (capital(word("web_dossier.files")), messages.integer(len(one.files))),
        ])  # fmt: skip
        _signatures(one)
        _sign(desk, one, me)
        if one.sound:
            with line():
                button(word("web_dossier.zip"), partial(_pack, desk, one.name), "plain",
                       f"{word('web_dossier.zip')}: {one.name}")  # fmt: skip
        _publication(desk, one, consulted)


def _standing(one: DeskRelease) -> None:
    if one.publication is not None:
        state(word("web_dossier.published"), "good")
    elif one.sound and not one.missing:
        state(word("web_dossier.signed"), "good")
    elif one.sound:
        state(word("web_dossier.unsigned"), "warning")
    else:
        state(word("web_dossier.broken"), "bad")


def _warned(one: DeskRelease) -> None:
    if one.wrong:
        note(word("web_dossier.wrong", files=", ".join(one.wrong)), "bad")
    if not one.made:
        note(word("web_dossier.unmade"), "bad")
    if not one.current:
        note(word("web_dossier.older"), "info")


def _signatures(one: DeskRelease) -> None:
    if one.signatures:
        rows: list[list[Any]] = [
            [word(f"protocols.role.{s.role}"), s.name, day(s.when), _key(s.key), partial(_valid, s.valid)]
            for s in one.signatures
        ]
        columns = [*heads("release", "role", "name", "when", "key"), *heads("status.head", "state")]
        table(columns, rows, word("release.signatures_title"))
    if one.missing:
        roles = ", ".join(word(f"protocols.role.{role}") for role in one.missing)
        paragraph(word("web_dossier.missing", roles=roles))


def _key(key: str) -> Any:
    return partial(tag, "code", key[:16] + "…")


def _valid(valid: bool) -> None:
    state(word("status.approval.valid" if valid else "web_dossier.invalid"), "good" if valid else "bad")


def _sign(desk: Desk, one: DeskRelease, me: Signer) -> None:
    signed = {s.role for s in one.signatures if me.card is not None and s.key == me.card.key}
    roles = tuple(role for role in me.roles if role not in signed and role != "outsider")
    if not one.sound or one.publication is not None or not roles or not desk.may("sign_with_key"):
        return
    box = tag("div")
    with box:
        button(word("web_dossier.review"), partial(_review, desk, box, one.name, roles), "primary",
               f"{word('web_dossier.review')}: {one.name}")  # fmt: skip


async def _review(desk: Desk, box: ui.element, release: str, roles: tuple[str, ...]) -> None:
    shown: SigningView = await desk.ask("release_view", desk.folder, release)

    async def sign(given: Given) -> None:
        role = given.get("role", "")
        if role not in roles:
            return
        made = await with_key(desk, "sign_with_key", desk.folder, release, role, *secret(desk, given), shown.seal)
        tell(word("release.signed", name=made.name, release=release, role=word(f"protocols.role.{role}")), "good")
        ui.navigate.reload()

    box.clear()
    with box:
        signing_box(shown, roles, sign, word("web_dossier.sign"))


async def _pack(desk: Desk, release: str) -> None:
    path = desk.scratch(f"{desk.name}-{release}.zip")
    await desk.ask("archive_release", desk.folder, release, path)
    desk.offer(path, release=release)


def _publication(desk: Desk, one: DeskRelease, consulted: bool) -> None:
    entry = one.publication
    if entry is not None:
        figures([
            (word("web_dossier.publish.consultation"), entry.consultation or "–"),
            (word("web_dossier.publish.date"), entry.publication_date),
            (word("web_dossier.publish.period"), entry.update_period),
            (word("web_dossier.publish.review"), entry.next_review),
        ])  # fmt: skip
        return
    if one.sound and one.current and not one.missing and desk.may("publish_release"):
        _publish(desk, one.name, consulted)


def _publish(desk: Desk, release: str, consulted: bool) -> None:
    async def publish(given: Mapping[str, str]) -> None:
        dates = (given.get("consultation", ""), given.get("date", ""), given.get("period", ""))
        desk.start("publish_release", desk.folder, release, *dates)

    heading(word("web_dossier.publish.title"), 4)
    paragraph(word("web_dossier.publish.hint"))
    with secret_form(publish, word("web_dossier.publish.enter")), line("c-top"):
        if consulted:
            form_field(word("web_dossier.publish.consultation"), "consultation", "date", required=True)
        form_field(word("web_dossier.publish.date"), "date", "date", required=True)
        hint = word("web_dossier.publish.period_hint")
        form_field(word("web_dossier.publish.period"), "period", hint=hint, required=True, maxlength=40)
