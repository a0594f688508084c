"""What stands in place of a value that cannot be read."""

from __future__ import annotations

import pytest

from celosia.pipeline.project.errors import NameNeeded
from celosia.pipeline.project.fallbacks import value_or, value_or_reason


def _refuse() -> int:
    raise NameNeeded()


def test_a_value_that_can_be_read_has_no_reason_beside_it() -> None:
    assert value_or_reason(0, lambda: 7) == (7, "")
    assert value_or(0, lambda: 7) == 7


def test_one_of_our_errors_gives_the_default_and_its_sentence() -> None:
    assert value_or_reason(0, _refuse) == (0, str(NameNeeded()))
    assert value_or(0, _refuse) == 0


def test_a_fault_of_ours_passes() -> None:
    with pytest.raises(ZeroDivisionError):
        value_or(0, lambda: 1 // 0)
