"""`celosia serve` and `celosia account`: the page in the browser, and who may come in where it is shared."""

from __future__ import annotations

from pathlib import Path

import click

from celosia import messages
from celosia.cli._shell import argument, group, json_option, names_option, option, verb
from celosia.cli._show import print_json, print_table, say
from celosia.model.people import ROLES

_MEGABYTE = 1_000_000
_FILE = click.Path(path_type=Path)


def command() -> click.Command:
    """The verb `serve`."""
    return verb(
        "serve",
        serve,
        [
            argument("projects", required=False, default=Path(), type=_FILE),
            option("serve", "--port", type=click.IntRange(1, 65535)),
            option("serve", "--max-upload", type=click.IntRange(min=1), default=1000),
            option("serve", "--no-browser", is_flag=True),
            option("serve", "--shared", is_flag=True),
            option("serve", "--host", default="127.0.0.1"),
            names_option("serve", "--names", shown="A,B"),
            option("serve", "--certificate", type=_FILE),
            option("serve", "--key", type=_FILE),
        ],
    )


def serve(
    projects: Path, port: int | None, max_upload: int, no_browser: bool, shared: bool, host: str,
    names: tuple[str, ...], certificate: Path | None, key: Path | None,
) -> None:  # fmt: skip
    """Open the page and stay until it is stopped."""
    from celosia.web import Listening
    from celosia.web import serve as serve_pages

    def announce(address: str, fingerprint: str) -> None:
        say("cli.serve.shared_address" if shared else "cli.serve.address")
        click.echo(address)
        if fingerprint:
            say("cli.serve.fingerprint", fingerprint=fingerprint)
        say("cli.serve.stop")
        if not no_browser and not shared:
            import webbrowser

            webbrowser.open(address)

    asked = Listening(host, port, shared, names, certificate, key)
    serve_pages(projects, asked, max_upload * _MEGABYTE, announce)


def account_command() -> click.Command:
    """The group `account`."""
    where = argument("projects", required=False, default=Path(), type=_FILE)
    login = argument("login")
    return group(
        "account",
        [
            verb("add", add, [login, where, option("account", "--name", required=True),
                              names_option("account", "--role", choices=ROLES)], key="account_add"),
            verb("list", listed, [where, json_option()], key="account_list"),
            verb("roles", roles, [login, where, names_option("account", "--role", choices=ROLES)], key="account_roles"),
            verb("close", close, [login, where], key="account_close"),
            verb("open", reopen, [login, where], key="account_open"),
            verb("reset", reset, [login, where], key="account_reset"),
        ],
    )  # fmt: skip


def _root(projects: Path) -> Path:
    """The folder whose accounts are meant: that of the projects, also where one of them is named, as `serve` does."""
    from celosia.web import projects_root

    return projects_root(projects)[0]


def add(login: str, projects: Path, name: str, role: tuple[str, ...]) -> None:
    """Add an account and show its first password, once."""
    from celosia.pipeline import add_account

    made, password = add_account(_root(projects), login, name, role)
    say("cli.account.added", login=made.login)
    click.echo(password)


def listed(projects: Path, as_json: bool) -> None:
    """Show the accounts; no secret of theirs."""
    from celosia.pipeline import read_accounts

    accounts = read_accounts(_root(projects))
    if as_json:
        print_json({"format": "celosia/account-list/1", "accounts": [one.shown() for one in accounts]})
        return
    rows = [
        [one.login, one.name, ", ".join(messages.text(f"protocols.role.{role}") for role in one.roles),
         messages.text(f"cli.account.{'active' if one.active else 'closed'}")]
        for one in accounts
    ]  # fmt: skip
    header = [messages.text(f"cli.account.head_{key}") for key in ("login", "name", "roles", "state")]
    print_table(messages.text("cli.account.title"), header, rows)


def roles(login: str, projects: Path, role: tuple[str, ...]) -> None:
    """Give an account other roles."""
    from celosia.pipeline import change_account

    change_account(_root(projects), login, roles=role)
    say("cli.account.changed", login=login)


def close(login: str, projects: Path) -> None:
    """Shut an account."""
    from celosia.pipeline import change_account

    change_account(_root(projects), login, active=False)
    say("cli.account.changed", login=login)


def reopen(login: str, projects: Path) -> None:
    """Open an account again."""
    from celosia.pipeline import change_account

    change_account(_root(projects), login, active=True)
    say("cli.account.changed", login=login)


def reset(login: str, projects: Path) -> None:
    """Give an account a new first password."""
    from celosia.pipeline import reset_password

    password = reset_password(_root(projects), login)
    say("cli.account.added", login=login)
    click.echo(password)
