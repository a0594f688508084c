"""A fresh request.toml: every item with its question as a comment, in the user's language, and no answer yet.

Knows the order of the items and their empty values. Ignores what was answered.
"""

from __future__ import annotations

from collections.abc import Collection

from celosia import messages
from celosia.model.requests import REQUEST_FORMAT

OPEN = "true | false"
_TEXT, _LIST = '""', "[]"
_ORDER: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("", (("title", _TEXT), ("kind", _TEXT), ("requester", _TEXT), ("variables", _LIST), ("aggregation", _TEXT),
          ("properties", _LIST), ("authorisation", _TEXT), ("use", _TEXT))),
    ("legal", (("protected_by_law", OPEN), ("subject_authorisation", OPEN), ("limited", _LIST))),
    ("source", (("name", _TEXT), ("period_from", _TEXT), ("period_until", _TEXT), ("unit", _TEXT),
                ("responsible", _LIST), ("department", _TEXT))),
    ("minsal", (("administrative_act", OPEN), ("dictionary", OPEN), ("validated", OPEN), ("homologated", OPEN),
                ("purpose", _TEXT))),
    ("mel", (("consent", _TEXT), ("contrast", _LIST))),
    ("publication", (("contact", _TEXT), ("licence", _TEXT), ("update_period", _TEXT), ("next_review", _TEXT))),
)  # fmt: skip
QUESTIONS = tuple(f"{section}.{name}" if section else name for section, items in _ORDER for name, _ in items)


def request_template(demanded: Collection[str] = ()) -> str:
    """The text of a request nobody answered yet; what the project's protocols demand is marked."""
    lines = [f'format = "{REQUEST_FORMAT}"', *_comment(messages.text("request.template"))]
    for section, items in _ORDER:
        if section:
            lines += ["", *_comment(messages.text(f"request.section.{section}")), f"[{section}]"]
        for name, empty in items:
            key = f"{section}.{name}" if section else name
            mark = " " + messages.text("request.demanded") if key in demanded else ""
            lines += ["", *_comment(question(key) + mark), f"{'# ' if empty == OPEN else ''}{name} = {empty}"]
    return "\n".join(lines) + "\n"


def request_questions() -> tuple[str, ...]:
    """Every item of a request, in the order of the file."""
    return QUESTIONS


def question(key: str) -> str:
    """What an item asks, in the current language."""
    return messages.text(f"request.item.{key}")


def _comment(words: str) -> list[str]:
    return [f"# {line}" for line in words.splitlines()]
