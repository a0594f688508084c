"""Tables of values typed line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.web.ui.pair_syntax import LineUnclear, read_lines, write_lines

part = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"], exclude_characters="=|"), max_size=8)


@given(st.dictionaries(part, part, max_size=6))
def test_pairs_that_are_written_are_read_again(table: dict[str, str]) -> None:
    table = {key: value for key, value in table.items() if key or value}
    assert read_lines("pairs", write_lines(table)) == table


@given(st.dictionaries(part.filter(bool), st.lists(part, min_size=1, max_size=3), max_size=4))
def test_conditions_that_are_written_are_read_again(table: dict[str, list[str]]) -> None:
    assert read_lines("conditions", write_lines(table)) == table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("05302 = Valparaíso\n\n  13101=Santiago  ", {"05302": "Valparaíso", "13101": "Santiago"}),
        ("= sin dato", {"": "sin dato"}),
        ("99 =", {"99": ""}),
        ("a=b = c", {"a=b": "c"}),
        ("x == y", {"x": "= y"}),
        ("a = 1\na = 1", {"a": "1"}),
    ],
)
def test_pairs_as_people_type_them(text: str, expected: dict[str, str]) -> None:
    assert read_lines("pairs", text) == expected


@pytest.mark.parametrize(("text", "line"), [("a = 1\nsolo", 2), ("a = 1\n\na = 2", 3)])
def test_a_line_that_is_not_clear_is_named_by_its_number(text: str, line: int) -> None:
    with pytest.raises(LineUnclear) as refused:
        read_lines("pairs", text)
    assert refused.value.line == line
