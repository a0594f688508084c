"""Edits of the annotated dictionary, line by line or many at once; exceptions with their reason; who is a person.

Knows the fields that a person may change and the words each accepts. Ignores cells. An edit says on which state of the
file it was made and is refused on any other; the journal names fields and counts.
Source: MINSAL Implementación 3; ATENEA guide 4.2.2–4.2.3; MEL protocol IV.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import tomlkit
from tomlkit import TOMLDocument

from celosia import messages
from celosia.model import dictionary
from celosia.model.exceptions import with_reason, without_reason
from celosia.model.protocols import Rule
from celosia.model.schema import Schema
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Kind, MelLabel, Role, Scale, Traits, Treatment, Variable
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.edits import edit_settings, put_in_unit, read_settings, remove_from_unit, write_settings
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_editing, open_project, refuse_edited
from celosia.protocols.load import combined_rules
from celosia.storage import atomic_write
from celosia.workbench.errors import NotExcepted, ReasonNeeded
from celosia.workbench.views.dictionary import DictionaryEdit, cancelled_approvals

ENUMS: Mapping[str, type[StrEnum]] = {
    "role": Role,
    "scale": Scale,
    "kind": Kind,
    "mel_label": MelLabel,
    "treatment": Treatment,
}
TRAITS = tuple(field.name for field in fields(Traits))
FLAGS = ("strong", "special")
TEXTS = ("purpose", "label")
LISTS = ("missing", "unknown")
EDITABLE = (*ENUMS, *TRAITS, *FLAGS, *TEXTS, *LISTS)
COVERED = ("dictionary", "plan", "residual")  # approvals that a change of the dictionary cancels
_LONGEST = 2_000  # characters of a text; a dictionary is read by people
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")  # no file of text holds half a character


# --- lines of the dictionary ----------------------------------------------------------------------


def edit_dictionary(
    source: ProjectArg,
    changes: Mapping[str, Mapping[str, Any]],
    *,
    expected: str | None = None,
    why: str = "",
    now: datetime | None = None,
) -> DictionaryEdit:
    """Change fields of some lines: variable → {field: value}, values by their id; give what was changed."""
    project = open_project(source)
    with open_for_editing(project, project.paths.dictionary, expected) as current:
        return _edit_lines(current, changes, expected, why, utc_now(now))


def _edit_lines(
    project: Project, changes: Mapping[str, Mapping[str, Any]], expected: str | None, why: str, now: datetime
) -> DictionaryEdit:
    path = project.paths.dictionary
    before = project.variables
    schema = Schema(tuple(variable.name for variable in before))
    for name in schema.checked_names(changes, "changes"):
        for field in changes[name]:
            if field not in EDITABLE:
                raise ValueOutOfRange(parameter="field", given=field, allowed=", ".join(EDITABLE))
    after = [edit_variable(variable, changes.get(variable.name, {})) for variable in before]
    touched = _changed_fields(before, after)
    if not touched:
        return DictionaryEdit(0, (), digest_of_file(path))
    approved = current_approvals(project)
    with messages.speaking(project.config.language), atomic_write(path, 0o644) as draft:
        # The words of the file stay in the project's language.
        draft.write_text(dictionary.dump(after), "utf-8", newline="\n")
        refuse_edited(path, expected)  # a text editor takes no lock
    lines = sum(old != new for old, new in zip(before, after, strict=True))
    _journal.append_entry(
        project.paths.journal, "dictionary", now, {"changed": lines, "fields": list(touched)}, why=why
    )
    return DictionaryEdit(
        lines, touched, digest_of_file(path), cancelled_approvals(approved, current_approvals(project.reread()))
    )


def edit_variable(variable: Variable, changes: Mapping[str, Any]) -> Variable:
    """A line with some of its fields changed; nothing is written."""
    values = {field: _read_field(field, given) for field, given in changes.items()}
    answers = {field: values.pop(field) for field in TRAITS if field in values}
    return replace(variable, **values, traits=replace(variable.traits, **answers))


def current_approvals(project: Project) -> tuple[str, ...]:
    """What is approved now and covers the dictionary."""
    if not project.paths.approvals.is_file():
        return ()
    from celosia.pipeline.candidate.approvals import valid_approvals

    return tuple(what for what in COVERED if valid_approvals(project, what))


def _changed_fields(before: Sequence[Variable], after: Sequence[Variable]) -> tuple[str, ...]:
    """The fields in which two states of the dictionary differ, in the order in which they are declared."""
    pairs = list(zip(before, after, strict=True))
    return tuple(
        field for field in EDITABLE if any(_field_value(old, field) != _field_value(new, field) for old, new in pairs)
    )


def _field_value(variable: Variable, field: str) -> Any:
    return getattr(variable.traits if field in TRAITS else variable, field)


def _read_field(field: str, given: Any) -> Any:
    """What a field would hold, in its own type."""
    if field in ENUMS:
        return _read_enum(field, given)
    if field in TRAITS or field in FLAGS:
        return _read_answer(field, given, (True, False, None) if field in TRAITS else (True, False))
    return _read_codes(field, given) if field in LISTS else _read_text(field, given)


def _read_enum(field: str, given: Any) -> StrEnum | None:
    if given in ("", None):
        return None
    known = [member.value for member in ENUMS[field]]
    if given not in known:
        raise ValueOutOfRange(parameter=field, given=given, allowed=", ".join(known))
    return ENUMS[field](given)


def _read_answer(field: str, given: Any, allowed: Sequence[bool | None]) -> bool | None:
    if not any(given is value for value in allowed):
        raise ValueOutOfRange(parameter=field, given=given, allowed=", ".join(str(value).lower() for value in allowed))
    return given


def _read_text(field: str, given: Any) -> str:
    if not isinstance(given, str) or len(given) > _LONGEST or _UNWRITABLE.search(given):
        allowed = messages.text("dictionary.allowed.text", longest=_LONGEST)
        raise ValueOutOfRange(parameter=field, given=type(given).__name__, allowed=allowed)
    return " ".join(given.split())


def _read_codes(field: str, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        allowed = messages.text("dictionary.allowed.codes")
        raise ValueOutOfRange(parameter=field, given=type(given).__name__, allowed=allowed)
    return tuple(dict.fromkeys(filter(None, [_read_text(field, code) for code in given])))


# --- exceptions -----------------------------------------------------------------------------------


def except_variable(
    source: ProjectArg,
    variable: str,
    rule: str,
    reason: str,
    *,
    expected: str | None = None,
    now: datetime | None = None,
) -> str:
    """Let a variable depart from a rule (`mel.labels`, `minsal.free_text`…) for a written reason; the file's digest."""
    project = open_project(source)
    _refuse_unknown_variable(project, variable)
    excepting = _excepting_rule(project, rule)
    if not reason.strip():
        raise ReasonNeeded(variable=variable, rule=rule)
    with edit_settings(project, expected) as document:
        table = _override_table(document, excepting)
        asked = table.setdefault("asked", tomlkit.inline_table())
        asked["allowed"] = [*dict.fromkeys([*asked.get("allowed", ()), variable])]
        table["reason"] = tomlkit.string(with_reason(str(table.get("reason", "")), variable, reason), multiline=True)
    facts = {"variable": variable, "rule": rule}
    _journal.append_entry(project.paths.journal, "exception", utc_now(now), facts, why=" ".join(reason.split()))
    return digest_of_file(project.paths.settings)


def withdraw_exception(
    source: ProjectArg,
    variable: str,
    rule: str,
    *,
    expected: str | None = None,
    why: str = "",
    now: datetime | None = None,
) -> str:
    """Apply a rule to a variable again; give the digest of celosia.toml."""
    project = open_project(source)
    excepting = _excepting_rule(project, rule)
    with edit_settings(project, expected) as document:
        table = document.get("overrides", {}).get(excepting.protocol, {}).get(excepting.id, {})
        if variable not in table.get("asked", {}).get("allowed", ()):
            raise NotExcepted(variable=variable, rule=rule)
        _withdraw_from(document, table, excepting, variable)
    facts = {"variable": variable, "rule": rule}
    _journal.append_entry(project.paths.journal, "exception-withdrawn", utc_now(now), facts, why=why)
    return digest_of_file(project.paths.settings)


def excepting_rules(protocols: Sequence[str]) -> dict[str, Rule]:
    """The rules of some protocols that a variable may be excepted from, by `protocol.rule`."""
    return {f"{rule.protocol}.{rule.id}": rule for rule in combined_rules(protocols) if "allowed" in rule.asked}


def _excepting_rule(project: Project, rule: str) -> Rule:
    known = excepting_rules(project.config.protocols)
    if rule not in known:
        raise ValueOutOfRange(parameter="rule", given=rule, allowed=", ".join(known) or "–")
    return known[rule]


def _override_table(document: TOMLDocument, rule: Rule) -> Any:
    """The table of an override, made with its parents where it is absent."""
    rules = super_table(super_table(document, "overrides"), rule.protocol)
    rules.setdefault(rule.id, tomlkit.table())
    return document["overrides"][rule.protocol][rule.id]


def super_table(document: Any, name: str) -> Any:
    """A table of tables that is never written as a heading of its own; made where it is absent."""
    if name not in document:
        document[name] = tomlkit.table(is_super_table=True)
    return document[name]


def _withdraw_from(document: Any, table: Any, rule: Rule, variable: str) -> None:
    """Take a variable out of an override, and the override out of the file once it says nothing."""
    asked = table["asked"]
    others = [name for name in asked["allowed"] if name != variable]
    more = any(key != "allowed" for key in asked)
    if not others and not more:
        del document["overrides"][rule.protocol][rule.id]
        return
    asked["allowed"] = others
    reason = without_reason(str(table.get("reason", "")), variable, others, needed=more)
    table["reason"] = tomlkit.string(reason or str(table.get("reason", "")), multiline="\n" in reason)


# --- persons and households -----------------------------------------------------------------------


def choose_unit(
    source: ProjectArg,
    *,
    person: str | None = None,
    household: str | None = None,
    expected: str | None = None,
    why: str = "",
    now: datetime | None = None,
) -> str:
    """Say which column tells one person, or one household, from another; empty: none. The digest of celosia.toml."""
    project = open_project(source)
    chosen = {key: value for key, value in (("person", person), ("household", household)) if value is not None}
    for name in filter(None, chosen.values()):
        _refuse_unknown_variable(project, name)
    with open_for_editing(project, project.paths.settings, expected):
        document = read_settings(project)
        for key, value in chosen.items():
            document = put_in_unit(document, key, value) if value else remove_from_unit(document, key)
        write_settings(project, document, expected)
    if chosen:
        _journal.append_entry(project.paths.journal, "unit", utc_now(now), chosen, why=why)
    return digest_of_file(project.paths.settings)


def _refuse_unknown_variable(project: Project, name: str) -> None:
    Schema(project.names).position(name)
