"""The releases of a project in its dossier: made, signed by role, packed, delivered, published.

Nothing is judged here: an operation that refuses says why.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nicegui import ui

from celosia import messages
from celosia.dossier.figures import suppression_text
from celosia.messages import text
from celosia.model.people import Approval
from celosia.web.pages.dossier.keys import (
    Fields,
    Signer,
    call_with_key,
    form_check,
    form_field,
    own_key,
    secret_form,
    signing_form,
)
from celosia.web.server.rights import role_names
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify
from celosia.web.ui.html import Cell
from celosia.web.ui.verdicts import capitalise, minute_text, table_heads
from celosia.workbench.operations.dossier import (
    archive_release,
    deliver,
    make_release,
    publish_with_key,
    release_view,
    sign_with_key,
)
from celosia.workbench.views.dossier import DossierRelease, DossierView

_FORMATS = ("csv", "parquet", "sav", "dta", "xlsx")


def releases_card(page: PageContext, view: DossierView, signer: Signer) -> None:
    """Everything about releases."""
    with html.card(text("web_dossier.releases")):
        if not view.releases:
            html.paragraph(text("web_dossier.no_release"))
        consulted = any(gate.gate == "consultation" for gate in view.gates)
        for release in view.releases:
            _release_section(page, release, signer, consulted)
        if view.candidate and page.may(make_release):
            _new_release(page, view)
        if view.delivery and view.releases:
            html.heading(text("web_dossier.delivery.title"), 3)
            html.paragraph(text(f"web_dossier.delivery.{view.delivery}"))
            if page.may(deliver):
                html.button(text("web_dossier.delivery.make"), lambda: page.start(deliver, page.folder))


def _new_release(page: PageContext, view: DossierView) -> None:
    async def make(fields: Fields) -> None:
        formats = [form for form in _FORMATS if form == "csv" or fields.get(f"format_{form}")]
        page.start(make_release, page.folder, formats=formats, destroy_seed=bool(fields.get("destroy")))

    opened = not any(release.current for release in view.releases)
    with html.details(text("web_dossier.make_title"), opened):
        html.paragraph(text("web_dossier.make_hint"))
        with secret_form(make, text("web_dossier.make"), "primary" if opened else "plain"):
            with html.tag("fieldset", classes="c-fieldset"):
                html.tag("legend", text("web_dossier.formats"))
                for form in _FORMATS[1:]:
                    form_check(form.upper(), f"format_{form}")
            if view.seeded:
                form_check(text("web_dossier.destroy"), "destroy")


def _release_section(page: PageContext, release: DossierRelease, signer: Signer, consulted: bool) -> None:
    with html.tag("section", classes="c-release", aria_label=release.name):
        with html.line():
            html.heading(release.name, 3)
            _release_state(release)
        _release_notes(release)
        html.figures(
            (capitalise(text("people.figure.rows")), messages.integer(release.rows)),
            (capitalise(text("people.figure.suppressed_rows")), suppression_text(release.suppression)),
            (capitalise(text("web_dossier.files")), messages.integer(len(release.files))),
        )
        _signatures_table(release)
        _review_button(page, release, signer)
        if release.sound:
            with html.line():
                label = f"{text('web_dossier.zip')}: {release.name}"
                html.button(text("web_dossier.zip"), partial(_pack, page, release.name), "plain", label)
        _publication_part(page, release, consulted)


def _release_state(release: DossierRelease) -> None:
    if release.publication is not None:
        html.state(text("web_dossier.published"), "good")
    elif release.sound and not release.missing:
        html.state(text("web_dossier.signed"), "good")
    elif release.sound:
        html.state(text("web_dossier.unsigned"), "warning")
    else:
        html.state(text("web_dossier.broken"), "bad")


def _release_notes(release: DossierRelease) -> None:
    if release.wrong:
        html.note(text("web_dossier.wrong", files=", ".join(release.wrong)), "bad")
    if not release.made:
        html.note(text("web_dossier.unmade"), "bad")
    if not release.current:
        html.note(text("web_dossier.older"), "info")


def _signatures_table(release: DossierRelease) -> None:
    if release.signatures:
        rows: list[list[Cell]] = []
        for signature in release.signatures:
            words = text("status.approval.valid" if signature.valid else "web_dossier.invalid")
            rows.append(
                [
                    text(f"protocols.role.{signature.role}"),
                    signature.name,
                    minute_text(signature.when),
                    partial(html.tag, "code", signature.key[:16] + "…"),
                    partial(html.state, words, "good" if signature.valid else "bad"),
                ]
            )
        columns = [*table_heads("release", "role", "name", "when", "key"), *table_heads("status.head", "state")]
        html.table(columns, rows, text("release.signatures_title"))
    if release.missing:
        html.paragraph(text("web_dossier.missing", roles=role_names(release.missing)))


def _review_button(page: PageContext, release: DossierRelease, signer: Signer) -> None:
    """The way to sign a release, for whoever may and has not."""
    own = signer.card.key if signer.card else ""
    signed = {signature.role for signature in release.signatures if own and signature.key == own}
    roles = tuple(role for role in signer.roles if role not in signed and role != "outsider")
    if not release.sound or release.publication is not None or not roles or not page.may(sign_with_key):
        return

    async def sign(role: str, key: Path, passphrase: str, remark: str, seal: str) -> Approval:
        signature = await call_with_key(
            page, sign_with_key, page.folder, release.name, role, key, passphrase, remark, seal
        )
        fields = {"release": release.name, "role": text(f"protocols.role.{role}")}
        notify(text("release.signed", name=signature.name, **fields), "good")
        return signature

    async def review() -> None:
        view = await page.ask(release_view, page.folder, release.name)
        box.clear()
        with box:
            signing_form(page, view, roles, text("web_dossier.sign"), sign)

    box = html.tag("div")
    with box:
        html.button(text("web_dossier.review"), review, "primary", f"{text('web_dossier.review')}: {release.name}")


async def _pack(page: PageContext, release: str) -> None:
    path = page.scratch_path(f"{page.name}-{release}.zip")
    await page.ask(archive_release, page.folder, release, path)
    page.offer(path, release=release)


def _publication_part(page: PageContext, release: DossierRelease, consulted: bool) -> None:
    entry = release.publication
    if entry is not None:
        html.figures(
            (text("web_dossier.publish.consultation"), entry.consultation or "–"),
            (text("web_dossier.publish.date"), entry.publication_date),
            (text("web_dossier.publish.period"), entry.update_period),
            (text("web_dossier.publish.review"), entry.next_review),
        )
    elif release.sound and release.current and not release.missing and page.may(publish_with_key):
        _publish_form(page, release.name, consulted)


def _publish_form(page: PageContext, release: str, consulted: bool) -> None:
    async def publish(fields: Fields) -> None:
        names = {"consultation": "consultation", "publication_date": "date", "update_period": "period"}
        dates = {name: fields.get(field, "") for name, field in names.items()}
        passphrase = fields.get("passphrase", "")
        await call_with_key(page, publish_with_key, page.folder, release, own_key(page), passphrase, dates)
        ui.navigate.reload()

    html.heading(text("web_dossier.publish.title"), 4)
    html.paragraph(text("web_dossier.publish.hint"))
    with secret_form(publish, text("web_dossier.publish.enter")), html.line("c-top"):
        if consulted:
            form_field(text("web_dossier.publish.consultation"), "consultation", "date", required=True)
        form_field(text("web_dossier.publish.date"), "date", "date", required=True)
        hint = text("web_dossier.publish.period_hint")
        form_field(text("web_dossier.publish.period"), "period", hint=hint, required=True, maxlength=40)
        hint = text("web_dossier.passphrase_hint")
        form_field(text("release.passphrase"), "passphrase", "password", hint, required=True)
