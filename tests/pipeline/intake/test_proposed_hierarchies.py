"""The hierarchy proposed for the codes of places: the digits of the official list, also where a zero was lost."""

from __future__ import annotations

import pytest

from celosia.hierarchy.registry import build
from celosia.model.variables import Kind, Role, Scale, Variable
from celosia.pipeline.intake.proposed_hierarchies import default_spec

PLACE = Variable("LUGAR", role=Role.QUASI, scale=Scale.CATEGORICAL, kind=Kind.LOCATION, unknown=("99999",))
MASKED = {"builder": "mask", "steps": [2, 3, 5], "uncovered": "suppress"}


@pytest.mark.requirement("M17")
def test_codes_of_comunas_are_masked_by_digits_and_a_lost_zero_is_given_back() -> None:
    assert default_spec(PLACE, ("05302", "13101", "99999")) == MASKED
    spec = default_spec(PLACE, ("5302", "05301", "13101", "99999"))
    assert spec == {**MASKED, "width": 5}
    made = build(spec, ("5302", "05301", "13101"))
    assert [made.labels[1][code] for code in made.maps[1]] == ["053**", "053**", "131**"]


def test_codes_that_are_whole_are_never_lengthened() -> None:
    paraguay = ("1101", "1102", "1103", "0101")  # with a zero before it, the first would be Iquique
    assert default_spec(PLACE, paraguay)["steps"] == [2, 4]
    assert "width" not in default_spec(PLACE, paraguay)


def test_numbers_that_are_no_codes_have_one_level() -> None:
    assert default_spec(PLACE, ("1", "22", "333", "4444")) == {"builder": "suppress"}
