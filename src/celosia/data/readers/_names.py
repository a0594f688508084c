"""The names of the columns of a source: each there, each once; and which columns stay.

Knows headers. Ignores cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from celosia import messages
from celosia.data.limits import refuse_width
from celosia.data.sniffing import looks_like_data
from celosia.errors import BlankHeader, DuplicateHeader, GuessedDuplicateHeader, NothingChosen
from celosia.model.schema import Schema
from celosia.model.sources import Notice, ReadingChoices

_HIDDEN = "…"  # a header that looks like somebody's data is not repeated in an error


def numbered(width: int) -> tuple[str, ...]:
    """Names by position, for sources without a header."""
    return tuple(messages.text("reading.column", position=str(i)) for i in range(1, width + 1))


def settled(raw: Sequence[str], choices: ReadingChoices) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """The column names without surrounding blanks or line ends; blanks and repetitions refused or renamed."""
    refuse_width(len(raw))
    names = tuple(" ".join(name.split()) for name in raw)
    notices: tuple[Notice, ...] = ()
    if choices.rename_duplicates:
        renamed = _renamed(names)
        changed = sum(1 for old, new in zip(names, renamed, strict=True) if old != new)
        names = renamed
        notices = (Notice.of("renamed", count=changed),) if changed else ()
    _refuse_blank(names)
    _refuse_repeated(names, guessed="header" in choices.guessed)
    return names, notices + _collisions(names)


def _refuse_blank(names: Sequence[str]) -> None:
    blank = [str(position) for position, name in enumerate(names, 1) if not name]
    if blank:
        raise BlankHeader(positions=", ".join(blank))


def _refuse_repeated(names: Sequence[str], guessed: bool) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        positions = ", ".join(str(i) for i, other in enumerate(names, 1) if other == name)
        if guessed:  # nobody said that it is a header: it may be a person's row
            raise GuessedDuplicateHeader(positions=positions)
        hidden = any(looks_like_data(other) for other in names)
        raise DuplicateHeader(variable=_HIDDEN if hidden else name, positions=positions)


def _renamed(names: Sequence[str]) -> tuple[str, ...]:
    taken = set(names)
    seen: set[str] = set()
    result = []
    for position, name in enumerate(names, 1):
        chosen = name or messages.text("reading.column", position=str(position))
        number = 2
        while chosen in seen or (chosen != name and chosen in taken):
            chosen = f"{name or chosen}_{number}"
            number += 1
        seen.add(chosen)
        result.append(chosen)
    return tuple(result)


def _collisions(names: Sequence[str]) -> tuple[Notice, ...]:
    folded = Counter(name.casefold() for name in names)
    alike = [name for name in names if folded[name.casefold()] > 1]
    return (Notice.of("case_collision", variables=", ".join(alike)),) if alike else ()


def kept_positions(names: Sequence[str], dropped: Sequence[str]) -> tuple[int, ...]:
    """Positions of the columns that stay; a dropped name that does not exist is an error."""
    schema = Schema(tuple(names))
    gone = {schema.position(name) for name in dropped}
    kept = tuple(i for i in range(len(names)) if i not in gone)
    if not kept:
        raise NothingChosen(option="drop")
    return kept
