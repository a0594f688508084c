"""The crosswalk read from its data file and checked: laws and standards beside the parts of a release.

Knows the file beside it, the measures and the sentences of both catalogues. Ignores releases. A line that claims more
than was read, or points to nothing, stops the reading.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.model.errors import UnknownFormat
from celosia.model.protocols import Rule
from celosia.model.reports.crosswalk import (
    CROSSWALK_FORMAT,
    Coverage,
    CrosswalkLine,
    CrosswalkText,
    Pointer,
    PointerKind,
    Reading,
)
from celosia.protocols.errors import ProtocolDamaged
from celosia.protocols.load import IDS, load
from celosia.protocols.measures import MEASURES

_FILE = "crosswalk.toml"
_READ = (Reading.ARTICLE, Reading.EXTRACT)


@cache
def load_crosswalk() -> tuple[CrosswalkText, ...]:
    """Every text of the crosswalk with its lines."""
    return crosswalk_from(tomllib.loads((Path(__file__).parent / _FILE).read_text("utf-8")), _FILE)


def crosswalk_from(document: Mapping[str, Any], path: str) -> tuple[CrosswalkText, ...]:
    """The crosswalk from its data, after checking every line."""
    if (form := str(document.get("format"))) != CROSSWALK_FORMAT:
        raise UnknownFormat(path=path, found=form, expected=CROSSWALK_FORMAT)
    return tuple(_text(data, path) for data in document["texts"])


def rules_measured_by(measure: str) -> tuple[Rule, ...]:
    """The rules of every protocol that a measure judges; a profile repeats those of its base."""
    rules = {(rule.protocol, rule.id): rule for name in IDS for rule in load(name).rules if rule.measure == measure}
    return tuple(rules.values())


def pointer_text(pointer: Pointer) -> str:
    """What a pointer points to, in the words of the current language."""
    kind, name = messages.text(f"crosswalk.kind.{pointer.kind}"), pointed_name(pointer)
    if pointer.kind is not PointerKind.MEASURE:
        return f"{kind}: {name}"
    protocols = ", ".join(dict.fromkeys(rule.protocol for rule in rules_measured_by(pointer.id)))
    return f"{kind}: {name} ({protocols})"


def pointed_name(pointer: Pointer) -> str:
    """The name of what a pointer points to; a measure has that of the first rule that it judges."""
    match pointer.kind:
        case PointerKind.MEASURE:
            return messages.text(f"protocols.short.{rules_measured_by(pointer.id)[0].id}")
        case PointerKind.MANIFEST:
            return messages.text(f"crosswalk.field.{pointer.id}")
        case PointerKind.FINDING:
            return messages.text(f"release.finding.{pointer.id}")
        case PointerKind.ATTACK:
            return messages.text(f"attacks.attack_{pointer.id}")
        case PointerKind.DOCUMENT:
            return messages.text(f"protocols.document.{pointer.id}")
        case PointerKind.ITEM:
            return messages.text(f"protocols.item.{pointer.id}")
        case PointerKind.COMMAND:
            return f"celosia {pointer.id}"


def _text(data: Mapping[str, Any], path: str) -> CrosswalkText:
    identifier = str(data["id"])
    return CrosswalkText(identifier, data["source"], tuple(_line(line, identifier, path) for line in data["lines"]))


def _line(data: Mapping[str, Any], text: str, path: str) -> CrosswalkLine:
    line = CrosswalkLine(
        id=str(data["id"]),
        place=str(data["place"]),
        reading=Reading(data["reading"]),
        coverage=Coverage(data["coverage"]),
        pointers=tuple(_pointer(written) for written in data.get("pointers", ())),
    )
    reason = _fault(line, text)
    if reason:
        raise ProtocolDamaged(path=path, part=f"{text}.{line.id}", reason=reason)
    return line


def _pointer(written: str) -> Pointer:
    kind, _, identifier = written.partition(":")
    return Pointer(PointerKind(kind), identifier)


def _fault(line: CrosswalkLine, text: str) -> str:
    """Why a line may not stand: it claims what was not read, shows nothing, or cannot be explained."""
    if line.coverage is Coverage.UNMET or (line.coverage is Coverage.FULL and line.reading not in _READ):
        return messages.text("crosswalk.damaged.unread")
    if (line.coverage is Coverage.NONE) == bool(line.pointers):
        return messages.text("crosswalk.damaged.pointers")
    if any(pointer.kind is PointerKind.MEASURE and pointer.id not in MEASURES for pointer in line.pointers):
        return messages.text("protocols.damaged.measure")
    for language in messages.LANGUAGES:
        known = messages.section(language, "crosswalk")
        for key in (f"{text}.{line.id}.asks", f"{text}.{line.id}.how"):
            if not known.get(key, "").strip():
                return messages.text("protocols.damaged.sentence", missing=f"crosswalk.{key}", language=language)
    return ""
