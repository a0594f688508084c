"""The journal is append-only and its chain shows any change."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime
from typing import NamedTuple

import pytest

from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.author import act_as
from celosia.pipeline.project.errors import JournalBroken
from celosia.storage import DiskFull

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Usage(NamedTuple):
    """What a disk says of its room."""

    total: int
    free: int


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    for number in range(3):
        _journal.append_entry(path, "step", NOW, {"rows": number}, who="a", why="b")
    return path


def test_entries_come_back_in_order(journal):
    assert [entry["facts"] for entry in _journal.read_journal(journal).entries] == [
        {"rows": 0},
        {"rows": 1},
        {"rows": 2},
    ]


@pytest.mark.parametrize("tamper", ["change", "remove", "insert", "garbage"])
def test_a_changed_removed_or_inserted_line_is_found(journal, tamper):
    lines = journal.read_text().splitlines()
    if tamper == "change":
        lines[0] = lines[0].replace('"rows": 0', '"rows": 9')
    elif tamper == "remove":
        del lines[1]
    elif tamper == "insert":
        lines.insert(1, lines[1])
    else:
        lines[1] = "{"
    journal.write_text("\n".join(lines) + "\n")
    with pytest.raises(JournalBroken):
        _journal.read_journal(journal)


def _append_many(path, who):
    for number in range(20):
        _journal.append_entry(path, "step", NOW, {"rows": number}, who=who, why="")


def test_two_processes_at_once_lose_no_line_and_keep_the_chain(tmp_path):
    path = tmp_path / "journal.jsonl"
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_append_many, args=(path, who)) for who in ("ana", "beto")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = _journal.read_journal(path).entries
    assert [entry["number"] for entry in found] == list(range(1, 41))
    assert sorted(str(entry["who"]) for entry in found) == ["ana"] * 20 + ["beto"] * 20


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_the_beginning_of_a_line_that_a_killed_process_left_counts_for_nothing(journal, cut):
    before = journal.read_bytes()
    line = before.splitlines()[2]
    journal.write_bytes(before + line[:cut])
    assert len(_journal.read_journal(journal).entries) == 3
    _journal.append_entry(journal, "step", NOW, {"rows": 3}, who="a")
    assert [entry["facts"] for entry in _journal.read_journal(journal).entries][2:] == [{"rows": 2}, {"rows": 3}]
    assert journal.read_bytes().startswith(before)


def test_a_whole_line_without_its_end_is_kept(journal):
    journal.write_bytes(journal.read_bytes()[:-1])
    _journal.append_entry(journal, "step", NOW, {"rows": 3}, who="a")
    assert len(_journal.read_journal(journal).entries) == 4


def test_the_lines_of_a_shared_page_name_the_account_and_the_others_none(journal):
    act_as("Ana Rojas", "ana")
    try:
        _journal.append_entry(journal, "step", NOW, {})
        _journal.append_entry(journal, "step", NOW, {}, who="Ana Rojas", account="")  # written later by somebody else
    finally:
        act_as("")
    _journal.append_entry(journal, "step", NOW, {})
    found = _journal.read_journal(journal).entries
    assert [(one["who"], one.get("account")) for one in found[3:5]] == [("Ana Rojas", "ana"), ("Ana Rojas", None)]
    assert not any("account" in one for one in (*found[:3], found[5]))


@pytest.mark.parametrize("room", [(0, 0), (10**9, 10**6)])
def test_a_journal_that_takes_a_line_stops_nothing(journal, monkeypatch, room):
    before = journal.read_bytes()
    monkeypatch.setattr(_journal.shutil, "disk_usage", lambda _: Usage(*room))
    _journal.refuse_unwritable(journal)
    _journal.refuse_unwritable(journal.with_name("none.jsonl"))
    assert journal.read_bytes() == before
    assert not journal.with_name("none.jsonl").exists()


def test_a_disk_with_no_room_for_a_line_is_told_before_anything_is_done(journal, monkeypatch):
    monkeypatch.setattr(_journal.shutil, "disk_usage", lambda _: Usage(10**9, 4096))
    with pytest.raises(DiskFull):
        _journal.refuse_unwritable(journal)
