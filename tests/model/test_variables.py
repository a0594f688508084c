"""ATENEA's decision flow for identifiers."""

from __future__ import annotations

import itertools

import pytest

from celosia.model.variables import IdentifierClass, Traits, classify_identifier


@pytest.mark.requirement("A09", "A10")
def test_three_conditions_and_unique_alone_make_a_direct_identifier():
    assert classify_identifier(Traits(True, True, True), unique_alone=True) == IdentifierClass.DIRECT


@pytest.mark.requirement("A10")
def test_three_conditions_without_being_unique_alone_make_an_indirect_one():
    assert classify_identifier(Traits(True, True, True), unique_alone=False) == IdentifierClass.INDIRECT


@pytest.mark.requirement("A10")
@pytest.mark.parametrize("answers", [a for a in itertools.product([True, False], repeat=3) if False in a])
def test_any_no_means_it_is_no_identifier(answers):
    assert classify_identifier(Traits(*answers), unique_alone=True) == IdentifierClass.NOT_CONFIDENTIAL


def test_an_unanswered_condition_leaves_the_question_open():
    assert classify_identifier(Traits(True, None, True), unique_alone=True) is None
    assert classify_identifier(Traits(False, None, None), unique_alone=True) == IdentifierClass.NOT_CONFIDENTIAL
