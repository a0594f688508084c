"""The journal is append-only and its chain shows any change."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from celosia.errors import JournalBroken
from celosia.pipeline import _journal

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    for number in range(3):
        _journal.append(path, "step", NOW, {"rows": number}, who="a", why="b")
    return path


def test_entries_come_back_in_order(journal):
    assert [entry["facts"] for entry in _journal.entries(journal)] == [{"rows": 0}, {"rows": 1}, {"rows": 2}]


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
        _journal.entries(journal)
