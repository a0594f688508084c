"""A name planted in every bad file, and the check that no error, log or traceback repeats it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from celosia import messages
from celosia.errors import CelosiaError

NAME = "Nombre Plantado Peralta"


def refused(
    kind: type[CelosiaError], call: Callable[[], object], caplog: pytest.LogCaptureFixture, folder: Path | None = None
) -> CelosiaError:
    """The error of a call, after checking its kind, its exit code, its silence and that nothing was left."""
    before = _contents(folder)
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert error.exit_code == 2
    spoken = [repr(error), caplog.text, "".join(traceback.format_exception(error))]
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            spoken.append(str(error))
    assert not any("Plantado" in words or "Peralta" in words for words in spoken)
    assert error.__cause__ is None
    assert _contents(folder) == before
    return error


def _contents(folder: Path | None) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder is not None and folder.is_dir() else []
