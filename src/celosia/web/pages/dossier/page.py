"""The dossier: what blocks, what is approved and what voided it, documents to read, releases signed and published.

Everything shown is asked of operations. What a person signs is what they were just shown: its seal goes along.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.people import Approval, ChangedPart
from celosia.web.pages.dossier.keys import Signer, call_with_key, find_signer, signing_form
from celosia.web.pages.dossier.reading import show_document
from celosia.web.pages.dossier.releases import releases_card
from celosia.web.server.rights import role_names
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify, step_path
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.web.ui.verdicts import capitalise, minute_text, table_heads
from celosia.workbench.operations.dossier import (
    approve_with_key,
    document_file,
    dossier_view,
    journal_view,
    read_document,
    signing_view,
)
from celosia.workbench.views.dossier import DossierDocument, DossierView, GivenApproval, JournalView, Subject

_APPROVAL_COLOUR = {"valid": "good", "voided": "warning"}


@project_page("dossier")
async def dossier_page(page: PageContext) -> None:
    """The documents, approvals and releases of the project."""
    view = await page.ask(dossier_view, page.folder)
    signer = await find_signer(page, view.people)
    for problem in view.problems:
        html.note(problem, "warning")
    _gate_notes(view)
    _signer_note(page, signer)
    if view.subjects:
        with html.card(text("web_dossier.approvals")):
            html.paragraph(text("web_dossier.dies"))
            for subject in view.subjects:
                with html.tag("section", classes="c-release", aria_label=text(f"people.what.{subject.what}")):
                    _approvals_table(subject)
                    _review_button(page, subject, signer)
    _documents_card(page, view.documents)
    releases_card(page, view, signer)
    _journal_card(page)


def _gate_notes(view: DossierView) -> None:
    for gate in view.blocked:
        html.note(gate.reason, "warning", text("web.overview.next", gate=text(f"protocols.gate.{gate.gate}")))
    if view.gates and not view.blocked:
        html.note(text("status.done"), "good")


def _signer_note(page: PageContext, signer: Signer) -> None:
    """In which roles the reader signs, or what is still missing for it: a key, or a place in the project."""
    if signer.roles:
        name = signer.person.name if signer.person else ""
        html.paragraph(text("web_dossier.you", name=name, roles=role_names(signer.roles)), "c-soft")
        return
    key = "no_key" if signer.card is None else "not_in" if signer.person is None else "no_role"
    with html.note(text(f"web_dossier.{key}"), "info"):
        html.link(text("web_dossier.go_people"), step_path(page.name, "people"))


# --- approvals ------------------------------------------------------------------------------------


def _approvals_table(subject: Subject) -> None:
    with html.line():
        html.heading(capitalise(text(f"people.what.{subject.what}")), 3)
        key = "met" if subject.met else "open" if subject.ready else "absent"
        html.state(text(f"web_dossier.{key}"), {"met": "good", "open": "warning", "absent": "info"}[key])
    html.paragraph(text("web_dossier.counts", roles=role_names(subject.roles)), "c-soft")
    if subject.approvals:
        rows = [_approval_row(approval) for approval in reversed(subject.approvals)]
        columns = table_heads("status.head", "name", "role", "when", "state", "note")
        html.table(columns, rows, f"{text('status.approvals')}: {text(f'people.what.{subject.what}')}")


def _approval_row(approval: GivenApproval) -> list[Cell]:
    def state_cell() -> None:
        html.state(text(f"status.approval.{approval.state}"), _APPROVAL_COLOUR.get(approval.state, "bad"))
        if approval.state == "voided":
            html.tag("small", _changes_text(approval.changes))

    role = text(f"protocols.role.{approval.role}")
    return [approval.name, role, minute_text(approval.when), state_cell, approval.note]


def _changes_text(changes: tuple[ChangedPart, ...] | None) -> str:
    if not changes:
        return text("web_dossier.change.unkept" if changes is None else "web_dossier.change.other")
    parts = [text(f"web_dossier.change.{part.part}", names=", ".join(map(_setting, part.names))) for part in changes]
    return capitalise("; ".join(parts)) + "."


def _setting(name: str) -> str:
    return text(f"web_dossier.setting.{name}") if messages.has(f"web_dossier.setting.{name}") else name


def _review_button(page: PageContext, subject: Subject, signer: Signer) -> None:
    """The way to approve something, for whoever may and has not."""
    name, what = signer.person.name if signer.person else "", subject.what
    approved = {approval.role for approval in subject.approvals if (approval.state, approval.name) == ("valid", name)}
    roles = tuple(role for role in subject.roles if role in signer.roles and role not in approved)
    if not subject.ready or not roles or not page.may(approve_with_key):
        return

    async def approve(role: str, key: Path, passphrase: str, remark: str, seal: str) -> Approval:
        approval = await call_with_key(page, approve_with_key, page.folder, what, role, key, passphrase, remark, seal)
        fields = {"role": text(f"protocols.role.{role}"), "what": text(f"people.what.{what}")}
        notify(text("people.approved", name=approval.name, **fields), "good")
        return approval

    async def review() -> None:
        """Show what would be signed, as it is at this moment, and the form that signs it."""
        view = await page.ask(signing_view, page.folder, what)
        box.clear()
        with box:
            signing_form(page, view, roles, text("web_dossier.approve"), approve)

    box = html.tag("div")
    with box:
        label = f"{text('web_dossier.review')}: {text(f'people.what.{what}')}"
        html.button(text("web_dossier.review"), review, "plain" if subject.met else "primary", label)


# --- documents ------------------------------------------------------------------------------------


def _documents_card(page: PageContext, documents: tuple[DossierDocument, ...]) -> None:
    with html.card(text("web_dossier.documents")):
        html.paragraph(text("web_dossier.documents_hint"))
        reading = html.tag("div", aria_live="polite")
        rows: list[list[Cell]] = [
            [
                text(f"protocols.document.{document.id}"),
                partial(_document_buttons, page, document, reading),
                text(f"web_dossier.audience.{document.audience}"),
                document.section or "–",
            ]
            for document in documents
        ]
        columns = table_heads("web_dossier.head", "document", "read", "audience", "section")
        html.table(columns, rows, text("web_dossier.documents"))
        reading.move(target_index=-1)


def _document_buttons(page: PageContext, document: DossierDocument, reading: ui.element) -> None:
    if not document.ready:
        html.tag("span", text("web_dossier.later"))
        return
    name = text(f"protocols.document.{document.id}")

    async def read() -> None:
        reading.props["data-asked"] = document.id
        reading.clear()
        with reading:
            html.paragraph(text("web_dossier.preparing"))
        content = await page.ask(read_document, page.folder, document.id)
        if reading.props["data-asked"] != document.id:
            return  # another was asked for since, and this one took longer
        reading.clear()
        with reading:
            show_document(content)

    async def download(form: str) -> None:
        path = page.scratch_path(f"{page.name}-{document.id}.{form}")
        await page.ask(document_file, page.folder, document.id, form, path)
        page.offer(path)

    with html.line("c-tight"):
        html.button(text("web_dossier.read"), read, "small", f"{text('web_dossier.read')}: {name}")
        for form in document.formats:
            html.button(form.upper(), partial(download, form), "small", f"{name}, {form.upper()}")


# --- the journal ----------------------------------------------------------------------------------


def _journal_card(page: PageContext) -> None:
    with html.card(text("web_dossier.journal.title")):
        html.paragraph(text("web_dossier.journal.hint"))
        box = html.tag("div")

        async def show() -> None:
            journal = await page.ask(journal_view, page.folder, last=100)
            box.clear()
            with box:
                _journal_table(journal)

        with box:
            html.button(text("web_dossier.journal.show"), show)


def _journal_table(journal: JournalView) -> None:
    html.paragraph(text("web_dossier.journal.count", shown=len(journal.entries), total=journal.total))
    rows: list[list[Cell]] = []
    for entry in journal.entries:
        key = f"web_dossier.did.{entry.what.replace('-', '_')}"
        what = text(key) if messages.has(key) else entry.what
        rows.append([minute_text(entry.when), entry.who or "–", what, entry.why, partial(_show_facts, entry.facts)])
    columns = table_heads("web_dossier.journal", "when", "who", "did", "why", "detail")
    html.table(columns, rows, text("web_dossier.journal.title"))


def _show_facts(facts: tuple[tuple[str, str], ...]) -> None:
    if facts:
        with html.details(text("web_dossier.journal.facts", count=len(facts))):
            for name, value in facts:
                with html.tag("p", classes="c-fact"):
                    html.tag("strong", f"{name}: ")
                    html.tag("code", value)
