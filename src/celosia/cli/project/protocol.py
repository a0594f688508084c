"""`celosia protocol`: the norms as executable rules, each with its section, in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celosia import messages
from celosia.cli.project import crosswalk
from celosia.cli.shell import argument, build_command, build_group
from celosia.cli.show import labels, print_json, print_table, role_names, say
from celosia.model.protocols import Severity
from celosia.model.verdict import State

if TYPE_CHECKING:
    from celosia.model.protocols import Protocol
    from celosia.model.rules import RuleReport, RuleResult

_HEADER = "protocols.header"


def command() -> click.Command:
    """The group of commands."""
    list_command = build_command("list", list_protocols, [], "protocol_list")
    show_command = build_command("show", show, [argument("protocol")], "protocol_show")
    return build_group("protocol", [list_command, show_command, crosswalk.command()])


def list_protocols(as_json: bool) -> None:
    """Every protocol with its norm."""
    from celosia.protocols.load import IDS, load

    protocols = [load(identifier) for identifier in IDS]
    if as_json:
        print_json({"format": "celosia/protocols/1", "protocols": [_protocol_data(protocol) for protocol in protocols]})
        return
    rows = [[protocol.id, _title(protocol.id), str(len(protocol.rules)), protocol.source] for protocol in protocols]
    header = labels(_HEADER, "protocol", "title", "rules", "norm")
    print_table(messages.text("protocols.show.list"), header, rows, right=(2,))


def show(protocol: str, as_json: bool) -> None:
    """One protocol: rules, steps, roles, documents."""
    from celosia.protocols.load import PROTOCOL_FORMAT, load, norm_of

    loaded = load(protocol)
    if as_json:
        print_json({"format": PROTOCOL_FORMAT, **_protocol_data(loaded)})
        return
    say("protocols.show.source", source=loaded.source)
    if loaded.base:
        say("protocols.show.base", base=loaded.base)
    say("protocols.show.roles", roles=role_names(loaded.roles))
    _show_rules(loaded)
    if norm_of(loaded.id) == "minsal":
        colours = {colour: messages.text(f"protocols.level.{colour}") for colour in ("red", "amber", "green")}
        say("protocols.show.levels", **colours)
    _show_gates(loaded)
    _show_documents(loaded)


def show_rules(report: RuleReport, title: str = "") -> None:
    """The verdict, rule by rule: section, asked, measured, holds; then what was overridden and why."""
    from celosia.protocols.words import asked_text, measured_text

    rows, overridden = [], []
    for result in report.results:
        rule = messages.text(f"protocols.short.{result.rule}")
        asked = asked_text(result) + (" *" if result.overridden else "")
        rows.append([f"{result.protocol} · {rule}", result.section, asked, measured_text(result), _state(result)])
        if result.overridden:
            overridden.append({"rule": rule, "protocol": result.protocol, "reason": result.overridden})
    header = labels(_HEADER, "rule", "section", "asked", "measured", "state")
    print_table(title or messages.text("protocols.verdict_title"), header, rows)
    for fields in overridden:
        say("protocols.overridden", **fields)


def _state(result: RuleResult) -> str:
    """The result in a word; advice that does not hold says that it is advice."""
    word = messages.text(f"plan.state_words.{result.state}")
    advice = result.severity is Severity.SHOULD and result.state not in (State.HOLDS, State.ATTESTED)
    return f"{word} ({messages.text('protocols.severity.should')})" if advice else word


def _protocol_data(protocol: Protocol) -> dict[str, object]:
    """A protocol as data with the sentence of each rule in both languages."""
    from celosia.protocols.words import reason_text, sentence_of

    document = protocol.as_dict()
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            document[f"title_{language}"] = _title(protocol.id)
            for data, rule in zip(document["rules"], protocol.rules, strict=True):
                data[f"sentence_{language}"] = sentence_of(rule)
                if reason := reason_text(rule):
                    data[f"reason_{language}"] = reason
    return document


def _show_rules(protocol: Protocol) -> None:
    from celosia.protocols.words import asked_text, reason_text, sentence_of

    rows = []
    for rule in protocol.rules:
        severity = messages.text(f"protocols.severity.{rule.severity}")
        rows.append([rule.id, rule.section, sentence_of(rule), asked_text(rule), severity])
    title = messages.text("protocols.show.rules", title=_title(protocol.id))
    print_table(title, labels(_HEADER, "rule", "section", "sentence", "asked", "severity"), rows)
    for rule in protocol.rules:
        if reason := reason_text(rule):
            click.echo(f"{rule.id}: {reason}")


def _show_gates(protocol: Protocol) -> None:
    rows = [
        [gate.id, messages.text(f"protocols.gate.{gate.id}"), role_names(gate.roles), gate.section]
        for gate in protocol.gates
    ]
    print_table(messages.text("protocols.show.gates"), labels(_HEADER, "gate", "what", "roles", "section"), rows)


def _show_documents(protocol: Protocol) -> None:
    rows = []
    for document in protocol.documents:
        name = messages.text(f"protocols.document.{document.id}")
        audience = messages.text(f"protocols.audience.{document.audience}")
        rows.append([name, audience, ", ".join(document.formats), document.section])
    header = labels(_HEADER, "document", "audience", "formats", "section")
    print_table(messages.text("protocols.show.documents"), header, rows)


def _title(identifier: str) -> str:
    return messages.text(f"protocols.title.{identifier}")
