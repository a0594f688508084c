"""The language in which the library speaks."""

from __future__ import annotations

from celosia import messages
from celosia.library.errors import UnknownLanguage


def set_language(code: str) -> None:
    """Speak Spanish (`es`) or English (`en`) from now on, in every thread of this process."""
    if code not in messages.LANGUAGES:
        raise UnknownLanguage(given=str(code))
    messages.use(code)
