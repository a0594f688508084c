"""The commands by name, in the order of the workflow; the module of each is imported when it is first asked for.

Knows where a command is built and the key of its sentences. Ignores what it does. Listing the commands, or running
one of them, never imports the thirty others.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping

import click

from celosia import messages

_BUILDERS = {
    "init": "project.init.command",
    "suggest": "project.init.suggest_command",
    "request": "project.request.command",
    "status": "project.status.command",
    "dictionary": "project.dictionary.command",
    "profile": "project.profile.command",
    "measure": "assessment.measure.command",
    "risk": "assessment.risk.command",
    "table": "assessment.table.command",
    "hierarchy": "planning.hierarchy.command",
    "plan": "planning.plan.plan_command",
    "explain": "planning.plan.explain_command",
    "identity": "project.identity.command",
    "people": "project.people.command",
    "approve": "planning.approve.command",
    "run": "planning.plan.run_command",
    "evaluate": "assessment.evaluate.command",
    "intruder": "assessment.intruder.command",
    "claims": "project.request.claims_command",
    "check": "release.release.check_command",
    "release": "release.release.release_command",
    "sign": "release.release.sign_command",
    "forms": "release.legal.forms_command",
    "stamp": "release.legal.stamp_command",
    "publish": "release.release.publish_command",
    "verify": "release.release.verify_command",
    "recheck": "release.release.recheck_command",
    "apply": "planning.apply.apply_command",
    "techniques": "planning.apply.techniques_command",
    "document": "release.document.command",
    "deliver": "release.document.deliver_command",
    "destroy-key": "release.destroy_key.command",
    "stats": "stats.command",
    "serve": "serve.command",
    "account": "serve.account_command",
    "protocol": "project.protocol.command",
    "demo": "project.demo.command",
    "examples": "project.examples.command",
    "bundle": "project.bundle.command",
}


# Other names that are accepted and not listed: those of the functions in Python.
_ALIASES = {"attack": "intruder", "cross-table": "table"}


class Commands(MutableMapping[str, click.Command]):
    """Commands built when asked for, in the language the command line was built in."""

    def __init__(self, language: str):
        self._language = language
        self._built: dict[str, click.Command | None] = dict.fromkeys(_BUILDERS)

    def __getitem__(self, name: str) -> click.Command:
        name = _ALIASES.get(name, name)
        command = self._built[name]
        if command is None:
            with messages.speaking(self._language):
                module, _, function = _BUILDERS[name].rpartition(".")
                command = getattr(importlib.import_module(f"celosia.cli.{module}"), function)()
                self._built[name] = command
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._built)

    def __len__(self) -> int:
        return len(self._built)


def short_help(name: str) -> str:
    """The line of a command in the list of commands, without building the command."""
    return messages.text(f"cli.{name.replace('-', '_')}.short")
