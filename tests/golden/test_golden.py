"""Not a byte moves unasked: what is written and printed is what was recorded (see tests.golden.record)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from celosia.cli import build_cli
from tests.golden.cases import all_cases, commands_below
from tests.golden.items import differences, read_digests
from tests.golden.record import EXPECTED, record
from tests.golden.walks import ROWS, steps_of

SHOWN = 60  # names of items that a failure shows


@pytest.mark.slow
@pytest.mark.timeout(1800)  # it takes minutes, and several times as many on a busy machine
def test_what_is_written_and_printed_is_what_was_recorded(tmp_path: Path) -> None:
    unequal = differences(read_digests(EXPECTED), record(tmp_path))
    text = "\n".join([*unequal[:SHOWN], f"{len(unequal)} items differ"])
    assert not unequal, f"{text}\npython -m tests.golden.record --check --keep DIR keeps them for a diff"


def test_every_command_that_gives_json_is_recorded() -> None:
    typed = {words[:end] for words in _typed() for end in (1, 2)}
    commands = dict(commands_below(build_cli("es")))
    asked = {words for words, command in commands.items() if any("--json" in one.opts for one in command.params)}
    assert len(asked) > 40
    assert sorted(asked - typed) == []


def _typed() -> Iterator[tuple[str, ...]]:
    """The first words after `celosia` of every recorded line."""
    lines = [line for case in all_cases() for line in case.lines] + [step.line for n in ROWS for step in steps_of(n)]
    yield from (tuple(line.split()[1:]) for line in lines if line.startswith("celosia "))


@pytest.mark.parametrize(
    ("actual", "named"),
    [({"a": "1"}, []), ({"a": "2"}, ["changed: a"]), ({}, ["gone: a"]), ({"a": "1", "b": "1"}, ["new: b"])],
)
def test_a_difference_is_named(actual: dict[str, str], named: list[str]) -> None:
    assert differences({"a": "1"}, actual) == named
