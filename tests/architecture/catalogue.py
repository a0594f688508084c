"""The catalogue of sentences, under full keys."""

from __future__ import annotations

import re
from string import Formatter

from celosia import messages


def catalogue(language: str) -> dict[str, str]:
    """All sentences of a language under their full key."""
    return {
        f"{section}.{name}": sentence
        for section in messages.sections(language)
        for name, sentence in messages.section(language, section).items()
    }


def fields(sentence: str) -> set[str]:
    """Names of the fields of a sentence, without index or format."""
    return {re.split(r"[.\[]", name)[0] for _, name, _, _ in Formatter().parse(sentence) if name is not None}
