"""Names say what a thing does or holds, and private names stay in their module.

`python -m tests.architecture.naming` lists every offender by file and line.
"""

from __future__ import annotations

import pytest

from tests.architecture.naming import (
    RULES,
    foreign_private_names,
    is_lone_participle,
    offenders,
    participle_functions,
    vague_variables,
)
from tests.architecture.source_files import planted_module

# The most offenders of each rule. The bounds go down with the code, never up.
MOST = {"participles": 0, "variables": 1, "private": 0, "format": 0}


@pytest.mark.parametrize("rule", RULES)
def test_a_naming_rule_is_broken_at_most_so_often(rule: str) -> None:
    count = len(offenders(rule))
    assert count <= MOST[rule], f"{count} offenders; `python -m tests.architecture.naming {rule}` lists them"


@pytest.mark.parametrize("name", ["gathered", "_told", "held", "_settled", "published"])
def test_a_lone_participle_is_found(name: str) -> None:
    assert is_lone_participle(name)


@pytest.mark.parametrize("name", ["read", "seed", "collect", "class_sizes", "published_rows", "_set", "bed"])
def test_a_verb_or_a_noun_is_no_lone_participle(name: str) -> None:
    assert not is_lone_participle(name)


def test_a_planted_participle_and_a_planted_vague_variable_are_found() -> None:
    module = planted_module("risk", "def counted(told):\n    return [one for one in told]")
    assert len(participle_functions(module)) == 1
    assert len(vague_variables(module)) == 2


def test_a_property_may_answer_a_state() -> None:
    code = "class Cell:\n    @property\n    def hidden(self): ...\n    def masked(self): ..."
    assert [place.split()[-1] for place in participle_functions(planted_module("risk", code))] == ["masked"]


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("from ..errors import _codes", 1),
        ("from . import population\npopulation._estimate", 1),
        ("from celosia.risk import population as p\np._estimate", 1),
        ("from .population import estimate", 0),
        ("from . import population\npopulation.estimate", 0),
    ],
)
def test_a_planted_private_name_of_another_module_is_found(code: str, count: int) -> None:
    assert len(foreign_private_names(planted_module("risk", code))) == count
