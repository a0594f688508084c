"""`celosia serve` and `celosia account`: the page in the browser, and its accounts where it is shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.cli.shell import PATH, argument, build_command, build_group, names_option, option
from celosia.cli.show import labels, print_json, print_table, role_names, say
from celosia.model.people import ROLES

_MEGABYTE = 1_000_000


def command() -> click.Command:
    """The command `serve`."""
    params = [
        argument("projects", required=False, default=Path(), type=PATH),
        option("serve", "--port", type=click.IntRange(1, 65535)),
        option("serve", "--max-upload", type=click.IntRange(min=1), default=1000),
        option("serve", "--no-browser", is_flag=True),
        option("serve", "--shared", is_flag=True),
        option("serve", "--host", default="127.0.0.1"),
        names_option("serve", "--names", shown="A,B"),
        option("serve", "--certificate", type=PATH),
        option("serve", "--key", type=PATH),
    ]
    return build_command("serve", serve, params, has_json=False)


def serve(projects: Path, max_upload: int, no_browser: bool, shared: bool, **listening: Any) -> None:
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

    serve_pages(projects, Listening(shared=shared, **listening), max_upload * _MEGABYTE, announce)


def account_command() -> click.Command:
    """The group `account`."""
    projects = argument("projects", required=False, default=Path(), type=PATH)
    login, roles = argument("login"), names_option("account", "--role", choices=ROLES)
    name = option("account", "--name", required=True)
    commands = [
        build_command("add", add, [login, projects, name, roles], "account_add", has_json=False),
        build_command("list", list_accounts, [projects], "account_list"),
        build_command("roles", change_roles, [login, projects, roles], "account_roles", has_json=False),
        build_command("close", close, [login, projects], "account_close", has_json=False),
        build_command("open", reopen, [login, projects], "account_open", has_json=False),
        build_command("reset", reset, [login, projects], "account_reset", has_json=False),
    ]
    return build_group("account", commands)


def _root(projects: Path) -> Path:
    """The folder whose accounts are meant: that of the projects, also where one of them is named, as `serve` does."""
    from celosia.web import projects_root

    return projects_root(projects)[0]


def add(login: str, projects: Path, name: str, role: tuple[str, ...]) -> None:
    """Add an account and show its first password, once."""
    from celosia.workbench.accounts import add_account

    account, password = add_account(_root(projects), login, name, role)
    say("cli.account.added", login=account.login)
    click.echo(password)


def list_accounts(projects: Path, as_json: bool) -> None:
    """Show the accounts, without their secrets."""
    from celosia.workbench.accounts import read_accounts

    accounts = read_accounts(_root(projects))
    if as_json:
        print_json({"format": "celosia/account-list/1", "accounts": [account.public_fields() for account in accounts]})
        return
    states = [messages.text(f"cli.account.{'active' if account.active else 'closed'}") for account in accounts]
    rows = [
        [account.login, account.name, role_names(account.roles), state]
        for account, state in zip(accounts, states, strict=True)
    ]
    header = labels("cli.account", "head_login", "head_name", "head_roles", "head_state")
    print_table(messages.text("cli.account.title"), header, rows)


def change_roles(login: str, projects: Path, role: tuple[str, ...]) -> None:
    """Give an account other roles."""
    _change(login, projects, roles=role)


def close(login: str, projects: Path) -> None:
    """Close an account."""
    _change(login, projects, active=False)


def reopen(login: str, projects: Path) -> None:
    """Open an account again."""
    _change(login, projects, active=True)


def _change(login: str, projects: Path, **changes: Any) -> None:
    from celosia.workbench.accounts import change_account

    change_account(_root(projects), login, **changes)
    say("cli.account.changed", login=login)


def reset(login: str, projects: Path) -> None:
    """Give an account a new first password."""
    from celosia.workbench.accounts import reset_password

    password = reset_password(_root(projects), login)
    say("cli.account.added", login=login)
    click.echo(password)
