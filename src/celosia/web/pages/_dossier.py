"""The dossier: what blocks, what is approved and what voided it, documents to read, releases signed and published.

Everything shown is asked of verbs. What a person signs is what they were just shown: its seal goes along.
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from nicegui import ui

from celosia import messages
from celosia.dossier import Document
from celosia.model.desk import Change, DeskDocument, DossierView, GivenApproval, JournalView, SigningView, Subject
from celosia.web._frame import Desk, page, step_path, tell
from celosia.web._widgets import (
    Cell,
    button,
    card,
    details,
    heading,
    line,
    link,
    note,
    paragraph,
    state,
    table,
    tag,
    word,
)
from celosia.web.pages._keys import Given, Signer, signer_here, with_key
from celosia.web.pages._reading import show_document
from celosia.web.pages._releases import releases_part
from celosia.web.pages._signing import capital, day, heads, secret, signing_box

_STATE = MappingProxyType({"valid": "good", "voided": "warning"})


@page("dossier")
async def dossier_page(desk: Desk) -> None:
    """The papers of the project."""
    found: DossierView = await desk.ask("dossier_view", desk.folder)
    me = await signer_here(desk, found.people)
    for problem in found.problems:
        note(problem, "warning")
    _blocked(found)
    _introduced(desk, found, me)
    if found.subjects:
        with card(word("web_dossier.approvals")):
            paragraph(word("web_dossier.dies"))
            for subject in found.subjects:
                _subject(desk, subject, me)
    _documents(desk, found.documents)
    releases_part(desk, found, me)
    _journal(desk)


def _blocked(found: DossierView) -> None:
    for gate in found.blocked:
        title = word("web.overview.next", gate=word(f"protocols.gate.{gate.gate}"))
        note(gate.reason, "warning", title)
    if found.gates and not found.blocked:
        note(word("status.done"), "good")


def _introduced(desk: Desk, found: DossierView, me: Signer) -> None:
    """What stands between the reader and signing: a key, or a place in the project."""
    if me.roles:
        roles = ", ".join(word(f"protocols.role.{role}") for role in me.roles)
        paragraph(word("web_dossier.you", name=me.person.name if me.person else "", roles=roles), "c-soft")
        return
    key = "no_key" if me.card is None else "not_in" if me.person is None else "no_role"
    with note(word(f"web_dossier.{key}"), "info"):
        link(word("web_dossier.go_people"), step_path(desk.name, "people"))


# --- approvals ------------------------------------------------------------------------------------


def _subject(desk: Desk, subject: Subject, me: Signer) -> None:
    with tag("section", classes="c-release", aria_label=word(f"people.what.{subject.what}")):
        _standing(subject)
        _approve(desk, subject, me)


def _standing(subject: Subject) -> None:
    with line():
        heading(capital(word(f"people.what.{subject.what}")), 3)
        key = "met" if subject.met else "open" if subject.ready else "absent"
        state(word(f"web_dossier.{key}"), {"met": "good", "open": "warning", "absent": "info"}[key])
    roles = ", ".join(word(f"protocols.role.{role}") for role in subject.roles)
    paragraph(word("web_dossier.counts", roles=roles), "c-soft")
    if subject.approvals:
        rows = [_approval(one) for one in reversed(subject.approvals)]
        columns = heads("status.head", "name", "role", "when", "state", "note")
        table(columns, rows, f"{word('status.approvals')}: {word(f'people.what.{subject.what}')}")


def _approve(desk: Desk, subject: Subject, me: Signer) -> None:
    """The way to sign it, for whoever may and has not."""
    name = me.person.name if me.person else ""
    given = {one.role for one in subject.approvals if one.state == "valid" and one.name == name}
    own = tuple(role for role in subject.roles if role in me.roles and role not in given)
    if not subject.ready or not own or not desk.may("approve_with_key"):
        return
    box = tag("div")
    with box:
        label = f"{word('web_dossier.review')}: {word(f'people.what.{subject.what}')}"
        kind = "plain" if subject.met else "primary"
        button(word("web_dossier.review"), partial(_review, desk, box, subject.what, own), kind, label)


def _approval(one: GivenApproval) -> list[Cell]:
    def standing() -> None:
        state(word(f"status.approval.{one.state}"), _STATE.get(one.state, "bad"))
        if one.state == "voided":
            tag("small", _changes(one.changes))

    return [one.name, word(f"protocols.role.{one.role}"), day(one.when), standing, one.note]


def _changes(changes: tuple[Change, ...] | None) -> str:
    if not changes:
        return word("web_dossier.change.unkept" if changes is None else "web_dossier.change.other")
    told = "; ".join(word(f"web_dossier.change.{one.part}", names=", ".join(map(_named, one.names))) for one in changes)
    return capital(told) + "."


def _named(name: str) -> str:
    return word(f"web_dossier.setting.{name}") if messages.has(f"web_dossier.setting.{name}") else name


async def _review(desk: Desk, box: ui.element, what: str, roles: tuple[str, ...]) -> None:
    """Show what would be signed, as it is at this moment, and the form that signs it."""
    shown: SigningView = await desk.ask("signing_view", desk.folder, what)

    async def sign(given: Given) -> None:
        role = given.get("role", "")
        if role not in roles:
            return
        made = await with_key(desk, "approve_with_key", desk.folder, what, role, *secret(desk, given), shown.seal)
        told = word("people.approved", name=made.name, role=word(f"protocols.role.{role}"),
                    what=word(f"people.what.{what}"))  # fmt: skip
        tell(told, "good")
        ui.navigate.reload()

    box.clear()
    with box:
        signing_box(shown, roles, sign, word("web_dossier.approve"))


# --- documents ------------------------------------------------------------------------------------


def _documents(desk: Desk, documents: tuple[DeskDocument, ...]) -> None:
    with card(word("web_dossier.documents")):
        paragraph(word("web_dossier.documents_hint"))
        reading = tag("div", aria_live="polite")
        rows: list[list[Cell]] = [
            [word(f"protocols.document.{one.id}"), partial(_offered, desk, one, reading),
             word(f"web_dossier.audience.{one.audience}"), one.section or "–"]
            for one in documents
        ]  # fmt: skip
        columns = heads("web_dossier.head", "document", "read", "audience", "section")
        table(columns, rows, word("web_dossier.documents"))
        reading.move(target_index=-1)


def _offered(desk: Desk, one: DeskDocument, reading: ui.element) -> None:
    if not one.ready:
        tag("span", word("web_dossier.later"))
        return
    name = word(f"protocols.document.{one.id}")

    async def read() -> None:
        reading.props["data-asked"] = one.id
        reading.clear()
        with reading:
            paragraph(word("web_dossier.preparing"))
        document: Document = await desk.ask("read_document", desk.folder, one.id)
        if reading.props["data-asked"] != one.id:
            return  # another was asked for since, and this one took longer
        reading.clear()
        with reading:
            show_document(document)

    async def download(form: str) -> None:
        path = desk.scratch(f"{desk.name}-{one.id}.{form}")
        await desk.ask("document_file", desk.folder, one.id, form, path)
        desk.offer(path)

    with line("c-tight"):
        button(word("web_dossier.read"), read, "small", f"{word('web_dossier.read')}: {name}")
        for form in one.formats:
            button(form.upper(), partial(download, form), "small", f"{name}, {form.upper()}")


# --- the journal ----------------------------------------------------------------------------------


def _journal(desk: Desk) -> None:
    with card(word("web_dossier.journal.title")):
        paragraph(word("web_dossier.journal.hint"))
        box = tag("div")

        async def show() -> None:
            found: JournalView = await desk.ask("journal_view", desk.folder, last=100)
            box.clear()
            with box:
                _lines(found)

        with box:
            button(word("web_dossier.journal.show"), show)


def _lines(found: JournalView) -> None:
    paragraph(word("web_dossier.journal.count", shown=len(found.entries), total=found.total))
    rows: list[list[Cell]] = [
        [day(one.when), one.who or "–", _did(one.what), one.why, partial(_facts, one.facts)] for one in found.entries
    ]
    columns = heads("web_dossier.journal", "when", "who", "did", "why", "detail")
    table(columns, rows, word("web_dossier.journal.title"))


def _did(what: str) -> str:
    key = f"web_dossier.did.{what.replace('-', '_')}"
    return word(key) if messages.has(key) else what


def _facts(facts: tuple[tuple[str, str], ...]) -> None:
    if facts:
        with details(word("web_dossier.journal.facts", count=len(facts))):
            for name, value in facts:
                with tag("p", classes="c-fact"):
                    tag("strong", f"{name}: ")
                    tag("code", value)
