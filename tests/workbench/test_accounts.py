"""Accounts of a shared page: hashed, role by role, and nobody executes and verifies."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from celosia.model.errors import UnknownFormat
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project.errors import BadProjectFile, NameNeeded, RolesClash
from celosia.pipeline.release.stats_rules import journal_entries
from celosia.workbench.accounts import (
    account_of,
    add_account,
    change_account,
    change_password,
    key_path,
    note_refusal,
    password_fits,
    read_accounts,
    reset_password,
    server_folder,
)
from celosia.workbench.errors import AccountExists, AccountNameTaken, PasswordShort, UnknownAccount

GOOD = "una clave bien larga"


@pytest.mark.requirement("M38")
def test_an_account_holds_a_hash_and_its_first_password_must_be_changed(tmp_path: Path) -> None:
    made, password = add_account(tmp_path, "ana", "Ana  Rojas", ["executor"])
    assert (made.name, made.roles, made.fresh) == ("Ana Rojas", ("executor",), True)
    stored = (tmp_path / ".celosia" / "accounts.json").read_text("utf-8")
    assert password not in stored
    assert "$argon2id$" in stored
    assert change_password(tmp_path, "ana", password, GOOD)
    assert account_of(tmp_path, "ana").fresh is False
    assert not password_fits(account_of(tmp_path, "ana"), password)
    assert password_fits(account_of(tmp_path, "ana"), GOOD)


def test_its_files_are_for_the_owner_of_the_server_only(tmp_path: Path) -> None:
    add_account(tmp_path, "ana", "Ana Rojas", ["executor"])
    folder = server_folder(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "accounts.json").stat().st_mode & 0o777 == 0o600
    assert key_path(tmp_path, "ana").parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.requirement("M31")
@pytest.mark.parametrize("roles", [["executor", "verifier"], ["outsider", "head"]])
def test_nobody_executes_and_verifies_and_an_outsider_is_nothing_else(tmp_path: Path, roles: list[str]) -> None:
    with pytest.raises(RolesClash):
        add_account(tmp_path, "ana", "Ana Rojas", roles)
    assert read_accounts(tmp_path) == ()


@pytest.mark.parametrize("login", ["../ana", "Ana", "a", "", "ana/b", "ana b", ".ana", "a" * 40])
def test_a_login_is_a_plain_word(tmp_path: Path, login: str) -> None:
    with pytest.raises(ValueOutOfRange) as refused:
        add_account(tmp_path, login, "Ana Rojas", ["executor"])
    assert "ana/" not in str(refused.value)


def test_a_login_serves_one_account_and_roles_are_those_we_know(tmp_path: Path) -> None:
    add_account(tmp_path, "ana", "Ana Rojas", ["executor"])
    with pytest.raises(AccountExists):
        add_account(tmp_path, "ana", "Otra Persona", ["head"])
    with pytest.raises(ValueOutOfRange):
        add_account(tmp_path, "beto", "Beto", ["admin"])
    with pytest.raises(NameNeeded):
        add_account(tmp_path, "beto", "  ", ["head"])
    with pytest.raises(UnknownAccount):
        account_of(tmp_path, "beto")


def test_a_short_or_repeated_password_is_refused_and_a_wrong_old_one_changes_nothing(tmp_path: Path) -> None:
    _, password = add_account(tmp_path, "ana", "Ana Rojas", ["executor"])
    for wrong in ("corta", password):
        with pytest.raises(PasswordShort):
            change_password(tmp_path, "ana", password, wrong)
    assert not change_password(tmp_path, "ana", "no es esta", GOOD)
    assert password_fits(account_of(tmp_path, "ana"), password)


def test_a_closed_account_does_not_come_in_and_a_reset_gives_a_fresh_password(tmp_path: Path) -> None:
    _, first = add_account(tmp_path, "ana", "Ana Rojas", ["executor"])
    change_account(tmp_path, "ana", active=False)
    assert not password_fits(account_of(tmp_path, "ana"), first)
    change_account(tmp_path, "ana", active=True, roles=["head"])
    second = reset_password(tmp_path, "ana")
    account = account_of(tmp_path, "ana")
    assert (account.roles, account.fresh) == (("head",), True)
    assert password_fits(account, second)
    assert not password_fits(account, first)
    assert not password_fits(None, second)


@pytest.mark.requirement("M35")
def test_everything_about_accounts_is_in_the_journal_without_a_secret(tmp_path: Path) -> None:
    _, password = add_account(tmp_path, "ana", "Ana Rojas", ["executor"])
    change_password(tmp_path, "ana", password, GOOD)
    note_refusal(tmp_path, "", "search")
    path = tmp_path / ".celosia" / "journal.jsonl"
    assert [entry["what"] for entry in journal_entries(path)] == ["account-added", "password-changed", "refused"]
    content = path.read_text("utf-8")
    assert password not in content
    assert GOOD not in content
    assert "argon2" not in content


def test_a_damaged_or_newer_file_is_refused_by_name(tmp_path: Path) -> None:
    add_account(tmp_path, "ana", "Ana Rojas", ["executor"])
    path = tmp_path / ".celosia" / "accounts.json"
    path.write_text(path.read_text("utf-8").replace("celosia/accounts/1", "celosia/accounts/9"), "utf-8")
    with pytest.raises(UnknownFormat):
        read_accounts(tmp_path)
    path.write_text("{", "utf-8")
    with pytest.raises(BadProjectFile):
        read_accounts(tmp_path)


def _add_some(root: Path, start: int) -> None:
    for number in range(start, start + 5):
        add_account(root, f"p{number:02d}", f"Persona {number}", ["head"])


def test_two_who_add_accounts_at_once_lose_none(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_add_some, args=(tmp_path, start)) for start in (10, 20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(read_accounts(tmp_path)) == 10


@pytest.mark.parametrize("name", ["ana  ROJAS", "Ana Rojas"])
def test_nobody_has_the_name_of_another_account(tmp_path: Path, name: str) -> None:
    add_account(tmp_path, "ana", "Ana Rojas", ["executor"])
    change_account(tmp_path, "ana", active=False)
    with pytest.raises(AccountNameTaken):
        add_account(tmp_path, "ana2", name, ["verifier"])
    assert len(read_accounts(tmp_path)) == 1


@pytest.mark.parametrize("name", ["", "  ", "Ana\u202eRojas", "Ana\x00Rojas", "x" * 121])
def test_a_name_that_no_key_could_bear_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(NameNeeded):
        add_account(tmp_path, "ana", name, ["executor"])
    assert read_accounts(tmp_path) == ()
