"""What one of several editors does in a process of its own; a module that loads little, for each of them loads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.project.files import digest_of_file
from celosia.workbench.dictionary_edit import edit_dictionary
from celosia.workbench.policy import edit_policy
from celosia.workbench.request import edit_request

ROUNDS = 12
EDITORS = 3


def _edit(verb: str, folder: Path, who: int, turn: int, expected: str | None) -> None:
    """One edit that only this process makes in this turn."""
    words = f"de {who} en {turn}"
    if verb == "dictionary":
        edit_dictionary(folder, {"SEXO": {"label": words}}, expected=expected)
    elif verb == "settings":
        edit_policy(folder, {"k": 10 + EDITORS * turn + who}, expected=expected)
    elif verb == "request":
        edit_request(folder, {"title": words}, expected=expected)
    else:
        state_purpose(folder, [("SEXO", "ZONA", "DIAG")[who]], words)


FILES = {"dictionary": "dictionary.csv", "settings": "celosia.toml", "request": "request.toml"}


def compete(verb: str, folder: Path, who: int, start: Any, won: Any) -> None:
    """In each turn all edit what all saw at its beginning."""
    for turn in range(ROUNDS):
        start.wait()
        seen = digest_of_file(folder / FILES[verb])
        start.wait()
        try:
            _edit(verb, folder, who, turn, seen)
            won.put((turn, who))
        except EditedMeanwhile:
            pass
        start.wait()


def purposes(folder: Path, who: int, start: Any) -> None:
    for turn in range(ROUNDS):
        start.wait()
        _edit("purpose", folder, who, turn, None)
