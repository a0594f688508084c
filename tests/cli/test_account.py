"""`celosia account` at the terminal: in the folder that `serve` looks at, and in no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celosia.cli import main
from celosia.workbench.accounts import read_accounts


def add(folder: Path, login: str = "ana", name: str = "Ana Rojas") -> int:
    return main(["account", "add", login, str(folder), "--name", name, "--role", "executor"])


def test_an_account_is_added_listed_and_closed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(tmp_path) == 0
    assert main(["account", "close", "ana", str(tmp_path)]) == 0
    assert main(["account", "list", str(tmp_path)]) == 0
    assert "Ana Rojas" in capsys.readouterr().out
    assert [one.active for one in read_accounts(tmp_path)] == [False]


def test_the_list_in_json_tells_nothing_of_a_password(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["account", "list", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"format": "celosia/account-list/1", "accounts": []}
    assert add(tmp_path) == 0
    assert main(["account", "close", "ana", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["account", "list", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accounts"] == [
        {"login": "ana", "name": "Ana Rojas", "roles": ["executor"], "active": False}
    ]


def test_a_folder_that_is_not_there_is_not_made_for_it(tmp_path: Path) -> None:
    wrong = tmp_path / "proyetcos"
    assert add(wrong) == 2
    assert main(["account", "list", str(wrong)]) == 2
    assert not wrong.exists()


def test_named_by_a_project_the_account_is_that_of_its_folder(tmp_path: Path) -> None:
    project = tmp_path / "egresos"
    project.mkdir()
    (project / "celosia.toml").write_text('format = "celosia/project/1"\n', "utf-8")
    assert add(project) == 0
    assert [one.login for one in read_accounts(tmp_path)] == ["ana"]
    assert not (project / ".celosia").exists()


def test_the_name_of_another_account_is_refused_with_a_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add(tmp_path) == 0
    assert add(tmp_path, "ana2", "ANA rojas") == 2
    assert "segundo apellido" in capsys.readouterr().err
