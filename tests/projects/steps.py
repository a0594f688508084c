"""What the small projects share: the clock, the passphrase, edits by hand, keys of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from celosia.data.sheets import read_rows, write_rows
from celosia.model import dictionary
from celosia.model.roster import AUTHORITY
from celosia.model.variables import Variable
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.intruder.attack import intrude
from celosia.pipeline.intruder.claims import write_claims_form
from celosia.pipeline.project.edits import add_person
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import Identity, new_identity
from celosia.pipeline.project.key_file import Cost
from celosia.pipeline.project.roster_edits import sign_roster

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
PHRASE = "una frase de paso"
# Two public keys of RFC 8032, 7.1: whoever enters people without signing anything needs no more.
PUBLIC_KEY, OTHER_PUBLIC_KEY = (
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
)
CHEAP = Cost(2**4)  # a derivation that takes no time: tests make many keys


def write_dictionary(folder: Path, variables: Iterable[Variable]) -> None:
    """Replace the dictionary of a project, as a person would in an editor."""
    (folder / "dictionary.csv").write_text(dictionary.dump(list(variables)), "utf-8")


def edit_dictionary(folder: Path, **changes: Mapping[str, Any]) -> None:
    """Change fields of some variables in the dictionary."""
    variables = open_project(folder).variables
    write_dictionary(folder, [replace(variable, **changes.get(variable.name, {})) for variable in variables])


def add_settings(folder: Path, text: str) -> None:
    """Append to celosia.toml."""
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8") + "\n" + text + "\n", "utf-8")


ATTEMPTS = 10
TESTED_BY = "Externa 7"
HEAD = 7  # rows of claims.csv before the attempts


def note_attempts(form: Path, attempts: int = ATTEMPTS, minutes: int = 9, outsider: str = TESTED_BY) -> None:
    """Fill in the form of the intruder test: an outsider on record who tried so often and claimed nobody."""
    rows = read_rows(form)
    answers = {"outsider": outsider, "independent": "sí", "date": NOW.date().isoformat()}
    head = [[row[0], answers[row[0]]] if row[0] in answers else row for row in rows[:HEAD]]
    tried = [["prensa", "diarios", "", "", "", str(minutes), "sin resultado"] for _ in range(attempts)]
    write_rows(form, [*head, *tried])


def make_intruder_test(folder: Path, verifier: Identity, **effort: Any) -> None:
    """The attacks, the test with a person on the present candidate, and the verifier's word for it."""
    intrude(str(folder), attempts=100, now=NOW)
    note_attempts(write_claims_form(folder, replace=True), **effort)
    approve(folder, "intruder", verifier, "verifier", "supervisada en sala", now=NOW)


def make_keys(home: Path, names: Mapping[str, str]) -> dict[str, Identity]:
    """A key in `home` for each person, by a short name."""
    return {short: new_identity(name, PHRASE, home / f"{short}.key", cost=CHEAP) for short, name in names.items()}


def register_people(folder: Path, people: Mapping[str, Identity], roles: Mapping[str, Sequence[str]]) -> None:
    """Enter people in a project with their roles; whoever heads it signs the roster."""
    for short, person in people.items():
        add_person(folder, person.name, roles[short], person.key, now=NOW)
    sign_people(folder, [people[short] for short in people if set(roles[short]) & set(AUTHORITY)])


def sign_people(folder: Path, heads: Sequence[Identity], now: datetime = NOW) -> None:
    """Sign the roster of a project with the first of these keys; without any, the people wait."""
    if heads:
        sign_roster(folder, heads[0], now=now)
