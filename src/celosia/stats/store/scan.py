"""The scan of STATS for personal data: names and values of identifiers, hashes, keys and exact coordinates.

Knows the columns of a STATS table as text and, in a run, how many persons each category has. Ignores databases: the
caller passes what it wrote. A finding names table and column, never the value.
Source: YAPÓ 1 and 2.1 (no identifier in STATS), 4 (not reversible: no hash of a key).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from celosia.model.variables import Role
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.propose import suggest

# The names that the rules of YAPÓ forbid by word (1, 2.1, 2.3), whatever the values are.
_WORDS = """ user_id person_id company_id document documento cedula ruc email e_mail correo phone telefono name nombre
lat lng lon latitude longitude latitud longitud hash uuid guid
"""
FORBIDDEN = frozenset(_WORDS.split())
_PSEUDONYM = re.compile(
    r"\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?|(0x)?(?=[0-9a-f]*[a-f])[0-9a-f]{16,128}",
    re.IGNORECASE,
)
_MAIL = re.compile(r"\S+@\S+\.\w+")
_NUMBER = re.compile(
    r"\d{1,3}(\.\d{3}){2,}(-[\dkK])?|\d{7,}(-[\dkK])?|\+\d[\d ]{7,}|\(?0\d{2,3}\)?[ -]\d{3}[ -]?\d{3,4}"
)
_LABELLED = re.compile(  # a number with its kind beside it: «CI 4.123.456», «tel. 0981 123 456»
    r"\b(c\.?\s?i\.?|c[eé]d(ula)?\.?|r\.?u\.?[ctn]\.?|d\.?n\.?i\.?|doc(umento)?\.?|tel([eé]fono)?\.?|cel(ular)?\.?|fono"
    r"|pasaporte|passport|phone)\W{0,3}(n\W{0,2})?\+?\d[\d .-]{4,}[\dk]\b",
    re.IGNORECASE,
)
_POINT = re.compile(r"[+-]?\d{1,3}[.,]\d{3,}([,; ]+[+-]?\d{1,3}[.,]\d{3,})?")
_KEY_LABELS = 10  # fewer categories than this are no key, however few persons they hold


@dataclass(frozen=True, slots=True)
class ScanFinding:
    """Something that may not be in STATS."""

    table: str
    column: str
    kind: str  # name, value, hash, coordinates, key, personal

    def as_dict(self) -> dict[str, str]:
        """The finding as data."""
        return {"table": self.table, "column": self.column, "kind": self.kind}


def scan_table(
    table: str, columns: Mapping[str, Sequence[str | None]], personal: Iterable[str] = ()
) -> tuple[ScanFinding, ...]:
    """What may not be there in one table; `personal` are the names of the identifiers in PERSONAL."""
    banned = {_fold_name(name) for name in personal} | FORBIDDEN
    findings = [ScanFinding(table, name, "name") for name in columns if _is_forbidden_name(name, banned)]
    for name, cells in columns.items():
        labels = sorted({cell for cell in cells if cell is not None})
        findings += [ScanFinding(table, name, kind) for kind in _kinds(name, labels)]
    return tuple(findings)


def scan_persons(table: str, column: str, persons: Sequence[int]) -> tuple[ScanFinding, ...]:
    """A dimension most of whose categories hold one person is a key under another name."""
    alone = sum(count == 1 for count in persons)
    key = len(persons) >= _KEY_LABELS and 2 * alone > len(persons)
    return (ScanFinding(table, column, "key"),) if key else ()


def _kinds(name: str, labels: Sequence[str]) -> list[str]:
    """The kinds of forbidden values among the labels of a column."""
    tests = {"hash": _PSEUDONYM, "coordinates": _POINT, "value": _NUMBER}
    kinds = [kind for kind, test in tests.items() if any(test.fullmatch(label.strip()) for label in labels)]
    inside = (_MAIL, _LABELLED)
    if any(test.search(label) for test in inside for label in labels) or _identifying(labels):
        kinds.append("value")
    return list(dict.fromkeys(kinds))


def _identifying(labels: Sequence[str]) -> bool:
    """Whether the detectors of the dictionary take the values, under a neutral name, for identifiers."""
    return suggest([ColumnFacts.of("x0", labels)])[0].role == Role.IDENTIFIER


def _is_forbidden_name(name: str, banned: set[str] | frozenset[str]) -> bool:
    return _fold_name(name) in banned or suggest([ColumnFacts.of(name, ())])[0].role == Role.IDENTIFIER


def _fold_name(name: str) -> str:
    return re.sub(r"\W+", "_", name.strip().lower())
