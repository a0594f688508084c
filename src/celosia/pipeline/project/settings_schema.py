"""What each key of celosia.toml may hold, declared once; the commands' own settings are read by the same lines.

Knows kinds and ranges. Ignores what the settings mean, and which variables exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.model.parameters import Custom, Flag, Many, Parameter, Text, Whole
from celosia.model.plan import MEANS, METHODS, METRICS
from celosia.model.project import PROTOCOLS, memory_bytes
from celosia.model.reports.scenarios import exact_threshold
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project.errors import WrongSetting

_LARGEST_WEIGHT = 10**6


def exact_share(value: Any) -> Fraction | None:
    """A share 0..1 exactly as written: 0.05 is 1/20; None when it is not one."""
    try:
        share = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None
    return share if 0 <= share <= 1 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_weight(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= _LARGEST_WEIGHT


def table_of(accepts: Callable[[Any], bool], wording: str) -> Custom:
    """A table whose values are all of one kind."""
    return Custom(lambda value: isinstance(value, Mapping) and all(map(accepts, value.values())), wording=wording)


FLAG, TEXT, TEXTS = Flag(), Text(), Many(Text())
_WHOLE = Whole(minimum=0)
TABLE = Custom(lambda value: isinstance(value, Mapping), wording="table")
TABLES = Many(TABLE, wording="tables")

POLICY: Mapping[str, Parameter] = {
    "criteria": Many(TABLE, wording="criteria"),
    "limit": Custom(lambda value: exact_share(value) is not None, wording="share"),
    "method": Text(choices=METHODS),
    "order": TEXTS,
    "metric": Text(choices=METRICS),
    "mean": Text(choices=MEANS),
    "weights": table_of(_is_weight, "weights"),
    "mask_sensitive": FLAG,
    "suppressed": Text(choices=("keep", "drop")),
    "reading": Text(choices=("own", "wildcard")),
    "partition": TEXT,
    "time_limit": Custom(lambda value: _is_number(value) and value > 0, wording="seconds"),
}
_READING: Mapping[str, Parameter] = {
    **dict.fromkeys(("format", "encoding", "delimiter", "quote", "decimal", "sheet"), TEXT),
    **dict.fromkeys(("header", "rename_duplicates"), FLAG),
    **dict.fromkeys(("dropped", "guessed"), TEXTS),
    "notes": TABLES,
}
SCENARIO: Mapping[str, Parameter] = {
    "variables": TEXTS,
    "threshold": Custom(lambda value: exact_threshold(value) is not None, wording="threshold"),
    "levels": table_of(_WHOLE.accepts, "levels"),
    "categories": table_of(TEXTS.accepts, "categories"),
}
# `*` stands for any name, `#` for any place in a list; a table whose keys are all listed refuses any other key.
PROJECT: Mapping[str, Parameter] = {
    **dict.fromkeys(("name", "language", "source.name", "source.digest"), TEXT),
    "engine": TEXT,
    "memory": Custom(lambda value: isinstance(value, str) and memory_bytes(value) is not None, wording="memory"),
    "protocols": Many(Text(choices=PROTOCOLS), wording="protocols"),
    **dict.fromkeys(("source", "source.reading", "unit", "policy", "hierarchies", "hierarchies.*"), TABLE),
    **dict.fromkeys(("overrides", "overrides.*", "overrides.*.*", "overrides.*.*.asked"), TABLE),
    "overrides.*.*.reason": TEXT,
    **dict.fromkeys(("source.rows", "source.columns"), _WHOLE),
    **{f"source.reading.{key}": kind for key, kind in _READING.items()},
    **dict.fromkeys(("unit.person", "unit.household"), TEXT),
    "steps": TABLES,
    **{f"policy.{key}": kind for key, kind in POLICY.items()},
    **dict.fromkeys(("hierarchies.*.minimum", "hierarchies.*.maximum"), _WHOLE),
    **dict.fromkeys(("hierarchies.*.file", "hierarchies.*.builder"), TEXT),
    "legal": TABLE,
    "legal.trust": TEXT,  # the file or folder of the authorities behind legal signatures and time stamps
    "scenarios": TABLES,
    "scenarios.#": Custom(lambda value: isinstance(value, Mapping) and "variables" in value, wording="scenario"),
    **{f"scenarios.#.{key}": kind for key, kind in SCENARIO.items()},
}
_NEEDED = (
    "name",
    "language",
    "protocols",
    "source",
    "source.name",
    "source.digest",
    "source.rows",
    "source.columns",
    "source.reading",
    "source.reading.format",
)
_CLOSED = {
    "policy": POLICY,
    "unit": ("person", "household"),
    "legal": ("trust",),
    "source.reading": _READING,
    "scenarios.#": SCENARIO,
    "overrides.*.*": ("asked", "reason"),
}


def refuse_wrong_settings(
    document: Mapping[str, Any],
    path: str,
    kinds: Mapping[str, Parameter] = PROJECT,
    needed: Sequence[str] = _NEEDED,
    closed: Mapping[str, Collection[str]] = _CLOSED,
) -> None:
    """Stop at the first key of a project's file that is missing, unknown or of another kind, by its name."""
    for pattern in kinds:
        reached = list(_values_at(document, pattern.split(".")))
        if not reached and pattern in needed:
            raise WrongSetting(path=path, setting=pattern, expected=kinds[pattern].expected_text)
        for key, value in reached:
            if not kinds[pattern].accepts(value):
                raise WrongSetting(path=path, setting=key, expected=kinds[pattern].expected_text)
            _refuse_unknown_key(key, value, path, closed.get(pattern))


def refuse_wrong_request(asked: Mapping[str, Any]) -> None:
    """The same for what a command or a call asks for; it has no file to name."""
    for key, value in asked.items():
        if key not in POLICY:
            raise ValueOutOfRange(parameter="policy", given=key, allowed=", ".join(POLICY))
        if not POLICY[key].accepts(value):
            raise ValueOutOfRange(parameter=key, given=value, allowed=POLICY[key].expected_text)


def _refuse_unknown_key(key: str, value: Any, path: str, known: Collection[str] | None) -> None:
    for name in value if known is not None else ():
        if known is not None and name not in known:
            expected = messages.text("plan.expected.key", options=", ".join(known))
            raise WrongSetting(path=path, setting=f"{key}.{name}", expected=expected)


def _values_at(document: Any, steps: Sequence[str], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that a pattern reaches, with its full key; tables above are checked by their own lines."""
    if steps[0] == "#" and isinstance(document, list | tuple):
        document = {str(place): item for place, item in enumerate(document, start=1)}
    if not isinstance(document, Mapping):
        return
    for name in document if steps[0] in ("*", "#") else [steps[0]] if steps[0] in document else []:
        key = f"{before}{name}"
        if len(steps) == 1:
            yield key, document[name]
        else:
            yield from _values_at(document[name], steps[1:], f"{key}.")
