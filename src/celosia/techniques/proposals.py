"""Which treatments suit a variable, from its role, scale, kind of information and the purpose of the data.

Knows the dictionary's line and a few facts of the column; never a cell. Proposes steps with their settings and the
reason of each; a person accepts, edits or drops them. The first one preserves most of what the declared use needs.
Source: ATENEA guide 4.2.4 (techniques by kind of identifier and use); MINSAL, Implementación; YAPÓ 2.2–2.5.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia import messages
from celosia.model.requests import Purpose
from celosia.model.variables import Kind, Role, Scale, Treatment, Variable

_NONE: Mapping[str, Any] = MappingProxyType({})
_NUMBERS = (Scale.CONTINUOUS, Scale.DISCRETE)
_BIRTH = re.compile(r"(^|[^a-z])f?(ec|echa)?[ _]?nac($|[^a-z]|im)|birth|dob($|[^a-z])")
_FEW = 5  # up to so many categories there is nothing to group: sex, yes and no
_HOUSEHOLD = re.compile(r"hogar|hog($|[^a-z])|viv($|[^a-z]|ienda)|household|(^|[^a-z])hh_?id")


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What is known of a column and its table besides the dictionary's line."""

    distinct: int | None = None  # values of the column
    household: bool = False  # declared to tie the rows of a household
    hierarchy: Mapping[str, Any] = field(default_factory=lambda: _NONE)  # the description proposed for its values
    quasi: tuple[str, ...] = ()  # the quasi-identifiers of the table
    coordinates: tuple[str, str] | None = None  # latitude and longitude, when it is one of them
    pseudonyms: bool = True  # whether the norms of the project allow them


@dataclass(frozen=True, slots=True)
class Proposal:
    """One treatment: a step, why, and what a person has still to fill in."""

    variable: str
    technique: str
    settings: Mapping[str, Any]
    reason: str  # a key of `techniques.proposal`
    needs: tuple[str, ...] = ()  # parameters that only a person can give
    optional: bool = False  # only where risk remains

    @property
    def sentence(self) -> str:
        """The reason in the current language."""
        return messages.text(f"techniques.proposal.{self.reason}")

    def step(self) -> dict[str, Any]:
        """The step as celosia.toml holds it."""
        return {"technique": self.technique, **self.settings}

    def as_dict(self) -> dict[str, Any]:
        """The proposal as data."""
        return {
            "step": self.step(),
            "reason": self.reason,
            "sentence": self.sentence,
            "needs": list(self.needs),
            "optional": self.optional,
        }


def propose(
    variable: Variable, facts: ColumnFacts | None = None, purposes: Sequence[Purpose | str] = ()
) -> tuple[Proposal, ...]:
    """Treatments for a variable, the one that suits the purposes best first; none where it may stay as it is."""
    known, uses = facts or ColumnFacts(), frozenset(Purpose(purpose) for purpose in purposes)
    plain = _plain_name(variable.name)
    if variable.role is Role.IDENTIFIER or _is_household_key(variable, plain):
        return _for_identifier(variable, known, uses, plain)
    if variable.scale is Scale.FREE_TEXT:
        return (_remove(variable, "free_text"),)
    if variable.treatment is Treatment.REMOVE:
        return (_remove(variable, "to_be_removed"),)
    if variable.treatment is Treatment.KEEP and variable.role is not Role.PLAIN:
        return ()
    return _for_attribute(variable, known, uses, plain)


def _is_household_key(variable: Variable, plain: str) -> bool:
    """Whether a variable only ties the rows of a household, and nobody decided that it stays."""
    ties_rows = variable.kind is Kind.IDENTIFICATION and _HOUSEHOLD.search(plain) is not None
    return ties_rows and variable.treatment is not Treatment.KEEP


def _plain_name(name: str) -> str:
    folded = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))
    return "".join(letter for letter in folded.lower() if not unicodedata.combining(letter))


def _proposal(variable: Variable, technique: str, reason: str, *needs: str, **settings: Any) -> Proposal:
    optional = variable.role is Role.PLAIN
    return Proposal(variable.name, technique, {"columns": [variable.name], **settings}, reason, needs, optional)


def _remove(variable: Variable, reason: str) -> Proposal:
    return Proposal(variable.name, "remove_variables", {"columns": [variable.name]}, reason)


def _for_identifier(
    variable: Variable, facts: ColumnFacts, purposes: frozenset[Purpose], plain: str
) -> tuple[Proposal, ...]:
    removal = _remove(variable, "identifier")
    if facts.coordinates is not None:
        return (removal, _grid(variable, facts.coordinates))
    if facts.household or _HOUSEHOLD.search(plain):
        return (_proposal(variable, "renumber", "household"), removal)
    if Purpose.FOLLOW_UP in purposes and variable.kind is Kind.IDENTIFICATION:
        if facts.pseudonyms:
            return (_proposal(variable, "pseudonymise", "follow_up"), removal)
        return (_proposal(variable, "renumber", "same_person"), removal)
    return (removal,)


def _for_attribute(
    variable: Variable, facts: ColumnFacts, purposes: frozenset[Purpose], plain: str
) -> tuple[Proposal, ...]:
    if facts.household:
        return (_proposal(variable, "renumber", "household"), _remove(variable, "identifier"))
    if facts.coordinates is not None:
        return (_grid(variable, facts.coordinates), _remove(variable, "location"))
    if variable.scale is Scale.DATE:
        return _for_date(variable, facts, purposes, plain)
    if variable.scale in _NUMBERS:
        return _for_number(variable, facts, purposes)
    if variable.kind is Kind.LOCATION and variable.role is not Role.PLAIN:
        return _for_location(variable, facts, purposes)
    if variable.role is Role.SENSITIVE:
        return _for_sensitive_category(variable, facts)
    if variable.role is Role.QUASI:
        rare = _proposal(variable, "suppress_cells", "rare_values", k=3, mode="rare")
        return (*_grouping(variable, facts), rare, _proposal(variable, "pram", "pram", stay="0.8"))
    return ()


def _grid(variable: Variable, coordinates: tuple[str, str]) -> Proposal:
    latitude, longitude = coordinates
    return Proposal(variable.name, "grid", {"latitude": latitude, "longitude": longitude, "km": 10}, "coordinates")


def _for_date(variable: Variable, facts: ColumnFacts, purposes: frozenset[Purpose], plain: str) -> tuple[Proposal, ...]:
    form = facts.hierarchy.get("format")
    formats = {"formats": [form]} if form else {}
    year = _proposal(variable, "period", "date", unit="year", **formats)
    if _BIRTH.search(plain):
        return (_proposal(variable, "age", "birth", "at", width=10, **formats), year)
    unit = "month" if Purpose.TIME in purposes else "quarter"
    return (
        _proposal(variable, "period", "date_series" if Purpose.TIME in purposes else "date", unit=unit, **formats),
        year,
    )


def _for_number(variable: Variable, facts: ColumnFacts, purposes: frozenset[Purpose]) -> tuple[Proposal, ...]:
    if variable.role is Role.QUASI:
        first = [_intervals(variable, facts), _proposal(variable, "top_bottom", "extremes", top_quantile="0.99")]
        return tuple(first + ([_microaggregate(variable)] if Purpose.TOTALS in purposes else []))
    # Whole numbers stay whole; otherwise mean and variance are restored, which whole numbers do not allow.
    whole = variable.scale is Scale.DISCRETE
    digits = {"decimals": 0} if whole else {}
    noise = _proposal(variable, "noise", "noise", level="0.1", **({"whole": True} if whole else {"restore": True}))
    groups, rounding = _microaggregate(variable, **digits), _proposal(variable, "round", "round", base=5)
    if Purpose.DISTRIBUTION in purposes:
        return noise, _proposal(variable, "rank_swap", "rank_swap", percent="5"), groups, rounding
    if Purpose.COUNTS in purposes and Purpose.TOTALS not in purposes:
        return rounding, groups, noise
    return groups, noise, rounding


def _microaggregate(variable: Variable, **settings: Any) -> Proposal:
    return _proposal(variable, "microaggregate", "microaggregate", k=3, **settings)


def _intervals(variable: Variable, facts: ColumnFacts) -> Proposal:
    width = facts.hierarchy.get("width")
    if width is None:
        return _proposal(variable, "intervals", "intervals", "width")
    return _proposal(variable, "intervals", "intervals", width=width, whole=variable.scale is Scale.DISCRETE)


def _for_location(variable: Variable, facts: ColumnFacts, purposes: frozenset[Purpose]) -> tuple[Proposal, ...]:
    recode = _proposal(variable, "recode", "location", "map")
    digits = facts.hierarchy.get("steps") if facts.hierarchy.get("builder") == "mask" else None
    if not digits:
        return (recode, _proposal(variable, "suppress_cells", "rare_values", k=3, mode="rare"))
    keep = digits[-2] if Purpose.TERRITORY in purposes else digits[0]
    return (_proposal(variable, "mask", "territory", keep=keep, width=digits[-1]), recode)


def _for_sensitive_category(variable: Variable, facts: ColumnFacts) -> tuple[Proposal, ...]:
    quasi = [name for name in facts.quasi if name != variable.name]
    settings = {"columns": quasi, "sensitive": [variable.name], "l": 2}
    masked = Proposal(variable.name, "mask_sensitive", settings, "sensitive", () if quasi else ("columns",))
    return (masked, *_grouping(variable, facts), _proposal(variable, "pram", "pram", stay="0.8"))


def _grouping(variable: Variable, facts: ColumnFacts) -> tuple[Proposal, ...]:
    few = facts.distinct is not None and facts.distinct <= _FEW
    return () if few else (_proposal(variable, "recode", "categories", "map"),)


# Removal first, then what makes classes larger, then numbers, and what looks at the finished classes last.
_ORDER = """
remove_variables renumber pseudonymise grid age period mask recode intervals top_bottom microaggregate noise rank_swap
round pram suppress_cells mask_sensitive
""".split()

_ALONE = ("microaggregate",)  # several columns in one step are grouped by all of them
_GROWS = {"mask_sensitive": "sensitive"}  # the list that grows; `columns` elsewhere


def steps_toml(proposals: Sequence[Proposal]) -> str:
    """Accepted proposals as the [[steps]] of celosia.toml, in an order that works; equal treatments are one step."""
    steps: dict[str, tuple[Proposal, list[str], list[str]]] = {}
    # The sort is stable: variables keep their order.
    for proposal in sorted(proposals, key=lambda proposal: _ORDER.index(proposal.technique)):
        columns, shared = _split_settings(proposal)
        alone = proposal.variable if proposal.technique in _ALONE else ""
        key = json.dumps([proposal.technique, shared, proposal.needs, alone], default=str)
        _, names, reasons = steps.setdefault(key, (proposal, [], []))
        names += [name for name in columns if name not in names]
        reasons += [proposal.sentence] if proposal.sentence not in reasons else []
    return "\n\n".join(_step_toml(proposal, names, reasons) for proposal, names, reasons in steps.values())


def _split_settings(proposal: Proposal) -> tuple[list[str], dict[str, Any]]:
    """The columns that steps of the same settings may put together, and those settings."""
    key = _GROWS.get(proposal.technique, "columns")
    settings = dict(proposal.settings)
    return list(settings.pop(key, ())), settings


def _step_toml(proposal: Proposal, names: Sequence[str], reasons: Sequence[str]) -> str:
    key = _GROWS.get(proposal.technique, "columns")
    step = {name: names if name == key else value for name, value in proposal.step().items()}
    lines = [*(f"# {reason}" for reason in reasons), "[[steps]]"]
    lines += [f"{name} = {_toml(value)}" for name, value in step.items() if name not in proposal.needs]
    lines += [f"# {messages.text('techniques.proposal_needs', parameter=name)}" for name in proposal.needs]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    """A value as TOML writes it: a JSON text, list or number is one."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML takes no bare control character
