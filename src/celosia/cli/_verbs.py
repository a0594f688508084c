"""The verbs by name, in the order of the walk; each one's module is imported when somebody asks for that verb.

Knows where a verb is made and the key of its sentences. Ignores what it does. Showing the list of commands, or running
one of them, so never pays for the thirty others.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, MutableMapping

import click

from celosia import messages

_MAKERS = {
    "init": "_init.command",
    "suggest": "_suggest.command",
    "request": "_request.command",
    "status": "_status.command",
    "dictionary": "_dictionary.command",
    "profile": "_profile.command",
    "measure": "_measure.command",
    "risk": "_risk.command",
    "table": "_table.command",
    "hierarchy": "_hierarchy.command",
    "plan": "_plan.plan_command",
    "explain": "_explain.command",
    "identity": "_identity.command",
    "people": "_identity.people_command",
    "approve": "_approve.command",
    "run": "_plan.run_command",
    "evaluate": "_evaluate.command",
    "intruder": "_intruder.command",
    "claims": "_request.claims_command",
    "check": "_release.check_command",
    "release": "_release.release_command",
    "sign": "_release.sign_command",
    "publish": "_release.publish_command",
    "verify": "_release.verify_command",
    "recheck": "_release.recheck_command",
    "apply": "_apply.apply_command",
    "techniques": "_apply.techniques_command",
    "document": "_document.command",
    "deliver": "_deliver.command",
    "destroy-key": "_destroy_key.command",
    "stats": "_stats.command",
    "serve": "_serve.command",
    "account": "_serve.account_command",
    "protocol": "_protocol.command",
    "demo": "_demo.command",
}


class Verbs(MutableMapping[str, click.Command]):
    """Commands made when asked for, in the language the command line was built in."""

    def __init__(self, language: str):
        self._language = language
        self._made: dict[str, click.Command | None] = dict.fromkeys(_MAKERS)

    def __getitem__(self, name: str) -> click.Command:
        made = self._made[name]
        if made is None:
            with messages.speaking(self._language):
                made = self._made[name] = _maker(name)()
        return made

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def short_help(name: str) -> str:
    """The line of a verb in the list of commands, without making the verb."""
    return messages.text(f"cli.{name.replace('-', '_')}.short")


def _maker(name: str) -> Callable[[], click.Command]:
    module, _, function = _MAKERS[name].partition(".")
    maker: Callable[[], click.Command] = getattr(importlib.import_module(f"celosia.cli.{module}"), function)
    return maker
