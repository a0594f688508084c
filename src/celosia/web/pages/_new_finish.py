"""The last step of the wizard: name, norms, person key and dictionary; then the work begins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import messages
from celosia.web._widgets import button, card, check, choice, note, paragraph, tag, text_field, upload, word
from celosia.web.pages._projects import begun

if TYPE_CHECKING:
    from celosia.web.pages._new import Wizard

_NORMS = ("minsal", "minsal-sensible", "atenea", "mel")


def finish_step(wizard: Wizard) -> None:
    """What the project is called, which norms it answers to, and who is a person."""
    with tag("div", classes="c-columns"):
        with card(word("web_new.finish.title")):
            hint = word("web_new.finish.plain")
            text_field(word("web_new.finish.name"), wizard.name, partial(_name, wizard), hint, maxlength=120)
            _person(wizard)
        with card(word("web_new.finish.norms")):
            paragraph(word("web_new.finish.norms_meaning"))
            for norm in _NORMS:
                title = messages.text(f"protocols.title.{norm}")
                with tag("div"):
                    check(title, norm in wizard.protocols, partial(_norm, wizard, norm))
        _dictionary(wizard)
    box = tag("div", aria_live="polite")
    button(word("web_new.finish.create"), lambda: _create(wizard, box), "primary")


def _name(wizard: Wizard, text: Any) -> None:
    wizard.name = str(text).strip()


def _norm(wizard: Wizard, norm: str, on: bool) -> None:
    kept = [one for one in wizard.protocols if one != norm]
    wizard.protocols = [one for one in _NORMS if one in kept or (on and one == norm)]


def _person(wizard: Wizard) -> None:
    names = [column.name for column in wizard.found.preview.columns if column.name not in wizard.dropped]
    if wizard.person not in names:
        wizard.person = ""
    seems = wizard.found.person
    left = word("web_new.finish.find") if seems not in names else word("web_new.finish.seems", name=seems)
    options = {"": left, **{name: name for name in names}}

    def take(name: Any) -> None:
        wizard.person = str(name) if name in options else ""

    choice(word("web_new.finish.person"), options, wizard.person, take, word("web_new.finish.person_meaning"))


def _dictionary(wizard: Wizard) -> None:
    with card(word("web_new.finish.dictionary")):
        paragraph(word("web_new.finish.dictionary_meaning"))
        said = tag("div", aria_live="polite")

        def arrived(told: Mapping[str, Any]) -> None:
            path = wizard.desk.uploaded(str(told["ticket"]))
            wizard.dictionary, wizard.dictionary_name = path, path.name if path else ""
            said.clear()
            with said:
                _held(wizard)

        with said:
            _held(wizard)
        upload(word("web_new.finish.dictionary_file"), wizard.desk.csrf, arrived, ".csv,.xlsx,.xls,.ods")


def _held(wizard: Wizard) -> None:
    if wizard.dictionary is not None:
        note(word("web_new.finish.dictionary_held", name=wizard.dictionary_name), "good")


def _create(wizard: Wizard, box: Any) -> None:
    box.clear()
    with box:
        missing = _missing(wizard)
        if missing:
            note(missing, "bad")
            return
        reading = dict(wizard.reading)
        if wizard.dropped:
            reading["drop"] = [c.name for c in wizard.found.preview.columns if c.name in wizard.dropped]
        root: Path = wizard.desk.office.root
        begun(
            wizard.desk, wizard.name, "create_project", root, wizard.name, wizard.source, tuple(wizard.protocols),
            wizard.dictionary, wizard.person or None, **reading,
        )  # fmt: skip


def _missing(wizard: Wizard) -> str:
    """What still lacks, in words; nothing when the work can begin."""
    if not wizard.name:
        return word("web_new.finish.name_missing")
    if "mel" in wizard.protocols and wizard.dictionary is None:
        return word("web_new.finish.dictionary_needed")
    return ""
