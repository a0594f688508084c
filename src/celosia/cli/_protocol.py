"""`celosia protocol`: the norms made executable, each rule with its section, in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celosia import messages
from celosia.cli._shell import argument, group, json_option, verb
from celosia.cli._show import print_json, print_table, say
from celosia.model.protocols import Severity
from celosia.model.verdict import State

if TYPE_CHECKING:
    from celosia.model.protocols import Protocol
    from celosia.model.rules import RuleReport, RuleResult


def command() -> click.Command:
    """The group of verbs."""
    return group(
        "protocol",
        [
            verb("list", listed, [json_option()], "protocol_list"),
            verb("show", show, [argument("protocol"), json_option()], "protocol_show"),
        ],
    )


def listed(as_json: bool) -> None:
    """Every protocol with its norm."""
    from celosia.protocols import IDS, load

    protocols = [load(identifier) for identifier in IDS]
    if as_json:
        print_json({"format": "celosia/protocols/1", "protocols": [_told(one) for one in protocols]})
        return
    rows = [[one.id, _title(one.id), str(len(one.rules)), one.source] for one in protocols]
    print_table(messages.text("protocols.show.list"), _header("protocol", "title", "rules", "norm"), rows, right=(2,))


def show(protocol: str, as_json: bool) -> None:
    """One protocol: rules, steps, roles, documents."""
    from celosia.protocols import PROTOCOL_FORMAT, load, norm_of

    found = load(protocol)
    if as_json:
        print_json({"format": PROTOCOL_FORMAT, **_told(found)})
        return
    say("protocols.show.source", source=found.source)
    if found.base:
        say("protocols.show.base", base=found.base)
    say("protocols.show.roles", roles=", ".join(_role(one) for one in found.roles))
    _show_rules(found)
    if norm_of(found.id) == "minsal":
        colours = {colour: messages.text(f"protocols.level.{colour}") for colour in ("red", "amber", "green")}
        say("protocols.show.levels", **colours)
    _show_gates(found)
    _show_documents(found)


def show_rules(report: RuleReport, title: str = "") -> None:
    """The verdict, rule by rule: section, asked, measured, holds; then what was overridden and why."""
    from celosia.protocols import asked_text, measured_text

    rows = [
        [
            f"{one.protocol} · {messages.text(f'protocols.short.{one.rule}')}",
            one.section,
            asked_text(one) + (" *" if one.overridden else ""),
            measured_text(one),
            _state(one),
        ]
        for one in report.results
    ]
    header = _header("rule", "section", "asked", "measured", "state")
    print_table(title or messages.text("protocols.verdict_title"), header, rows)
    for one in report.results:
        if one.overridden:
            say(
                "protocols.overridden",
                rule=messages.text(f"protocols.short.{one.rule}"),
                protocol=one.protocol,
                reason=one.overridden,
            )


def _state(result: RuleResult) -> str:
    """The result in a word; advice that does not hold says that it is advice."""
    word = messages.text(f"plan.state_words.{result.state}")
    advice = result.severity is Severity.SHOULD and result.state not in (State.HOLDS, State.ATTESTED)
    return f"{word} ({messages.text('protocols.severity.should')})" if advice else word


def _told(protocol: Protocol) -> dict[str, object]:
    """A protocol as data with the sentence of each rule in both languages."""
    from celosia.protocols import sentence_of

    document = protocol.as_dict()
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            document[f"title_{language}"] = _title(protocol.id)
            for data, rule in zip(document["rules"], protocol.rules, strict=True):
                data[f"sentence_{language}"] = sentence_of(rule)
    return document


def _show_rules(protocol: Protocol) -> None:
    from celosia.protocols import asked_text, sentence_of

    rows = [
        [
            rule.id,
            rule.section,
            sentence_of(rule),
            asked_text(rule),
            messages.text(f"protocols.severity.{rule.severity}"),
        ]
        for rule in protocol.rules
    ]
    title = messages.text("protocols.show.rules", title=_title(protocol.id))
    print_table(title, _header("rule", "section", "sentence", "asked", "severity"), rows)


def _show_gates(protocol: Protocol) -> None:
    rows = [
        [gate.id, messages.text(f"protocols.gate.{gate.id}"), ", ".join(_role(one) for one in gate.roles), gate.section]
        for gate in protocol.gates
    ]
    print_table(messages.text("protocols.show.gates"), _header("gate", "what", "roles", "section"), rows)


def _show_documents(protocol: Protocol) -> None:
    rows = [
        [
            messages.text(f"protocols.document.{one.id}"),
            messages.text(f"protocols.audience.{one.audience}"),
            ", ".join(one.formats),
            one.section,
        ]
        for one in protocol.documents
    ]
    header = _header("document", "audience", "formats", "section")
    print_table(messages.text("protocols.show.documents"), header, rows)


def _header(*names: str) -> list[str]:
    return [messages.text(f"protocols.header.{name}") for name in names]


def _title(identifier: str) -> str:
    return messages.text(f"protocols.title.{identifier}")


def _role(identifier: str) -> str:
    return messages.text(f"protocols.role.{identifier}")
