"""Every single change of a file that somebody may make by hand: each answer, date, name, line and file on its own.

Knows JSON, lines of JSON, TOML and CSV as text, and bytes. Ignores what the files are for. A change is a label and the
new content of the file; no content at all is a file that was taken away.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

Change = tuple[str, bytes | None]
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\b(?:true|false)\b|\b\d+\b')
Place = tuple[str | int, ...]


def changes_of(path: Path) -> Iterator[Change]:
    """Every change of a file of its kind, and three of its bytes."""
    content = path.read_bytes()
    yield "taken away", None
    if path.suffix == ".json":
        yield from _json_changes(json.loads(content))
    elif path.suffix == ".jsonl":
        yield from _entry_changes(content.decode("utf-8").split("\n")[:-1])
    elif path.suffix in (".toml", ".csv", ".html", ".sha256"):
        yield from _line_changes(content.decode("utf-8").split("\n"), path.suffix)
    for place in {0, len(content) // 2, len(content) - 1} if content else ():
        yield f"byte {place}", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def _json_changes(document: Any) -> Iterator[Change]:
    for place in _leaves(document):
        yield f"{place}", _spelt(_with(document, place, _other(_at(document, place))))
        yield f"{place} gone", _spelt(_with(document, place))
    yield "one answer more", _spelt({**document, "note": "nobody signed this"})


def _entry_changes(lines: list[str]) -> Iterator[Change]:
    """Each leaf of each entry; each line gone, twice, or after the next."""
    for number, line in enumerate(lines):
        before, after, entry = lines[:number], lines[number + 1 :], json.loads(line)
        for place in _leaves(entry):
            changed = json.dumps(_with(entry, place, _other(_at(entry, place))), ensure_ascii=False, sort_keys=True)
            yield f"line {number} {place}", _joined([*before, changed, *after])
        yield f"line {number} gone", _joined([*before, *after])
        yield f"line {number} twice", _joined([*before, line, line, *after])
        if after:
            yield f"line {number} later", _joined([*before, after[0], line, *after[1:]])


def _line_changes(lines: list[str], kind: str) -> Iterator[Change]:
    """Each line gone; each word, number and answer of a TOML line, each cell of a table."""
    for number, line in enumerate(lines[:-1]):
        before, after = lines[:number], lines[number + 1 :]
        yield f"line {number} gone", "\n".join([*before, *after]).encode("utf-8")
        for label, changed in _words_changed(line) if kind == ".toml" else _cells_changed(line):
            yield f"line {number} {label}", "\n".join([*before, changed, *after]).encode("utf-8")


def _words_changed(line: str) -> Iterator[tuple[str, str]]:
    answers = {"true": "false", "false": "true"}
    for found in _WORD.finditer(line):
        word = found[0]
        other = answers.get(word) or (f'"{_other(word[1:-1])}"' if word[0] == '"' else str(int(word) + 1))
        yield word, line[: found.start()] + other + line[found.end() :]


def _cells_changed(line: str) -> Iterator[tuple[str, str]]:
    cells = line.split(",")
    for place, cell in enumerate(cells):
        yield f"cell {place}", ",".join([*cells[:place], _other(cell), *cells[place + 1 :]])


def _leaves(document: Any, place: Place = ()) -> Iterator[Place]:
    """The places of all values that hold nothing further."""
    within = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    inner = list(within)
    for name, value in inner:
        yield from _leaves(value, (*place, name))
    if not inner and place:
        yield place


def _at(document: Any, place: Place) -> Any:
    for name in place:
        document = document[name]
    return document


def _with(document: Any, place: Place, *value: Any) -> Any:
    """A copy with another value at a place; without it where no value is given."""
    changed = copy.deepcopy(document)
    holder = _at(changed, place[:-1])
    if value:
        holder[place[-1]] = value[0]
    else:
        del holder[place[-1]]
    return changed


def _other(value: Any) -> Any:
    """A value of the same kind that says something else: the day after, the other answer, another last letter."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if not isinstance(value, str):
        return ["x"] if isinstance(value, list) else {"x": 1} if isinstance(value, dict) else 1
    if day := _DATE.match(value):
        return f"{date.fromisoformat(day[0]) + timedelta(days=1)}{value[10:]}"
    return value[:-1] + ("1" if value[-1] == "0" else "0") if value else "x"


def _spelt(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode("utf-8")


def _joined(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8")
