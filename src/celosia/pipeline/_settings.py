"""What each key of celosia.toml may hold, declared once; the commands' own settings are read by the same lines.

Knows kinds and ranges. Ignores what the settings mean, and which variables exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.errors import ValueOutOfRange, WrongSetting
from celosia.model.plan import MEANS, METHODS, METRICS
from celosia.model.project import PROTOCOLS, memory_bytes
from celosia.model.scenarios import exact_threshold

_LARGEST_WEIGHT = 10**6


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of value: the catalogue's words for it, its choices, and whether a value is of the kind."""

    words: str
    fits: Callable[[Any], bool]
    options: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """What is accepted, in the current language."""
        return messages.text(f"plan.expected.{self.words}", options=", ".join(self.options))


def exact_share(value: Any) -> Fraction | None:
    """A share 0..1 exactly as written: 0.05 is 1/20; None when it is not one."""
    try:
        share = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None
    return share if 0 <= share <= 1 else None


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, Mapping) for one in value)


def _weights(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_number(one) and 0 <= one <= _LARGEST_WEIGHT for one in value.values())


def _scenario(value: Any) -> bool:
    return isinstance(value, Mapping) and "variables" in value


def _levels(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_whole(one) for one in value.values())


def _categories(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_texts(one) for one in value.values())


def _choice(*options: str) -> Setting:
    return Setting("choice", lambda value: isinstance(value, str) and value in options, options)


_FLAG = Setting("flag", lambda value: isinstance(value, bool))
_WHOLE = Setting("whole", _whole)
_TEXT = Setting("text", lambda value: isinstance(value, str))
_TEXTS = Setting("texts", _texts)
_TABLE = Setting("table", lambda value: isinstance(value, Mapping))
_TABLES = Setting("tables", _tables)

POLICY: Mapping[str, Setting] = {
    "criteria": Setting("criteria", _tables),
    "limit": Setting("share", lambda value: exact_share(value) is not None),
    "method": _choice(*METHODS),
    "order": _TEXTS,
    "metric": _choice(*METRICS),
    "mean": _choice(*MEANS),
    "weights": Setting("weights", _weights),
    "mask_sensitive": _FLAG,
    "suppressed": _choice("keep", "drop"),
    "reading": _choice("own", "wildcard"),
    "partition": _TEXT,
    "time_limit": Setting("seconds", lambda value: _number(value) and value > 0),
}
_READING: Mapping[str, Setting] = {
    **dict.fromkeys(("format", "encoding", "delimiter", "quote", "decimal", "sheet"), _TEXT),
    **dict.fromkeys(("header", "rename_duplicates"), _FLAG),
    **dict.fromkeys(("dropped", "guessed"), _TEXTS),
    "notes": _TABLES,
}
SCENARIO: Mapping[str, Setting] = {
    "variables": _TEXTS,
    "threshold": Setting("threshold", lambda value: exact_threshold(value) is not None),
    "levels": Setting("levels", _levels),
    "categories": Setting("categories", _categories),
}
# `*` stands for any name, `#` for any place in a list; a table whose keys are all listed refuses any other key.
PROJECT: Mapping[str, Setting] = {
    **dict.fromkeys(("name", "language", "source.name", "source.digest"), _TEXT),
    "engine": _TEXT,
    "memory": Setting("memory", lambda value: isinstance(value, str) and memory_bytes(value) is not None),
    "protocols": Setting("protocols", lambda value: _texts(value) and set(value) <= set(PROTOCOLS), PROTOCOLS),
    **dict.fromkeys(("source", "source.reading", "unit", "policy", "hierarchies", "hierarchies.*"), _TABLE),
    **dict.fromkeys(("overrides", "overrides.*", "overrides.*.*", "overrides.*.*.asked"), _TABLE),
    "overrides.*.*.reason": _TEXT,
    **dict.fromkeys(("source.rows", "source.columns"), _WHOLE),
    **{f"source.reading.{key}": kind for key, kind in _READING.items()},
    **dict.fromkeys(("unit.person", "unit.household"), _TEXT),
    "steps": Setting("tables", _tables),
    **{f"policy.{key}": kind for key, kind in POLICY.items()},
    **dict.fromkeys(("hierarchies.*.minimum", "hierarchies.*.maximum"), _WHOLE),
    **dict.fromkeys(("hierarchies.*.file", "hierarchies.*.builder"), _TEXT),
    "scenarios": _TABLES,
    "scenarios.#": Setting("scenario", _scenario),
    **{f"scenarios.#.{key}": kind for key, kind in SCENARIO.items()},
}
_NEEDED = ("name", "language", "protocols", "source", "source.name", "source.digest", "source.rows", "source.columns",
           "source.reading", "source.reading.format")  # fmt: skip
_CLOSED = {"policy": POLICY, "unit": ("person", "household"), "source.reading": _READING,
           "scenarios.#": SCENARIO, "overrides.*.*": ("asked", "reason")}  # fmt: skip


def refuse_wrong_settings(
    document: Mapping[str, Any], path: str, kinds: Mapping[str, Setting] = PROJECT, needed: Sequence[str] = _NEEDED,
    closed: Mapping[str, Collection[str]] = _CLOSED,
) -> None:  # fmt: skip
    """Stop at the first key of a project's file that is missing, unknown or of another kind, by its name."""
    for pattern in kinds:
        found = list(_at(document, pattern.split(".")))
        if not found and pattern in needed:
            raise WrongSetting(path=path, setting=pattern, expected=kinds[pattern].expected)
        for key, value in found:
            if not kinds[pattern].fits(value):
                raise WrongSetting(path=path, setting=key, expected=kinds[pattern].expected)
            _refuse_unknown_key(key, value, path, closed.get(pattern))


def refuse_wrong_request(asked: Mapping[str, Any]) -> None:
    """The same for what a command or a call asks for; it has no file to name."""
    for key, value in asked.items():
        if key not in POLICY:
            raise ValueOutOfRange(parameter="policy", given=key, allowed=", ".join(POLICY))
        if not POLICY[key].fits(value):
            raise ValueOutOfRange(parameter=key, given=value, allowed=POLICY[key].expected)


def _refuse_unknown_key(key: str, value: Any, path: str, known: Collection[str] | None) -> None:
    for name in value if known is not None else ():
        if known is not None and name not in known:
            expected = messages.text("plan.expected.key", options=", ".join(known))
            raise WrongSetting(path=path, setting=f"{key}.{name}", expected=expected)


def _at(document: Any, steps: Sequence[str], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that a pattern reaches, with its full key; tables above are checked by their own lines."""
    if steps[0] == "#" and isinstance(document, list | tuple):
        document = {str(place): one for place, one in enumerate(document, start=1)}
    if not isinstance(document, Mapping):
        return
    for name in document if steps[0] in ("*", "#") else [steps[0]] if steps[0] in document else []:
        key = f"{before}{name}"
        if len(steps) == 1:
            yield key, document[name]
        else:
            yield from _at(document[name], steps[1:], f"{key}.")
