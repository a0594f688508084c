"""`celosia identity`: a person's own key."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from celosia import messages
from celosia.cli.release.release import passphrase
from celosia.cli.shell import PATH, build_command, build_group, option
from celosia.cli.show import print_done, print_json, say


def command() -> click.Command:
    """The group `identity`."""
    new_params = [
        option("identity_new", "--name", required=True),
        option("identity_new", "--file", type=PATH, default=None),
        option("identity_new", "--passphrase-file", type=PATH, default=None),
    ]
    new_command = build_command("new", new, new_params, "identity_new")
    file = option("identity_show", "--file", type=PATH, default=None)
    return build_group("identity", [new_command, build_command("show", show, [file], "identity_show")])


def new(name: str, file: Path | None, passphrase_file: Path | None, as_json: bool) -> None:
    """Make a key pair; at a terminal the passphrase is asked twice."""
    from celosia.pipeline.project.author import card_path, identity_path
    from celosia.pipeline.project.identity import new_identity
    from celosia.web.errors import PassphrasesDiffer

    secret = passphrase(passphrase_file)
    typed = passphrase_file is None and "CELOSIA_PASSPHRASE" not in os.environ and sys.stdin.isatty()
    if typed and click.prompt(messages.text("people.again"), hide_input=True, err=True) != secret:
        raise PassphrasesDiffer()
    identity = new_identity(name, secret, file)
    path = file if file is not None else identity_path()
    if as_json:
        print_done("identity-new", name=identity.name, key=identity.key, path=str(path), card=str(card_path(path)))
    else:
        say("people.made", name=identity.name, path=path, card=card_path(path))


def show(file: Path | None, as_json: bool) -> None:
    """Name and public key; no passphrase is needed."""
    from celosia.pipeline.project.author import card_path, identity_path
    from celosia.pipeline.project.fingerprints import grouped_key, spoken_key
    from celosia.pipeline.project.identity import read_card

    path = file if file is not None else identity_path()
    card = path if path.name.endswith(".pub.json") else card_path(path)
    name, key = read_card(card)
    if as_json:
        print_json({"format": "celosia/identity/1", "name": name, "key": key})
    else:
        say("people.identity", name=name, public=grouped_key(key), fingerprint=spoken_key(key), card=card)
