"""From the reviewed data files to protocols, each checked when it is read; profiles over their base; overrides.

Knows the files beside it and the sentences of both catalogues. Ignores projects and data. A rule that names an unknown
measure, has no section or lacks its sentence stops the reading: nobody could judge or explain it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from celosia import messages
from celosia.model.errors import UnknownFormat
from celosia.model.protocols import FormDocument, Gate, Needs, Protocol, Rule, Severity
from celosia.protocols.errors import (
    OverrideElsewhere,
    OverrideNotPossible,
    OverrideUnexplained,
    OverrideUnknown,
    ProtocolDamaged,
    UnknownProtocol,
)
from celosia.protocols.measures import MEASURES

PROTOCOL_FORMAT = "celosia/protocol/1"
IDS = ("minsal", "minsal-sensible", "atenea", "mel", "yapo", "ley21719")
_FOLDER = Path(__file__).parent
_NONE: Mapping[str, Any] = MappingProxyType({})


@cache
def load(identifier: str) -> Protocol:
    """A protocol by its id, as the norm has it."""
    if identifier not in IDS:
        raise UnknownProtocol(protocol=identifier, known=", ".join(IDS))
    name = identifier.replace("-", "_") + ".toml"
    return protocol_from(tomllib.loads((_FOLDER / name).read_text("utf-8")), name)


def combined_rules(protocols: Sequence[str], overrides: Mapping[str, Any] = _NONE) -> tuple[Rule, ...]:
    """Every rule of every protocol, once, with what the project overrides and why; all of them must pass (X28)."""
    rules = {(rule.protocol, rule.id): rule for name in protocols for rule in load(name).rules}
    for name, changes in overrides.items():
        if name not in {*protocols, *(norm_of(protocol) for protocol in protocols)}:
            raise OverrideElsewhere(protocol=name, named=", ".join(protocols) or "–")
        for identifier, change in changes.items():
            rule = _find_rule(name, identifier, tuple(rules.values()), change)
            rules[rule.protocol, rule.id] = _override(rule, change)
    return tuple(rules.values())


def norm_of(identifier: str) -> str:
    """The norm behind a protocol: a profile's base, or itself."""
    return load(identifier).base or identifier


def strictest_minimum(rules: Sequence[Rule], name: str) -> tuple[int, str]:
    """The most that the compulsory rules ask of `k` or `l`, and the protocol that asks it; 0 when none does."""
    demands = [(_smallest_value(rule, name), rule.protocol) for rule in rules if rule.severity is Severity.MUST]
    return max(demands, key=lambda demand: demand[0], default=(0, ""))


def smallest_class(threshold: Fraction) -> int:
    """The fewest units whose RI = 1/f stays below a threshold: 0.3 asks for 4 (X10)."""
    return threshold.denominator // threshold.numerator + 1


def _smallest_value(rule: Rule, name: str) -> int:
    if rule.measure == "risk_index" and name == "k":
        return smallest_class(Fraction(rule.asked["threshold"]))
    return int(rule.asked[name]) if rule.measure == name else 0


# --- reading --------------------------------------------------------------------------------------


def protocol_from(document: Mapping[str, Any], path: str) -> Protocol:
    """A protocol from its data, after checking every rule; a profile completes it from its base."""
    if (form := str(document.get("format"))) != PROTOCOL_FORMAT:
        raise UnknownFormat(path=path, found=form, expected=PROTOCOL_FORMAT)
    base = load(document["base"]) if document.get("base") else None
    own = tuple(_rule(data, str(document["id"]), path) for data in document.get("rules", ()))
    read = Protocol(
        id=str(document["id"]),
        source=document.get("source") or (base.source if base else ""),
        rules=_override_rules(own, base.rules if base else ()),
        gates=tuple(_gate(data, path) for data in document.get("gates", ())) or (base.gates if base else ()),
        roles=tuple(document.get("roles", ())) or (base.roles if base else ()),
        documents=tuple(_document(data, path) for data in document.get("documents", ()))
        or (base.documents if base else ()),
        base=document.get("base"),
    )
    _refuse_unexplained(read, path)
    return read


def _override_rules(own: Sequence[Rule], base: Sequence[Rule]) -> tuple[Rule, ...]:
    """A profile's rules in the place of those they tighten."""
    new = {rule.id: rule for rule in own}
    tightened = [new.pop(rule.id, rule) for rule in base]
    return (*tightened, *new.values())


def _rule(data: Mapping[str, Any], protocol: str, path: str) -> Rule:
    identifier, measure = str(data.get("id", "?")), str(data.get("measure"))
    asked = {key: tuple(value) if isinstance(value, list) else value for key, value in data.get("asked", {}).items()}
    if measure not in MEASURES:
        raise ProtocolDamaged(path=path, part=identifier, reason=messages.text("protocols.damaged.measure"))
    if not MEASURES[measure].accepts(asked):
        raise ProtocolDamaged(path=path, part=identifier, reason=messages.text("protocols.damaged.asked"))
    _refuse_no_section(data, path)
    return Rule(
        id=identifier,
        protocol=protocol,
        section=data["section"],
        measure=measure,
        needs=Needs(data["needs"]),
        asked=MappingProxyType(asked),
        severity=Severity(data.get("severity", "must")),
        requirement=tuple(data.get("requirement", ())),
    )


def _gate(data: Mapping[str, Any], path: str) -> Gate:
    _refuse_no_section(data, path)
    return Gate(data["id"], data["section"], tuple(data.get("roles", ())))


def _document(data: Mapping[str, Any], path: str) -> FormDocument:
    _refuse_no_section(data, path)
    return FormDocument(data["id"], data["section"], data["audience"], tuple(data["formats"]))


def _refuse_no_section(data: Mapping[str, Any], path: str) -> None:
    if not str(data.get("section", "")).strip():
        reason = messages.text("protocols.damaged.section")
        raise ProtocolDamaged(path=path, part=str(data.get("id", "?")), reason=reason)


def _refuse_unexplained(protocol: Protocol, path: str) -> None:
    """Every part is explained in both languages, or the protocol is not read at all."""
    needed = [f"title.{protocol.id}", *(f"rule.{rule.protocol}.{rule.id}" for rule in protocol.rules)]
    needed += [f"gate.{gate.id}" for gate in protocol.gates] + [f"role.{role}" for role in protocol.roles]
    needed += [f"document.{document.id}" for document in protocol.documents]
    for language in messages.LANGUAGES:
        known = messages.section(language, "protocols")
        for key in needed:
            if not known.get(key, "").strip():
                reason = messages.text("protocols.damaged.sentence", missing=f"protocols.{key}", language=language)
                raise ProtocolDamaged(path=path, part=key.rpartition(".")[2], reason=reason)


# --- overrides ------------------------------------------------------------------------------------


def _find_rule(protocol: str, identifier: str, rules: Sequence[Rule], change: Mapping[str, Any]) -> Rule:
    """The rule a project means: of the protocol itself, of the norm behind the profile, or of a profile of it.

    What a project asks of the norm never loosens a profile, which the answers of a request may bring in later.
    """
    owners = (norm_of(protocol), protocol)
    known = {rule.id: rule for owner in owners for rule in rules if rule.protocol == owner}
    tightened = {rule.id: rule for rule in rules if load(rule.protocol).base == protocol and _asks_more(change, rule)}
    if identifier not in {**tightened, **known}:
        raise OverrideUnknown(protocol=protocol, rule=identifier, known=", ".join(known))
    return {**tightened, **known}[identifier]


def _asks_more(change: Mapping[str, Any], rule: Rule) -> bool:
    asked = change.get("asked", {})
    return set(asked) == {"k"} == set(rule.asked) and type(asked["k"]) is int and asked["k"] >= rule.asked["k"]


def _override(rule: Rule, change: Mapping[str, Any]) -> Rule:
    """The rule as the project asks it; without a written reason, or beyond what may be changed, it is refused."""
    reason, asked = str(change.get("reason", "")).strip(), dict(change.get("asked", {}))
    if not reason:
        raise OverrideUnexplained(protocol=rule.protocol, rule=rule.id)
    thresholds = MEASURES[rule.measure].thresholds
    for key, value in asked.items() or [("", None)]:
        if key not in thresholds or not thresholds[key].accepts(value):
            raise OverrideNotPossible(protocol=rule.protocol, rule=rule.id, allowed=", ".join(thresholds) or "–")
    changed = {key: tuple(value) if isinstance(value, list) else value for key, value in asked.items()}
    return replace(rule, asked=MappingProxyType({**rule.asked, **changed}), overridden=reason)
