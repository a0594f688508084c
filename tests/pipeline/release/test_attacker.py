"""Nothing that an attacker writes into a release of MINSAL or MEL is taken for what the true people signed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.projects.attacker import HEADING, ROLES, Keys, answers_of, attack, our_role, wrong_answers
from tests.projects.published import RELEASE, publish_households, publish_survey
from tests.projects.steps import NOW

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=[publish_survey, publish_households], ids=["minsal", "mel"])
def made(request, tmp_path_factory) -> tuple[Path, Keys]:
    folder, keys = request.param(tmp_path_factory.mktemp("attacked"))
    return folder / "releases" / RELEASE, {our_role(role): key for role, key in keys.items()}


def test_the_true_release_is_known_to_whoever_has_the_cards_or_that_of_the_head_and_to_nobody_else(made):
    release, keys = made
    cards, head = {key.key: key.name for key in keys.values()}, keys[HEADING]
    assert answers_of(release, cards, {head.key: head.name}, NOW) == ("known", "known", "unknown")
    executor = keys["executor"]
    assert answers_of(release, cards, {executor.key: executor.name}, NOW)[1] == "unknown"  # they do not head it
    assert answers_of(release, cards, {head.key: "Otra Persona"}, NOW)[1] == "not_intact"


@pytest.mark.parametrize("role", ["", *ROLES], ids=lambda role: role or "none")
def test_nothing_that_an_attacker_writes_is_called_known(made, role, tmp_path):
    release, keys = made
    assert wrong_answers(attack(release, keys, role, tmp_path, NOW), role) == {}
